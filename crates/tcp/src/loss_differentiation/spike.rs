//! Spike (Tobe, Tamura, Molano, Ghosh & Tokuda, "Achieving moderate fairness for UDP flows by
//! path-status classification", LCN 2000; Cen et al. §III.A): a loss while the round trip is in a
//! spike is attributed to congestion.

use super::Cause;
use super::round_trips::RoundTrips;

/// A spike begins above the first of these shares of the range, and ends below the second.
const BEGINS: f64 = 1.0 / 2.0;
const ENDS: f64 = 1.0 / 3.0;

/// Whether the round trip is in a spike.
#[derive(Clone, Debug, Default)]
pub struct Spike {
    inside: bool,
}

impl Spike {
    /// Updates the state after a round trip was added.
    pub fn add(&mut self, round_trips: &RoundTrips) {
        let range = round_trips.greatest - round_trips.least;
        let above = |share: f64| round_trips.latest - round_trips.least > share * range;
        if self.inside {
            self.inside = round_trips.latest - round_trips.least >= ENDS * range && range > 0.0;
        } else {
            self.inside = above(BEGINS);
        }
    }

    /// The cause of a loss at this moment.
    pub const fn classify(&self) -> Cause {
        if self.inside {
            Cause::Congestion
        } else {
            Cause::Radio
        }
    }
}
