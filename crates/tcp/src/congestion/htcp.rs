//! H-TCP (Shorten & Leith, "H-TCP: TCP for high-speed and long-distance networks", PFLDnet 2004;
//! draft-leith-tcp-htcp), as Linux has it (`net/ipv4/tcp_htcp.c`): the window grows the faster the
//! longer ago its last loss is, and a loss leaves the share of it that keeps the link full.

use airtcp_units::{Duration, Instant};

use super::rule::{Rule, Start};
use super::windows::Windows;
use super::{Ack, Repairing};
use crate::config::Config;

/// Linux counts time in ticks; most distributions build 250 a second.
const TICKS_PER_SECOND: u64 = 250;
const NANOS_PER_TICK: u64 = 1_000_000_000 / TICKS_PER_SECOND;
/// Fixed-point unit of growth and of the share kept: 1.
const UNIT: u64 = 128;
/// The share of the window that a loss leaves (draft §3.2): 0.5 to 0.8.
const MIN_BETA: u64 = 64;
const MAX_BETA: u64 = 102;
/// Round trips up to 10 ms always halve; the longest rises by at most 20 ms at a time, in ticks.
const SHORT_RTT: u64 = 3;
const MAX_RISE: u64 = 5;
/// Seconds without a loss before the window grows faster than Reno's (Δ_L, draft §3.1).
const LOW_SPEED_TICKS: u64 = TICKS_PER_SECOND;

/// Time since the last loss, round trips, and the throughput before the last losses.
#[derive(Clone, Debug)]
pub struct HTcp {
    /// Segments per round trip, and the share that a loss leaves, in 128ths.
    alpha: u64,
    beta: u64,
    /// Whether the share follows round trips: not at the first loss, nor where throughput changed.
    adapts: bool,
    /// The shortest and the longest round trip, in ticks; 0 before the first.
    least_rtt: u64,
    longest_rtt: u64,
    /// The tick of the last loss's end, and the values before it until it has ended.
    lossless_since: u64,
    saved: Option<Saved>,
    now: u64,
    una: u64,
    /// Segments that the last acknowledgment covers, and those counted towards growth.
    newly_acked: u64,
    counted: u64,
    /// The throughput measurement: segments since a tick, in segments a second smoothed, its
    /// maximum since the last loss, and that before it.
    measured: u64,
    measured_since: u64,
    rate: u64,
    max_rate: u64,
    max_rate_before: u64,
}

/// The window that a needless reduction gives back.
#[derive(Clone, Copy, Debug)]
struct Saved {
    lossless_since: u64,
    longest_rtt: u64,
    max_rate_before: u64,
}

impl Start for HTcp {
    fn start(_config: &Config, _windows: &Windows) -> Self {
        Self {
            alpha: UNIT,
            beta: MIN_BETA,
            adapts: false,
            least_rtt: 0,
            longest_rtt: 0,
            lossless_since: 0,
            saved: None,
            now: 0,
            una: 0,
            newly_acked: 1,
            counted: 0,
            measured: 0,
            measured_since: 0,
            rate: 0,
            max_rate: 0,
            max_rate_before: 0,
        }
    }
}

const fn ticks_at(now: Instant) -> u64 {
    now.as_nanos() / NANOS_PER_TICK
}

impl HTcp {
    fn take_rtt(&mut self, rtt: Duration, is_open: bool) {
        let rtt = rtt.as_nanos().div_ceil(NANOS_PER_TICK);
        if self.least_rtt == 0 || rtt < self.least_rtt {
            self.least_rtt = rtt;
        }
        if is_open {
            self.longest_rtt = self.longest_rtt.max(self.least_rtt);
            if rtt > self.longest_rtt && rtt <= self.longest_rtt + MAX_RISE {
                self.longest_rtt = rtt;
            }
        }
    }

    /// Measures the throughput over a window and a round trip (`measure_achieved_throughput`).
    fn measure(&mut self, acked: u64, cwnd_segments: u64) {
        self.measured += acked;
        let span = self.now - self.measured_since;
        let enough = cwnd_segments
            .checked_sub((self.alpha / UNIT).max(1))
            .is_some_and(|enough| self.measured >= enough);
        if !enough || self.least_rtt == 0 || span < self.least_rtt {
            return;
        }
        let rate = self.measured * TICKS_PER_SECOND / span;
        if (self.now - self.lossless_since) / self.least_rtt <= 3 {
            (self.rate, self.max_rate) = (rate, rate);
        } else {
            self.rate = (3 * self.rate + rate) / 4;
            self.max_rate = self.max_rate.max(self.rate);
        }
        (self.measured, self.measured_since) = (0, self.now);
    }

    /// Draft §3.2: half where the throughput before this loss and the one before differ by more
    /// than a fifth, otherwise the shortest round trip over the longest.
    fn update_beta(&mut self) {
        let before = core::mem::replace(&mut self.max_rate_before, self.max_rate);
        self.beta = MIN_BETA;
        if !(4 * before..=6 * before).contains(&(5 * self.max_rate)) {
            self.adapts = false;
        } else if self.adapts && self.least_rtt > SHORT_RTT && self.longest_rtt > 0 {
            self.beta = (self.least_rtt * UNIT / self.longest_rtt).clamp(MIN_BETA, MAX_BETA);
        } else {
            self.adapts = true;
        }
    }

