//! QUIC in captures.

use std::path::PathBuf;

use airtcp_capture::quic::{Quic, Row};
use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use pyo3::prelude::*;

use super::tables::Columns;
use crate::errors::capture_error;
use crate::table::Table;

/// The QUIC of a capture: a row per flow, a row per datagram, and whether there were too many to
/// store.
#[pyfunction]
pub(crate) fn read_quic(py: Python<'_>, path: PathBuf) -> PyResult<(Table, Table, bool)> {
    let read = py.detach(|| Quic::read(&path));
    let quic = read.map_err(|error| capture_error(py, format!("{}: {error}", path.display())))?;
    let tables = py.detach(|| Ok::<_, ArrowError>((flows(&quic)?, datagrams(&quic)?)));
    let (flows, datagrams) = tables.map_err(|error| capture_error(py, error))?;
    Ok((flows.into(), datagrams.into(), quic.is_cut))
}

/// One row per flow: `client`, `server`, `has_begun` (the capture holds its first packet).
fn flows(quic: &Quic) -> Result<RecordBatch, ArrowError> {
    Columns::of(&quic.flows)
        .text("client", |flow| Some(flow.client.to_string()))
        .text("server", |flow| Some(flow.server.to_string()))
        .truth("has_begun", |flow| Some(flow.has_begun))
        .finish()
}

/// One row per datagram: `time_ns`, `flow` (its row), `from_server`, `bytes` (of the UDP payload),
/// `kind`, `version`, `spin`, `destination_id_bytes`, `source_id_bytes`.
fn datagrams(quic: &Quic) -> Result<RecordBatch, ArrowError> {
    let id = |row: &Row, place: usize| row.header.id_bytes.map(|ids| u32::from(ids[place]));
    Columns::of(&quic.rows)
        .signed("time_ns", |row| i64::try_from(row.nanos).ok())
        .short("flow", |row| Some(row.flow))
        .truth("from_server", |row| Some(row.way.index() == 1))
        .short("bytes", |row| Some(row.bytes))
        .word("kind", |row| Some(row.header.kind.name()))
        .short("version", |row| row.header.version)
        .truth("spin", |row| row.header.spin)
        .short("destination_id_bytes", |row| id(row, 0))
        .short("source_id_bytes", |row| id(row, 1))
        .finish()
}
