//! One flow beside another that remedies leave alone: what a remedy costs those who do not have it.
//!
//! The share that a new sender takes from an old one, against that of another old one, is the bar
//! for deployment that Ware et al. propose ("Beyond Jain's Fairness Index", HotNets 2019).

use airtcp_units::bounded::{Span, Whole};
use airtcp_units::{Duration, Probability};

use super::{Scenario, ScenarioError};
use crate::document::Directions;
use crate::error::Problem;

/// Two flows start within this time or a tenth of the run, so that each seed has them meet in
/// another phase.
const START_SPREAD: Duration = Duration::from_secs(1);

impl Scenario {
    /// The same scenario that each seed changes by up to `share`: see [`Self::perturb`].
    ///
    /// # Errors
    /// A share above 10 %.
    pub fn perturbed(&self, share: Probability) -> Result<Self, ScenarioError> {
        let mut document = self.document.clone();
        document.perturb = Some(share);
        Self::resolve(document, self.inputs.clone(), &self.source)
            .map_err(|problem| ScenarioError::new(&self.source, problem))
    }

    /// The same scenario for another time.
    ///
    /// # Errors
    /// A duration out of its bounds, or one that a part of the scenario does not admit.
    pub fn lasting(&self, duration: Duration) -> Result<Self, ScenarioError> {
        let mut document = self.document.clone();
        document.duration = Some(Span::clamped(duration));
        Self::resolve(document, self.inputs.clone(), &self.source)
            .map_err(|problem| ScenarioError::new(&self.source, problem))
    }

    /// The same scenario with one flow, the last, that remedies of the sender and the receiver
    /// leave alone. A scenario of one flow gets a second with the same path.
    ///
    /// # Errors
    /// Round-trip times in place of a link: they have no bottleneck that flows could share.
    pub fn beside_unchanged(&self) -> Result<Self, ScenarioError> {
        let refused = |problem| ScenarioError::new(&self.source, problem);
        let mut document = self.document.clone();
        let link = document.link.as_ref();
        if link.is_some_and(|link| link.rtt_log.is_some() || link.rtt_model.is_some()) {
            return Err(refused(Problem::at(
                "link",
                "round-trip times in place of a rate are no bottleneck that flows could share",
            )));
        }
        let flows = &mut document.flows;
        if self.flows.count == 1 {
            flows.count = Some(Whole::clamped(2));
            let spread = START_SPREAD.min(self.duration / 10);
            flows.start_spread = Some(Span::clamped(self.flows.start_spread.max(spread)));
            // What is used in turn would have the second flow take another way, or another TCP.
            flows.direction = Some(Directions::One(self.flows.direction_of(0)));
            if let Some(delays) = &mut flows.access_delay {
                delays.truncate(1);
            }
            if let Some(tables) = &mut flows.tcp {
                tables.truncate(1);
            }
        }
        flows.unchanged = Some(Whole::clamped(1));
        // What measures the link would only be a load more.
        flows.beside = None;
        Self::resolve(document, self.inputs.clone(), &self.source).map_err(refused)
    }
}
