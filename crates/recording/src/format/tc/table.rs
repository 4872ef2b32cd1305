//! A table of netem (`/usr/lib/tc/pareto.dist`): values of a distribution, sorted, scaled by 8192.

use super::super::{Fact, Format, Recording, first_line};
use crate::fault::{TraceError, TraceProblem};
use crate::source::{Source, lines};

pub(super) const FORMAT: Format = Format {
    name: "netem-table",
    title: "a table of netem's delays (.dist)",
    knows: &[Fact::Spread],
    by_lines: false,
    sniff,
    read,
};

/// One in a table (iproute2, netem/*.c: `NORMALFACTOR` and its like).
const SCALE: f64 = 8192.0;
/// Bounds of a table's size; tc takes no longer ones (q_netem.c: `MAX_DIST`).
const FEWEST: usize = 256;
const MAX: usize = 16_384;

/// `#` in front, then whole numbers, several on a line, including negative ones.
fn sniff(bytes: &[u8]) -> bool {
    const SNIFFED_LINES: usize = 40;
    if first_line(bytes).is_none_or(|line| !line.starts_with(b"#")) {
        return false;
    }
    let mut values = 0;
    for (_, line) in lines(bytes).take(SNIFFED_LINES) {
        if line.starts_with(b"#") || line.is_empty() {
            continue;
        }
        let Some(found) = numbers(line) else {
            return false;
        };
        values += found.len();
        if !found.is_sorted() || found.len() < 2 {
            return false;
        }
    }
    values >= 8
}

fn numbers(line: &[u8]) -> Option<Vec<i16>> {
    let text = std::str::from_utf8(line).ok()?;
    text.split_whitespace()
        .map(|word| word.parse().ok())
        .collect()
}

fn read(bytes: &[u8], source: Source<'_>) -> Result<Recording, TraceError> {
    let mut table: Vec<i16> = Vec::new();
    for (line, text) in lines(bytes) {
        if text.starts_with(b"#") || text.is_empty() {
            continue;
        }
        let found = numbers(text).ok_or_else(|| {
            let expected = "whole numbers from -32768 to 32767";
            source.malformed(line, text, expected, "give the table as it came")
        })?;
        table.extend(found);
    }
    if !(FEWEST..=MAX).contains(&table.len()) {
        return Err(source.error(
            None,
            TraceProblem::OtherKind {
                what: format!("a table of {} values", table.len()),
                remedy: format!("expected {FEWEST} to {MAX}: give the table as it came"),
            },
        ));
    }
    let count = table.len() as f64;
    let scaled = || table.iter().map(|value| f64::from(*value) / SCALE);
    let mean = scaled().sum::<f64>() / count;
    let deviation = (scaled().map(|x| (x - mean) * (x - mean)).sum::<f64>() / count).sqrt();
    let mut found = Recording::new(
        FORMAT.name,
        format!(
            "a table of netem's delays with {count} values (mean {mean:.4}, deviation \
             {deviation:.4} of the jitter)"
        ),
    );
    if (deviation - 1.0).abs() > 0.02 || mean.abs() > 0.01 {
        found.remark(format!(
            "\"delay A B distribution\" with this table is A {:+.3} B in the mean, and varies by \
             {deviation:.3} B.",
            mean
        ));
    }
    found.table = table;
    Ok(found)
}
