//! TCP Hybla (Caini & Firrincieli, "TCP Hybla: a TCP enhancement for heterogeneous networks",
//! International Journal of Satellite Communications and Networking 22(5), 2004), as Linux has it
//! (`net/ipv4/tcp_hybla.c`): a long round trip grows its window as fast, in bytes per second, as a
//! flow of the reference round trip RTT0 would.

use airtcp_units::Duration;

use super::rule::{Rule, Start};
use super::windows::Windows;
use super::{Ack, Repairing, reno::Reno};
use crate::config::Config;

/// Fixed-point units of a segment (`snd_cwnd_cents`) and of ρ = RTT/RTT0 (`rho_3ls`).
const SEGMENT_UNIT: u64 = 128;
const RHO_UNIT: u64 = 8;
/// Largest whole part of ρ that slow start raises two to.
const MAX_EXPONENT: u64 = 16;

/// The normalized round trip, and the fraction of a segment that growth has left over.
#[derive(Clone, Debug)]
pub struct Hybla {
    reno: Reno,
    reference: Duration,
    /// ρ, in eighths; at least 1 (eq. 4).
    rho: u64,
    /// The shortest smoothed round trip so far: ρ is that of this one.
    least_srtt: Duration,
    /// Fraction of a segment, in 128ths.
    fraction: u64,
    /// Acknowledgments since the window last grew, where they bring nothing by themselves.
    acknowledgments: u64,
    /// Whether nothing is being repaired: otherwise the window is Reno's (`hybla_en`).
    is_open: bool,
}

impl Start for Hybla {
    fn start(config: &Config, _windows: &Windows) -> Self {
        Self {
            reno: Reno::default(),
            reference: config.hybla_reference_rtt,
            rho: RHO_UNIT,
            least_srtt: Duration::MAX,
            fraction: 0,
            acknowledgments: 0,
            is_open: true,
        }
    }
}

impl Hybla {
    /// Sets ρ from a smoothed round trip (`hybla_recalc_param`).
    fn normalize(&mut self, srtt: Duration) {
        self.least_srtt = srtt;
        let reference = (self.reference.as_nanos() / 1000).max(1);
        self.rho = (srtt.as_nanos() / 1000 * RHO_UNIT / reference).max(RHO_UNIT);
    }

    /// Growth per acknowledgment in slow start, in 128ths of a segment: 2^ρ − 1 (eq. 6).
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "128 to 255"
    )]
    fn slow_start_step(&self) -> u64 {
        let (whole, eighths) = (self.rho / RHO_UNIT, self.rho % RHO_UNIT);
        let fraction = libm::exp2(eighths as f64 / RHO_UNIT as f64) * SEGMENT_UNIT as f64;
        (1 << whole.min(MAX_EXPONENT)) * fraction as u64 - SEGMENT_UNIT
    }

    /// The same in congestion avoidance: ρ²/W (eq. 7).
    const fn avoidance_step(&self, segments: u64) -> u64 {
        self.rho * self.rho * SEGMENT_UNIT / (RHO_UNIT * RHO_UNIT) / segments
    }

    /// Adds `step` 128ths of a segment. Returns the whole segments.
    const fn add(&mut self, step: u64) -> u64 {
        let sum = self.fraction + step;
        self.fraction = sum % SEGMENT_UNIT;
        let whole = sum / SEGMENT_UNIT;
        if whole > 0 {
            self.acknowledgments = 0;
        }
        whole
    }
}

impl Rule for Hybla {
    /// The first window is that of the reference round trip's one segment: ρ.
    fn on_established(&mut self, rtt: Option<Duration>, windows: &mut Windows) {
        self.normalize(rtt.unwrap_or(Duration::ZERO));
        windows.cwnd = (self.rho / RHO_UNIT * windows.mss).min(windows.max);
    }

