//! Results of the application's calls.

/// Result of a call.
#[derive(Debug)]
pub(super) enum Answer {
    /// This value.
    Value(i64),
    /// This error.
    Error(&'static str),
    /// No result yet.
    Waits,
}
