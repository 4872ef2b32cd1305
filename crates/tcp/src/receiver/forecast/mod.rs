//! Sprout's receiver (K. Winstein, A. Sivaraman, H. Balakrishnan, "Stochastic forecasts achieve
//! high throughput and low delay over cellular networks", NSDI 2013): it counts arrivals in ticks
//! of 20 ms, infers the path's rate from them, and forecasts how many segments the path will
//! deliver in the next eight ticks. Acknowledgments carry the forecast.
//!
//! The authors' packets name the time until the next one, so that their sender's silence is no
//! outage (§3.2). A TCP sender's window is used up by nearly every segment, so that here each
//! arrival excuses the silence of a heartbeat of theirs, or of a round trip if that is longer.

mod deliveries;
mod rates;

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::array;

use airtcp_packet::Forecast;
use airtcp_units::{Duration, Instant};

use crate::config::{Forecasting, SproutConfig};
use deliveries::Deliveries;
use rates::{MOST, Motion, RATES, arrivals, normalize};

/// Length of a tick.
const TICK: Duration = Duration::from_millis(20);
/// The heartbeat of the authors' sender (`sproutbt2.cc`, `fallback_interval`).
const HEARTBEAT: Duration = Duration::from_millis(50);
/// Weight of a tick in the average of Sprout-EWMA (the authors' variant of `receiver.cc`).
const GAIN: f64 = 1.0 / 8.0;
/// Ticks of silence after which more of them change nothing: the rate is zero.
const MAX_SILENT: u64 = 256;

/// Knowledge of the path's rate.
#[derive(Clone, Debug)]
enum Knowledge {
    /// Its distribution.
    Distribution(Box<Inference>),
    /// Its average, in segments a tick.
    Average(f64),
}

/// The distribution of the rate, and the tables that move it and read a forecast off it.
#[derive(Clone, Debug)]
struct Inference {
    motion: Motion,
    arrivals: Vec<[f64; MOST + 1]>,
    deliveries: Deliveries,
    risk: f64,
    probabilities: Vec<f64>,
}

impl Inference {
    fn new(noise: f64, escape: f64, risk: f64) -> Self {
        let motion = Motion::new(noise, escape);
        let arrivals = arrivals();
        let mut probabilities = vec![1.0; RATES];
        normalize(&mut probabilities);
        Self {
            deliveries: Deliveries::new(&motion, &arrivals),
            motion,
            arrivals,
            risk,
            probabilities,
        }
    }

    /// Lets a tick pass, in which that many segments arrived, if their number counts.
    fn pass(&mut self, observed: Option<usize>) {
        let mut moved = self.motion.after(&self.probabilities);
        normalize(&mut moved);
        self.probabilities.clone_from(&moved);
        let Some(count) = observed else {
            return;
        };
        for (probability, of_rate) in moved.iter_mut().zip(&self.arrivals) {
            *probability *= of_rate[count.min(MOST)];
        }
        // Nothing is left of rates that make such a number all but impossible.
        if moved.iter().any(|probability| *probability > 0.0) {
            normalize(&mut moved);
            self.probabilities = moved;
        }
    }
}

impl Knowledge {
    fn new(config: &SproutConfig) -> Self {
        match config.forecasting {
            Forecasting::Inference {
                noise,
                escape,
                risk,
            } => Self::Distribution(Box::new(Inference::new(noise, escape, risk))),
            Forecasting::MovingAverage => Self::Average(0.0),
        }
    }

    /// Lets a tick pass with `segments` arrived; `excused`: a tick without any does not count.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "saturates; no number of segments is negative"
    )]
    fn pass(&mut self, segments: f64, excused: bool) {
        let counts = segments > 0.0 || !excused;
        match self {
            Self::Distribution(inference) => {
                // Less than a segment is one.
                let whole = libm::round(segments) as usize;
                let count = whole.max(usize::from(segments > 0.0));
                inference.pass(counts.then_some(count));
            }
            Self::Average(average) if counts => *average += GAIN * (segments - *average),
            Self::Average(_) => {}
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "saturates; no average is negative, and there are eight ticks"
    )]
    fn forecast(&self) -> Forecast {
        match self {
            Self::Distribution(inference) => inference
                .deliveries
                .forecast(&inference.probabilities, inference.risk),
            Self::Average(average) => {
                let total = |tick: usize| (average * (tick + 1) as f64) as u32;
                Forecast::of_totals(array::from_fn(total))
            }
        }
    }
}

/// The arrivals of a connection in ticks, and the forecast.
#[derive(Clone, Debug)]
pub struct Forecaster {
    config: SproutConfig,
    /// The time for which an arrival excuses silence.
    excuse: Duration,
    running: Option<Running>,
}

/// The same from the first arrival on.
#[derive(Clone, Debug)]
struct Running {
    knowledge: Knowledge,
    forecast: Forecast,
    tick_began: Instant,
    excused_until: Instant,
    /// Bytes counted, and the segments of this tick.
    counted: u64,
    segments: f64,
}

impl Forecaster {
    /// The state before the first arrival.
    pub const fn new(config: SproutConfig) -> Self {
        Self {
            config,
            excuse: HEARTBEAT,
            running: None,
        }
    }

    /// Takes the round trip of the handshake.
    pub fn on_round_trip(&mut self, round_trip: Duration) {
        self.excuse = round_trip.max(HEARTBEAT);
    }

    /// The forecast at `now`, when `arrived` bytes of full segments of `segment` bytes have arrived
    /// in all.
    #[expect(
        clippy::cast_precision_loss,
        reason = "bytes of a tick, far below 2^53"
    )]
    pub fn forecast(&mut self, now: Instant, arrived: u64, segment: u32) -> Forecast {
        let running = self
            .running
            .get_or_insert_with(|| Running::new(&self.config, now));
        running.advance(now);
        let bytes = arrived.saturating_sub(running.counted);
        running.counted = running.counted.max(arrived);
        running.segments += bytes as f64 / f64::from(segment.max(1));
        if bytes > 0 {
            let until = running.tick_began + self.excuse;
            running.excused_until = running.excused_until.max(until);
        }
        running.forecast
    }
}

impl Running {
    fn new(config: &SproutConfig, now: Instant) -> Self {
        let knowledge = Knowledge::new(config);
        Self {
            forecast: knowledge.forecast(),
            knowledge,
            tick_began: now,
            excused_until: now,
            counted: 0,
            segments: 0.0,
        }
    }

    /// Ends the ticks that are over at `now`.
    fn advance(&mut self, now: Instant) {
        let mut over = (now - self.tick_began).as_nanos() / TICK.as_nanos();
        if over == 0 {
            return;
        }
        while over > 0 {
            let excused = self.tick_began < self.excused_until;
            self.knowledge.pass(self.segments, excused);
            self.segments = 0.0;
            // Silence that changes nothing is skipped.
            let skipped = (over - 1).saturating_sub(MAX_SILENT);
            over -= 1 + skipped;
            let nanos = TICK.as_nanos().saturating_mul(1 + skipped);
            self.tick_began += Duration::from_nanos(nanos);
        }
        self.forecast = self.knowledge.forecast();
    }
}

#[cfg(test)]
mod tests;
