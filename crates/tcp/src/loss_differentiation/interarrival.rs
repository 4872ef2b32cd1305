//! mBiaz: if n packets are lost and the next arrives as if it had been queued after them, they
//! passed a queue that did not drop them (Biaz & Vaidya, ASSET 1999; Cen et al. §III.B).

use airtcp_units::Instant;

use super::Cause;

/// A packet that follows n lost ones arrives between (n + 1) and (n + 1.25) minimum interarrival
/// times after the last one before them.
const LATEST: f64 = 1.25;
/// Gain of the average.
const GAIN: f64 = 1.0 / 8.0;

/// Times between acknowledgments of new segments, in seconds per segment.
#[derive(Clone, Debug, Default)]
pub struct Interarrival {
    last: Option<Instant>,
    /// The time over the last gap.
    gap: f64,
    least: Option<f64>,
    average: f64,
    /// Whether the current gap contains a loss, so that it cannot be used as an interarrival time.
    lossy: bool,
}

impl Interarrival {
    /// Records that `segments` were delivered at `now`.
    pub fn add(&mut self, now: Instant, segments: u32) {
        let Some(last) = self.last.replace(now) else {
            return;
        };
        self.gap = (now - last).as_secs_f64();
        let each = self.gap / f64::from(segments.max(1));
        if core::mem::take(&mut self.lossy) || each <= 0.0 {
            return;
        }
        self.average = match self.least {
            None => each,
            Some(_) => (1.0 - GAIN) * self.average + GAIN * each,
        };
        self.least = Some(self.least.map_or(each, |least| least.min(each)));
    }

    /// Records that a loss was found.
    pub const fn on_loss(&mut self) {
        self.lossy = true;
    }

    /// The minimum time per segment; `None` before two arrivals.
    pub const fn least(&self) -> Option<f64> {
        self.least
    }

    /// The average time per segment.
    pub const fn average(&self) -> f64 {
        self.average
    }

    /// Classifies a loss of `lost` segments by the gap that ended with the acknowledgment that
    /// revealed it.
    pub fn classify(&self, lost: u32) -> Cause {
        let Some(least) = self.least else {
            return Cause::Congestion;
        };
        let lost = f64::from(lost);
        if (lost + 1.0) * least <= self.gap && self.gap < (lost + LATEST) * least {
            Cause::Radio
        } else {
            Cause::Congestion
        }
    }
}
