//! The table that MikroTik's `/ping` prints: a number, a host, and a time such as `23ms217us`, or
//! a status such as `timeout`.

use airtcp_units::Duration;

use super::{Fact, Format, Recording};
use crate::fault::{TraceError, TraceProblem};
use crate::probes::ProbeLogBuilder;
use crate::source::{Source, lines};

pub(super) const FORMAT: Format = Format {
    name: "routeros",
    title: "the table of MikroTik's \"/ping\"",
    knows: &[Fact::RoundTrips, Fact::UnansweredProbes],
    by_lines: true,
    sniff: |bytes| {
        lines(bytes)
            .take(SNIFFED_LINES)
            .any(|(_, line)| is_heading(line))
    },
    read,
};

const SNIFFED_LINES: usize = 20;
/// A number that jumps by more is a mistake.
const MAX_AHEAD: u64 = 1 << 20;

/// The heading, which is printed again and again.
fn is_heading(line: &[u8]) -> bool {
    line.starts_with(b"SEQ HOST") || line.starts_with(b"HOST") && line.ends_with(b"STATUS")
}

fn read(bytes: &[u8], source: Source<'_>) -> Result<Recording, TraceError> {
    let (mut replies, mut sent, mut stated) = (Vec::new(), 0_u64, 0);
    let mut first = None;
    for (line, bytes) in lines(bytes) {
        let text = String::from_utf8_lossy(bytes);
        if let Some((_, after)) = text.split_once("sent=") {
            stated = after
                .split(' ')
                .next()
                .and_then(|sent| sent.parse().ok())
                .unwrap_or(0);
            continue;
        }
        let mut words = text.split_whitespace();
        let Some(number) = words.next().and_then(|word| word.parse::<u64>().ok()) else {
            continue;
        };
        if number > sent + MAX_AHEAD {
            return Err(source.malformed(
                line,
                bytes,
                "a number that follows the one before",
                "correct or remove the line",
            ));
        }
        let first = *first.get_or_insert(number);
        let Some(place) = number.checked_sub(first) else {
            continue;
        };
        sent = sent.max(place + 1);
        // The host comes first, and a size and a hop limit are numbers without a unit.
        if let Some(rtt) = words.skip(1).find_map(time) {
            replies.push((place, None, rtt));
        }
    }
    let mut log = ProbeLogBuilder::default();
    let end = stated.max(sent).min(sent + MAX_AHEAD);
    log.run(replies, end, 0);
    let none = || {
        let expected = "a table of MikroTik's /ping with a reply";
        source.error(None, TraceProblem::NoRoundTrip { expected })
    };
    Ok(Recording::of_probes(
        FORMAT.name,
        log.finish().ok_or_else(none)?,
    ))
}

/// `23ms`, `23ms217us`, `950us`, `1s20ms`.
fn time(text: &str) -> Option<Duration> {
    let (mut rest, mut micros) = (text, 0_u64);
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit())?;
        let number: u64 = rest[..end].parse().ok()?;
        let (unit, factor) = [("ms", 1_000), ("us", 1), ("s", 1_000_000)]
            .into_iter()
            .find(|(unit, _)| rest[end..].starts_with(unit))?;
        micros = micros.checked_add(number.checked_mul(factor)?)?;
        rest = &rest[end + unit.len()..];
    }
    const MAX_MICROS: u64 = 3_600_000_000;
    (!text.is_empty() && micros <= MAX_MICROS).then(|| Duration::from_micros(micros))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_both_versions_are_read() {
        for (text, micros) in [
            ("23ms", 23_000),
            ("23ms217us", 23_217),
            ("1s20ms", 1_020_000),
        ] {
            assert_eq!(time(text), Some(Duration::from_micros(micros)), "{text}");
        }
        for text in ["", "56", "timeout", "10.0.0.1", "99999999999s", "ms"] {
            assert_eq!(time(text), None, "{text}");
        }
    }
}
