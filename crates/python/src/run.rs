//! One run.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use airtcp_sim::RunError;
use pyo3::prelude::*;

use crate::control;
use crate::errors::{run_error, scenario_error};
use crate::result::RunResult;
use crate::scenario::Scenario;

/// Interval between checks for Python signals, such as an interrupt.
pub(crate) const LISTENING_INTERVAL: Duration = Duration::from_millis(100);

/// Runs a scenario once. `progress` is called a few times a second with the share of virtual time
/// that has passed; Ctrl-C ends the run.
#[pyfunction]
#[pyo3(signature = (scenario, seed, *, probes = Vec::new(), probe_interval_s = None, events = false,
                    air = false, rtts = false, packets = false, pings = false, pcap = None,
                    qlog = None, replay = None, progress = None),
       text_signature = "(scenario, seed, *, probes=(), probe_interval_s=None, events=False, \
                         air=False, rtts=False, packets=False, pings=False, \
                         pcap=None, qlog=None, replay=None, progress=None)")]
#[expect(
    clippy::too_many_arguments,
    reason = "all but two are keywords in Python"
)]
pub(crate) fn run(
    py: Python<'_>,
    scenario: &Scenario,
    seed: u64,
    probes: Vec<String>,
    probe_interval_s: Option<f64>,
    events: bool,
    air: bool,
    rtts: bool,
    packets: bool,
    pings: bool,
    pcap: Option<PathBuf>,
    qlog: Option<PathBuf>,
    replay: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
) -> PyResult<RunResult> {
    let observe = airtcp_sim::Observe {
        probes: probes_named(py, &probes)?,
        probe_interval: probe_interval(py, probe_interval_s)?,
        events,
        air,
        rtts,
        packets,
        pings,
        pcap,
        qlog,
        replay,
    };
    let simulated = || {
        let raised = RefCell::new(None);
        let heard = Cell::new(Instant::now());
        let listen = |share: f64| {
            if heard.get().elapsed() < LISTENING_INTERVAL {
                return true;
            }
            heard.set(Instant::now());
            let answer = Python::attach(|py| {
                py.check_signals()?;
                progress
                    .as_ref()
                    .map_or(Ok(()), |call| call.call1(py, (share,)).map(drop))
            });
            answer.map_err(|error| raised.replace(Some(error))).is_ok()
        };
        let result = airtcp_sim::run(&scenario.0, seed, &observe, &listen);
        (result, raised.into_inner())
    };
    drop(control::take_raised());
    let (result, raised) = if control::is_in_python(&scenario.0) {
        simulated()
    } else {
        py.detach(simulated)
    };
    match raised {
        Some(error) => Err(error),
        None => result.map(RunResult).map_err(|error| match error {
            RunError::Scenario(error) => scenario_error(py, error),
            error @ RunError::Control(_) => stopped(py, &error),
            error => run_error(py, error),
        }),
    }
}

/// The error for a control that cannot go on: an exception in Python is its cause, with its
/// traceback, or is raised itself if it ends the program.
fn stopped(py: Python<'_>, error: &RunError) -> PyErr {
    match control::take_raised() {
        Some(raised) if control::is_fatal(py, &raised) => raised,
        raised => {
            let stopped = run_error(py, error);
            stopped.set_cause(py, raised);
            stopped
        }
    }
}

/// The probes with these names.
pub(crate) fn probes_named(py: Python<'_>, names: &[String]) -> PyResult<Vec<airtcp_sim::Probe>> {
    names
        .iter()
        .map(|name| name.parse())
        .collect::<Result<_, _>>()
        .map_err(|error: airtcp_sim::ProbeError| scenario_error(py, error))
}

/// The time between samples, if given.
pub(crate) fn probe_interval(
    py: Python<'_>,
    seconds: Option<f64>,
) -> PyResult<Option<airtcp_units::Duration>> {
    seconds
        .map(|seconds| {
            airtcp_units::Duration::from_secs_f64(seconds)
                .filter(|interval| *interval > airtcp_units::Duration::ZERO)
                .ok_or_else(|| format!("probe_interval_s = {seconds}: expected a time above 0 s"))
        })
        .transpose()
        .map_err(|error| scenario_error(py, error))
}

/// The names of the probes.
#[pyfunction]
pub(crate) fn probes() -> Vec<&'static str> {
    airtcp_sim::Probe::all()
        .map(airtcp_sim::Probe::name)
        .collect()
}
