//! Without SACK: verdicts from the order in which packets arrive.
//!
//! A path that keeps the order delivers what was sent earlier first. So an acknowledgment tells of
//! the packet that prompted it, and of every packet sent before that. A repair that an
//! acknowledgment covers was needless if that acknowledgment must have been prompted by something
//! sent before the repair.

use super::findings::{Ack, Answer, Repeat, Sent};
use super::label::{Evidence, Need};
use crate::index::Index;

/// Segments that a receiver acknowledges together where it has nothing behind a hole; otherwise it
/// acknowledges each at once (RFC 5681 §4.2).
const TOGETHER: u64 = 2;

/// Facts about the transmissions after a retransmission.
#[derive(Clone, Copy, Debug)]
pub(super) struct Later<'a> {
    pub sent: &'a [Sent],
    pub repeats: &'a [Repeat],
    pub acks: &'a [Ack],
    /// The needs of the repeats, from the last back to the one after this.
    pub needs: &'a [Need],
    pub mss: u64,
}

impl Later<'_> {
    /// Evidence that retransmission `this`, which left as number `at`, was needless, if there is
    /// any.
    pub fn needless(&self, this: &Sent, at: Index, answer: &Answer) -> Option<Evidence> {
        if self.is_repaired_before(this, at, answer) {
            Some(Evidence::RepairedBefore)
        } else if self.stops_short(at, answer) {
            Some(Evidence::StoppedShort)
        } else {
            None
        }
    }

    /// The acknowledgment was prompted by what filled an earlier hole, and that had left before.
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
        // Two in order are acknowledged together, prompted by the second.
        let is_pair = hole.end == this.start
            && answer.newly <= TOGETHER * self.mss
            && !self.is_repeated(answer);
        hole.start < this.start && filler < at && !is_pair
    }

    /// The next ACK is a duplicate: something behind a hole came, or what was there before.
    fn is_repeated(&self, answer: &Answer) -> bool {
        let at = answer.number as usize;
        match self.acks.get(at..at + 2) {
            Some([this, next]) => next.acknowledged == this.acknowledged,
            _ => false,
        }
    }

    /// The acknowledgment asks for what had left before `at` and was not lost: that had not arrived
    /// yet, hence neither had `at`.
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

    /// The need of transmission `at`, where it is a later repeat.
    fn need(&self, at: Index) -> Option<Need> {
        let number = self.sent[at.get()].repeat?.get();
        let back = self.repeats.len().checked_sub(number + 1)?;
        self.needs.get(back).copied()
    }
}
