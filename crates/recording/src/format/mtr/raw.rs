//! `mtr --raw`: `x HOP PROBE` sent, `h HOP ADDRESS`, `p HOP MICROSECONDS PROBE` answered.

use std::collections::BTreeMap;

use airtcp_units::Duration;

use super::super::Recording;
use super::FORMAT;
use crate::fault::{TraceError, TraceProblem};
use crate::probes::ProbeLogBuilder;
use crate::source::{Source, lines};

const SNIFFED_LINES: usize = 20;
/// Round trips above an hour are a mistake.
const MAX_US: u64 = 3_600_000_000;

/// Whether the first lines are `x`, `h`, `p` or `d` with numbers, and one is of a probe.
pub(super) fn is_raw(bytes: &[u8]) -> bool {
    let mut probes = 0;
    for (_, line) in lines(bytes)
        .take(SNIFFED_LINES)
        .filter(|(_, line)| !line.is_empty())
    {
        match Line::of(line) {
            Some(Line::Sent(..) | Line::Answered(..)) => probes += 1,
            Some(Line::Host(..) | Line::Other) => {}
            None => return false,
        }
    }
    probes > 0
}

enum Line<'a> {
    Sent(u64, u64),
    Answered(u64, u64, u64),
    Host(u64, &'a str),
    Other,
}

impl<'a> Line<'a> {
    fn of(line: &'a [u8]) -> Option<Self> {
        let text = std::str::from_utf8(line).ok()?;
        let mut words = text.split(' ');
        let kind = words.next()?;
        let hop: u64 = words.next()?.parse().ok()?;
        if kind == "h" {
            return Some(Self::Host(hop, words.next()?));
        }
        let mut number = || words.next().and_then(|word| word.parse::<u64>().ok());
        match kind {
            "x" => Some(Self::Sent(hop, number()?)),
            "p" => {
                let micros = number()?;
                Some(Self::Answered(hop, micros, number().unwrap_or(u64::MAX)))
            }
            "d" | "m" => Some(Self::Other),
            _ => None,
        }
    }
}

/// Probes of the host: mtr sends some beyond it before it knows how far it is.
pub(super) fn recording(bytes: &[u8], source: Source<'_>) -> Result<Recording, TraceError> {
    let mut sent: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    let mut answered: BTreeMap<u64, BTreeMap<u64, u64>> = BTreeMap::new();
    let mut hosts: BTreeMap<u64, &str> = BTreeMap::new();
    let cut_short = !bytes.ends_with(b"\n");
    let last_line = lines(bytes).last().map_or(0, |(line, _)| line);
    for (line, text) in lines(bytes) {
        match Line::of(text) {
            Some(Line::Sent(hop, probe)) => sent.entry(hop).or_default().push(probe),
            Some(Line::Answered(hop, micros, probe)) if micros <= MAX_US => {
                answered.entry(hop).or_default().insert(probe, micros);
            }
            Some(Line::Host(hop, host)) => {
                hosts.insert(hop, host);
            }
            Some(Line::Other) => {}
            None if text.is_empty() || cut_short && line == last_line => {}
            _ => {
                return Err(source.malformed(
                    line,
                    text,
                    "a line of \"mtr --raw\": x, h, d or p with numbers",
                    "give the file as its program wrote it",
                ));
            }
        }
    }
    let none = || {
        let expected = "the output of \"mtr --raw\", of which some probes were answered";
        source.error(None, TraceProblem::NoRoundTrip { expected })
    };
    let (furthest, _) = answered.last_key_value().ok_or_else(none)?;
    let host = hosts.get(furthest).copied();
    let same = hosts
        .iter()
        .find(|(hop, name)| Some(**name) == host && answered.contains_key(hop));
    let hop = same.map_or(*furthest, |(hop, _)| *hop);
    let replies = &answered[&hop];
    let probes = sent.remove(&hop).unwrap_or_default();
    let places = probes.iter().zip(0_u64..);
    let replies = places.filter_map(|(probe, place)| {
        let micros = replies.get(probe)?;
        Some((place, None, Duration::from_micros(*micros)))
    });
    let mut log = ProbeLogBuilder::default();
    log.run(replies, probes.len() as u64, 0);
    let mut found = Recording::of_probes(FORMAT.name, log.finish().ok_or_else(none)?);
    found.summary = format!("mtr's raw log, hop {} ({})", hop + 1, found.summary);
    found.origin.program = Some("mtr".to_owned());
    found.origin.hosts = host.map(str::to_owned).into_iter().collect();
    found.remark("The log has no times, and hops before the last are left out.");
    Ok(found)
}
