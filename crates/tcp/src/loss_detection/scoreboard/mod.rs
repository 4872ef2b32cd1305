//! The scoreboard: every outstanding segment, the receiver's reports of it, and the resulting bytes
//! in flight (RFC 6675 §3 and §4).
//!
//! ```text
//!   front                                                          back
//!   ├── una                                                  nxt ──┤
//!   [ sent ][ lost ][ lost, resent ][ sacked ][ sent ][ sacked ][ sent ]
//!
//!   in flight = outstanding − sacked − lost + resent      (RFC 6675 §4, "pipe")
//! ```
//!
//! The sums are updated as segments change, so that no acknowledgment needs a recount. Without SACK
//! only timeouts mark segments lost, and the same sums hold.

mod known;
mod living;
mod marking;
mod own_timers;
mod watched;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use core::ops::Range;

use airtcp_units::{Duration, Instant};

use super::delivery::{Answerable, Delivery};
use super::segment::{RESENT, Record, SACKED, Sums, awaits_repair};
use crate::loss_detection::SendTag;
use known::KnownBlock;
use own_timers::OwnTimers;
use watched::Watched;

use super::SentSegment;

/// Initial capacity in segments: the initial window of RFC 6928.
const FIRST_FLIGHT: usize = 10;

/// The segments removed by a cumulative acknowledgment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Advanced {
    /// Transmission time of the oldest newly covered segment, unless one of them had been sent more
    /// than once: then no sample may be taken (Karn's rule, RFC 6298 §3).
    pub sent_at: Option<Instant>,
    /// Whether any segment it covered had been sent more than once.
    pub resent: bool,
}

/// All outstanding segments, in order and without gaps.
#[derive(Clone, Debug, Default)]
pub struct Scoreboard {
    segments: VecDeque<Record>,
    /// Offsets of the first outstanding byte and after the last: equal if there is no such byte.
    start: u64,
    end: u64,
    sums: Sums,
    highest_sacked: u64,
    /// Everything below it that is not SACKed has been marked lost.
    loss_edge: u64,
    /// Start of the search for the next segment to repair: nothing below awaits repair.
    repair_from: u64,
    /// The SACK blocks of the last acknowledgment: most of a block is known from the one before.
    /// Boxed, and present only while data is SACKed, so that very many senders fit in memory.
    known: Option<Box<[KnownBlock; 4]>>,
    /// What each acknowledgment delivers; only if needed.
    watched: Option<Box<Watched>>,
    own_timers: OwnTimers,
}

impl Scoreboard {
    /// Bytes between the first and the last outstanding byte: the FlightSize of RFC 5681 §2.
    #[inline]
    #[must_use]
    pub const fn outstanding(&self) -> u64 {
        self.end - self.start
    }

    /// Bytes believed to be in the network: RFC 6675 §4, `SetPipe()`.
    #[inline]
    #[must_use]
    pub const fn in_flight(&self) -> u64 {
        self.outstanding() + self.sums.resent as u64
            - self.sums.sacked as u64
            - self.sums.lost as u64
    }

    /// Whether no outstanding segment was SACKed, presumed lost or retransmitted.
    #[inline]
    #[must_use]
    pub const fn is_intact(&self) -> bool {
        self.sums.sacked | self.sums.lost | self.sums.resent == 0
    }

    /// Bytes presumed lost, retransmitted since or not.
    #[inline]
    #[must_use]
    pub const fn lost(&self) -> u64 {
        self.sums.lost as u64
    }

    /// Bytes retransmitted and neither acknowledged nor SACKed since.
    #[must_use]
    pub const fn resent(&self) -> u64 {
        self.sums.resent as u64
    }

    /// End of the highest SACKed segment.
    #[must_use]
    pub const fn highest_sacked(&self) -> u64 {
        self.highest_sacked
    }

