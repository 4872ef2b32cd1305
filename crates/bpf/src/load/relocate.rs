//! CO-RE: accesses to the kernel's socket become accesses to the mirror.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::btf::{Type, Types};
use super::code::Code;
use super::records::Relocation;
use super::{Error, Result};
use crate::mirror::{Layout, Member, Slot};
use crate::sample::Field;

/// Structures that are all the socket: a pointer to one is a pointer to each.
const SOCKET: [&str; 6] = [
    "sock_common",
    "sock",
    "inet_sock",
    "inet_connection_sock",
    "tcp_sock",
    "tcp6_sock",
];

/// Structures embedded in a member of the socket; they keep the program's layout.
const INSIDE: [&str; 2] = ["minmax", "minmax_sample"];

/// Records that operations point to; they keep the program's layout.
const SAMPLES: [&str; 2] = ["ack_sample", "rate_sample"];

/// Enumerators that have the kernel's values here (`include/net/tcp.h`).
const ENUMERATORS: [(&str, u32); 14] = [
    ("CA_EVENT_TX_START", 0),
    ("CA_EVENT_CWND_RESTART", 1),
    ("CA_EVENT_COMPLETE_CWR", 2),
    ("CA_EVENT_LOSS", 3),
    ("CA_EVENT_ECN_NO_CE", 4),
    ("CA_EVENT_ECN_IS_CE", 5),
    ("TCP_CA_Open", 0),
    ("TCP_CA_Disorder", 1),
    ("TCP_CA_CWR", 2),
    ("TCP_CA_Recovery", 3),
    ("TCP_CA_Loss", 4),
    ("SK_PACING_NONE", 0),
    ("SK_PACING_NEEDED", 1),
    ("SK_PACING_FQ", 2),
];

/// `enum bpf_core_relo_kind`.
mod kind {
    pub const BYTE_OFFSET: u32 = 0;
    pub const BYTE_SIZE: u32 = 1;
    pub const EXISTS: u32 = 2;
    pub const SIGNED: u32 = 3;
    pub const SHIFT_LEFT: u32 = 4;
    pub const SHIFT_RIGHT: u32 = 5;
    pub const TYPE_LOCAL: u32 = 6;
    pub const TYPE_TARGET: u32 = 7;
    pub const TYPE_EXISTS: u32 = 8;
    pub const TYPE_SIZE: u32 = 9;
    pub const ENUMERATOR_EXISTS: u32 = 10;
    pub const ENUMERATOR_VALUE: u32 = 11;
    pub const TYPE_MATCHES: u32 = 12;
}

/// A structure's name without its flavour (`tcp_sock___old`).
fn flavourless(name: &str) -> &str {
    name.split("___").next().unwrap_or("")
}

fn is_socket(name: &str) -> bool {
    SOCKET.contains(&flavourless(name))
}

/// Whether a relocation is of an access to the socket.
pub fn is_of_socket(types: &Types, relocation: &Relocation) -> bool {
    relocation.kind <= kind::SHIFT_RIGHT
        && matches!(types.get(relocation.root), Type::Record { name, .. } if is_socket(name))
}

/// The member of the socket that a relocation is of, and the access to it.
fn member(types: &Types, relocation: &Relocation) -> Option<(Member, Access)> {
    if !is_of_socket(types, relocation) || relocation.kind == kind::EXISTS {
        return None;
    }
    let access = walk(types, relocation)?;
    let member = Member::named(access.names.first()?)?;
    Some((member, access))
}

/// The member of the socket that a relocation gives the offset of.
pub fn offset_of(types: &Types, relocation: &Relocation) -> Option<Member> {
    let (member, _) = member(types, relocation)?;
    (relocation.kind == kind::BYTE_OFFSET).then_some(member)
}

/// Whether a relocation is of an access to the control's private state.
pub fn is_of_own_state(types: &Types, relocation: &Relocation) -> bool {
    matches!(member(types, relocation), Some((Member::Private, _)))
}

