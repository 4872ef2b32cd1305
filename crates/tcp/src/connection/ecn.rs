//! Explicit congestion notification (RFC 3168 §6.1): negotiation, and the echo of marks. The
//! sender's reaction to an echo is in [`sender`](crate::sender). Feedback that counts marks is
//! [`accurate_ecn`](super::accurate_ecn).

use airtcp_packet::{Ecn, Flags, Segment};

use super::Connection;
use super::accel_brake::{NONCE_SUM, Signals};
use super::accurate_ecn::{Agreement, agreed_by_syn, agreed_by_syn_ack, request};
use airtcp_units::Instant;

use crate::config::{CongestionControl, EcnUse};
use crate::sender::MarkFeedback;

/// Segments acknowledged at once when marks begin, since the sender's window may be very small
/// (Linux, `tcp_enter_quickack_mode`).
const ACKNOWLEDGED_AT_ONCE: u32 = 2;

/// An endpoint's ECN state: one byte in every connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum EcnState {
    /// The two sides have not agreed to use ECN.
    #[default]
    Off,
    /// The two sides have agreed to use ECN.
    Agreed,
    /// An ECN-capable packet has arrived: one that is not ECN-capable is then a retransmission.
    Seen,
    /// A mark has arrived, and acknowledgments echo it until the sender reports that it has reduced
    /// its window.
    Echoing,
    /// They have agreed to count marks (RFC 9768).
    Accurate,
    /// ABC's data arrives: acknowledgments echo accelerate and brake as well as marks.
    AccelBrake(Signals),
}

impl EcnState {
    /// Whether both sides use ECN.
    #[inline]
    pub const fn is_agreed(self) -> bool {
        !matches!(self, Self::Off)
    }

    /// Whether both sides count marks: the ECN flags of a segment are a number.
    #[inline]
    pub const fn is_accurate(self) -> bool {
        matches!(self, Self::Accurate)
    }

    /// The form in which the peer reports marks.
    pub const fn feedback(self) -> MarkFeedback {
        match self {
            Self::Off => MarkFeedback::None,
            Self::Accurate => MarkFeedback::Count {
                marked_syn_ack: false,
            },
            Self::Agreed | Self::Seen | Self::Echoing | Self::AccelBrake(_) => MarkFeedback::Echo,
        }
    }

    /// Whether a data segment changes this state.
    #[inline]
    pub const fn is_changed_by(self, segment: &Segment) -> bool {
        match self {
            Self::Off => false,
            Self::Agreed | Self::Accurate | Self::AccelBrake(_) => true,
            Self::Seen => !matches!(segment.ecn, Ecn::Capable0 | Ecn::Capable1),
            Self::Echoing => true,
        }
    }

    /// The flags of a SYN, or of the SYN-ACK that answers one, if `sent` of them have been sent
    /// before. A retransmitted SYN does not request ECN: the flags may be the reason it was lost
    /// (RFC 3168 §6.1.1.1).
    pub const fn handshake_flags(self, wanted: EcnUse, answers: bool, sent: u32) -> Flags {
        match (answers, wanted) {
            (true, _) if self.is_agreed() => Flags::ECE,
            (false, EcnUse::Request) if sent == 0 => Flags::from_ace(0b011),
            (false, EcnUse::Accurate) => request(sent),
            _ => Flags::from_ace(0),
        }
    }

    /// The state after the peer's SYN or SYN-ACK (§6.1.1); `wanted` is our setting, and `opens`: we
    /// sent the first SYN and may have requested ECN. A SYN that is itself ECN-capable comes from
    /// something else (Linux, `tcp_ecn_create_request`).
    pub fn of_peer_syn(segment: &Segment, wanted: EcnUse, opens: bool) -> Self {
        if wanted == EcnUse::Accurate {
            let agreement = match segment.flags.contains(Flags::ACK) {
                true if opens => agreed_by_syn_ack(segment),
                true => Agreement::None,
                false => agreed_by_syn(segment),
            };
            return match agreement {
                Agreement::None => Self::Off,
                Agreement::Echo => Self::Agreed,
                Agreement::Count => Self::Accurate,
            };
        }
        let echo = segment.flags.contains(Flags::ECE);
        let reduced = segment.flags.contains(Flags::CWR);
        let agrees = if segment.flags.contains(Flags::ACK) {
            opens && wanted == EcnUse::Request && echo && !reduced
        } else if opens {
            wanted == EcnUse::Request && echo && reduced
        } else {
            wanted != EcnUse::Off && !segment.ecn.is_capable() && echo && reduced
        };
        if agrees { Self::Agreed } else { Self::Off }
    }
}

impl Connection {
    /// Whether the segment echoes a mark on our data.
    #[inline]
    pub(super) fn echoes_mark(&self, segment: &Segment) -> bool {
        segment.flags.contains(Flags::ECE) && self.ecn.is_agreed() && !self.ecn.is_accurate()
    }

    /// Whether the segment echoes a brake on our data.
    #[inline]
    pub(super) fn echoes_brake(&self, segment: &Segment) -> bool {
        segment.flags.contains(NONCE_SUM) && self.is_abc()
    }

