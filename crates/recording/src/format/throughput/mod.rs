//! Series of throughputs: CSV with a time and a rate, "cooked" traces of video papers, Raca's 4G
//! and 5G data sets, HSDPA traces with bytes.
//!
//! All of them record a transfer's rate: lower bounds of the link's.

mod layout;
mod raca;

use airtcp_units::Duration;

use super::{Fact, Format, Recording, in_words, table};
use crate::fault::{TraceError, TraceProblem};
use crate::recording::{Bound, Direction, Layer, RateStep, Rates};
use crate::source::{Source, lines};
use layout::Layout;

pub(super) const FORMAT: Format = Format {
    name: "throughput",
    title: "a series of throughputs: CSV with a time and a rate, or two columns of seconds and \
            Mbit/s",
    knows: &[Fact::LowerBound],
    by_lines: true,
    sniff: |bytes| Layout::of(bytes).is_some(),
    read,
};

pub(super) const RACA: Format = raca::FORMAT;

/// A row that others follow later than this is taken to hold so long.
const MAX_STEP: Duration = Duration::from_secs(60);

fn read(bytes: &[u8], source: Source<'_>) -> Result<Recording, TraceError> {
    let Some(layout) = Layout::of(bytes) else {
        let expected = "a time and a rate a line";
        return Err(source.error(None, TraceProblem::Empty { expected }));
    };
    let mut samples: Vec<Vec<(f64, f64)>> = vec![Vec::new(); layout.rates.len()];
    let (bytes, skipped) = table::body(bytes);
    let cut_short = !bytes.ends_with(b"\n");
    let last_line = lines(bytes).last().map_or(0, |(line, _)| line);
    let mut rows = 0_u32;
    let mut awaits_header = layout.has_header;
    for (line, bytes) in lines(bytes).filter(|(_, line)| !line.is_empty()) {
        if std::mem::take(&mut awaits_header) || bytes.starts_with(b"#") {
            continue;
        }
        let fields = layout.fields(bytes);
        let time = match layout.time {
            Some(_) => layout.seconds(&fields),
            None => Some(f64::from(rows)),
        };
        rows += 1;
        for (rate, samples) in layout.rates.iter().zip(&mut samples) {
            match (time, layout.bits(rate, &fields)) {
                (Some(time), Some(bits)) => {
                    if samples.last().is_some_and(|(before, _)| time < *before) {
                        return Err(source.malformed(
                            skipped + line,
                            bytes,
                            "times that do not decrease",
                            "sort the file, or cut it where the recording was restarted",
                        ));
                    }
                    samples.push((time, bits));
                }
                (Some(_), None) if rate.is_missing(&fields) => {}
                _ if cut_short && line == last_line => {}
                _ => {
                    return Err(source.malformed(
                        skipped + line,
                        bytes,
                        "a time and a rate",
                        "correct or remove the line",
                    ));
                }
            }
        }
    }
    let mut found = Recording::new(FORMAT.name, String::new());
    for (rate, samples) in layout.rates.iter().zip(&samples) {
        found
            .rates
            .extend(series(rate.direction, samples, |_| Bound::Transfer));
    }
    if found.rates.is_empty() {
        let expected = "rows of a time and a rate";
        return Err(source.error(None, TraceProblem::Empty { expected }));
    }
    found.summary = format!(
        "a series of throughputs ({} in the mean over {:.0} s)",
        in_words(&found.rates),
        length_s(&found.rates[0])
    );
    if layout.time.is_none() {
        found.assume("rows are a second apart", Some("--step"));
    }
    for reading in layout.rates.iter().filter_map(layout::RateColumn::reading) {
        found.assume(reading, None);
    }
    if layout.is_bare {
        found.assume("the columns are seconds and Mbit/s", None);
    }
    Ok(found)
}

/// How long a series is.
fn length_s(rates: &Rates) -> f64 {
    let last = rates.steps.last();
    last.map_or(0.0, |step| (step.from + step.length).as_secs_f64())
}

/// A series of a direction from times in seconds and bits a second; each row holds until the next.
/// Rows of the same time are one, with their mean.
fn series(
    direction: Direction,
    samples: &[(f64, f64)],
    bound: impl Fn(usize) -> Bound,
) -> Option<Rates> {
    let mut merged: Vec<(f64, f64, u32, Bound)> = Vec::new();
    for (place, &(time, bits)) in samples.iter().enumerate() {
        match merged.last_mut() {
            Some((before, sum, count, _)) if *before == time => {
                *sum += bits;
                *count += 1;
            }
            _ => merged.push((time, bits, 1, bound(place))),
        }
    }
    let first = merged.first()?.0;
    let since = |time: f64| Duration::from_secs_f64(time - first);
    let mut gaps: Vec<f64> = merged
        .windows(2)
        .map(|pair| pair[1].0 - pair[0].0)
        .collect();
    gaps.sort_by(f64::total_cmp);
    let usual = gaps.get(gaps.len() / 2).copied().unwrap_or(1.0);
    let mut steps = Vec::with_capacity(merged.len());
    for (place, &(time, sum, count, bound)) in merged.iter().enumerate() {
        let next = merged.get(place + 1).map_or(time + usual, |next| next.0);
        let (from, end) = (since(time)?, since(next)?);
        let length = (end - from).min(MAX_STEP);
        if length.as_nanos() > 0 {
            steps.push(RateStep {
                from,
                length,
                bits_per_second: (sum / f64::from(count)).round() as u64,
                bound,
            });
        }
    }
    let seconds: f64 = steps.iter().map(|step| step.length.as_secs_f64()).sum();
    let bits = |step: &RateStep| step.bits_per_second as f64 * step.length.as_secs_f64();
    let mean = steps.iter().map(bits).sum::<f64>() / seconds;
    (seconds > 0.0).then(|| Rates {
        direction,
        mean: mean.round() as u64,
        bound: Bound::Transfer,
        layer: Layer::Packets,
        steps,
    })
}
