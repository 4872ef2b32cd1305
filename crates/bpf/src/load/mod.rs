//! From an object file to a program.

mod btf;
mod code;
mod data;
mod helper_names;
mod link;
mod operations;
mod records;
mod relocate;
mod sections;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use object::{Architecture, Object, ObjectSection};

use crate::isa::Instruction;
use crate::mirror::Layout;
use crate::origins::Origins;
use crate::program::{Fault, Program};
use crate::sample::{Field, Place, Samples};
use crate::trace::until_zero;
use btf::{Type, Types};
use code::Code;
use data::Data;
use records::{BySection, Relocation};

/// The kernel version that a program sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Jiffies per second (`CONFIG_HZ`).
    pub hz: u32,
    /// Version and patch level (`LINUX_KERNEL_VERSION`).
    pub kernel: (u8, u8),
}

impl Default for Options {
    /// Linux 6.12 with a jiffy of a millisecond.
    fn default() -> Self {
        Self {
            hz: 1_000,
            kernel: (6, 12),
        }
    }
}

/// The reason why an object is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    what: String,
    /// The instruction, until its place is known.
    at: Option<usize>,
}

type Result<T> = core::result::Result<T, Error>;

impl Error {
    fn new(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            at: None,
        }
    }

    const fn at(at: usize, what: String) -> Self {
        Self { what, at: Some(at) }
    }

    fn from_object(error: object::Error) -> Self {
        Self::new(format!(
            "the object file is damaged: {error}; a source is compiled where it is given as \
             --bpf my.bpf.c"
        ))
    }

    fn from_fault(fault: Fault) -> Self {
        Self::new(format!("{}: {}", fault.place, fault.what))
    }

    /// Adds the instruction's place.
    fn placed(self, program: &Program) -> Self {
        match self.at {
            Some(at) => Self::new(format!("{}: {}", program.place(at), self.what)),
            None => self,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl core::error::Error for Error {}

/// Licences that the kernel takes for compatible with the GPL (`license_is_gpl_compatible`).
const LICENCES: [&str; 6] = [
    "GPL",
    "GPL v2",
    "GPL and additional rights",
    "Dual BSD/GPL",
    "Dual MIT/GPL",
    "Dual MPL/GPL",
];

impl Program {
    /// Reads an object file with one congestion control.
    ///
    /// # Errors
    ///
    /// It is no such object, or the kernel's verifier would refuse it; the error gives place and
    /// reason.
    pub fn load(bytes: &[u8], options: &Options) -> Result<Self> {
        let (file, types) = parsed(bytes)?;
        let section = |name| section(&file, name);
        let records = section(".BTF.ext").ok_or_else(|| without(".BTF.ext"))?;
        let records = records::read(&types, records).ok_or_else(|| damaged(".BTF.ext"))?;
        let licence = until_zero(section("license").unwrap_or(&[]));
        if !LICENCES.contains(&licence.as_str()) {
            return Err(Error::new(format!(
                "the licence {licence:?}: the kernel takes congestion controls under {} only \
                 (char _license[] SEC(\"license\"))",
                LICENCES.join(", ")
            )));
        }
        let (relocations, lines) = records;
        let mut code = Code::read(&file, &lines)?;
        let data = Data::read(&file, &types, options)?;
        let operations = operations::read(&file, &types, &code)?;
        let mut program = Self {
            name: operations.name,
            hz: options.hz,
            layout: Layout::default(),
            samples: samples(&types),
            cong_control: operations.cong_control,
            code: Vec::new(),
            entries: operations.entries,
            sections: data.sections.clone(),
            maps: data.maps.clone(),
            constants: data.constants.clone(),
            fixed: data.fixed.clone(),
            counters: data.counters.clone(),
            poisons: Vec::new(),
            origins: Origins::default(),
            is_verified: operations.is_verified,
            functions: core::mem::take(&mut code.functions),
            lines: core::mem::take(&mut code.lines),
        };
        let linked = linked(&file, &types, &relocations, (&mut code, &data));
        let (layout, instructions) = linked.map_err(|error| error.placed(&program))?;
        program.layout = layout;
        program.code = instructions;
        program.poisons = code.poisons;
        program.origins = code.origins;
        let arguments = program.followed().map_err(Error::from_fault)?;
        program.cong_control = arguments.unwrap_or(program.cong_control);
        Ok(program)
    }

    /// The name of an object file's congestion control, which is not checked: a kernel is the judge
    /// of what it loads.
    ///
    /// # Errors
    ///
    /// There is no congestion control in it.
    pub fn name_of(bytes: &[u8]) -> Result<String> {
        let (file, types) = parsed(bytes)?;
        operations::name(&file, &types)
    }
}

/// An object file and its types.
fn parsed(bytes: &[u8]) -> Result<(object::File<'_>, Types)> {
    let file = object::File::parse(bytes).map_err(Error::from_object)?;
    if file.architecture() != Architecture::Bpf || !file.is_little_endian() {
        return Err(Error::new(
            "not an object file for BPF, little endian: compile with clang -target bpf",
        ));
    }
    let types = section(&file, ".BTF").ok_or_else(|| without(".BTF"))?;
    let types = Types::read(types).ok_or_else(|| damaged(".BTF"))?;
    Ok((file, types))
}

fn section<'a>(file: &object::File<'a>, name: &str) -> Option<&'a [u8]> {
    file.section_by_name(name)?.data().ok()
}

