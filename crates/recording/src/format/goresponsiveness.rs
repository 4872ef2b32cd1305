//! goresponsiveness: its closing lines, and the log of throughputs that `--logger-filename` makes.

use super::speed_test::{add_mean, finish};
use super::{Fact, Format, Recording, first_line, in_words};
use crate::fault::{TraceError, TraceProblem};
use crate::recording::{Bound, Direction, Layer, RateStep, Rates};
use crate::source::{Source, lines};
use airtcp_units::Duration;

pub(super) const FORMAT: Format = Format {
    name: "goresponsiveness",
    title: "the output of goresponsiveness, or its log of throughputs",
    knows: &[Fact::Direction, Fact::LowerBound],
    by_lines: true,
    sniff: |bytes| {
        is_log(bytes)
            || (has_line(bytes, b"RPM:") || has_line(bytes, b"Final RPM:"))
                && has_line(bytes, b"Download:")
    },
    read,
};

const THROUGHPUT: &str = "Instantaneous throughput (B/s).";

fn is_log(bytes: &[u8]) -> bool {
    first_line(bytes).is_some_and(|line| String::from_utf8_lossy(line).contains(THROUGHPUT))
}

fn has_line(bytes: &[u8], begin: &[u8]) -> bool {
    const SNIFFED: usize = 2000;
    lines(bytes)
        .take(SNIFFED)
        .any(|(_, line)| line.starts_with(begin))
}

fn read(bytes: &[u8], source: Source<'_>) -> Result<Recording, TraceError> {
    let mut found = Recording::new(FORMAT.name, String::new());
    found.origin.program = Some("goresponsiveness".to_owned());
    if is_log(bytes) {
        let rates = of_log(bytes, source)?;
        found.summary = format!(
            "goresponsiveness' log of throughputs ({})",
            in_words(std::slice::from_ref(&rates))
        );
        found.rates.push(rates);
        found.assume("the log is of a download", Some("--direction"));
        return Ok(found);
    }
    for (_, line) in lines(bytes) {
        let Ok(text) = std::str::from_utf8(line) else {
            continue;
        };
        for (name, direction) in [("Download:", Direction::Down), ("Upload:", Direction::Up)] {
            let Some(rest) = text.strip_prefix(name) else {
                continue;
            };
            let mut words = rest.split_whitespace();
            let value = words.next().and_then(|word| word.parse::<f64>().ok());
            if let (Some(mbps), Some("Mbps")) = (value, words.next()) {
                found.rates.retain(|one| one.direction != direction);
                add_mean(&mut found, direction, 1e6 * mbps);
            }
        }
        if let Some(rpm) = text.split_once("RPM:").map(|(_, rest)| rest.trim())
            && rpm.parse::<f64>().is_ok()
        {
            found.remark(format!(
                "Responsiveness under load: {rpm} round trips a minute."
            ));
        }
    }
    if found.rates.is_empty() {
        return Err(source.error(
            None,
            TraceProblem::OtherKind {
                what: "the output of goresponsiveness without a rate".to_owned(),
                remedy: "run it again until it ends".to_owned(),
            },
        ));
    }
    finish(&mut found, "goresponsiveness");
    Ok(found)
}

/// Rows of time (`01-02-2006-15-04-05.000`), bytes a second, connections.
fn of_log(bytes: &[u8], source: Source<'_>) -> Result<Rates, TraceError> {
    let header = String::from_utf8_lossy(first_line(bytes).unwrap_or_default()).into_owned();
    let place = header
        .split(", ")
        .position(|name| name.trim().starts_with(THROUGHPUT));
    let second = Duration::from_secs(1);
    let mut steps = Vec::new();
    for (line, text) in lines(bytes).filter(|(_, line)| !line.is_empty()).skip(1) {
        let shown = String::from_utf8_lossy(text).into_owned();
        let field = place.and_then(|place| shown.split(',').nth(place));
        let value = field.and_then(|field| field.trim().parse::<f64>().ok());
        let Some(value) = value.filter(|value| (0.0..1e12).contains(value)) else {
            return Err(source.malformed(
                line,
                text,
                "a throughput in bytes a second",
                "give the log as its program wrote it",
            ));
        };
        steps.push(RateStep {
            from: Duration::from_secs(steps.len() as u64),
            length: second,
            bits_per_second: (8.0 * value).round() as u64,
            bound: Bound::Transfer,
        });
    }
    let sum: u64 = steps.iter().map(|step| step.bits_per_second).sum();
    let mean = sum.checked_div(steps.len() as u64).filter(|mean| *mean > 0);
    let mean = mean.ok_or_else(|| {
        let expected = "rows of time and throughput";
        source.error(None, TraceProblem::Empty { expected })
    })?;
    Ok(Rates {
        direction: Direction::Down,
        mean,
        bound: Bound::Transfer,
        layer: Layer::Tcp,
        steps,
    })
}
