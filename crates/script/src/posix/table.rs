//! The sockets by descriptor, their endpoint, and the stack around them.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::task::Poll;

use airtcp_endpoint::{ConnectionId, Endpoint, FastOpenKeys, FourTuple, Options, Settings};
use airtcp_tcp::{Config, Connection, End};
use airtcp_units::Instant;

use super::errno::Errno;
use super::socket::{Kind, Socket};
use super::stopwatch::Stopwatch;

/// A descriptor.
pub type Descriptor = i32;

/// The result of a call that may have to wait.
pub type Outcome<T> = Poll<Result<T, Errno>>;

/// Headers of IPv4 and TCP, the difference of IPv6's, and timestamps in each segment, in bytes.
const HEADERS: u32 = 40;
const HEADERS_MORE_OF_IPV6: u32 = 20;
pub const TIMESTAMP_BYTES: u32 = 12;

/// The system around the sockets: its sysctls and its descriptors.
pub trait System {
    /// The stack of a new socket; its `mss` is ignored, since the MTU decides.
    fn config(&self) -> Config;

    /// The bits of `tcp_fastopen`.
    fn fast_open(&self) -> u32;

    /// The keys of Fast Open's cookies; `None` for the endpoint's own.
    fn fast_open_keys(&self) -> Option<FastOpenKeys>;

    /// A descriptor that is not in use.
    ///
    /// # Errors
    /// None is left.
    fn descriptor(&mut self) -> Result<Descriptor, Errno>;
}

/// The part of `TCP_INFO` that is measured outside the connection.
#[derive(Debug, Default)]
pub struct Observed {
    pub stopwatch: Stopwatch,
    /// Bytes that have arrived, and the time of the last arrival or of the handshake's end.
    received: u64,
    is_open: bool,
    pub received_at: Instant,
}

/// Sockets of one stack.
#[derive(Debug)]
pub struct Sockets<S> {
    /// The time of calls and of packets.
    pub now: Instant,
    /// The stack: hand it packets, poll it and wake it, and [look](Self::look) afterwards.
    pub endpoint: Endpoint,
    /// The system around them.
    pub system: S,
    mtu: u32,
    /// The local address, if a socket is not bound.
    local: IpAddr,
    sockets: BTreeMap<Descriptor, Socket>,
    observed: BTreeMap<ConnectionId, Observed>,
}

impl<S: System> Sockets<S> {
    /// No sockets, at time zero, on a stack with this address.
    #[must_use]
    pub fn new(system: S, settings: Settings, local: IpAddr) -> Self {
        Self {
            now: Instant::ZERO,
            mtu: settings.mtu.into(),
            endpoint: Endpoint::new(settings),
            system,
            local,
            sockets: BTreeMap::new(),
            observed: BTreeMap::new(),
        }
    }

    /// Notes the state of all connections: call it after each event, once packets are polled.
    pub fn look(&mut self) {
        // Callers ask for readiness instead.
        while self.endpoint.next_event().is_some() {}
        self.observed
            .retain(|&id, _| self.endpoint.stream(id).is_some());
        for (id, _, stream) in self.endpoint.connections() {
            let observed = self.observed.entry(id).or_default();
            let connection = stream.connection();
            observed.stopwatch.look(self.now, connection);
            let received = connection.receiver().received();
            let is_open = connection.is_synchronized();
            // Linux, `lrcvtime`.
            if received != observed.received || is_open && !observed.is_open {
                observed.received_at = self.now;
            }
            (observed.received, observed.is_open) = (received, observed.is_open || is_open);
        }
    }

    /// Whether a descriptor is one of these.
    #[must_use]
    pub fn has(&self, descriptor: Descriptor) -> bool {
        self.sockets.contains_key(&descriptor)
    }

    /// The connection between these ends; `None` before it is opened and once it is released.
    #[must_use]
    pub fn between(&self, ends: &FourTuple) -> Option<(ConnectionId, &Connection)> {
        let mut all = self.endpoint.connections();
        let (id, _, stream) = all.find(|(_, tuple, _)| tuple == ends)?;
        Some((id, stream.connection()))
    }

