//! Columns of a series of throughputs, their units and directions.

use super::super::rate_unit::bits_per_second;
use super::super::table::{self, TIMES};
use super::{Direction, lines};

/// Higher rates are invalid.
const MAX_BPS: f64 = 1e13;
/// Lines that show whether columns without names are a time and a rate.
const SNIFFED_LINES: usize = 30;
const FEWEST_LINES: usize = 5;
/// Columns of HSDPA traces: time in ms since 1970 and since the start, two of position, bytes, time
/// since the line before in ms.
const HSDPA_COLUMNS: usize = 6;

/// Columns of a series.
pub(super) struct Layout {
    pub has_header: bool,
    /// No header names anything.
    pub is_bare: bool,
    separator: Option<char>,
    /// Decimals may begin with a comma, which separates nothing.
    has_comma: bool,
    pub time: Option<usize>,
    time_unit_s: f64,
    pub rates: Vec<RateColumn>,
}

/// A column with a rate.
pub(super) struct RateColumn {
    pub direction: Direction,
    column: usize,
    unit: Unit,
    /// As the header has it.
    name: String,
}

enum Unit {
    /// So many bits a second.
    Bits(f64),
    /// Bytes in a time that another column has in milliseconds.
    BytesPer(usize),
}

impl Layout {
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let header = std::str::from_utf8(table::header(bytes)?).ok()?;
        Self::named(header).or_else(|| Self::bare(bytes))
    }

    /// By the names of a header: `time_s,mbps`, `timestamp;dl_kbps;ul_kbps`.
    fn named(header: &str) -> Option<Self> {
        let separator = ['\t', ';', ',']
            .into_iter()
            .find(|one| header.contains(*one));
        // The separator of a single column is one that its decimals do not use.
        let separator = separator.or_else(|| {
            let is_name = !header.contains(':');
            bits_per_second(header).filter(|_| is_name).map(|_| ';')
        })?;
        let written: Vec<&str> = header
            .trim_start_matches('\u{feff}')
            .split(separator)
            .map(|name| name.trim().trim_matches('"'))
            .collect();
        let names: Vec<String> = written
            .iter()
            .map(|name| name.to_ascii_lowercase())
            .collect();
        if names.iter().any(|name| name.parse::<f64>().is_ok()) {
            return None;
        }
        let is_of_probes = |name: &String| name.starts_with("rtt") || name.starts_with("latency");
        if names.iter().any(is_of_probes) {
            return None;
        }
        let rates: Vec<RateColumn> = (0..)
            .zip(names.iter().zip(&written))
            .filter_map(|(column, (name, written))| {
                Some(RateColumn {
                    direction: direction(name),
                    column,
                    // Only the case tells bytes from bits.
                    unit: Unit::Bits(bits_per_second(written)?),
                    name: (*written).to_owned(),
                })
            })
            .collect();
        let time = names.iter().position(|name| {
            TIMES
                .iter()
                .any(|known| name.split(['_', ' ', '(', '[']).next() == Some(known))
        });
        let time_unit_s = time.map_or(1.0, |place| match &names[place] {
            name if name.contains("ms") && !name.ends_with("time_s") => 1e-3,
            name if name.contains("us") => 1e-6,
            name if name.contains("ns") => 1e-9,
            _ => 1.0,
        });
        let mut directions: Vec<Direction> = rates.iter().map(|rate| rate.direction).collect();
        directions.sort_unstable();
        directions.dedup();
        // Two columns of one direction are something else, such as a mean and a maximum.
        (!rates.is_empty() && directions.len() == rates.len()).then_some(Self {
            has_header: true,
            is_bare: false,
            separator: Some(separator),
            has_comma: separator != ',',
            time,
            time_unit_s,
            rates,
        })
    }

    /// Two columns of numbers, seconds that increase and Mbit/s; or the six of HSDPA traces.
    fn bare(bytes: &[u8]) -> Option<Self> {
        let mut before = f64::NEG_INFINITY;
        let (mut columns, mut count) = (0, 0);
        let shown = lines(bytes)
            .filter(|(_, line)| !line.is_empty())
            .take(SNIFFED_LINES);
        for (_, line) in shown {
            let text = std::str::from_utf8(line).ok()?;
            let numbers: Option<Vec<f64>> = text
                .split_whitespace()
                .map(|word| table::number(word, true))
                .collect();
            let Some(numbers) = numbers.filter(|numbers| numbers.iter().all(|one| one.is_finite()))
            else {
                // The last of a beginning that was cut.
                break;
            };
            if columns == 0 {
                columns = numbers.len();
            }
            // A line of spaces has no number.
            let (&first, others) = numbers.split_first()?;
            let is_row = numbers.len() == columns && first >= before;
            if !is_row || others.iter().any(|value| *value < 0.0 && columns == 2) {
                return None;
            }
            before = first;
            count += 1;
        }
        if count < FEWEST_LINES {
            return None;
        }
        let (time_unit_s, rate) = match columns {
            2 => (
                1.0,
                RateColumn {
                    direction: Direction::Unknown,
                    column: 1,
                    unit: Unit::Bits(1e6),
                    name: String::new(),
                },
            ),
            HSDPA_COLUMNS => (
                1e-3,
                RateColumn {
                    direction: Direction::Down,
                    column: 4,
                    unit: Unit::BytesPer(5),
                    name: String::new(),
                },
            ),
            _ => return None,
        };
        Some(Self {
            has_header: false,
            is_bare: columns == 2,
            separator: None,
            has_comma: true,
            time: Some(if columns == 2 { 0 } else { 1 }),
            time_unit_s,
            rates: vec![rate],
        })
    }

    pub fn fields<'a>(&self, line: &'a [u8]) -> Vec<&'a str> {
        let text = std::str::from_utf8(line).unwrap_or_default();
        match self.separator {
            Some(separator) => text
                .split(separator)
                .map(|field| field.trim().trim_matches('"'))
                .collect(),
            None => text.split_whitespace().collect(),
        }
    }

    /// The time of a row in seconds, of any origin.
    pub fn seconds(&self, fields: &[&str]) -> Option<f64> {
        table::seconds(fields.get(self.time?)?, self.time_unit_s, self.has_comma)
    }

    /// Bits a second in a column of a row.
    pub fn bits(&self, rate: &RateColumn, fields: &[&str]) -> Option<f64> {
        let number = |column: usize| table::number(fields.get(column)?, self.has_comma);
        let value = number(rate.column)?;
        let bits = match rate.unit {
            Unit::Bits(factor) => value * factor,
            Unit::BytesPer(column) => 8e3 * value / number(column).filter(|ms| *ms > 0.0)?,
        };
        (0.0..=MAX_BPS).contains(&bits).then_some(bits)
    }
}

impl RateColumn {
    /// How its header is read where it may be read as eight times as much.
    pub fn reading(&self) -> Option<String> {
        let Unit::Bits(bits) = self.unit else {
            return None;
        };
        let mega = bits / 1e6;
        self.name
            .contains('B')
            .then(|| format!("1 in the column \"{}\" is {mega} Mbit/s", self.name))
    }

    /// Whether the row is marked as having no value.
    pub fn is_missing(&self, fields: &[&str]) -> bool {
        let text = fields
            .get(self.column)
            .map(|field| field.to_ascii_lowercase());
        text.is_some_and(|text| matches!(text.as_str(), "" | "-" | "nan" | "null" | "none" | "n/a"))
    }
}

fn direction(name: &str) -> Direction {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    for word in words {
        match word {
            "dl" | "down" | "download" | "downlink" | "rx" => return Direction::Down,
            "ul" | "up" | "upload" | "uplink" | "tx" => return Direction::Up,
            _ => {}
        }
    }
    Direction::Unknown
}