    fn observe(&mut self, ack: &Ack, _windows: &mut Windows) {
        self.is_open = ack.repairing == Repairing::Nothing;
        if ack.srtt < self.least_srtt {
            self.normalize(ack.srtt);
        }
    }

    fn slow_start(&mut self, windows: &Windows) -> Option<u64> {
        if !self.is_open {
            return None;
        }
        let whole = self.add(self.slow_start_step());
        Some((whole * windows.mss).min(windows.ssthresh - windows.cwnd))
    }

    fn grow(&mut self, acked: u64, windows: &Windows) -> u64 {
        if !self.is_open {
            return self.reno.grow(acked, windows);
        }
        let segments = (windows.cwnd / windows.mss).max(1);
        let step = self.avoidance_step(segments);
        if step < SEGMENT_UNIT {
            self.acknowledgments += 1;
        }
        let mut whole = self.add(step);
        if step == 0 && self.acknowledgments >= segments {
            self.acknowledgments = 0;
            whole += 1;
        }
        whole * windows.mss
    }

    fn threshold(&mut self, base: u64, windows: &Windows) -> u64 {
        self.acknowledgments = 0;
        self.reno.threshold(base, windows)
    }

    fn on_timeout(&mut self) {
        self.reno.on_timeout();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    fn hybla(rtt_ms: u64) -> (Hybla, Windows) {
        let mut windows = Windows {
            mss: MSS,
            cwnd: 10 * MSS,
            ssthresh: u64::MAX,
            max: u64::MAX,
        };
        let mut rule = Hybla::start(&Config::default(), &windows);
        rule.on_established(Some(Duration::from_millis(rtt_ms)), &mut windows);
        (rule, windows)
    }

    /// Eq. 4 with RTT0 = 25 ms: ρ = 600/25 = 24, 60/25 = 2.4 in eighths rounded down, at least 1.
    #[test]
    fn the_first_window_is_the_normalized_round_trip() {
        for (rtt, rho, window) in [(600, 192, 24), (60, 19, 2), (10, 8, 1)] {
            let (rule, windows) = hybla(rtt);
            assert_eq!((rule.rho, windows.cwnd / MSS), (rho, window), "{rtt} ms");
        }
    }

    /// Eq. 6: 2^ρ − 1 segments: 1 at ρ = 1, 3 at ρ = 2, 2^2.375 − 1 = 4.187 at 19 eighths.
    #[test]
    fn slow_start_is_exponential_in_the_normalized_round_trip() {
        for (rtt, step) in [(25, 128), (50, 384), (60, 532)] {
            let (rule, _) = hybla(rtt);
            let exact = (libm::exp2(rule.rho as f64 / 8.0) - 1.0) * 128.0;
            assert_eq!(rule.slow_start_step(), step, "{rtt} ms");
            assert!((exact - step as f64).abs() < 4.0, "{exact}");
        }
    }

    /// Eq. 7: at ρ = 4 a window of 100 grows by 16 segments in the 100 acknowledgments of a round
    /// trip, as far as 128ths go: 20 of 20.48 each.
    #[test]
    fn congestion_avoidance_grows_by_the_square() {
        let (mut rule, mut windows) = hybla(100);
        (windows.cwnd, windows.ssthresh) = (100 * MSS, MSS);
        let grown: u64 = (0..100).map(|_| rule.grow(2 * MSS, &windows)).sum();
        assert_eq!(grown / MSS, 100 * 20 / 128);
    }

    /// ρ follows the shortest smoothed round trip, and repairs are Reno's.
    #[test]
    fn the_shortest_round_trip_counts() {
        let (mut rule, _) = hybla(100);
        rule.normalize(Duration::from_millis(50));
        assert_eq!(rule.rho, 16);
        rule.is_open = false;
        let (_, mut windows) = hybla(100);
        windows.cwnd = 10 * MSS;
        assert_eq!(rule.slow_start(&windows), None);
        assert_eq!(rule.grow(10 * MSS, &windows), MSS);
    }
}
