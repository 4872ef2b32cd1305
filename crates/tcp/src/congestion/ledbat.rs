//! LEDBAT (RFC 6817): a window for background transfers. It grows while the queueing delay is below
//! a target, and shrinks while it is above: it fills an empty link, and yields to any flow that
//! fills the queue.
//!
//! The RFC measures the one-way delay. Here it is that of the round trip, as in LEDBAT++
//! (draft-irtf-iccrg-ledbat-plus-plus), so a queue of acknowledgments counts as well. The RFC has
//! no rule for the end of slow start; that draft's applies.

use airtcp_units::{Duration, Instant};

use super::rule::{Rule, Start};
use super::windows::Windows;
use super::{Ack, Repairing};
use crate::config::Config;

/// Maximum growth of the window in a round trip, in segments, as Reno's (RFC 6817 §2.5).
const GAIN: f64 = 1.0;
/// Maximum excess of the window over the data in flight, in segments (`ALLOWED_INCREASE`).
const ALLOWED_INCREASE: u64 = 1;
/// The minimum window in segments (`MIN_CWND`).
const MIN_WINDOW: u64 = 2;
/// Number of one-minute minima; the base delay is the least of them (`BASE_HISTORY`).
const BASE_HISTORY: usize = 10;
const MINUTE_NANOS: u64 = 60_000_000_000;
/// Number of samples, at most half a window of them; the current delay is the least of them
/// (`CURRENT_FILTER`).
const CURRENT_FILTER: usize = 4;

/// The delays, and the window with its fraction.
#[derive(Clone, Debug)]
pub struct Ledbat {
    target: Duration,
    /// The minimum delay of each of the last minutes, the latest first.
    base: [Duration; BASE_HISTORY],
    minute: u64,
    /// The last samples, and how many there are.
    current: [Duration; CURRENT_FILTER],
    samples: usize,
    /// The window in bytes. In slow start it follows the whole one.
    exact: f64,
}

impl Start for Ledbat {
    fn start(config: &Config, windows: &Windows) -> Self {
        Self {
            target: config.ledbat_target,
            base: [Duration::MAX; BASE_HISTORY],
            minute: 0,
            current: [Duration::MAX; CURRENT_FILTER],
            samples: 0,
            exact: bytes(windows.cwnd),
        }
    }
}

/// A window as a real number.
#[expect(
    clippy::cast_precision_loss,
    reason = "windows are far below 2^53 bytes"
)]
const fn bytes(window: u64) -> f64 {
    window as f64
}

impl Ledbat {
    /// Enters a sample into both lists (§2.4.2, `update_base_delay` and `update_current_delay`).
    fn sample(&mut self, now: Instant, delay: Duration) {
        let minute = now.as_nanos() / MINUTE_NANOS;
        if minute > self.minute {
            self.minute = minute;
            self.base.rotate_right(1);
            self.base[0] = delay;
        } else {
            self.base[0] = self.base[0].min(delay);
        }
        self.current[self.samples % CURRENT_FILTER] = delay;
        self.samples += 1;
    }

    /// The queueing delay: the least of the current samples minus the base (§2.4.2).
    fn queueing(&self, windows: &Windows) -> Duration {
        let half_a_window = usize::try_from(windows.cwnd / windows.mss / 2).unwrap_or(usize::MAX);
        let count = CURRENT_FILTER.min(self.samples).min(half_a_window).max(1);
        let latest = (1..=count).map(|ago| {
            let place = self.samples.saturating_sub(ago) % CURRENT_FILTER;
            self.current[place]
        });
        let current = latest.min().unwrap_or(Duration::ZERO);
        let base = self.base.iter().min().copied().unwrap_or(current);
        current - base
    }
}

