//! CSV with a header; columns are found by name.

use super::{Source, TraceError, TraceProblem};
use airtcp_units::Duration;

/// Upper bound of times in a recording: 30 days, the longest run.
const MAX_MS: f64 = 30.0 * 24.0 * 3_600_000.0;

/// One row, its fields in the order of the requested columns.
pub(super) struct Row<'a> {
    line: u64,
    fields: &'a [Option<&'a [u8]>],
    source: Source<'a>,
}

impl Row<'_> {
    /// The requested column with this index, as a time in milliseconds; `None` for a column
    /// that the file does not have.
    pub(super) fn milliseconds(&self, column: usize) -> Result<Option<Duration>, TraceError> {
        self.number(
            column,
            |text| {
                let ms: f64 = text.parse().ok()?;
                (0.0..=MAX_MS)
                    .contains(&ms)
                    .then(|| Duration::from_nanos((ms * 1e6).round() as u64))
            },
            "a time in milliseconds between 0 and 2592000000 (30 days)",
        )
    }

    /// The same as a number of packets or flows, counted from 0.
    pub(super) fn count(&self, column: usize) -> Result<Option<u64>, TraceError> {
        self.number(
            column,
            |text| text.parse().ok(),
            "a whole number, counted from 0",
        )
    }

    /// The same as a probability.
    pub(super) fn probability(&self, column: usize) -> Result<Option<f64>, TraceError> {
        self.number(
            column,
            |text| {
                let share = text.parse().ok()?;
                (0.0..=1.0).contains(&share).then_some(share)
            },
            "a probability between 0 and 1",
        )
    }

    /// A fault of this row as a whole.
    pub(super) fn refuse(
        &self,
        found: &str,
        expected: &'static str,
        remedy: &'static str,
    ) -> TraceError {
        self.source
            .malformed(self.line, found.as_bytes(), expected, remedy)
    }

    fn number<T>(
        &self,
        column: usize,
        read: impl Fn(&str) -> Option<T>,
        expected: &'static str,
    ) -> Result<Option<T>, TraceError> {
        let Some(field) = self.fields[column] else {
            return Ok(None);
        };
        let value = std::str::from_utf8(field)
            .ok()
            .and_then(|text| read(text.trim()));
        value.map(Some).ok_or_else(|| {
            let remedy = "correct or remove the line";
            self.source.malformed(self.line, field, expected, remedy)
        })
    }
}

/// Hands each row of `bytes` to `take`. The columns are `required`, then `optional`; `expected` is
/// the expectation in the error for a file without them.
pub(super) fn read_rows(
    bytes: &[u8],
    (required, optional): (&[&str], &[&str]),
    expected: &'static str,
    source: Source<'_>,
    mut take: impl FnMut(&Row<'_>) -> Result<(), TraceError>,
) -> Result<(), TraceError> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    if bytes.trim_ascii().is_empty() {
        return Err(source.error(None, TraceProblem::Empty { expected }));
    }
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(bytes);
    let unreadable = |error: csv::Error, line| {
        source.error(Some(line), TraceProblem::Unreadable(error.to_string()))
    };
    let header = reader
        .byte_headers()
        .map_err(|error| unreadable(error, 1))?
        .clone();
    let place = |name: &&str| {
        let is_it = |field: &[u8]| field.eq_ignore_ascii_case(name.as_bytes());
        header.iter().position(is_it)
    };
    let places: Vec<Option<usize>> = required.iter().chain(optional).map(place).collect();
    if places[..required.len()].contains(&None) {
        let remedy = "name the columns in the first line";
        let line = bytes.split(|&byte| byte == b'\n').next();
        let line = line.unwrap_or_default().trim_ascii();
        return Err(source.malformed(1, line, expected, remedy));
    }
    let mut record = csv::ByteRecord::new();
    loop {
        let line = reader.position().line();
        if !reader
            .read_byte_record(&mut record)
            .map_err(|error| unreadable(error, line))?
        {
            return Ok(());
        }
        let line = record.position().map_or(line, csv::Position::line);
        let mut fields = Vec::with_capacity(places.len());
        for place in &places {
            let field = place.map(|place| record.get(place));
            if field == Some(None) {
                return Err(source.malformed(
                    line,
                    record.as_slice(),
                    "as many columns as the header has",
                    "correct or remove the line",
                ));
            }
            fields.push(field.flatten());
        }
        take(&Row {
            line,
            fields: &fields,
            source,
        })?;
    }
}