fn without(section: &str) -> Error {
    Error::new(format!("no section {section}: compile with -g"))
}

fn damaged(section: &str) -> Error {
    Error::new(format!("section {section} is damaged"))
}

/// Relocates and links code. Returns the layout of the mirror, and the instructions.
fn linked(
    file: &object::File<'_>,
    types: &Types,
    relocations: &BySection<Relocation>,
    (code, data): (&mut Code, &Data),
) -> Result<(Layout, Vec<Instruction>)> {
    let mut layout = layout(file, types, relocations);
    for (section, relocations) in relocations {
        let Some(section) = file.section_by_name(section) else {
            continue;
        };
        for relocation in relocations {
            let byte = (relocation.instruction as u64).saturating_mul(8);
            let Some(at) = code.at(section.index(), byte) else {
                continue;
            };
            if relocate::is_of_socket(types, relocation) {
                let member = relocate::offset_of(types, relocation);
                code.origins.relocated.insert(at, member);
            }
            relocate::apply(code, &mut layout, types, at, relocation)?;
        }
    }
    link::apply(file, code, data)?;
    let instructions = link::decode(code)?;
    Ok((layout, instructions))
}

/// Lays out all members that a program uses. The control's private state comes last: an address
/// past its end is no other member's.
fn layout(file: &object::File<'_>, types: &Types, relocations: &BySection<Relocation>) -> Layout {
    let mut layout = Layout::default();
    let relocations = || relocations.iter().flat_map(|(_, relocations)| relocations);
    let own = |relocation: &&Relocation| relocate::is_of_own_state(types, relocation);
    for relocation in relocations().filter(|relocation| !own(relocation)) {
        relocate::lay_out(&mut layout, types, relocation);
    }
    link::lay_out(file, &mut layout);
    for relocation in relocations().filter(own) {
        relocate::lay_out(&mut layout, types, relocation);
    }
    layout
}

/// Where the program has the members of samples.
fn samples(types: &Types) -> Samples {
    let mut samples = Samples::default();
    for ty in types.iter() {
        let Type::Record {
            name,
            size,
            members,
        } = ty
        else {
            continue;
        };
        for member in members {
            let field = Field::ALL
                .iter()
                .find(|field| field.name() == (name.as_str(), member.name.as_str()));
            let (Some(field), 0) = (field, member.bits) else {
                continue;
            };
            let place = Place {
                field: *field,
                offset: member.bit as usize / 8,
                size: types.size(member.ty).min(8) as usize,
            };
            if place.offset + place.size <= (*size).min(MAX_SAMPLE) as usize {
                samples.size = samples.size.max((*size).min(MAX_SAMPLE) as usize);
                samples.places.push(place);
            }
        }
    }
    samples
}

/// Most bytes of a record that an operation points to.
const MAX_SAMPLE: u32 = 4_096;
