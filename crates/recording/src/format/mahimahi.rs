//! mahimahi's rate traces: a line for each packet that a link could carry, in whole milliseconds
//! since the start, as many lines with one time as fit in it.

use super::{Fact, Format, Recording};
use crate::fault::{TraceError, TraceProblem};
use crate::source::{Source, lines};

pub(super) const FORMAT: Format = Format {
    name: "mahimahi",
    title: "a rate trace of mahimahi",
    knows: &[Fact::Rate],
    sniff,
    read,
};

/// Fewer numbers may be round trips that happen to increase.
const FEWEST_LINES: usize = 30;

/// Whole numbers that never decrease and end higher than they begin: no list of round trips.
fn sniff(bytes: &[u8]) -> bool {
    let mut before: Option<u32> = None;
    let mut first = 0;
    let mut count = 0;
    for (_, text) in lines(bytes) {
        if text.is_empty() {
            continue;
        }
        let number = std::str::from_utf8(text)
            .ok()
            .and_then(|text| text.parse::<u32>().ok());
        match (number, before) {
            (Some(number), Some(before)) if number >= before => {}
            (Some(number), None) => first = number,
            _ => return false,
        }
        before = number;
        count += 1;
    }
    count >= FEWEST_LINES && before.is_some_and(|last| last > first)
}

fn read(bytes: &[u8], source: Source<'_>) -> Result<Recording, TraceError> {
    let packets = lines(bytes).filter(|(_, text)| !text.is_empty()).count();
    let name = source.name();
    Err(source.error(
        None,
        TraceProblem::NoProbes {
            what: format!(
                "a rate trace of mahimahi with {packets} delivery opportunities, which tells a \
                 link's rate and no round trips"
            ),
            remedy: format!(
                "try remedies on it: airtcp compare cellular --set link.trace.down={name}"
            ),
        },
    ))
}
