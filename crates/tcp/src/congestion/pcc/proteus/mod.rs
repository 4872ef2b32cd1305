//! PCC Proteus (Meng, Rozen Schiff, Godfrey & Schapira, "PCC Proteus: Scavenger Transport And
//! Beyond", SIGCOMM 2020; the authors' code, PCC-Uspace): a primary sender, Proteus-P, and a
//! scavenger, Proteus-S, with one rate control and another utility: the scavenger takes a deviation
//! of round trips for a competitor.
//!
//! The rate control is the code's (`pcc_vivace_sender.cpp`). The response to a timeout, which it
//! leaves open, is Vivace's.

mod noise;

use alloc::vec::Vec;

use airtcp_units::{BitRate, Duration, Instant};

use self::noise::{AckFilter, Noise};
use super::interval::Measured;
use super::sender::Learner;
use super::utility::Utility;
use super::{PROBE_STEP, bit_rate, bytes_at, megabits, probe, toss};
use crate::config::{Config, CongestionControl};
use crate::congestion::Ack;
use crate::congestion::windows::Windows;

/// The boundary of a step relative to the rate, and its increment (`kInitialMaxStepSize`,
/// `kIncrementalStepSize`).
const BOUNDARY: f64 = 0.05;
/// The smallest step, in Mbit/s (`kMinRateChange`).
const MIN_STEP: f64 = 0.5;
/// Exponent by which steps in one direction grow (`kRateChangeAmplifyExponent`).
const AMPLIFIER: f64 = 1.2;
/// Growth of the round trips in an interval of the start that does not count.
const START_TOLERANCE_NANOS: f64 = 1e6;
/// Data in flight, in minimum round trips (`FLAGS_bytes_in_flight_gain`): 2.5.
const WINDOW_HALF_ROUND_TRIPS: u64 = 5;
/// The same in smoothed round trips, on a path that fluctuates by more than its minimum.
const WINDOW_ROUND_TRIPS: u64 = 4;

/// The rate and the utility of an interval, in Mbit/s.
#[derive(Clone, Copy, Debug)]
struct Point {
    rate: f64,
    value: f64,
}

/// What the next measurement is for.
#[derive(Clone, Debug)]
enum Phase {
    /// The rate doubles while the utility grows; its last value.
    Starting(f64),
    /// Pairs of probes above and below the rate.
    /// `limited`: the application had too little to send in one of them.
    Probing {
        begun: usize,
        points: Vec<Point>,
        limited: bool,
    },
    /// Steps in a direction, as long as the utility grows along it.
    Moving {
        upwards: bool,
        rounds: u32,
        last: Point,
    },
}

impl Phase {
    const PROBING: Self = Self::Probing {
        begun: 0,
        points: Vec::new(),
        limited: false,
    };
}

/// The phase, and what counts as noise.
#[derive(Clone, Debug)]
pub struct Proteus {
    utility: Utility,
    is_scavenger: bool,
    phase: Phase,
    /// Number of increments of the boundary.
    increments: u32,
    filter: AckFilter,
    noise: Noise,
    /// Mean deviation of the round trip, in nanoseconds.
    deviation: u64,
    faster_first: bool,
}

impl Proteus {
    /// Pairs of probes for a decision (`kNumIntervalGroupsInProbing…`).
    const fn pairs(&self) -> usize {
        if self.is_scavenger { 2 } else { 3 }
    }

    /// The utility of an interval (Meng et al.).
    #[expect(clippy::cast_precision_loss, reason = "a time for a formula")]
    fn point(&mut self, measured: &Measured) -> Point {
        let counts = self.noise.judge(&measured.round_trips);
        let starting = matches!(self.phase, Phase::Starting(_));
        let slope = measured.round_trips.slope();
        let ignored = starting && slope * (measured.span.as_nanos() as f64) < START_TOLERANCE_NANOS;
        // A negative slope is no reward.
        let gradient = if counts.gradient && !ignored {
            slope.max(0.0)
        } else {
            0.0
        };
        let mut value = self.utility.of(measured, gradient, measured.loss_rate(0));
        if self.is_scavenger && counts.deviation && !starting {
            let deviation = measured.round_trips.deviation();
            value -= self.utility.of_deviation(measured, deviation);
        }
        Point {
            rate: megabits(measured.rate),
            value,
        }
    }

    /// The rate after all pairs of probes: a majority for more, or all for less; a scavenger the
    /// other way round.
    fn decided(&mut self, points: &[Point], rate: f64) -> f64 {
        let pairs = self.pairs();
        let ups = points
            .chunks_exact(2)
            .filter(|pair| is_upwards(pair))
            .count();
        let downs = pairs - ups;
        let (eager, reluctant) = if self.is_scavenger {
            (downs, ups)
        } else {
            (ups, downs)
        };
        if eager <= pairs / 2 && reluctant < pairs {
            return rate;
        }
        let upwards = ups > downs;
        let agreeing = points
            .chunks_exact(2)
            .filter(|pair| is_upwards(pair) == upwards);
        let mut difference = 0.0;
        let mut last = points[0];
        for pair in agreeing {
            difference += (pair[0].value - pair[1].value).abs();
            last = if pair[0].value > pair[1].value {
                pair[0]
            } else {
                pair[1]
            };
        }
        #[expect(clippy::cast_precision_loss, reason = "two or three")]
        let mean = difference / pairs as f64;
        let gradient = mean / (points[0].rate - points[1].rate).abs();
        let share = if upwards { PROBE_STEP } else { -PROBE_STEP };
        let probed = rate * (1.0 + share);
        self.increments = 0;
        let step = self.bounded(gradient, probed);
        self.phase = Phase::Moving {
            upwards,
            rounds: 1,
            last,
        };
        if upwards {
            probed + step
        } else {
            probed - step
        }
    }

