//! Verus (Zaki, Pötsch, Chen, Subramanian & Görg, "Adaptive Congestion Control for Unpredictable
//! Cellular Networks", SIGCOMM 2015; the authors' code, yzaki/verus): every 5 ms a target delay
//! moves by the trend of the delays, and the window is the one that goes with it in a learned delay
//! profile.
//!
//! The authors' program sends a number of packets every epoch; here they leave as the window
//! allows, at twice the window a round trip. Epochs pass at acknowledgments: after a silence they
//! are caught up on, each with the time since the last acknowledgment for its delay, as there. The
//! window at which a segment was sent is the data then in flight.

mod curve;
mod profile;

use airtcp_units::{BitRate, Duration, Instant};

use super::Ack;
use super::model::{Demands, Model};
use super::rule::Start;
use super::windows::Windows;
use crate::config::Config;
use profile::Profile;

/// Length of an epoch (ε; `EPOCH`).
const EPOCH: Duration = Duration::from_millis(5);
/// Step of the target delay down, and up or from too long a delay (δ1, δ2; `DELTA1`,
/// `DELTA2`).
const STEP_DOWN: Duration = Duration::from_millis(1);
const STEP: Duration = Duration::from_millis(2);
/// Epochs without acknowledgments that are caught up on: a second.
const MAX_EPOCHS: u64 = 200;
/// A smaller change of the delay is ignored.
const SAME: Duration = Duration::from_nanos(100);
/// Share of the window that a loss leaves, in tenths (M; `VERUS_M_DECREASE`).
const KEPT_TENTHS: u64 = 7;
/// Delay that ends slow start (`SS_EXIT_THRESHOLD`).
const LONG_DELAY: Duration = Duration::from_millis(500);
/// The smallest window that a loss in slow start ends it with, in segments.
const SMALL_WINDOW: u64 = 20;
/// By how much the minimum delay grows if a window of a segment is still too long.
const MINIMUM_STEP: Duration = Duration::from_millis(10);
/// Windows per round trip at which segments leave.
const PACING_GAIN: u64 = 2;

/// The delays of the epochs. All are zero before they are known.
#[derive(Clone, Debug, Default)]
struct Delays {
    minimum: Duration,
    /// The largest one of this epoch.
    epoch: Duration,
    /// The moving average of the epochs' largest.
    largest: Duration,
    /// The target (D_est).
    target: Duration,
}

impl Delays {
    /// Ends an epoch in which `largest` was the largest delay: moves the target.
    /// `ratio` is the largest tolerated one of maximum and minimum; if the application is the
    /// limit, a longer delay would bring nothing. Returns whether even the minimum is too long.
    fn end_epoch(&mut self, largest: Duration, ratio: f64, limited: bool) -> bool {
        let last = if self.largest == Duration::ZERO {
            largest
        } else {
            self.largest
        };
        let too_long = exceeds(last, self.minimum, ratio);
        self.target = if too_long {
            (self.target - STEP).max(self.minimum)
        } else if largest > last + SAME {
            (self.target - STEP_DOWN).max(self.minimum)
        } else if limited {
            self.target
        } else {
            self.target + STEP
        };
        // A fifth of the old value (`ewma (dMaxLast, dMax, 0.2)`).
        let largest = last.as_nanos() / 5 + largest.as_nanos() / 5 * 4;
        self.largest = Duration::from_nanos(largest);
        too_long && self.target == self.minimum
    }
}

#[expect(clippy::cast_precision_loss, reason = "delays are far below 2^53")]
fn exceeds(delay: Duration, minimum: Duration, ratio: f64) -> bool {
    delay.as_nanos() as f64 > ratio * minimum.as_nanos() as f64
}

/// Where the window comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    SlowStart,
    /// The profile.
    Normal,
    /// The same after a loss, while nothing is learned.
    Loss,
}

/// The profile, the delays and the window.
#[derive(Clone, Debug)]
pub struct Verus {
    ratio: f64,
    phase: Phase,
    profile: Profile,
    delays: Delays,
    epoch_ends: Instant,
    last_ack: Instant,
    /// The window, in segments.
    window: f64,
    /// Window, in segments, at which the segments that are acknowledged now were sent.
    sent_window: u64,
    /// Whether nothing is sent in this epoch.
    is_stopped: bool,
    pacing_rate: BitRate,
}

impl Start for Verus {
    fn start(config: &Config, windows: &Windows) -> Self {
        Self {
            ratio: config.verus_ratio,
            phase: Phase::SlowStart,
            profile: Profile::default(),
            delays: Delays::default(),
            epoch_ends: Instant::ZERO,
            last_ack: Instant::ZERO,
            window: windows.segments(),
            sent_window: 1,
            is_stopped: false,
            // A nominal millisecond, until a round trip is known.
            pacing_rate: BitRate::from_bps(windows.cwnd.saturating_mul(8 * 1000 * PACING_GAIN)),
        }
    }
}

impl Verus {
    /// Takes the delay of an acknowledged segment.
    fn learn(&mut self, ack: &Ack, delay: Duration, windows: &Windows) {
        let delays = &mut self.delays;
        delays.epoch = delays.epoch.max(delay);
        if delays.minimum == Duration::ZERO || delay < delays.minimum {
            delays.minimum = delay;
        }
        if let Some(sample) = ack.rate {
            self.sent_window = (sample.in_flight_at_send / windows.mss).max(1);
        }
        #[expect(clippy::cast_precision_loss, reason = "windows are far below 2^53")]
        if self.phase == Phase::Loss && self.sent_window as f64 <= self.window {
            self.phase = Phase::Normal;
            self.delays.epoch = delay;
            self.epoch_ends = ack.now + EPOCH;
        }
        if self.phase != Phase::Loss {
            self.profile.add(self.sent_window, delay);
        }
    }

