//! The congestion window of a media sender, and the queueing delay that it aims at (RFC 8298
//! §4.1.2).

use std::collections::VecDeque;

use airtcp_units::{Duration, Instant};

// RFC 8298 §4.1.1.1.
const QDELAY_TARGET_LO: f64 = 0.1;
const QDELAY_TARGET_HI: f64 = 0.4;
const QDELAY_WEIGHT: f64 = 0.1;
const QDELAY_TREND_TH: f64 = 0.2;
const QDELAY_TREND_LO: f64 = 0.2;
const MIN_CWND: f64 = 3000.0;
const MAX_BYTES_IN_FLIGHT_HEAD_ROOM: f64 = 1.1;
const GAIN: f64 = 1.0;
const BETA_LOSS: f64 = 0.8;
/// Size of a full packet, in bytes.
pub const MSS: f64 = 1000.0;
const T_RESUME_FAST_INCREASE: Duration = Duration::from_secs(5);

/// Samples of the delay are this far apart, and this many count for its trend, its variance and its
/// mean.
const SAMPLE_EVERY: Duration = Duration::from_millis(50);
const TREND_SAMPLES: usize = 20;
const VARIANCE_SAMPLES: usize = 200;
const MEAN_SAMPLES: usize = 50;
/// Time over which the maximum of the bytes in flight is taken.
const FLIGHT_SPAN: Duration = Duration::from_secs(5);
/// Losses in more round trips than this share mean flows that fill the queue (§4.1.2.3).
const LOSSY: f64 = 0.002;
/// Weight of a round trip in that share (the authors' code).
const LOSS_WEIGHT: f64 = 0.01;

/// The window, and the delays that move it.
#[derive(Clone, Debug)]
pub struct Window {
    cwnd: f64,
    target: f64,
    fraction_mean: f64,
    /// Delay over target, the newest last.
    fractions: VecDeque<f64>,
    /// Delay over the least target, the newest last.
    norms: VecDeque<f64>,
    trend: f64,
    trend_memory: f64,
    in_fast_increase: bool,
    /// When the trend was last high.
    congested: Instant,
    next_sample: Instant,
    loss_event_rate: f64,
    /// Times and bytes in flight, falling.
    flights: VecDeque<(Instant, u64)>,
}

/// Feedback, as the window sees it.
#[derive(Clone, Copy, Debug)]
pub struct Feedback {
    /// Its arrival.
    pub now: Instant,
    /// Queueing delay of the newest packet that it reports, in seconds.
    pub qdelay: f64,
    /// Bytes up to that packet, not reported before.
    pub acked: u64,
    /// Bytes after that packet.
    pub in_flight: u64,
    /// Whether it shows a loss, the first in a round trip.
    pub is_lossy: bool,
    /// Whether a round trip has passed since the last feedback that ended one.
    pub ends_round: bool,
}

impl Window {
    /// The window at `now`.
    pub fn new(now: Instant) -> Self {
        Self {
            cwnd: MIN_CWND,
            target: QDELAY_TARGET_LO,
            fraction_mean: 0.0,
            fractions: VecDeque::new(),
            norms: VecDeque::new(),
            trend: 0.0,
            trend_memory: 0.0,
            in_fast_increase: true,
            congested: now,
            next_sample: now,
            loss_event_rate: 0.0,
            flights: VecDeque::new(),
        }
    }

    /// The window, in bytes.
    pub const fn bytes(&self) -> f64 {
        self.cwnd
    }

    /// The trend of the queueing delay, 0 to 1, and its maximum, which is forgotten slowly.
    pub const fn trends(&self) -> (f64, f64) {
        (self.trend, self.trend_memory)
    }

    /// Whether the window grows as fast as it is used.
    pub const fn is_in_fast_increase(&self) -> bool {
        self.in_fast_increase
    }

    /// Ends the fast increase, as a loss does.
    #[cfg(test)]
    pub const fn leave_fast_increase(&mut self) {
        self.in_fast_increase = false;
    }

    /// Bytes that may be in flight at a queueing delay of `qdelay` seconds (§4.1.2.5).
    pub fn allowed(&self, qdelay: f64) -> f64 {
        if qdelay <= self.target {
            self.cwnd + MSS
        } else {
            self.cwnd
        }
    }

    /// Notes the bytes in flight at `now`.
    pub fn on_flight(&mut self, now: Instant, in_flight: u64) {
        while self
            .flights
            .back()
            .is_some_and(|(_, bytes)| *bytes <= in_flight)
        {
            self.flights.pop_back();
        }
        self.flights.push_back((now, in_flight));
        while self
            .flights
            .front()
            .is_some_and(|(at, _)| now - *at > FLIGHT_SPAN)
        {
            self.flights.pop_front();
        }
    }

