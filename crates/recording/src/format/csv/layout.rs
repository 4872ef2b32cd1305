//! Columns of a CSV file, their units, and the meaning of their fields.

use airtcp_units::Duration;

use super::super::milliseconds::in_ms;
use super::super::table::{self, TIMES};
use crate::fault::TraceError;
use crate::source::Source;

/// Names of the column with the round-trip times, without their unit, the first preferred; `time`
/// is one only if its unit is the millisecond and no other column is.
const COLUMNS: [&str; 14] = [
    "rtt",
    "round_trip",
    "roundtrip",
    "round_trip_time",
    "latency",
    "ping",
    "laufzeit",
    "paketumlaufzeit",
    "antwortzeit",
    "latenz",
    "latence",
    "latencia",
    "delay",
    "time",
];

/// Values of a probe without an answer, in lower case.
const UNANSWERED: [&str; 12] = [
    "",
    "-",
    "*",
    "-1",
    "-1.0",
    "\u{2212}1",
    "nan",
    "n/a",
    "null",
    "none",
    "lost",
    "timeout",
];

const SEPARATORS: [u8; 3] = [b',', b';', b'\t'];

/// Layout of a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Layout {
    pub has_header: bool,
    pub separator: u8,
    pub column: usize,
    /// Milliseconds in a unit of it.
    unit_ms: f64,
    pub time: Option<usize>,
    /// Seconds in a unit of it.
    time_unit_s: f64,
    /// Decimals begin with a comma, which separates nothing.
    has_comma: bool,
}

impl Layout {
    /// The layout that the first line of a file shows; None when it is neither a number nor a
    /// header with a known column.
    pub fn told_by(first_line: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(first_line).ok()?;
        let text = text.trim_start_matches('\u{feff}');
        let bare = Self {
            has_header: false,
            separator: b',',
            column: 0,
            unit_ms: 1.0,
            time: None,
            time_unit_s: 1.0,
            has_comma: false,
        };
        if text.trim().parse::<f64>().is_ok() {
            return Some(bare);
        }
        // The separator of a single column is one that its decimals do not use.
        let is_single = !SEPARATORS.iter().any(|one| first_line.contains(one));
        let separators = if is_single { &[b';'][..] } else { &SEPARATORS };
        separators.iter().find_map(|&separator| {
            let names: Vec<Name> = text.split(char::from(separator)).map(Name::of).collect();
            let place = |is_named_unit: bool| {
                COLUMNS.iter().find_map(|known| {
                    names.iter().position(|name| {
                        let has_unit = name.unit_s.is_some();
                        let is_it = *known != "time" || name.unit_s == Some(1e-3);
                        name.bare == *known && has_unit == is_named_unit && is_it
                    })
                })
            };
            let column = place(true).or_else(|| place(false))?;
            let time = TIMES.iter().find_map(|known| {
                let is_it = |(place, name): (usize, &Name)| name.bare == *known && place != column;
                names.iter().enumerate().position(is_it)
            });
            let unit_s = |place: usize| names[place].unit_s;
            Some(Self {
                has_header: true,
                separator,
                column,
                unit_ms: 1e3 * unit_s(column).unwrap_or(1e-3),
                time,
                time_unit_s: time.and_then(unit_s).unwrap_or(1.0),
                has_comma: separator != b',',
            })
        })
    }

    /// Whether a field marks a probe without an answer.
    pub fn is_unanswered(field: &[u8]) -> bool {
        let lower = String::from_utf8_lossy(field).to_ascii_lowercase();
        UNANSWERED.contains(&lower.trim())
    }
}

/// A name of a column, without its unit: `rtt_ms`, `RTT (ms)`, `latency [us]`.
struct Name {
    /// In lower case, words joined by `_`.
    bare: String,
    unit_s: Option<f64>,
}

impl Name {
    fn of(field: &str) -> Self {
        const UNITS_S: [(&str, f64); 6] = [
            ("ms", 1e-3),
            ("us", 1e-6),
            ("\u{b5}s", 1e-6),
            ("\u{3bc}s", 1e-6),
            ("ns", 1e-9),
            ("s", 1.0),
        ];
        let name = field.trim().trim_matches('"').trim().to_ascii_lowercase();
        let words: Vec<&str> = name
            .split(|c: char| c.is_whitespace() || "_-()[]/".contains(c))
            .filter(|word| !word.is_empty() && *word != "in")
            .collect();
        let unit = words.last().and_then(|last| {
            let found = UNITS_S.iter().find(|(unit, _)| unit == last);
            found.map(|(_, seconds)| *seconds)
        });
        let bare = if unit.is_some() {
            &words[..words.len() - 1]
        } else {
            &words[..]
        };
        Self {
            bare: bare.join("_"),
            unit_s: unit,
        }
    }
}

impl Layout {
    /// The round trip that a field gives in the column's unit.
    pub fn round_trip(
        &self,
        field: &[u8],
        line: u64,
        source: Source<'_>,
    ) -> Result<Duration, TraceError> {
        let value = std::str::from_utf8(field)
            .ok()
            .and_then(|text| table::number(text.trim(), self.has_comma));
        in_ms(value.map(|value| value * self.unit_ms), field, line, source)
    }

    /// The time of sending in seconds, of any origin.
    pub fn seconds(&self, field: &[u8]) -> Option<f64> {
        let text = std::str::from_utf8(field).ok()?;
        table::seconds(text.trim(), self.time_unit_s, self.has_comma)
    }
}
