//! What only a connection on a wire is told: by its user while it lives, by the driver of its
//! device, by routers, and by whoever answered its peer before there was a connection.

use std::sync::Arc;

use airtcp_packet::{Segment, SequenceNumber};
use airtcp_units::Instant;

use super::handshake::TIMESTAMP_BYTES;
use super::{Connection, End, State};
use crate::config::{Config, CongestionControl};

/// A TCP header without options (RFC 9293 §3.1).
const HEADER_BYTES: u32 = 20;

impl Connection {
    /// An endpoint whose SYN-ACK, numbered `iss`, went out at some time before `now` and was not
    /// remembered: the peer's acknowledgment, which is to be [handled](Self::handle) next, proves
    /// that it did (SYN cookies, RFC 4987 §3.6). `syn` is the peer's SYN, as far as it can be told.
    #[must_use]
    pub fn answered(config: Arc<Config>, iss: SequenceNumber, now: Instant, syn: &Segment) -> Self {
        let mut connection = Self::listen_sharing(config, iss);
        connection.handle(now, syn, &mut ());
        connection.handshake().on_answered_before();
        connection.receiver.on_ack_sent();
        connection
    }

    /// The congestion control is `control` from now on (Linux, `TCP_CONGESTION`). The windows stay
    /// as they are, and what is known of the network is learnt again.
    pub fn set_congestion_control(&mut self, control: CongestionControl) {
        self.sender.set_congestion_control(control);
    }

    /// The most that can wait unread or out of order is `bytes` from now on, one at least. The
    /// shift of the window is what the handshake made it: a buffer beyond 64 KiB times that is not
    /// announced to its end.
    pub fn set_receive_buffer(&mut self, bytes: u64) {
        self.receiver.set_buffer(bytes.max(1));
    }

    /// Looks for the largest segment that the path takes, from one of `payload` bytes upwards to
    /// what was agreed on (RFC 4821). To be asked for once the handshake is complete; does nothing
    /// before.
    pub fn probe_path(&mut self, payload: u32) {
        if self.is_synchronized() {
            self.sender.get_mut().probe_path(u64::from(payload));
        }
    }

    /// A router says that of the packet with `sequence` only `bytes` of TCP, header included, fit
    /// (RFC 1191 §4, RFC 8201 §4). Believed where that packet may be on its way (RFC 5927 §4);
    /// returns whether it is.
    pub fn on_packet_too_big(&mut self, sequence: SequenceNumber, bytes: u32) -> bool {
        let offset = self.sent_offset(sequence);
        let on_its_way = self.sender.una() <= offset && offset < self.sender.nxt();
        if self.is_synchronized() && on_its_way {
            let options = if self.timestamps.enabled {
                TIMESTAMP_BYTES
            } else {
                0
            };
            let payload = bytes.saturating_sub(HEADER_BYTES + options);
            self.sender.on_path_limit(u64::from(payload));
            return true;
        }
        false
    }

    /// A router says that the packet with `sequence` cannot be delivered. It ends a connection
    /// that is being opened, and no other: an established one outlives what may pass, or be forged
    /// (RFC 1122 §4.2.3.9, RFC 5927 §5.2).
    pub fn on_unreachable(&mut self, sequence: SequenceNumber) {
        if self.state == State::SynSent && sequence == self.iss {
            self.finish(End::Refused);
        }
    }

    /// Asks the peer for a sign of life, which it owes to a segment below its window (RFC 9293
    /// §3.8.4). Call [`poll`](Self::poll) afterwards.
    pub fn probe(&mut self) {
        if self.is_synchronized() && self.state != State::TimeWait {
            self.probe_due = true;
        }
    }

    /// Gives the connection up, because the peer was silent for longer than its user cares to
    /// wait. Call [`poll`](Self::poll) afterwards.
    pub fn give_up(&mut self, now: Instant) {
        if self.state == State::Closed {
            return;
        }
        if self.is_synchronized() && self.state != State::TimeWait {
            let reset = self.own_reset(now);
            self.rare_mut().reset = Some(reset);
        }
        self.finish(End::TimedOut);
    }

    /// The driver will tell of every segment with data when it has left, by
    /// [`on_transmitted`](Self::on_transmitted): a segment that it has not told of does not time
    /// out, though not for longer than the longest timeout. To be asked for once the handshake is
    /// complete; does nothing before.
    pub fn await_departures(&mut self) {
        if self.is_synchronized() {
            self.sender.get_mut().await_departures();
        }
    }

    /// The segment with the payload that starts at `offset`, polled at `polled_at`, left the device
    /// at `now`: timer and round trip start then. What was acknowledged or retransmitted since is
    /// left alone. A round trip that is measured by an echoed timestamp includes the wait.
    pub fn on_transmitted(&mut self, now: Instant, offset: u64, polled_at: Instant) {
        if self.is_synchronized() && self.sender.nxt() > 0 {
            self.sender.get_mut().on_departure(now, offset, polled_at);
        }
    }

    /// Whether both sides know each other's sequence numbers (RFC 9293 §3.3.2).
    #[must_use]
    pub const fn is_synchronized(&self) -> bool {
        !matches!(
            self.state,
            State::Closed | State::Listen | State::SynSent | State::SynReceived
        )
    }
}
