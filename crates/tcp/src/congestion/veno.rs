//! TCP Veno (Fu & Liew, "TCP Veno: TCP enhancement for transmission over wireless access networks",
//! JSAC 21(2), 2003): the backlog N in the network distinguishes random losses from congestion, and
//! while there is a backlog, the window grows only at every second acknowledgment.

use airtcp_units::Duration;

use super::rule::{Rule, Start};
use super::windows::Windows;
use super::{Ack, reno::Reno};
use crate::config::Config;

/// Share of the window that remains after a random loss (§II.B: 4/5).
const RANDOM_LOSS_LEAVES: (u64, u64) = (4, 5);

/// The backlog, measured once a round trip.
#[derive(Clone, Debug)]
pub struct Veno {
    reno: Reno,
    beta: f64,
    /// Minimum of the current round trip.
    least: Duration,
    /// Minimum of the last, once there is one.
    last: Option<Duration>,
    base: Duration,
    round_ends: u64,
    /// Whether half an acknowledgment's worth of growth is carried over.
    skipped: bool,
}

impl Veno {
    /// A new estimator without samples; a backlog of `beta` segments means congestion.
    pub fn new(beta: f64) -> Self {
        Self {
            reno: Reno::default(),
            beta,
            least: Duration::MAX,
            last: None,
            base: Duration::ZERO,
            round_ends: 0,
            skipped: false,
        }
    }

    /// N = cwnd × (RTT − BaseRTT)/RTT in segments (§II.A, eq. 1 and 2).
    pub fn backlog(&self, windows: &Windows) -> f64 {
        let Some(last) = self.last else {
            return 0.0;
        };
        let (rtt, base) = (last.as_secs_f64(), self.base.as_secs_f64());
        windows.segments() * (rtt - base) / rtt
    }

    fn is_congested(&self, windows: &Windows) -> bool {
        self.backlog(windows) >= self.beta
    }
}

impl Start for Veno {
    fn start(config: &Config, _windows: &Windows) -> Self {
        Self::new(config.veno_backlog)
    }
}

impl Rule for Veno {
    fn observe(&mut self, ack: &Ack, _windows: &mut Windows) {
        let Some(rtt) = ack.rtt else {
            return;
        };
        self.base = ack.minimum_rtt;
        self.least = self.least.min(rtt);
        if ack.una > self.round_ends || self.last.is_none() {
            self.last = Some(core::mem::replace(&mut self.least, Duration::MAX));
            self.round_ends = ack.nxt;
        }
    }

    fn grow(&mut self, acked: u64, windows: &Windows) -> u64 {
        // §II.B: in the congestive state every other acknowledgment counts.
        if self.is_congested(windows) {
            self.skipped = !self.skipped;
            if self.skipped {
                return 0;
            }
        }
        self.reno.grow(acked, windows)
    }

    fn threshold(&mut self, base: u64, windows: &Windows) -> u64 {
        self.reno = Reno::default();
        let (numerator, denominator) = if self.is_congested(windows) {
            (1, 2)
        } else {
            RANDOM_LOSS_LEAVES
        };
        let segments = base / windows.mss * numerator / denominator;
        segments.max(2) * windows.mss
    }
}
