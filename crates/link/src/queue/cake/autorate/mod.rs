//! A shaper's rate that follows the delay of the link, by the rule of cake-autorate
//! (github.com/lynxthecat/cake-autorate, `cake-autorate.sh` with the values of `defaults.sh`,
//! August 2026), for one direction.
//!
//! Six reflectors are probed in turn. Each has a baseline, the one-way delay that falls fast and
//! rises slowly; a probe's excess over it is its delta. If three of the last six deltas are above
//! the threshold, the rate falls, by more the larger their average is; if more than three quarters
//! of the rate are used, it rises, by less the closer that average is to the threshold; if less is
//! used, it decays to the base rate. Arithmetic is the script's: whole microseconds, kilobits a
//! second and thousandths.
//!
//! Left out: putting the probes to sleep after a minute of idleness, replacing reflectors that
//! misbehave, and the floor after ten seconds without any answer.

use std::collections::VecDeque;

use airtcp_units::{BitRate, Duration, Instant};

/// `no_pingers`, and the time from one probe to the next, of any reflector
/// (`reflector_ping_interval_s` over their number).
const REFLECTORS: usize = 6;
const PROBE_INTERVAL: Duration = Duration::from_millis(50);
/// `bufferbloat_detection_window` and `bufferbloat_detection_thr`.
const WINDOW: usize = 6;
const DETECTIONS: usize = 3;
/// A probe that takes longer counts as lost (`global_ping_response_timeout_s`).
const MAX_ANSWER: Duration = Duration::from_secs(10);
/// The baseline before the first answer.
const FIRST_BASELINE_US: i64 = 100_000;
/// `alpha_baseline_increase` and `alpha_baseline_decrease`, in millionths.
const INCREASE: i64 = 1_000;
const DECREASE: i64 = 900_000;
/// `monitor_achieved_rates_interval_ms`; longer if that is less than ten packets' time.
const METER_INTERVAL: Duration = Duration::from_millis(200);
const METERED_PACKETS: u64 = 10;
/// `high_load_thr`, in percent.
const HIGH_LOAD: u64 = 75;
/// `shaper_rate_min_adjust_down_bufferbloat` and so on, in thousandths.
const MIN_FALL: u64 = 990;
const LARGEST_FALL: u64 = 750;
const MIN_RISE: u64 = 1000;
const LARGEST_RISE: u64 = 1040;
const DECAY_DOWN: u64 = 990;
const DECAY_UP: u64 = 1010;
/// `bufferbloat_refractory_period_ms` and `decay_refractory_period_ms`.
const BUFFERBLOAT_REFRACTORY: Duration = Duration::from_millis(300);
const DECAY_REFRACTORY: Duration = Duration::from_secs(1);

/// The bounds of the rate, and the delays by which it is set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AutorateConfig {
    /// The minimum rate, as a share of the shaper's rate, which is the base.
    pub least: f64,
    /// The maximum rate, as a multiple of it.
    pub most: f64,
    /// Average delta up to which the rate rises at its maximum pace.
    pub fast_rise: Duration,
    /// Delta above which a probe counts as delayed.
    pub threshold: Duration,
    /// Average delta from which the rate falls at its maximum pace.
    pub fast_fall: Duration,
}

impl Default for AutorateConfig {
    /// `defaults.sh`: 5, 20 and 80 Mbit/s for downloads.
    fn default() -> Self {
        Self {
            least: 0.25,
            most: 4.0,
            fast_rise: Duration::from_millis(10),
            threshold: Duration::from_millis(30),
            fast_fall: Duration::from_millis(60),
        }
    }
}

/// The next step of a [`RateControl`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Measure the used rate.
    Meter,
    /// Process the answer to the oldest probe.
    Answer,
    /// Send a probe.
    Probe,
}

/// An answer in transit.
#[derive(Clone, Copy, Debug)]
struct Answer {
    known: Instant,
    reflector: usize,
    delay_us: i64,
}

