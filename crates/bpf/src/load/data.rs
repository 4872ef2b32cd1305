//! An object's data: sections, maps, the kernel's configuration, and the variables in them.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use object::{Object, ObjectSection, ObjectSymbol, SectionIndex};

use super::btf::{Type, Types};
use super::{Error, Options, Result};
use crate::maps::{Kind, Map};
use crate::memory::{DATA, Region};
use crate::program::Variable;

/// Most bytes of a section.
const MAX_SECTION: u64 = 1 << 20;
/// Most sections and maps.
const MAX_REGIONS: usize = 64;
/// Most variables that are listed by name.
const MAX_VARIABLES: usize = 1_000;

/// Sections and maps, numbered as regions of memory in this order.
#[derive(Default)]
pub struct Data {
    /// Contents of the sections.
    pub sections: Vec<Region>,
    /// The maps, after the sections.
    pub maps: Vec<Map>,
    /// `const volatile` integers.
    pub constants: Vec<Variable>,
    /// Other constants, which the compiler has used already.
    pub fixed: Vec<String>,
    /// Integers that may change.
    pub counters: Vec<Variable>,
    /// The region of each section of the file.
    regions: BTreeMap<usize, usize>,
    /// Region and offset of the kernel's configuration by name.
    configuration: BTreeMap<String, (usize, u64)>,
}

