//! An object of the user's for the kernel's BPF, as a step names it.

use std::fmt;

use serde::{Serialize, Serializer};

/// A file with a congestion control for the kernel's BPF, as a deployment names it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ObjectFile {
    /// Its path.
    pub path: &'static str,
    /// Its content when it was read.
    pub bytes: &'static [u8],
}

impl fmt::Debug for ObjectFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ObjectFile").field(&self.path).finish()
    }
}

impl Serialize for ObjectFile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.path)
    }
}