    /// Enables the tracking of each acknowledgment's delivery.
    pub fn watch_deliveries(&mut self) {
        self.watched.get_or_insert_default().delivery = Delivery::default();
    }

    /// Starts processing an acknowledgment. `answerable`: the retransmissions that it can answer.
    /// `recover`: see `Delivery::original_below`.
    #[inline]
    pub fn begin(&mut self, answerable: Answerable, recover: u64) {
        if let Some(watched) = &mut self.watched {
            watched.delivery.begin(answerable, recover);
        }
    }

    /// Data delivered since [`begin`](Self::begin); `None` unless
    /// [watched](Self::watch_deliveries).
    #[inline]
    #[must_use]
    pub fn delivery(&self) -> Option<&Delivery> {
        self.watched.as_deref().map(|watched| &watched.delivery)
    }

    fn tags_mut(&mut self) -> Option<&mut VecDeque<SendTag>> {
        self.watched.as_mut()?.tags.as_mut()
    }

    /// Sets the timer of the new segment sent last to `deadline`; all before it have one, too.
    pub fn time_last(&mut self, deadline: Instant) {
        self.own_timers.push(deadline);
    }

    /// Sets the timer of the first segment to `deadline`, unless it expires earlier.
    pub fn time_front_by(&mut self, deadline: Instant) {
        let deadline = self.own_timers.deadline(0).min(deadline);
        self.own_timers.set(0, deadline);
    }

    /// Attaches `tag` to the new segment sent last.
    pub fn tag_last(&mut self, tag: SendTag) {
        let watched = self.watched.get_or_insert_default();
        watched.tags.get_or_insert_default().push_back(tag);
    }

    /// Attaches `tag` to the segment at `index`, which was retransmitted.
    pub fn tag_again(&mut self, index: usize, tag: SendTag) {
        if let Some(slot) = self.tags_mut().and_then(|tags| tags.get_mut(index)) {
            *slot = tag;
        }
    }

