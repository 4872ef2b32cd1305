//! Reads users' recordings.

use std::fs::File;
use std::path::{Path, PathBuf};

use airtcp_recording::{Clock, ProbeLog, Recording};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::scenario_error;

/// The recording at `path` in any format of the registry: the name of its `format`, and, if it has
/// probes, `numbers` among all `numbered` ones, `sent_ns`, `round_trips_ns`, `unplaced`, `clock`,
/// `interval_ns` and `began_unix_ns`.
#[pyfunction]
pub(crate) fn read_recording(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let recording = py
        .detach(|| read(&path))
        .map_err(|error| scenario_error(py, error))?;
    let fields = PyDict::new(py);
    fields.set_item("format", recording.format)?;
    if let Some(log) = &recording.probes {
        add_probes(&fields, log)?;
    }
    Ok(fields)
}

fn add_probes(fields: &Bound<'_, PyDict>, log: &ProbeLog) -> PyResult<()> {
    let replies = log.replies();
    let numbers: Vec<u64> = replies.iter().map(|reply| reply.number).collect();
    let sent: Option<Vec<u64>> = replies
        .iter()
        .map(|reply| reply.sent.map(|sent| sent.as_nanos()))
        .collect();
    let round_trips: Vec<u64> = replies
        .iter()
        .map(|reply| reply.round_trip.as_nanos())
        .collect();
    fields.set_item("numbers", numbers)?;
    fields.set_item("sent_ns", sent)?;
    fields.set_item("round_trips_ns", round_trips)?;
    fields.set_item("numbered", log.numbered())?;
    fields.set_item("unplaced", log.unplaced())?;
    let clock = match log.clock() {
        Clock::Stamps => "stamps",
        Clock::Statistics => "statistics",
        Clock::Unknown => "unknown",
    };
    fields.set_item("clock", clock)?;
    fields.set_item("interval_ns", log.interval().map(|span| span.as_nanos()))?;
    fields.set_item("began_unix_ns", log.began_unix_ns())
}

fn read(path: &Path) -> Result<Recording, String> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|error| {
        format!("{name}: cannot be read ({error}): check that the file exists and may be read")
    })?;
    airtcp_recording::read(file, &name).map_err(|error| error.to_string())
}
