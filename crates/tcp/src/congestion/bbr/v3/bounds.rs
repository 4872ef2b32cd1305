//! Bounds learned from losses: the data in flight that the path has sustained, and the amount it
//! sustains at present (draft §5.5.10).

use super::super::{scaled, window};
use super::BETA;
use crate::congestion::windows::Windows;
use crate::delivery_rate::RateSample;

/// Draft §2.5.
const LOSS_THRESHOLD: (u64, u64) = (2, 100);
const HEADROOM: f64 = 0.15;

/// The bounds, and the present round trip's contribution to them.
#[derive(Clone, Debug)]
pub(super) struct Bounds {
    /// Bytes in flight that the path has sustained; `u64::MAX` before the first excess.
    pub long_term: u64,
    /// Bandwidth in bytes a second, and bytes in flight, that it sustains at present.
    pub short_term: Option<(u64, u64)>,
    /// The largest of the round trip, in bytes a second.
    pub latest_bandwidth: u64,
    /// The most delivered in the time of a sample of the round trip, in bytes.
    pub latest_in_flight: u64,
    /// Segments lost in the round trip.
    pub losses_in_round: u32,
    pub lost_in_round: bool,
}

impl Bounds {
    /// No bounds.
    pub const NONE: Self = Self {
        long_term: u64::MAX,
        short_term: None,
        latest_bandwidth: 0,
        latest_in_flight: 0,
        losses_in_round: 0,
        lost_in_round: false,
    };

    /// Takes `lost` bytes, in segments of `mss`.
    #[inline]
    pub fn on_loss(&mut self, lost: u64, mss: u64) {
        if lost > 0 {
            self.lost_in_round = true;
            let segments = u32::try_from(lost.div_ceil(mss)).unwrap_or(u32::MAX);
            self.losses_in_round = self.losses_in_round.saturating_add(segments);
        }
    }

    /// Takes a sample of `bandwidth`, measured while `delivered` bytes arrived.
    #[inline]
    pub fn on_sample(&mut self, bandwidth: u64, delivered: u64) {
        self.latest_bandwidth = self.latest_bandwidth.max(bandwidth);
        self.latest_in_flight = self.latest_in_flight.max(delivered);
    }

    /// Ends the round trip. If data was lost in it, the data delivered bounds the next ones, unless
    /// the sender `probes` (draft §5.5.10.3); without a bound yet, it starts at `bandwidth` and
    /// `cwnd`.
    pub fn end_round(&mut self, probes: bool, bandwidth: u64, cwnd: u64) {
        if self.lost_in_round && !probes {
            let (rate, in_flight) = self.short_term.unwrap_or((bandwidth, cwnd));
            self.short_term = Some((
                self.latest_bandwidth.max(scaled(rate, BETA)),
                self.latest_in_flight.max(scaled(in_flight, BETA)),
            ));
        }
        self.lost_in_round = false;
        self.losses_in_round = 0;
        self.latest_bandwidth = 0;
        self.latest_in_flight = 0;
    }

    /// The long-term bound, less headroom for others (draft §5.5.6).
    pub fn with_headroom(&self, windows: &Windows) -> u64 {
        if self.long_term == u64::MAX {
            return u64::MAX;
        }
        let headroom = scaled(self.long_term, HEADROOM).max(windows.mss);
        (self.long_term.saturating_sub(headroom)).max(window::least(windows))
    }
}

/// Draft §5.5.10.2: whether more than 2 % of the bytes in flight when the segment was sent are
/// lost.
pub(super) fn is_too_much(sample: &RateSample) -> bool {
    let (numerator, denominator) = LOSS_THRESHOLD;
    sample.lost * denominator > sample.in_flight_at_send * numerator
}
