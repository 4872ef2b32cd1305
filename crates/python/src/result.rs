//! A finished run.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::run_error;

/// A finished run: its summary as JSON, its columns as Arrow IPC streams.
#[pyclass(frozen, module = "airtcp._core")]
pub(crate) struct RunResult(pub(crate) airtcp_sim::RunResult);

#[pymethods]
impl RunResult {
    /// The summary, as JSON.
    fn summary(&self, py: Python<'_>) -> PyResult<String> {
        serde_json::to_string(&self.0.summary).map_err(|error| run_error(py, error))
    }

    /// What the probes saw, as an Arrow IPC stream.
    fn samples<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| airtcp_sim::ipc_stream(&self.0.samples));
        Ok(PyBytes::new(
            py,
            &bytes.map_err(|error| run_error(py, error))?,
        ))
    }

    /// The events, as an Arrow IPC stream.
    fn events<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| airtcp_sim::ipc_stream(&self.0.events));
        Ok(PyBytes::new(
            py,
            &bytes.map_err(|error| run_error(py, error))?,
        ))
    }
}
