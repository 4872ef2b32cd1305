//! iperf3's text and JSON (`--json`, `--json-stream`): the rate of a transfer by direction.
//!
//! Up is from the client to the server. A rate of TCP is the link's where a queue stood in front of
//! it, which the sender's round trips show; of UDP where more was sent than arrived. Else it is a
//! lower bound.

mod json;
mod stream;
mod text;

use airtcp_units::Duration;
pub(super) use text::of_bits_per_second;

use super::json::begins_as_object;
use super::{Fact, Format, Recording, first_line, in_words};
use crate::fault::{TraceError, TraceProblem};
use crate::recording::{Bound, Direction, Layer, RateStep, Rates};
use crate::source::{Source, lines};

pub(super) const FORMAT: Format = Format {
    name: "iperf3",
    title: "the output of iperf3: text, JSON or --json-stream",
    knows: &[
        Fact::Direction,
        Fact::Rate,
        Fact::LowerBound,
        Fact::LoadedDelay,
        Fact::Losses,
        Fact::Date,
    ],
    by_lines: true,
    sniff,
    read,
};

const SNIFFED_LINES: usize = 100;

fn sniff(bytes: &[u8]) -> bool {
    begins_as_object(bytes, &["start", "intervals"])
        || begins_as_object(bytes, &["start", "test_start", "error"])
        || stream::is_stream(first_line(bytes).unwrap_or_default())
        || lines(bytes).take(SNIFFED_LINES).any(|(_, line)| {
            // `--timestamps` puts a time in front.
            [&b"[ ID] Interval"[..], b"[ ID][Role] Interval"]
                .iter()
                .any(|heading| line.windows(heading.len()).any(|part| part == *heading))
                || line.starts_with(b"iperf3: ")
        })
}

fn read(bytes: &[u8], source: Source<'_>) -> Result<Recording, TraceError> {
    let found = if stream::is_stream(first_line(bytes).unwrap_or_default()) {
        json::recording(&stream::joined(bytes, source)?, source)?
    } else if bytes.trim_ascii_start().starts_with(b"{") {
        json::recording(&super::json::from_json(bytes, source)?, source)?
    } else {
        text::recording(bytes, source)?
    };
    if found.rates.is_empty() {
        let ended = found
            .remarks
            .iter()
            .find_map(|remark| remark.strip_prefix(ENDED_EARLY)?.split_once(')'));
        let why = ended.map_or_else(String::new, |(why, _)| format!(" ({why})"));
        return Err(source.error(
            None,
            TraceProblem::OtherKind {
                what: format!("the output of iperf3 without a single interval{why}"),
                remedy: "run the test again until it ends, with --json".to_owned(),
            },
        ));
    }
    Ok(found)
}

/// Beginning of the remark on a test with an error.
const ENDED_EARLY: &str = "The test ended early (";

/// The remark on a test that ended with an error.
fn ended_early(error: &str) -> String {
    let error = error.trim().trim_end_matches('.');
    format!("{ENDED_EARLY}{error}); what was measured until then is used.")
}

/// A median round trip above this many of the least, and by this many microseconds, is a queue.
const QUEUE_TIMES: f64 = 1.3;
const QUEUE_US: f64 = 1_000.0;

/// Whether the sender's round trips, the least and the median in microseconds, show a queue.
pub(super) fn queue_stood(least_us: f64, median_us: f64) -> bool {
    median_us > QUEUE_TIMES * least_us && median_us > least_us + QUEUE_US
}

/// Losses of UDP, in per cent, from which on more was sent than the link carried. Fewer are losses
/// of a radio as well.
const FULL_PERCENT: f64 = 5.0;

/// The bound of UDP's rate; a remark where the losses could have either cause.
pub(super) fn bound_of_udp(lost_percent: Option<f64>, remarks: &mut Vec<String>) -> Bound {
    match lost_percent {
        Some(percent) if percent >= FULL_PERCENT => Bound::Link,
        Some(percent) if percent >= 1.0 => {
            remarks.push(format!(
                "{percent:.2} % were lost: by a link that is full, or by one that loses packets. A \
                 test at twice the target (-b) shows which."
            ));
            Bound::Target
        }
        _ => Bound::Target,
    }
}

/// A step of a rate; None where its numbers cannot be meant.
pub(super) fn step(
    start_s: f64,
    end_s: f64,
    bits_per_second: f64,
    bound: Bound,
) -> Option<RateStep> {
    let from = Duration::from_secs_f64(start_s)?;
    let end = Duration::from_secs_f64(end_s)?;
    let length = Some(end - from).filter(|length| length.as_nanos() > 0)?;
    Some(RateStep {
        from,
        length,
        bits_per_second: in_bits(bits_per_second)?,
        bound,
    })
}

/// A rate that can be one: at most 10 Tbit/s.
pub(super) fn in_bits(bits_per_second: f64) -> Option<u64> {
    const MAX: f64 = 1e13;
    let is_rate = (0.0..=MAX).contains(&bits_per_second);
    is_rate.then(|| bits_per_second.round() as u64)
}

/// The fault of an interval that no transfer has.
pub(super) fn nonsense(found: String) -> TraceProblem {
    TraceProblem::Malformed {
        found,
        expected: "times that follow each other, and from 0 to 10 Tbit/s",
        remedy: "give the file as iperf3 wrote it",
    }
}

/// The rates of a direction, in order and without omitted intervals; `None` without any step.
pub(super) fn rates(
    direction: Direction,
    mut steps: Vec<RateStep>,
    mean: Option<u64>,
    bound: Bound,
    layer: Layer,
) -> Option<Rates> {
    steps.sort_by_key(|step| step.from);
    steps.dedup_by_key(|step| step.from);
    for step in &mut steps {
        step.bound = bound;
    }
    let bits = |step: &RateStep| step.bits_per_second as f64 * step.length.as_secs_f64();
    let seconds: f64 = steps.iter().map(|step| step.length.as_secs_f64()).sum();
    let of_steps = (seconds > 0.0).then(|| steps.iter().map(bits).sum::<f64>() / seconds);
    let mean = mean.or_else(|| of_steps.and_then(in_bits))?;
    // A sender's intervals of UDP count transmissions, not arrivals.
    if let (Layer::Udp, Some(sent)) = (layer, of_steps)
        && sent > mean as f64
    {
        for step in &mut steps {
            let bits = step.bits_per_second as f64 * mean as f64 / sent;
            step.bits_per_second = bits.round() as u64;
        }
    }
    Some(Rates {
        direction,
        mean,
        bound,
        layer,
        steps,
    })
}
