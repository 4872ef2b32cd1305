//! The interest list of epoll(7).

/// An entry of an interest list.
pub struct Watched {
    /// Events and flags requested, and the user data to return with them.
    pub events: u32,
    pub data: u64,
    /// The state of the connection at the last report, if only changes are reported.
    pub told: Option<Marks>,
}

/// State that distinguishes new events: bytes that have arrived, and events.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Marks {
    pub received: u64,
    pub ready: u32,
}
