//! Runs in which agents steer flows, side by side.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use airtcp_sim::environment::{Action, Environments, Steering, VALUES};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;

use crate::errors::{run_error, scenario_error};
use crate::scenario::Scenario;

/// Runs steered by agents. Buffers are contiguous: actions float64 and observations float32, by
/// environment and agent; flags bool, by environment.
#[pyclass(frozen, name = "Environments", module = "airtcp._core")]
pub(crate) struct PyEnvironments(Mutex<Environments>);

#[pymethods]
impl PyEnvironments {
    /// Creates `count` environments without runs. `action`: "window" or "pace".
    #[new]
    #[pyo3(signature = (count, *, agents = 1, action = "window", gain = 1.0,
                        least_interval_s = 0.01, threads = 0))]
    fn new(
        py: Python<'_>,
        count: usize,
        agents: usize,
        action: &str,
        gain: f64,
        least_interval_s: f64,
        threads: usize,
    ) -> PyResult<Self> {
        let action = match action {
            "window" => Action::Window,
            "pace" => Action::Pace,
            other => {
                let text = format!("action = {other:?}: expected \"window\" or \"pace\"");
                return Err(scenario_error(py, text));
            }
        };
        if !(gain.is_finite() && gain > 0.0) {
            let text = format!("gain = {gain}: expected a number above 0");
            return Err(scenario_error(py, text));
        }
        let least_interval = airtcp_units::Duration::from_secs_f64(least_interval_s)
            .filter(|interval| interval.as_nanos() >= 1_000_000)
            .ok_or_else(|| {
                let text =
                    format!("least_interval_s = {least_interval_s}: expected 0.001 s or more");
                scenario_error(py, text)
            })?;
        let steering = Steering {
            action,
            gain,
            least_interval,
            agents,
        };
        Ok(Self(Mutex::new(Environments::new(
            count, steering, threads,
        ))))
    }

    /// Begins a run in environment `index`.
    fn reset(&self, py: Python<'_>, index: usize, scenario: &Scenario, seed: u64) -> PyResult<()> {
        let scenario = Arc::clone(&scenario.0);
        py.detach(|| self.all().reset(index, &scenario, seed))
            .map_err(|error| scenario_error(py, error))
    }

    /// Takes a step in each environment that is `chosen` and has not finished.
    fn step(&self, py: Python<'_>, actions: PyBuffer<f64>, chosen: Vec<bool>) -> PyResult<()> {
        let actions = actions.to_vec(py)?;
        if let Some(action) = actions.iter().find(|action| action.is_nan()) {
            let text = format!("action = {action}: expected a number from -1 to 1");
            return Err(scenario_error(py, text));
        }
        let expected = chosen.len() * self.all().agents();
        if actions.len() != expected {
            let text = format!(
                "{} actions: expected {expected}, one for each agent",
                actions.len()
            );
            return Err(scenario_error(py, text));
        }
        py.detach(|| self.all().step(&actions, &chosen))
            .map_err(|error| run_error(py, error))
    }

    /// Writes the last observations of all agents.
    fn observe(&self, py: Python<'_>, observations: PyBuffer<f32>) -> PyResult<()> {
        let mut values = vec![0.0; observations.item_count()];
        self.all().write_observations(&mut values);
        observations.copy_from_slice(py, &values)
    }

    /// Whether each environment's run has ended, and its virtual time in seconds.
    fn progress(&self) -> Vec<(bool, f64)> {
        let all = self.all();
        let progress = all.each().map(|environment| {
            environment.map_or((true, 0.0), |one| {
                (one.is_finished(), one.now().as_secs_f64())
            })
        });
        progress.collect()
    }
}

impl PyEnvironments {
    fn all(&self) -> MutexGuard<'_, Environments> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Name, unit and meaning of each value of an observation.
#[pyfunction]
pub(crate) fn observed() -> Vec<(&'static str, &'static str, &'static str)> {
    VALUES.to_vec()
}
