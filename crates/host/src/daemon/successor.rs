//! The successor of a running program: the same program, with the same arguments.

use std::ffi::OsString;
use std::process::{Child, Command};

use crate::error::{Result, Tried};

/// Starts this program once more with these arguments, without its name. If it was replaced on
/// disk, the new version is started.
///
/// # Errors
///
/// This process may not start programs.
pub fn start(arguments: impl IntoIterator<Item = OsString>) -> Result<Child> {
    let failed = || "cannot start a successor".to_owned();
    let program = std::env::current_exe().tried(failed)?;
    // proc(5): the mark of a program that was replaced.
    let program = program.to_string_lossy();
    Command::new(program.trim_end_matches(" (deleted)"))
        .args(arguments)
        .spawn()
        .tried(failed)
}