/// Sets the rate of one shaper.
#[derive(Clone, Debug)]
pub(crate) struct RateControl {
    fast_rise_us: i64,
    threshold_us: i64,
    fast_fall_us: i64,
    base_kbps: u64,
    least_kbps: u64,
    most_kbps: u64,
    packet_bits: u64,
    rate_kbps: u64,
    next_probe: Instant,
    reflector: usize,
    baselines_us: [i64; REFLECTORS],
    answers: VecDeque<Answer>,
    deltas_us: [i64; WINDOW],
    delayed: [bool; WINDOW],
    place: usize,
    metered_from: Instant,
    metered_bytes: u64,
    load_is_high: bool,
    has_new_load: bool,
    last_bufferbloat: Instant,
    last_decay: Instant,
}

impl RateControl {
    /// Begins at the base rate.
    pub(crate) fn new(config: AutorateConfig, base: BitRate, largest_packet: u32) -> Self {
        let micros = |time: Duration| i64::try_from(time.as_nanos() / 1000).unwrap_or(i64::MAX);
        let base_kbps = (base.as_bps() / 1000).max(1);
        // The only rounding: a share of a rate in kilobits a second.
        let share = |factor: f64| (libm::round(base_kbps as f64 * factor) as u64).max(1);
        Self {
            fast_rise_us: micros(config.fast_rise),
            threshold_us: micros(config.threshold),
            fast_fall_us: micros(config.fast_fall),
            base_kbps,
            least_kbps: share(config.least).min(base_kbps),
            most_kbps: share(config.most).max(base_kbps),
            packet_bits: 8 * u64::from(largest_packet),
            rate_kbps: base_kbps,
            next_probe: Instant::ZERO,
            reflector: 0,
            baselines_us: [FIRST_BASELINE_US; REFLECTORS],
            answers: VecDeque::new(),
            deltas_us: [0; WINDOW],
            delayed: [false; WINDOW],
            place: 0,
            metered_from: Instant::ZERO,
            metered_bytes: 0,
            load_is_high: false,
            has_new_load: false,
            last_bufferbloat: Instant::ZERO,
            last_decay: Instant::ZERO,
        }
    }

    /// The rate of the shaper.
    pub(crate) const fn rate(&self) -> BitRate {
        BitRate::from_bps(self.rate_kbps * 1000)
    }

    /// Counts bytes that the shaper has released.
    pub(crate) fn count(&mut self, bytes: u32) {
        self.metered_bytes += u64::from(bytes);
    }

    /// Its next step, and its time. Of simultaneous steps the load is measured first, as the
    /// answers are judged by it, and a probe is sent last.
    pub(crate) fn next(&self) -> (Instant, Step) {
        let meter = (self.metered_from + self.meter_interval(), Step::Meter);
        let answer = self.answers.front();
        let answer = answer.map(|answer| (answer.known, Step::Answer));
        let probe = (self.next_probe, Step::Probe);
        let earlier = answer.filter(|answer| answer.0 <= probe.0).unwrap_or(probe);
        if meter.0 <= earlier.0 { meter } else { earlier }
    }

    /// Measures the load at `now`.
    pub(crate) fn meter(&mut self, now: Instant) {
        let micros = ((now - self.metered_from).as_nanos() / 1000).max(1);
        let achieved_kbps = 8000 * self.metered_bytes / micros;
        self.load_is_high = 100 * achieved_kbps / self.rate_kbps > HIGH_LOAD;
        self.has_new_load = true;
        self.metered_from = now;
        self.metered_bytes = 0;
    }

