//! The congestion control of an object: its variable of type `struct tcp_congestion_ops`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use object::{File, Object, ObjectSection, ObjectSymbol, RelocationTarget, Section};

use super::btf::{Member, Type, Types, word};
use super::code::Code;
use super::{Error, Result, sections};
use crate::program::{CongControlArguments, Operation};
use crate::trace::until_zero;

/// Longest name, with its terminating zero (`TCP_CA_NAME_MAX`).
const NAME: usize = 16;

/// The variable of one of the kernel's modules (`net/ipv4/tcp_*.c`), compiled as a program for the
/// simulation only: no verifier reads it.
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

/// The variable of a control.
struct Variable<'a> {
    section: Section<'a, 'a>,
    bytes: &'a [u8],
    name: &'a str,
    members: &'a [Member],
    /// Its first byte in the section.
    start: u64,
}

impl Variable<'_> {
    fn damaged(&self) -> Error {
        Error::new(format!("the variable {} is damaged", self.name))
    }

    /// A member's first byte in the section.
    fn place(&self, member: &Member) -> Option<usize> {
        let at = self.start.checked_add(u64::from(member.bit / 8))?;
        usize::try_from(at).ok()
    }

    fn member(&self, name: &str) -> Option<usize> {
        let member = self.members.iter().find(|member| member.name == name)?;
        self.place(member)
    }

    /// The control's name, with its zeros.
    fn control(&self) -> Result<&[u8]> {
        self.member("name")
            .and_then(|at| self.bytes.get(at..)?.get(..NAME))
            .ok_or_else(|| {
                Error::new(format!(
                    "{}: its struct tcp_congestion_ops has no member char name[16]",
                    self.name
                ))
            })
    }
}

/// The name of an object's control.
pub fn name(file: &File<'_>, types: &Types) -> Result<String> {
    Ok(until_zero(find(file, types)?.control()?))
}

/// Reads the one control of an object.
pub fn read(file: &File<'_>, types: &Types, code: &Code) -> Result<Operations> {
    let variable = find(file, types)?;
    let is_verified = variable.name != MODULE;
    if is_verified {
        sections::check_variable(&variable.section, variable.name)?;
    }
    let mut entries = Vec::new();
    let mut used = Vec::new();
    for (at, relocation) in variable.section.relocations() {
        let RelocationTarget::Symbol(target) = relocation.target() else {
            continue;
        };
        let at = usize::try_from(at).ok();
        let mut members = variable.members.iter();
        let Some(member) = members.find(|member| at.is_some() && variable.place(member) == at)
        else {
            continue;
        };
        let symbol = file.symbol_by_index(target).map_err(Error::from_object)?;
        let Some(target) = symbol.section_index() else {
            continue;
        };
        // A static function is named by its section, and the addend is in the data.
        let addend = at.and_then(|at| variable.bytes.get(at..)?.first_chunk::<8>());
        let addend = u64::from_le_bytes(*addend.ok_or_else(|| variable.damaged())?);
        let byte = symbol.address().wrapping_add(addend);
        let entry = code.at(target, byte).ok_or_else(|| {
            Error::new(format!(
                "{}: the operation {} does not refer to a function",
                variable.name, member.name
            ))
        })?;
        if is_verified && used.contains(&(target, byte)) {
            return Err(Error::new(format!(
                "{}: the operation {} is a function that another operation has already; the \
                 kernel's loader takes a function for one operation: write a second one",
                variable.name, member.name
            )));
        }
        let operation = Operation::ALL
            .iter()
            .find(|known| known.name() == member.name);
        let operation = operation.ok_or_else(|| {
            Error::new(format!(
                "{}: the operation {} cannot be a BPF program; remove it",
                variable.name, member.name
            ))
        })?;
        entries.push((*operation, entry));
        used.push((target, byte));
    }
    let control = variable.control()?;
    let operations = Operations {
        name: until_zero(control),
        cong_control: arguments(types, variable.members),
        is_verified,
        entries,
    };
    check(&operations, control.contains(&0))?;
    if is_verified {
        let flags = variable.member("flags");
        let flags = flags.and_then(|at| word(variable.bytes, at));
        check_registration(&operations.name, flags.unwrap_or(0))?;
        sections::check_functions(file, &used)?;
    }
    Ok(operations)
}

/// The one variable of a control.
fn find<'a>(file: &'a File<'a>, types: &'a Types) -> Result<Variable<'a>> {
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
            let damaged = || Error::new(format!("{section}: {name} is damaged"));
            let section = file.section_by_name(section).ok_or_else(damaged)?;
            let symbol = file.symbols().find(|symbol| {
                symbol.section_index() == Some(section.index()) && symbol.name() == Ok(name)
            });
            found = Some(Variable {
                bytes: section.data().map_err(Error::from_object)?,
                start: symbol.map_or(0, |symbol| symbol.address()),
                section,
                name,
                members,
            });
        }
    }
    found.ok_or_else(|| {
        Error::new(
            "no congestion control in it: expected a variable of type struct tcp_congestion_ops \
             in SEC(\".struct_ops.link\")",
        )
    })
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
             TCP_CONG_NEEDS_ECN (2), both or 0; the kernel refuses others (EINVAL), except those \
             of \
             AccECN in Linux 6.18, which are not simulated"
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
