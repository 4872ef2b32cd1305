//! Settings of an endpoint and its connections.

use alloc::sync::Arc;

use airtcp_tcp::{Config, Profile};
use airtcp_units::Duration;

use crate::fast_open::{CacheSettings, FastOpenKeys};
use crate::keep_alive::KeepAlive;

/// The settings of a new connection.
#[derive(Clone, Debug)]
pub struct Options {
    /// The stack: congestion control, loss detection, timers, the receive buffer.
    pub config: Arc<Config>,
    /// Limit on written unacknowledged bytes.
    pub send_buffer: usize,
    /// Number of unread bytes at which a connection is readable (SO_RCVLOWAT); at least one.
    pub readable_from: usize,
    /// Room in the send buffer at which a connection is writable; at least one.
    pub writable_from: usize,
    /// A connection is writable only while fewer bytes than this are unsent (TCP_NOTSENT_LOWAT):
    /// written data is then fresh, and still in the processor's cache.
    pub unsent_below: usize,
    /// Whether, and when, an idle peer is probed.
    pub keep_alive: Option<KeepAlive>,
    /// Whether small segments leave undelayed (TCP_NODELAY).
    pub no_delay: bool,
    /// Initial payload of the search for the path's MTU; `None` to start with the largest and to
    /// rely on routers (RFC 4821 §7.2 suggests 1024).
    pub path_probe: Option<u32>,
    /// Whether the driver reports segments' departures:
    /// [`Endpoint::on_transmitted`](crate::Endpoint::on_transmitted).
    pub departures: bool,
}

impl Default for Options {
    /// The profile `linux`, with buffers of Linux's size.
    fn default() -> Self {
        Self::new(Profile::Linux.config())
    }
}

impl Options {
    /// A stack, with a send buffer of 4 MiB (Linux, `tcp_wmem[2]`) and everything else off.
    #[must_use]
    pub fn new(config: Config) -> Self {
        Self {
            config: Arc::new(config),
            send_buffer: 4 << 20,
            readable_from: 1,
            writable_from: 1,
            unsent_below: usize::MAX,
            keep_alive: None,
            no_delay: false,
            path_probe: None,
            departures: false,
        }
    }
}

/// The settings of an endpoint.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Sixteen secret bytes, new at each start: everything that peers must not guess is derived
    /// from them (RFC 6528 §3).
    pub secret: [u8; 16],
    /// The largest IP packet that the device accepts. Segments are never larger.
    pub mtu: u16,
    /// Limit on connections, including those being opened. Beyond it a SYN is not answered.
    pub most_connections: usize,
    /// Limit on closed connections kept for [`TIME_WAIT`](crate::TIME_WAIT); beyond it the oldest
    /// is forgotten (Linux, `tcp_max_tw_buckets`).
    pub most_time_wait: usize,
    /// Whether a segment without connection or listener is answered with a reset (RFC 9293
    /// §3.10.7.1); off if it may be meant for others than this endpoint.
    pub answers_strays: bool,
    /// Limit on the payload of one packet passed to the driver: up to 65 535 if the device segments
    /// packets; zero if it does not.
    pub largest_burst: u16,
    /// Whether a packet passed to the driver ends with a train: where the sender would have handed
    /// one to a device that segments (Linux, `tcp_write_xmit`), rather than hold all data that may
    /// be sent.
    pub bursts_are_trains: bool,
    /// Limit on the memory of all receive and send buffers together, in bytes: beyond it new
    /// connections are refused.
    pub most_buffered: u64,
    /// Keys of Fast Open's cookies; `None` for one that is derived from `secret`.
    pub fast_open_keys: Option<FastOpenKeys>,
    /// The cache of servers that grant such cookies.
    pub fast_open_cache: CacheSettings,
}

impl Settings {
    /// A device with an MTU of 1500, 100 000 connections, a GiB in buffers.
    #[must_use]
    pub const fn new(secret: [u8; 16]) -> Self {
        Self {
            secret,
            mtu: 1500,
            most_connections: 100_000,
            most_time_wait: 65_536,
            answers_strays: true,
            largest_burst: 0,
            bursts_are_trains: false,
            most_buffered: 1 << 30,
            fast_open_keys: None,
            fast_open_cache: CacheSettings {
                most: 4096,
                pause: None,
            },
        }
    }
}

/// Handling of unsent written data when an application releases a connection (SO_LINGER).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linger {
    /// It is delivered in the background.
    Background,
    /// The same, but only for this long: then the connection is reset.
    AtMost(Duration),
    /// The connection is reset immediately.
    Reset,
}
