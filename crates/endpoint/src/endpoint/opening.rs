//! How connections begin.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::net::SocketAddr;

use airtcp_packet::{Flags, Segment, SequenceNumber};
use airtcp_tcp::{Config, Connection};
use airtcp_units::Instant;

use super::{Endpoint, Entry};
use crate::cookie;
use crate::error::{ConnectError, ListenError};
use crate::ids::ConnectionId;
use crate::ids::ListenerId;
use crate::listener::{ListenOptions, Listener};
use crate::settings::{Linger, Options, Settings};
use crate::stream::Stream;
use crate::tuple::FourTuple;

/// The ports that connections are opened from (RFC 6056 §3.2: from 1024 on; Linux,
/// `ip_local_port_range`).
const FIRST_PORT: u16 = 32_768;
const PORTS: u64 = 28_232;
/// IP and TCP headers, and the timestamps in each segment.
const HEADER_BYTES: [u32; 2] = [20 + 20, 40 + 20];
pub(super) const TIMESTAMP_BYTES: u32 = 12;

impl Endpoint {
    /// Listens on `local`: an unspecified address matches all addresses of its family, and `[::]`
    /// also all of the other family; with such an address, port 0 matches every port without
    /// another listener, as needed by a transparent proxy.
    ///
    /// # Errors
    ///
    /// Another listener has that address and port, or the port is 0 for a single address.
    pub fn listen(
        &mut self,
        local: SocketAddr,
        options: ListenOptions,
    ) -> Result<ListenerId, ListenError> {
        if local.port() == 0 && !local.ip().is_unspecified() {
            return Err(ListenError::NoPort);
        }
        if self.by_address.contains_key(&local) {
            return Err(ListenError::InUse(local));
        }
        let config = &options.options.config;
        let configs = [false, true].map(|is_ipv6| fitting(config, &self.settings, is_ipv6));
        let id = self.listeners.insert(Listener::new(options, configs));
        self.by_address.insert(local, id);
        Ok(id)
    }

    /// Closes a listener: connections being opened, or waiting to be accepted, are reset.
    pub fn close_listener(&mut self, now: Instant, listener: ListenerId) {
        if self.listeners.remove(listener).is_none() {
            return;
        }
        self.by_address.retain(|_, &mut id| id != listener);
        let nobodys: Vec<ConnectionId> = self
            .connections
            .iter()
            .filter_map(|(id, entry)| (entry.listener == Some(listener)).then_some(id))
            .collect();
        for id in nobodys {
            if let Some(entry) = self.connections.get_mut(id) {
                entry.stream.release(now, Linger::Reset);
            }
            self.settle(id);
        }
    }

    /// Accepts the connection to `listener` that has waited longest, if any.
    pub fn accept(&mut self, listener: ListenerId) -> Option<ConnectionId> {
        loop {
            let id = self.listeners.get_mut(listener)?.pop()?;
            if let Some(entry) = self.connections.get_mut(id) {
                entry.listener = None;
                entry.told = entry.stream.readiness();
                return Some(id);
            }
        }
    }

    /// Opens a connection from `local`, with port 0 to have one chosen, to `remote`. Data written
    /// before it is established is sent afterwards.
    ///
    /// # Errors
    ///
    /// The addresses are in use, no port is free, the addresses' families differ, or there
    /// is no room for another connection.
    pub fn connect(
        &mut self,
        now: Instant,
        local: SocketAddr,
        remote: SocketAddr,
        options: &Options,
    ) -> Result<ConnectionId, ConnectError> {
        let id = self.begin(now, local, remote, options)?;
        self.settle(id);
        Ok(id)
    }

    /// Creates a connection with its SYN not yet polled.
    pub(super) fn begin(
        &mut self,
        now: Instant,
        local: SocketAddr,
        remote: SocketAddr,
        options: &Options,
    ) -> Result<ConnectionId, ConnectError> {
        let mut tuple = FourTuple { local, remote };
        let fits = local.is_ipv6() == remote.is_ipv6()
            && remote.port() != 0
            && !local.ip().is_unspecified()
            && !remote.ip().is_unspecified();
        if !fits {
            return Err(ConnectError::Address(tuple));
        }
        if self.is_full() {
            return Err(ConnectError::Full);
        }
        if local.port() == 0 {
            let port = self.free_port(&tuple).ok_or(ConnectError::NoPort(remote))?;
            tuple.local.set_port(port);
        } else if self.is_in_use(&tuple) {
            return Err(ConnectError::InUse(tuple));
        }
        let config = fitting(&options.config, &self.settings, local.is_ipv6());
        let iss = self.secret.sequence_number(now, &tuple);
        let connection = Connection::connect_sharing(config, iss);
        let stream = Stream::new(connection, options, now);
        Ok(self.insert(tuple, stream))
    }

    /// Whether the limits allow no further connection.
    pub(super) fn is_full(&self) -> bool {
        self.connections.len() >= self.settings.most_connections
            || self.buffered >= self.settings.most_buffered
    }

    fn is_in_use(&self, tuple: &FourTuple) -> bool {
        self.by_tuple.contains_key(tuple) || self.time_wait.contains(tuple)
    }

    /// A port without a connection to that peer: the search starts at an unpredictable place (RFC
    /// 6056 §3.3.3, algorithm 3).
    fn free_port(&mut self, tuple: &FourTuple) -> Option<u16> {
        let mut candidate = *tuple;
        let offset = self.secret.port_offset(tuple.local.ip(), tuple.remote);
        (0..PORTS).find_map(|_| {
            let place = offset.wrapping_add(self.ports_chosen) % PORTS;
            self.ports_chosen = self.ports_chosen.wrapping_add(1);
            let port = FIRST_PORT + u16::try_from(place).ok()?;
            candidate.local.set_port(port);
            (!self.is_in_use(&candidate)).then_some(port)
        })
    }

