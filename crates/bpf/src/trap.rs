//! The reasons for which a run is stopped.

use crate::memory::BadAccess;

/// Why a run ends before its program returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trap {
    /// An access that memory does not allow.
    Memory(BadAccess),
    /// More instructions than the [budget](crate::BUDGET).
    Budget,
    /// Deeper calls than the kernel allows.
    Depth,
    /// A jump out of the code.
    Jump,
    /// The program uses a feature that is not simulated; the reason's number.
    Poison(u64),
    /// A function of the kernel's refuses its arguments.
    Argument(&'static str),
}

impl From<BadAccess> for Trap {
    fn from(access: BadAccess) -> Self {
        Self::Memory(access)
    }
}
