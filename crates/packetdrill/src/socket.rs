//! Descriptors and their state.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use airtcp_endpoint::{ConnectionId, ListenerId, Options};
use airtcp_script::stopwatch::Stopwatch;
use airtcp_units::Instant;

use crate::fast_open_options::FastOpenOptions;
use crate::interest::Watched;

/// Kind of a descriptor.
pub enum Kind {
    /// A socket that is neither open nor listening.
    Fresh,
    Listens(ListenerId),
    Connection(ConnectionId),
    /// An epoll instance with its interest list, by descriptor.
    Epoll(BTreeMap<i32, Watched>),
}

/// The part of a socket's state outside the endpoint.
pub struct Socket {
    pub kind: Kind,
    pub options: Options,
    pub bound: Option<SocketAddr>,
    pub backlog: i32,
    pub non_blocking: bool,
    pub reads_shut: bool,
    pub writes_shut: bool,
    pub corked: bool,
    /// SO_LINGER in seconds, if enabled.
    pub linger: Option<i32>,
    /// TCP_INQ.
    pub tells_queue: bool,
    /// The requested TCP_MAXSEG.
    pub wanted_mss: Option<i32>,
    /// TCP_NOTSENT_LOWAT.
    pub not_sent_low_water: u32,
    /// Whether the connection's final error was reported; it is reported only once.
    pub told_of_end: bool,
    /// Times for `TCP_INFO`, and the amount and time of the last noticed arrival.
    pub stopwatch: Stopwatch,
    pub received: (u64, Instant),
    pub fast_open: FastOpenOptions,
}

impl Socket {
    pub fn new(kind: Kind, options: Options, non_blocking: bool) -> Self {
        Self {
            kind,
            options,
            bound: None,
            backlog: 0,
            non_blocking,
            reads_shut: false,
            writes_shut: false,
            corked: false,
            linger: None,
            tells_queue: false,
            wanted_mss: None,
            not_sent_low_water: 0,
            told_of_end: false,
            stopwatch: Stopwatch::default(),
            received: (0, Instant::ZERO),
            fast_open: FastOpenOptions::default(),
        }
    }

    /// Whether a call with these flags of sendto and its relatives may block.
    pub const fn waits(&self, flags: i32) -> bool {
        !self.non_blocking && flags & libc::MSG_DONTWAIT == 0
    }
}
