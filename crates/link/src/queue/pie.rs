//! Proportional integral controller, enhanced: each arriving packet is dropped with a probability
//! that a controller derives from the queue's delay and its trend (RFC 8033).
//!
//! The controller follows Linux (`net/sched/sch_pie.c`) and takes the delay from the packet that
//! left last, in place of the RFC's departure rate.

use airtcp_units::{Duration, Instant};

use super::fifo::Fifo;
use super::{EcnField, QueueLimit};
use crate::frame::QueuedPacket;
use crate::random::Stream;

/// Delay that a queue may build up before the first random drop (RFC 8033 §4.4: 150 ms).
const MAX_BURST: Duration = Duration::from_millis(150);
/// Above this probability packets are dropped even where they could be marked (RFC 8033 §5.1).
const MAX_MARKED: f64 = 0.1;
/// The sums of probabilities below which no packet is dropped, and from which one always is (RFC
/// 8033 §5.4).
const NEVER_BELOW: f64 = 0.85;
const ALWAYS_FROM: f64 = 8.5;
/// Delay that increases the probability independently (Linux, `pie_calculate_probability`: 250 ms).
const HIGH_DELAY: Duration = Duration::from_millis(250);
/// The maximum step of the probability, and the share by which an idle queue's falls.
const LARGEST_STEP: f64 = 0.02;
const IDLE_DECAY: f64 = 1.0 / 64.0;

/// The parameters of PIE.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PieConfig {
    /// Target delay in the queue (RFC 8033 §4.2: 15 ms).
    pub target: Duration,
    /// Interval between updates of the probability (§4.2: 15 ms). Above zero.
    pub update: Duration,
    /// Weight of the distance to the target, per second (§4.2: 0.125).
    pub alpha: f64,
    /// Weight of the delay's change, per second (§4.2: 1.25).
    pub beta: f64,
    /// Packets of endpoints that understand marks are marked and not dropped, up to a probability
    /// of 10 % (§5.1).
    pub ecn: bool,
    /// Bytes of a largest packet: a queue of less than two never drops (§4.1).
    pub largest_packet: u32,
}

impl Default for PieConfig {
    fn default() -> Self {
        Self {
            target: Duration::from_millis(15),
            update: Duration::from_millis(15),
            alpha: 0.125,
            beta: 1.25,
            ecn: false,
            largest_packet: 1500,
        }
    }
}

/// The controller's memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Controller {
    pub probability: f64,
    /// Sum of the probabilities since the last drop: drops are spread by it (RFC 8033 §5.4).
    accumulated: f64,
    burst_allowance: Duration,
    /// Delay of the packet that left last, zero if it left an empty queue; and at the last update.
    delay: Duration,
    last_delay: Duration,
    last_departure: Option<Instant>,
}

impl Default for Controller {
    fn default() -> Self {
        Self {
            probability: 0.0,
            accumulated: 0.0,
            burst_allowance: MAX_BURST,
            delay: Duration::ZERO,
            last_delay: Duration::ZERO,
            last_departure: None,
        }
    }
}

impl Controller {
    /// A packet that has waited since `since` leaves; `backlog` bytes stay.
    pub(super) fn on_departure(&mut self, now: Instant, since: Instant, backlog: u64) {
        self.delay = if backlog == 0 {
            Duration::ZERO
        } else {
            now - since
        };
        if let Some(last) = self.last_departure {
            self.burst_allowance -= now - last;
        }
        self.last_departure = Some(now);
    }

    /// The periodic update (RFC 8033 §4.2, §5.5; Linux, `pie_calculate_probability`).
    pub(super) fn update(&mut self, config: &PieConfig, backlog: u64) {
        let (delay, last) = (self.delay, self.last_delay);
        let scale = scale(self.probability);
        let mut step = scale
            * (config.alpha * (delay.as_secs_f64() - config.target.as_secs_f64())
                + config.beta * (delay.as_secs_f64() - last.as_secs_f64()));
        if step > LARGEST_STEP && self.probability >= 0.1 {
            step = LARGEST_STEP;
        }
        if delay > HIGH_DELAY {
            step += LARGEST_STEP;
        }
        self.probability = (self.probability + step).clamp(0.0, 1.0);
        if delay == Duration::ZERO && last == Duration::ZERO && backlog == 0 {
            self.probability -= self.probability * IDLE_DECAY;
        }
        let half = config.target / 2;
        if delay < half && last < half && self.probability == 0.0 {
            self.accumulated = 0.0;
            self.burst_allowance = MAX_BURST;
            self.last_departure = None;
        }
        self.last_delay = delay;
    }

    /// Whether a packet that meets `backlog` bytes is dropped or marked; `draw` is uniform above 0
    /// and up to 1.
    pub(super) fn drops(&mut self, config: &PieConfig, backlog: u64, draw: f64) -> bool {
        if self.burst_allowance > Duration::ZERO
            || (self.delay < config.target / 2 && self.probability < 0.2)
            || backlog < 2 * u64::from(config.largest_packet)
        {
            return false;
        }
        self.accumulated = if self.probability == 0.0 {
            0.0
        } else {
            self.accumulated + self.probability
        };
        let drops = self.accumulated >= ALWAYS_FROM
            || (self.accumulated >= NEVER_BELOW && draw <= self.probability);
        if drops {
            self.accumulated = 0.0;
        }
        drops
    }

    /// A packet found no room.
    const fn on_overflow(&mut self) {
        self.accumulated = 0.0;
    }
}

