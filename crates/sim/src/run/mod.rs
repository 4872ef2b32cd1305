//! Running a scenario: a pure function of scenario and seed.

mod many;
mod nothing;
mod probes;
mod recorder;
mod running;
mod summary;

use std::fmt;
use std::path::PathBuf;

use airtcp_scenario::{Scenario, ScenarioError};
use airtcp_units::Duration;
use arrow_array::RecordBatch;
use arrow_schema::ArrowError;

use crate::record::RecordError;
use crate::result::{ControlReport, EventLog, Probe, RunSummary};
pub use many::run_many;
pub use running::{Running, Stretch};

/// The version within which results are the same: part of every result, and of the key under which
/// results are stored.
pub const ENGINE_VERSION: &str = env!("CARGO_PKG_VERSION");

/// Minimum number of steps into which a run is divided, to report its progress.
const STEPS: u64 = 100;
/// A step of more events than this is followed by shorter ones: a caller that wants the run to end
/// should not wait, and these take about a tenth of a second.
const MAX_EVENTS_A_STEP: u64 = 250_000;
/// Initial length of a step; steps double while they have few events.
const FIRST_STEP: Duration = Duration::from_millis(10);

/// Data to record besides the summary.
#[derive(Clone, Debug, Default)]
pub struct Observe {
    /// The variables to sample, for each flow.
    pub probes: Vec<Probe>,
    /// Time between samples; by default a thousandth of the run.
    pub probe_interval: Option<Duration>,
    /// Whether to log events.
    pub events: bool,
    /// Whether to log the frames on every medium, and the actions of agents at access points.
    pub air: bool,
    /// Whether to keep every round-trip time that senders measure.
    pub rtts: bool,
    /// Whether to keep every segment that leaves or reaches the host that sends the data.
    pub packets: bool,
    /// Whether to keep every ping: when it was sent and answered, or where it was lost.
    pub pings: bool,
    /// Path of a capture, as taken at the host that sends the data.
    pub pcap: Option<PathBuf>,
    /// Path of a qlog of the host that sends the data.
    pub qlog: Option<PathBuf>,
    /// The folder to write a scenario to that plays the link back: its stops and losses as lists.
    pub replay: Option<PathBuf>,
}

/// A finished run.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// The numbers of the run and of each flow.
    pub summary: RunSummary,
    /// The probes' samples: `time_s`, `flow`, and a column for each probe.
    pub samples: RecordBatch,
    /// Events: `time_s`, `flow`, `event`, `offset`, `detail`.
    pub events: RecordBatch,
    /// The frames on every medium; see [`FrameLog`](crate::result::FrameLog).
    pub frames: RecordBatch,
    /// Round-trip times; see [`RttTable`](crate::result::RttTable).
    pub rtts: RecordBatch,
    /// Agents' actions; see [`AgentLog`](crate::result::AgentLog).
    pub agents: RecordBatch,
    /// Segments; see [`PacketLog`](crate::result::PacketLog).
    pub packets: RecordBatch,
    /// Pings; see [`PingTable`](crate::result::PingTable).
    pub pings: RecordBatch,
    /// Reports of controls from object files, one for each flow that has one.
    pub controls: Vec<ControlReport>,
}

/// The reason a run has no result.
#[derive(Debug)]
pub enum RunError {
    /// The progress callback requested a stop.
    Interrupted,
    /// The scenario cannot be replayed.
    Scenario(ScenarioError),
    /// A capture or log could not be written.
    Record(RecordError),
    /// The columns could not be built.
    Columns(ArrowError),
    /// A congestion control from an object file cannot go on: where and why.
    Control(String),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interrupted => f.write_str("the run was interrupted"),
            Self::Scenario(error) => error.fmt(f),
            Self::Record(error) => error.fmt(f),
            Self::Control(fault) => write!(f, "the congestion control stopped: {fault}"),
            Self::Columns(error) => write!(f, "cannot make the result's columns: {error}"),
        }
    }
}

impl std::error::Error for RunError {}

impl From<ScenarioError> for RunError {
    fn from(error: ScenarioError) -> Self {
        Self::Scenario(error)
    }
}

impl From<RecordError> for RunError {
    fn from(error: RecordError) -> Self {
        Self::Record(error)
    }
}

impl From<ArrowError> for RunError {
    fn from(error: ArrowError) -> Self {
        Self::Columns(error)
    }
}

/// Runs a scenario. `progress` is called with the share of virtual time that has passed, at least a
/// hundred times, in long runs more often, and returns whether to continue.
///
/// # Errors
/// [`RunError::Interrupted`] when `progress` returns false; [`RunError::Record`] when a capture or
/// log cannot be written; [`RunError::Scenario`] when the scenario cannot be played back as
/// requested; [`RunError::Control`] when a congestion control from an object file cannot go on.
pub fn run(
    scenario: &Scenario,
    seed: u64,
    observe: &Observe,
    progress: &dyn Fn(f64) -> bool,
) -> Result<RunResult, RunError> {
    let mut running = Running::new(scenario, seed, observe)?;
    let end = running.end();
    let longest = (scenario.duration / STEPS).max(Duration::from_nanos(1));
    let mut step = FIRST_STEP.min(longest);
    loop {
        let (until, before) = (running.now() + step, running.events());
        if until >= end {
            return running.finish();
        }
        running.advance(until);
        running.check_controls()?;
        let in_step = running.events() - before;
        if in_step > MAX_EVENTS_A_STEP {
            step = (step / 2).max(Duration::from_nanos(1));
        } else if in_step < MAX_EVENTS_A_STEP / 4 {
            step = (step * 2).min(longest);
        }
        if !progress(until.as_secs_f64() / end.as_secs_f64()) {
            return Err(RunError::Interrupted);
        }
    }
}

#[cfg(test)]
mod tests;
