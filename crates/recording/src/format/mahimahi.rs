//! mahimahi's rate traces: a line for each packet that a link could carry, in whole milliseconds
//! since the start, as many lines with one time as fit in it.

use super::{Fact, Format, Recording};
use crate::fault::{TraceError, TraceProblem};
use crate::recording::{Direction, Opportunities};
use crate::source::{Source, lines};

pub(super) const FORMAT: Format = Format {
    name: "mahimahi",
    title: "a rate trace of mahimahi",
    knows: &[Fact::Rate, Fact::Outages],
    by_lines: true,
    sniff,
    read,
};

/// Fewer numbers may be round trips that happen to increase.
const FEWEST_LINES: usize = 30;
/// Bytes of an IP packet that a line lets pass.
pub(super) const PACKET_BYTES: u32 = 1500;

/// Numbers that rise this often for each fall are times, not round trips.
const RISES_PER_FALL: usize = 20;
/// No round trip is as long as ten seconds; every recording is.
const MAX_RTT_MS: u32 = 10_000;

/// Whole numbers that rise steadily: no list of round trips.
///
/// One that hardly ever falls is a recording that was restarted or edited, which is an error.
fn sniff(bytes: &[u8]) -> bool {
    let (mut count, mut rises, mut falls, mut longest) = (0, 0, 0, 0);
    let mut before: Option<u32> = None;
    for (_, text) in lines(bytes) {
        if text.is_empty() {
            continue;
        }
        let number = std::str::from_utf8(text).ok();
        let Some(number) = number.and_then(|text| text.parse::<u32>().ok()) else {
            return false;
        };
        rises += usize::from(before.is_some_and(|before| number > before));
        falls += usize::from(before.is_some_and(|before| number < before));
        longest = longest.max(number);
        before = Some(number);
        count += 1;
    }
    let is_restarted = longest >= MAX_RTT_MS && rises >= RISES_PER_FALL * falls;
    count >= FEWEST_LINES && rises > 0 && (falls == 0 || is_restarted)
}

fn read(bytes: &[u8], source: Source<'_>) -> Result<Recording, TraceError> {
    let mut times: Vec<u32> = Vec::new();
    for (line, text) in lines(bytes) {
        let number = std::str::from_utf8(text).ok();
        let Some(found) = number.and_then(|text| text.parse().ok()) else {
            continue;
        };
        if let Some(&before) = times.last().filter(|before| found < **before) {
            return Err(source.error(Some(line), TraceProblem::Decreasing { found, before }));
        }
        times.push(found);
    }
    recording(FORMAT.name, "a rate trace of mahimahi", times, source)
}

/// A recording of these opportunities, with the properties common to all of them.
pub(super) fn recording(
    format: &'static str,
    what: &str,
    times_ms: Vec<u32>,
    source: Source<'_>,
) -> Result<Recording, TraceError> {
    let (Some(&first), Some(&last)) = (times_ms.first(), times_ms.last()) else {
        let expected = "a line for each packet that the link could carry";
        return Err(source.error(None, TraceProblem::Empty { expected }));
    };
    if last == 0 {
        return Err(source.error(None, TraceProblem::NoPeriod));
    }
    let seconds = f64::from(last) / 1e3;
    let rate = times_ms.len() as f64 * f64::from(8 * PACKET_BYTES) / seconds;
    let widest = times_ms.windows(2).map(|pair| pair[1] - pair[0]).max();
    let mut found = Recording::new(
        format,
        format!(
            "{what} with {} delivery opportunities in {seconds:.1} s ({:.3} Mbit/s in the mean)",
            times_ms.len(),
            rate / 1e6
        ),
    );
    found.remark(
        "It is a saturator's record of one direction: it has neither delay nor loss nor queue, and \
         a time without an opportunity is an outage or a saturator that ran dry.",
    );
    if let Some(gap) = widest.filter(|gap| *gap >= 1000) {
        found.remark(format!(
            "Its longest time without an opportunity is {:.1} s.",
            f64::from(gap) / 1e3
        ));
    }
    if first >= 100 {
        found.remark(format!(
            "It begins {first} ms late: each repetition has that gap."
        ));
    }
    if rate > 12e6 {
        found.remark("Opportunities of one millisecond are played at once, which the air did not.");
    }
    found.opportunities.push(Opportunities {
        direction: Direction::Unknown,
        bytes: PACKET_BYTES,
        times_ms,
    });
    Ok(found)
}
