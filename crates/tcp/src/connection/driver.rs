//! Operations that only a connection on a real network needs: from its user while it lives, from
//! its device's driver, from routers, and from an answer sent before the connection existed.

use alloc::sync::Arc;

use airtcp_packet::{Segment, SequenceNumber};
use airtcp_units::Instant;

use super::timestamps::TIMESTAMP_BYTES;
use super::{Connection, End, State};
use crate::config::{Config, CongestionControl};
use crate::sender::Sender;

/// A TCP header without options (RFC 9293 §3.1).
const HEADER_BYTES: u32 = 20;

impl Connection {
    /// Creates an endpoint after a stateless SYN-ACK numbered `iss`, sent at some time before
    /// `now`: the peer's acknowledgment, to be [handled](Self::handle) next, proves that it was
    /// sent (SYN cookies, RFC 4987 §3.6). `syn` is the peer's SYN, as far as it can be
    /// reconstructed.
    #[must_use]
    pub fn answered(config: Arc<Config>, iss: SequenceNumber, now: Instant, syn: &Segment) -> Self {
        let mut connection = Self::listen_sharing(config, iss);
        connection.handle(now, syn, &mut ());
        connection.handshake().on_answered_before();
        connection.receiver.on_ack_sent();
        connection
    }

    /// Switches the congestion control to `control` (Linux, `TCP_CONGESTION`). The windows stay as
    /// they are; the model of the network is reset.
    pub fn set_congestion_control(&mut self, control: CongestionControl) {
        self.sender.set_congestion_control(control);
    }

    /// Lets `decide` steer the sender between two events; [polling](Self::poll) then sends the data
    /// that it allows.
    pub fn steer<T>(&mut self, decide: impl FnOnce(&mut Sender) -> T) -> T {
        decide(self.sender.get_mut())
    }

    /// Limits how often an unanswered SYN is retransmitted (Linux, `TCP_SYNCNT`).
    pub fn set_syn_retries(&mut self, most: u8) {
        self.sender.set_syn_retries(most);
    }

    /// Limits the data that can wait unread or out of order to `bytes`, at least one. The window
    /// scale remains as agreed on in the handshake: a buffer larger than 64 KiB times that cannot
    /// be announced in full.
    pub fn set_receive_buffer(&mut self, bytes: u64) {
        self.receiver.set_buffer(bytes.max(1));
    }

    /// Searches for the largest segment that the path carries, from `payload` bytes up to the
    /// agreed size (RFC 4821). Call it once the handshake is complete; it does nothing before.
    pub fn probe_path(&mut self, payload: u32) {
        if self.is_synchronized() {
            self.sender.get_mut().probe_path(u64::from(payload));
        }
    }

    /// Handles a router's report that only `bytes` of TCP, header included, fit for the packet with
    /// `sequence` (RFC 1191 §4, RFC 8201 §4). Believed if that packet may be in flight (RFC 5927
    /// §4); returns whether it is. A SYN with data is retransmitted at once without it (Linux,
    /// `tcp_simple_retransmit`).
    pub fn on_packet_too_big(&mut self, sequence: SequenceNumber, bytes: u32) -> bool {
        if self.state == State::SynSent && sequence == self.iss {
            return self.on_syn_too_big(bytes);
        }
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

    /// Handles a router's report that the packet with `sequence` cannot be delivered. It ends only
    /// a connection that is being opened: an established one survives errors that may be transient,
    /// or forged (RFC 1122 §4.2.3.9, RFC 5927 §5.2).
    pub fn on_unreachable(&mut self, sequence: SequenceNumber) {
        if self.state == State::SynSent && sequence == self.iss {
            self.finish(End::Refused);
        }
    }

    /// Sends a keep-alive probe: the peer must answer a segment below its window (RFC 9293 §3.8.4).
    /// Call [`poll`](Self::poll) afterwards.
    pub fn probe(&mut self) {
        if self.is_synchronized() && self.state != State::TimeWait {
            self.probe_due = true;
        }
    }

    /// Gives the connection up, because the peer was silent for longer than the user's limit. Call
    /// [`poll`](Self::poll) afterwards.
    pub fn give_up(&mut self, now: Instant) {
        if self.state == State::Closed {
            return;
        }
        if self.is_synchronized() && self.state != State::TimeWait {
            let reset = self.own_reset(now);
            self.rare_mut().set_reset(reset);
        }
        self.finish(End::TimedOut);
    }

    /// Declares that the driver reports every data segment's departure through
    /// [`on_transmitted`](Self::on_transmitted): a segment not yet reported does not time out,
    /// except after the longest timeout. Call it once the handshake is complete; it does nothing
    /// before.
    pub fn await_departures(&mut self) {
        if self.is_synchronized() {
            self.sender.get_mut().await_departures();
        }
    }

    /// Reports that the segment with the payload at `offset`, polled at `polled_at`, left the
    /// device at `now`: its timer and round trip start then. A segment acknowledged or
    /// retransmitted since is unaffected. A round trip measured by an echoed timestamp includes the
    /// time in the device.
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
