//! Airtime in monitor captures.

use std::path::PathBuf;

use airtcp_capture::air::{Air, Mac, Pair};
use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use pyo3::prelude::*;

use super::tables::Columns;
use crate::errors::capture_error;
use crate::table::Table;

/// Airtime in a monitor capture: a row for each transmitter and receiver, the length in seconds,
/// the number of damaged frames, and whether there were too many pairs to list. Without radio
/// headers there are no rows.
#[pyfunction]
pub(crate) fn read_air(py: Python<'_>, path: PathBuf) -> PyResult<(Table, f64, u64, bool)> {
    let read = py.detach(|| Air::read(&path));
    let air = read.map_err(|error| capture_error(py, format!("{}: {error}", path.display())))?;
    let rows = pairs(&air).map_err(|error| capture_error(py, error))?;
    Ok((
        rows.into(),
        air.length.as_secs_f64(),
        air.damaged,
        air.is_cut,
    ))
}

fn words(mac: Mac) -> String {
    mac.map(|byte| format!("{byte:02x}")).join(":")
}

/// One row per pair: `transmitter` (null for ACK and CTS), `receiver`, `frames`, `data_frames`,
/// `retries` (data frames with the retry bit), `data_bytes`, `ppdus`, `airtime_s`, `unknown`
/// (frames with an unknown duration), `mean_rate_bps` (weighted by data bytes), `fastest_bps`,
/// `standard` (of the fastest), `signal_dbm` (at the monitor).
fn pairs(air: &Air) -> Result<RecordBatch, ArrowError> {
    type Row = ((Option<Mac>, Mac), Pair);
    let rows: Vec<Row> = air
        .pairs
        .iter()
        .map(|(ends, pair)| (*ends, *pair))
        .collect();
    Columns::of(&rows)
        .text("transmitter", |((from, _), _): &Row| from.map(words))
        .text("receiver", |((_, to), _)| Some(words(*to)))
        .long("frames", |(_, pair)| Some(pair.frames))
        .long("data_frames", |(_, pair)| Some(pair.data_frames))
        .long("retries", |(_, pair)| Some(pair.retries))
        .long("data_bytes", |(_, pair)| Some(pair.data_bytes))
        .long("ppdus", |(_, pair)| Some(pair.ppdus))
        .real("airtime_s", |(_, pair)| Some(pair.airtime.as_secs_f64()))
        .long("unknown", |(_, pair)| Some(pair.unknown))
        .real("mean_rate_bps", |(_, pair)| pair.mean_rate_bps())
        .real("fastest_bps", |(_, pair)| {
            Some(pair.fastest?.bit_rate().as_bps() as f64)
        })
        .text("standard", |(_, pair)| {
            Some(pair.fastest?.family().to_string())
        })
        .real("signal_dbm", |(_, pair)| pair.signal_dbm())
        .finish()
}
