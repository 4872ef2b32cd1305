//! Many runs in parallel.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;

use pyo3::prelude::*;

use crate::errors::run_error;
use crate::result::RunResult;
use crate::run::LISTENING_INTERVAL;
use crate::scenario::Scenario;

/// Runs each scenario with its seed, `threads` at a time, and returns their results in order: a
/// `RunResult` or a `RunError` each. `on_done` is called in the calling thread with index and
/// result as each run finishes. An exception from it, or Ctrl-C, is raised at once; runs in flight
/// then end in the background, and no others begin.
#[pyfunction]
#[pyo3(signature = (cells, threads, on_done = None))]
pub(crate) fn run_many(
    py: Python<'_>,
    cells: Vec<(Py<Scenario>, u64)>,
    threads: usize,
    on_done: Option<Py<PyAny>>,
) -> PyResult<Vec<Py<PyAny>>> {
    let cells: Vec<_> = cells
        .iter()
        .map(|(scenario, seed)| (Arc::clone(&scenario.get().0), *seed))
        .collect();
    let stopped = Arc::new(AtomicBool::new(false));
    let (finished, done) = mpsc::channel();
    let worker = thread::spawn({
        let stopped = Arc::clone(&stopped);
        move || {
            airtcp_sim::run_many(&cells, threads, &|index, result| {
                // There is no receiver any more once an exception ended the call.
                finished.send((index, result.clone())).is_ok() && !stopped.load(Ordering::Relaxed)
            })
        }
    });
    let outcome = py.detach(move || {
        loop {
            let heard = match done.recv_timeout(LISTENING_INTERVAL) {
                Ok(finished) => Some(finished),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            };
            Python::attach(|py| {
                if let (Some((index, result)), Some(call)) = (heard, &on_done) {
                    call.call1(py, (index, RunResult(result)))?;
                }
                py.check_signals()
            })?;
        }
    });
    if let Err(error) = outcome {
        stopped.store(true, Ordering::Relaxed);
        return Err(error);
    }
    let results = py
        .detach(|| worker.join())
        .map_err(|_| run_error(py, "a run panicked"))?;
    results
        .into_iter()
        .map(|result| match result {
            Ok(result) => Ok(Py::new(py, RunResult(result))?.into_any()),
            Err(error) => Ok(run_error(py, error).into_value(py).into_any()),
        })
        .collect()
}
