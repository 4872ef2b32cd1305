//! Explicit congestion notification (RFC 3168 §6.1): who understands marks, and what is echoed of
//! them. What the sender makes of an echo is [the sender's](crate::sender).

use airtcp_packet::{Ecn, Flags, Segment};

use super::Connection;
use crate::config::EcnUse;

/// Segments that are acknowledged at once when marks begin: the sender's window may be very small
/// (Linux, `tcp_enter_quickack_mode`).
const ACKNOWLEDGED_AT_ONCE: u32 = 2;

/// An endpoint's knowledge of marks: one byte of every connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum EcnState {
    /// The two sides have not agreed to understand them.
    #[default]
    Off,
    /// They have.
    Agreed,
    /// A capable packet has come: one that is not is then a retransmission.
    Seen,
    /// A mark has come, and acknowledgments echo it until the sender says that it has reduced its
    /// window.
    Echoing,
}

impl EcnState {
    /// Whether both sides understand marks.
    #[inline]
    pub const fn is_agreed(self) -> bool {
        !matches!(self, Self::Off)
    }

    /// Whether a segment with data tells something of marks.
    #[inline]
    pub const fn is_changed_by(self, segment: &Segment) -> bool {
        match self {
            Self::Off => false,
            Self::Agreed => true,
            Self::Seen | Self::Echoing => !matches!(segment.ecn, Ecn::Capable0 | Ecn::Capable1),
        }
    }

    /// The flags of a SYN, or of the SYN-ACK that answers one. A SYN that is retransmitted
    /// does not ask: the flags may be what lost it (RFC 3168 §6.1.1.1).
    pub fn handshake_flags(self, wanted: EcnUse, answers: bool, is_first: bool) -> Flags {
        match (answers, wanted) {
            (true, _) if self.is_agreed() => Flags::ECE,
            (false, EcnUse::Request) if is_first => Flags::ECE | Flags::CWR,
            _ => Flags::default(),
        }
    }

    /// What is agreed on when the peer's SYN, or SYN-ACK, comes (§6.1.1) to who is `wanted` to do
    /// that, and may have asked itself if it `opens`. A SYN that is itself capable is from
    /// something else (Linux, `tcp_ecn_create_request`).
    pub fn of_peer_syn(segment: &Segment, wanted: EcnUse, opens: bool) -> Self {
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
    /// Whether the segment echoes a mark of ours.
    #[inline]
    pub(super) fn echoes_mark(&self, segment: &Segment) -> bool {
        self.ecn.is_agreed() && segment.flags.contains(Flags::ECE)
    }

    /// Data has come: its mark is echoed from now on, and its sender's word that the window is
    /// reduced ends that (RFC 3168 §6.1.3).
    #[inline]
    pub(super) fn take_marks(&mut self, segment: &Segment) {
        if !self.ecn.is_agreed() {
            return;
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

    /// The flags of every segment: ECE is set once a mark has come.
    #[inline]
    pub(super) fn echo_flags(&self) -> Flags {
        if self.ecn == EcnState::Echoing {
            Flags::ACK | Flags::ECE
        } else {
            Flags::ACK
        }
    }

    /// New data may be marked, and says that the window was reduced if it was. Retransmissions and
    /// what carries no data may not be (RFC 3168 §6.1.4 and §6.1.5).
    #[inline]
    pub(super) fn make_markable(&mut self, segment: &mut Segment, retransmission: bool) {
        if !self.ecn.is_agreed() || retransmission || segment.payload_bytes == 0 {
            return;
        }
        segment.ecn = Ecn::Capable0;
        if self.sender.take_reduced() {
            segment.flags |= Flags::CWR;
        }
    }
}
