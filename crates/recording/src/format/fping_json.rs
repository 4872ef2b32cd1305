//! fping's JSON (`fping -J`): an object a line, of a reply, a time-out or a summary.

use serde::Deserialize;

use super::json::{from_json, milliseconds};
use super::{Fact, Format, Recording, first_line};
use crate::fault::{TraceError, TraceProblem};
use crate::probes::ProbeLogBuilder;
use crate::source::{Source, lines};

pub(super) const FORMAT: Format = Format {
    name: "fping-json",
    title: "the JSON of \"fping -J\"",
    knows: &[Fact::RoundTrips, Fact::UnansweredProbes],
    by_lines: true,
    sniff: |bytes| {
        first_line(bytes).is_some_and(|line| {
            line.starts_with(b"{\"resp\"")
                || line.starts_with(b"{\"timeout\"")
                || line.starts_with(b"{ \"resp\"")
                || line.starts_with(b"{ \"timeout\"")
        })
    },
    read,
};

/// Numbers above are a mistake.
const MAX: u64 = 1 << 32;

#[derive(Deserialize)]
struct Line {
    resp: Option<Probe>,
    timeout: Option<Probe>,
    summary: Option<Summary>,
}

#[derive(Deserialize)]
struct Probe {
    #[serde(default)]
    host: String,
    seq: u64,
    rtt: Option<f64>,
}

#[derive(Deserialize)]
struct Summary {
    xmt: Option<u64>,
}

fn read(bytes: &[u8], source: Source<'_>) -> Result<Recording, TraceError> {
    let cut_short = !bytes.ends_with(b"\n");
    let last_line = lines(bytes).last().map_or(0, |(line, _)| line);
    let (mut replies, mut sent, mut stated) = (Vec::new(), 0, 0);
    let mut host: Option<String> = None;
    for (line, text) in lines(bytes) {
        if text.is_empty() {
            continue;
        }
        let parsed: Line = match serde_json::from_slice(text) {
            Ok(parsed) => parsed,
            Err(_) if cut_short && line == last_line => continue,
            Err(_) => {
                let whole: Result<Line, TraceError> = from_json(text, source);
                let problem = whole.err().map(|error| error.problem);
                return Err(problem.map_or_else(
                    || source.malformed(line, text, "an object of fping", "remove the line"),
                    |problem| source.error(Some(line), problem),
                ));
            }
        };
        stated = parsed.summary.and_then(|one| one.xmt).unwrap_or(stated);
        let Some(probe) = parsed.resp.or(parsed.timeout) else {
            continue;
        };
        if *host.get_or_insert_with(|| probe.host.clone()) != probe.host || probe.seq >= MAX {
            return Err(source.malformed(
                line,
                text,
                "the probes of one host",
                "keep the lines of the host beyond the wireless link",
            ));
        }
        sent = sent.max(probe.seq + 1);
        if let Some(ms) = probe.rtt {
            replies.push((probe.seq, None, milliseconds(ms, source)?));
        }
    }
    let mut log = ProbeLogBuilder::default();
    log.run(replies, sent.max(stated.min(sent + (1 << 20))), 0);
    let none = || {
        let expected = "objects of \"fping -J\", of which some are replies";
        source.error(None, TraceProblem::NoRoundTrip { expected })
    };
    Ok(Recording::of_probes(
        FORMAT.name,
        log.finish().ok_or_else(none)?,
    ))
}
