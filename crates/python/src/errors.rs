//! The exceptions. Each is also a subclass of a built-in one, which PyO3's macro for exceptions
//! cannot express: hence they are created like by Python's `class` statement.

use pyo3::exceptions::{PyException, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple, PyType};

static AIRTCP_ERROR: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static SCENARIO_ERROR: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static CAPTURE_ERROR: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static RUN_ERROR: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// Adds the exceptions to the module.
pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("AirtcpError", airtcp_error(py)?)?;
    module.add("ScenarioError", scenario_error_type(py)?)?;
    module.add("RunError", run_error_type(py)?)?;
    module.add("CaptureError", capture_error_type(py)?)
}

/// A `ScenarioError` with the text of `error`.
pub(crate) fn scenario_error(py: Python<'_>, error: impl ToString) -> PyErr {
    raised(scenario_error_type(py), error)
}

/// A `RunError` with the text of `error`.
pub(crate) fn run_error(py: Python<'_>, error: impl ToString) -> PyErr {
    raised(run_error_type(py), error)
}

/// A `CaptureError` with the text of `error`.
pub(crate) fn capture_error(py: Python<'_>, error: impl ToString) -> PyErr {
    raised(capture_error_type(py), error)
}

fn raised(class: PyResult<&Bound<'_, PyType>>, error: impl ToString) -> PyErr {
    match class {
        Ok(class) => PyErr::from_type(class.clone(), error.to_string()),
        Err(failure) => failure,
    }
}

fn airtcp_error(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    class(
        py,
        &AIRTCP_ERROR,
        "AirtcpError",
        "What airtcp raises.",
        || PyTuple::new(py, [py.get_type::<PyException>()]),
    )
}

fn scenario_error_type(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    let doc = "A scenario, a setting, a remedy or a probe is wrong.";
    class(py, &SCENARIO_ERROR, "ScenarioError", doc, || {
        PyTuple::new(
            py,
            [airtcp_error(py)?.clone(), py.get_type::<PyValueError>()],
        )
    })
}

fn capture_error_type(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    let doc = "A capture cannot be read, or has no such flow.";
    class(py, &CAPTURE_ERROR, "CaptureError", doc, || {
        PyTuple::new(
            py,
            [airtcp_error(py)?.clone(), py.get_type::<PyValueError>()],
        )
    })
}

fn run_error_type(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    let doc = "A run could not be finished.";
    class(py, &RUN_ERROR, "RunError", doc, || {
        PyTuple::new(
            py,
            [airtcp_error(py)?.clone(), py.get_type::<PyRuntimeError>()],
        )
    })
}

fn class<'py>(
    py: Python<'py>,
    cell: &'static PyOnceLock<Py<PyType>>,
    name: &str,
    doc: &str,
    bases: impl FnOnce() -> PyResult<Bound<'py, PyTuple>>,
) -> PyResult<&'py Bound<'py, PyType>> {
    let class = cell.get_or_try_init(py, || {
        let namespace = PyDict::new(py);
        namespace.set_item("__module__", "airtcp._core")?;
        namespace.set_item("__doc__", doc)?;
        let class = py.get_type::<PyType>().call1((name, bases()?, namespace))?;
        Ok::<_, PyErr>(class.cast_into::<PyType>()?.unbind())
    })?;
    Ok(class.bind(py))
}
