//! A constant rate.

use airtcp_units::{BitRate, Duration, Instant};

/// Cache of the transmission time of the last size: in one direction nearly all packets have the
/// same size, and the division is the most expensive operation on a packet's path.
#[derive(Clone, Debug)]
pub(super) struct TransmissionTimes {
    rate: BitRate,
    bytes: u32,
    time: Duration,
}

impl TransmissionTimes {
    pub(super) fn new(rate: BitRate) -> Self {
        Self {
            rate,
            bytes: 0,
            time: Duration::ZERO,
        }
    }

    #[inline]
    pub(super) fn of(&mut self, bytes: u32) -> Duration {
        if bytes != self.bytes {
            self.bytes = bytes;
            self.time = self.rate.transmission_time(u64::from(bytes));
        }
        self.time
    }
}

/// A link that sends one packet after the other at a constant rate.
#[derive(Clone, Debug)]
pub(crate) struct Constant {
    times: TransmissionTimes,
    free_at: Instant,
}

impl Constant {
    pub(super) fn new(rate: BitRate) -> Self {
        Self {
            times: TransmissionTimes::new(rate),
            free_at: Instant::ZERO,
        }
    }

    #[inline]
    pub(crate) fn next_start(&self, now: Instant) -> Instant {
        self.free_at.max(now)
    }

    /// Bytes that it carries in `window`.
    pub(super) fn capacity(&self, window: Duration) -> u64 {
        let bits = u128::from(self.times.rate.as_bps()) * u128::from(window.as_nanos());
        u64::try_from(bits / 8_000_000_000).unwrap_or(u64::MAX)
    }

    #[inline]
    pub(crate) fn serve(&mut self, start: Instant, bytes: u32) -> Instant {
        self.free_at = start + self.times.of(bytes);
        self.free_at
    }
}
