//! Congestion controls in BPF, registered with the kernel.

use std::fmt;
use std::path::Path;

use libbpf_rs::{Link, MapCore, MapFlags, MapType, Object};

use super::object::{Unloaded, failed, is_section};
use super::{Constants, Program, Verdicts, configuration};
use crate::error::{Error, Result};
use crate::release::is_guest;

macro_rules! object {
    ($name:literal) => {
        (
            $name,
            include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".bpf.o")) as &[u8],
        )
    };
}

/// The programs by name. Each holds a congestion control of the same name.
const PROGRAMS: [(&str, &[u8]); 4] = [
    object!("coin"),
    object!("newzag"),
    object!("veno"),
    object!("westwood"),
];
/// Rows of counted losses in a program that classifies: n = 0 to 4.
const ROWS: usize = 5;
/// Counters per row, in bytes.
const ROW_BYTES: usize = 16;

/// The object of one of airtcp's programs.
fn shipped(program: &str) -> Result<&'static [u8]> {
    let found = PROGRAMS.into_iter().find(|(known, _)| *known == program);
    found.map(|(_, bytes)| bytes).ok_or_else(|| {
        let known: Vec<_> = PROGRAMS.iter().map(|(known, _)| *known).collect();
        Error::new(format!(
            "congestion control {program:?}: expected one of {}",
            known.join(", ")
        ))
    })
}

/// A congestion control that sockets can choose while this value lives, or permanently once kept. A
/// socket that has chosen it keeps it until it closes.
pub struct Registered {
    // Without a link, the map's descriptor unregisters it: it goes before the object, which closes
    // it.
    link: Link,
    object: Object,
    name: String,
    /// Whether it is one of airtcp's, and its counters are losses.
    is_shipped: bool,
}

impl fmt::Debug for Registered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Registered").field(&self.name).finish()
    }
}

impl Registered {
    /// Registers `program` under `name` with these constants.
    ///
    /// # Errors
    ///
    /// No such program or constant, a name already in the kernel, no privilege, or a missing kernel
    /// feature, which is named.
    pub fn new(program: Program<'_>, name: &str, constants: &Constants) -> Result<Self> {
        let bytes = match program.object {
            Some(bytes) => bytes,
            None => shipped(program.control)?,
        };
        if is_guest() {
            configuration::write()?;
        }
        let mut unloaded = Unloaded::read(program.control, bytes)?;
        unloaded.set_all(constants)?;
        unloaded.name_control(program.control, name)?;
        if is_guest() {
            // A kernel that ends with its jobs keeps nothing.
            unloaded.without_link()?;
        } else {
            unloaded.with_link()?;
        }
        let mut object = unloaded.load()?;
        let link = object
            .maps_mut()
            .find(|map| map.map_type() == MapType::StructOps)
            .ok_or_else(|| {
                let program = program.control;
                Error::new(format!("{program}: no congestion control in it"))
            })?
            .attach_struct_ops()
            .map_err(|cause| {
                failed(
                    &format!("cannot register congestion control {name}"),
                    &cause,
                )
                .remedied_by(
                    "the kernel needs struct_ops (Linux 5.6, with links 6.4), and no other \
                         control of that name (sysctl net.ipv4.tcp_available_congestion_control)",
                )
            })?;
        Ok(Self {
            link,
            object,
            name: name.to_owned(),
            is_shipped: program.object.is_none(),
        })
    }

    /// Returns the losses classified so far, by their number; empty for a control that does not
    /// classify, and for one of the user's, whose counters may be anything.
    ///
    /// # Errors
    ///
    /// The kernel does not allow its memory to be read.
    pub fn verdicts(&self) -> Result<Vec<Verdicts>> {
        let Some(map) = self
            .object
            .maps()
            .find(|map| self.is_shipped && is_section(&map.name().to_string_lossy(), ".bss"))
        else {
            return Ok(Vec::new());
        };
        let bytes = map
            .lookup(&0_u32.to_ne_bytes(), MapFlags::ANY)
            .map_err(|cause| failed("cannot read the counted losses", &cause))?
            .unwrap_or_default();
        if bytes.len() < ROWS * ROW_BYTES {
            return Ok(Vec::new());
        }
        let number = |place: usize| {
            let mut eight = [0; 8];
            eight.copy_from_slice(&bytes[place..place + 8]);
            u64::from_ne_bytes(eight)
        };
        Ok((0..ROWS)
            .map(|row| Verdicts {
                lost: row as u32,
                radio: number(row * ROW_BYTES),
                congestion: number(row * ROW_BYTES + 8),
            })
            .collect())
    }

    /// Keeps it registered after this process: until its pin in `directory`, on a BPF file system,
    /// is removed.
    ///
    /// # Errors
    ///
    /// The directory is not on a BPF file system.
    pub fn keep(&mut self, directory: &Path) -> Result<()> {
        let path = directory.join(&self.name);
        self.link
            .pin(&path)
            .map_err(|cause| failed(&format!("cannot keep {}", path.display()), &cause))
    }
}