impl Rule for Ledbat {
    /// Moves the window by the distance to the target, a segment a round trip at most upwards
    /// (§2.4.2).
    fn observe(&mut self, ack: &Ack, windows: &mut Windows) {
        if let Some(rtt) = ack.rtt {
            self.sample(ack.now, rtt);
        }
        if self.samples == 0 || ack.repairing != Repairing::Nothing {
            return;
        }
        let queueing = self.queueing(windows).as_secs_f64();
        let target = self.target.as_secs_f64();
        if windows.in_slow_start() {
            self.exact = bytes(windows.cwnd);
            // LEDBAT++ §4.3: three quarters of the target end it.
            if queueing > 0.75 * target {
                windows.ssthresh = windows.cwnd;
            }
            return;
        }
        let off_target = (target - queueing) / target;
        let mss = bytes(windows.mss);
        let step = GAIN * off_target * bytes(ack.delivered) * mss / self.exact;
        // Data held back until an acknowledgment counts as window used, too.
        let used = ack.in_flight_before + ack.held_back;
        let most = used + ALLOWED_INCREASE * windows.mss;
        self.exact = (self.exact + step)
            .min(bytes(most.min(windows.max)))
            .max(bytes(MIN_WINDOW * windows.mss));
        windows.cwnd = windows.whole(self.exact / mss, MIN_WINDOW);
        // Below the threshold would be slow start.
        windows.ssthresh = windows.ssthresh.min(windows.cwnd);
    }

    /// Nothing: [`observe`](Self::observe) has moved it.
    fn grow(&mut self, _acked: u64, _windows: &Windows) -> u64 {
        0
    }

