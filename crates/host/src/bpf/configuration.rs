//! The kernel's configuration in a guest, which has no file with it: libbpf reads `CONFIG_HZ`
//! there for programs that ask for it.

use std::fs;
use std::path::Path;

use rustix::time::{ClockId, clock_getres};

use crate::error::{Result, Tried};

/// Nanoseconds in a second.
const SECOND: i64 = 1_000_000_000;

/// Writes the file where it is missing.
///
/// # Errors
///
/// The file system refuses it.
pub fn write() -> Result<()> {
    let release = rustix::system::uname()
        .release()
        .to_string_lossy()
        .into_owned();
    let file = Path::new("/boot").join(format!("config-{release}"));
    if file.exists() || Path::new("/proc/config.gz").exists() {
        return Ok(());
    }
    // A coarse clock advances once a jiffy (clock_getres(2)).
    let jiffy = clock_getres(ClockId::MonotonicCoarse).tv_nsec.max(1);
    let hz = (SECOND + jiffy / 2) / jiffy;
    fs::create_dir_all("/boot")
        .and_then(|()| fs::write(&file, format!("CONFIG_HZ={hz}\n")))
        .tried(|| format!("cannot write {}", file.display()))
}
