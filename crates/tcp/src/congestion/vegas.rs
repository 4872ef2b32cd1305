//! TCP Vegas (Brakmo & Peterson, "TCP Vegas: End to End Congestion Avoidance on a Global Internet",
//! JSAC 13(8), 1995), as Linux has it: once a round trip the window moves by a segment, so that
//! between `alpha` and `beta` segments wait in the network. Detection and repair of losses stay
//! with the sender; slow start ends before it fills a queue.

use airtcp_units::{Duration, Instant};

use super::rule::{Rule, Start};
use super::windows::Windows;
use super::{Ack, Repairing, reno::Reno};
use crate::config::Config;

/// Segments in the network's queues that end slow start (Linux, `gamma`).
const SLOW_START_ENDS_ABOVE: u64 = 1;
/// With no more round trips than these, all may include the delay of an acknowledgment (Linux,
/// `tcp_vegas_cong_avoid`).
const FEW_ROUND_TRIPS: u32 = 2;

/// The observed round trips, and the bounds on the backlog.
#[derive(Clone, Debug)]
pub struct Vegas {
    reno: Reno,
    alpha: u64,
    beta: u64,
    /// The minimum round trip since the connection was last idle; [`Duration::MAX`] without one.
    base: Duration,
    /// The minimum of this round, and the number of samples.
    least: Duration,
    samples: u32,
    round_ends: u64,
    /// Whether a loss disturbed the round: its samples are discarded.
    is_disturbed: bool,
    /// Whether this acknowledgment opens the window as Reno does.
    grows: bool,
}

impl Start for Vegas {
    fn start(config: &Config, _windows: &Windows) -> Self {
        Self {
            reno: Reno::default(),
            alpha: u64::from(config.vegas_alpha),
            beta: u64::from(config.vegas_beta),
            base: Duration::MAX,
            least: Duration::MAX,
            samples: 0,
            round_ends: 0,
            is_disturbed: false,
            grows: false,
        }
    }
}

impl Vegas {
    fn begin_round(&mut self, nxt: u64) {
        self.round_ends = nxt;
        self.least = Duration::MAX;
        self.samples = 0;
    }

    /// Moves the window at the end of a round in which at least three round trips were seen.
    fn adjust(&self, windows: &mut Windows) {
        let mss = windows.mss;
        let segments = u128::from(windows.cwnd / mss);
        let (base, least) = (self.base.as_nanos().max(1), self.least.as_nanos().max(1));
        let (base, least) = (u128::from(base), u128::from(least));
        // §III.B: the difference between the expected and the actual rate, times the base.
        let waiting = u64::try_from(segments * (least - base) / base).unwrap_or(u64::MAX);
        if windows.in_slow_start() {
            if waiting <= SLOW_START_ENDS_ABOVE {
                return;
            }
            // The window of the actual rate, and one segment to round the division up.
            let actual = u64::try_from(segments * base / least + 1).unwrap_or(u64::MAX);
            windows.cwnd = windows.cwnd.min(actual.saturating_mul(mss));
            windows.ssthresh = windows.ssthresh.min(windows.cwnd);
        } else if waiting > self.beta {
            windows.cwnd = windows.cwnd.saturating_sub(mss);
            windows.ssthresh = windows.ssthresh.min(windows.cwnd);
        } else if waiting < self.alpha {
            windows.cwnd += mss;
        }
        windows.cwnd = windows.cwnd.max(2 * mss).min(windows.max);
    }
}

impl Rule for Vegas {
    fn observe(&mut self, ack: &Ack, windows: &mut Windows) {
        self.grows = false;
        if let Some(rtt) = ack.rtt {
            self.base = self.base.min(rtt);
            self.least = self.least.min(rtt);
            self.samples += 1;
        }
        if ack.repairing != Repairing::Nothing {
            self.is_disturbed = true;
            return;
        }
        if core::mem::take(&mut self.is_disturbed) {
            self.begin_round(ack.nxt);
            return;
        }
        if ack.una <= self.round_ends {
            return;
        }
        if self.samples > FEW_ROUND_TRIPS {
            self.adjust(windows);
        } else {
            self.grows = true;
        }
        self.begin_round(ack.nxt);
    }

    fn grow(&mut self, acked: u64, windows: &Windows) -> u64 {
        if self.grows {
            self.reno.grow(acked, windows)
        } else {
            0
        }
    }

    fn threshold(&mut self, base: u64, windows: &Windows) -> u64 {
        self.is_disturbed = true;
        self.reno.threshold(base, windows)
    }

    fn on_timeout(&mut self) {
        self.is_disturbed = true;
        self.reno.on_timeout();
    }

    /// Linux, `tcp_vegas_cwnd_event`: after a pause the path may be another, and a round begins,
    /// which the next acknowledgment ends. Acknowledgments of two segments leave pauses: a window
    /// of two would not grow if each of its rounds counted as disturbed.
    fn on_idle_over(&mut self, _now: Instant, _idle: Duration) {
        self.base = Duration::MAX;
        self.is_disturbed = false;
        self.begin_round(0);
    }
}