    fn insert(&mut self, tuple: FourTuple, stream: Stream) -> ConnectionId {
        let offset = self
            .secret
            .timestamp_offset(tuple.local.ip(), tuple.remote.ip());
        let id = self.connections.insert(Entry::new(stream, tuple, offset));
        self.by_tuple.insert(tuple, id);
        id
    }

    /// The listener on that address.
    pub(super) fn listener(&self, local: SocketAddr) -> Option<ListenerId> {
        use core::net::{Ipv4Addr, Ipv6Addr};
        let (port, any_v4, any_v6) = (
            local.port(),
            Ipv4Addr::UNSPECIFIED.into(),
            Ipv6Addr::UNSPECIFIED.into(),
        );
        let any = if local.is_ipv6() { any_v6 } else { any_v4 };
        let places = [
            (local.ip(), port),
            (any, port),
            (any_v6, port),
            (any, 0),
            (any_v6, 0),
        ];
        let mut found = places.into_iter().map(SocketAddr::from);
        found.find_map(|address| self.by_address.get(&address).copied())
    }

    /// Processes a SYN for `listener`. `beyond`: the sequence number reached by an earlier
    /// connection between the same ends.
    pub(super) fn on_syn(
        &mut self,
        now: Instant,
        listener: ListenerId,
        tuple: FourTuple,
        (syn, payload): (&Segment, &[u8]),
        beyond: Option<SequenceNumber>,
    ) {
        let is_full = self.is_full();
        let Some(waits) = self.listeners.get_mut(listener) else {
            return;
        };
        if is_full || !waits.has_room_to_wait() {
            self.counters.refused += 1;
            return;
        }
        if !waits.has_room_to_open() {
            if waits.answers_by_cookie(now) {
                self.answer_by_cookie(now, listener, tuple, syn);
            } else {
                self.counters.refused += 1;
            }
            return;
        }
        let config = waits.config(tuple.local.is_ipv6());
        let options = waits.options.clone();
        waits.opening += 1;
        let mut iss = self.secret.sequence_number(now, &tuple);
        if let Some(beyond) = beyond
            && iss.before(beyond)
        {
            iss = beyond;
        }
        let mut connection = Connection::listen_sharing(config, iss);
        let answer = waits.early.answer(now, &self.fast_open_keys, &tuple, syn);
        connection.answer_fast_open(answer);
        let mut stream = Stream::new(connection, &options, now);
        stream.handle(now, syn, payload);
        let id = self.insert(tuple, stream);
        if let Some(entry) = self.connections.get_mut(id) {
            entry.listener = Some(listener);
            entry.is_opening = true;
        }
        if answer.opens {
            self.on_opened_early(id, listener);
        }
        self.settle(id);
    }

    /// Sends a SYN-ACK without keeping state.
    fn answer_by_cookie(
        &mut self,
        now: Instant,
        listener: ListenerId,
        tuple: FourTuple,
        syn: &Segment,
    ) {
        let Some(waits) = self.listeners.get(listener) else {
            return;
        };
        let kept = cookie::remembered(syn);
        let iss = cookie::sequence_number(&self.secret, now, &tuple, &kept);
        let config = waits.config(tuple.local.is_ipv6());
        let mut connection = Connection::listen_sharing(config, iss);
        connection.handle(now, &kept, &mut ());
        let Some(mut answer) = connection.poll(now) else {
            return;
        };
        let offset = self
            .secret
            .timestamp_offset(tuple.local.ip(), tuple.remote.ip());
        if let Some(stamps) = &mut answer.timestamps {
            let ecn = answer.flags.contains(Flags::ECE);
            stamps.value = cookie::timestamp(stamps.value.wrapping_add(offset), &kept, ecn);
        }
        self.counters.cookies_sent += 1;
        self.answer(tuple, answer);
    }

    /// Processes an acknowledgment for `listener` from an unknown peer. Returns the connection, if
    /// it answers a cookie.
    pub(super) fn on_acknowledgment_of_cookie(
        &mut self,
        now: Instant,
        listener: ListenerId,
        tuple: FourTuple,
        segment: &Segment,
    ) -> Option<ConnectionId> {
        let waits = self.listeners.get(listener)?;
        let is_plain = segment.flags.contains(Flags::ACK)
            && !segment.flags.contains(Flags::SYN)
            && !segment.flags.contains(Flags::RST);
        if !is_plain || !waits.expects_cookies(now) {
            return None;
        }
        let (iss, syn) = cookie::syn(&self.secret, now, &tuple, segment)?;
        if self.is_full() || !waits.has_room_to_wait() {
            self.counters.refused += 1;
            return None;
        }
        let config = waits.config(tuple.local.is_ipv6());
        let options = waits.options.clone();
        let connection = Connection::answered(config, iss, now, &syn);
        let id = self.insert(tuple, Stream::new(connection, &options, now));
        if let Some(entry) = self.connections.get_mut(id) {
            entry.listener = Some(listener);
        }
        self.counters.cookies_accepted += 1;
        Some(id)
    }
}

/// The configuration with segments that fit the device.
fn fitting(config: &Arc<Config>, settings: &Settings, is_ipv6: bool) -> Arc<Config> {
    let options = if config.timestamps {
        TIMESTAMP_BYTES
    } else {
        0
    };
    let headers = HEADER_BYTES[usize::from(is_ipv6)] + options;
    let most = u32::from(settings.mtu).saturating_sub(headers).max(1);
    if config.mss <= most {
        return Arc::clone(config);
    }
    Arc::new(Config {
        mss: most,
        ..**config
    })
}
