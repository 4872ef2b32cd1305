//! What a first process does for its system: file systems, modules, the end.

use std::convert::Infallible;
use std::fs::File;
use std::path::Path;

use airtcp_host::error::{Result, Tried};
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount};
use rustix::system::{RebootCommand, finit_module, reboot};

/// The port of the pvpanic device, and the event that stops (QEMU's docs/specs/pvpanic).
#[cfg(target_arch = "x86_64")]
const PVPANIC: u16 = 0x505;
#[cfg(target_arch = "x86_64")]
const PANICKED: u8 = 1;

/// File systems that measurements need: type, and where.
const FILE_SYSTEMS: [(&str, &str); 7] = [
    ("proc", "/proc"),
    ("sysfs", "/sys"),
    ("devtmpfs", "/dev"),
    ("tmpfs", "/tmp"),
    ("tmpfs", "/run"),
    ("cgroup2", "/sys/fs/cgroup"),
    ("bpf", "/sys/fs/bpf"),
];

/// Mounts every file system that this kernel has; the first three it must have.
///
/// # Errors
///
/// The kernel refuses one of the first three.
pub(super) fn mount_all() -> Result<()> {
    for (number, (kind, place)) in FILE_SYSTEMS.into_iter().enumerate() {
        let mounted = std::fs::create_dir_all(place)
            .and_then(|()| Ok(mount(kind, place, kind, MountFlags::empty(), None)?));
        match mounted {
            // The kernel has mounted its devices itself.
            Err(error) if error.raw_os_error() == Some(Errno::BUSY.raw_os_error()) => {}
            Err(_) if number > 2 => {}
            other => other.tried(|| format!("cannot mount {kind} at {place}"))?,
        }
    }
    Ok(())
}

/// Loads a module; one that is there already is no error.
///
/// # Errors
///
/// The kernel refuses the module.
pub(super) fn load(path: &Path) -> Result<()> {
    let file = File::open(path).tried(|| format!("cannot open {}", path.display()))?;
    match finit_module(&file, c"", 0) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(error).tried(|| format!("cannot load {}", path.display())),
    }
}

/// Lets the outside stop the guest's clock here, in order to start from here more than once: a
/// write to the port of QEMU's pvpanic device. Without that device nothing happens.
#[cfg(target_arch = "x86_64")]
pub(super) fn pause() {
    // SAFETY: the port is the device's or nobody's; the instruction touches no memory.
    #[expect(
        unsafe_code,
        reason = "a port is written to by an instruction of its own"
    )]
    unsafe {
        if libc::ioperm(PVPANIC.into(), 1, 1) == 0 {
            std::arch::asm!(
                "out dx, al",
                in("dx") PVPANIC,
                in("al") PANICKED,
                options(nomem, nostack, preserves_flags)
            );
        }
    }
}

/// Guests are x86-64 ones.
#[cfg(not(target_arch = "x86_64"))]
pub(super) const fn pause() {}

/// Turns the guest off.
///
/// # Errors
///
/// The kernel refuses.
pub(super) fn power_off() -> Result<i32> {
    let refused: rustix::io::Result<Infallible> =
        reboot(RebootCommand::PowerOff).and(Err(Errno::NOSYS));
    refused
        .map(|never| match never {})
        .tried(|| "cannot turn the guest off".to_owned())
}