/// Lays out the member that a relocation is of; [`apply`] reports one that does not fit.
pub fn lay_out(layout: &mut Layout, types: &Types, relocation: &Relocation) {
    if let Some((member, access)) = member(types, relocation) {
        let _ = slot(layout, member, &access);
    }
}

fn slot(layout: &mut Layout, member: Member, access: &Access) -> Option<Slot> {
    let bits = match access.bits {
        0 => (0, 0),
        bits => (u32::try_from(access.start % 8).unwrap_or(0), bits),
    };
    layout.add(member, access.size, bits)
}

/// Patches the instruction `at`.
pub fn apply(
    code: &mut Code,
    layout: &mut Layout,
    types: &Types,
    at: usize,
    relocation: &Relocation,
) -> Result<()> {
    match relocation.kind {
        kind::TYPE_LOCAL | kind::TYPE_TARGET | kind::TYPE_SIZE => return Ok(()),
        kind::TYPE_EXISTS | kind::TYPE_MATCHES => {
            let known = match types.get(relocation.root) {
                Type::Record { name, .. } => {
                    let name = flavourless(name);
                    is_socket(name) || SAMPLES.contains(&name) || INSIDE.contains(&name)
                }
                Type::Enumeration { .. } => true,
                _ => false,
            };
            return patched(code, at, known.into());
        }
        kind::ENUMERATOR_EXISTS | kind::ENUMERATOR_VALUE => {
            return enumerator(code, types, at, relocation);
        }
        _ => {}
    }
    let root = match types.get(relocation.root) {
        Type::Record { name, .. } => flavourless(name).to_owned(),
        _ => String::new(),
    };
    if is_socket(&root) {
        return socket(code, layout, types, at, relocation);
    }
    let exists = relocation.kind == kind::EXISTS;
    if INSIDE.contains(&root.as_str()) {
        return Ok(());
    }
    let member = named(types, relocation).unwrap_or_default();
    let known = Field::ALL
        .iter()
        .any(|field| field.name() == (&root, &member));
    match (exists, known) {
        (true, _) => patched(code, at, known.into()),
        (false, true) => Ok(()),
        (false, false) => {
            code.poison(at, format!("{root}.{member} is not simulated"));
            Ok(())
        }
    }
}

fn damaged() -> Error {
    Error::new("a CO-RE record is damaged")
}

fn patched(code: &mut Code, at: usize, value: u64) -> Result<()> {
    code.patch(at, value).ok_or_else(damaged)
}

/// Name of the first member of an access.
fn named(types: &Types, relocation: &Relocation) -> Option<String> {
    let Type::Record { members, .. } = types.get(relocation.root) else {
        return None;
    };
    let member = members.get(*relocation.path.get(1)? as usize)?;
    Some(member.name.clone())
}

fn enumerator(code: &mut Code, types: &Types, at: usize, relocation: &Relocation) -> Result<()> {
    let Type::Enumeration { name, values, .. } = types.get(relocation.root) else {
        return Err(damaged());
    };
    let index = relocation.path.first().copied().ok_or_else(damaged)?;
    let (value, _) = values.get(index as usize).ok_or_else(damaged)?;
    let known = ENUMERATORS
        .iter()
        .find(|(known, _)| *known == flavourless(value));
    let ours = ["tcp_ca_event", "tcp_ca_state", "sk_pacing"].contains(&flavourless(name));
    match (relocation.kind, known) {
        (kind::ENUMERATOR_EXISTS, known) => patched(code, at, (known.is_some() || !ours).into()),
        (_, Some((_, value))) => patched(code, at, u64::from(*value)),
        (_, None) if ours => {
            code.poison(at, format!("{value} is not simulated"));
            Ok(())
        }
        (_, None) => Ok(()),
    }
}

/// An access to the socket.
struct Access {
    /// Names of the members, from the first that is not itself the socket.
    names: Vec<String>,
    /// Offset of the first of them, in bits.
    start: u64,
    /// Size of it in bytes, and the bits of a bit field.
    size: u32,
    bits: u32,
    /// Offset of the last of them, in bits.
    bit: u64,
}

