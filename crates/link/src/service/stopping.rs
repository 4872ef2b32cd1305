//! A constant rate with consecutive stops, at random or as recorded.

use super::constant::TransmissionTimes;
use crate::stops::StopSequence;
use airtcp_units::{BitRate, Instant};

/// A link that stops by its sequence, and resumes the paused transmission.
#[derive(Clone, Debug)]
pub(crate) struct Stopping {
    times: TransmissionTimes,
    stops: StopSequence,
    free_at: Instant,
}

impl Stopping {
    pub(super) fn new(rate: BitRate, stops: StopSequence) -> Self {
        Self {
            times: TransmissionTimes::new(rate),
            stops,
            free_at: Instant::ZERO,
        }
    }

    /// A packet that finds the link idle but stopped is taken from the queue and held: it is the
    /// packet in service, paused.
    #[inline]
    pub(super) fn next_start(&self, now: Instant) -> Instant {
        self.free_at.max(now)
    }

    pub(super) fn serve(&mut self, start: Instant, bytes: u32) -> Instant {
        let mut left = self.times.of(bytes);
        let mut begin = start;
        self.free_at = loop {
            let Some(stop) = self.stops.ending_after(begin) else {
                break begin + left;
            };
            let works = stop.start - begin;
            if stop.start >= begin && left <= works {
                break begin + left;
            }
            left -= works;
            begin = stop.end;
        };
        self.free_at
    }
}
