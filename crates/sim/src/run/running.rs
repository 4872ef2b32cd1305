//! A run advanced in stretches of virtual time, to be shown while it is computed.

use std::borrow::Borrow;

use airtcp_scenario::{Scenario, build};
use airtcp_units::Instant;
use arrow_array::RecordBatch;

use super::probes::Sampler;
use super::recorder::Recorder;
use super::{Observe, RunError, RunResult, summary};
use crate::engine::{Simulation, Watch};
use crate::result::ControlReport;

/// A run in progress. Stretches change nothing: the result is that of [`run`](super::run()).
pub struct Running<S> {
    scenario: S,
    seed: u64,
    simulation: Simulation,
    sampler: Sampler,
    recorder: Recorder,
    end: Instant,
}

/// Data recorded since the previous stretch.
#[derive(Clone, Debug)]
pub struct Stretch {
    /// The probes' samples; see [`RunResult::samples`].
    pub samples: RecordBatch,
    /// Events; see [`RunResult::events`].
    pub events: RecordBatch,
    /// Segments; see [`RunResult::packets`].
    pub packets: RecordBatch,
}

impl<S: Borrow<Scenario>> Running<S> {
    /// Creates a run at time zero.
    ///
    /// # Errors
    /// [`RunError::Record`] when a capture or log cannot be written; [`RunError::Scenario`] when
    /// the scenario cannot be played back as requested.
    pub fn new(scenario: S, seed: u64, observe: &Observe) -> Result<Self, RunError> {
        let checked = scenario.borrow();
        if observe.replay.is_some() {
            checked.check_replay()?;
        }
        let first = checked.flow_tcp.first().unwrap_or(&checked.tcp);
        Ok(Self {
            simulation: Simulation::new(build(checked, seed), seed),
            sampler: Sampler::new(observe, checked.duration),
            recorder: Recorder::create(observe, &checked.name, first.congestion)?,
            end: Instant::ZERO + checked.duration,
            scenario,
            seed,
        })
    }

    /// The current virtual time.
    #[must_use]
    pub const fn now(&self) -> Instant {
        self.simulation.now()
    }

    /// The time at which it ends.
    #[must_use]
    pub const fn end(&self) -> Instant {
        self.end
    }

    /// Number of simulation events.
    #[must_use]
    pub const fn events(&self) -> u64 {
        self.simulation.events()
    }

    /// Advances to `until`, or to the end if that comes first.
    pub fn advance(&mut self, until: Instant) {
        let until = until.min(self.end);
        loop {
            let next = self.sampler.due().min(until);
            if self.recorder.is_active() {
                let mut watch: &mut dyn Watch = &mut self.recorder;
                self.simulation.run_until(next, &mut watch);
            } else {
                self.simulation.run_until(next, &mut ());
            }
            if next >= self.sampler.due() {
                self.sampler.take(&mut self.simulation);
            }
            if next >= until {
                return;
            }
        }
    }

    /// Whether every congestion control goes on.
    ///
    /// # Errors
    /// [`RunError::Control`] when one from an object file, or in Python, cannot.
    pub fn check_controls(&self) -> Result<(), RunError> {
        let mut flows = self.simulation.flows().iter();
        match flows.find_map(|flow| flow.stopped_control()) {
            Some(fault) => Err(RunError::Control(fault.to_owned())),
            None => Ok(()),
        }
    }

    /// Returns the data recorded since the last call.
    ///
    /// # Errors [`RunError::Columns`] when the columns cannot be built.
    pub fn take(&mut self) -> Result<Stretch, RunError> {
        let (events, packets) = self.recorder.take()?;
        Ok(Stretch {
            samples: self.sampler.finish()?,
            events,
            packets,
        })
    }

    /// Runs to the end. The result has the rows not taken before.
    ///
    /// # Errors
    /// [`RunError::Record`] when a capture or log could not be written; as
    /// [`check_controls`](Self::check_controls).
    pub fn finish(mut self) -> Result<RunResult, RunError> {
        self.advance(self.end);
        self.simulation.release_controls();
        self.check_controls()?;
        if let Some(first) = self.simulation.flows().first() {
            self.recorder
                .controls_ended(self.end, first.client().sender());
        }
        let (scenario, seed) = (self.scenario.borrow(), self.seed);
        let samples = self.sampler.finish()?;
        let recorded = self.recorder.finish(scenario, seed)?;
        let flows = self.simulation.flows().iter().zip(0..);
        let controls = flows
            .filter_map(|(flow, index)| ControlReport::of(flow, index))
            .collect();
        Ok(RunResult {
            controls,
            summary: summary::summarize(scenario, seed, self.simulation),
            samples,
            events: recorded.events,
            frames: recorded.frames,
            agents: recorded.agents,
            rtts: recorded.rtts,
            packets: recorded.packets,
            pings: recorded.pings,
        })
    }
}