    /// Takes feedback.
    pub fn on_feedback(&mut self, feedback: &Feedback) {
        if feedback.now >= self.next_sample {
            self.next_sample = feedback.now + SAMPLE_EVERY;
            self.sample(feedback.qdelay);
            self.aim();
        }
        if feedback.ends_round {
            let lossy = f64::from(u8::from(feedback.is_lossy));
            self.loss_event_rate += LOSS_WEIGHT * (lossy - self.loss_event_rate);
        }
        if self.trend > QDELAY_TREND_LO {
            self.congested = feedback.now;
        }
        if feedback.is_lossy {
            self.in_fast_increase = false;
            self.congested = feedback.now;
            self.cwnd = (self.cwnd * BETA_LOSS).max(MIN_CWND);
            return;
        }
        self.update(feedback);
        if feedback.now - self.congested >= T_RESUME_FAST_INCREASE {
            self.in_fast_increase = true;
        }
    }

    /// Takes a sample of the queueing delay: its trend is its mean, as far as samples follow each
    /// other (§4.1.2).
    fn sample(&mut self, qdelay: f64) {
        let fraction = qdelay / self.target;
        self.fraction_mean += QDELAY_WEIGHT * (fraction - self.fraction_mean);
        push(&mut self.fractions, fraction, TREND_SAMPLES);
        push(&mut self.norms, qdelay / QDELAY_TARGET_LO, VARIANCE_SAMPLES);
        let mean = mean(self.fractions.iter().copied());
        let deviations = || self.fractions.iter().map(|fraction| fraction - mean);
        let variance: f64 = deviations().map(|deviation| deviation * deviation).sum();
        let neighbours = deviations().zip(deviations().skip(1));
        let covariance: f64 = neighbours.map(|(one, next)| one * next).sum();
        let correlation = if variance > 0.0 {
            covariance / variance
        } else {
            0.0
        };
        self.trend = (correlation * self.fraction_mean).clamp(0.0, 1.0);
        self.trend_memory = (0.99 * self.trend_memory).max(self.trend);
    }

    /// Raises the target where other flows keep the queue full (§4.1.2.3).
    fn aim(&mut self) {
        let all = mean(self.norms.iter().copied());
        let squares = self.norms.iter().map(|norm| (norm - all) * (norm - all));
        let variance = mean(squares);
        let recent = mean(self.norms.iter().rev().take(MEAN_SAMPLES).copied());
        let target = (recent + libm::sqrt(variance)) * QDELAY_TARGET_LO;
        self.target = if self.loss_event_rate > LOSSY {
            1.5 * target
        } else if variance < 0.2 {
            target
        } else if target < QDELAY_TARGET_LO {
            (0.5 * self.target).max(target)
        } else {
            0.9 * self.target
        }
        .clamp(QDELAY_TARGET_LO, QDELAY_TARGET_HI);
    }

    /// §4.1.2.2.
    #[expect(clippy::cast_precision_loss, reason = "bytes in flight")]
    fn update(&mut self, feedback: &Feedback) {
        let (acked, in_flight) = (feedback.acked as f64, feedback.in_flight as f64);
        if self.in_fast_increase {
            if self.trend < QDELAY_TREND_TH {
                if 1.5 * in_flight + acked > self.cwnd {
                    self.cwnd += acked;
                }
                return;
            }
            self.in_fast_increase = false;
        }
        let off_target = (self.target - feedback.qdelay) / self.target;
        if off_target <= 0.0 || 1.25 * in_flight + acked > self.cwnd {
            self.cwnd += GAIN * off_target * acked * MSS / self.cwnd;
        }
        let most = self.flights.front().map_or(0, |(_, bytes)| *bytes) as f64;
        self.cwnd = self
            .cwnd
            .min(most * MAX_BYTES_IN_FLIGHT_HEAD_ROOM)
            .max(MIN_CWND);
    }
}

/// Appends a value, and drops the oldest beyond `most`.
fn push(values: &mut VecDeque<f64>, value: f64, most: usize) {
    values.push_back(value);
    if values.len() > most {
        values.pop_front();
    }
}