    /// Half, and not below the least window (§2.4.2, `on data loss`).
    fn threshold(&mut self, base: u64, windows: &Windows) -> u64 {
        let half = base / (2 * windows.mss) * windows.mss;
        let threshold = half.max(MIN_WINDOW * windows.mss);
        self.exact = bytes(threshold);
        threshold
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::CongestionControl;
    use crate::congestion::Congestion;

    const MSS: u64 = 1000;

    fn congestion(segments: u32, ssthresh: Option<u64>) -> Congestion {
        let config = Config {
            congestion: CongestionControl::Ledbat,
            initial_window: segments,
            initial_ssthresh: ssthresh,
            ..Config::default()
        };
        Congestion::new(&config, MSS)
    }

    /// A segment is acknowledged at `ms` after a round trip of `rtt_ms`, with the window in use.
    fn acknowledge(congestion: &mut Congestion, ms: u64, rtt_ms: u64) {
        let now = Instant::ZERO + Duration::from_millis(ms);
        let rtt = Duration::from_millis(rtt_ms);
        let in_flight = congestion.cwnd();
        congestion.observe(&Ack {
            now,
            delivered: MSS,
            marked: 0,
            lost: 0,
            rtt: Some(rtt),
            minimum_rtt: rtt,
            srtt: rtt,
            una: 0,
            nxt: 0,
            in_flight_before: in_flight,
            held_back: 0,
            in_flight: in_flight - MSS,
            next_departure: now,
            delivered_in_all: 0,
            lost_in_all: 0,
            rate: None,
            repairing: Repairing::Nothing,
        });
        congestion.on_acknowledged(MSS, false);
    }

    /// A window in congestion avoidance with a base delay of 50 ms.
    fn based(segments: u32) -> Congestion {
        let mut congestion = congestion(segments, Some(u64::from(segments) * MSS));
        acknowledge(&mut congestion, 0, 50);
        congestion
    }

    /// §2.4.2: cwnd += GAIN · off_target · bytes_newly_acked · MSS / cwnd. An empty queue adds a
    /// segment in a window of acknowledgments, half the target half of one, and twice the target
    /// takes one.
    #[test]
    fn the_window_follows_the_distance_to_the_target() {
        for (rtt_ms, expected) in [(50, 1), (100, 0), (150, 0), (250, -1)] {
            let mut congestion = based(40);
            // The filter needs as many samples of the new delay.
            for _ in 0..44 {
                acknowledge(&mut congestion, 1, rtt_ms);
            }
            let grown = congestion.cwnd().cast_signed() / 1000 - 40;
            assert_eq!(grown, expected, "{rtt_ms} ms");
        }
        // Half of the target takes twice as long.
        let mut congestion = based(40);
        for _ in 0..86 {
            acknowledge(&mut congestion, 1, 100);
        }
        assert_eq!(congestion.cwnd(), 41 * MSS);
    }

    /// A single late sample is filtered: the least of the last four counts.
    #[test]
    fn a_late_acknowledgment_is_no_queue() {
        let mut congestion = based(40);
        for index in 0..44 {
            let late = index % 4 == 3;
            acknowledge(&mut congestion, 1, if late { 500 } else { 50 });
        }
        assert_eq!(congestion.cwnd(), 41 * MSS);
    }

    /// The base is the least of ten minutes: a path that has become longer is not a queue for ever.
    #[test]
    fn the_base_is_forgotten_after_ten_minutes() {
        let mut congestion = based(40);
        let mut shrinks = Vec::new();
        for minute in 1..=12 {
            let before = congestion.cwnd();
            for index in 0..60 {
                acknowledge(&mut congestion, minute * 60_000 + index, 250);
            }
            shrinks.push(congestion.cwnd() < before);
        }
        assert_eq!(shrinks[..9], [true; 9]);
        assert_eq!(shrinks[10..], [false; 2]);
    }

    /// `max_allowed_cwnd = flightsize + ALLOWED_INCREASE · MSS`, and never less than two segments.
    #[test]
    fn the_window_is_bounded_on_both_sides() {
        let mut rule = Ledbat::start(&Config::default(), &windows(20));
        let mut windows = windows(20);
        let mut ack = Ack {
            now: Instant::ZERO,
            delivered: MSS,
            marked: 0,
            lost: 0,
            rtt: Some(Duration::from_millis(50)),
            minimum_rtt: Duration::ZERO,
            srtt: Duration::ZERO,
            una: 0,
            nxt: 0,
            in_flight_before: 7 * MSS,
            held_back: 0,
            in_flight: 6 * MSS,
            next_departure: Instant::ZERO,
            delivered_in_all: 0,
            lost_in_all: 0,
            rate: None,
            repairing: Repairing::Nothing,
        };
        rule.observe(&ack, &mut windows);
        assert_eq!(windows.cwnd, 8 * MSS, "seven in flight, and one");
        windows.cwnd = 20 * MSS;
        rule.exact = bytes(windows.cwnd);
        ack.held_back = 2 * MSS;
        rule.observe(&ack, &mut windows);
        assert_eq!(windows.cwnd, 10 * MSS, "and two that wait for more");
        ack.rtt = Some(Duration::from_secs(5));
        for _ in 0..100 {
            rule.observe(&ack, &mut windows);
        }
        assert_eq!(windows.cwnd, 2 * MSS);
        assert_eq!(rule.threshold(20 * MSS, &windows), 10 * MSS);
        assert_eq!(rule.threshold(3 * MSS, &windows), 2 * MSS);
    }

    /// Slow start goes on below three quarters of the target, and ends there.
    #[test]
    fn slow_start_ends_when_the_queue_grows() {
        let mut congestion = congestion(10, None);
        acknowledge(&mut congestion, 0, 50);
        for _ in 0..4 {
            acknowledge(&mut congestion, 1, 120);
        }
        assert_eq!(congestion.cwnd(), 15 * MSS);
        assert!(congestion.in_slow_start());
        for _ in 0..4 {
            acknowledge(&mut congestion, 2, 130);
        }
        assert!(!congestion.in_slow_start());
    }

    fn windows(segments: u64) -> Windows {
        Windows {
            mss: MSS,
            cwnd: segments * MSS,
            ssthresh: segments * MSS,
            max: u64::MAX,
        }
    }
}
