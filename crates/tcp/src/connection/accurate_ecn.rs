//! More accurate feedback of congestion marks (AccECN, RFC 9768): how the handshake agrees on it,
//! and how an endpoint counts the marks that arrive and reports their number. The other end's use
//! of that number is in [`counted_marks`](crate::sender).
//!
//! The feedback is only the three-bit ACE field: the AccECN option is neither sent nor read, which
//! §3.2.3 leaves open. Our SYN, SYN-ACK and pure acknowledgments are never ECN-capable.

use airtcp_packet::{Ecn, Flags, Segment};

use super::Connection;
use crate::config::EcnUse;
use crate::sender::FIRST_COUNT;

/// Number of SYNs that request it, and of SYN-ACKs that confirm it, before the flags are presumed
/// to be the reason for the lack of an answer (§3.1.4.1, §3.2.3.2.2).
const ATTEMPTS: u32 = 2;

/// Marked packets after which an acknowledgment leaves at once, if data is waiting to be
/// acknowledged and if not (§3.2.2.5.1, increment-triggered ACKs). Without data it should be 3 and
/// must be 7 at most: a copied packet is not to be answered more often than it has to be.
const MAX_UNREPORTED: u8 = 2;
const MAX_UNREPORTED_WITHOUT_DATA: u8 = 7;

/// An endpoint's state, boxed with the state that few connections need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct AccurateEcn {
    /// Marked packets received; the ACE field carries the lowest three bits (r.cep).
    received: u8,
    /// Marked packets since the last acknowledgment was sent.
    unreported: u8,
    /// Whether the last packet was marked.
    was_marked: bool,
    /// The field with which the peer's SYN or SYN-ACK arrived, the last if there were several.
    syn_field: Ecn,
    /// Whether the next acknowledgment reports that field and not the count (§3.2.2.1).
    reflects: bool,
    /// Whether our packets may be ECN-capable: nothing on the path was seen to change the field.
    is_capable: bool,
    /// Whether the peer's feedback is believed.
    is_believed: bool,
}

impl AccurateEcn {
    /// The state after the peer's SYN, or its SYN-ACK if we have requested it.
    const fn of_peer_syn(syn: &Segment) -> Self {
        if syn.flags.contains(Flags::ACK) {
            Self::of_syn_ack(syn)
        } else {
            Self::of_syn(syn)
        }
    }

    /// The state of a server after a SYN that requests it (§3.1.1), or of an end in a simultaneous
    /// open.
    const fn of_syn(syn: &Segment) -> Self {
        Self {
            received: FIRST_COUNT,
            unreported: 0,
            was_marked: matches!(syn.ecn, Ecn::CongestionExperienced),
            syn_field: syn.ecn,
            reflects: false,
            is_capable: true,
            is_believed: true,
        }
    }

    /// The state of a client after `answer`, a SYN-ACK that confirms its request (table 2, first
    /// block).
    const fn of_syn_ack(answer: &Segment) -> Self {
        let mut state = Self::of_syn(answer);
        state.reflects = true;
        state.is_capable = is_unchanged(answer.flags.ace());
        state.count_on_syn_ack(answer);
        state
    }

    /// Counts a mark on a SYN-ACK, but only the first (§3.2.2.2): the server counts one.
    const fn count_on_syn_ack(&mut self, answer: &Segment) {
        let is_first = self.received == FIRST_COUNT;
        if is_first && matches!(answer.ecn, Ecn::CongestionExperienced) {
            self.received += 1;
        }
    }

    /// The flags of a SYN-ACK, which report how the SYN arrived, after `sent` earlier ones. The
    /// third has no flags, in case they are the reason for the loss of the others: the client may
    /// be without ECN then, so no packet of ours is ECN-capable (§3.1.5).
    const fn syn_ack_flags(&mut self, sent: u32) -> Flags {
        if sent >= ATTEMPTS {
            self.is_capable = false;
            return Flags::from_ace(0);
        }
        reflecting(self.syn_field)
    }

    /// Processes a SYN retransmitted by the peer, in case the path changed it.
    fn on_syn_again(&mut self, syn: &Segment) {
        self.syn_field = syn.ecn;
        if syn.flags.ace() == 0 {
            self.is_capable = false;
        }
    }

