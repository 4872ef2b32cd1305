//! One seed of every side.

use airtcp_sim::{Observe, run};
use serde::Serialize;

use crate::chosen::{Chosen, LabError};

/// The results of one seed, a number for each side.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Seed {
    /// The seed.
    pub seed: u64,
    /// Goodput of all flows.
    pub goodput_bps: Vec<f64>,
    /// Timeouts of all flows.
    pub timeouts: Vec<u64>,
    /// Digest of each run.
    pub digests: Vec<String>,
}

/// Runs every side with `seed`.
///
/// # Errors
/// [`LabError::Run`] when a run cannot be finished.
pub fn seed(sides: &[Chosen], seed: u64) -> Result<Seed, LabError> {
    let mut found = Seed {
        seed,
        goodput_bps: Vec::new(),
        timeouts: Vec::new(),
        digests: Vec::new(),
    };
    for side in sides {
        let summary = run(&side.scenario, seed, &Observe::default(), &|_| true)?.summary;
        let timeouts = summary.flows.iter().map(|flow| flow.sending.timeouts);
        found.goodput_bps.push(summary.goodput_bps);
        found.timeouts.push(timeouts.sum());
        found.digests.push(summary.digest);
    }
    Ok(found)
}
