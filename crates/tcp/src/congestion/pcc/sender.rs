//! The sender of every PCC: it sends monitor intervals at the rates that a learner chooses, and
//! hands it the measurements.

use core::fmt::Debug;

use airtcp_units::{BitRate, Duration, Instant};

use super::interval::{Measured, Monitor};
use super::{bit_rate, floored, megabits, rate_of};
use crate::config::Config;
use crate::congestion::Ack;
use crate::congestion::model::{Demands, Model};
use crate::congestion::rule::Start;
use crate::congestion::windows::Windows;

/// The smallest window, in segments.
const MIN_WINDOW: u64 = 4;

/// A rule for the rate.
pub trait Learner: Clone + Debug {
    /// The state before the first interval.
    fn new(config: &Config, windows: &Windows) -> Self;

    /// Whether the round trip of this acknowledgment is a measurement.
    fn is_reliable(&mut self, _ack: &Ack) -> bool {
        true
    }

    /// The rate of an interval that begins at `now`, and whether it is to be measured. `measuring`
    /// intervals are not yet answered.
    fn choose(&mut self, now: Instant, rate: BitRate, measuring: usize) -> (BitRate, bool);

    /// Takes a measurement made around `rate`. Returns the new rate, if it is known now.
    fn learn(&mut self, measured: Measured, rate: BitRate, mss: u64) -> Option<BitRate>;

    /// Forgets the intervals that are not yet answered.
    fn forget(&mut self);

    /// Called when the retransmission timer has expired: the start is over.
    fn on_timeout(&mut self);

    /// Bytes in flight that the pace `rate` may need.
    fn window(&self, rate: BitRate, srtt: Duration, minimum: Duration) -> u64;
}

/// The intervals, and the rate that they are chosen around.
#[derive(Clone, Debug)]
pub struct Sender<L> {
    pub(super) learner: L,
    pub(super) monitor: Monitor,
    /// `None` before the first round trip.
    rate: Option<BitRate>,
    pacing_rate: BitRate,
}

impl<L: Learner> Start for Sender<L> {
    fn start(config: &Config, windows: &Windows) -> Self {
        Self {
            learner: L::new(config, windows),
            monitor: Monitor::default(),
            rate: None,
            // A nominal millisecond, until a round trip is known.
            pacing_rate: BitRate::from_bps(windows.cwnd.saturating_mul(8 * 1000)),
        }
    }
}

impl<L: Learner> Model for Sender<L> {
    fn observe(&mut self, ack: &Ack, windows: &mut Windows) {
        let reliable = self.learner.is_reliable(ack);
        self.monitor.observe(ack, reliable, windows.mss);
        let Some(rtt) = ack.rtt else {
            return;
        };
        let srtt = if ack.srtt == Duration::ZERO {
            rtt
        } else {
            ack.srtt
        };
        // Timeouts in an outage halve the rate without end: at a segment in a second the steps of a
        // probe are no measurement, and the rate would stay there.
        let usual = self.rate.unwrap_or_else(|| rate_of(windows.cwnd, rtt));
        let mut rate = floored(usual, srtt, windows);
        let mut begins = self.monitor.is_over(ack.now, srtt);
        while let Some(measured) = self.monitor.take() {
            if let Some(moved) = self.learner.learn(measured, rate, windows.mss) {
                (rate, begins) = (floored(moved, srtt, windows), true);
            }
        }
        self.rate = Some(rate);
        if begins {
            let (chosen, useful) = self.learner.choose(ack.now, rate, self.monitor.useful());
            self.monitor.begin(ack.now, chosen, useful);
        }
        self.pacing_rate = self.monitor.rate().unwrap_or(rate);
        let window = self.learner.window(self.pacing_rate, srtt, ack.minimum_rtt);
        windows.set(window.max(MIN_WINDOW * windows.mss));
    }

    /// A loss is a part of the utility.
    fn on_loss(&mut self, _windows: &Windows) {}

    /// Half the rate, and other intervals (Vivace's `onTimeout`).
    fn on_timeout(&mut self) {
        self.monitor.clear();
        self.learner.on_timeout();
        if let Some(rate) = &mut self.rate {
            *rate = bit_rate(megabits(*rate) / 2.0);
            self.pacing_rate = *rate;
        }
    }

    /// Intervals that a pause has cut are no measurements.
    fn on_idle_over(&mut self, _now: Instant) {
        self.monitor.clear();
        self.learner.forget();
    }

    fn demands(&self) -> Demands {
        Demands {
            pacing_rate: self.pacing_rate,
            least_burst: 1,
            is_probing_rtt: false,
        }
    }
}
