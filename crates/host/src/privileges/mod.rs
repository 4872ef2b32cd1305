//! Least privilege: restricts a process once it is set up, before it reads untrusted input.
//!
//! ```text
//!   capabilities   only the listed ones, also for programs it starts (bounding set)
//!   no_new_privs   no set-user-ID program gives any back
//!   system calls   a list (seccomp); all others do not exist
//!   files          writes below named folders only, where the kernel has Landlock
//! ```
//!
//! None of it can be undone. It applies to the calling thread and to threads and programs
//! that it starts later: call it before there are others.

mod calls;
mod capabilities;
mod files;

use std::path::Path;

pub use rustix::thread::CapabilitySet;
use rustix::thread::set_no_new_privs;

pub use calls::Calls;

use crate::error::{Result, Tried};

/// Requirements of a process.
#[derive(Clone, Copy, Debug)]
pub struct Needs<'a> {
    /// Its capabilities. Missing ones are not gained.
    pub capabilities: CapabilitySet,
    /// Its system calls.
    pub calls: Calls,
    /// Files and folders that it writes, and below which it creates and removes files. Missing ones
    /// are ignored.
    pub writes: &'a [&'a Path],
    /// Files and folders that it reads; all if `None`.
    pub reads: Option<&'a [&'a Path]>,
}

/// Drops everything else.
///
/// A kernel without seccomp or without Landlock goes without these; a refusal by a kernel that has
/// them is an error.
///
/// # Errors
///
/// The kernel refuses: no untrusted input should be read then.
pub fn keep_only(needs: &Needs<'_>) -> Result<()> {
    capabilities::keep_only(needs.capabilities)?;
    set_no_new_privs(true).tried(|| "cannot rule out new privileges".to_owned())?;
    files::restrict(needs.writes, needs.reads)?;
    calls::restrict(needs.calls)
}

/// The folder of a file that is written, for [`Needs::writes`]: of a bare name, the current one.
pub fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests;