/// Whether a section holds variables.
fn is_data(name: &str) -> bool {
    [".data", ".bss", ".rodata"].iter().any(|kind| {
        name.strip_prefix(kind)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

impl Data {
    /// Reads sections, then maps.
    pub fn read(file: &object::File<'_>, types: &Types, options: &Options) -> Result<Self> {
        let mut data = Self::default();
        for section in file.sections() {
            let name = section.name().unwrap_or("");
            if !is_data(name) || section.size() == 0 {
                continue;
            }
            let too_large = || {
                Error::new(format!(
                    "section {name}: expected at most {MAX_SECTION} bytes"
                ))
            };
            let size = usize::try_from(section.size()).map_err(|_| too_large())?;
            if section.size() > MAX_SECTION {
                return Err(too_large());
            }
            let mut bytes = section.data().unwrap_or(&[]).to_vec();
            bytes.resize(size, 0);
            data.regions.insert(section.index().0, data.next_region());
            data.sections.push(Region {
                bytes,
                read_only: name.starts_with(".rodata"),
            });
        }
        data.configure(file, types, options)?;
        data.declare_maps(types)?;
        if data.sections.len() + data.maps.len() > MAX_REGIONS {
            return Err(Error::new(format!(
                "expected at most {MAX_REGIONS} sections and maps"
            )));
        }
        data.list_variables(file, types);
        Ok(data)
    }

    const fn next_region(&self) -> usize {
        DATA + self.sections.len()
    }

    /// The region of a section of the file.
    pub fn region(&self, section: SectionIndex) -> Option<usize> {
        self.regions.get(&section.0).copied()
    }

    /// Region and offset of a value of the kernel's configuration.
    pub fn configured(&self, name: &str) -> Option<(usize, u64)> {
        self.configuration.get(name).copied()
    }

    /// The map of this name.
    pub fn map(&self, name: &str) -> Option<&Map> {
        self.maps.iter().find(|map| map.name == name)
    }

    /// Sets the values that the program asks of the kernel's configuration (`__kconfig`).
    fn configure(
        &mut self,
        file: &object::File<'_>,
        types: &Types,
        options: &Options,
    ) -> Result<()> {
        let region = self.next_region();
        let mut bytes: Vec<u8> = Vec::new();
        for (name, ty) in variables(types, ".kconfig") {
            let value = match name.as_str() {
                "CONFIG_HZ" => u64::from(options.hz),
                "LINUX_KERNEL_VERSION" => {
                    u64::from(options.kernel.0) << 16 | u64::from(options.kernel.1) << 8
                }
                // A built-in part; `enum libbpf_tristate` and booleans alike.
                name if name.starts_with("CONFIG_TCP_CONG_") => 1,
                // Nobody has set it.
                name if is_weak(file, name) => 0,
                name => {
                    return Err(Error::new(format!(
                        "{name}: expected CONFIG_HZ, LINUX_KERNEL_VERSION or CONFIG_TCP_CONG_…; \
                         no other value of the kernel's configuration is simulated"
                    )));
                }
            };
            let size = types.size(ty).clamp(1, 8) as usize;
            let offset = bytes.len().next_multiple_of(8);
            bytes.resize(offset, 0);
            bytes.extend_from_slice(value.to_le_bytes().get(..size).unwrap_or(&[]));
            self.configuration.insert(name, (region, offset as u64));
        }
        if !bytes.is_empty() {
            self.sections.push(Region {
                bytes,
                read_only: true,
            });
        }
        Ok(())
    }

    fn declare_maps(&mut self, types: &Types) -> Result<()> {
        for (name, ty) in variables(types, ".maps") {
            let Type::Record { members, .. } = types.get(ty) else {
                continue;
            };
            let pointed = |field: &str| {
                let member = members.iter().find(|member| member.name == field)?;
                match types.get(member.ty) {
                    Type::Pointer(to) => Some(*to),
                    _ => None,
                }
            };
            // `__uint(field, n)` is a pointer to an array of n.
            let number = |field: &str| match types.get(pointed(field)?) {
                Type::Array { count, .. } => Some(*count),
                _ => None,
            };
            let size = |field: &str, number_of: &str| {
                pointed(field)
                    .map(|to| types.size(to))
                    .or_else(|| number(number_of))
                    .unwrap_or(0)
            };
            let number_of_kind = number("type").unwrap_or(0);
            let kind = Kind::numbered(number_of_kind).ok_or_else(|| {
                Error::new(format!(
                    "map {name}: type {number_of_kind} is not simulated; expected an array, a hash \
                     or the socket's storage"
                ))
            })?;
            let map = Map {
                kind,
                key_size: size("key", "key_size"),
                value_size: size("value", "value_size"),
                entries: number("max_entries").unwrap_or(0),
                region: self.next_region() + self.maps.len(),
                name,
            };
            if let Some(fault) = map.fault() {
                let name = &map.name;
                return Err(Error::new(format!(
                    "map {name}: {fault}; the kernel refuses it (EINVAL)"
                )));
            }
            if map.bytes().is_none() {
                let most = Map::MAX_BYTES;
                let name = &map.name;
                return Err(Error::new(format!(
                    "map {name}: expected at most {most} bytes"
                )));
            }
            self.maps.push(map);
        }
        Ok(())
    }

    /// Lists the integers by name. The file's symbols have their places; its types need not.
    fn list_variables(&mut self, file: &object::File<'_>, types: &Types) {
        for ty in types.iter() {
            let Type::Section {
                name: section,
                variables,
            } = ty
            else {
                continue;
            };
            let Some(index) = file.section_by_name(section).map(|found| found.index()) else {
                continue;
            };
            let Some(region) = self.region(index).filter(|_| is_data(section)) else {
                continue;
            };
            for variable in variables {
                let Type::Variable { name, ty } = types.get(*variable) else {
                    continue;
                };
                let symbol = file.symbols().find(|symbol| {
                    symbol.section_index() == Some(index) && symbol.name() == Ok(name.as_str())
                });
                let Some(symbol) = symbol else { continue };
                let Ok(offset) = usize::try_from(symbol.address()) else {
                    continue;
                };
                let is_constant = section.starts_with(".rodata");
                // Other constants are compiled in where they are used.
                if is_constant && !types.is_volatile(*ty) {
                    self.fixed.push(name.clone());
                    continue;
                }
                let list = if is_constant {
                    &mut self.constants
                } else {
                    &mut self.counters
                };
                expand(types, list, name.clone(), *ty, (region, offset), 0);
            }
        }
    }
}

fn is_weak(file: &object::File<'_>, name: &str) -> bool {
    file.symbols()
        .any(|symbol| symbol.is_weak() && symbol.name() == Ok(name))
}

/// Adds an integer, or the integers of an array or structure, to a list.
fn expand(
    types: &Types,
    list: &mut Vec<Variable>,
    name: String,
    ty: u32,
    (region, offset): (usize, usize),
    depth: u32,
) {
    if list.len() >= MAX_VARIABLES || depth > 4 {
        return;
    }
    let mut add = |size: u32, signed| {
        if matches!(size, 1 | 2 | 4 | 8) {
            list.push(Variable {
                name: name.clone(),
                region,
                offset,
                size: size as usize,
                signed,
            });
        }
    };
    match types.get(ty) {
        Type::Integer { size, signed } => add(*size, *signed),
        Type::Enumeration { size, .. } => add(*size, false),
        Type::Array { of, count } => {
            let size = types.size(*of) as usize;
            for index in 0..(*count as usize).min(MAX_VARIABLES) {
                let Some(offset) = index
                    .checked_mul(size)
                    .and_then(|at| at.checked_add(offset))
                else {
                    return;
                };
                let name = format!("{name}[{index}]");
                expand(types, list, name, *of, (region, offset), depth + 1);
            }
        }
        Type::Record { members, .. } => {
            for member in members.iter().filter(|member| member.bits == 0) {
                let name = format!("{name}.{}", member.name);
                let offset = offset.saturating_add(member.bit as usize / 8);
                expand(types, list, name, member.ty, (region, offset), depth + 1);
            }
        }
        _ => {}
    }
}

/// Name and type of the variables that the types of a section list.
fn variables(types: &Types, wanted: &str) -> Vec<(String, u32)> {
    let numbers = types.iter().filter_map(|ty| match ty {
        Type::Section { name, variables } if name == wanted => Some(variables),
        _ => None,
    });
    let variable = |number: &u32| match types.get(*number) {
        Type::Variable { name, ty } => Some((name.to_owned(), *ty)),
        _ => None,
    };
    numbers.flatten().filter_map(variable).collect()
}
