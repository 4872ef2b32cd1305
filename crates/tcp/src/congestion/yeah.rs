//! YeAH-TCP (Baiocchi, Castellani & Vacirca, "YeAH-TCP: Yet Another Highspeed TCP", PFLDnet 2007),
//! as Linux has it (`net/ipv4/tcp_yeah.c`): Scalable TCP while the queue is short, Reno while it is
//! not, and a window that drains the queue it built before that overflows.

use airtcp_units::{Duration, Instant};

use super::rule::{Rule, Start};
use super::windows::Windows;
use super::{Ack, Repairing};
use crate::config::Config;

/// Segments in the queue above which the window gives them back (`alpha`).
const MAX_QUEUE: u64 = 80;
/// Share of the base round trip that the queue's delay may have in fast mode (`phy`).
const DELAY_SHARE: u64 = 8;
/// Smallest share of the window that a loss takes (`delta`: 2^-3).
const MIN_LOSS_SHIFT: u32 = 3;
/// Slow rounds in a row from which a loss halves the window (`rho`).
const COMPETITION: u32 = 16;
/// Fast rounds after which competing flows are forgotten (`zeta`).
const ALONE: u32 = 50;
/// Acknowledged segments that bring one more in fast mode (Scalable TCP, `TCP_SCALABLE_AI_CNT`).
const SCALABLE_STEP: u64 = 100;
/// Least estimate of a competing Reno flow's window, in segments.
const MIN_RENO: u64 = 2;
/// With no more samples than this, delayed ACKs may have lengthened all of them.
const FEW_ROUND_TRIPS: u32 = 2;

/// The queue, measured once a round trip, and the mode that it asks for.
#[derive(Clone, Debug)]
pub struct Yeah {
    /// The shortest round trip of all, and of this round, in microseconds.
    base: u64,
    least: u64,
    samples: u32,
    round_ends: u64,
    una: u64,
    nxt: u64,
    is_repairing: bool,
    /// Segments in the queue at the end of the last round (`lastQ`).
    queue: u64,
    /// Rounds in a row in slow mode (`doing_reno_now`), and in fast mode (`fast_count`).
    slow_rounds: u32,
    fast_rounds: u32,
    /// Estimate of the window of a competing Reno flow, in segments (`reno_count`).
    reno: u64,
    /// Bytes acknowledged since the window last grew.
    acked: u64,
}

impl Start for Yeah {
    fn start(_config: &Config, _windows: &Windows) -> Self {
        Self {
            base: u64::MAX,
            least: u64::MAX,
            samples: 0,
            round_ends: 0,
            una: 0,
            nxt: 0,
            is_repairing: false,
            queue: 0,
            slow_rounds: 0,
            fast_rounds: 0,
            reno: MIN_RENO,
            acked: 0,
        }
    }
}

impl Yeah {
    fn begin_round(&mut self) {
        (self.least, self.samples) = (u64::MAX, 0);
        self.round_ends = self.nxt;
    }

    /// Chooses the mode by the round that ends, and gives back a queue that is too long.
    fn choose_mode(&mut self, windows: &mut Windows) {
        let segments = windows.cwnd / windows.mss;
        let delay = self.least - self.base;
        self.queue = segments * delay / self.least.max(1);
        if self.queue <= MAX_QUEUE && delay <= self.base / DELAY_SHARE {
            self.fast_rounds += 1;
            if self.fast_rounds > ALONE {
                (self.reno, self.fast_rounds) = (MIN_RENO, 0);
            }
            self.slow_rounds = 0;
            return;
        }
        if self.queue > MAX_QUEUE && segments > self.reno {
            let left = (segments - self.queue.min(segments / 2)).max(self.reno);
            windows.cwnd = left * windows.mss;
            windows.ssthresh = windows.cwnd;
        }
        self.reno = if self.reno <= MIN_RENO {
            (windows.cwnd / windows.mss / 2).max(MIN_RENO)
        } else {
            self.reno + 1
        };
        self.slow_rounds = self.slow_rounds.saturating_add(1);
    }
}

impl Rule for Yeah {
    fn observe(&mut self, ack: &Ack, _windows: &mut Windows) {
        (self.una, self.nxt) = (ack.una, ack.nxt);
        if let Some(rtt) = ack.rtt {
            let rtt = rtt.as_nanos() / 1000 + 1;
            self.base = self.base.min(rtt);
            self.least = self.least.min(rtt);
            self.samples += 1;
        }
        let was_repairing = self.is_repairing;
        self.is_repairing = ack.repairing != Repairing::Nothing;
        if was_repairing && !self.is_repairing {
            self.begin_round();
        }
    }

