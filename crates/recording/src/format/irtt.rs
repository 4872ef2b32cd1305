//! irtt's text (`irtt client -v`): `seq=7 rtt=23.1ms rd=12ms sd=11.1ms ipdv=1ms`.

use airtcp_units::Duration;

use super::{Fact, Format, Recording};
use crate::fault::{TraceError, TraceProblem};
use crate::probes::ProbeLogBuilder;
use crate::source::{Source, lines};

pub(super) const FORMAT: Format = Format {
    name: "irtt",
    title: "the text of irtt (\"irtt client\")",
    knows: &[Fact::RoundTrips, Fact::UnansweredProbes],
    by_lines: true,
    sniff: |bytes| {
        texts(bytes)
            .take(SNIFFED_LINES)
            .any(|(_, text)| text.starts_with("seq=") && text.contains(" rtt="))
    },
    read,
};

const SNIFFED_LINES: usize = 100;
/// A number that jumps by more is a mistake.
const MAX_AHEAD: u64 = 1 << 24;

fn texts(bytes: &[u8]) -> impl Iterator<Item = (u64, &str)> {
    lines(bytes).filter_map(|(line, bytes)| Some((line, std::str::from_utf8(bytes).ok()?)))
}

fn read(bytes: &[u8], source: Source<'_>) -> Result<Recording, TraceError> {
    let mut replies: Vec<(u64, Duration)> = Vec::new();
    let mut sent = 0_u64;
    let cut_short = !bytes.ends_with(b"\n");
    let last_line = lines(bytes).last().map_or(0, |(line, _)| line);
    for (line, text) in texts(bytes) {
        if let Some(count) = text.strip_prefix("packets sent/received: ") {
            sent = count
                .split('/')
                .next()
                .and_then(|sent| sent.parse().ok())
                .unwrap_or(0);
        }
        let Some(after) = text.strip_prefix("seq=") else {
            continue;
        };
        let reply = after.split_once(" rtt=").and_then(|(number, rest)| {
            let rtt = rest.split(' ').next()?;
            Some((number.trim().parse::<u64>().ok()?, rtt))
        });
        let latest = replies.last().map_or(0, |(number, _)| *number);
        match reply {
            Some((number, rtt)) if number < latest + MAX_AHEAD => {
                // The other fields may be "n/a", and a lost probe has no line.
                let rtt = go_duration(rtt).ok_or_else(|| malformed(source, line, text))?;
                replies.push((number, rtt));
            }
            None if cut_short && line == last_line => {}
            _ => return Err(malformed(source, line, text)),
        }
    }
    let first = replies.iter().map(|(number, _)| *number).min().unwrap_or(0);
    let seen = replies
        .iter()
        .map(|(number, _)| number - first + 1)
        .max()
        .unwrap_or(0);
    let numbered = replies
        .into_iter()
        .map(|(number, rtt)| (number - first, None, rtt));
    let end = if first == 0 {
        sent.saturating_sub(seen).min(MAX_AHEAD)
    } else {
        0
    };
    let mut log = ProbeLogBuilder::default();
    log.run(numbered, seen + end, 0);
    let none = || {
        let expected = "lines of irtt such as \"seq=0 rtt=23.1ms\"";
        source.error(None, TraceProblem::NoRoundTrip { expected })
    };
    Ok(Recording::of_probes(
        FORMAT.name,
        log.finish().ok_or_else(none)?,
    ))
}

fn malformed(source: Source<'_>, line: u64, text: &str) -> TraceError {
    source.malformed(
        line,
        text.as_bytes(),
        "a line such as \"seq=0 rtt=23.1ms rd=12ms sd=11.1ms ipdv=n/a\"",
        "correct or remove the line, or give the JSON of irtt (-o FILE)",
    )
}

/// A duration as Go prints it: `23.1ms`, `950µs`, `1.02s`, `1m2.5s`.
fn go_duration(text: &str) -> Option<Duration> {
    const UNITS_S: [(&str, f64); 7] = [
        ("ns", 1e-9),
        ("us", 1e-6),
        ("\u{b5}s", 1e-6),
        ("ms", 1e-3),
        ("h", 3600.0),
        ("m", 60.0),
        ("s", 1.0),
    ];
    let (mut rest, mut seconds) = (text, 0.0);
    while !rest.is_empty() {
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
        let number: f64 = rest[..end].parse().ok()?;
        let (unit, factor) = UNITS_S
            .iter()
            .find(|(unit, _)| rest[end..].starts_with(unit))?;
        seconds += number * factor;
        rest = &rest[end + unit.len()..];
    }
    (!text.is_empty() && seconds <= 3600.0)
        .then(|| Duration::from_nanos((seconds * 1e9).round() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_of_go_are_read() {
        for (text, micros) in [
            ("23.1ms", 23_100),
            ("950\u{b5}s", 950),
            ("1.02s", 1_020_000),
            ("1m2.5s", 62_500_000),
            ("0s", 0),
        ] {
            assert_eq!(
                go_duration(text),
                Some(Duration::from_micros(micros)),
                "{text}"
            );
        }
        for text in ["", "n/a", "12", "ms", "1.2.3ms", "99h"] {
            assert_eq!(go_duration(text), None, "{text}");
        }
    }
}
