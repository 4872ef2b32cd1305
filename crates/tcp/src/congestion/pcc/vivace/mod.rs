//! PCC Vivace (Dong, Meng, Zarchy, Arslan, Gilad, Godfrey & Schapira, "PCC Vivace: Online-Learning
//! Congestion Control", NSDI 2018; the authors' code, PCC-Uspace, branch NSDI-2018): the rate
//! climbs the gradient of a utility that two monitor intervals measure, a little above and a little
//! below it.
//!
//! The losses that the start forgives, the second look at losses that fall with the rate, and the
//! response to a timeout are the code's. Its coefficient of 1 for losses up to 3 % is in no
//! equation of the paper, and a setting; its equal loss rates for probes with less than 1 % are
//! left out.

mod step;

use airtcp_units::{BitRate, Duration, Instant};

use self::step::Steps;
use super::interval::Measured;
use super::sender::Learner;
use super::utility::Utility;
use super::{PROBE_STEP, bit_rate, bytes_at, megabits, probe, toss};
use crate::config::Config;
use crate::congestion::windows::Windows;

/// A trend of round trips below this is noise.
const FLAT: f64 = 0.01;
/// Segments whose loss does not end the start (`loss_ignore_count`).
const FORGIVEN_SEGMENTS: u64 = 50;
/// Loss rate from which losses that fall with the rate are measured once more, and by how many
/// segments they fall (`double_check`).
const SUSPECT_LOSS: f64 = 0.05;
const SUSPECT_SEGMENTS: u64 = 2;
/// The window, in smoothed round trips of data: the pace is the limit, not the window.
const WINDOW_ROUND_TRIPS: u64 = 4;

/// Where the rate moves.
#[derive(Clone, Debug)]
enum Phase {
    /// Doubles while the utility grows; its last value, and the bytes whose loss is still forgiven.
    Starting { last: Option<f64>, forgiven: u64 },
    /// Probes above and below the rate.
    Learning(Probes),
}

/// Two probes of the same rate.
#[derive(Clone, Debug, Default)]
struct Probes {
    begun: u8,
    first: Option<Measured>,
}

/// The phase, and the memory of the steps.
#[derive(Clone, Debug)]
pub struct Vivace {
    utility: Utility,
    phase: Phase,
    steps: Steps,
    /// Whether the faster of the next two probes is first.
    faster_first: bool,
    /// Whether losses that fall with the rate have been measured once more.
    checked: bool,
}

impl Vivace {
    fn value(&self, measured: &Measured, forgiven: u64) -> f64 {
        let slope = measured.round_trips.slope();
        let gradient = if slope.abs() < FLAT { 0.0 } else { slope };
        self.utility
            .of(measured, gradient, measured.loss_rate(forgiven))
    }

    /// The rate after a pair of probes.
    fn moved(&mut self, faster: &Measured, slower: &Measured, rate: BitRate, mss: u64) -> BitRate {
        if faster.application_limited || slower.application_limited {
            return rate;
        }
        let difference = self.value(faster, 0) - self.value(slower, 0);
        if difference > 0.0 && is_suspect(faster, slower, mss) && !self.checked {
            self.checked = true;
            return rate;
        }
        self.checked = false;
        let now = megabits(rate);
        let gradient = difference / (2.0 * PROBE_STEP * now);
        bit_rate(now + self.steps.next(gradient, now))
    }
}

/// Whether more was lost of the slower probe, at many losses: rather chance than a path that loses
/// less of more data.
#[expect(clippy::cast_precision_loss, reason = "windows are far below 2^53")]
fn is_suspect(faster: &Measured, slower: &Measured, mss: u64) -> bool {
    let lost = (faster.lost + slower.lost) as f64;
    let sent = (faster.sent + slower.sent) as f64;
    faster.lost > 0
        && slower.lost > faster.lost + SUSPECT_SEGMENTS * mss
        && lost >= SUSPECT_LOSS * sent
}

impl Learner for Vivace {
    fn new(config: &Config, windows: &Windows) -> Self {
        Self {
            utility: Utility::new(config),
            phase: Phase::Starting {
                last: None,
                forgiven: FORGIVEN_SEGMENTS * windows.mss,
            },
            steps: Steps::default(),
            faster_first: false,
            checked: false,
        }
    }

    fn choose(&mut self, now: Instant, rate: BitRate, measuring: usize) -> (BitRate, bool) {
        match &mut self.phase {
            Phase::Starting { .. } => (rate, measuring == 0),
            Phase::Learning(probes) if probes.begun < 2 => {
                if probes.begun == 0 {
                    self.faster_first = toss(now);
                }
                let faster = self.faster_first == (probes.begun == 0);
                probes.begun += 1;
                (probe(rate, faster), true)
            }
            Phase::Learning(_) => (rate, false),
        }
    }

    fn learn(&mut self, measured: Measured, rate: BitRate, mss: u64) -> Option<BitRate> {
        match &mut self.phase {
            Phase::Starting { last, forgiven } => {
                if measured.application_limited {
                    return Some(rate);
                }
                let (last, forgives) = (*last, *forgiven);
                *forgiven = forgives.saturating_sub(measured.lost);
                let value = self.value(&measured, forgives);
                if last.is_none_or(|last| value > last) {
                    if let Phase::Starting { last, .. } = &mut self.phase {
                        *last = Some(value);
                    }
                    return Some(bit_rate(megabits(rate) * 2.0));
                }
                self.phase = Phase::Learning(Probes::default());
                Some(bit_rate(megabits(rate) / 2.0))
            }
            Phase::Learning(probes) => {
                let Some(first) = probes.first.take() else {
                    probes.first = Some(measured);
                    return None;
                };
                *probes = Probes::default();
                let (faster, slower) = if self.faster_first {
                    (first, measured)
                } else {
                    (measured, first)
                };
                Some(self.moved(&faster, &slower, rate, mss))
            }
        }
    }

    fn forget(&mut self) {
        if let Phase::Learning(probes) = &mut self.phase {
            *probes = Probes::default();
        }
    }

    fn on_timeout(&mut self) {
        self.phase = Phase::Learning(Probes::default());
    }

    fn window(&self, rate: BitRate, srtt: Duration, _minimum: Duration) -> u64 {
        bytes_at(rate, srtt).saturating_mul(WINDOW_ROUND_TRIPS)
    }
}

#[cfg(test)]
mod tests;