    fn grow(&mut self, acked: u64, windows: &Windows) -> u64 {
        let step = if self.slow_rounds == 0 {
            windows.cwnd.min(SCALABLE_STEP * windows.mss)
        } else {
            windows.cwnd
        };
        // Credit from a larger window counts once (`tcp_cong_avoid_ai`).
        let mut grown = 0;
        if self.acked >= step {
            (self.acked, grown) = (0, 1);
        }
        self.acked += acked;
        grown += self.acked / step;
        self.acked %= step;
        grown * windows.mss
    }

    fn after_growth(&mut self, windows: &mut Windows) {
        if self.una > self.round_ends {
            if self.samples > FEW_ROUND_TRIPS {
                self.choose_mode(windows);
            }
            self.begin_round();
        }
    }

    fn threshold(&mut self, base: u64, windows: &Windows) -> u64 {
        self.acked = 0;
        let segments = base / windows.mss;
        let half = (segments / 2).max(2);
        let taken = if self.slow_rounds < COMPETITION {
            self.queue.min(half).max(segments >> MIN_LOSS_SHIFT)
        } else {
            half
        };
        self.fast_rounds = 0;
        self.reno = (self.reno / 2).max(MIN_RENO);
        segments.saturating_sub(taken).max(2) * windows.mss
    }

    fn on_timeout(&mut self) {
        self.acked = 0;
    }

    /// After a pause the path may be another (`tcp_vegas_cwnd_event`).
    fn on_idle_over(&mut self, _now: Instant, _idle: Duration) {
        self.base = u64::MAX;
        self.begin_round();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    fn at(segments: u64) -> (Yeah, Windows) {
        let windows = Windows {
            mss: MSS,
            cwnd: segments * MSS,
            ssthresh: MSS,
            max: u64::MAX,
        };
        (Yeah::start(&Config::default(), &windows), windows)
    }

    /// Ends a round with this shortest round trip over a base of 100 ms.
    fn round(rule: &mut Yeah, windows: &mut Windows, least_ms: u64) {
        (rule.base, rule.least, rule.samples) = (100_000, least_ms * 1000, 3);
        (rule.una, rule.round_ends) = (1, 0);
        rule.after_growth(windows);
    }

    /// Scalable TCP in fast mode: one segment for each hundred, or each window below that; in slow
    /// mode one for each window.
    #[test]
    fn the_mode_decides_how_fast_it_grows() {
        for (window, least, segments) in [(400, 110, 100), (50, 100, 50), (400, 120, 400)] {
            let (mut rule, mut windows) = at(window);
            round(&mut rule, &mut windows, least);
            assert_eq!(rule.grow((segments - 1) * MSS, &windows), 0, "{window}");
            assert_eq!(rule.grow(MSS, &windows), MSS, "{window}");
        }
    }

    /// §2: the queue of a window of 400 at 140 of 100 ms is 400 x 40/140 = 114 segments, above 80,
    /// and given back; at 120 ms it is 66, and only the mode is slow.
    #[test]
    fn a_long_queue_is_given_back() {
        let (mut rule, mut windows) = at(400);
        round(&mut rule, &mut windows, 140);
        assert_eq!((rule.queue, windows.cwnd / MSS), (114, 286));
        assert_eq!(rule.reno, 143);
        let (mut rule, mut windows) = at(400);
        round(&mut rule, &mut windows, 120);
        assert_eq!((rule.queue, windows.cwnd / MSS, rule.reno), (66, 400, 200));
    }

    /// A loss takes the queue, at least an eighth and at most half of the window; half after
    /// sixteen slow rounds, as others compete for the link.
    #[test]
    fn a_loss_takes_the_queue() {
        for (least, rounds, left) in [(101, 1, 350), (120, 1, 334), (120, 15, 334), (120, 16, 200)]
        {
            let (mut rule, mut windows) = at(400);
            for _ in 0..rounds {
                round(&mut rule, &mut windows, least);
            }
            let threshold = rule.threshold(400 * MSS, &windows);
            assert_eq!(threshold / MSS, left, "{least} ms, {rounds}");
        }
    }

    /// Fifty fast rounds forget the competing flows.
    #[test]
    fn competition_is_forgotten() {
        let (mut rule, mut windows) = at(400);
        round(&mut rule, &mut windows, 120);
        for _ in 0..50 {
            round(&mut rule, &mut windows, 101);
        }
        assert_eq!(rule.reno, 200);
        round(&mut rule, &mut windows, 101);
        assert_eq!(rule.reno, MIN_RENO);
    }
}
