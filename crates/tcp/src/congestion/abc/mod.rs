//! ABC at the sender (P. Goyal et al., "ABC: A Simple Explicit Congestion Controller for Wireless
//! Networks", USENIX NSDI 2020): an acknowledged packet that accelerates opens the window by a
//! packet, one that brakes closes it by one, so that a window may double or vanish in a round trip
//! (§3). An additive increase of a packet a round trip makes flows share a link.
//!
//! A second window, CUBIC's, answers losses and marks, and the smaller of the two holds, so that
//! the sender is right at bottlenecks without ABC, too (§4.1). Neither exceeds twice the data in
//! flight.

use airtcp_units::{BitRate, Instant};

use super::cubic::Cubic;
use super::model::{Demands, Model};
use super::rule::{Rule, Start};
use super::windows::Windows;
use super::{Ack, Repairing};
use crate::config::Config;

/// The pace in windows a round trip, which leaves the window the limit (the authors' module,
/// `tcp_abc.c`: about two).
const PACING_PERCENT: u128 = 200;
/// Minimum of either window, in segments. The authors' module has 5; on a link of half a megabit a
/// second that is a tenth of a second of queue.
const MIN_WINDOW: u64 = 2;
/// Data in flight that either window may exceed by itself (§4.1).
const MAX_OF_FLIGHT: u64 = 2;

/// The two windows.
#[derive(Clone, Debug)]
pub struct Abc {
    /// The window of accelerates and brakes, in bytes.
    exact: f64,
    cubic: Cubic,
    /// CUBIC's windows, and those before its last reduction for a loss.
    of_cubic: Windows,
    before_loss: Option<Windows>,
    pacing_rate: BitRate,
}

impl Start for Abc {
    #[expect(
        clippy::cast_precision_loss,
        reason = "windows are far below 2^53 bytes"
    )]
    fn start(config: &Config, windows: &Windows) -> Self {
        Self {
            exact: windows.cwnd as f64,
            cubic: Cubic::start(config, windows),
            of_cubic: *windows,
            before_loss: None,
            // A nominal millisecond, until a round trip is known.
            pacing_rate: BitRate::from_bps(windows.cwnd.saturating_mul(8 * 1000 * 2)),
        }
    }
}

impl Abc {
    /// Opens the window by accelerating delivered bytes, closes it by braking ones, and
    /// opens it by a segment a window (§3).
    #[expect(
        clippy::cast_precision_loss,
        reason = "windows are far below 2^53 bytes"
    )]
    fn follow_signals(&mut self, ack: &Ack, mss: u64) {
        let braking = ack.marked.min(ack.delivered);
        let accelerating = (ack.delivered - braking) as f64;
        let shared = mss as f64 * ack.delivered as f64 / self.exact;
        self.exact += accelerating - braking as f64 + shared;
    }

    /// Lets CUBIC's window grow, unless something is being repaired.
    fn grow_cubic(&mut self, ack: &Ack) {
        self.cubic.observe(ack, &mut self.of_cubic);
        if ack.repairing != Repairing::Nothing {
            return;
        }
        let windows = &mut self.of_cubic;
        let room = windows.ssthresh.saturating_sub(windows.cwnd);
        let doubling = ack.delivered.min(room);
        windows.cwnd += doubling;
        let rest = ack.delivered - doubling;
        if rest > 0 {
            windows.cwnd += self.cubic.grow(rest, windows);
        }
    }

    /// Bounds both windows by the data in flight, and sets the smaller one.
    #[expect(
        clippy::cast_precision_loss,
        reason = "windows are far below 2^53 bytes"
    )]
    fn settle(&mut self, in_flight: u64, windows: &mut Windows) {
        let least = MIN_WINDOW * windows.mss;
        let most = (MAX_OF_FLIGHT * in_flight).max(least);
        self.exact = self.exact.clamp(least as f64, most as f64);
        self.of_cubic.cwnd = self.of_cubic.cwnd.clamp(least, most);
        self.choose(windows);
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "no window is negative"
    )]
    fn choose(&self, windows: &mut Windows) {
        windows.set((self.exact as u64).min(self.of_cubic.cwnd));
    }

    /// Reduces CUBIC's window.
    fn reduce(&mut self) {
        let windows = &mut self.of_cubic;
        windows.ssthresh = self.cubic.threshold(windows.cwnd, windows);
        windows.settle();
    }
}

impl Model for Abc {
    fn observe(&mut self, ack: &Ack, windows: &mut Windows) {
        (self.of_cubic.mss, self.of_cubic.max) = (windows.mss, windows.max);
        if ack.delivered > 0 {
            self.follow_signals(ack, windows.mss);
            self.grow_cubic(ack);
            self.settle(ack.in_flight_before, windows);
        }
        self.pacing_rate = windows.rate(windows.cwnd, ack.srtt, PACING_PERCENT);
    }

    fn on_loss(&mut self, _windows: &Windows) {
        self.before_loss = Some(self.of_cubic);
        self.reduce();
    }

    fn on_mark(&mut self, windows: &mut Windows) -> bool {
        self.reduce();
        self.choose(windows);
        true
    }

    /// CUBIC's window slow-starts from its minimum; the other is bounded by the data in flight.
    fn on_timeout(&mut self) {
        self.cubic.on_timeout();
        self.of_cubic.cwnd = MIN_WINDOW * self.of_cubic.mss;
    }

    fn on_taken_back(&mut self) {
        if let Some(before) = self.before_loss.take() {
            self.cubic.on_taken_back();
            self.of_cubic.cwnd = self.of_cubic.cwnd.max(before.cwnd);
            self.of_cubic.ssthresh = self.of_cubic.ssthresh.max(before.ssthresh);
        }
    }

    fn on_idle_over(&mut self, _now: Instant) {}

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
