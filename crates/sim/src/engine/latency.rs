//! True latency, measured outside the sender: its estimates play no part.
//!
//! ```text
//!   write ─▶ sender ── data packet ──▶ receiver ─▶ application
//!      │       │◀───────── delay ─────────▶│             │
//!      │       │◀── the acknowledgment that it triggered │
//!      │       └ round trip                              │
//!      └──────────────────── delivery ───────────────────┘
//! ```
//!
//! A *delay* is a data packet's time from leaving the sender to its arrival at the receiver, a
//! *round trip* the time until the acknowledgment triggered by its arrival is back: a capture at
//! the sender shows it between a segment and the acknowledgment of its end, whichever transmission
//! of the segment it was. An acknowledgment answers the packet that arrived last before it left, so
//! that with delayed acknowledgments one packet of two has no round trip; neither has a packet that
//! was lost, or with a lost acknowledgment.

use std::collections::VecDeque;

use airtcp_units::{Duration, Instant};

use super::histogram::Histogram;

/// The value carried by an acknowledgment that answers no data packet.
pub(super) const NO_ANSWER: Instant = Instant::FAR_FUTURE;

/// Bytes that were written at the same time.
#[derive(Clone, Copy, Debug)]
struct WrittenBytes {
    /// The stream offset after them.
    end: u64,
    at: Instant,
}

/// More bytes than these are delivered at once only when a gap is filled.
const MANY_BYTES: u64 = 8 * 1024;

/// A flow's packets and bytes in time.
#[derive(Clone, Debug)]
pub struct Latency {
    round_trips: Histogram,
    least_round_trip: Duration,
    delays: Histogram,
    deliveries: Histogram<u32>,
    /// Written and not yet delivered, in the order of the stream.
    waiting: VecDeque<WrittenBytes>,
    /// The stream offset after all bytes written.
    written: u64,
    /// The stream offset after all bytes delivered.
    delivered: u64,
    /// Departure of the data packet that the receiver's next segment answers.
    answers: Instant,
}

impl Default for Latency {
    fn default() -> Self {
        Self {
            round_trips: Histogram::default(),
            least_round_trip: Duration::MAX,
            delays: Histogram::default(),
            deliveries: Histogram::default(),
            waiting: VecDeque::new(),
            written: 0,
            delivered: 0,
            answers: NO_ANSWER,
        }
    }
}

impl Latency {
    /// Records that the stream up to `end` is written at `now`, if it was not before.
    #[inline]
    pub(super) fn on_written(&mut self, now: Instant, end: u64) {
        if end <= self.written {
            return;
        }
        self.written = end;
        if self.waiting.len() == self.waiting.capacity() {
            self.make_room();
        }
        self.waiting.push_back(WrittenBytes { end, at: now });
    }

    /// Grows the capacity by a quarter, so that very many flows fit in memory: doubled, half of it
    /// would be empty.
    #[cold]
    fn make_room(&mut self) {
        let more = (self.waiting.len() / 4).max(4);
        self.waiting.reserve_exact(more);
    }

    /// Gives back the room of far more entries than there are: a gap was filled.
    #[cold]
    fn give_back_room(&mut self) {
        let enough = self.waiting.len().max(4) + self.waiting.len() / 4;
        if self.waiting.capacity() > 2 * enough {
            self.waiting.shrink_to(enough);
        }
    }

    /// Records that a data packet which left at `sent_at` arrives at the receiver.
    #[inline]
    pub(super) fn on_arrival(&mut self, now: Instant, sent_at: Instant) {
        self.delays.add(now - sent_at, 1);
        self.answers = sent_at;
    }

    /// Departure of the data packet that the receiver's present segment answers; [`NO_ANSWER`] if
    /// no data packet has arrived since the previous segment.
    #[inline]
    pub(super) const fn answer(&mut self) -> Instant {
        std::mem::replace(&mut self.answers, NO_ANSWER)
    }

    /// Records that the answer to a data packet which left at `sent_at` reaches the sender.
    #[inline]
    pub(super) fn on_answer(&mut self, now: Instant, sent_at: Instant) {
        if sent_at != NO_ANSWER {
            let round_trip = now - sent_at;
            self.least_round_trip = self.least_round_trip.min(round_trip);
            self.round_trips.add(round_trip, 1);
        }
    }

    /// Records that the receiving application reads the next `bytes` of the stream.
    #[inline]
    pub(super) fn on_delivered(&mut self, now: Instant, bytes: u64) {
        if bytes == 0 {
            return;
        }
        let until = self.delivered + bytes;
        // With no delay between the hosts, it arrives before its departure is recorded.
        self.on_written(now, until);
        while let Some(&WrittenBytes { end, at }) = self.waiting.front() {
            let next = end.min(until);
            let count = u32::try_from(next - self.delivered).unwrap_or(u32::MAX);
            self.deliveries.add(now - at, count);
            self.delivered = next;
            if next == end {
                self.waiting.pop_front();
            }
            if next == until {
                break;
            }
        }
        if bytes > MANY_BYTES {
            self.give_back_room();
        }
    }

    /// From a data packet's departure from the sender until the acknowledgment triggered by it is
    /// back.
    #[must_use]
    pub const fn round_trips(&self) -> &Histogram {
        &self.round_trips
    }

    /// The minimum round trip, exactly; `None` without any.
    #[must_use]
    pub fn least_round_trip(&self) -> Option<Duration> {
        Some(self.least_round_trip).filter(|&least| least < Duration::MAX)
    }

    /// From a data packet's departure from the sender until its arrival at the receiver.
    #[must_use]
    pub const fn delays(&self) -> &Histogram {
        &self.delays
    }

    /// From the write of each byte until the receiving application reads it.
    #[must_use]
    pub const fn deliveries(&self) -> &Histogram<u32> {
        &self.deliveries
    }
}
