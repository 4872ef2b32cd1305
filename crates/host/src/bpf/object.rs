//! An object file of BPF programs, with constants that are set before it is loaded.

use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::{DataSec, Var};
use libbpf_rs::{AsRawLibbpf, MapType, Object, ObjectBuilder, OpenObject};

use super::{Constants, allowed, said};
use crate::error::{Error, Result};

/// The section of an object with its constants.
const CONSTANTS: &str = ".rodata";

/// A map's flag: it is registered through a link (Linux 6.4).
const BPF_F_LINK: u32 = 1 << 13;

/// An object that has been read but not loaded yet.
pub struct Unloaded {
    name: String,
    object: OpenObject,
}

impl Unloaded {
    /// Reads an object.
    ///
    /// # Errors
    ///
    /// BPF is not available; the error gives the reason.
    pub fn read(name: &str, bytes: &[u8]) -> Result<Self> {
        allowed()?;
        said::begin();
        let object = ObjectBuilder::default()
            .open_memory(bytes)
            .map_err(|cause| failed(&format!("cannot read {name}.bpf.o"), &cause))?;
        Ok(Self {
            name: name.to_owned(),
            object,
        })
    }

    /// Sets a constant to the bytes of a value, padded with zeros to the constant's size.
    ///
    /// # Errors
    ///
    /// The program has no such constant; lists its constants.
    pub fn set_bytes(&mut self, constant: &str, value: &[u8]) -> Result<()> {
        let (offset, size) = self.place_of(constant)?;
        if value.len() > size {
            return Err(Error::new(format!(
                "{}: {constant} takes {size} bytes, not {}",
                self.name,
                value.len()
            )));
        }
        let name = self.name.clone();
        let mut section = self
            .object
            .maps_mut()
            .find(|map| is_section(&map.name().to_string_lossy(), CONSTANTS))
            .ok_or_else(|| Error::new(format!("{name}: no constants")))?;
        let place = section
            .initial_value_mut()
            .and_then(|bytes| bytes.get_mut(offset..offset + size))
            .ok_or_else(|| Error::new(format!("{name}: {constant} lies outside of its section")))?;
        place.fill(0);
        place[..value.len()].copy_from_slice(value);
        Ok(())
    }

    /// Sets a constant that is a whole number.
    ///
    /// # Errors
    ///
    /// The program has no such constant, or it is too small for the value.
    pub fn set(&mut self, constant: &str, value: impl Into<i128>) -> Result<()> {
        let (_, size) = self.place_of(constant)?;
        let (value, size) = (value.into(), size.min(8));
        // The sign of its type is not known here: it takes whatever either kind holds.
        let most = (1_i128 << (8 * size)) - 1;
        if !(-most / 2 - 1..=most).contains(&value) {
            return Err(Error::new(format!(
                "{}: {constant} = {value}: expected at most {most}",
                self.name
            )));
        }
        let bytes = value.to_ne_bytes();
        let used = if cfg!(target_endian = "little") {
            &bytes[..size]
        } else {
            &bytes[16 - size..]
        };
        self.set_bytes(constant, used)
    }

    /// Sets several constants.
    ///
    /// # Errors
    ///
    /// As [`Self::set`].
    pub fn set_all(&mut self, constants: &Constants) -> Result<()> {
        for (name, value) in constants {
            self.set(name, *value)?;
        }
        Ok(())
    }

    /// Names a congestion control: its first member of 16 bytes that begins with `known`.
    ///
    /// # Errors
    ///
    /// The object has no control of that name, or the new name is too long.
    pub fn name_control(&mut self, known: &str, name: &str) -> Result<()> {
        // TCP_CA_NAME_MAX including the terminating zero.
        if name.len() > 15 || name.is_empty() {
            return Err(Error::new(format!(
                "congestion control {name:?}: expected a name of 1 to 15 bytes"
            )));
        }
        let mut searched = known.as_bytes().to_vec();
        searched.resize(16, 0);
        for mut map in self.object.maps_mut() {
            if map.map_type() != MapType::StructOps {
                continue;
            }
            let Some(bytes) = map.initial_value_mut() else {
                continue;
            };
            if let Some(place) = bytes.windows(16).position(|part| part == searched) {
                bytes[place..place + 16].fill(0);
                bytes[place..place + name.len()].copy_from_slice(name.as_bytes());
                return Ok(());
            }
        }
        Err(Error::new(format!(
            "{}: no congestion control {known:?} in it",
            self.name
        )))
    }

    /// Registers a congestion control through the object without a link: kernels before 6.4 have no
    /// links of such objects, and a killed process would leave it behind.
    ///
    /// # Errors
    ///
    /// The kernel's library refuses.
    pub fn without_link(&mut self) -> Result<()> {
        self.set_flags(0)
    }

    /// Registers a congestion control through a link, whatever its section's name: it then ends
    /// with this process.
    ///
    /// # Errors
    ///
    /// The kernel's library refuses.
    pub fn with_link(&mut self) -> Result<()> {
        self.set_flags(BPF_F_LINK)
    }

    fn set_flags(&mut self, flags: u32) -> Result<()> {
        let name = self.name.clone();
        self.object
            .maps_mut()
            .filter(|map| map.map_type() == MapType::StructOps)
            .try_for_each(|mut map| map.set_map_flags(flags))
            .map_err(|cause| failed(&format!("cannot choose how {name} is registered"), &cause))
    }

    /// Loads the programs into the kernel.
    ///
    /// # Errors
    ///
    /// The kernel's verifier rejects them, or lacks something they need.
    pub fn load(self) -> Result<Object> {
        let name = self.name;
        self.object.load().map_err(|cause| {
            let said = said::end();
            let reason = said.map_or_else(String::new, |said| format!(": {said}"));
            failed(&format!("the kernel refuses {name}.bpf.o{reason}"), &cause)
        })
    }

    /// Offset and size of a constant.
    fn place_of(&self, constant: &str) -> Result<(usize, usize)> {
        let name = &self.name;
        // SAFETY: the object outlives this borrow of it.
        #[expect(unsafe_code, reason = "an object's types are read through its pointer")]
        let raw = unsafe { self.object.as_libbpf_object().as_ref() };
        let types = Btf::from_bpf_object(raw)
            .map_err(|cause| failed(&format!("cannot read the types of {name}"), &cause))?
            .ok_or_else(|| Error::new(format!("{name} has no types")))?;
        let section: DataSec<'_> = types
            .type_by_name(CONSTANTS)
            .ok_or_else(|| Error::new(format!("{name} has no constants")))?;
        let mut known = Vec::new();
        for variable in section.iter() {
            let Some(found) = types.type_by_id::<Var<'_>>(variable.ty) else {
                continue;
            };
            let found = found
                .name()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default();
            if found == constant {
                return Ok((variable.offset as usize, variable.size));
            }
            known.push(found);
        }
        Err(Error::new(format!(
            "{name}: no constant {constant:?}; it has {}",
            known.join(", ")
        )))
    }
}

/// Whether a map is that of a section: the kernel prefixes its name with the object's, and
/// truncates it to 15 bytes.
pub fn is_section(map: &str, section: &str) -> bool {
    map.ends_with(section)
}

/// Converts an error of libbpf's.
pub fn failed(tried: &str, cause: &libbpf_rs::Error) -> Error {
    Error::new(format!("{tried}: {cause:#}"))
}