    /// Processes a SYN-ACK retransmitted by the peer: its acknowledgment was lost.
    fn on_syn_ack_again(&mut self, answer: &Segment) {
        if answer.flags.ace() != 0 {
            self.syn_field = answer.ecn;
            self.reflects = true;
            self.count_on_syn_ack(answer);
        }
    }

    /// Processes the first acknowledgment of our SYN-ACK, which reports how that arrived (table 4).
    /// Returns whether the peer has counted a mark on it.
    fn on_syn_ack_acknowledged(&mut self, segment: &Segment) -> bool {
        if segment.sequence_length() > 0 || !segment.tail.blocks().is_empty() {
            return false;
        }
        let ace = segment.flags.ace();
        match ace {
            // Note 1: the client is without ECN after all.
            0 => (self.is_capable, self.is_believed) = (false, false),
            // Our SYN-ACK was not capable: something on the path has made it so (§3.2.2.3).
            3 | 4 | 6 => self.is_capable = false,
            _ => {}
        }
        ace == 6
    }

    /// Counts a packet that arrived. Returns whether it must be acknowledged at once.
    const fn count(&mut self, segment: &Segment) -> bool {
        let is_marked = matches!(segment.ecn, Ecn::CongestionExperienced);
        let begins = is_marked && !self.was_marked && segment.payload_bytes > 0;
        self.was_marked = is_marked;
        if !is_marked {
            return false;
        }
        self.received = self.received.wrapping_add(1);
        self.unreported = self.unreported.saturating_add(1);
        let most = if segment.payload_bytes > 0 {
            MAX_UNREPORTED
        } else {
            MAX_UNREPORTED_WITHOUT_DATA
        };
        begins || self.unreported >= most
    }

    /// The flags of a segment without SYN.
    const fn flags(self) -> Flags {
        if self.reflects {
            reflecting(self.syn_field)
        } else {
            Flags::from_ace(self.received)
        }
    }

    /// Records that an acknowledgment is sent.
    const fn on_ack_sent(&mut self) {
        (self.unreported, self.reflects) = (0, false);
    }
}

/// The flags that report a field (table 2, first block, and table 3).
const fn reflecting(field: Ecn) -> Flags {
    Flags::from_ace(match field {
        Ecn::NotCapable => 0b010,
        Ecn::Capable1 => 0b011,
        Ecn::Capable0 => 0b100,
        Ecn::CongestionExperienced => 0b110,
    })
}

/// Whether a SYN-ACK reports that our SYN, which is not ECN-capable, arrived unchanged; reserved
/// values count as such a report (§3.1.3).
const fn is_unchanged(ace: u8) -> bool {
    matches!(ace, 0b010 | 0b101)
}

/// The feedback that a handshake agrees on (table 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// No feedback.
    None,
    /// Marks are echoed (RFC 3168).
    Echo,
    /// Marks are counted.
    Count,
}

/// The agreement in a SYN-ACK to a client that requested accurate feedback.
pub const fn agreed_by_syn_ack(answer: &Segment) -> Agreement {
    match answer.flags.ace() {
        // A server without ECN, or one that returns any flags.
        0b000 | 0b111 => Agreement::None,
        0b001 => Agreement::Echo,
        _ => Agreement::Count,
    }
}

/// The request in a SYN to a server that can count marks; §3.1.3 for the reserved combinations. An
/// ECN-capable SYN that does not request a count comes from something else.
pub const fn agreed_by_syn(syn: &Segment) -> Agreement {
    match syn.flags.ace() {
        0b000 => Agreement::None,
        0b011 if syn.ecn.is_capable() => Agreement::None,
        0b011 => Agreement::Echo,
        _ => Agreement::Count,
    }
}

/// Flags of a SYN that requests accurate feedback, if `sent` SYNs have been sent before.
pub const fn request(sent: u32) -> Flags {
    Flags::from_ace(if sent < ATTEMPTS { 0b111 } else { 0 })
}

impl Connection {
    /// The state of accurate feedback, if it is agreed on.
    fn accurate(&self) -> Option<&AccurateEcn> {
        let rare = self.rare.as_ref().filter(|_| self.ecn.is_accurate());
        rare.map(|rare| &rare.accurate_ecn)
    }

    /// The same, mutable.
    fn accurate_mut(&mut self) -> Option<&mut AccurateEcn> {
        let is_accurate = self.ecn.is_accurate();
        is_accurate.then(|| &mut self.rare_mut().accurate_ecn)
    }

