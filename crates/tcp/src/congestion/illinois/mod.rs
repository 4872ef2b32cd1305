//! TCP Illinois (Liu, Başar & Srikant, "TCP-Illinois: A Loss and Delay-Based Congestion Control
//! Algorithm for High-Speed Networks", Performance Evaluation 65, 2008), as Linux has it
//! (`net/ipv4/tcp_illinois.c`): losses reduce the window, and the queueing delay determines its
//! growth and the size of the reduction.

use super::rule::{Rule, Start};
use super::windows::Windows;
use super::{Ack, Repairing};
use crate::config::Config;

/// Segments a round trip, in 128ths: 0.3, 1 and 10.
const ALPHA_UNIT: u64 = 128;
const MIN_ALPHA: u64 = 3 * ALPHA_UNIT / 10;
const MAX_ALPHA: u64 = 10 * ALPHA_UNIT;
/// The share of the window that a loss takes, in 64ths: 1/8 and 1/2.
const BETA_UNIT: u64 = 64;
const MIN_BETA: u64 = BETA_UNIT / 8;
const MAX_BETA: u64 = BETA_UNIT / 2;
/// Segments below which it is Reno, and round trips of low delay before it returns to its fastest
/// growth (`win_thresh`, `theta`).
const SMALL_WINDOW: u64 = 15;
const PATIENCE: u32 = 5;
/// A longer round trip counts as this, in microseconds (`RTT_MAX`).
const MAX_RTT_US: u64 = u32::MAX as u64 / MAX_ALPHA;

/// The observed round trips, and the resulting growth and reduction.
#[derive(Clone, Debug)]
pub struct Illinois {
    alpha: u64,
    beta: u64,
    /// The shortest and the longest round trip of all, in microseconds.
    base: u64,
    longest: u64,
    /// Round trips of this round: their sum and their number.
    sum: u64,
    samples: u64,
    round_ends: u64,
    nxt: u64,
    /// Whether the delay was ever above its low zone, and rounds since in which it was not.
    was_above: bool,
    low_rounds: u32,
    /// First unacknowledged byte.
    una: Option<u64>,
    /// Bytes that the last acknowledgment covers, also if SACKed before.
    covered: u64,
    /// Bytes covered since the window last grew.
    acked: u64,
}

impl Start for Illinois {
    fn start(_config: &Config, _windows: &Windows) -> Self {
        Self {
            alpha: MAX_ALPHA,
            beta: MAX_BETA,
            base: u64::MAX,
            longest: 0,
            sum: 0,
            samples: 0,
            round_ends: 0,
            nxt: 0,
            was_above: false,
            low_rounds: 0,
            una: None,
            covered: 0,
            acked: 0,
        }
    }
}

impl Illinois {
    fn begin_round(&mut self) {
        (self.sum, self.samples) = (0, 0);
        self.round_ends = self.nxt;
    }

    /// Derives both from the average delay of a round and the longest of all (`update_params`).
    fn adjust(&mut self, windows: &Windows) {
        if windows.cwnd / windows.mss < SMALL_WINDOW {
            (self.alpha, self.beta) = (ALPHA_UNIT, MAX_BETA);
        } else if let Some(average) = self.sum.checked_div(self.samples) {
            let delay = average - self.base;
            let longest = self.longest - self.base;
            self.alpha = self.growth(delay, longest);
            self.beta = reduction(delay, longest);
        }
    }

    /// Segments a round trip, in 128ths: convex in the delay (`alpha`).
    fn growth(&mut self, delay: u64, longest: u64) -> u64 {
        let low = longest / 100;
        if delay <= low {
            if !self.was_above {
                return MAX_ALPHA;
            }
            self.low_rounds += 1;
            if self.low_rounds < PATIENCE {
                return self.alpha;
            }
            (self.low_rounds, self.was_above) = (0, false);
            return MAX_ALPHA;
        }
        self.was_above = true;
        let (delay, longest) = (delay - low, longest - low);
        longest * MAX_ALPHA / (longest + delay * (MAX_ALPHA - MIN_ALPHA) / MIN_ALPHA)
    }
}

/// The share that a loss takes, in 64ths: linear between a tenth and eight tenths of the longest
/// delay (`beta`).
const fn reduction(delay: u64, longest: u64) -> u64 {
    let (low, high) = (longest / 10, 8 * longest / 10);
    if delay <= low {
        return MIN_BETA;
    }
    if delay >= high || high <= low {
        return MAX_BETA;
    }
    (MIN_BETA * high + (MAX_BETA - MIN_BETA) * delay - MAX_BETA * low) / (high - low)
}

impl Rule for Illinois {
    fn observe(&mut self, ack: &Ack, windows: &mut Windows) {
        self.nxt = ack.nxt;
        let una = self.una.replace(ack.una);
        self.covered = una.map_or(ack.delivered, |una| ack.una - una);
        if let Some(rtt) = ack.rtt {
            let rtt = (rtt.as_nanos() / 1000).min(MAX_RTT_US);
            self.base = self.base.min(rtt);
            self.longest = self.longest.max(rtt);
            self.sum += rtt;
            self.samples += 1;
        }
        if ack.repairing == Repairing::Nothing && ack.una > self.round_ends {
            self.adjust(windows);
            self.begin_round();
        }
    }

    /// An acknowledgment that ends a repair covers everything SACKed in it (`pkts_acked`).
    fn grow(&mut self, _acked: u64, windows: &Windows) -> u64 {
        self.acked += core::mem::replace(&mut self.covered, windows.mss);
        let delta = self.acked * self.alpha / ALPHA_UNIT;
        if delta < windows.cwnd {
            return 0;
        }
        self.acked = 0;
        delta / windows.cwnd * windows.mss
    }

    fn threshold(&mut self, base: u64, windows: &Windows) -> u64 {
        self.acked = 0;
        let segments = base / windows.mss;
        (segments - segments * self.beta / BETA_UNIT).max(2) * windows.mss
    }

    /// Resets growth and reduction (`tcp_illinois_state`).
    fn on_timeout(&mut self) {
        (self.alpha, self.beta) = (ALPHA_UNIT, MAX_BETA);
        (self.low_rounds, self.was_above) = (0, false);
        self.acked = 0;
        self.begin_round();
    }
}

#[cfg(test)]
mod tests;
