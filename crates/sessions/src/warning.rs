//! Non-fatal errors.

use std::fmt;
use std::path::PathBuf;

/// A message for the user; TCP continues without the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Warning {
    /// The file of sessions was damaged, and was renamed.
    SetAside {
        /// The file.
        file: PathBuf,
        /// Its new name.
        renamed: PathBuf,
        /// The fault.
        reason: String,
    },
    /// The file cannot be used; sessions are kept in memory until the program ends.
    InMemory {
        /// The file.
        file: PathBuf,
        /// The fault.
        reason: String,
    },
    /// A query or an entry failed.
    Failed {
        /// The request.
        what: &'static str,
        /// The fault.
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