fn walk(types: &Types, relocation: &Relocation) -> Option<Access> {
    let (first, path) = relocation.path.split_first()?;
    let mut ty = relocation.root;
    let mut bit = u64::from(*first) * u64::from(types.size(ty)) * 8;
    let mut access = Access {
        names: Vec::new(),
        start: bit,
        size: 0,
        bits: 0,
        bit,
    };
    for &index in path {
        match types.get(ty) {
            Type::Record { members, .. } => {
                let member = members.get(index as usize)?;
                bit += u64::from(member.bit);
                ty = member.ty;
                let is_inner = matches!(types.get(ty), Type::Record { name, .. }
                    if is_socket(name) || (name.is_empty() && member.name.is_empty()));
                if access.names.is_empty() && !is_inner {
                    access.start = bit;
                    access.size = types.size(ty);
                    access.bits = member.bits;
                }
                let is_step = is_inner && access.names.is_empty();
                if !is_step && !member.name.is_empty() {
                    access.names.push(member.name.clone());
                }
            }
            Type::Array { of, .. } => {
                bit += u64::from(index) * u64::from(types.size(*of)) * 8;
                ty = *of;
            }
            _ => return None,
        }
    }
    access.bit = bit;
    Some(access)
}

/// The unit that a bit field is read in, by the loader's rule: as wide as the declared type,
/// aligned to its width, and doubled while the field does not fit (`bpf_core_calc_field_relo`). The
/// offset that the compiler left may be of another unit.
fn unit(access: &Access) -> Option<(u64, u64)> {
    let (byte, end) = (access.start / 8, access.start + u64::from(access.bits));
    let mut width = u64::from(access.size.max(1));
    loop {
        if width > 8 || !width.is_power_of_two() {
            return None;
        }
        let start = byte / width * width;
        if end <= (start + width) * 8 {
            return Some((start, width));
        }
        width *= 2;
    }
}

fn socket(
    code: &mut Code,
    layout: &mut Layout,
    types: &Types,
    at: usize,
    relocation: &Relocation,
) -> Result<()> {
    let access = walk(types, relocation).ok_or_else(damaged)?;
    let Some(name) = access.names.first() else {
        // The socket itself, seen as another of its structures.
        return match relocation.kind {
            kind::BYTE_OFFSET => patched(code, at, 0),
            kind::EXISTS => patched(code, at, 1),
            _ => Ok(()),
        };
    };
    let member = Member::named(name);
    if relocation.kind == kind::EXISTS {
        return patched(code, at, member.is_some().into());
    }
    let Some(member) = member else {
        let path = access.names.join(".");
        code.poison(at, format!("tcp_sock.{path} is not simulated"));
        return Ok(());
    };
    let slot = slot(layout, member, &access).ok_or_else(|| {
        Error::at(
            at,
            format!("{name} is declared with different sizes, or with none"),
        )
    })?;
    let offset = u64::from(slot.offset);
    if access.bits == 0 {
        return match relocation.kind {
            kind::BYTE_OFFSET => patched(code, at, offset + (access.bit - access.start) / 8),
            // Size and sign are the program's: the member is laid out as the program declares it.
            _ => Ok(()),
        };
    }
    let (start, width) = unit(&access).ok_or_else(damaged)?;
    let first = access.start - start * 8;
    match relocation.kind {
        kind::BYTE_OFFSET => patched(code, at, offset - (access.start / 8 - start)),
        kind::BYTE_SIZE => patched(code, at, width),
        kind::SHIFT_LEFT => {
            let end = first + u64::from(access.bits);
            patched(code, at, 64_u64.checked_sub(end).ok_or_else(damaged)?)
        }
        kind::SHIFT_RIGHT => {
            let shift = 64_u64.checked_sub(access.bits.into());
            patched(code, at, shift.ok_or_else(damaged)?)
        }
        kind::SIGNED => Ok(()),
        _ => Err(damaged()),
    }
}
