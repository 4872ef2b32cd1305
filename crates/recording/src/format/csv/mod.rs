//! Round-trip times from CSV, or from a bare number a line.

mod gaps;
mod layout;

use airtcp_units::Duration;

use super::table;
use super::{EXPECTED, Fact, Format, Recording};
use crate::fault::{TraceError, TraceProblem};
use crate::probes::{ProbeLogBuilder, Stamp};
use crate::source::Source;
use gaps::numbered;
use layout::Layout;

pub(super) const FORMAT: Format = Format {
    name: "csv",
    title: "CSV with a column rtt_ms (or rtt, time_ms), or one number of milliseconds a line",
    knows: &[Fact::SendingTimes, Fact::RoundTrips, Fact::UnansweredProbes],
    by_lines: true,
    sniff: |bytes| table::header(bytes).and_then(Layout::told_by).is_some(),
    read,
};

/// An empty field, or one marked as lost, is a probe without an answer, and so is a row missing
/// from a series of even times.
fn read(bytes: &[u8], source: Source<'_>) -> Result<Recording, TraceError> {
    let none = || source.error(None, TraceProblem::NoRoundTrip { expected: EXPECTED });
    let layout = table::header(bytes)
        .and_then(Layout::told_by)
        .ok_or_else(none)?;
    let (bytes, skipped) = table::body(bytes);
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(layout.has_header)
        .delimiter(layout.separator)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(bytes);
    let mut rows: Vec<(Option<f64>, Option<Duration>)> = Vec::new();
    let mut record = csv::ByteRecord::new();
    loop {
        let line = skipped + reader.position().line();
        let is_row = reader.read_byte_record(&mut record).map_err(|error| {
            source.error(Some(line), TraceProblem::Unreadable(error.to_string()))
        })?;
        if !is_row {
            break;
        }
        let line = record
            .position()
            .map_or(line, |position| skipped + position.line());
        match record.get(layout.column) {
            Some(field) => {
                let is_answered = !Layout::is_unanswered(field);
                let rtt = is_answered.then(|| layout.round_trip(field, line, source));
                let time = layout.time.and_then(|column| record.get(column));
                rows.push((time.and_then(|time| layout.seconds(time)), rtt.transpose()?));
            }
            None => {
                return Err(source.malformed(
                    line,
                    record.as_slice(),
                    "as many columns as the header has",
                    "correct or remove the line",
                ));
            }
        }
    }
    let times: Option<Vec<f64>> = rows.iter().map(|(seconds, _)| *seconds).collect();
    let numbers = times.and_then(|times| numbered(&times));
    let is_fine = is_fine(rows.iter().filter_map(|(seconds, _)| *seconds));
    let number = |row: usize| numbers.as_ref().map_or(row as u64, |numbers| numbers[row]);
    let sent = rows.len().checked_sub(1).map_or(0, |last| number(last) + 1);
    let replies = rows
        .iter()
        .enumerate()
        .filter_map(|(row, &(seconds, rtt))| {
            let rtt = rtt?;
            Some((
                number(row),
                seconds.map(|seconds| arrival(seconds, rtt, is_fine)),
                rtt,
            ))
        });
    let mut log = ProbeLogBuilder::default();
    log.run(replies, sent, 0);
    let log = log.finish().ok_or_else(none)?;
    Ok(Recording::of_probes(FORMAT.name, log))
}

/// Seconds since 1970 from which a time is taken as a date.
const FIRST_DATE_S: f64 = 1e9;

/// A number of seconds since 1970 from a finer unit is as close to the whole one that is meant.
const WHOLE_S: f64 = 1e-5;

/// Whether times distinguish probes: some have parts of a second, or no two probes were sent in the
/// same one.
fn is_fine(times: impl Iterator<Item = f64>) -> bool {
    let mut before = None;
    let mut is_shared = false;
    for time in times {
        if (time - time.round()).abs() > WHOLE_S {
            return true;
        }
        is_shared |= before.replace(time.round()) == Some(time.round());
    }
    !is_shared
}

/// The arrival of a reply to a probe sent at that time.
fn arrival(seconds: f64, rtt: Duration, is_fine: bool) -> Stamp {
    Stamp {
        nanos: (seconds * 1e9).round() as u64 + rtt.as_nanos(),
        is_dated: seconds >= FIRST_DATE_S,
        is_fine,
    }
}