    /// Leaves slow start, or reduces the window for a loss: to 7/10 of the window at which the
    /// segment was sent, with the delay that goes with it.
    fn reduce(&mut self, now: Instant) {
        if self.phase == Phase::SlowStart {
            // Without the points of the overshoot.
            self.profile.cut(self.sent_window.max(100));
            self.profile.refresh(now);
            self.delays.epoch = Duration::ZERO;
            self.epoch_ends = now + EPOCH;
        }
        #[expect(clippy::cast_precision_loss, reason = "windows are far below 2^53")]
        let kept = (self.sent_window * KEPT_TENTHS) as f64 / 10.0;
        self.window = self.window.min(kept).max(1.0);
        self.phase = Phase::Loss;
        self.delays.target = self
            .profile
            .delay(self.window)
            .unwrap_or(self.delays.minimum)
            .max(self.delays.minimum);
    }

    /// Takes a loss, unless it belongs to the last reduction.
    fn on_lost(&mut self) {
        let starts = self.phase == Phase::SlowStart && self.sent_window < SMALL_WINDOW;
        if self.phase != Phase::Loss && !starts {
            self.reduce(self.last_ack);
        }
    }

    /// Ends the epochs until `now`.
    fn end_epochs(&mut self, ack: &Ack, windows: &Windows) {
        let (now, in_flight) = (ack.now, ack.in_flight_before);
        let limited = ack.rate.is_some_and(|rate| rate.application_limited);
        let passed = (now - self.epoch_ends).as_nanos() / EPOCH.as_nanos();
        let passed = passed.min(MAX_EPOCHS);
        for epoch in 0..=passed {
            // The first had acknowledgments, the others only the time since.
            let largest = core::mem::take(&mut self.delays.epoch);
            let largest = if largest == Duration::ZERO {
                let silent = (now - self.last_ack).as_nanos();
                let later = EPOCH.as_nanos() * (passed - epoch);
                Duration::from_nanos(silent.saturating_sub(later)).max(self.delays.largest)
            } else {
                largest
            };
            self.is_stopped = self.delays.end_epoch(largest, self.ratio, limited);
            if self.is_stopped && in_flight < 2 * windows.mss {
                self.delays.minimum += MINIMUM_STEP;
                self.is_stopped = false;
            }
        }
        self.epoch_ends = now + EPOCH;
        self.profile.refresh(now);
        match self.profile.window(self.delays.target) {
            #[expect(clippy::cast_precision_loss, reason = "windows are far below 2^53")]
            Some(window) => self.window = window.max(1) as f64,
            None => self.restart(),
        }
    }

    /// Another slow start: the profile does not hold the target (`restartSlowStart`).
    fn restart(&mut self) {
        self.phase = Phase::SlowStart;
        self.profile = Profile::default();
        self.delays = Delays::default();
        self.window = 1.0;
        self.is_stopped = false;
    }
}

impl Model for Verus {
    fn observe(&mut self, ack: &Ack, windows: &mut Windows) {
        let Some(delay) = ack.rtt else {
            return;
        };
        if ack.now >= self.epoch_ends && self.phase == Phase::Normal {
            self.end_epochs(ack, windows);
        }
        self.learn(ack, delay, windows);
        self.last_ack = ack.now;
        if ack.lost > 0 {
            self.on_lost();
        }
        #[expect(clippy::cast_precision_loss, reason = "windows are far below 2^53")]
        let segments = ack.delivered as f64 / windows.mss as f64;
        match self.phase {
            Phase::SlowStart if delay > LONG_DELAY => self.reduce(ack.now),
            // RFC 5681 §3.1, as far as the window is used.
            Phase::SlowStart if ack.in_flight_before >= windows.cwnd / 2 => self.window += segments,
            // One segment a window, and a target that follows.
            Phase::Loss => {
                self.window += segments / self.window;
                if let Some(delay) = self.profile.delay(self.window) {
                    self.delays.target = self.delays.target.min(delay);
                }
            }
            Phase::SlowStart | Phase::Normal => {}
        }
        let window = if self.is_stopped { 1.0 } else { self.window };
        windows.set(windows.whole(window, 1));
        let srtt = if ack.srtt == Duration::ZERO {
            delay
        } else {
            ack.srtt
        };
        let bits = u128::from(windows.cwnd) * u128::from(8 * PACING_GAIN) * 1_000_000_000;
        let rate = bits / u128::from(srtt.as_nanos().max(1));
        self.pacing_rate = BitRate::from_bps(u64::try_from(rate).unwrap_or(u64::MAX));
    }

    /// Each loss counts, in a repair too, as its acknowledgment arrives.
    fn on_loss(&mut self, _windows: &Windows) {
        self.on_lost();
    }

    /// Nothing is in flight: the target is the minimum (`TimeoutHandler`).
    fn on_timeout(&mut self) {
        if self.phase == Phase::SlowStart {
            self.reduce(self.last_ack);
        }
        self.phase = Phase::Loss;
        self.delays.target = self.delays.minimum;
        self.window = 1.0;
    }

    /// A pause is no delay.
    fn on_idle_over(&mut self, now: Instant) {
        self.last_ack = now;
        self.epoch_ends = now + EPOCH;
    }

    fn demands(&self) -> Demands {
        Demands {
            pacing_rate: self.pacing_rate,
            least_burst: 1,
            is_probing_rtt: false,
        }
    }
}

#[cfg(test)]
mod tests;