/// The queue.
#[derive(Clone, Debug)]
pub(super) struct Pie<P> {
    config: PieConfig,
    limit: QueueLimit,
    fifo: Fifo<P>,
    controller: Controller,
    next_update: Instant,
    draws: Stream,
    /// Packets that have arrived: the number of the next draw.
    arrivals: u64,
}

impl<P: EcnField> Pie<P> {
    pub(super) fn new(config: PieConfig, limit: QueueLimit, draws: Stream) -> Self {
        Self {
            config,
            limit,
            fifo: Fifo::default(),
            controller: Controller::default(),
            next_update: Instant::ZERO + config.update,
            draws,
            arrivals: 0,
        }
    }

    pub(super) const fn fifo(&self) -> &Fifo<P> {
        &self.fifo
    }

    pub(super) const fn fifo_mut(&mut self) -> &mut Fifo<P> {
        &mut self.fifo
    }

    /// Adds a packet; returns `false` if there is no room; `discard` gets it if it is dropped
    /// early.
    pub(super) fn push(
        &mut self,
        mut waiting: QueuedPacket<P>,
        discard: impl FnOnce(QueuedPacket<P>),
    ) -> bool {
        self.update_until(waiting.since);
        let bytes = waiting.transmission.bytes;
        let draw = self.draws.uniform(self.arrivals);
        self.arrivals += 1;
        if !self
            .limit
            .has_room(self.fifo.packets(), self.fifo.bytes(), bytes)
        {
            self.controller.on_overflow();
            return false;
        }
        if self.controller.drops(&self.config, self.fifo.bytes(), draw) {
            let marks = self.config.ecn
                && self.controller.probability <= MAX_MARKED
                && waiting.packet.ecn().is_capable();
            if !marks {
                discard(waiting);
                return true;
            }
            waiting.packet.mark();
        }
        self.fifo.push(waiting);
        true
    }

    /// The packet that is served at `now`.
    pub(super) fn dequeue(&mut self, now: Instant) -> Option<QueuedPacket<P>> {
        self.update_until(now);
        let waiting = self.fifo.pop()?;
        self.controller
            .on_departure(now, waiting.since, self.fifo.bytes());
        Some(waiting)
    }

    /// Makes the updates that were due by `now`: their inputs have not changed since.
    fn update_until(&mut self, now: Instant) {
        while self.next_update <= now {
            let before = self.controller;
            self.controller.update(&self.config, self.fifo.bytes());
            self.next_update += self.config.update;
            if self.controller == before && self.next_update <= now {
                // Further updates would not change anything.
                let periods = (now - self.next_update).as_nanos() / self.config.update.as_nanos();
                self.next_update += self.config.update * (periods + 1);
            }
        }
    }
}

/// The factor that slows the probability while it is small (RFC 8033 §5.2; Linux).
fn scale(probability: f64) -> f64 {
    if probability >= 0.1 {
        return 1.0;
    }
    let mut scale = 0.5;
    for bound in [1e-2, 1e-3, 1e-4, 1e-5, 1e-6] {
        if probability >= bound {
            break;
        }
        scale /= 4.0;
    }
    scale
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(probability: f64, delay_ms: u64, last_ms: u64) -> f64 {
        let mut controller = Controller {
            probability,
            delay: Duration::from_millis(delay_ms),
            last_delay: Duration::from_millis(last_ms),
            ..Controller::default()
        };
        controller.update(&PieConfig::default(), 15_000);
        controller.probability
    }

    /// RFC 8033 §4.2 and §5.2: 0.125·(25 − 15 ms) + 1.25·(25 − 15 ms) = 0.01375, and less while the
    /// probability is small; the step is bounded above 10 %, and a delay of more than 250 ms adds
    /// 2 %.
    #[test]
    fn the_probability_moves_by_the_controllers_law() {
        let near = |found: f64, expected: f64| {
            assert!((found - expected).abs() < 1e-12, "{found} and {expected}");
        };
        near(after(0.5, 25, 15), 0.513_75);
        near(after(0.05, 25, 15), 0.05 + 0.013_75 / 2.0);
        near(after(0.005, 25, 15), 0.005 + 0.013_75 / 8.0);
        near(after(0.0, 25, 15), 0.013_75 / 2048.0);
        near(after(0.5, 5, 15), 0.5 - 0.013_75);
        near(after(0.5, 200, 100), 0.52);
        near(after(0.5, 300, 300), 0.54);
        near(after(1e-9, 5, 15), 0.0);
    }

    /// RFC 8033 §4.4, §5.4: nothing is dropped while the burst allowance lasts, nor before the
    /// probabilities since the last drop add up to 0.85; at 8.5 a packet is, whatever is drawn.
    #[test]
    fn drops_are_spread() {
        let config = PieConfig::default();
        let mut controller = Controller {
            probability: 0.2,
            delay: Duration::from_millis(20),
            ..Controller::default()
        };
        assert!(!controller.drops(&config, 15_000, 1e-9));
        controller.burst_allowance = Duration::ZERO;
        let drops: Vec<bool> = (0..10)
            .map(|_| controller.drops(&config, 15_000, 0.1))
            .collect();
        assert_eq!(drops, [false, false, false, false, true].repeat(2));
        let unlucky = (1..).find(|_| controller.drops(&config, 15_000, 0.9));
        // 42 times 0.2 is 8.4.
        assert_eq!(unlucky, Some(43));
        assert!(!(0..100).any(|_| controller.drops(&config, 2_999, 1e-9)));
    }
}
