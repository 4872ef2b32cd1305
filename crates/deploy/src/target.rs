//! Target of a deployment: the connections of a cgroup, those to a destination, all, or packets
//! that leave by a device.

use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use airtcp_host::error::{Error, Result, Tried};

/// CGROUP2_SUPER_MAGIC of include/uapi/linux/magic.h.
const CGROUP2: u64 = 0x6367_7270;

/// A set of connections that the kernel can distinguish, or of packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Connections of the processes of a cgroup.
    Cgroup(PathBuf),
    /// Connections to the addresses of a network.
    Route(IpAddr, u8),
    /// All connections of this network namespace.
    All,
    /// Packets that leave by a device.
    Device(String),
}

impl Target {
    /// The cgroup for a program that treats these connections: the target's, or the root.
    ///
    /// # Errors
    ///
    /// There is no cgroup of version 2.
    pub fn cgroup(&self) -> Result<PathBuf> {
        let path = match self {
            Self::Cgroup(path) => path.clone(),
            Self::Route(..) | Self::All | Self::Device(_) => root_cgroup()?,
        };
        check_cgroup(&path)?;
        Ok(path)
    }

    /// The affected peers; `None` for all.
    pub const fn peers(&self) -> Option<(IpAddr, u8)> {
        match *self {
            Self::Route(address, prefix) => Some((address, prefix)),
            Self::Cgroup(_) | Self::All | Self::Device(_) => None,
        }
    }
}

impl fmt::Display for Target {
    /// Its form on the command line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cgroup(path) => write!(f, "--cgroup {}", path.display()),
            Self::Route(address, prefix) => write!(f, "--route {address}/{prefix}"),
            Self::All => f.write_str("--all"),
            Self::Device(name) => write!(f, "--device {name}"),
        }
    }
}

fn check_cgroup(path: &Path) -> Result<()> {
    let system = rustix::fs::statfs(path).tried(|| format!("--cgroup {}", path.display()))?;
    if system.f_type as u64 == CGROUP2 {
        return Ok(());
    }
    Err(Error::new(format!(
        "--cgroup {}: expected a directory of cgroup version 2",
        path.display()
    ))
    .remedied_by("mount -t cgroup2 names where they are"))
}

/// Finds the root of cgroup version 2, from proc_pid_mountinfo(5).
fn root_cgroup() -> Result<PathBuf> {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo")
        .tried(|| "cannot read /proc/self/mountinfo".to_owned())?;
    mounts
        .lines()
        .find_map(|line| {
            let (mount, system) = line.split_once(" - ")?;
            system.starts_with("cgroup2 ").then_some(())?;
            mount.split(' ').nth(4).map(PathBuf::from)
        })
        .ok_or_else(|| {
            Error::new("no cgroup of version 2 is mounted")
                .remedied_by("as root: mount -t cgroup2 none /sys/fs/cgroup/unified")
        })
}
