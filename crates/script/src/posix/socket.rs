//! Descriptors and their state.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use airtcp_endpoint::{ConnectionId, ListenerId, Options};

use super::constants::MSG_DONTWAIT;
use super::fast_open_options::FastOpenOptions;
use super::interest::Watched;
use super::notices::Notices;

/// Kind of a descriptor.
#[derive(Debug)]
pub enum Kind {
    /// A socket that is neither open nor listening.
    Fresh,
    Listens(ListenerId),
    Connection(ConnectionId),
    /// An epoll instance with its interest list, by descriptor.
    Epoll(BTreeMap<i32, Watched>),
}

/// The part of a socket's state outside the endpoint.
#[derive(Debug)]
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
    pub wanted_mss: Option<u32>,
    /// TCP_NOTSENT_LOWAT.
    pub not_sent_low_water: u32,
    /// Whether the connection's final error was reported; it is reported only once.
    pub told_of_end: bool,
    /// Whether accept or connect reported the connection as open.
    pub told_of_opening: bool,
    /// Bytes written.
    pub written: u64,
    pub notices: Notices,
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
            told_of_opening: false,
            written: 0,
            notices: Notices::default(),
            fast_open: FastOpenOptions::default(),
        }
    }

    /// A connection of this listener: it inherits the options (Linux, `sk_clone_lock`).
    pub fn accepted(&self, id: ConnectionId, non_blocking: bool) -> Self {
        let mut socket = Self::new(Kind::Connection(id), self.options.clone(), non_blocking);
        socket.corked = self.corked;
        socket.linger = self.linger;
        socket.tells_queue = self.tells_queue;
        socket.wanted_mss = self.wanted_mss;
        socket.not_sent_low_water = self.not_sent_low_water;
        socket.notices.wanted = self.notices.wanted;
        socket.told_of_opening = true;
        socket
    }

    /// Whether a call with these flags of sendto and its relatives may block.
    pub const fn waits(&self, flags: i32) -> bool {
        !self.non_blocking && flags & MSG_DONTWAIT == 0
    }
}