    /// Whether nothing is outstanding.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// The segments, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = SentSegment> {
        self.segments
            .iter()
            .map(|record| record.segment(self.start))
    }

    /// The oldest outstanding segment.
    #[inline]
    #[must_use]
    pub fn front(&self) -> Option<SentSegment> {
        Some(self.segments.front()?.segment(self.start))
    }

    /// The segment at `index`, oldest first.
    #[inline]
    #[must_use]
    pub fn get(&self, index: usize) -> Option<SentSegment> {
        Some(self.segments.get(index)?.segment(self.start))
    }

    /// Index of the segment that starts at `offset`, if it is outstanding and not SACKed.
    #[must_use]
    pub fn index_at(&self, offset: u64) -> Option<usize> {
        let index = self.index_of(offset);
        self.get(index)
            .is_some_and(|segment| segment.start == offset && !segment.is_sacked())
            .then_some(index)
    }

    /// Number of outstanding segments.
    #[must_use]
    pub fn len(&self) -> usize {
        self.segments.len()
    }

    /// Bytes SACKed above the cumulative acknowledgment.
    #[must_use]
    pub const fn sacked(&self) -> u64 {
        self.sums.sacked as u64
    }

    /// Appends a segment sent for the first time; it follows the last one.
    #[inline]
    pub fn push(&mut self, segment: SentSegment) {
        debug_assert!(self.segments.is_empty() || self.end == segment.start);
        if self.segments.is_empty() {
            self.start = segment.start;
        }
        self.end = segment.end();
        if self.segments.len() == self.segments.capacity() {
            self.make_room();
        }
        self.segments.push_back(Record::new(&segment));
    }

    /// Grows the capacity by a quarter, so that very many senders with few segments in flight fit
    /// in memory: doubled, half of it would be empty.
    #[cold]
    fn make_room(&mut self) {
        let more = match self.segments.len() {
            0 => FIRST_FLIGHT,
            some => (some / 4).max(4),
        };
        self.segments.reserve_exact(more);
    }

    /// Gives back the room of a flight that was far larger than the present one.
    pub fn give_back_room(&mut self) {
        let enough = self.segments.len().max(4) + self.segments.len() / 4;
        if self.segments.capacity() > 2 * enough {
            self.segments.shrink_to(enough);
        }
    }

    /// Removes everything below `una`, which is acknowledged.
    #[inline]
    pub fn advance(&mut self, una: u64) -> Advanced {
        let mut advanced = Advanced::default();
        let una = una.min(self.end);
        // The first segment starts where the outstanding data does.
        while self.start < una
            && let Some(front) = self.segments.front_mut()
        {
            let flags = front.flags();
            // A segment SACKed earlier is not new: its round trip ended then.
            if flags & SACKED == 0 && advanced.sent_at.is_none() {
                advanced.sent_at = Some(front.sent_at);
            }
            advanced.resent |= front.transmissions > 1;
            let front_end = self.start + u64::from(front.length);
            let end = una.min(front_end);
            #[expect(clippy::cast_possible_truncation, reason = "at most the length")]
            let covered = (end - self.start) as u16;
            if flags & SACKED == 0
                && let Some(watched) = &mut self.watched
            {
                let segment = front.segment(self.start);
                watched.deliver(&segment, 0, u64::from(covered), false);
            }
            self.start = end;
            if una >= front_end {
                self.segments.pop_front();
                if let Some(watched) = &mut self.watched
                    && let Some(tags) = &mut watched.tags
                {
                    tags.pop_front();
                }
                self.own_timers.pop();
            } else {
                // Part of a segment: the receiver may have trimmed it to its window.
                front.cut_front(covered);
            }
            if flags != 0 {
                self.sums.remove(flags, covered.into());
                if self.sums.sacked == 0 {
                    self.known = None;
                }
            }
        }
        if advanced.resent {
            advanced.sent_at = None;
            if let Some(watched) = &mut self.watched {
                watched.delivery.resent_covered = true;
            }
        }
        advanced
    }

    /// Processes SACK `blocks` above the cumulative acknowledgment (RFC 2018 §4). Returns the
    /// number of bytes newly SACKed, which decides whether the acknowledgment is a duplicate in the
    /// sense of RFC 6675 §2.
    pub fn sack(&mut self, blocks: &[Range<u64>]) -> u64 {
        let mut newly = 0;
        let known = self.known.as_deref().copied().unwrap_or_default();
        let mut latest = [KnownBlock::default(); 4];
        for (block, slot) in blocks.iter().zip(0..4) {
            let mut index = None;
            let mut at = block.start;
            while at < block.end {
                if let Some(end) = known.iter().find_map(|block| block.end_around(at)) {
                    (at, index) = (end, None);
                    continue;
                }
                let here = index.unwrap_or_else(|| self.index_of(at));
                let Some(record) = self.segments.get_mut(here) else {
                    break;
                };
                let (start, end) = (record.start(self.start), record.end(self.start));
                // Only whole segments count: a receiver holds segments as it got them.
                if end > block.end {
                    break;
                }
                if start >= at && !record.is_sacked() {
                    let bytes = u64::from(record.length);
                    if let Some(watched) = &mut self.watched {
                        watched.deliver(&record.segment(self.start), here, bytes, true);
                    }
                    self.sums.change(record, SACKED);
                    self.highest_sacked = self.highest_sacked.max(end);
                    newly += bytes;
                }
                at = end;
                index = Some(here + 1);
            }
            latest[slot] = KnownBlock::new(block.start, at.min(block.end));
        }
        if self.sums.sacked > 0 {
            **self.known.get_or_insert_default() = latest;
        } else {
            // A block that begins inside a segment SACKs nothing, and nothing would clear it.
            self.known = None;
        }
        newly
    }

    /// The first lost segment not retransmitted since (RFC 6675 §4, `NextSeg()` rule 1).
    #[inline]
    pub fn next_lost(&mut self) -> Option<usize> {
        if self.sums.awaiting_repair == 0 {
            return None;
        }
        let mut index = self.index_of(self.repair_from);
        while let Some(segment) = self.segments.get(index) {
            if awaits_repair(segment.flags()) {
                self.repair_from = segment.start(self.start);
                return Some(index);
            }
            index += 1;
        }
        None
    }

    /// The first segment below the highest SACKed byte that is neither SACKed nor retransmitted,
    /// lost or not (RFC 6675 §4, `NextSeg()` rule 3).
    #[must_use]
    pub fn next_hole(&self) -> Option<usize> {
        let first = self.index_of(self.repair_from);
        self.segments
            .range(first..)
            .zip(first..)
            .find_map(|(segment, index)| {
                let below = segment.start(self.start) < self.highest_sacked;
                (below && segment.flags() & (SACKED | RESENT) == 0).then_some(index)
            })
    }

    /// The last segment without SACK (RFC 6675 §4, `NextSeg()` rule 4), unless it was retransmitted
    /// just now: the rule is for a tail without SACKs, and to the letter would repeat the first
    /// retransmission at once wherever the receiver's window allows no new data.
    #[must_use]
    pub fn last_unreported(&self) -> Option<usize> {
        let index = (0..self.segments.len())
            .rev()
            .find(|&index| !self.segments[index].is_sacked())?;
        (self.segments[index].flags() & RESENT == 0).then_some(index)
    }

    /// Records that the segment at `index` is retransmitted at `now`, and sets its timer, if it has
    /// one, to `deadline`. Returns it.
    pub fn resend(&mut self, index: usize, now: Instant, deadline: Instant) -> SentSegment {
        let segment = &mut self.segments[index];
        self.sums.change(segment, segment.flags() | RESENT);
        segment.on_resent(now);
        self.own_timers.set(index, deadline);
        segment.segment(self.start)
    }

    /// Counts an expiry of the segment at `index`; returns the number of earlier ones.
    pub fn on_expiry(&mut self, index: usize) -> u8 {
        self.segments[index].on_expiry()
    }

    /// Restarts every running segment timer at `now`, for `after` its number of expiries.
    pub fn restart_timers(&mut self, now: Instant, after: impl Fn(u8) -> Duration) {
        for (segment, index) in self.segments.iter().zip(0..) {
            if self.own_timers.is_running(index) {
                self.own_timers.set(index, now + after(segment.expiries()));
            }
        }
    }

    /// The earliest of the per-segment timers, and the segment's index. A SACKed segment needs no
    /// timer, unless it is the very one the receiver asks for.
    #[must_use]
    pub fn earliest_deadline(&self) -> Option<(usize, Instant)> {
        self.segments
            .iter()
            .enumerate()
            .filter(|&(index, segment)| index == 0 || !segment.is_sacked())
            .map(|(index, _)| (index, self.own_timers.deadline(index)))
            .min_by_key(|&(index, deadline)| (deadline, index))
    }

    /// As [`index_of`](Self::index_of), for any segment lengths.
    #[inline(never)]
    fn search(&self, offset: u64) -> usize {
        self.segments
            .partition_point(|segment| segment.end(self.start) <= offset)
    }

    /// Index of the first segment that ends after `offset`.
    #[inline]
    pub(super) fn index_of(&self, offset: u64) -> usize {
        let Some(front) = self.segments.front() else {
            return 0;
        };
        let length = u64::from(front.length);
        if offset < self.start + length {
            return 0;
        }
        // Usually all have the length of the first.
        let guess = (offset - self.start) / length;
        if let Ok(guess) = usize::try_from(guess)
            && let Some(segment) = self.segments.get(guess)
            && segment.start(self.start) <= offset
            && offset < segment.end(self.start)
        {
            return guess;
        }
        self.search(offset)
    }
}

#[cfg(test)]
mod tests;
