//! One connection's data towards the mobile, as the access point knows it.

use std::collections::VecDeque;

use airtcp_packet::{Flags, Segment, SequenceNumber};
use airtcp_units::{Duration, Instant};

use super::round_trip::{LocalTimeout, RoundTrip};
use crate::agent::Passage;

/// A copy of a packet that the mobile has not acknowledged.
#[derive(Clone, Copy, Debug)]
pub struct StoredPacket<P> {
    /// Stream offset of its first byte, and after its last.
    pub start: u64,
    pub end: u64,
    pub passage: Passage<P>,
    /// Time of its arrival at the access point.
    pub arrived: Instant,
    /// Time of its last transmission to the mobile.
    pub sent_at: Instant,
    /// Retransmissions by the access point.
    pub repeats: u32,
    /// Whether its sender retransmitted it.
    pub by_sender: bool,
}

impl<P> StoredPacket<P> {
    /// A packet that arrived at `now` and leaves immediately.
    pub const fn new(now: Instant, start: u64, end: u64, passage: Passage<P>) -> Self {
        Self {
            start,
            end,
            passage,
            arrived: now,
            sent_at: now,
            repeats: 0,
            by_sender: false,
        }
    }
}

/// An acknowledgment's meaning for the copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acknowledged {
    /// Older than another that has passed, or of data never seen.
    Old,
    /// Of new data.
    New,
    /// The same as the last, without data or a window update.
    Duplicate,
    /// The same as the last, but with data or another window.
    Update,
}

/// Reaction to a duplicate acknowledgment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duplicate {
    /// The access point has no copy of the missing segment, or has given it up, or its sender is
    /// repairing it: the duplicate is for the sender.
    Foreign,
    /// Not yet enough of them.
    Early,
    /// Caused by a packet already in flight when the missing one was retransmitted.
    Expected,
    /// The first copy is to be retransmitted.
    Repeat,
}

/// The state of one connection.
#[derive(Debug)]
pub struct Flow<P> {
    /// The highest acknowledgment seen.
    pub una: u64,
    /// End of the highest data seen.
    pub edge: u64,
    /// Copies in the order of the stream, without overlaps.
    pub kept: VecDeque<StoredPacket<P>>,
    /// Number of them, from the front, that have been sent to the mobile.
    pub sent: usize,
    /// Expiry of the timer of the first copy.
    pub deadline: Instant,
    /// Time under which the timer is filed.
    pub filed: Instant,
    round_trip: RoundTrip,
    expiries: u32,
    /// Duplicates since the acknowledgment last moved, and how many more are expected from packets
    /// in flight at the last repeat.
    duplicates: u32,
    expected: u32,
    /// The window in the last acknowledgment; before the first, duplicates cannot be recognized.
    window: Option<u16>,
    /// End of the stream, the FIN included.
    fin: Option<u64>,
}

impl<P: Copy> Flow<P> {
    /// A connection first seen with this data.
    pub fn new(first: SequenceNumber) -> Self {
        // One cycle up, so that earlier data has an offset too.
        let una = first.expand(1 << 33);
        Self {
            una,
            edge: una,
            kept: VecDeque::new(),
            sent: 0,
            deadline: Instant::FAR_FUTURE,
            filed: Instant::FAR_FUTURE,
            round_trip: RoundTrip::default(),
            expiries: 0,
            duplicates: 0,
            expected: 0,
            window: None,
            fin: None,
        }
    }

    /// Stream offsets of a segment towards the mobile, a FIN counted as one byte.
    pub fn place(&self, segment: &Segment) -> (u64, u64) {
        let start = segment.sequence.expand(self.edge);
        (start, start + u64::from(segment.sequence_length()))
    }

    /// Data up to `end` was seen.
    pub fn on_seen(&mut self, segment: &Segment, end: u64) {
        self.edge = self.edge.max(end);
        if segment.flags.contains(Flags::FIN) {
            self.fin = Some(end);
        }
    }

    /// Whether all is acknowledged, the FIN too.
    pub fn is_over(&self) -> bool {
        self.fin.is_some_and(|fin| fin <= self.una)
    }

    /// Index of the first copy that ends after `offset`.
    pub fn index_of(&self, offset: u64) -> usize {
        self.kept.partition_point(|kept| kept.end <= offset)
    }

