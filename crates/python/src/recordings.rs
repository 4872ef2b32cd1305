//! Reads users' recordings.

use std::fs::File;
use std::path::{Path, PathBuf};

use airtcp_recording::played::{Events, Span, TimedLog};
use airtcp_recording::{Clock, FORMATS, Fact, Format, Load, ProbeLog, Recording};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::scenario_error;
use crate::recorded_parts;

/// The recording at `path` in any format of the registry: its `format`, `title` and `summary`,
/// `remarks` and `assumptions`, its origin, and every part that it has. If it has probes, `numbers`
/// among all `numbered` ones, `sent_ns`, `round_trips_ns`, `unplaced`, `clock` and `interval_ns`.
#[pyfunction]
pub(crate) fn read_recording(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let recording = py
        .detach(|| read(&path))
        .map_err(|error| scenario_error(py, error))?;
    let fields = PyDict::new(py);
    let format = FORMATS.iter().find(|one| one.name == recording.format);
    fields.set_item("format", recording.format)?;
    fields.set_item("title", format.map(|format| format.title))?;
    fields.set_item("summary", &recording.summary)?;
    fields.set_item("remarks", &recording.remarks)?;
    let assumptions = recording.assumptions.iter();
    let assumptions: Vec<_> = assumptions.map(|one| (&one.what, one.option)).collect();
    fields.set_item("assumptions", assumptions)?;
    fields.set_item("program", &recording.origin.program)?;
    fields.set_item("hosts", &recording.origin.hosts)?;
    fields.set_item("began_unix_ns", recording.origin.began_unix_ns)?;
    fields.set_item("load", of_load(recording.load))?;
    recorded_parts::add(&fields, &recording)?;
    if let Some(log) = &recording.probes {
        add_probes(&fields, log)?;
    }
    Ok(fields)
}

/// A format's name, title, facts that a file may hold, and facts that it cannot.
type FormatRow = (&'static str, &'static str, Vec<String>, Vec<String>);

/// All formats of recordings, in the order in which they are asked: name, title, facts that a file
/// may hold, and facts that it cannot hold.
#[pyfunction]
pub(crate) fn recording_formats() -> Vec<FormatRow> {
    let words = |facts: &[Fact]| facts.iter().map(ToString::to_string).collect();
    let row = |format: &Format| {
        let (knows, lacks) = (words(format.knows), words(&format.lacks()));
        (format.name, format.title, knows, lacks)
    };
    FORMATS.iter().map(row).collect()
}

/// The events of a ping log: times of sending from the first probe, round trips with NaN for none,
/// and the usual interval, all in seconds. `gaps` and `stops` as starts and lengths in seconds, by
/// probe whether it was lost `alone` or `stopped` and its `usual_s` round trip, the first probe
/// after each of the `steps`, and `sleep_s`.
#[pyfunction]
pub(crate) fn ping_events(
    py: Python<'_>,
    time_s: PyBuffer<f64>,
    rtt_s: PyBuffer<f64>,
    interval_s: f64,
) -> PyResult<Bound<'_, PyDict>> {
    let log = TimedLog {
        time_s: time_s.to_vec(py)?,
        rtt_s: rtt_s.to_vec(py)?,
        interval_s,
        unplaced: 0,
    };
    let answered = log.rtt_s.iter().filter(|rtt| !rtt.is_nan()).count();
    if log.time_s.len() != log.rtt_s.len() || answered == 0 {
        let (times, rtts) = (log.time_s.len(), log.rtt_s.len());
        let text = format!(
            "{times} times and {rtts} round trips, {answered} of them known: expected as many \
             round trips as times, and one that is known"
        );
        return Err(scenario_error(py, text));
    }
    let events = py.detach(|| Events::of(&log));
    let spans = |spans: &[Span]| -> Vec<_> {
        let ends = spans.iter().map(|span| (span.start_s, span.length_s));
        ends.collect()
    };
    let fields = PyDict::new(py);
    fields.set_item("gaps", spans(&events.gaps))?;
    fields.set_item("stops", spans(&events.stops))?;
    fields.set_item("alone", events.alone)?;
    fields.set_item("stopped", events.stopped)?;
    fields.set_item("usual_s", events.usual_s)?;
    fields.set_item("steps", events.steps)?;
    fields.set_item("sleep_s", events.sleep_s)?;
    Ok(fields)
}

fn of_load(load: Load) -> &'static str {
    match load {
        Load::Idle => "idle",
        Load::Loaded => "loaded",
        Load::Unknown => "unknown",
    }
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
    if path.is_dir() {
        return Err(format!("{name}: is a folder; give one of its files"));
    }
    if path.starts_with("http:") || path.starts_with("https:") {
        let remedy = "download it, and give the file: curl -LO";
        return Err(format!("{name}: is a web address; {remedy}"));
    }
    let file = File::open(path).map_err(|error| {
        format!("{name}: cannot be read ({error}): check that the file exists and may be read")
    })?;
    airtcp_recording::read(file, &name).map_err(|error| error.to_string())
}
