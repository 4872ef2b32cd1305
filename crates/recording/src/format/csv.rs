//! Round-trip times from CSV, or from a bare number a line.

use airtcp_units::Duration;

use super::milliseconds::parse_ms;
use super::{EXPECTED, Fact, Format, Recording, first_line};
use crate::fault::{TraceError, TraceProblem};
use crate::probes::{ProbeLogBuilder, Stamp};
use crate::source::Source;

pub(super) const FORMAT: Format = Format {
    name: "csv",
    title: "CSV with a column rtt_ms (or rtt, time_ms), or one number of milliseconds a line",
    knows: &[Fact::SendingTimes, Fact::RoundTrips, Fact::UnansweredProbes],
    sniff: |bytes| first_line(bytes).and_then(Layout::told_by).is_some(),
    read,
};

/// Names of the column with the round-trip times, the first preferred.
const COLUMNS: [&str; 3] = ["rtt_ms", "rtt", "time_ms"];

/// Names of the column with the times of sending, in seconds of any origin.
const TIMES: [&str; 3] = ["time_s", "sent_s", "timestamp"];

const SEPARATORS: [u8; 3] = [b',', b';', b'\t'];

/// Layout of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    has_header: bool,
    separator: u8,
    column: usize,
    time: Option<usize>,
}

impl Layout {
    /// The layout that the first line of a file shows; None when it is neither a number nor a
    /// header with a known column.
    fn told_by(first_line: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(first_line).ok()?;
        let text = text.trim_start_matches('\u{feff}');
        if text.trim().parse::<f64>().is_ok() {
            return Some(Self {
                has_header: false,
                separator: b',',
                column: 0,
                time: None,
            });
        }
        SEPARATORS.iter().find_map(|&separator| {
            let names: Vec<&str> = text.split(char::from(separator)).map(bare_name).collect();
            let place = |known: &&str| {
                names
                    .iter()
                    .position(|name| name.eq_ignore_ascii_case(known))
            };
            Some(Self {
                has_header: true,
                separator,
                column: COLUMNS.iter().find_map(place)?,
                time: TIMES.iter().find_map(place),
            })
        })
    }
}

fn bare_name(field: &str) -> &str {
    field.trim().trim_matches('"').trim()
}

/// A field that is empty is a probe without an answer.
fn read(bytes: &[u8], source: Source<'_>) -> Result<Recording, TraceError> {
    let none = || source.error(None, TraceProblem::NoRoundTrip { expected: EXPECTED });
    let layout = first_line(bytes)
        .and_then(Layout::told_by)
        .ok_or_else(none)?;
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(layout.has_header)
        .delimiter(layout.separator)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(bytes);
    let (mut replies, mut sent) = (Vec::new(), 0);
    let mut record = csv::ByteRecord::new();
    loop {
        let line = reader.position().line();
        let is_row = reader.read_byte_record(&mut record).map_err(|error| {
            source.error(Some(line), TraceProblem::Unreadable(error.to_string()))
        })?;
        if !is_row {
            break;
        }
        let line = record.position().map_or(line, csv::Position::line);
        match record.get(layout.column) {
            Some(b"") => {}
            Some(field) => {
                let rtt = parse_ms(field, line, source)?;
                let time = layout.time.and_then(|column| record.get(column));
                replies.push((sent, time.and_then(|time| arrival(time, rtt)), rtt));
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
        sent += 1;
    }
    let mut log = ProbeLogBuilder::default();
    log.run(replies, sent, 0);
    let log = log.finish().ok_or_else(none)?;
    Ok(Recording::of_probes(FORMAT.name, log))
}

/// Seconds since 1970 from which a time is taken as a date.
const FIRST_DATE_S: f64 = 1e9;
/// Times above this are no seconds.
const LAST_S: f64 = 1e10;

/// The arrival of a reply to a probe sent at `seconds`.
fn arrival(seconds: &[u8], rtt: Duration) -> Option<Stamp> {
    let seconds: f64 = std::str::from_utf8(seconds).ok()?.parse().ok()?;
    let nanos = Duration::from_secs_f64(seconds).filter(|_| seconds < LAST_S)?;
    Some(Stamp {
        nanos: nanos.as_nanos() + rtt.as_nanos(),
        is_dated: seconds >= FIRST_DATE_S,
        is_fine: true,
    })
}
