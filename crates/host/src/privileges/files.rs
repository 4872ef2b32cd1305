//! Restricts file access (Documentation/userspace-api/landlock.rst).

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::error::{Error, Result};

/// LANDLOCK_ACCESS_FS_* of include/uapi/linux/landlock.h.
const EXECUTE: u64 = 1 << 0;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_DIR: u64 = 1 << 3;
const REFER: u64 = 1 << 13;
const TRUNCATE: u64 = 1 << 14;
/// REMOVE_DIR to MAKE_SYM.
const MAKE_AND_REMOVE: u64 = 0x1ff0;
/// Access rights that apply to files other than folders.
const OF_FILES: u64 = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE;
/// Numbers of system calls that are the same on all processors.
const CREATE_RULESET: libc::c_long = 444;
const ADD_RULE: libc::c_long = 445;
const RESTRICT_SELF: libc::c_long = 446;
/// LANDLOCK_CREATE_RULESET_VERSION and LANDLOCK_RULE_PATH_BENEATH.
const VERSION: u32 = 1;
const BENEATH: u32 = 1;

/// struct landlock_path_beneath_attr, which is packed.
#[repr(C, packed)]
struct Beneath {
    access: u64,
    folder: i32,
}

/// Allows writing only below `writes`, and reading and executing only below `reads`, if given.
/// Files already open stay accessible. Does nothing on a kernel without Landlock.
///
/// # Errors
///
/// The kernel has Landlock and refuses.
pub fn restrict(writes: &[&Path], reads: Option<&[&Path]>) -> Result<()> {
    let failed = |cause: io::Error| Error::system("cannot limit access to files", cause);
    // The kernel lacks it, or a container's filter hides it.
    let Ok(version) = ruleset(None, VERSION) else {
        return Ok(());
    };
    let writing = WRITE_FILE
        | MAKE_AND_REMOVE
        | if version >= 2 { REFER } else { 0 }
        | if version >= 3 { TRUNCATE } else { 0 };
    let reading = READ_FILE | READ_DIR | EXECUTE;
    let handled = writing | reads.map_or(0, |_| reading);
    let descriptor = ruleset(Some(handled), 0).map_err(failed)?;
    // SAFETY: the kernel has just made it, and no other code has it.
    #[expect(unsafe_code, reason = "no library of ours wraps Landlock")]
    let rules = unsafe { OwnedFd::from_raw_fd(descriptor) };
    let written = writes.iter().map(|path| (*path, handled));
    let read = reads.unwrap_or_default().iter();
    for (path, access) in written.chain(read.map(|path| (*path, reading))) {
        let Ok(folder) = File::options()
            .read(true)
            .custom_flags(libc::O_PATH)
            .open(path)
        else {
            continue;
        };
        let is_folder = folder.metadata().is_ok_and(|what| what.is_dir());
        let beneath = Beneath {
            access: if is_folder { access } else { access & OF_FILES },
            folder: folder.as_raw_fd(),
        };
        // SAFETY: the kernel reads `beneath`, which is borrowed for the call.
        #[expect(unsafe_code, reason = "no library of ours wraps Landlock")]
        let added = unsafe {
            let beneath = &raw const beneath;
            libc::syscall(ADD_RULE, rules.as_raw_fd(), BENEATH, beneath, 0)
        };
        if added != 0 {
            return Err(failed(io::Error::last_os_error()));
        }
    }
    // SAFETY: it takes a descriptor and no flags.
    #[expect(unsafe_code, reason = "no library of ours wraps Landlock")]
    let restricted = unsafe { libc::syscall(RESTRICT_SELF, rules.as_raw_fd(), 0) };
    if restricted == 0 {
        Ok(())
    } else {
        Err(failed(io::Error::last_os_error()))
    }
}

/// Creates a ruleset for these kinds of access, or with flags only queries the version.
fn ruleset(handled: Option<u64>, flags: u32) -> io::Result<i32> {
    let (attributes, length) = handled.as_ref().map_or((std::ptr::null(), 0), |handled| {
        (std::ptr::from_ref(handled), size_of::<u64>())
    });
    // SAFETY: the kernel reads `length` bytes, the first member of struct landlock_ruleset_attr;
    // the missing ones are zero.
    #[expect(unsafe_code, reason = "no library of ours wraps Landlock")]
    let made = unsafe { libc::syscall(CREATE_RULESET, attributes, length, flags) };
    match i32::try_from(made) {
        Ok(made) if made >= 0 => Ok(made),
        _ => Err(io::Error::last_os_error()),
    }
}
