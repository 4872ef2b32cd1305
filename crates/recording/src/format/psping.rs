//! Sysinternals' `psping`: a line each probe, over ICMP (`Reply from HOST: 2.34ms`) or by
//! connecting (`Connecting to HOST:443: from ADDRESS: 2.34ms`), and the statistics.
//!
//! Probes of the warm-up are not counted by its statistics, nor here.

use super::milliseconds::parse_ms;
use super::{Fact, Format, Recording};
use crate::fault::{TraceError, TraceProblem};
use crate::probes::ProbeLogBuilder;
use crate::source::{Source, lines};

pub(super) const FORMAT: Format = Format {
    name: "psping",
    title: "the output of Sysinternals' \"psping\"",
    knows: &[Fact::RoundTrips, Fact::UnansweredProbes],
    by_lines: true,
    sniff: |bytes| {
        lines(bytes).take(SNIFFED_LINES).any(|(_, line)| {
            line.starts_with(b"PsPing v")
                || line.starts_with(b"TCP connect to ")
                || line.starts_with(b"Connecting to ") && line.ends_with(b"ms")
        })
    },
    read,
};

const SNIFFED_LINES: usize = 20;
/// Beginnings of the lines that are a probe each.
const PROBES: [&str; 3] = ["Connecting to ", "Reply from ", "Request timed out"];

fn read(bytes: &[u8], source: Source<'_>) -> Result<Recording, TraceError> {
    let (mut replies, mut sent, mut stated) = (Vec::new(), 0_u64, 0_u64);
    let mut host = None;
    let cut_short = !bytes.ends_with(b"\n");
    let last_line = lines(bytes).last().map_or(0, |(line, _)| line);
    for (line, bytes) in lines(bytes) {
        let text = String::from_utf8_lossy(bytes);
        if let Some(rest) = text.strip_prefix("Sent = ") {
            let count = rest.split(',').next().and_then(|sent| sent.parse().ok());
            stated = count.unwrap_or(stated);
        } else if let Some(rest) = text.strip_prefix("TCP connect to ") {
            host.get_or_insert_with(|| rest.trim_end_matches(':').to_owned());
        } else if text.contains("iterations (warmup") || text.contains("latency test") {
            // The heading of a test has a colon, as a probe has.
        } else if PROBES.iter().any(|begin| text.starts_with(begin)) && !text.contains("(warmup)") {
            if cut_short && line == last_line {
                continue;
            }
            let time = text.rsplit_once(": ").map(|(_, time)| time);
            // A probe without an answer ends with a sentence of Windows, in its language.
            let time = time.and_then(|time| time.strip_suffix("ms"));
            let is_number = |ms: &&str| ms.starts_with(|c: char| c.is_ascii_digit());
            if let Some(ms) = time.filter(is_number) {
                let rtt = parse_ms(ms.replace(',', ".").as_bytes(), line, source)?;
                replies.push((sent, None, rtt));
            }
            sent += 1;
        }
    }
    let none = || {
        let expected = "lines of psping with a time each; -q leaves them out";
        source.error(None, TraceProblem::NoRoundTrip { expected })
    };
    let mut log = ProbeLogBuilder::default();
    log.run(replies, sent, stated.saturating_sub(sent));
    let mut found = Recording::of_probes(FORMAT.name, log.finish().ok_or_else(none)?);
    found.origin.program = Some("psping".to_owned());
    found.origin.hosts = host.into_iter().collect();
    Ok(found)
}
