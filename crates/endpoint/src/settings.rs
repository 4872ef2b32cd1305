//! What an endpoint and its connections are set to.

use std::sync::Arc;

use airtcp_tcp::{Config, Profile};
use airtcp_units::Duration;

use crate::keep_alive::KeepAlive;

/// What a connection is set to when it is made.
#[derive(Clone, Debug)]
pub struct Options {
    /// The stack: congestion control, loss detection, timers, the receive buffer.
    pub config: Arc<Config>,
    /// The most bytes that were written and are not acknowledged.
    pub send_buffer: usize,
    /// Bytes to read from which on a connection is readable (SO_RCVLOWAT); one at least.
    pub readable_from: usize,
    /// Bytes of room in the send buffer from which on a connection is writable; one at least.
    pub writable_from: usize,
    /// A connection is writable only while fewer bytes than this wait to leave for the first time
    /// (TCP_NOTSENT_LOWAT): what is written is then fresh, and still in the processor's cache.
    pub unsent_below: usize,
    /// Whether, and when, an idle peer is asked for a sign of life.
    pub keep_alive: Option<KeepAlive>,
    /// Small segments leave at once (TCP_NODELAY).
    pub no_delay: bool,
    /// The payload that the search for the path's MTU begins with; `None` to begin with the largest
    /// and to heed routers alone (RFC 4821 §7.2 suggests 1024).
    pub path_probe: Option<u32>,
    /// The driver reports when segments have left:
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

/// What an endpoint is set to.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Sixteen bytes that nobody else knows, new at each start: all that peers must not guess is
    /// derived from them (RFC 6528 §3).
    pub secret: [u8; 16],
    /// The largest IP packet that the device takes. Segments are never larger.
    pub mtu: u16,
    /// The most connections at a time, those being opened among them. Beyond it a SYN is not
    /// answered.
    pub most_connections: usize,
    /// The most closed connections that are remembered for [`TIME_WAIT`](crate::TIME_WAIT); beyond
    /// it the oldest is forgotten (Linux, `tcp_max_tw_buckets`).
    pub most_time_wait: usize,
    /// A segment for which there is neither connection nor listener is answered with a reset (RFC
    /// 9293 §3.10.7.1), unless others than this endpoint may be meant.
    pub answers_strays: bool,
    /// The most bytes of payload in one packet handed to the driver: where the device cuts
    /// segments, up to 65 535; zero where it does not.
    pub largest_burst: u16,
    /// The most memory in all receive and send buffers together, in bytes: beyond it new
    /// connections are refused.
    pub most_buffered: u64,
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
            most_buffered: 1 << 30,
        }
    }
}

/// How long an application waits for what it wrote when it lets go of a connection (SO_LINGER).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linger {
    /// What was written is delivered in the background.
    Background,
    /// So is it, but only for so long: then the connection is reset.
    AtMost(Duration),
    /// The connection is reset at once.
    Reset,
}
