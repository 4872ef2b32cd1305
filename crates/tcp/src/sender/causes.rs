//! Causes of losses, from a classifier if there is one.
//!
//! An answer "the radio" may be bounded. It takes a fifth off the window, so that a path that
//! carries less than four fifths of it keeps losing, and a queue that is full while the round trip
//! looks short is flooded. If more than that fifth is lost in one repair, the loss is attributed to
//! congestion, whatever the classifier's answer. The fifth is the default:
//! [`radio_keeps_percent`](Config::radio_keeps_percent).

use alloc::boxed::Box;

use airtcp_units::{Duration, Instant};

use crate::config::{Config, JudgedRtt};
use crate::loss_detection::Delivery;
use crate::loss_differentiation::{Cause, Classifier, LossEvent};
use crate::observer::Insight;

/// Asks a classifier.
#[derive(Clone, Debug)]
pub(super) struct Causes {
    judge: Option<Box<Judge>>,
}

/// Segments that may be lost in any window before a bound applies: the initial window of a new
/// connection, sent without knowledge of the path (RFC 6928).
const HARMLESS_SEGMENTS: u64 = 10;

/// A classifier and the outcome of its last verdict.
#[derive(Clone, Debug)]
struct Judge {
    classifier: Classifier,
    /// The round trips that it sees.
    judged: JudgedRtt,
    is_bounded: bool,
    /// Share of the window that an answer "the radio" takes off, in per cent.
    radio_takes: u64,
    excused: Option<Excused>,
}

/// A repair of losses attributed to the radio.
#[derive(Clone, Copy, Debug)]
struct Excused {
    /// Bytes lost before it, and the limit on bytes lost in it.
    lost_before: u64,
    most: u64,
    /// The threshold that congestion would have set, in bytes.
    threshold: u64,
}

impl Judge {
    /// Limit on the bytes of a window of `cwnd` that may be lost and attributed to the radio.
    fn most_for_radio(&self, cwnd: u64, mss: u64) -> u64 {
        (cwnd.saturating_mul(self.radio_takes) / 100).max(HARMLESS_SEGMENTS * mss)
    }
}

/// An answer, with the count of Lien et al., Table II.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    pub cause: Cause,
    /// Whether the last round trip was below the mean.
    pub below_mean: bool,
}

impl Causes {
    pub fn new(config: &Config) -> Self {
        let judge = |choice| {
            Box::new(Judge {
                classifier: Classifier::new(choice),
                judged: config.quirks.judged_rtt,
                is_bounded: config.bounded_radio,
                radio_takes: u64::from(100 - config.radio_keeps_percent.min(100)),
                excused: None,
            })
        };
        Self {
            judge: config.differentiation.as_ref().map(judge),
        }
    }

    #[inline]
    pub fn on_acknowledged(&mut self, now: Instant, bytes: u64, mss: u64) {
        if let Some(judge) = &mut self.judge {
            let segments = u32::try_from(bytes.div_ceil(mss)).unwrap_or(u32::MAX);
            judge.classifier.on_acknowledged(now, segments);
        }
    }

    /// Takes a sample of the retransmission timer.
    #[inline]
    pub fn on_timed_rtt(&mut self, now: Instant, rtt: Duration) {
        if let Some(judge) = &mut self.judge
            && judge.judged == JudgedRtt::Timed
        {
            judge.classifier.on_rtt_sample(now, rtt);
        }
    }

    /// Takes an acknowledgment's delivery.
    #[inline]
    pub fn on_delivery(&mut self, now: Instant, delivery: Option<&Delivery>) {
        if let Some(judge) = &mut self.judge
            && judge.judged == JudgedRtt::Newest
            && let Some(sent_at) = delivery.and_then(Delivery::told_sent_at)
        {
            judge.classifier.on_rtt_sample(now, now - sent_at);
        }
    }

    /// Returns the cause of the loss, if there is a classifier. `insight` has a simulator's
    /// knowledge.
    pub fn classify(&mut self, event: &LossEvent, insight: &impl Insight) -> Option<Answer> {
        let judge = self.judge.as_mut()?;
        judge.excused = None;
        let below_mean = judge.classifier.is_below_mean();
        let mut cause = judge.classifier.classify(event, insight);
        let lost = u64::from(event.lost_segments) * event.mss;
        if judge.is_bounded && lost > judge.most_for_radio(event.cwnd, event.mss) {
            cause = Cause::Congestion;
        }
        Some(Answer { cause, below_mean })
    }

    /// Records that a repair begins for losses of the radio, with a window of `cwnd`; `lost_before`
    /// bytes were lost before it, and congestion would have set the threshold to `threshold`.
    pub fn excuse(&mut self, lost_before: u64, cwnd: u64, mss: u64, threshold: u64) {
        if let Some(judge) = &mut self.judge
            && judge.is_bounded
        {
            judge.excused = Some(Excused {
                lost_before,
                most: judge.most_for_radio(cwnd, mss),
                threshold,
            });
        }
    }

    /// Takes the bytes lost so far, in a repair. Returns the threshold that congestion sets, once,
    /// if more is lost than the radio is held responsible for.
    pub fn doubt(&mut self, lost_in_all: u64) -> Option<u64> {
        let judge = self.judge.as_mut()?;
        let excused = judge.excused?;
        if lost_in_all - excused.lost_before <= excused.most {
            return None;
        }
        judge.excused = None;
        Some(excused.threshold)
    }
}