    /// Begins to count, if the peer's SYN or SYN-ACK has agreed on it.
    pub(super) fn begin_counting(&mut self, syn: &Segment) {
        if let Some(accurate) = self.accurate_mut() {
            *accurate = AccurateEcn::of_peer_syn(syn);
        }
    }

    /// Flags of a SYN-ACK that confirms accurate feedback, if `sent` SYN-ACKs have been sent
    /// before.
    pub(super) fn confirm_accurate(&mut self, sent: u32) -> Flags {
        self.accurate_mut()
            .map_or(Flags::from_ace(0), |accurate| accurate.syn_ack_flags(sent))
    }

    /// Counts the mark of a segment that is acceptable, if marks are counted.
    #[inline]
    pub(super) fn count_mark(&mut self, segment: &Segment) {
        if self.ecn.is_accurate() {
            self.take_mark(segment);
        }
    }

    #[cold]
    fn take_mark(&mut self, segment: &Segment) {
        if let Some(accurate) = self.accurate_mut()
            && accurate.count(segment)
        {
            self.receiver.demand_acknowledgment();
        }
    }

    /// Flags that report the marks counted.
    #[cold]
    pub(super) fn count_flags(&self) -> Flags {
        self.accurate()
            .map_or(Flags::from_ace(0), |accurate| accurate.flags())
    }

    /// Marks that the peer reports as received, modulo eight, if they are counted.
    #[inline]
    pub(super) fn counted_marks(&self, segment: &Segment) -> Option<u8> {
        if self.ecn.is_accurate() {
            return self.believed_marks(segment);
        }
        None
    }

    #[cold]
    fn believed_marks(&self, segment: &Segment) -> Option<u8> {
        let accurate = self.accurate()?;
        accurate.is_believed.then(|| segment.flags.ace())
    }

    /// Whether the next acknowledgment must be a pure one, since only that can report how the
    /// SYN-ACK arrived (§3.2.2.1).
    pub(super) fn reflects_syn_ack(&self) -> bool {
        self.accurate().is_some_and(|accurate| accurate.reflects)
    }

    /// The field of our next packet with data.
    #[cold]
    pub(super) fn counted_field(&self, retransmission: bool) -> Ecn {
        let is_capable = self.accurate().is_some_and(|accurate| accurate.is_capable);
        match self.sender.heeds_each_mark() {
            _ if !is_capable => Ecn::NotCapable,
            true => Ecn::Capable1,
            false if retransmission => Ecn::NotCapable,
            false => Ecn::Capable0,
        }
    }

    /// Records that an acknowledgment is sent.
    pub(super) fn on_count_sent(&mut self) {
        if let Some(accurate) = self.accurate_mut() {
            accurate.on_ack_sent();
        }
    }

    /// Processes the first acknowledgment of our SYN-ACK.
    pub(super) fn take_syn_feedback(&mut self, segment: &Segment) {
        if let Some(accurate) = self.accurate_mut() {
            let marked_syn_ack = accurate.on_syn_ack_acknowledged(segment);
            self.sender.begin_count(marked_syn_ack);
        }
    }

    /// Processes the ECN flags of a retransmitted SYN. Returns `false` if it requests another kind
    /// of feedback than the first: neither end could know the agreed kind, and the connection must
    /// be reset (§3.1.5).
    pub(super) fn take_syn_again(&mut self, segment: &Segment) -> bool {
        if self.sender.config().ecn != EcnUse::Accurate {
            return true;
        }
        let is_another = match agreed_by_syn(segment) {
            Agreement::None => false,
            Agreement::Echo => self.ecn.is_accurate(),
            // A reserved combination may have been altered by the path.
            Agreement::Count => {
                segment.flags.ace() == 0b111 && self.ecn.is_agreed() && !self.ecn.is_accurate()
            }
        };
        if is_another {
            return false;
        }
        if let Some(accurate) = self.accurate_mut() {
            accurate.on_syn_again(segment);
        }
        true
    }

    /// Processes the ECN flags of a retransmitted SYN-ACK.
    pub(super) fn take_syn_ack_again(&mut self, segment: &Segment) {
        if segment.flags.contains(Flags::ACK)
            && segment.sequence == self.irs
            && let Some(accurate) = self.accurate_mut()
        {
            accurate.on_syn_ack_again(segment);
        }
    }
}
