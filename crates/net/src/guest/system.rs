//! Duties of a first process: file systems, modules, the end.

use std::convert::Infallible;
use std::fs::File;
use std::path::Path;
use std::time::Duration;

use airtcp_host::error::{Result, Tried};
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount};
use rustix::system::{RebootCommand, finit_module, reboot};

/// The port that starts the watchdog of an iBASE 700 (QEMU's hw/watchdog/wdt_ib700.c, Linux's
/// ib700wdt.c), and the value for two seconds, the minimum.
#[cfg(target_arch = "x86_64")]
const WATCHDOG: u16 = 0x443;
#[cfg(target_arch = "x86_64")]
const TWO_SECONDS: u8 = 0xe;
/// Longer than the watchdog's time, so that this process sleeps when it expires.
const REST: Duration = Duration::from_millis(2500);

/// File systems for measurements: type and mount point.
const FILE_SYSTEMS: [(&str, &str); 7] = [
    ("proc", "/proc"),
    ("sysfs", "/sys"),
    ("devtmpfs", "/dev"),
    ("tmpfs", "/tmp"),
    ("tmpfs", "/run"),
    ("cgroup2", "/sys/fs/cgroup"),
    ("bpf", "/sys/fs/bpf"),
];

/// Mounts every file system that this kernel has; the first three are required.
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

/// Loads a module, unless already loaded.
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

/// Sleeps, and lets the host stop the guest's clock meanwhile, to start from here more than once:
/// QEMU's watchdog expires. Without that device nothing happens.
///
/// The clock has to stop while the processor is halted. A running processor is stopped by another
/// thread of QEMU, which may use the time of that processor's last update: the state after the boot
/// would not be reproducible.
pub(super) fn rest() {
    #[cfg(target_arch = "x86_64")]
    start_watchdog();
    std::thread::sleep(REST);
}

#[cfg(target_arch = "x86_64")]
fn start_watchdog() {
    // SAFETY: the port is the device's or unused; the instruction touches no memory.
    #[expect(
        unsafe_code,
        reason = "a port is written to by an instruction of its own"
    )]
    unsafe {
        if libc::ioperm(WATCHDOG.into(), 1, 1) == 0 {
            std::arch::asm!(
                "out dx, al",
                in("dx") WATCHDOG,
                in("al") TWO_SECONDS,
                options(nomem, nostack, preserves_flags)
            );
            // The right to use a port costs a switch of the processor's port table each time, and
            // children inherit it.
            libc::ioperm(WATCHDOG.into(), 1, 0);
        }
    }
}

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
