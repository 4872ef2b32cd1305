//! User namespaces, which give unprivileged users private networks.

use std::fs;
use std::io;

use rustix::thread::UnshareFlags;

use super::leave;
use crate::error::{Error, Result, Tried};

/// Settings by which systems disallow user namespaces, the disabling value, and the remedy.
const SWITCHES: [(&str, &str, &str); 3] = [
    (
        "/proc/sys/user/max_user_namespaces",
        "0",
        "as root: sysctl -w user.max_user_namespaces=10000",
    ),
    (
        "/proc/sys/kernel/unprivileged_userns_clone",
        "0",
        "as root: sysctl -w kernel.unprivileged_userns_clone=1",
    ),
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "give airtcp-net an AppArmor profile that allows userns, or as root: \
         sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    ),
];

/// Makes the process root over new namespaces, if it is not root already. It must not have other
/// threads yet.
///
/// # Errors
///
/// The system does not allow user namespaces; names the responsible setting, and the remedy.
pub fn become_root_of_own_namespaces() -> Result<()> {
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    if user.is_root() {
        return Ok(());
    }
    leave(UnshareFlags::NEWUSER)
        .map_err(|cause| forbidden("cannot make a user namespace", cause))?;
    // user_namespaces(7): setgroups must be denied before a user may write the GID map.
    for (file, text) in [
        ("/proc/self/setgroups", "deny".to_owned()),
        ("/proc/self/uid_map", format!("0 {} 1", user.as_raw())),
        ("/proc/self/gid_map", format!("0 {} 1", group.as_raw())),
    ] {
        fs::write(file, text).tried(|| format!("cannot write {file}"))?;
    }
    Ok(())
}

/// The error for a namespace that the system refuses to create.
pub(super) fn forbidden(tried: &str, cause: impl Into<io::Error>) -> Error {
    let error = Error::system(tried, cause);
    for (file, value, way_out) in SWITCHES {
        if fs::read_to_string(file).is_ok_and(|text| text.trim() == value) {
            return error.remedied_by(format!("{file} is {value} here; {way_out}"));
        }
    }
    error.remedied_by(
        "the system forbids namespaces to this process (a container without CAP_SYS_ADMIN does); \
         run it as root or outside of the container",
    )
}
