//! The settings of this kernel's TCP in a network namespace.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// Whether this kernel has a congestion control, built in or as a loadable module.
pub fn has_control(name: &str) -> bool {
    let available = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    if available.is_ok_and(|names| names.split_whitespace().any(|known| known == name)) {
        return true;
    }
    let Ok(release) = fs::read_to_string("/proc/sys/kernel/osrelease") else {
        return false;
    };
    let modules = format!("/lib/modules/{}/modules.dep", release.trim());
    let file = format!("/tcp_{name}.ko");
    fs::read_to_string(modules).is_ok_and(|listed| listed.contains(&file))
}

/// The version reported by a loaded or built-in module; `None` without one.
pub fn module_version(name: &str) -> Option<String> {
    let file = Path::new("/sys/module").join(name).join("version");
    let version = fs::read_to_string(file).ok()?;
    Some(version.trim().to_owned())
}

/// The file of a setting of a network namespace.
///
/// # Errors
///
/// The key does not belong to a namespace.
pub fn setting_path(key: &str) -> Result<PathBuf> {
    // Keys come from the catalogue; one with a slash or of another tree is not namespaced.
    if !key.starts_with("net.") || key.contains('/') || key.contains("..") {
        return Err(Error::new(format!(
            "{key}: not a setting of a network namespace"
        )));
    }
    Ok(Path::new("/proc/sys").join(key.replace('.', "/")))
}

/// The default congestion control of the calling thread's network namespace.
pub const DEFAULT_CONTROL: &str = "net.ipv4.tcp_congestion_control";

/// Writes a kernel file with one setting.
///
/// # Errors
///
/// The kernel lacks the file, or refuses the value. Other namespaces than the machine's may not
/// default to a restricted congestion control (Linux, `tcp_set_default_congestion_control`): then
/// the error has the remedy.
pub fn write(file: &Path, value: &str) -> Result<()> {
    fs::write(file, value).map_err(|cause| {
        let is_restricted = cause.kind() == ErrorKind::PermissionDenied
            && file.ends_with(DEFAULT_CONTROL.replace('.', "/"));
        let error = Error::system(
            format!("cannot write {value:?} to {}", file.display()),
            cause,
        );
        if is_restricted {
            error.remedied_by(
                "in a network namespace only a control for all users can be the default; set \
                 .flags = TCP_CONG_NON_RESTRICTED in the program",
            )
        } else {
            error
        }
    })
}
