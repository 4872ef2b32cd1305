//! The congestion control of an object: its variable of type `struct tcp_congestion_ops`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use object::{Object, ObjectSection, ObjectSymbol, RelocationTarget, SymbolSection};

use super::btf::{Member, Type, Types, word};
use super::code::Code;
use super::{Error, Result};
use crate::program::{CongControlArguments, Operation};
use crate::trace::until_zero;

/// Longest name, with its terminating zero (`TCP_CA_NAME_MAX`).
const NAME: usize = 16;

/// The variable of one of the kernel's modules (`net/ipv4/tcp_*.c`), compiled as a program for the
/// simulation alone: no verifier reads it.
const MODULE: &str = "airtcp_module";

/// Controls that every kernel has.
const BUILT_IN: [&str; 2] = ["reno", "cubic"];

/// Flags that a control may have (`TCP_CONG_MASK`).
const FLAGS: u32 = 3;

/// Contents of the operations variable.
pub struct Operations {
    /// The control's name.
    pub name: String,
    /// First instruction of each operation.
    pub entries: Vec<(Operation, usize)>,
    /// Which parameters `cong_control` has.
    pub cong_control: CongControlArguments,
    /// Whether the kernel verifies it: a module of the kernel's is not a BPF program.
    pub is_verified: bool,
}

/// Reads the one control of an object.
pub fn read(file: &object::File<'_>, types: &Types, code: &Code) -> Result<Operations> {
    let mut found = None;
    for ty in types.iter() {
        let Type::Section {
            name: section,
            variables,
        } = ty
        else {
            continue;
        };
        for variable in variables {
            let Type::Variable { name, ty } = types.get(*variable) else {
                continue;
            };
            let Type::Record {
                name: record,
                members,
                ..
            } = types.get(*ty)
            else {
                continue;
            };
            if record != "tcp_congestion_ops" {
                continue;
            }
            if found.is_some() {
                return Err(Error::new(format!("a second congestion control, {name}")));
            }
            found = Some(variable_of(file, types, code, (section, name, members))?);
        }
    }
    found.ok_or_else(|| {
        Error::new(
            "no congestion control in it: expected a variable of type struct tcp_congestion_ops \
             in SEC(\".struct_ops.link\")",
        )
    })
}

fn variable_of(
    file: &object::File<'_>,
    types: &Types,
    code: &Code,
    (section, name, members): (&str, &str, &[Member]),
) -> Result<Operations> {
    let damaged = || Error::new(format!("{section}: {name} is damaged"));
    let is_verified = name != MODULE;
    let section = file.section_by_name(section).ok_or_else(damaged)?;
    let bytes = section.data().map_err(Error::from_object)?;
    let symbol = file.symbols().find(|symbol| {
        symbol.section_index() == Some(section.index()) && symbol.name() == Ok(name)
    });
    let start = symbol.map_or(0, |symbol| symbol.address());
    let place = |member: &Member| start.checked_add(u64::from(member.bit / 8));
    let mut entries = Vec::new();
    for (at, relocation) in section.relocations() {
        let RelocationTarget::Symbol(target) = relocation.target() else {
            continue;
        };
        let Some(member) = members.iter().find(|member| place(member) == Some(at)) else {
            continue;
        };
        let symbol = file.symbol_by_index(target).map_err(Error::from_object)?;
        let SymbolSection::Section(target) = symbol.section() else {
            continue;
        };
        // A static function is named by its section, and the addend is in the data.
        let addend = usize::try_from(at)
            .ok()
            .and_then(|at| bytes.get(at..)?.first_chunk::<8>());
        let addend = u64::from_le_bytes(*addend.ok_or_else(damaged)?);
        let byte = symbol.address().wrapping_add(addend);
        let entry = code.at(target, byte).ok_or_else(damaged)?;
        let operation = Operation::ALL
            .iter()
            .find(|known| known.name() == member.name);
        let operation = operation.ok_or_else(|| {
            Error::new(format!(
                "{name}: the operation {} cannot be a BPF program; remove it",
                member.name
            ))
        })?;
        entries.push((*operation, entry));
    }
    let control_name = members
        .iter()
        .find(|member| member.name == "name")
        .and_then(|member| usize::try_from(place(member)?).ok())
        .and_then(|at| bytes.get(at..)?.get(..NAME))
        .ok_or_else(damaged)?;
    let operations = Operations {
        name: until_zero(control_name),
        cong_control: arguments(types, members),
        is_verified,
        entries,
    };
    check(&operations, control_name.contains(&0))?;
    if is_verified {
        let flags = members.iter().find(|member| member.name == "flags");
        let flags = flags
            .and_then(|member| usize::try_from(place(member)?).ok())
            .and_then(|at| word(bytes, at));
        check_registration(&operations.name, flags.unwrap_or(0))?;
    }
    Ok(operations)
}

/// The kernel's conditions for registering it (`bpf_tcp_ca_init_member`,
/// `tcp_register_congestion_control`). Of other controls it depends on a kernel's modules whether
/// their names are taken.
fn check_registration(name: &str, flags: u32) -> Result<()> {
    if BUILT_IN.contains(&name) {
        return Err(Error::new(format!(
            "the name {name:?} is that of a control built into Linux, which refuses another of \
             the same name (EEXIST); choose another .name"
        )));
    }
    if flags & !FLAGS != 0 {
        return Err(Error::new(format!(
            "{name}: .flags = {flags:#x}: expected TCP_CONG_NON_RESTRICTED (1), \
             TCP_CONG_NEEDS_ECN (2), both or 0; the kernel refuses others (EINVAL)"
        )));
    }
    Ok(())
}

/// The kernel's conditions (`tcp_validate_congestion_control`, `bpf_tcp_ca_init_member`).
fn check(operations: &Operations, terminated: bool) -> Result<()> {
    let name = &operations.name;
    // bpf_obj_name_cpy takes no others.
    let is_taken = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
    if name.is_empty() || !terminated || !name.bytes().all(is_taken) {
        return Err(Error::new(format!(
            "the name {name:?}: expected 1 to 15 letters, digits, _ and . in .name"
        )));
    }
    let has = |operation| {
        operations
            .entries
            .iter()
            .any(|(known, _)| *known == operation)
    };
    for (missing, what) in [
        (!has(Operation::Ssthresh), "ssthresh"),
        (!has(Operation::UndoCwnd), "undo_cwnd"),
        (
            !has(Operation::CongAvoid) && !has(Operation::CongControl),
            "cong_avoid or cong_control",
        ),
    ] {
        if missing {
            return Err(Error::new(format!(
                "{name}: the operation {what} is missing"
            )));
        }
    }
    Ok(())
}

/// Linux 6.10 added `ack` and `flag` to `cong_control`; the program's types show which variant it
/// has.
fn arguments(types: &Types, members: &[Member]) -> CongControlArguments {
    let member = members.iter().find(|member| member.name == "cong_control");
    let parameters = member.and_then(|member| match types.get(member.ty) {
        Type::Pointer(to) => match types.get(*to) {
            Type::Prototype { parameters } => Some(*parameters),
            _ => None,
        },
        _ => None,
    });
    match parameters {
        Some(4) => CongControlArguments::AckFlagSample,
        _ => CongControlArguments::Sample,
    }
}