    /// Takes an acknowledgment that passes at `now`: the copies that it covers go to `each`, the
    /// oldest first.
    pub fn on_acknowledgment(
        &mut self,
        now: Instant,
        segment: &Segment,
        mut each: impl FnMut(&StoredPacket<P>),
    ) -> Acknowledged {
        let offset = segment.acknowledgment.expand(self.una);
        if offset < self.una || offset > self.edge {
            return Acknowledged::Old;
        }
        let window = self.window.replace(segment.window);
        if offset == self.una {
            return if segment.sequence_length() == 0 && window == Some(segment.window) {
                Acknowledged::Duplicate
            } else {
                Acknowledged::Update
            };
        }
        self.una = offset;
        (self.duplicates, self.expected, self.expiries) = (0, 0, 0);
        let (mut newest, mut repaired) = (None, false);
        while let Some(front) = self.kept.front().filter(|front| front.end <= offset) {
            each(front);
            if self.sent > 0 {
                self.sent -= 1;
                newest = Some(front.sent_at);
                repaired |= front.repeats > 0 || front.by_sender;
            }
            self.kept.pop_front();
        }
        // Karn's rule: retransmitted data is not timed, and neither is data that waited for it at
        // the mobile.
        if let Some(sent_at) = newest.filter(|_| !repaired) {
            self.round_trip.on_sample(now - sent_at);
        }
        Acknowledged::New
    }

    /// A duplicate acknowledgment passes. The first copy is repeated at the `threshold`-th, up to
    /// `most` times.
    pub fn on_duplicate(&mut self, threshold: u32, most: u32) -> Duplicate {
        let missing = self.missing().filter(|missing| !missing.by_sender);
        let Some(repeats) = missing.map(|missing| missing.repeats) else {
            return Duplicate::Foreign;
        };
        self.duplicates = self.duplicates.saturating_add(1);
        if self.expected > 0 {
            self.expected -= 1;
            return Duplicate::Expected;
        }
        if repeats >= most {
            return Duplicate::Foreign;
        }
        // After a repeat, one duplicate more than expected comes from a packet sent after it: it
        // was lost once more.
        if repeats == 0 && self.duplicates < threshold {
            return Duplicate::Early;
        }
        Duplicate::Repeat
    }

    /// The copy of the segment that the mobile misses, if sent; `None` if the hole is from the
    /// wired side.
    fn missing(&self) -> Option<&StoredPacket<P>> {
        let front = self.kept.front()?;
        (front.start <= self.una && self.sent > 0).then_some(front)
    }

    /// The first copy is retransmitted at `now`. Each packet in flight after it causes one
    /// duplicate; some have arrived already.
    pub fn repeat(&mut self, now: Instant) -> Option<Passage<P>> {
        let beyond = u32::try_from(self.sent.saturating_sub(1)).unwrap_or(u32::MAX);
        self.expected = beyond.saturating_sub(self.duplicates);
        let front = self.kept.front_mut()?;
        front.repeats += 1;
        front.sent_at = now;
        Some(front.passage)
    }

    /// Restarts the timer if any packet is in flight, else stops it.
    pub fn restart_timer(&mut self, now: Instant, bounds: &LocalTimeout) {
        self.deadline = if self.sent > 0 {
            now + self.timeout(bounds)
        } else {
            Instant::FAR_FUTURE
        };
    }

    /// Starts the timer if it does not run.
    pub fn start_timer(&mut self, now: Instant, bounds: &LocalTimeout) {
        if self.deadline == Instant::FAR_FUTURE {
            self.restart_timer(now, bounds);
        }
    }

    /// The timer has expired: it waits twice as long from now on, until an acknowledgment advances.
    /// Returns whether to repeat the first copy, at most `most` times.
    pub fn on_expiry(&mut self, most: u32) -> bool {
        self.deadline = Instant::FAR_FUTURE;
        self.expiries = self.expiries.saturating_add(1);
        self.missing().is_some_and(|missing| missing.repeats < most)
    }

    fn timeout(&self, bounds: &LocalTimeout) -> Duration {
        self.round_trip.timeout(bounds, self.expiries)
    }
}
