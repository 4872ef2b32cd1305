//! What a call of the application gives.

/// Result of a call.
#[derive(Debug)]
pub(super) enum Answer {
    /// This value.
    Value(i64),
    /// This error.
    Error(&'static str),
    /// Nothing yet.
    Waits,
}
