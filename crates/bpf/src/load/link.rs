//! Links code with its functions, data, maps and the kernel's functions, and decodes it.

use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

use object::{Object, ObjectSection, ObjectSymbol, RelocationTarget, SymbolSection};

use super::code::Code;
use super::data::Data;
use super::helper_names;
use super::{Error, Result};
use crate::helper_functions::Helper;
use crate::isa::{Encoded, Instruction, Op};
use crate::kfuncs::Kfunc;
use crate::memory::address;
use crate::mirror::{Layout, Member};

/// Lays out the members that the kernel's functions use and the program does not.
pub fn lay_out(file: &object::File<'_>, layout: &mut Layout) {
    for symbol in file.symbols().filter(ObjectSymbol::is_undefined) {
        if let Some(kfunc) = symbol.name().ok().and_then(Kfunc::named) {
            add_members(layout, kfunc);
        }
    }
}

/// Applies the file's relocations of code.
pub fn apply(file: &object::File<'_>, code: &mut Code, data: &Data) -> Result<()> {
    for section in file.sections() {
        for (byte, relocation) in section.relocations() {
            let Some(at) = code.at(section.index(), byte) else {
                continue;
            };
            let RelocationTarget::Symbol(symbol) = relocation.target() else {
                continue;
            };
            let symbol = file.symbol_by_index(symbol).map_err(Error::from_object)?;
            // A poisoned instruction keeps its reason.
            if code.linked.get(at).is_some_and(Option::is_none) {
                one(code, data, at, &symbol)?;
            }
        }
    }
    Ok(())
}

fn one(code: &mut Code, data: &Data, at: usize, symbol: &object::Symbol<'_, '_>) -> Result<()> {
    let name = symbol.name().unwrap_or("");
    let Some(encoded) = code.encoded.get(at).copied() else {
        return Ok(());
    };
    let is_call = encoded.opcode == Encoded::CALL;
    let is_load = encoded.opcode == Encoded::LOAD_IMMEDIATE;
    let unknown = || Error::at(at, format!("{name:?} cannot be linked"));
    match symbol.section() {
        SymbolSection::Section(section) if code.has(section) && is_call => {
            // The addend of a section's symbol is in the instruction, less one.
            let first = code.at(section, symbol.address()).ok_or_else(unknown)?;
            let target = i64::try_from(first).ok();
            let target = target.and_then(|first| first.checked_add(i64::from(encoded.imm) + 1));
            let target = target.and_then(|target| u64::try_from(target).ok());
            code.link(at, Op::CallFunction, target.ok_or_else(unknown)?);
        }
        SymbolSection::Section(section) if code.has(section) => {
            code.poison(at, format!("{name}: callbacks are not simulated"));
        }
        SymbolSection::Section(section) if is_load => {
            let place = match (data.region(section), data.map(name)) {
                (Some(region), _) => {
                    let addend = u64::from(encoded.imm.cast_unsigned());
                    address(region, symbol.address().wrapping_add(addend))
                }
                (None, Some(map)) => address(map.region, 0),
                (None, None) => return Err(unknown()),
            };
            code.link_address(at, place);
        }
        _ if is_call => match Kfunc::named(name) {
            Some(kfunc) => code.link(at, Op::CallKfunc(kfunc), 0),
            None => code.poison(at, format!("the kernel's function {name} is not simulated")),
        },
        _ if is_load => match data.configured(name) {
            Some((region, offset)) => code.link_address(at, address(region, offset)),
            // `bpf_ksym_exists`: an address other than null.
            None if Kfunc::named(name).is_some() => code.link(at, Op::LoadImmediate, 1),
            None if symbol.is_weak() => code.link(at, Op::LoadImmediate, 0),
            None => return Err(unknown()),
        },
        _ => return Err(unknown()),
    }
    Ok(())
}

fn add_members(layout: &mut Layout, kfunc: Kfunc) {
    for &member in kfunc.members() {
        if layout.slot(member).is_none() {
            let bits = if member == Member::IsCwndLimited {
                (0, 1)
            } else {
                (0, 0)
            };
            // A mirror that is full has no further member, and the function sees zeros.
            let _ = layout.add(member, 4, bits);
        }
    }
}

/// Decodes instructions that are not linked yet.
pub fn decode(code: &mut Code) -> Result<Vec<Instruction>> {
    let mut instructions = Vec::with_capacity(code.encoded.len());
    let mut at = 0;
    while let Some(encoded) = code.encoded.get(at).copied() {
        if encoded.opcode == Encoded::CALL && code.linked.get(at).is_some_and(Option::is_none) {
            call(code, at, encoded);
        }
        let linked = code.linked.get(at).copied().flatten();
        if encoded.opcode == Encoded::LOAD_IMMEDIATE {
            let high = code
                .encoded
                .get(at + 1)
                .map(|next| next.imm.cast_unsigned());
            let high = high.ok_or_else(|| Error::at(at, "half an instruction".to_string()))?;
            let wide = u64::from(high) << 32 | u64::from(encoded.imm.cast_unsigned());
            let own = Instruction {
                op: Op::LoadImmediate,
                dst: encoded.dst.min(9),
                src: 0,
                offset: 0,
                imm: wide,
            };
            instructions.push(linked.unwrap_or(own));
            instructions.push(Instruction {
                op: Op::Nothing,
                ..own
            });
            at += 2;
            continue;
        }
        let instruction = linked.or_else(|| encoded.decode()).ok_or_else(|| {
            let opcode = encoded.opcode;
            Error::at(
                at,
                format!("opcode {opcode:#04x} is none of BPF's ISA v1 to v4"),
            )
        })?;
        check_stack(at, &instruction)?;
        instructions.push(instruction);
        at += 1;
    }
    Ok(instructions)
}

fn call(code: &mut Code, at: usize, encoded: Encoded) {
    if encoded.src == Encoded::FUNCTION {
        let target = i64::try_from(at).ok();
        let target = target.and_then(|at| u64::try_from(at + 1 + i64::from(encoded.imm)).ok());
        // A jump out of the code faults when it is reached.
        code.link(at, Op::CallFunction, target.unwrap_or(u64::MAX));
    } else {
        match Helper::numbered(encoded.imm).filter(|_| encoded.src == 0) {
            Some(helper) => code.link(at, Op::CallHelper(helper), 0),
            None => {
                let number = encoded.imm;
                let reason = match helper_names::name(number) {
                    Some(name) => format!("the helper bpf_{name} is not simulated"),
                    None => format!("{number} is the number of no helper of Linux 6.12"),
                };
                code.poison(at, reason);
            }
        }
    }
}

/// A frame has 512 bytes below register 10.
fn check_stack(at: usize, instruction: &Instruction) -> Result<()> {
    let base = match instruction.op {
        Op::Load(_) | Op::LoadSigned(_) => instruction.src,
        Op::Store(..) | Op::Atomic { .. } => instruction.dst,
        _ => return Ok(()),
    };
    if base == 10 && !(-512..0).contains(&instruction.offset) {
        let offset = instruction.offset;
        return Err(Error::at(
            at,
            format!("a stack access at {offset}: expected -512 to -1"),
        ));
    }
    Ok(())
}
