//! The kernel's rules of accesses to memory.

use alloc::format;
use alloc::string::{String, ToString};

use super::path::Path;
use super::state::is_in_frame;
use super::value::{To, Value};
use crate::memory::DATA;
use crate::mirror::Member;
use crate::program::Program;

/// An access to memory.
#[derive(Clone, Copy)]
pub struct Access {
    /// The address.
    pub base: Value,
    /// Bytes.
    pub size: i64,
    pub writes: bool,
}

/// What the kernel's verifier does.
const REFUSED: &str = "the kernel's verifier refuses it";

/// Why the kernel's verifier refuses an access at an instruction, if it does for certain.
pub fn check(path: &mut Path<'_>, at: usize, access: Access) -> Result<(), String> {
    let Access { base, size, writes } = access;
    let is_verified = path.program.is_verified;
    match base {
        Value::Pointer {
            to: To::Socket,
            offset,
            member,
            ..
        } => socket(path.program, at, (member, offset), access),
        Value::Pointer { to, offset, .. } => {
            if let To::Argument(argument) = to {
                path.used.as_sample |= 1 << argument;
            }
            if writes {
                store(path.program, to, offset, size)
            } else {
                Ok(())
            }
        }
        Value::Number { .. } if writes && is_verified => Err(format!(
            "a store through a number, not an address; an address is one no longer after \
             bpf_probe_read or in memory other than the stack: {REFUSED}"
        )),
        Value::Number { .. } | Value::Any => Ok(()),
    }
}

fn socket(
    program: &Program,
    at: usize,
    (made_from, offset): (Option<Member>, Option<i64>),
    access: Access,
) -> Result<(), String> {
    let recorded = program.origins.relocated.get(&at);
    if recorded.is_none() && made_from.is_none() {
        return Err(
            "a member of the socket without a CO-RE record: declare the kernel's structures with \
             __attribute__((preserve_access_index)), and compile with -g"
                .to_string(),
        );
    }
    let member = recorded.copied().flatten().or(made_from);
    let kind = if access.writes { "store" } else { "load" };
    let Some(offset) = offset else {
        let name = member.map_or("the socket", Member::name);
        return match program.is_verified {
            true => Err(format!(
                "a {kind} at a place in {name} that is not a constant: {REFUSED}; keep a table in \
                 a map or in the program's own data"
            )),
            false => Ok(()),
        };
    };
    if access.writes {
        let size = usize::try_from(access.size).unwrap_or(0);
        return program
            .layout
            .refusal(member, offset, size)
            .map_or(Ok(()), Err);
    }
    let slot = member.and_then(|member| program.layout.slot(member));
    let Some(slot) = slot.filter(|slot| slot.bits.1 == 0 && program.is_verified) else {
        return Ok(());
    };
    let (from, end) = (offset - i64::from(slot.offset), i64::from(slot.size));
    if (0..end).contains(&from) && from + access.size > end {
        return Err(format!(
            "a load of {} bytes at byte {from} of {}, which has {end}: {REFUSED}",
            access.size,
            slot.member.name()
        ));
    }
    Ok(())
}

/// A store to memory other than the socket.
fn store(program: &Program, to: To, offset: Option<i64>, size: i64) -> Result<(), String> {
    let what = match to {
        To::Context => "a store to the operation's arguments, which are read-only".to_string(),
        To::Sample | To::Argument(_) => "a store to the sample, which is read-only".to_string(),
        To::Map => "a store to a map, not to a value of it".to_string(),
        To::Stack(_) if program.is_verified => match offset {
            Some(offset) if !is_in_frame(offset, size) => {
                format!("a store of {size} bytes at {offset} of the stack, expected -512 to -1")
            }
            _ => return Ok(()),
        },
        To::Data(region) => {
            let section = (region as usize).checked_sub(DATA);
            let section = section.and_then(|section| program.sections.get(section));
            let Some(section) = section else {
                return Ok(());
            };
            let end = i64::try_from(section.bytes.len()).unwrap_or(i64::MAX);
            match offset {
                _ if section.read_only => "a store to constant data".to_string(),
                Some(offset) if offset < 0 || offset.saturating_add(size) > end => format!(
                    "a store of {size} bytes at byte {offset} of a section of data, which has {end}"
                ),
                _ => return Ok(()),
            }
        }
        To::Stack(_) | To::Socket | To::Elsewhere => return Ok(()),
    };
    Err(format!("{what}: {REFUSED}"))
}

/// A function of the kernel's fills memory of `size` bytes.
pub fn filled(program: &Program, base: Value, size: Option<i64>) -> Result<(), String> {
    match base {
        Value::Pointer { to: To::Socket, .. } => Err(format!(
            "a function of the kernel's that writes to the socket: {REFUSED}"
        )),
        Value::Pointer { to, offset, .. } => store(program, to, offset, size.unwrap_or(1)),
        _ => Ok(()),
    }
}
