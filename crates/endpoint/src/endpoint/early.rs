//! Connections that carry data before their handshake is complete: TCP Fast Open (RFC 7413).

use core::net::SocketAddr;

use airtcp_packet::Segment;
use airtcp_tcp::{End, SynData};
use airtcp_units::Instant;

use super::{Endpoint, Event};
use crate::error::ConnectError;
use crate::fast_open::{FastOpenCache, FastOpenConnect, FastOpenKeys, Learned};
use crate::ids::ConnectionId;
use crate::ids::ListenerId;
use crate::settings::Options;
use crate::tuple::FourTuple;

/// Number of consecutive expiries after which a connection counts as silenced (Linux,
/// `tcp_fastopen_active_detect_blackhole`: at the third).
const SILENT_AFTER: u32 = 3;

impl Endpoint {
    /// As [`connect`](Self::connect), with the first of `data` in the SYN if the server has granted
    /// a cookie, and else with the request of one. Returns the number of bytes of `data` that the
    /// SYN carries, zero without a cookie; the rest can be [written](Self::write) at once.
    ///
    /// Only for data that may reach the server's application twice: it will, if the SYN is
    /// duplicated in the network (RFC 7413, "Duplicate data in SYNs").
    ///
    /// # Errors
    /// As [`connect`](Self::connect).
    pub fn connect_fast(
        &mut self,
        now: Instant,
        local: SocketAddr,
        remote: SocketAddr,
        options: &Options,
        how: FastOpenConnect,
        data: &[u8],
    ) -> Result<(ConnectionId, usize), ConnectError> {
        let id = self.begin(now, local, remote, options)?;
        let mut taken = 0;
        if let Some(entry) = self.connections.get_mut(id) {
            let agreed = entry.stream.connection().segment_payload();
            let stamps = if options.config.timestamps {
                super::opening::TIMESTAMP_BYTES
            } else {
                0
            };
            let payload = u16::try_from(agreed + stamps).unwrap_or(u16::MAX);
            let syn = self.fast_open_cache.syn(now, &entry.tuple, payload, how);
            entry.stream.open_fast(syn);
            let most = usize::try_from(syn.most).unwrap_or(usize::MAX);
            taken = entry.stream.write(&data[..data.len().min(most)]);
        }
        self.settle(id);
        Ok((id, taken))
    }

    /// Whether a SYN from `local` to `remote` would carry data now.
    #[must_use]
    pub fn has_fast_open_cookie(
        &self,
        now: Instant,
        local: SocketAddr,
        remote: SocketAddr,
        how: FastOpenConnect,
    ) -> bool {
        let tuple = FourTuple { local, remote };
        self.fast_open_cache.allows_data(now, &tuple, how)
    }

    /// Forgets the cookies that servers granted, and what else is known of them (Linux,
    /// `ip tcp_metrics flush`).
    pub fn forget_fast_open_servers(&mut self) {
        let settings = &self.settings;
        self.fast_open_cache = FastOpenCache::new(settings.secret, settings.fast_open_cache);
    }

    /// The keys with which cookies are made.
    #[must_use]
    pub const fn fast_open_keys(&self) -> FastOpenKeys {
        self.fast_open_keys
    }

    /// Replaces the keys with which cookies are made: see [`FastOpenKeys::rotated`].
    pub const fn set_fast_open_keys(&mut self, keys: FastOpenKeys) {
        self.fast_open_keys = keys;
    }

    /// Handles a SYN with a valid cookie: its connection can be accepted already.
    pub(super) fn on_opened_early(&mut self, id: ConnectionId, listener: ListenerId) {
        let Some(entry) = self.connections.get_mut(id) else {
            return;
        };
        entry.early = Some(listener);
        entry.is_opening = false;
        if let Some(waits) = self.listeners.get_mut(listener) {
            waits.opening -= 1;
            waits.early.on_open();
            waits.push(id);
        }
        self.counters.opened_early += 1;
        self.events.push_back(Event::Incoming(listener));
    }

    /// Handles the end of a handshake during which data was carried: it is complete, or was reset.
    pub(super) fn settle_early(&mut self, now: Instant, id: ConnectionId) {
        let Some(entry) = self.connections.get_mut(id) else {
            return;
        };
        let connection = entry.stream.connection();
        if connection.is_open_early() {
            return;
        }
        let was_reset = connection.end() == Some(End::Reset);
        if let Some(listener) = entry.early.take()
            && let Some(waits) = self.listeners.get_mut(listener)
        {
            waits.early.on_settled(now, was_reset);
        }
    }

    /// Learns from `answer`, if it completed a handshake with a request for Fast Open.
    pub(super) fn learn(&mut self, id: ConnectionId, asked: Learned, answer: &Segment) {
        let Some(entry) = self.connections.get(id) else {
            return;
        };
        let connection = entry.stream.connection();
        if !connection.is_synchronized() {
            return;
        }
        self.fast_open_cache.learn(&entry.tuple, asked, answer);
        if connection.syn_data() == SynData::Accepted {
            self.counters.syn_data_accepted += 1;
            self.fast_open_cache.on_success();
        }
    }

    /// Detects, when a timer has expired, the lack of any answer on a connection with data or a
    /// cookie request in the SYN.
    pub(super) fn notice_silence(&mut self, now: Instant, id: ConnectionId) {
        let Some(entry) = self.connections.get(id) else {
            return;
        };
        let connection = entry.stream.connection();
        let expiries = if connection.fast_open_asked().is_some() {
            connection.syn_expiries()
        } else if connection.syn_data() == SynData::Accepted {
            connection.sender().back_off()
        } else {
            return;
        };
        let is_given_up = connection.end() == Some(End::TimedOut);
        if expiries == SILENT_AFTER || expiries < SILENT_AFTER && is_given_up {
            self.fast_open_cache.on_silenced(now);
        }
    }
}