    /// Processes a data segment's mark, which is echoed from now on until the sender reports that
    /// it has reduced its window (RFC 3168 §6.1.3).
    #[inline]
    pub(super) fn take_marks(&mut self, now: Instant, segment: &Segment) {
        // Marks that are counted have been counted already, with or without data.
        if !self.ecn.is_agreed() || self.ecn.is_accurate() {
            return;
        }
        if self.is_abc() {
            return self.take_signals(now, segment);
        }
        if let EcnState::AccelBrake(_) = self.ecn {
            // Its congestion control has changed.
            self.ecn = EcnState::Seen;
        }
        if segment.flags.contains(Flags::CWR) {
            if self.ecn == EcnState::Echoing {
                self.ecn = EcnState::Seen;
            }
            // Its window may be one segment, which must not wait (Linux, `tcp_ecn_accept_cwr`).
            if segment.payload_bytes > 0 {
                self.receiver.demand_acknowledgment();
            }
        }
        // As Linux: the receiver's congestion control decides how it echoes.
        if self.is_dctcp() && segment.ecn.is_capable() {
            self.echo_each_mark(now, segment.ecn == Ecn::CongestionExperienced);
            return;
        }
        match (segment.ecn, self.ecn) {
            (Ecn::CongestionExperienced, EcnState::Echoing)
            | (Ecn::NotCapable, EcnState::Agreed) => {}
            (Ecn::CongestionExperienced, _) => {
                self.receiver.acknowledge_at_once(ACKNOWLEDGED_AT_ONCE);
                self.ecn = EcnState::Echoing;
            }
            (Ecn::NotCapable, _) => self.receiver.acknowledge_at_once(ACKNOWLEDGED_AT_ONCE),
            (Ecn::Capable0 | Ecn::Capable1, EcnState::Agreed) => self.ecn = EcnState::Seen,
            (Ecn::Capable0 | Ecn::Capable1, _) => {}
        }
    }

    /// Takes ABC's signals of a data segment.
    #[cold]
    fn take_signals(&mut self, now: Instant, segment: &Segment) {
        let before = match self.ecn {
            EcnState::AccelBrake(signals) => signals,
            _ => Signals::default(),
        };
        let after = before.after(segment);
        if after == before {
            self.ecn = EcnState::AccelBrake(after);
        } else {
            self.echo_from_now(now, EcnState::AccelBrake(after));
        }
    }

    /// Whether this end answers the share of marks, so that each is echoed (RFC 8257 §3.2).
    fn is_dctcp(&self) -> bool {
        self.sender.config().congestion == CongestionControl::Dctcp
    }

    /// Echoes whether this segment was marked. Where that changes, the acknowledgment that was held
    /// back leaves first, with the echo of the segments before (RFC 8257 §3.2).
    fn echo_each_mark(&mut self, now: Instant, is_marked: bool) {
        let after = match is_marked {
            true => EcnState::Echoing,
            false => EcnState::Seen,
        };
        if is_marked != (self.ecn == EcnState::Echoing) {
            self.echo_from_now(now, after);
        }
    }

    /// Acknowledges the segments before with their echo, if that was held back, and this one with
    /// that of `after`.
    fn echo_from_now(&mut self, now: Instant, after: EcnState) {
        if self.receiver.holds_acknowledgment() {
            let held = self.acknowledgment(now, self.sender.nxt());
            self.rare_mut().set_before_mark(held);
        }
        self.receiver.demand_acknowledgment();
        self.ecn = after;
    }

    /// Flags for every segment: ECE once a mark has arrived, or the number of marks.
    #[inline]
    pub(super) fn echo_flags(&self) -> Flags {
        match self.ecn {
            EcnState::Echoing => Flags::ACK | Flags::ECE,
            EcnState::Accurate => Flags::ACK | self.count_flags(),
            EcnState::AccelBrake(signals) => Flags::ACK | signals.flags(),
            _ => Flags::ACK,
        }
    }

    /// Makes new data ECN-capable, and sets CWR if the window was reduced. Retransmissions and
    /// segments without data may not be marked (RFC 3168 §6.1.4 and §6.1.5), except by a sender
    /// that heeds each mark: its retransmissions are ECT(1) as well (RFC 9331 §4.1). Where marks
    /// are counted, CWR is part of a number.
    #[inline]
    pub(super) fn make_markable(&mut self, segment: &mut Segment, retransmission: bool) {
        if !self.ecn.is_agreed() || segment.payload_bytes == 0 {
            return;
        }
        if self.ecn.is_accurate() {
            segment.ecn = self.counted_field(retransmission);
            return;
        }
        if self.is_abc() {
            // An accelerate, retransmissions too: routers may only make it a brake.
            segment.ecn = Ecn::Capable1;
        } else if retransmission {
            // Linux, `tcp_ca_needs_ecn`.
            if self.is_dctcp() {
                segment.ecn = Ecn::Capable0;
            }
        } else {
            segment.ecn = Ecn::Capable0;
        }
        if !retransmission && self.sender.take_reduced() {
            segment.flags |= Flags::CWR;
        }
    }
}
