//! fping's list of round trips (`fping -C 300 HOST`): `HOST : 24.1 - 22.2`, a dash for a lost
//! probe.

use super::milliseconds::parse_ms;
use super::{Fact, Format, Recording};
use crate::fault::{TraceError, TraceProblem};
use crate::probes::ProbeLogBuilder;
use crate::source::{Source, lines};

pub(super) const FORMAT: Format = Format {
    name: "fping-list",
    title: "the list of \"fping -C COUNT HOST\"",
    knows: &[Fact::RoundTrips, Fact::UnansweredProbes],
    by_lines: true,
    sniff: |bytes| listed(bytes).next().is_some(),
    read,
};

/// Fewer values are a line of something else.
const FEWEST: usize = 2;

/// Lines that are a host's list: its number, the host, the values.
fn listed(bytes: &[u8]) -> impl Iterator<Item = (u64, &str, &str)> {
    lines(bytes).filter_map(|(line, bytes)| {
        let (host, values) = std::str::from_utf8(bytes).ok()?.split_once(" : ")?;
        let is_list = values.split_whitespace().count() >= FEWEST
            && values
                .split_whitespace()
                .all(|value| value == "-" || is_number(value));
        is_list.then_some((line, host.trim(), values))
    })
}

fn is_number(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.')
}

fn read(bytes: &[u8], source: Source<'_>) -> Result<Recording, TraceError> {
    let mut log = ProbeLogBuilder::default();
    let mut host = None;
    for (line, name, values) in listed(bytes) {
        if *host.get_or_insert(name) != name {
            return Err(source.malformed(
                line,
                name.as_bytes(),
                "the probes of one host",
                "keep the lines of the host beyond the wireless link",
            ));
        }
        let (mut replies, mut sent) = (Vec::new(), 0);
        for value in values.split_whitespace() {
            if value != "-" {
                replies.push((sent, None, parse_ms(value.as_bytes(), line, source)?));
            }
            sent += 1;
        }
        log.run(replies, sent, 0);
    }
    let none = || {
        let expected = "the list of \"fping -C COUNT HOST\", of which some probes were answered";
        source.error(None, TraceProblem::NoRoundTrip { expected })
    };
    Ok(Recording::of_probes(
        FORMAT.name,
        log.finish().ok_or_else(none)?,
    ))
}
