//! airtcp's programs for the kernel's BPF: congestion controls, and the treatment of a share of new
//! connections.
//!
//! A build without the feature `bpf` has the same functions, which report that BPF is missing.

use std::net::IpAddr;

use crate::error::{Error, Result};

#[cfg(feature = "bpf")]
mod configuration;
#[cfg(feature = "bpf")]
mod control;
#[cfg(feature = "bpf")]
mod object;
#[cfg(feature = "bpf")]
mod said;
#[cfg(feature = "bpf")]
mod treat;

#[cfg(not(feature = "bpf"))]
mod absent;

#[cfg(not(feature = "bpf"))]
pub use absent::{Registered, groups, treat};
#[cfg(feature = "bpf")]
pub use control::Registered;
#[cfg(feature = "bpf")]
pub use treat::{groups, treat};

/// The file in which the kernel describes its types.
const TYPES: &str = "/sys/kernel/btf/vmlinux";

/// Constants of a program, by their names in the source.
pub type Constants = Vec<(String, i64)>;

/// A program with a congestion control.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Program<'a> {
    /// The control's name in the object.
    pub control: &'a str,
    /// The object; one that airtcp brings if `None`.
    pub object: Option<&'a [u8]>,
}

impl<'a> Program<'a> {
    /// One that airtcp brings.
    #[must_use]
    pub const fn shipped(control: &'a str) -> Self {
        Self {
            control,
            object: None,
        }
    }

    /// A name that no other process gives to its control: of at most 15 bytes
    /// (`TCP_CA_NAME_MAX`).
    #[must_use]
    pub fn own_name(&self) -> String {
        let process = format!("_{:x}", std::process::id());
        let kept = 15_usize.saturating_sub(process.len());
        let first = self.control.char_indices().take_while(|(at, _)| *at < kept);
        let first: String = first.map(|(_, letter)| letter).collect();
        first + &process
    }
}

impl std::fmt::Debug for Program<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Program").field(&self.control).finish()
    }
}

/// Losses classified by a congestion control, by their number n.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Verdicts {
    /// Number of segments lost at once; 4 means 4 or more, 0 timeouts.
    pub lost: u32,
    /// Attributed to the radio.
    pub radio: u64,
    /// Attributed to congestion.
    pub congestion: u64,
}

/// The treatment of new connections.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Treatment {
    /// Connections treated, of 10000; the others are the control group.
    pub share: u32,
    /// Makes the choice differ from one deployment to the next.
    pub salt: u32,
    /// The treated peers, with the prefix length; all if `None`.
    pub peers: Option<(IpAddr, u8)>,
    /// The end, in nanoseconds of `CLOCK_BOOTTIME`.
    pub until_ns: Option<u64>,
    /// The congestion control of treated connections.
    pub control: Option<String>,
    /// The initial window, in segments.
    pub initial_window: Option<u32>,
    /// The floor of the retransmission timer, in microseconds.
    pub least_timeout_us: Option<u32>,
    /// A limit on the rate in bytes a second, which turns the kernel's pacing on.
    pub pacing_rate: Option<u64>,
}

impl Treatment {
    /// Whether the treatment changes anything.
    pub const fn has_effect(&self) -> bool {
        self.control.is_some()
            || self.initial_window.is_some()
            || self.least_timeout_us.is_some()
            || self.pacing_rate.is_some()
    }
}

/// The group of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Whether it is treated, or belongs to the control group.
    pub treated: bool,
    /// The kernel's first refusal, as an errno, or 0.
    pub refused: i32,
}

/// A program's constants with the value of a step: of one constant, or of several by name,
/// `beta=3,gamma=1`; may be empty.
///
/// # Errors
///
/// A value is not a whole number.
pub fn constants(constant: &str, value: &str) -> Result<Constants> {
    let number = |name: &str, value: &str| match value.parse() {
        Ok(number) => Ok((name.to_owned(), number)),
        Err(_) => Err(Error::new(format!(
            "{name} = {value:?}: expected a whole number"
        ))),
    };
    if !constant.is_empty() {
        return Ok(vec![number(constant, value)?]);
    }
    let words = value.split(',').filter(|word| !word.is_empty());
    words
        .map(|word| {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            number(name, value)
        })
        .collect()
}

/// Checks whether this program and this kernel support BPF at all, privileges aside.
///
/// # Errors
///
/// Built without it, or a kernel without its types; gives the remedy.
pub fn available() -> Result<()> {
    if cfg!(not(feature = "bpf")) {
        return Err(
            Error::new("this airtcp-net was built without BPF").remedied_by(
                "build airtcp from its sources: apt install clang pkg-config libelf-dev zlib1g-dev, then \
             `make build`, or `make wheel WHEEL_BPF=1` for a wheel that has it",
            ),
        );
    }
    if !std::path::Path::new(TYPES).exists() {
        return Err(Error::new(format!("BPF: this kernel has no {TYPES}"))
            .remedied_by("a kernel built with CONFIG_DEBUG_INFO_BTF has it"));
    }
    Ok(())
}

/// Checks [`available`], and that this process may load programs.
///
/// # Errors
///
/// As [`available`], or the process is not root of the machine.
pub fn allowed() -> Result<()> {
    available()?;
    // struct_ops and sock_ops require CAP_BPF and CAP_NET_ADMIN in the initial user namespace,
    // which a user namespace's root does not have; its UID map tells the two apart.
    let first = std::fs::read_to_string("/proc/self/uid_map")
        .is_ok_and(|map| map.split_whitespace().eq(["0", "0", "4294967295"]));
    if !first || !rustix::process::geteuid().is_root() {
        return Err(
            Error::new("BPF programs may be loaded by root of the machine alone")
                .remedied_by("run it as root, outside of user namespaces"),
        );
    }
    Ok(())
}
