//! A finished run.

use arrow_array::RecordBatch;
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
        stream(py, &self.0.samples)
    }

    /// The frames on every medium, as an Arrow IPC stream.
    fn frames<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        stream(py, &self.0.frames)
    }

    /// What agents at access points did, as an Arrow IPC stream.
    fn agents<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        stream(py, &self.0.agents)
    }

    /// Round-trip times, as an Arrow IPC stream.
    fn rtts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        stream(py, &self.0.rtts)
    }

    /// Segments at the host that sends the data, as an Arrow IPC stream.
    fn packets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        stream(py, &self.0.packets)
    }

    /// The events, as an Arrow IPC stream.
    fn events<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        stream(py, &self.0.events)
    }
}

/// A table as an Arrow IPC stream.
pub(crate) fn stream<'py>(py: Python<'py>, table: &RecordBatch) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = py.detach(|| airtcp_sim::ipc_stream(table));
    let bytes = bytes.map_err(|error| run_error(py, error))?;
    Ok(PyBytes::new(py, &bytes))
}