    /// The rate after a step: another one, or back to probing.
    fn stepped(&mut self, point: Point, rate: f64) -> f64 {
        let Phase::Moving {
            upwards,
            rounds,
            last,
        } = self.phase
        else {
            return rate;
        };
        let (rates, values) = (point.rate - last.rate, point.value - last.value);
        let gradient = if rates == 0.0 { 0.0 } else { values / rates };
        let goes_on = if upwards {
            gradient > 0.0
        } else {
            gradient < 0.0
        };
        if !goes_on {
            self.phase = Phase::PROBING;
            let step = self.bounded(gradient.abs(), rate);
            return if upwards { rate - step } else { rate + step };
        }
        let rounds = rounds.saturating_add(1);
        let amplifier = libm::pow(f64::from(u32::midpoint(rounds, 1)), AMPLIFIER);
        let step = self.bounded(gradient.abs() * amplifier, rate);
        self.phase = Phase::Moving {
            upwards,
            rounds,
            last: point,
        };
        if upwards { rate + step } else { rate - step }
    }

    /// `step`, within the boundary, which grows with each step beyond it.
    fn bounded(&mut self, step: f64, rate: f64) -> f64 {
        let boundary = rate * BOUNDARY * (1.0 + f64::from(self.increments));
        if step > boundary {
            self.increments = self.increments.saturating_add(1);
            return boundary;
        }
        self.increments = self.increments.saturating_sub(1);
        step.max(MIN_STEP.min(boundary))
    }
}

/// Whether the faster one of two probes has more utility.
fn is_upwards(pair: &[Point]) -> bool {
    (pair[0].value > pair[1].value) == (pair[0].rate > pair[1].rate)
}

impl Learner for Proteus {
    fn new(config: &Config, _windows: &Windows) -> Self {
        Self {
            utility: Utility::new(config),
            is_scavenger: config.congestion == CongestionControl::ProteusS,
            phase: Phase::Starting(0.0),
            increments: 0,
            filter: AckFilter::default(),
            noise: Noise::default(),
            deviation: 0,
            faster_first: false,
        }
    }

    fn is_reliable(&mut self, ack: &Ack) -> bool {
        if let Some(rtt) = ack.rtt {
            let off = rtt.as_nanos().abs_diff(ack.srtt.as_nanos());
            self.deviation = self.deviation / 4 * 3 + off / 4;
        }
        self.filter.is_reliable(ack)
    }

    fn choose(&mut self, now: Instant, rate: BitRate, measuring: usize) -> (BitRate, bool) {
        let most = 2 * self.pairs();
        match &mut self.phase {
            Phase::Probing { begun, .. } if *begun < most => {
                if *begun % 2 == 0 {
                    self.faster_first = toss(now);
                }
                let faster = self.faster_first == (*begun % 2 == 0);
                *begun += 1;
                (probe(rate, faster), true)
            }
            Phase::Probing { .. } => (rate, false),
            Phase::Starting(_) | Phase::Moving { .. } => (rate, measuring == 0),
        }
    }

    fn learn(&mut self, measured: Measured, rate: BitRate, _mss: u64) -> Option<BitRate> {
        let limited = measured.application_limited;
        let point = self.point(&measured);
        let most = 2 * self.pairs();
        let now = megabits(rate);
        match &mut self.phase {
            // A pause of the application is no measurement.
            Phase::Starting(_) | Phase::Moving { .. } if limited => Some(rate),
            Phase::Starting(last) => {
                if point.value > *last {
                    *last = point.value;
                    return Some(bit_rate(now * 2.0));
                }
                self.phase = Phase::PROBING;
                Some(bit_rate(now / 2.0))
            }
            Phase::Probing {
                points,
                limited: any,
                ..
            } => {
                points.push(point);
                *any |= limited;
                if points.len() < most {
                    return None;
                }
                let (points, any) = (core::mem::take(points), *any);
                self.phase = Phase::PROBING;
                if any {
                    return Some(rate);
                }
                Some(bit_rate(self.decided(&points, now)))
            }
            Phase::Moving { .. } => Some(bit_rate(self.stepped(point, now))),
        }
    }

    fn forget(&mut self) {
        if let Phase::Probing { .. } = self.phase {
            self.phase = Phase::PROBING;
        }
    }

    fn on_timeout(&mut self) {
        self.phase = Phase::PROBING;
    }

    fn window(&self, rate: BitRate, srtt: Duration, minimum: Duration) -> u64 {
        if minimum.as_nanos() < self.deviation {
            return bytes_at(rate, srtt).saturating_mul(WINDOW_ROUND_TRIPS);
        }
        bytes_at(rate, minimum).saturating_mul(WINDOW_HALF_ROUND_TRIPS) / 2
    }
}

#[cfg(test)]
mod tests;
