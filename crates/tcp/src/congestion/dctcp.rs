//! Data Center TCP (RFC 8257; Alizadeh et al., "Data Center TCP", SIGCOMM 2010), as Linux has it
//! (`net/ipv4/tcp_dctcp.c`): Reno that reduces its window in proportion to the share of its data
//! that was marked. A receiver with this control echoes each mark.

use super::rule::{Rule, Start};
use super::windows::Windows;
use super::{Ack, reno::Reno};
use crate::config::Config;

/// Fixed-point unit of the average share: 1.
const UNIT: u64 = 1024;
/// Weight of the newest round, as a shift (RFC 8257 §3.3: g = 1/16).
const GAIN_SHIFT: u32 = 4;

/// The average share of data that was marked.
#[derive(Clone, Debug)]
pub struct Dctcp {
    reno: Reno,
    /// In 1024ths.
    alpha: u64,
    /// Bytes of this round: delivered, and of those marked.
    delivered: u64,
    marked: u64,
    round_ends: u64,
}

impl Start for Dctcp {
    /// The average begins at 1: the first mark halves the window (RFC 8257 §3.3).
    fn start(_config: &Config, _windows: &Windows) -> Self {
        Self {
            reno: Reno::default(),
            alpha: UNIT,
            delivered: 0,
            marked: 0,
            round_ends: 0,
        }
    }
}

impl Dctcp {
    /// alpha = (1 − g) alpha + g M (RFC 8257 §3.3, step 6), in integers; less than g is nothing.
    fn average(&mut self) {
        let decay = match self.alpha >> GAIN_SHIFT {
            0 => self.alpha,
            decay => decay,
        };
        let share = self.marked * (UNIT >> GAIN_SHIFT) / self.delivered.max(1);
        self.alpha = (self.alpha - decay + share).min(UNIT);
    }
}

impl Rule for Dctcp {
    fn observe(&mut self, ack: &Ack, _windows: &mut Windows) {
        self.delivered += ack.delivered;
        self.marked += ack.marked;
        if ack.una >= self.round_ends {
            self.average();
            (self.delivered, self.marked) = (0, 0);
            self.round_ends = ack.nxt;
        }
    }

    fn grow(&mut self, acked: u64, windows: &Windows) -> u64 {
        self.reno.grow(acked, windows)
    }

    /// A loss is answered as by Reno (RFC 8257 §3.5).
    fn threshold(&mut self, base: u64, windows: &Windows) -> u64 {
        self.reno.threshold(base, windows)
    }

    /// cwnd (1 − alpha/2) (RFC 8257 §3.3, step 9).
    fn threshold_for_mark(&mut self, base: u64, windows: &Windows) -> u64 {
        self.reno = Reno::default();
        let segments = base / windows.mss;
        (segments - segments * self.alpha / (2 * UNIT)).max(2) * windows.mss
    }

    fn on_timeout(&mut self) {
        self.reno.on_timeout();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    fn at(segments: u64) -> (Dctcp, Windows) {
        let windows = Windows {
            mss: MSS,
            cwnd: segments * MSS,
            ssthresh: MSS,
            max: u64::MAX,
        };
        (Dctcp::start(&Config::default(), &windows), windows)
    }

    /// RFC 8257 §3.3: alpha starts at 1, so that the first mark halves; with nothing marked it
    /// decays by a sixteenth a round, 1024 x (15/16)^16 = 364 but for what integers cut off, and
    /// with a quarter marked it stays at a quarter.
    #[test]
    fn the_average_follows_the_share_of_marks() {
        let (mut rule, windows) = at(100);
        assert_eq!(rule.threshold_for_mark(100 * MSS, &windows), 50 * MSS);
        for _ in 0..16 {
            (rule.delivered, rule.marked) = (100 * MSS, 0);
            rule.average();
        }
        let exact = 1024.0 * (15.0_f64 / 16.0).powi(16);
        assert!(
            (rule.alpha as f64 - exact).abs() < 16.0,
            "{} {exact}",
            rule.alpha
        );
        for _ in 0..100 {
            (rule.delivered, rule.marked) = (100 * MSS, 25 * MSS);
            rule.average();
        }
        assert!((250..=271).contains(&rule.alpha), "{}", rule.alpha);
        let left = rule.threshold_for_mark(100 * MSS, &windows) / MSS;
        assert!(
            (87..=88).contains(&left),
            "100 (1 - 0.25/2) is 87.5: {left}"
        );
        assert_eq!(rule.threshold(100 * MSS, &windows), 50 * MSS, "a loss");
    }

    /// Below a sixteenth of the unit nothing is left, rather than staying for ever.
    #[test]
    fn the_average_reaches_zero() {
        let (mut rule, _) = at(100);
        rule.alpha = 15;
        rule.average();
        assert_eq!(rule.alpha, 0);
    }
}
