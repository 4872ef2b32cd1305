//! One unmodified flow competing with the others: the harm that a remedy does to flows without it.
//!
//! The bar for deployment is that of Ware et al. ("Beyond Jain's Fairness Index", HotNets 2019):
//! the share that a new sender takes from an old one, compared with that taken by another old one.

use airtcp_units::bounded::{Span, Whole};
use airtcp_units::{Duration, Probability};

use super::{Scenario, ScenarioError};
use crate::document::Directions;
use crate::error::Problem;

/// Two flows start within this time or a tenth of the run, so that they meet in a different phase
/// for each seed.
const START_SPREAD: Duration = Duration::from_secs(1);

impl Scenario {
    /// The same scenario with its link varied by up to `share` for each seed: see
    /// [`Self::perturb`].
    ///
    /// # Errors
    /// A share above 10 %.
    pub fn perturbed(&self, share: Probability) -> Result<Self, ScenarioError> {
        let mut document = self.document.clone();
        document.perturb = Some(share);
        Self::resolve(document, self.inputs.clone(), &self.source)
            .map_err(|problem| ScenarioError::new(&self.source, problem))
    }

    /// The same scenario with another duration.
    ///
    /// # Errors
    /// A duration out of its bounds, or one that conflicts with another key of the scenario.
    pub fn lasting(&self, duration: Duration) -> Result<Self, ScenarioError> {
        let mut document = self.document.clone();
        document.duration = Some(Span::clamped(duration));
        Self::resolve(document, self.inputs.clone(), &self.source)
            .map_err(|problem| ScenarioError::new(&self.source, problem))
    }

    /// The same scenario with its last flow exempt from remedies at the sender and the receiver. A
    /// scenario of one flow gets a second with the same path.
    ///
    /// # Errors
    /// Recorded or drawn round-trip times in place of a link: there is no bottleneck to share.
    pub fn with_unchanged_flow(&self) -> Result<Self, ScenarioError> {
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
            // Lists used in turn would give the second flow another path, or another TCP.
            flows.direction = Some(Directions::One(self.flows.direction_of(0)));
            if let Some(delays) = &mut flows.access_delay {
                delays.truncate(1);
            }
            if let Some(tables) = &mut flows.tcp {
                tables.truncate(1);
            }
        }
        flows.unchanged = Some(Whole::clamped(1));
        // Probes would only add load.
        flows.under_load = None;
        Self::resolve(document, self.inputs.clone(), &self.source).map_err(refused)
    }
}
