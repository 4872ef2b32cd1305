//! Sampling variables of a running simulation.

use airtcp_units::{Duration, Instant};
use arrow_array::RecordBatch;

use super::nothing::Nothing;
use super::{Observe, RunError};
use crate::engine::Simulation;
use crate::result::{Samples, Sight};

/// Number of samples in a run without a given interval.
const DEFAULT_SAMPLES: u64 = 1000;
/// The shortest interval between samples.
const MIN_INTERVAL: Duration = Duration::from_micros(1);

/// Samples every flow at regular instants.
pub(super) struct Sampler {
    /// `None` if nothing is sampled.
    samples: Option<Samples>,
    interval: Duration,
    due: Instant,
    /// Bytes of each flow that had arrived at the previous sample.
    arrived: Vec<u64>,
}

impl Sampler {
    pub(super) fn new(observe: &Observe, duration: Duration) -> Self {
        let interval = observe
            .probe_interval
            .unwrap_or(duration / DEFAULT_SAMPLES)
            .max(MIN_INTERVAL);
        let due = if observe.probes.is_empty() {
            Instant::FAR_FUTURE
        } else {
            Instant::ZERO + interval
        };
        Self {
            samples: (!observe.probes.is_empty()).then(|| Samples::new(&observe.probes)),
            interval,
            due,
            arrived: Vec::new(),
        }
    }

    /// Time of the next sample.
    pub(super) const fn due(&self) -> Instant {
        self.due
    }

    /// Samples every flow of `simulation` now.
    pub(super) fn take(&mut self, simulation: &mut Simulation) {
        let Some(samples) = &mut self.samples else {
            return;
        };
        let now = simulation.now();
        // Flows that only measure come after the load.
        let flows = simulation.flows();
        let load = flows.iter().take_while(|flow| flow.under_load().is_none());
        self.arrived.resize(load.count(), 0);
        for (before, index) in self.arrived.iter_mut().zip(0..) {
            let air = simulation.air(index);
            let flow = &simulation.flows()[index as usize];
            let arrived = flow.arrived();
            let sight = Sight {
                flow,
                air,
                // Bytes after a gap that is given up no longer count.
                fresh: arrived.saturating_sub(*before),
                interval: self.interval,
            };
            *before = arrived;
            samples.push(now, index, |probe| probe.read(&sight));
        }
        self.due = now + self.interval;
    }

    pub(super) fn finish(&mut self) -> Result<RecordBatch, RunError> {
        match &mut self.samples {
            Some(samples) => Ok(samples.finish()?),
            None => Ok(Nothing::recorded()?.samples.clone()),
        }
    }
}
