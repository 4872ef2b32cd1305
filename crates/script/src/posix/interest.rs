//! The interest list of epoll(7).

/// An entry of an interest list.
#[derive(Debug)]
pub struct Watched {
    /// Events and flags requested, and the user data to return with them.
    pub events: u32,
    pub data: u64,
    /// Whether EPOLLONESHOT has reported its only event.
    pub is_spent: bool,
    /// The state of the connection at the last report, if only changes are reported.
    pub told: Option<Marks>,
}

/// State that distinguishes new events: data or its end, completed sends, and events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marks {
    pub received: u64,
    pub is_finished: bool,
    pub sends_done: u32,
    pub ready: u32,
}

impl Marks {
    /// Whether something happened after `told`. A vanished event is new when it returns.
    pub const fn is_news(&self, told: &Self) -> bool {
        self.received != told.received
            || self.is_finished != told.is_finished
            || self.sends_done != told.sends_done
            || self.ready & !told.ready != 0
    }
}
