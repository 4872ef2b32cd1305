//! Holding times learned from delay spikes (Fotiadis & Siris §III-B, algorithm 1 and §IV-C).
//!
//! ```text
//!   pdelay > dthresh?  yes: a spike.  D = (pdelay - avdelay) / delay_factor
//!                                     subthresh = D / (5 * pkt_count)
//!                      no:            hold by D;  D = D - subthresh
//!   then               S, V, dthresh = S + c V
//! ```

use airtcp_units::{Duration, Instant};

use super::mobile_clock::{ClockOffset, MobileClock};
use super::{MAX_HOLD, UP_TO_MAX_HOLD};
use crate::agent::parameter::{ParameterError, check_duration, check_number};
use crate::agent::{AgentEvent, Toward};

/// The parameters of adaptive delay injection; the defaults are the paper's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdaptiveDelay {
    /// The direction of the acknowledgments judged and held: towards a mobile that uploads, as in
    /// the paper, or towards the wired sender of a download (§V, future work).
    pub acks_toward: Toward,
    /// Duration of a tick of the sender's timestamp clock: 1 us to 1 s. RFC 7323 §5.4 wants at
    /// least 1 ms, the tick of Linux; newer Linux can also tick in 1 us.
    pub tick: Duration,
    /// Estimation of the offset of the sender's clock.
    pub clock_offset: ClockOffset,
    /// `a` of eq. 1, the gain of the smoothed path delay S: above 0, at most 1.
    pub mean_gain: f64,
    /// `b` of eq. 2, the gain of the smoothed deviation V: above 0, at most 1.
    pub deviation_gain: f64,
    /// `c` of eq. 3: how many V above S a spike begins. At least 0.
    pub threshold_factor: f64,
    /// `delay_factor` of algorithm 1: D is the size of the spike divided by this (§IV-C: 1.5).
    /// Above 0.
    pub delay_factor: f64,
    /// After this many times the distance of the last two spikes, counted in acknowledgments, D has
    /// shrunk to zero (§IV-C.2: 5). At least 1. `None` leaves `subthresh` out: D stays until the
    /// next spike.
    pub decay_spans: Option<u32>,
    /// The samples that S averages.
    pub average: Average,
    /// Upper bound of D. Not part of the paper; a safeguard against a bogus timestamp.
    pub longest_delay: Duration,
    /// After this long without a judged acknowledgment D is zero: the radio's earlier behaviour is
    /// no longer relevant. Not part of the paper, where transfers are never idle.
    pub idle: Duration,
}

impl Default for AdaptiveDelay {
    fn default() -> Self {
        Self {
            acks_toward: Toward::Mobile,
            tick: Duration::from_millis(1),
            clock_offset: ClockOffset::default(),
            mean_gain: 1.0 / 8.0,
            deviation_gain: 1.0 / 4.0,
            threshold_factor: 4.0,
            delay_factor: 1.5,
            decay_spans: Some(5),
            average: Average::AllAcknowledgments,
            longest_delay: Duration::from_secs(10),
            idle: Duration::from_secs(60),
        }
    }
}

/// The samples that S averages, and with it `avdelay`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Average {
    /// Every judged acknowledgment, spikes too: eq. 1 and line 11 of algorithm 1 as printed.
    #[default]
    AllAcknowledgments,
    /// Only acknowledgments that are not spikes: `avdelay` then "includes only the propagation and
    /// queuing delays", as the text wants it. V still learns from spikes; so a path that became
    /// longer permanently does not stay a spike.
    NoSpikes,
}

impl AdaptiveDelay {
    pub(super) fn check(&self) -> Result<(), ParameterError> {
        check_duration(
            "tick",
            self.tick,
            (Duration::from_micros(1), Duration::from_secs(1)),
            "a duration from 1 us to 1 s",
            "give the tick of the mobile's timestamp clock, 1 ms where it runs Linux",
        )?;
        if let ClockOffset::Estimated { window } = self.clock_offset {
            check_duration(
                "clock_offset.window",
                window,
                (Duration::from_nanos(1), Duration::MAX),
                "a duration above 0",
                "take some minutes",
            )?;
        }
        let gain = |key, value: f64| {
            check_number(
                key,
                value,
                value > 0.0 && value <= 1.0,
                "a number above 0 and at most 1",
                "the paper has 1/8 for the mean and 1/4 for the deviation",
            )
        };
        gain("mean_gain", self.mean_gain)?;
        gain("deviation_gain", self.deviation_gain)?;
        check_number(
            "threshold_factor",
            self.threshold_factor,
            self.threshold_factor >= 0.0 && self.threshold_factor.is_finite(),
            "a number of at least 0",
            "the paper has 4",
        )?;
        check_number(
            "delay_factor",
            self.delay_factor,
            self.delay_factor > 0.0 && self.delay_factor.is_finite(),
            "a number above 0",
            "the paper has 1.5",
        )?;
        check_number(
            "decay_spans",
            f64::from(self.decay_spans.unwrap_or(0)),
            self.decay_spans != Some(0),
            "a whole number of at least 1",
            "the paper has 5",
        )?;
        check_duration(
            "longest_delay",
            self.longest_delay,
            (Duration::ZERO, MAX_HOLD),
            UP_TO_MAX_HOLD,
            "a sender's timer expires after a few seconds: hold no longer than that",
        )
    }
}

