//! Without SACK: verdicts from the order of arrival.
//!
//! A path that keeps the order delivers earlier packets first. So an acknowledgment gives evidence
//! on the packet that prompted it, and on every packet sent before that. A repair covered by an
//! acknowledgment was needless if that acknowledgment must have been prompted by a packet sent
//! before the repair.

use super::findings::{Ack, Answer, Repeat, Sent};
use super::label::{Evidence, Need};
use crate::index::Index;

/// Maximum number of segments that a receiver acknowledges together without data above a hole;
/// otherwise it acknowledges each at once (RFC 5681 §4.2).
const TOGETHER: u64 = 2;

/// The transmissions after a retransmission.
#[derive(Clone, Copy, Debug)]
pub(super) struct Later<'a> {
    pub sent: &'a [Sent],
    pub repeats: &'a [Repeat],
    pub acks: &'a [Ack],
    /// Verdicts on the repeats, from the last back to the one after this.
    pub needs: &'a [Need],
    pub mss: u64,
}

impl Later<'_> {
    /// Evidence that retransmission `this`, with index `at`, was needless, if any.
    pub fn needless(&self, this: &Sent, at: Index, answer: &Answer) -> Option<Evidence> {
        if self.is_repaired_before(this, at, answer) {
            Some(Evidence::RepairedBefore)
        } else if self.stops_short(at, answer) {
            Some(Evidence::StoppedShort)
        } else {
            None
        }
    }

    /// Whether a packet that filled an earlier hole, sent before, prompted the acknowledgment.
    fn is_repaired_before(&self, this: &Sent, at: Index, answer: &Answer) -> bool {
        let mut filler = answer.hole;
        while let Some(at) = filler
            && self.need(at) == Some(Need::Needless)
        {
            filler = self.sent[at.get()].previous;
        }
        let Some((filler, hole)) = filler.map(|at| (at, &self.sent[at.get()])) else {
            return false;
        };
        // Two in-order segments are acknowledged together, prompted by the second.
        let is_pair = hole.end == this.start
            && answer.newly <= TOGETHER * self.mss
            && !self.is_repeated(answer);
        hole.start < this.start && filler < at && !is_pair
    }

    /// Whether the next ACK is a duplicate: data above a hole arrived, or already received data.
    fn is_repeated(&self, answer: &Answer) -> bool {
        let at = answer.number as usize;
        match self.acks.get(at..at + 2) {
            Some([this, next]) => next.acknowledged == this.acknowledged,
            _ => false,
        }
    }

    /// Whether the acknowledgment asks for data sent before `at` that was not lost: it had not
    /// arrived yet, hence neither had `at`.
    fn stops_short(&self, at: Index, answer: &Answer) -> bool {
        let mut asked = answer.asks_for;
        while let Some(later) = asked
            && later >= at
        {
            asked = self.sent[later.get()].previous;
        }
        let asked = asked.map(|at| &self.sent[at.get()]);
        asked.is_some_and(|sent| !sent.is_lost && sent.acknowledged > answer.time)
    }

    /// The verdict on transmission `at`, if it is a later repeat.
    fn need(&self, at: Index) -> Option<Need> {
        let number = self.sent[at.get()].repeat?.get();
        let back = self.repeats.len().checked_sub(number + 1)?;
        self.needs.get(back).copied()
    }
}
