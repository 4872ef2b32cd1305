//! Knowledge that the simulator passes to a sender that asks, as no network could.

use airtcp_link::Stream;
use airtcp_packet::SequenceNumber;
use airtcp_tcp::loss_differentiation::Cause;
use airtcp_tcp::{Event, Insight, Observer, RelayObserver, Side};
use airtcp_units::Instant;

use super::truth::Truth;

/// Passes a sender's events on, and knows the fates of its packets.
pub struct Witness<'a, F> {
    /// Receives the events.
    pub events: F,
    /// The fates of the packets.
    pub truth: &'a Truth,
    /// The sender's initial sequence number.
    pub iss: SequenceNumber,
    /// Coins, if the sender classifies losses.
    pub coins: Option<Stream>,
}

impl<F: FnMut(Instant, Event)> Observer for Witness<'_, F> {
    #[inline]
    fn event(&mut self, now: Instant, event: Event) {
        (self.events)(now, event);
    }
}

impl<F> Insight for Witness<'_, F> {
    fn cause_of(&self, offset: u64) -> Option<Cause> {
        self.truth.cause(sequence_of(offset, self.iss))
    }

    fn draw(&self, index: u64) -> Option<u64> {
        self.coins.map(|coins| coins.draw(index))
    }
}

/// A proxy has no observer; its senders may need coins too.
pub struct ProxyWitness {
    /// Coins, if senders classify losses.
    pub coins: Option<Stream>,
}

impl RelayObserver for ProxyWitness {
    fn event(&mut self, _side: Side, _now: Instant, _event: Event) {}

    fn draw(&self, _side: Side, index: u64) -> Option<u64> {
        self.coins.map(|coins| coins.draw(index))
    }
}

/// The sequence number of a stream offset, for a sender that began with `iss`.
#[expect(
    clippy::cast_possible_truncation,
    reason = "sequence numbers wrap (RFC 9293 §3.4)"
)]
pub const fn sequence_of(offset: u64, iss: SequenceNumber) -> SequenceNumber {
    SequenceNumber(iss.0.wrapping_add(1).wrapping_add(offset as u32))
}
