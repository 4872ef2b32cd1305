//! Captures of real TCP.

mod air;
mod quic;
mod tables;

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::time::Instant;

use airtcp_capture::analysis::{Analysis, Place};
use airtcp_capture::export::{AnnotateError, Summary, annotate};
use airtcp_capture::{CaptureError, Limits, SurveyError};
use arrow_array::RecordBatch;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::errors::capture_error;
use crate::run::LISTENING_INTERVAL;
use crate::table::Table;
pub(crate) use air::read_air;
pub(crate) use quic::read_quic;

/// A capture as read, with an analysis of one flow: a summary as JSON, and tables.
#[pyclass(frozen, module = "airtcp._core")]
pub(crate) struct Capture {
    capture: airtcp_capture::Capture,
    path: PathBuf,
}

type Rows = Result<RecordBatch, arrow_schema::ArrowError>;

impl Capture {
    fn table(
        &self,
        py: Python<'_>,
        rows: impl Fn(&airtcp_capture::Capture) -> Rows + Sync,
    ) -> PyResult<Table> {
        let capture = &self.capture;
        py.detach(|| rows(capture))
            .map(Table::from)
            .map_err(|error| capture_error(py, error))
    }

    fn of_flow(
        &self,
        py: Python<'_>,
        rows: fn(&Analysis) -> Rows,
        at_sender: bool,
    ) -> PyResult<Table> {
        let Some(analysis) = &self.capture.analysis else {
            return Err(capture_error(py, "there is no TCP in the capture"));
        };
        let analysis = match (at_sender, &analysis.at_sender) {
            (false, _) => analysis,
            (true, Some(moved)) => moved,
            (true, None) => {
                let text = "the capture does not tell what its sender saw";
                return Err(capture_error(py, text));
            }
        };
        self.table(py, |_| rows(analysis))
    }
}

#[pymethods]
impl Capture {
    /// The summary, as JSON.
    fn summary(&self, py: Python<'_>) -> PyResult<String> {
        serde_json::to_string(&Summary::of(&self.capture)).map_err(|error| capture_error(py, error))
    }

    /// One row per flow.
    fn flows(&self, py: Python<'_>) -> PyResult<Table> {
        self.table(py, |capture| tables::flows(&capture.survey))
    }

    /// One row per transmission of the flow's data; with `at_sender`, for a capture at the
    /// receiver, in the sender's view.
    #[pyo3(signature = (*, at_sender = false))]
    fn segments(&self, py: Python<'_>, at_sender: bool) -> PyResult<Table> {
        self.of_flow(py, tables::segments, at_sender)
    }

    /// One row per acknowledgment; with `at_sender`, for a capture at the receiver, in the sender's
    /// view.
    #[pyo3(signature = (*, at_sender = false))]
    fn acks(&self, py: Python<'_>, at_sender: bool) -> PyResult<Table> {
        self.of_flow(py, tables::acks, at_sender)
    }

    /// One row per retransmission; with `at_sender`, for a capture at the receiver, in the sender's
    /// view.
    #[pyo3(signature = (*, at_sender = false))]
    fn labels(&self, py: Python<'_>, at_sender: bool) -> PyResult<Table> {
        self.of_flow(py, tables::labels, at_sender)
    }

    /// One row per bin of the queue length.
    fn hazard(&self, py: Python<'_>) -> PyResult<Table> {
        self.of_flow(py, tables::hazard, false)
    }

    /// One row per stop of the link.
    fn stops(&self, py: Python<'_>) -> PyResult<Table> {
        self.of_flow(py, tables::stops, false)
    }

    /// One row per packet overtaken upstream of the capture.
    fn overtaken(&self, py: Python<'_>) -> PyResult<Table> {
        self.of_flow(py, tables::overtaken, false)
    }

    /// Copies the capture to pcapng, with comments on the retransmissions.
    fn annotate(&self, py: Python<'_>, out: PathBuf) -> PyResult<()> {
        let Some(analysis) = &self.capture.analysis else {
            return Err(capture_error(py, "there is no TCP in the capture"));
        };
        py.detach(|| annotate(&self.path, &out, analysis))
            .map_err(|error| match error {
                AnnotateError::Write(error) => error.into(),
                AnnotateError::Read(error) => capture_error(py, error),
            })
    }
}

/// Reads a capture and analyses flow number `flow`, or the one with the most payload. `view` sets
/// the vantage point (sender, receiver or middle) instead of detecting it. `progress` is called a
/// few times a second with the bytes and the packets read; Ctrl-C ends the reading.
#[pyfunction]
#[pyo3(signature = (path, flow = None, view = None, *, packets = None, progress = None))]
pub(crate) fn read_capture(
    py: Python<'_>,
    path: PathBuf,
    flow: Option<u32>,
    view: Option<&str>,
    packets: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Capture> {
    let view = match view {
        None => None,
        Some("sender") => Some(Place::Sender),
        Some("receiver") => Some(Place::Receiver),
        Some("middle") => Some(Place::Middle),
        Some(other) => {
            let text = format!("view = {other:?}: expected sender, receiver or middle");
            return Err(capture_error(py, text));
        }
    };
    let mut limits = Limits::default();
    if let Some(packets) = packets {
        (limits.packets, limits.packets_of_one) = (packets, packets);
    }
    let (result, raised) = py.detach(|| {
        let raised = RefCell::new(None);
        let heard = Cell::new(Instant::now());
        let mut listen = |now: airtcp_capture::Progress| {
            if heard.get().elapsed() < LISTENING_INTERVAL {
                return true;
            }
            heard.set(Instant::now());
            let answer = Python::attach(|py| {
                py.check_signals()?;
                progress.as_ref().map_or(Ok(()), |call| {
                    call.call1(py, (now.bytes, now.packets)).map(drop)
                })
            });
            answer.map_err(|error| raised.replace(Some(error))).is_ok()
        };
        let result = airtcp_capture::Capture::read(&path, flow, view, &limits, &mut listen);
        (result, raised.into_inner())
    });
    match (result, raised) {
        (Ok(capture), _) => Ok(Capture { capture, path }),
        (Err(_), Some(error)) => Err(error),
        (Err(CaptureError::Survey(SurveyError::Interrupted)), None) => {
            Err(PyKeyboardInterrupt::new_err(()))
        }
        (Err(error), None) => Err(capture_error(py, format!("{}: {error}", path.display()))),
    }
}
