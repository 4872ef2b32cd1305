//! Was a loss due to congestion or to the radio? Classifiers from the literature, separate from the
//! response to their answers, so that all of them can drive the same reduction and be scored
//! against the truth.
//!
//! They were made for receivers that see one-way times of every packet (Cen, Cosman & Voelker,
//! "End-to-end differentiation of congestion and wireless losses", IEEE/ACM ToN 11(5), 2003). At a
//! TCP sender the round trip takes the place of the one-way time, and the number n of packets lost
//! between two arrivals is that of the holes SACK shows.

mod coin;
mod interarrival;
mod round_trips;
mod spike;
mod veno;
mod zbs;
mod zigzag;

use airtcp_units::{Duration, Instant};

use crate::observer::Insight;
use coin::Coin;
use interarrival::Interarrival;
use round_trips::RoundTrips;
use spike::Spike;
pub use zigzag::ZigZagTable;

pub use crate::cause::Cause;

/// Known facts when a loss event begins.
#[derive(Clone, Copy, Debug)]
pub struct LossEvent {
    /// Time of its detection.
    pub now: Instant,
    /// Segments found lost at once (n).
    pub lost_segments: u32,
    /// The congestion window, in bytes.
    pub cwnd: u64,
    /// Payload of a full segment, in bytes.
    pub mss: u64,
    /// First byte of the first segment lost, in the stream.
    pub offset: u64,
}

/// The choice of classifier, with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Differentiation {
    /// The rule of a table over mean and deviation of the round trip: ZigZag, NewZag.
    ZigZag(ZigZagTable),
    /// A loss while the round trip is in a spike is attributed to congestion.
    Spike,
    /// The time between arrivals matches the transmission time of the lost packets (Biaz & Vaidya,
    /// ASSET 1999, as modified by Cen et al. §III.B).
    MBiaz,
    /// ZigZag, mBiaz or Spike, whichever suits the path (Cen et al. §V).
    Zbs,
    /// A backlog of `beta` segments is attributed to congestion (Fu & Liew §II.B).
    Veno {
        /// Backlog in the network, in segments, at which a loss is attributed to congestion.
        beta: f64,
    },
    /// Knows the truth: the upper bound for any classifier.
    Oracle,
    /// Uses no observation: isolates the effect of a classifier's bias.
    Coin {
        /// Probability of the answer "the radio".
        radio_probability: f64,
    },
}

/// A classifier with its observations.
#[derive(Clone, Debug)]
pub struct Classifier {
    choice: Differentiation,
    round_trips: RoundTrips,
    interarrival: Interarrival,
    spike: Spike,
    coin: Coin,
}

impl Classifier {
    /// Creates the classifier selected by `choice`.
    #[must_use]
    pub fn new(choice: &Differentiation) -> Self {
        let gain = match choice {
            Differentiation::ZigZag(table) => table.gain,
            _ => ZigZagTable::CEN.gain,
        };
        Self {
            choice: *choice,
            round_trips: RoundTrips::new(gain),
            interarrival: Interarrival::default(),
            spike: Spike::default(),
            coin: Coin::default(),
        }
    }

    /// Takes a round-trip sample.
    pub fn on_rtt_sample(&mut self, _now: Instant, rtt: Duration) {
        self.round_trips.add(rtt);
        self.spike.add(&self.round_trips);
    }

    /// Records that an acknowledgment delivered `segments`.
    pub fn on_acknowledged(&mut self, now: Instant, segments: u32) {
        self.interarrival.add(now, segments);
    }

    /// Returns the cause of the loss. The oracle and the coin ask `insight`; without its knowledge,
    /// a loss is attributed to congestion.
    pub fn classify(&mut self, event: &LossEvent, insight: &impl Insight) -> Cause {
        let cause = self.answer(event, insight);
        self.interarrival.on_loss();
        cause
    }

    /// Whether the last round trip was below the mean (Lien et al., Table II, counts these).
    #[must_use]
    pub fn is_below_mean(&self) -> bool {
        self.round_trips.latest < self.round_trips.mean
    }

    fn answer(&mut self, event: &LossEvent, insight: &impl Insight) -> Cause {
        let lost = event.lost_segments;
        match self.choice {
            Differentiation::ZigZag(table) => table.classify(&self.round_trips, lost),
            Differentiation::Spike => self.spike.classify(),
            Differentiation::MBiaz => self.interarrival.classify(lost),
            Differentiation::Zbs => {
                zbs::classify(&self.round_trips, &self.interarrival, &self.spike, lost)
            }
            Differentiation::Veno { beta } => {
                veno::classify(&self.round_trips, event.cwnd, event.mss, beta)
            }
            Differentiation::Oracle => insight.cause_of(event.offset).unwrap_or(Cause::Congestion),
            Differentiation::Coin { radio_probability } => {
                self.coin.classify(radio_probability, insight)
            }
        }
    }
}

#[cfg(test)]
mod tests;
