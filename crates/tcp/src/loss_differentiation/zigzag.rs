//! ZigZag and NewZag: the more packets are lost at once, the longer the round trip that still
//! counts as that of an empty queue.

use super::Cause;
use super::round_trips::RoundTrips;

/// The round trips at which a loss of n segments is attributed to the radio: below mean − factor ×
/// deviation. A negative factor is above the mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ZigZagTable {
    /// The factor for n = 1, 2, 3, and more.
    pub below_mean: [f64; 4],
    /// Gain of the mean; the deviation's is twice that.
    pub gain: f64,
}

impl ZigZagTable {
    /// NewZag's classifier (Lien, Reeve & Lee §II-A: gain 2⁻⁴).
    pub const NEWZAG: Self = Self {
        below_mean: [1.0, 0.5, 0.0, -0.5],
        gain: 1.0 / 16.0,
    };
    /// NewZag adjusted, so that a single loss need only be below the mean (Lien et al. §III-B).
    pub const NEWZAG_ADJUSTED: Self = Self {
        below_mean: [0.0, 0.0, 0.0, -0.5],
        gain: 1.0 / 16.0,
    };
    /// ZigZag with the thresholds that zigzag about the mean (Cen, Cosman & Voelker §III.C: gain
    /// 2⁻⁵; the rule for n > 3 is the stricter one).
    pub const CEN: Self = Self {
        below_mean: [1.0, 0.5, 0.0, 0.5],
        gain: 1.0 / 32.0,
    };
    /// ZigZag as implemented where n = 3 is as strict as n = 1.
    pub const STRICT: Self = Self {
        below_mean: [1.0, 0.5, 1.0, 0.5],
        gain: 1.0 / 32.0,
    };

    /// The cause of a loss of `lost` segments at once.
    pub fn classify(&self, round_trips: &RoundTrips, lost: u32) -> Cause {
        let row = (lost.clamp(1, 4) - 1) as usize;
        let threshold = round_trips.mean - self.below_mean[row] * round_trips.deviation;
        if round_trips.latest < threshold {
            Cause::Radio
        } else {
            Cause::Congestion
        }
    }
}