    /// The connection of a socket that has one.
    ///
    /// # Errors
    /// The descriptor has no connection.
    pub fn connection(&self, descriptor: Descriptor) -> Result<ConnectionId, Errno> {
        match self.socket(descriptor)?.kind {
            Kind::Connection(id) => Ok(id),
            Kind::Epoll(_) => Err(Errno::ENOTSOCK),
            Kind::Fresh | Kind::Listens(_) => Err(Errno::ENOTCONN),
        }
    }

    pub(super) fn socket(&self, descriptor: Descriptor) -> Result<&Socket, Errno> {
        self.sockets.get(&descriptor).ok_or(Errno::EBADF)
    }

    pub(super) fn socket_mut(&mut self, descriptor: Descriptor) -> Result<&mut Socket, Errno> {
        self.sockets.get_mut(&descriptor).ok_or(Errno::EBADF)
    }

    /// Gives the socket a descriptor.
    pub(super) fn open(&mut self, socket: Socket) -> Result<Descriptor, Errno> {
        let descriptor = self.system.descriptor()?;
        self.sockets.insert(descriptor, socket);
        Ok(descriptor)
    }

    /// Takes the socket off the table and off every interest list.
    pub(super) fn remove(&mut self, descriptor: Descriptor) -> Result<Socket, Errno> {
        let socket = self.sockets.remove(&descriptor).ok_or(Errno::EBADF)?;
        for socket in self.sockets.values_mut() {
            if let Kind::Epoll(watched) = &mut socket.kind {
                watched.remove(&descriptor);
            }
        }
        Ok(socket)
    }

    pub(super) const fn local(&self) -> IpAddr {
        self.local
    }

    /// The options of a new socket.
    pub(super) fn fresh_options(&self) -> Options {
        let mut config = self.system.config();
        config.mss = self.payload(&config);
        Options::new(config)
    }

    /// The largest payload of IPv4's segments.
    fn payload(&self, config: &Config) -> u32 {
        let stamps = if config.timestamps {
            TIMESTAMP_BYTES
        } else {
            0
        };
        self.mtu.saturating_sub(HEADERS + stamps).max(1)
    }

    /// The MSS that a connection offers at most.
    pub(super) fn offered_mss(&self, is_ipv6: bool, wanted: Option<u32>) -> u32 {
        let more = if is_ipv6 { HEADERS_MORE_OF_IPV6 } else { 0 };
        let most = self.mtu.saturating_sub(HEADERS + more).max(1);
        wanted.map_or(most, |wanted| wanted.min(most))
    }

    pub(super) fn observed(&self, id: ConnectionId) -> Option<&Observed> {
        self.observed.get(&id)
    }

    /// The socket of a connection, if it was accepted or opened here.
    pub(super) fn socket_of(&self, id: ConnectionId) -> Option<&Socket> {
        let mut all = self.sockets.values();
        all.find(|socket| matches!(socket.kind, Kind::Connection(own) if own == id))
    }

    /// The first unacknowledged byte.
    pub(super) fn acknowledged(&self, id: ConnectionId) -> u64 {
        let stream = self.endpoint.stream(id);
        stream.map_or(0, |stream| stream.connection().sender().una())
    }

    /// The error with which a connection ended (Linux, `tcp_reset`, `tcp_write_err`).
    pub(super) fn end(&self, id: ConnectionId) -> Option<Errno> {
        let stream = self.endpoint.stream(id)?;
        match stream.connection().end()? {
            End::Reset if stream.connection().receiver().is_finished() => Some(Errno::EPIPE),
            End::Reset => Some(Errno::ECONNRESET),
            End::Refused => Some(Errno::ECONNREFUSED),
            End::TimedOut => Some(Errno::ETIMEDOUT),
            End::Orderly | End::Aborted => None,
        }
    }

    /// The error with which a connection ended, reported only once.
    pub(super) fn take_end(&mut self, descriptor: Descriptor) -> Option<Errno> {
        let id = self.connection(descriptor).ok()?;
        let end = self.end(id)?;
        let socket = self.sockets.get_mut(&descriptor)?;
        (!std::mem::replace(&mut socket.told_of_end, true)).then_some(end)
    }
}