    /// Sends a probe at `now`. It takes `delay` to the other end of the link, and its answer
    /// arrives `back` later.
    pub(crate) fn probe(&mut self, now: Instant, delay: Duration, back: Duration) {
        self.next_probe = now + PROBE_INTERVAL;
        let reflector = self.reflector;
        self.reflector = (reflector + 1) % REFLECTORS;
        if delay > MAX_ANSWER {
            return;
        }
        let delay_us = i64::try_from(delay.as_nanos() / 1000).unwrap_or(i64::MAX);
        let known = now + delay + back;
        // The link is first in, first out, and so are the answers.
        let known = self
            .answers
            .back()
            .map_or(known, |last| known.max(last.known));
        self.answers.push_back(Answer {
            known,
            reflector,
            delay_us,
        });
    }

    /// Takes in the oldest answer at `now`, and sets the rate.
    pub(crate) fn answer(&mut self, now: Instant) {
        let Some(answer) = self.answers.pop_front() else {
            return;
        };
        let baseline = &mut self.baselines_us[answer.reflector];
        let alpha = if answer.delay_us >= *baseline {
            INCREASE
        } else {
            DECREASE
        };
        *baseline = (alpha * answer.delay_us + (1_000_000 - alpha) * *baseline) / 1_000_000;
        let delta = answer.delay_us - *baseline;
        self.deltas_us[self.place] = delta;
        self.delayed[self.place] = delta > self.threshold_us + self.packet_us();
        self.place = (self.place + 1) % WINDOW;
        self.adjust(now);
    }

    /// Sets the rate by the measurements up to `now`.
    fn adjust(&mut self, now: Instant) {
        let may_change = now > self.last_bufferbloat + BUFFERBLOAT_REFRACTORY;
        let average_us = self.deltas_us.iter().sum::<i64>() / WINDOW as i64;
        let packet_us = self.packet_us();
        // Thresholds are raised alike, so that their distances are the configured ones.
        let above_us = average_us - (self.threshold_us + packet_us);
        if self.delayed.iter().filter(|&&is| is).count() >= DETECTIONS {
            if may_change {
                let factor = thousandths(above_us, self.fast_fall_us - self.threshold_us);
                self.scale(1000 * MIN_FALL - factor * (MIN_FALL - LARGEST_FALL));
                self.last_bufferbloat = now;
                self.last_decay = now;
            }
        } else if self.load_is_high {
            if may_change && self.has_new_load {
                let factor = thousandths(-above_us, self.threshold_us - self.fast_rise_us);
                self.scale(1000 * MIN_RISE + factor * (LARGEST_RISE - MIN_RISE));
                self.has_new_load = false;
                self.last_decay = now;
            }
        } else if now > self.last_decay + DECAY_REFRACTORY {
            let (rate, base) = (self.rate_kbps, self.base_kbps);
            self.rate_kbps = if rate > base {
                (rate * DECAY_DOWN / 1000).max(base)
            } else {
                (rate * DECAY_UP / 1000).min(base)
            };
            self.last_decay = now;
        }
        self.rate_kbps = self.rate_kbps.clamp(self.least_kbps, self.most_kbps);
    }

    fn scale(&mut self, millionths: u64) {
        self.rate_kbps = self.rate_kbps.saturating_mul(millionths) / 1_000_000;
    }

    /// Transmission time of a largest packet at the current rate, added to thresholds: a probe may
    /// wait for one.
    fn packet_us(&self) -> i64 {
        i64::try_from(1000 * self.packet_bits / self.rate_kbps).unwrap_or(i64::MAX)
    }

    /// The script adds both directions' packets; the other one is assumed to be as fast.
    fn meter_interval(&self) -> Duration {
        let packets = 2 * METERED_PACKETS * 1000 * self.packet_bits / self.rate_kbps;
        METER_INTERVAL.max(Duration::from_micros(packets))
    }
}

/// The share of `part` in `whole`, from 0 to 1000; 1000 if `whole` is zero.
fn thousandths(part: i64, whole: i64) -> u64 {
    if whole <= 0 {
        return 1000;
    }
    let share = part.max(0).saturating_mul(1000) / whole;
    u64::try_from(share.min(1000)).unwrap_or(0)
}

#[cfg(test)]
mod tests;
