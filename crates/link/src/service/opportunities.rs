//! Recorded delivery opportunities, as mahimahi's `mm-link` replays them.
//!
//! R. Netravali et al., "Mahimahi: Accurate Record-and-Replay for HTTP", USENIX ATC 2015, and
//! the emulator's `link_queue.cc`:
//! - an opportunity carries 1500 bytes of packets (mahimahi's constant is 1504: a 1500-byte packet
//!   with the 4-byte header of a TUN device), or the bytes of another program's traces;
//! - capacity left by one packet serves the packets queued after it; a packet that is larger than
//!   the remaining capacity continues in the next opportunity;
//! - an opportunity that finds nothing queued is wasted;
//! - a packet that arrives at the very instant of an opportunity is too late for it, since the
//!   emulator uses up due opportunities before it queues;
//! - after the last opportunity the trace repeats, shifted by its last timestamp.

use crate::trace::mahimahi::MahimahiTrace;
use airtcp_units::{Duration, Instant};
use std::sync::Arc;

const NANOS_PER_MILLI: u64 = 1_000_000;

/// Opportunities passed one by one before the next is searched for.
const STEPS_BEFORE_SEARCH: usize = 8;

/// A link that sends at recorded opportunities.
#[derive(Clone, Debug)]
pub(crate) struct Opportunities {
    trace: Arc<MahimahiTrace>,
    /// The current opportunity: its index in the trace, the start of this lap of the trace, ...
    cursor: usize,
    lap_start_ms: u64,
    /// ... when it is due, and how many of its bytes are not taken.
    due: Instant,
    left: u32,
}

impl Opportunities {
    pub(super) fn new(trace: Arc<MahimahiTrace>) -> Self {
        let mut server = Self {
            trace,
            cursor: 0,
            lap_start_ms: 0,
            due: Instant::ZERO,
            left: 0,
        };
        server.move_to(0, 0);
        server
    }

    pub(super) fn next_start(&mut self, now: Instant) -> Instant {
        if self.due <= now {
            self.seek_after(now);
        } else if self.left == 0 {
            self.advance();
        }
        self.due
    }

    /// An already queued packet takes the rest of the current opportunity, or else the next.
    pub(super) fn next_start_behind(&mut self) -> Instant {
        if self.left == 0 {
            self.advance();
        }
        self.due
    }

    /// Serves from the current opportunity on, which [`Self::next_start`] has ensured is in the
    /// future.
    pub(super) fn serve(&mut self, bytes: u32) -> Instant {
        let mut remaining = bytes;
        while remaining > self.left {
            remaining -= self.left;
            self.advance();
        }
        self.left -= remaining;
        self.due
    }

    /// Bytes of the opportunities in the `window` that ends with those at `until`, used or not.
    pub(super) fn capacity(&self, until: Instant, window: Duration) -> u64 {
        let since = until.as_nanos().saturating_sub(window.as_nanos());
        let count = self.count_until(until.as_nanos()) - self.count_until(since);
        count * u64::from(self.trace.opportunity_bytes())
    }

    /// Opportunities from the start until `nanos`.
    fn count_until(&self, nanos: u64) -> u64 {
        let (ms, opportunities) = (nanos / NANOS_PER_MILLI, self.trace.opportunities_ms());
        let (laps, within) = (ms / self.trace.period_ms(), ms % self.trace.period_ms());
        let of_lap = opportunities.partition_point(|&at| u64::from(at) <= within);
        laps * opportunities.len() as u64 + of_lap as u64
    }

    fn advance(&mut self) {
        if self.cursor + 1 < self.trace.opportunities_ms().len() {
            self.move_to(self.lap_start_ms, self.cursor + 1);
        } else {
            self.move_to(self.lap_start_ms.saturating_add(self.trace.period_ms()), 0);
        }
    }

    /// Advances to the first opportunity after `now`. On a busy link that is one of the next few;
    /// after an idle gap it is found by binary search.
    fn seek_after(&mut self, now: Instant) {
        for _ in 0..STEPS_BEFORE_SEARCH {
            self.advance();
            if self.due > now {
                return;
            }
        }
        let now_ms = now.as_nanos() / NANOS_PER_MILLI;
        let within_lap = now_ms % self.trace.period_ms();
        // The last timestamp is the period, so every lap has an opportunity after `within_lap`.
        let cursor = self
            .trace
            .opportunities_ms()
            .partition_point(|&ms| u64::from(ms) <= within_lap);
        self.move_to(now_ms - within_lap, cursor);
    }

    fn move_to(&mut self, lap_start_ms: u64, cursor: usize) {
        self.lap_start_ms = lap_start_ms;
        self.cursor = cursor;
        self.left = self.trace.opportunity_bytes();
        let due_ms = lap_start_ms.saturating_add(u64::from(self.trace.opportunities_ms()[cursor]));
        self.due = Instant::ZERO + Duration::from_nanos(due_ms.saturating_mul(NANOS_PER_MILLI));
    }
}
