//! Sections that programs and controls are in. The kernel's loader (libbpf) tells by their names
//! which kind of program a function is, and refuses the others.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use object::{File, Object, ObjectSection, ObjectSymbol, Section, SectionIndex, SymbolKind};

use super::{Error, Result};

/// Sections of variables that are registered (libbpf, `STRUCT_OPS_SEC`).
const CONTROLS: [&str; 2] = [".struct_ops", ".struct_ops.link"];

/// The kind of programs that are operations (libbpf, `section_defs`).
const OPERATIONS: [&str; 2] = ["struct_ops", "struct_ops.s"];

/// Functions that programs call.
const FUNCTIONS: &str = ".text";

/// The section registers its variables, the control among them.
pub fn check_variable(section: &Section<'_, '_>, variable: &str) -> Result<()> {
    let name = section.name().unwrap_or("");
    if CONTROLS.contains(&name) {
        return Ok(());
    }
    Err(Error::new(format!(
        "{variable}, the congestion control, is in section {name:?}: expected \
         SEC(\".struct_ops.link\"), or SEC(\".struct_ops\") for kernels before 6.4; the kernel's \
         loader does not register what is elsewhere"
    )))
}

/// Every function outside `.text` is an operation of the control; `used`: section and first byte of
/// its operations.
pub fn check_functions(file: &File<'_>, used: &[(SectionIndex, u64)]) -> Result<()> {
    let mut functions = Vec::new();
    for symbol in file.symbols() {
        let (SymbolKind::Text, Some(index)) = (symbol.kind(), symbol.section_index()) else {
            continue;
        };
        let section = file.section_by_index(index).map_err(Error::from_object)?;
        let section = section.name().unwrap_or("");
        let name = symbol.name().unwrap_or("");
        let is_used = used.contains(&(index, symbol.address()));
        functions.push((index, symbol.address()));
        if let Some(fault) = fault(section, symbol.is_local(), is_used) {
            return Err(Error::new(format!(
                "function {name} in section {section:?}: {fault}"
            )));
        }
    }
    if used.iter().all(|operation| functions.contains(operation)) {
        return Ok(());
    }
    Err(Error::new(
        "an operation is not the beginning of a function: the object is damaged",
    ))
}

/// Why the kernel's loader refuses a function.
fn fault(section: &str, is_local: bool, is_used: bool) -> Option<String> {
    let is_operation = OPERATIONS.contains(&kind(section));
    if section == FUNCTIONS {
        return is_used.then(|| {
            "an operation of the control needs SEC(\"struct_ops\"), without which it is a function \
             that programs call; the kernel's loader refuses it"
                .into()
        });
    }
    if is_local {
        return Some(
            "it is static, which the kernel's loader takes only of functions without SEC(); \
             remove static"
                .into(),
        );
    }
    if !is_operation {
        return Some(
            "expected SEC(\"struct_ops\"): programs of other kinds are not simulated, and the \
             kernel's loader refuses kinds that it does not know"
                .into(),
        );
    }
    (!is_used).then(|| {
        "no operation of the control refers to it, and the kernel's loader refuses such a program; \
         set the member of struct tcp_congestion_ops that it is meant for, or remove it"
            .into()
    })
}

/// The kind of a section's programs: `?` is for programs that are only loaded if they are used, and
/// what follows a `/` is free.
fn kind(section: &str) -> &str {
    let section = section.strip_prefix('?').unwrap_or(section);
    section.split_once('/').map_or(section, |(kind, _)| kind)
}
