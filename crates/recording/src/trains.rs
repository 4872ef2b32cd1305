//! Trains of packets over an idle link (CellReplay, NSDI 2025, section 4).

use airtcp_units::Duration;

/// A train of packets that were sent at once over an idle link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Train {
    /// When it was sent, since the recording began.
    pub sent: Duration,
    /// One-way delay of its first packet: half of that packet's round trip.
    pub base: Duration,
    /// How much later than the first each packet arrived, in order; the first is 0.
    pub offsets: Vec<Duration>,
}

/// The trains of one direction, in the order of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trains {
    /// Never empty; times increase.
    pub trains: Vec<Train>,
}

impl Trains {
    /// The smallest base delay, one way.
    #[must_use]
    pub fn least_base(&self) -> Duration {
        let bases = self.trains.iter().map(|train| train.base);
        bases.min().unwrap_or_default()
    }
}
