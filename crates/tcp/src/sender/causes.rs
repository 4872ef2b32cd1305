//! What losses were of: a classifier, if there is one, and what it was told of the truth.

use airtcp_units::{Duration, Instant};

use crate::config::Config;
use crate::loss_differentiation::{Cause, Classifier, LossEvent};

/// Asks a classifier.
#[derive(Clone, Debug)]
pub(super) struct Causes {
    classifier: Option<Box<Classifier>>,
    /// What losses were of, as far as it was told: by offset.
    #[expect(clippy::box_collection, reason = "a pointer where there are none")]
    told: Option<Box<Vec<(u64, Cause)>>>,
}

/// An answer, and what Lien et al., Table II, count of it.
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
                .map(|choice| Box::new(Classifier::new(choice, config.seed))),
            told: None,
        }
    }

    /// The truth: the segment at `offset` is lost of `cause`. What is below `una` is forgotten.
    pub fn tell(&mut self, una: u64, offset: u64, cause: Cause) {
        let told = self.told.get_or_insert_default();
        told.retain(|(lost, _)| *lost >= una);
        told.push((offset, cause));
    }

    /// The truth about the segment at `offset`, if it was told.
    pub fn told(&self, offset: u64) -> Option<Cause> {
        let told = self.told.as_ref()?;
        told.iter()
            .find_map(|&(lost, cause)| (lost == offset).then_some(cause))
    }

    #[inline]
    pub fn on_acknowledged(&mut self, now: Instant, bytes: u64, mss: u64) {
        if let Some(classifier) = &mut self.classifier {
            let segments = u32::try_from(bytes.div_ceil(mss)).unwrap_or(u32::MAX);
            classifier.on_acknowledged(now, segments);
        }
    }

    #[inline]
    pub fn on_rtt_sample(&mut self, now: Instant, rtt: Duration) {
        if let Some(classifier) = &mut self.classifier {
            classifier.on_rtt_sample(now, rtt);
        }
    }

    /// What the loss was of, if anybody is asked.
    pub fn classify(&mut self, event: &LossEvent) -> Option<Answer> {
        let classifier = self.classifier.as_mut()?;
        let below_mean = classifier.is_below_mean();
        let cause = classifier.classify(event);
        Some(Answer { cause, below_mean })
    }
}