    /// Draft §3.1: α(Δ) = 1 + 10 (Δ − Δ_L) + ((Δ − Δ_L)/2)², scaled by the round trip over 100 ms
    /// within bounds, times 2 (1 − β).
    fn update_alpha(&mut self) {
        let since = (self.now - self.lossless_since).saturating_sub(LOW_SPEED_TICKS);
        let half = since / 2;
        let mut factor = 1 + (10 * since + half * half / TICKS_PER_SECOND) / TICKS_PER_SECOND;
        if let Some(scale) = (8 * TICKS_PER_SECOND).checked_div(10 * self.least_rtt) {
            factor = (8 * factor / scale.clamp(4, 80)).max(1);
        }
        self.alpha = 2 * factor * (UNIT - self.beta);
    }

    const fn begin_reduction(&mut self) {
        self.saved = Some(Saved {
            lossless_since: self.lossless_since,
            longest_rtt: self.longest_rtt,
            max_rate_before: self.max_rate_before,
        });
        self.lossless_since = self.now;
    }
}

impl Rule for HTcp {
    fn observe(&mut self, ack: &Ack, windows: &mut Windows) {
        self.now = ticks_at(ack.now);
        let acked = (ack.una - self.una).div_ceil(windows.mss);
        self.una = ack.una;
        let is_open = ack.repairing == Repairing::Nothing;
        if is_open {
            self.newly_acked = acked;
            if self.saved.take().is_some() {
                self.lossless_since = self.now;
            }
        }
        if let Some(rtt) = ack.rtt {
            self.take_rtt(rtt, is_open);
        }
        if is_open {
            self.measure(acked, windows.cwnd / windows.mss);
        } else {
            (self.measured, self.measured_since) = (0, self.now);
        }
    }

    fn grow(&mut self, _acked: u64, windows: &Windows) -> u64 {
        let newly_acked = core::mem::replace(&mut self.newly_acked, 1);
        if self.counted * self.alpha / UNIT >= windows.cwnd / windows.mss {
            self.counted = 0;
            self.update_alpha();
            return windows.mss;
        }
        self.counted += newly_acked;
        0
    }

    fn threshold(&mut self, base: u64, windows: &Windows) -> u64 {
        self.counted = 0;
        self.update_beta();
        self.update_alpha();
        // The longest round trip fades, as routes change.
        if self.least_rtt > 0 && self.longest_rtt > self.least_rtt {
            self.longest_rtt = self.least_rtt + (self.longest_rtt - self.least_rtt) * 95 / 100;
        }
        self.begin_reduction();
        (base / windows.mss * self.beta / UNIT).max(2) * windows.mss
    }

    fn on_timeout(&mut self) {
        self.counted = 0;
    }

    fn on_taken_back(&mut self) {
        if let Some(saved) = self.saved.take() {
            self.lossless_since = saved.lossless_since;
            self.longest_rtt = saved.longest_rtt;
            self.max_rate_before = saved.max_rate_before;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    fn at(segments: u64) -> (HTcp, Windows) {
        let windows = Windows {
            mss: MSS,
            cwnd: segments * MSS,
            ssthresh: MSS,
            max: u64::MAX,
        };
        (HTcp::start(&Config::default(), &windows), windows)
    }

    /// Draft §3.1 at 100 ms and β = 0.5, where scaling and 2 (1 − β) are 1: one segment for the
    /// first second, then 1 + 10 t + (t/2)² a round trip: 11.25 after one more second, 26 rounded
    /// down of 1 + 25 + 1.5625 after two and a half. At 50 ms half of it, at 500 ms or more twice.
    #[test]
    fn growth_follows_the_time_since_the_loss() {
        for (ticks_since, rtt_ticks, alpha) in [
            (0, 25, 1),
            (250, 25, 1),
            (500, 25, 11),
            (875, 25, 27),
            (500, 50, 22),
            (500, 125, 22),
            (500, 12, 5),
        ] {
            let (mut rule, _) = at(100);
            (rule.now, rule.least_rtt) = (ticks_since, rtt_ticks);
            rule.update_alpha();
            assert_eq!(
                rule.alpha / UNIT,
                alpha,
                "{ticks_since} ticks at {rtt_ticks}"
            );
        }
    }

    /// Draft §3.2: RTTmin/RTTmax within 0.5 and 0.8, once throughput is steady at two losses.
    #[test]
    fn a_loss_leaves_what_keeps_the_link_full() {
        for (longest, left) in [(30, 79), (40, 62), (100, 50), (25, 79)] {
            let (mut rule, windows) = at(100);
            (rule.least_rtt, rule.longest_rtt, rule.max_rate) = (25, longest, 500);
            assert_eq!(rule.threshold(100 * MSS, &windows) / MSS, 50, "the first");
            rule.longest_rtt = longest;
            assert_eq!(rule.threshold(100 * MSS, &windows) / MSS, 50, "the second");
            rule.longest_rtt = longest;
            assert_eq!(rule.threshold(100 * MSS, &windows) / MSS, left, "{longest}");
            rule.max_rate = 610;
            assert_eq!(
                rule.threshold(100 * MSS, &windows) / MSS,
                50,
                "throughput rose"
            );
        }
    }

    /// A window grows by a segment once as many 128ths of it are acknowledged.
    #[test]
    fn growth_counts_segments() {
        let (mut rule, windows) = at(10);
        let steps = (0..11).map(|_| {
            rule.newly_acked = 1;
            rule.grow(MSS, &windows)
        });
        assert_eq!(steps.collect::<Vec<_>>(), [vec![0; 10], vec![MSS]].concat());
    }

    /// A needless reduction leaves the time since the last loss as it was.
    #[test]
    fn a_reduction_can_be_taken_back() {
        let (mut rule, windows) = at(100);
        (rule.now, rule.lossless_since) = (1000, 300);
        rule.threshold(100 * MSS, &windows);
        assert_eq!(rule.lossless_since, 1000);
        rule.on_taken_back();
        assert_eq!(rule.lossless_since, 300);
    }
}
