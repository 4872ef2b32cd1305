//! A run in stretches of virtual time.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;

use crate::errors::{run_error, scenario_error};
use crate::result::RunResult;
use crate::run::{probe_interval, probes_named};
use crate::scenario::Scenario;
use crate::table::Table;

/// A run in progress: `advance` moves it on and returns its recordings meanwhile, `finish` takes it
/// to its end. The result is that of `run`, wherever the stretches end.
#[pyclass(frozen, module = "airtcp._core")]
pub(crate) struct Running(Mutex<Option<airtcp_sim::Running<Arc<airtcp_scenario::Scenario>>>>);

#[pymethods]
impl Running {
    #[new]
    #[pyo3(signature = (scenario, seed, *, probes = Vec::new(), probe_interval_s = None,
                        events = false, packets = false),
           text_signature = "(scenario, seed, *, probes=(), probe_interval_s=None, \
                             events=False, packets=False)")]
    fn new(
        py: Python<'_>,
        scenario: &Scenario,
        seed: u64,
        probes: Vec<String>,
        probe_interval_s: Option<f64>,
        events: bool,
        packets: bool,
    ) -> PyResult<Self> {
        let observe = airtcp_sim::Observe {
            probes: probes_named(py, &probes)?,
            probe_interval: probe_interval(py, probe_interval_s)?,
            events,
            packets,
            ..airtcp_sim::Observe::default()
        };
        let scenario = Arc::clone(&scenario.0);
        py.detach(|| airtcp_sim::Running::new(scenario, seed, &observe))
            .map(|running| Self(Mutex::new(Some(running))))
            .map_err(|error| run_error(py, error))
    }

    /// Advances to `until_s` of virtual time, or to the end, and returns the recordings since the
    /// last call.
    fn advance(&self, py: Python<'_>, until_s: f64) -> PyResult<Stretch> {
        let until = airtcp_units::Duration::from_secs_f64(until_s).ok_or_else(|| {
            let text = format!("until_s = {until_s}: expected a time from 0 s on");
            scenario_error(py, text)
        })?;
        let taken = py.detach(|| {
            let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            running.as_mut().map(|running| {
                running.advance(airtcp_units::Instant::ZERO + until);
                let stretch = running.take()?;
                Ok(Stretch {
                    stretch,
                    time_s: running.now().as_secs_f64(),
                    finished: running.now() >= running.end(),
                })
            })
        });
        taken
            .ok_or_else(|| run_error(py, FINISHED))?
            .map_err(|error: airtcp_sim::RunError| run_error(py, error))
    }

    /// Runs to the end, once. The result has the rows that were not taken before.
    fn finish(&self, py: Python<'_>) -> PyResult<RunResult> {
        let result = py.detach(|| {
            let taken = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
            taken.map(airtcp_sim::Running::finish)
        });
        result
            .ok_or_else(|| run_error(py, FINISHED))?
            .map(RunResult)
            .map_err(|error| run_error(py, error))
    }
}

const FINISHED: &str = "this run is finished: make a new Running";

/// Recordings of a stretch of a run, as tables.
#[pyclass(frozen, module = "airtcp._core")]
pub(crate) struct Stretch {
    stretch: airtcp_sim::Stretch,
    /// Virtual time at its end, in seconds.
    #[pyo3(get)]
    time_s: f64,
    /// Whether the run has ended.
    #[pyo3(get)]
    finished: bool,
}

#[pymethods]
impl Stretch {
    /// Samples of the probes.
    fn samples(&self) -> Table {
        Table::from(&self.stretch.samples)
    }

    /// The events.
    fn events(&self) -> Table {
        Table::from(&self.stretch.events)
    }

    /// The segments.
    fn packets(&self) -> Table {
        Table::from(&self.stretch.packets)
    }
}