/// The mean, 0 of nothing.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0_u32), |(sum, count), value| (sum + value, count + 1));
    sum / f64::from(count.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(milliseconds)
    }

    fn feedback(now: Instant, qdelay: f64) -> Feedback {
        Feedback {
            now,
            qdelay,
            acked: 2000,
            in_flight: 8000,
            is_lossy: false,
            ends_round: true,
        }
    }

    /// §4.1.2.2: without congestion the window grows by the bytes acknowledged, if two thirds of
    /// it are used.
    #[test]
    fn the_fast_increase_adds_each_byte_acknowledged() {
        let mut window = Window::new(at(0));
        window.on_flight(at(0), 8000);
        window.on_feedback(&feedback(at(20), 0.0));
        assert_eq!(window.bytes(), 5000.0);
        let unused = Feedback {
            in_flight: 1000,
            ..feedback(at(40), 0.0)
        };
        window.on_feedback(&unused);
        assert_eq!(window.bytes(), 5000.0);
    }

    /// As LEDBAT: 2000 bytes acknowledged at half the target open 10 000 bytes by half of a fifth
    /// of a packet; at twice the target they close it by a fifth.
    #[test]
    fn off_the_target_the_window_moves_in_proportion() {
        for (qdelay, expected) in [(0.05, 10_100.0), (0.1, 10_000.0), (0.2, 9_800.0)] {
            let mut window = Window::new(at(0));
            (window.cwnd, window.in_fast_increase) = (10_000.0, false);
            window.on_flight(at(0), 10_000);
            window.next_sample = at(1000);
            window.on_feedback(&feedback(at(20), qdelay));
            assert!((window.bytes() - expected).abs() < 1e-9, "{qdelay} s");
        }
    }

    /// No more than 1.1 times the largest flight of five seconds.
    #[test]
    fn a_window_that_is_not_used_falls_to_its_use() {
        let mut window = Window::new(at(0));
        (window.cwnd, window.in_fast_increase) = (50_000.0, false);
        window.on_flight(at(0), 20_000);
        window.on_flight(at(10), 8_000);
        window.next_sample = at(100_000);
        window.on_feedback(&feedback(at(20), 0.1));
        assert!((window.bytes() - 22_000.0).abs() < 1e-9);
        window.on_flight(at(5_001), 8_000);
        window.on_feedback(&feedback(at(5_001), 0.1));
        assert!((window.bytes() - 8_800.0).abs() < 1e-9);
    }

    /// §4.1.2.1: a loss leaves four fifths of the window, at least 3000 bytes, and ends the fast
    /// increase, which comes back after five seconds without a trend.
    #[test]
    fn a_loss_leaves_four_fifths() {
        let mut window = Window::new(at(0));
        window.cwnd = 10_000.0;
        let lossy = Feedback {
            is_lossy: true,
            ..feedback(at(20), 0.0)
        };
        window.on_feedback(&lossy);
        assert_eq!(window.bytes(), 8_000.0);
        assert!(!window.is_in_fast_increase());
        window.on_flight(at(20), 8_000);
        window.on_feedback(&feedback(at(5_000), 0.0));
        assert!(!window.is_in_fast_increase());
        window.on_feedback(&feedback(at(5_021), 0.0));
        assert!(window.is_in_fast_increase());
        window.cwnd = 3_100.0;
        window.on_feedback(&lossy);
        assert_eq!(window.bytes(), 3_000.0);
    }

    /// A queue that grows steadily has a trend; one that changes its direction with each sample
    /// does not (§4.1.2).
    #[test]
    fn a_growing_queue_has_a_trend() {
        let trend = |qdelay: &dyn Fn(u32) -> f64| {
            let mut window = Window::new(at(0));
            (0..20).for_each(|count| window.sample(qdelay(count)));
            window.trends().0
        };
        assert_eq!(trend(&|_| 0.0), 0.0);
        assert_eq!(trend(&|count| f64::from(count % 2) * 0.1), 0.0);
        assert!(trend(&|count| f64::from(count) * 0.01) > 0.5);
    }

    /// §4.1.2.3: a queue that others keep at 250 ms moves the target there; it never exceeds 400
    /// ms, and comes back to 100 ms.
    #[test]
    fn the_target_follows_a_queue_that_others_fill() {
        let mut window = Window::new(at(0));
        let mut now = 0;
        let mut see = |window: &mut Window, qdelay, samples| {
            for _ in 0..samples {
                now += 50;
                window.on_flight(at(now), 10_000);
                window.on_feedback(&feedback(at(now), qdelay));
            }
        };
        see(&mut window, 0.25, 200);
        assert!((window.target - 0.25).abs() < 0.01, "{}", window.target);
        see(&mut window, 0.9, 250);
        assert_eq!(window.target, QDELAY_TARGET_HI);
        see(&mut window, 0.01, 250);
        assert_eq!(window.target, QDELAY_TARGET_LO);
    }
}
