//! What went wrong without stopping anything.

use std::fmt;
use std::path::PathBuf;

/// Something to tell the user; TCP goes on without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Warning {
    /// The file of sessions was damaged, and was renamed.
    SetAside {
        /// The file.
        file: PathBuf,
        /// Its new name.
        renamed: PathBuf,
        /// What was wrong.
        reason: String,
    },
    /// The file cannot be used; sessions are kept in memory until the program ends.
    InMemory {
        /// The file.
        file: PathBuf,
        /// What was wrong.
        reason: String,
    },
    /// A question or an entry failed.
    Failed {
        /// What was asked.
        what: &'static str,
        /// What was wrong.
        reason: String,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SetAside {
                file,
                renamed,
                reason,
            } => write!(
                f,
                "sessions file {}: {reason}; it is set aside as {}, and a new one begun",
                file.display(),
                renamed.display()
            ),
            Self::InMemory { file, reason } => write!(
                f,
                "sessions file {}: {reason}; sessions are kept in memory only: name a file of \
                 sessions, or a new one in a folder that can be written",
                file.display()
            ),
            Self::Failed { what, reason } => {
                write!(f, "sessions: {what} failed: {reason}; TCP starts as usual")
            }
        }
    }
}
