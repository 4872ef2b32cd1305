//! Round-trip times from CSV, or from a bare number a line.

use super::rtt_value::parse_ms;
use super::{Source, TraceError};
use airtcp_units::Duration;

/// Names of the column with the round-trip times, the first preferred.
const COLUMNS: [&str; 3] = ["rtt_ms", "rtt", "time_ms"];

const SEPARATORS: [u8; 3] = [b',', b';', b'\t'];

/// Layout of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    has_header: bool,
    separator: u8,
    column: usize,
}

impl Layout {
    /// The layout that the first line of a file shows; none when it is neither a number nor a
    /// header with a known column.
    pub(super) fn told_by(first_line: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(first_line).ok()?;
        let text = text.trim_start_matches('\u{feff}');
        if text.trim().parse::<f64>().is_ok() {
            return Some(Self {
                has_header: false,
                separator: b',',
                column: 0,
            });
        }
        SEPARATORS.iter().find_map(|&separator| {
            let names: Vec<&str> = text.split(char::from(separator)).map(bare_name).collect();
            COLUMNS.iter().find_map(|known| {
                let column = names
                    .iter()
                    .position(|name| name.eq_ignore_ascii_case(known))?;
                Some(Self {
                    has_header: true,
                    separator,
                    column,
                })
            })
        })
    }
}

fn bare_name(field: &str) -> &str {
    field.trim().trim_matches('"').trim()
}

/// The round-trip times and how many fields were empty: probes that were not answered.
pub(super) fn parse(
    bytes: &[u8],
    layout: Layout,
    source: Source<'_>,
) -> Result<(Vec<Duration>, u64), TraceError> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(layout.has_header)
        .delimiter(layout.separator)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(bytes);
    let (mut rtts, mut lost) = (Vec::new(), 0);
    let mut record = csv::ByteRecord::new();
    loop {
        let line = reader.position().line();
        match reader.read_byte_record(&mut record) {
            Ok(false) => return Ok((rtts, lost)),
            Ok(true) => {}
            Err(error) => {
                let problem = super::TraceProblem::Unreadable(error.to_string());
                return Err(source.error(Some(line), problem));
            }
        }
        let line = record.position().map_or(line, csv::Position::line);
        match record.get(layout.column) {
            Some(b"") => lost += 1,
            Some(field) => rtts.push(parse_ms(field, line, source)?),
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
}
