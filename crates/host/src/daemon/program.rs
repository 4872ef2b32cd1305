//! The running program's file, to start it once more.

use std::path::PathBuf;

use crate::error::{Result, Tried};

/// The file of the running program. If it was replaced on disk, the new version.
///
/// # Errors
///
/// The process file system is missing.
pub fn running() -> Result<PathBuf> {
    let program =
        std::env::current_exe().tried(|| "cannot find the program that is running".to_owned())?;
    // proc(5): the mark of a program that was replaced.
    Ok(
        match program
            .to_str()
            .and_then(|it| it.strip_suffix(" (deleted)"))
        {
            Some(replaced) => replaced.into(),
            None => program,
        },
    )
}
