//! nping (of nmap): a line when a probe is sent, a line when its answer comes, both in seconds
//! since the start.

use airtcp_units::Duration;

use super::{Fact, Format, Recording};
use crate::fault::{TraceError, TraceProblem};
use crate::probes::{ProbeLogBuilder, Stamp};
use crate::source::{Source, lines};

pub(super) const FORMAT: Format = Format {
    name: "nping",
    title: "the output of \"nping\"",
    knows: &[Fact::SendingTimes, Fact::RoundTrips, Fact::UnansweredProbes],
    by_lines: true,
    sniff: |bytes| {
        lines(bytes)
            .take(SNIFFED_LINES)
            .any(|(_, line)| line.starts_with(b"SENT (") || line.starts_with(b"RCVD ("))
    },
    read,
};

const SNIFFED_LINES: usize = 20;
/// An answer that comes later is another probe's.
const MAX_NS: u64 = 60_000_000_000;

/// A probe, identified by fields that its answer repeats.
struct Probe {
    at: u64,
    sequence: Option<u64>,
    is_answered: bool,
}

fn read(bytes: &[u8], source: Source<'_>) -> Result<Recording, TraceError> {
    let (mut probes, mut replies) = (Vec::<Probe>::new(), Vec::new());
    for (line, bytes) in lines(bytes) {
        let text = String::from_utf8_lossy(bytes);
        let is_sent = text.starts_with("SENT (");
        if !is_sent && !text.starts_with("RCVD (") {
            continue;
        }
        let at = seconds(&text).ok_or_else(|| {
            source.malformed(
                line,
                bytes,
                "a time such as \"SENT (0.0123s)\"",
                "correct or remove the line",
            )
        })?;
        let sequence = sequence(&text);
        if is_sent {
            probes.push(Probe {
                at,
                sequence,
                is_answered: false,
            });
        } else if !text.contains("nreachable") {
            // Without a number the oldest that waits is answered.
            let waiting = probes.iter_mut().enumerate().rev().take(MAX_WAITING);
            let answered = waiting
                .filter(|(_, probe)| !probe.is_answered && at.saturating_sub(probe.at) <= MAX_NS)
                .filter(|(_, probe)| sequence.is_none() || probe.sequence == sequence)
                .last();
            if let Some((place, probe)) = answered {
                probe.is_answered = true;
                let stamp = Stamp {
                    nanos: at,
                    is_dated: false,
                    is_fine: true,
                };
                let rtt = Duration::from_nanos(at.saturating_sub(probe.at));
                replies.push((place as u64, Some(stamp), rtt));
            }
        }
    }
    let mut log = ProbeLogBuilder::default();
    log.run(replies, probes.len() as u64, 0);
    let none = || {
        let expected = "lines of nping, SENT and RCVD (-H leaves SENT out)";
        source.error(None, TraceProblem::NoRoundTrip { expected })
    };
    Ok(Recording::of_probes(
        FORMAT.name,
        log.finish().ok_or_else(none)?,
    ))
}

/// Probes that may wait for an answer at a time.
const MAX_WAITING: usize = 1000;

/// The nanoseconds in `SENT (0.0123s)`.
fn seconds(text: &str) -> Option<u64> {
    let (_, after) = text.split_once('(')?;
    let seconds: f64 = after.split_once("s)")?.0.parse().ok()?;
    (0.0..1e9)
        .contains(&seconds)
        .then(|| (seconds * 1e9).round() as u64)
}

/// The sequence number of an ICMP echo, which its answer repeats.
fn sequence(text: &str) -> Option<u64> {
    let is_echo = text.contains("ICMP");
    let (_, after) = text.split_once("seq=").filter(|_| is_echo)?;
    let end = after
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(after.len());
    after[..end].parse().ok()
}
