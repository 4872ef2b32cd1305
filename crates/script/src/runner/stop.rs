//! Early ends of a script.

/// Why a script ended early.
#[derive(Debug)]
pub(super) enum Stop {
    Failed(String),
    Unsupported(String),
    Interrupted,
}

pub(super) type Step = Result<(), Stop>;

pub(super) fn unsupported<T>(what: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Unsupported(what.into()))
}