/// A path delay this far from the mean is a clock that was moved, not a delay: no segment lives
/// longer (RFC 9293 §3.4.1 has 2 minutes; senders give up a timer of 60 s, RFC 6298 §2.5).
const CLOCK_MOVED: i64 = 60_000_000_000;

/// State learned from one connection's acknowledgments.
#[derive(Clone, Debug)]
pub(super) struct Judge {
    clock: MobileClock,
    /// S and V in nanoseconds, S up to the clock's constant; `None` before the first sample.
    smoothed: Option<(i64, u64)>,
    /// D.
    delay: Duration,
    /// `subthresh`.
    step: Duration,
    /// Acknowledgments since the last spike, or since the start.
    since_spike: u64,
    last: Instant,
}

/// The judgement of an acknowledgment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) path_delay: Duration,
    pub(super) threshold: Duration,
    pub(super) spike: bool,
    /// Holding time of this acknowledgment, unless others are held already.
    pub(super) hold: Duration,
    /// D after this acknowledgment.
    pub(super) delay: Duration,
}

impl Verdict {
    /// The event to report, once the acknowledgment's holding time is known.
    pub(super) const fn event(self, held: Duration) -> AgentEvent {
        AgentEvent::AckJudged {
            path_delay: self.path_delay,
            threshold: self.threshold,
            delay: self.delay,
            spike: self.spike,
            held,
        }
    }
}

impl Judge {
    pub(super) const fn new() -> Self {
        Self {
            clock: MobileClock::new(),
            smoothed: None,
            delay: Duration::ZERO,
            step: Duration::ZERO,
            since_spike: 0,
            last: Instant::ZERO,
        }
    }

    /// Judges an acknowledgment that echoes `echo` and passes at `now`.
    pub(super) fn judge(&mut self, rule: &AdaptiveDelay, now: Instant, echo: u32) -> Verdict {
        let mut age = self.clock.age(now, echo, rule.tick, rule.clock_offset);
        if self
            .smoothed
            .is_some_and(|(mean, _)| mean.abs_diff(age) > CLOCK_MOVED.unsigned_abs())
        {
            *self = Self::new();
            age = self.clock.age(now, echo, rule.tick, rule.clock_offset);
        }
        if now - self.last > rule.idle {
            self.delay = Duration::ZERO;
        }
        self.last = now;

        let path_delay = self.clock.path_delay(age);
        let Some((mean, deviation)) = self.smoothed else {
            // RFC 2988 §2.2, which the formulae follow: S = R, V = R / 2.
            self.smoothed = Some((age, path_delay.as_nanos() / 2));
            self.since_spike = 1;
            return Verdict {
                path_delay,
                threshold: path_delay,
                spike: false,
                hold: Duration::ZERO,
                delay: Duration::ZERO,
            };
        };
        // Eq. 3.
        let limit = mean.saturating_add(scaled(deviation, rule.threshold_factor));
        let spike = age > limit;
        let hold = if spike {
            let size = Duration::from_nanos(age.saturating_sub(mean).max(0).cast_unsigned());
            self.on_spike(rule, size);
            Duration::ZERO
        } else {
            let hold = self.delay;
            self.delay -= self.step;
            self.since_spike = self.since_spike.saturating_add(1);
            hold
        };
        self.update(rule, age, mean, deviation, spike);
        Verdict {
            path_delay,
            threshold: self.clock.path_delay(limit),
            spike,
            hold,
            delay: self.delay,
        }
    }

    /// Line 2, and §IV-C for `subthresh`, which is set here once: D falls in a straight line.
    fn on_spike(&mut self, rule: &AdaptiveDelay, size: Duration) {
        let delay = Duration::from_nanos(divided(size.as_nanos(), rule.delay_factor));
        self.delay = delay.min(rule.longest_delay);
        self.step = rule.decay_spans.map_or(Duration::ZERO, |spans| {
            let span = self.since_spike.max(1).saturating_mul(u64::from(spans));
            // Rounded up, so that D is zero after that many acknowledgments and not a few later.
            Duration::from_nanos(self.delay.as_nanos().div_ceil(span))
        });
        self.since_spike = 0;
    }

    /// Eq. 1 and 2, V from the updated S.
    fn update(&mut self, rule: &AdaptiveDelay, age: i64, mean: i64, deviation: u64, spike: bool) {
        let updated = match rule.average {
            Average::NoSpikes if spike => mean,
            Average::NoSpikes | Average::AllAcknowledgments => {
                let step = rounded(rule.mean_gain * (age - mean) as f64);
                mean.saturating_add(step)
            }
        };
        let error = updated.abs_diff(age);
        let step =
            rounded(rule.deviation_gain * (i128::from(error) - i128::from(deviation)) as f64);
        self.smoothed = Some((updated, deviation.saturating_add_signed(step)));
    }
}

/// Nanoseconds times a factor.
fn scaled(nanos: u64, factor: f64) -> i64 {
    rounded(nanos as f64 * factor)
}

/// Nanoseconds divided by a divisor above zero.
fn divided(nanos: u64, divisor: f64) -> u64 {
    rounded(nanos as f64 / divisor).max(0).cast_unsigned()
}

/// The only conversion of real numbers to nanoseconds: to the nearest, saturating.
fn rounded(nanos: f64) -> i64 {
    libm::round(nanos) as i64
}
