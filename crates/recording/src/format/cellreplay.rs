//! CellReplay's delay and light trace: `TIME_MS BASE_MS O0 O1 O2 …`, a line a train of packets that
//! were sent at once over an idle link (NSDI 2025).
//!
//! BASE is one way, half of the first packet's round trip; O0 is 0 and O_k the time at which packet
//! k arrived after the first. The heavy trace has mahimahi's form, with opportunities of
//! [`HEAVY_BYTES`].

use airtcp_units::Duration;

use super::{Fact, Format, Recording};
use crate::fault::{TraceError, TraceProblem};
use crate::recording::Load;
use crate::source::{Source, lines};
use crate::trains::{Train, Trains};

pub(super) const FORMAT: Format = Format {
    name: "cellreplay",
    title: "CellReplay's trace of delays and light opportunities",
    knows: &[Fact::IdleDelay, Fact::OneWayDelays, Fact::Rate],
    by_lines: true,
    sniff,
    read,
};

/// Bytes of an opportunity, the TUN device's four among them.
pub const HEAVY_BYTES: u32 = 1400;
/// CellReplay takes no fewer lines.
const FEWEST: usize = 3;
const SNIFFED_LINES: usize = 20;
const EXPECTED: &str = "TIME_MS BASE_MS 0 O1 O2 … with times that increase and offsets that do not \
                        decrease";

fn sniff(bytes: &[u8]) -> bool {
    let mut found = 0;
    for (_, line) in lines(bytes)
        .take(SNIFFED_LINES)
        .filter(|(_, line)| !line.is_empty())
    {
        let is_train = train(line).is_some();
        // A last line that a reading of the beginning has cut does not matter.
        if !is_train {
            return false;
        }
        found += 1;
    }
    found >= FEWEST
}

/// Parses a line as a train; `None` if it is malformed.
fn train(line: &[u8]) -> Option<Train> {
    const MAX_MS: f64 = 2.592e9;
    let text = std::str::from_utf8(line).ok()?;
    let mut numbers = text.split_whitespace().map(|word| {
        let ms = word
            .parse::<f64>()
            .ok()
            .filter(|ms| (0.0..=MAX_MS).contains(ms))?;
        Some(Duration::from_nanos((ms * 1e6).round() as u64))
    });
    let (sent, base) = (numbers.next()??, numbers.next()??);
    let offsets: Option<Vec<Duration>> = numbers.collect();
    let offsets =
        offsets.filter(|offsets| offsets.first().is_some_and(|first| first.as_nanos() == 0))?;
    let is_sorted = offsets.is_sorted();
    is_sorted.then_some(Train {
        sent,
        base,
        offsets,
    })
}

fn read(bytes: &[u8], source: Source<'_>) -> Result<Recording, TraceError> {
    let mut trains: Vec<Train> = Vec::new();
    for (line, text) in lines(bytes).filter(|(_, text)| !text.is_empty()) {
        let found =
            train(text).filter(|found| trains.last().is_none_or(|last| found.sent > last.sent));
        trains.push(found.ok_or_else(|| {
            source.malformed(line, text, EXPECTED, "cut the trace where it was restarted")
        })?);
    }
    let Some(last) = trains.last().filter(|_| trains.len() >= FEWEST) else {
        return Err(source.error(None, TraceProblem::Empty { expected: EXPECTED }));
    };
    let longest = trains
        .iter()
        .map(|train| train.offsets.len())
        .max()
        .unwrap_or(0);
    let seconds = last.sent.as_secs_f64();
    let mut bases: Vec<Duration> = trains.iter().map(|train| train.base).collect();
    bases.sort_unstable();
    let median = bases[bases.len() / 2];
    let mut found = Recording::new(
        FORMAT.name,
        format!(
            "CellReplay's trace of {} trains of up to {longest} packets in {seconds:.1} s (delay \
             one way {:.4} ms in the median)",
            trains.len(),
            median.as_millis_f64()
        ),
    );
    found.load = Load::Idle;
    found.figures.idle_rtt = Some(median + median);
    found.remark(
        "The first packets after a pause meet the light rate, a saturating flow the heavy one: the \
         heavy trace is another file (airtcp import LIGHT HEAVY). Neither tells where and when it \
         was recorded.",
    );
    found.trains = Some(Trains { trains });
    Ok(found)
}
