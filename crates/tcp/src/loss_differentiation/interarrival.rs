//! mBiaz: where n packets are lost and the next arrives just when it would have with them in front
//! of it, they were sent through a queue that did not drop them (Biaz & Vaidya, ASSET 1999; Cen et
//! al. §III.B).

use airtcp_units::Instant;

use super::Cause;

/// A packet that follows n lost ones comes between (n + 1) and (n + 1.25) of the least times
/// between arrivals behind the last before them.
const LATEST: f64 = 1.25;
/// The average follows by this share.
const GAIN: f64 = 1.0 / 8.0;

/// The times between acknowledgments of new segments, in seconds a segment.
#[derive(Clone, Debug, Default)]
pub struct Interarrival {
    last: Option<Instant>,
    /// Over the gap that ended last.
    gap: f64,
    least: Option<f64>,
    average: f64,
    /// The gap that is under way holds a loss, and is no time between arrivals.
    lossy: bool,
}

impl Interarrival {
    /// `segments` were delivered at `now`.
    pub fn add(&mut self, now: Instant, segments: u32) {
        let Some(last) = self.last.replace(now) else {
            return;
        };
        self.gap = (now - last).as_secs_f64();
        let each = self.gap / f64::from(segments.max(1));
        if std::mem::take(&mut self.lossy) || each <= 0.0 {
            return;
        }
        self.average = match self.least {
            None => each,
            Some(_) => (1.0 - GAIN) * self.average + GAIN * each,
        };
        self.least = Some(self.least.map_or(each, |least| least.min(each)));
    }

    /// A loss was found.
    pub const fn on_loss(&mut self) {
        self.lossy = true;
    }

    /// The least time a segment; none before two arrivals.
    pub const fn least(&self) -> Option<f64> {
        self.least
    }

    /// The average time a segment.
    pub const fn average(&self) -> f64 {
        self.average
    }

    /// What a loss of `lost` segments is of, by the gap that ended with the acknowledgment that
    /// showed it.
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
