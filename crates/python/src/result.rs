//! A finished run.

use pyo3::prelude::*;

use crate::errors::run_error;
use crate::table::Table;

/// A finished run: its summary as JSON, its columns as tables.
#[pyclass(frozen, module = "airtcp._core")]
pub(crate) struct RunResult(pub(crate) airtcp_sim::RunResult);

#[pymethods]
impl RunResult {
    /// The summary, as JSON.
    fn summary(&self, py: Python<'_>) -> PyResult<String> {
        serde_json::to_string(&self.0.summary).map_err(|error| run_error(py, error))
    }

    /// Samples of the probes.
    fn samples(&self) -> Table {
        Table::from(&self.0.samples)
    }

    /// The frames on every medium.
    fn frames(&self) -> Table {
        Table::from(&self.0.frames)
    }

    /// Events of agents at access points.
    fn agents(&self) -> Table {
        Table::from(&self.0.agents)
    }

    /// Round-trip times.
    fn rtts(&self) -> Table {
        Table::from(&self.0.rtts)
    }

    /// Segments at the data sender.
    fn packets(&self) -> Table {
        Table::from(&self.0.packets)
    }

    /// Pings.
    fn pings(&self) -> Table {
        Table::from(&self.0.pings)
    }

    /// What controls from object files report, as JSON.
    fn controls(&self, py: Python<'_>) -> PyResult<String> {
        serde_json::to_string(&self.0.controls).map_err(|error| run_error(py, error))
    }

    /// The events.
    fn events(&self) -> Table {
        Table::from(&self.0.events)
    }
}
