//! Recordings of links, read.

use std::fs::File;
use std::path::{Path, PathBuf};

use airtcp_link::RttSeries;
use pyo3::prelude::*;

use crate::errors::scenario_error;

/// The round-trip times in the log of a `ping` at `path`, in nanoseconds and in the order of
/// sending, and how many probes were not answered.
#[pyfunction]
pub(crate) fn read_rtts(py: Python<'_>, path: PathBuf) -> PyResult<(Vec<u64>, u64)> {
    let series = py
        .detach(|| read(&path))
        .map_err(|error| scenario_error(py, error))?;
    let rtts = series.as_slice().iter().map(|rtt| rtt.as_nanos());
    Ok((rtts.collect(), series.summary().lost))
}

fn read(path: &Path) -> Result<RttSeries, String> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|error| {
        format!("{name}: cannot be read ({error}): check that the file exists and may be read")
    })?;
    RttSeries::read(file, &name).map_err(|error| error.to_string())
}
