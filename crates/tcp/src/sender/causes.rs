//! Causes of losses, from a classifier if there is one.

use alloc::boxed::Box;

use airtcp_units::{Duration, Instant};

use crate::config::{Config, JudgedRtt};
use crate::loss_detection::Delivery;
use crate::loss_differentiation::{Cause, Classifier, LossEvent};
use crate::observer::Insight;

/// Asks a classifier.
#[derive(Clone, Debug)]
pub(super) struct Causes {
    classifier: Option<Box<Classifier>>,
    judged: JudgedRtt,
}

/// An answer, with the count that Lien et al., Table II, makes of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    pub cause: Cause,
    /// Whether the last round trip was below the mean.
    pub below_mean: bool,
}

impl Causes {
    pub fn new(config: &Config) -> Self {
        Self {
            classifier: config
                .differentiation
                .as_ref()
                .map(|choice| Box::new(Classifier::new(choice))),
            judged: config.judged_rtt,
        }
    }

    #[inline]
    pub fn on_acknowledged(&mut self, now: Instant, bytes: u64, mss: u64) {
        if let Some(classifier) = &mut self.classifier {
            let segments = u32::try_from(bytes.div_ceil(mss)).unwrap_or(u32::MAX);
            classifier.on_acknowledged(now, segments);
        }
    }

    /// Takes a sample of the retransmission timer.
    #[inline]
    pub fn on_timed_rtt(&mut self, now: Instant, rtt: Duration) {
        if self.judged == JudgedRtt::Timed
            && let Some(classifier) = &mut self.classifier
        {
            classifier.on_rtt_sample(now, rtt);
        }
    }

    /// Takes an acknowledgment's delivery.
    #[inline]
    pub fn on_delivery(&mut self, now: Instant, delivery: Option<&Delivery>) {
        if self.judged == JudgedRtt::Newest
            && let Some(classifier) = &mut self.classifier
            && let Some(sent_at) = delivery.and_then(Delivery::told_sent_at)
        {
            classifier.on_rtt_sample(now, now - sent_at);
        }
    }

    /// Returns the cause of the loss, if there is a classifier. `insight` has a simulator's
    /// knowledge.
    pub fn classify(&mut self, event: &LossEvent, insight: &impl Insight) -> Option<Answer> {
        let classifier = self.classifier.as_mut()?;
        let below_mean = classifier.is_below_mean();
        let cause = classifier.classify(event, insight);
        Some(Answer { cause, below_mean })
    }
}
