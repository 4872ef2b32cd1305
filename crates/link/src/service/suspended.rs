//! A constant rate with stops at regular intervals: the delay spikes of a Wi-Fi client that scans
//! for other access points, or of a radio that sleeps.

use super::constant::TransmissionTimes;
use airtcp_units::{BitRate, Duration, Instant};

/// A link that stops for `length`, above zero, every `every`, first at `every`.
#[derive(Clone, Debug)]
pub(crate) struct Suspended {
    times: TransmissionTimes,
    every: Duration,
    length: Duration,
    free_at: Instant,
    /// Start of the first stop that is not known to be over.
    stop: Instant,
}

impl Suspended {
    pub(super) fn new(rate: BitRate, every: Duration, length: Duration) -> Self {
        Self {
            times: TransmissionTimes::new(rate),
            every,
            length: length.min(every),
            free_at: Instant::ZERO,
            stop: Instant::ZERO + every,
        }
    }

    /// A packet that finds the link idle but stopped is taken from the queue and held: it is the
    /// packet in service, paused.
    #[inline]
    pub(super) fn next_start(&self, now: Instant) -> Instant {
        self.free_at.max(now)
    }

    pub(super) fn serve(&mut self, start: Instant, bytes: u32) -> Instant {
        let needed = self.times.of(bytes).as_nanos();
        let (every, length) = (self.every.as_nanos(), self.length.as_nanos());
        let working = every - length;
        if working == 0 {
            // From the first stop on it never resumes.
            let end = start + Duration::from_nanos(needed);
            self.free_at = if end <= self.stop {
                end
            } else {
                Instant::FAR_FUTURE
            };
            return self.free_at;
        }
        self.skip_stops_over_by(start);
        let mut begin = start;
        if start >= self.stop {
            begin = self.stop + self.length;
            self.stop += self.every;
        }
        let before_stop = (self.stop - begin).as_nanos();
        self.free_at = if needed <= before_stop {
            begin + Duration::from_nanos(needed)
        } else {
            // Whole working periods that it fills, and the remainder in the last one.
            let rest = needed - before_stop;
            let filled = if rest <= working {
                0
            } else {
                (rest - 1) / working
            };
            let last_stop = self.stop + self.every * filled;
            self.stop = last_stop + self.every;
            last_stop + self.length + Duration::from_nanos(rest - filled * working)
        };
        self.free_at
    }

    /// Moves on to the first stop that ends after `at`.
    fn skip_stops_over_by(&mut self, at: Instant) {
        let end = self.stop + self.length;
        if at < end {
            return;
        }
        let over = (at - end).as_nanos() / self.every.as_nanos() + 1;
        self.stop += self.every * over;
    }
}
