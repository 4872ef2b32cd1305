//! Many connections over one device.
//!
//! | file | content |
//! |---|---|
//! | [`opening`] | listeners and connections are made; a SYN arrives |
//! | [`arrival`] | a packet arrives |
//! | [`output`] | a packet is polled, and has left |
//! | [`upkeep`] | timers, events, and expiry of state |
//! | [`early`] | data in SYNs: Fast Open |
//! | [`user`] | an application reads, writes and releases |

mod arrival;
mod early;
mod opening;
mod output;
mod upkeep;
mod user;

use alloc::collections::VecDeque;

use airtcp_packet::Segment;
use airtcp_units::Instant;
use hashbrown::HashMap;
use slotmap::{Key, KeyData, SlotMap};

use crate::fast_open::{FastOpenCache, FastOpenKeys};
use crate::ids::{ConnectionId, ListenerId};
use crate::listener::Listener;
use crate::secret::Secret;
use crate::settings::Settings;
use crate::stream::{Readiness, Stream};
use crate::time_wait::TimeWait;
use crate::tuple::FourTuple;
use crate::wakeups::Wakeups;

pub use arrival::Handled;
pub use output::{Cut, Departure, Transmit};
pub use upkeep::Event;

/// Limit on queued answers that belong to no connection: further ones are dropped.
const MAX_ANSWERS: usize = 1024;

/// Counters of an endpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets passed in.
    pub packets_received: u64,
    /// Received packets that were not TCP, or were damaged.
    pub packets_malformed: u64,
    /// Received packets for no connection and no listener.
    pub strays: u64,
    /// Packets polled.
    pub packets_sent: u64,
    /// SYNs answered with a cookie, without keeping state.
    pub cookies_sent: u64,
    /// Connections established from cookies.
    pub cookies_accepted: u64,
    /// SYNs and acknowledgments of SYN-ACKs dropped for lack of room.
    pub refused: u64,
    /// Connections opened by a SYN with data that was delivered, or may be answered, at once.
    pub opened_early: u64,
    /// SYNs of ours with their data acknowledged.
    pub syn_data_accepted: u64,
    /// Errors of routers that were believed.
    pub router_errors: u64,
}

/// A connection and its bookkeeping.
#[derive(Debug)]
struct Entry {
    stream: Stream,
    tuple: FourTuple,
    /// Offset added to our timestamps.
    timestamp_offset: u32,
    /// Its listener, until it is accepted.
    listener: Option<ListenerId>,
    /// Whether it counts as being opened by its listener.
    is_opening: bool,
    /// The listener with which it counts as carrying data before its handshake is complete.
    early: Option<ListenerId>,
    /// The earliest wake-up in the heap.
    armed: Instant,
    /// Whether it is queued for polling.
    is_queued: bool,
    /// The readiness last reported to the application.
    told: Readiness,
    /// Whether an event is pending.
    has_event: bool,
    /// Bytes in its buffers, as accounted for.
    buffered: usize,
    /// IPv4's identification field.
    identification: u16,
}

/// A TCP stack without a device, a clock or a thread.
#[derive(Debug)]
pub struct Endpoint {
    settings: Settings,
    secret: Secret,
    connections: SlotMap<ConnectionId, Entry>,
    by_tuple: HashMap<FourTuple, ConnectionId, Secret>,
    listeners: SlotMap<ListenerId, Listener>,
    by_address: HashMap<core::net::SocketAddr, ListenerId, Secret>,
    time_wait: TimeWait,
    wakeups: Wakeups,
    /// Connections that may have something to send.
    ready: VecDeque<ConnectionId>,
    /// Answers that belong to no connection.
    answers: VecDeque<(FourTuple, Segment)>,
    events: VecDeque<Event>,
    /// Bytes in all buffers.
    buffered: u64,
    /// Number of ports chosen (RFC 6056 §3.3.3).
    ports_chosen: u64,
    fast_open_keys: FastOpenKeys,
    fast_open_cache: FastOpenCache,
    counters: Counters,
}

impl Endpoint {
    /// Creates an endpoint without listeners or connections.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let secret = Secret::new(settings.secret);
        Self {
            fast_open_keys: settings
                .fast_open_keys
                .unwrap_or_else(|| FastOpenKeys::new(secret.fast_open_key())),
            fast_open_cache: FastOpenCache::new(settings.secret, settings.fast_open_cache),
            time_wait: TimeWait::new(secret, settings.most_time_wait),
            settings,
            secret,
            connections: SlotMap::with_key(),
            by_tuple: HashMap::with_hasher(secret),
            listeners: SlotMap::with_key(),
            by_address: HashMap::with_hasher(secret),
            wakeups: Wakeups::default(),
            ready: VecDeque::new(),
            answers: VecDeque::new(),
            events: VecDeque::new(),
            buffered: 0,
            ports_chosen: 0,
            counters: Counters::default(),
        }
    }

    /// Number of connections, including those being opened or ending.
    #[must_use]
    pub fn len(&self) -> usize {
        self.connections.len()
    }

    /// Whether there are no connections.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.connections.is_empty()
    }

    /// Number of closed connections in TIME-WAIT.
    #[must_use]
    pub fn closed(&self) -> usize {
        self.time_wait.len()
    }

    /// Bytes in the buffers of all connections.
    #[must_use]
    pub const fn buffered(&self) -> u64 {
        self.buffered
    }

    /// Counters since the start.
    #[must_use]
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Number of a listener's connections that wait to be accepted.
    #[must_use]
    pub fn waiting(&self, listener: ListenerId) -> usize {
        self.listeners.get(listener).map_or(0, Listener::waiting)
    }

    /// All connections not yet released, in an arbitrary but repeatable order.
    pub fn connections(&self) -> impl Iterator<Item = (ConnectionId, FourTuple, &Stream)> {
        self.connections
            .iter()
            .filter(|(_, entry)| !entry.stream.is_released())
            .map(|(id, entry)| (id, entry.tuple, &entry.stream))
    }

    /// The connection, read-only; `None` once it is released.
    #[must_use]
    pub fn stream(&self, id: ConnectionId) -> Option<&Stream> {
        let entry = self.connections.get(id)?;
        (!entry.stream.is_released()).then_some(&entry.stream)
    }

    /// The connection's two ends; `None` once it is released.
    #[must_use]
    pub fn tuple(&self, id: ConnectionId) -> Option<FourTuple> {
        self.stream(id)?;
        self.connections.get(id).map(|entry| entry.tuple)
    }

    /// Queues `answer`, which belongs to no connection, if there is room.
    fn answer(&mut self, tuple: FourTuple, answer: Segment) {
        if self.answers.len() < MAX_ANSWERS {
            self.answers.push_back((tuple, answer));
        }
    }
}

/// A connection's key in the heap of wake-ups.
fn key(id: ConnectionId) -> u64 {
    id.data().as_ffi()
}

/// The connection with that key.
fn id(key: u64) -> ConnectionId {
    ConnectionId::from(KeyData::from_ffi(key))
}

impl Entry {
    fn new(stream: Stream, tuple: FourTuple, timestamp_offset: u32) -> Self {
        Self {
            stream,
            tuple,
            timestamp_offset,
            listener: None,
            is_opening: false,
            early: None,
            armed: Instant::FAR_FUTURE,
            is_queued: false,
            told: Readiness::default(),
            has_event: false,
            buffered: 0,
            identification: 0,
        }
    }
}
