//! Round-trip times from the output of `ping`.
//!
//! Replies are recognized by `time=`, in any context: iputils with or without `-D`
//! (`[1700000000.123456] 64 bytes from 10.0.0.2: icmp_seq=3 ttl=64 time=12.3 ms`), busybox
//! (`seq=3`), BSD and macOS, hping3, tcping, Windows (`bytes=32 time=12ms`) and iputils in all
//! their languages, fping (`[3], 84 bytes, 12.3 ms`). Sequence numbers put late replies in the
//! order of sending and identify unanswered probes; without them every printed time-out counts, or
//! the loss in the closing statistics if that is more.

mod group;
mod line;
mod run;
mod summary;

use super::milliseconds::parse_ms;
use super::stamp::stamp;
use super::{EXPECTED, Fact, Format, Recording};
use crate::fault::{TraceError, TraceProblem};
use crate::source::{Source, lines};
use line::{Line, begins_run, is_unanswered, sequence};
use run::Log;

pub(super) const FORMAT: Format = Format {
    name: "ping",
    title: "the output of \"ping\" or \"ping -D\"",
    knows: &[Fact::SendingTimes, Fact::RoundTrips, Fact::UnansweredProbes],
    by_lines: true,
    sniff,
    read,
};

/// Number of lines at the beginning of a file that are searched for one of a `ping`.
const SNIFFED_LINES: usize = 100;

fn sniff(bytes: &[u8]) -> bool {
    lines(bytes)
        .take(SNIFFED_LINES)
        .filter_map(|(_, bytes)| std::str::from_utf8(bytes).ok())
        .any(|text| {
            begins_run(text) || is_unanswered(text) || matches!(Line::find(text), Line::Reply(_))
        })
}

fn read(bytes: &[u8], source: Source<'_>) -> Result<Recording, TraceError> {
    let mut log = Log::default();
    let cut_short = !bytes.ends_with(b"\n");
    let mut unread = Unread::default();
    let mut duplicates = 0;
    let last_line = lines(bytes).last().map_or(0, |(line, _)| line);
    for (line, bytes) in lines(bytes) {
        let text = std::str::from_utf8(bytes).map_err(|_| {
            source.malformed(line, bytes, "text", "check that this is the output of ping")
        })?;
        match Line::find(text) {
            Line::Other if cut_short && line == last_line && sequence(text).is_some() => {}
            Line::Other => log.note(text),
            Line::Unread => unread.count(line, bytes),
            Line::Reply(_) if text.contains("(DUP!)") => duplicates += 1,
            Line::Reply(ms) => {
                // Some write the decimal comma of their language.
                let rtt = parse_ms(ms.replace(',', ".").as_bytes(), line, source)?;
                log.answer(sequence(text), stamp(text), rtt);
                unread.replies += 1;
                if Line::is_of_windows(text) {
                    log.is_of_windows();
                }
            }
            // A recording that was killed may end within a line.
            Line::NoUnit if cut_short && line == last_line => {}
            Line::NoUnit => {
                return Err(source.malformed(
                    line,
                    bytes,
                    "a reply that ends as in \"time=12.3 ms\"",
                    "correct or remove the line",
                ));
            }
        }
    }
    unread.check(source)?;
    let none = || source.error(None, TraceProblem::NoRoundTrip { expected: EXPECTED });
    let Some(probes) = log.finish() else {
        return summary::recording(bytes, source)?.ok_or_else(none);
    };
    let mut found = Recording::of_probes(FORMAT.name, probes);
    found.duplicates = duplicates;
    found.origin.hosts = pinged(bytes).into_iter().collect();
    Ok(found)
}

/// The address in `PING host (192.0.2.9) 56(84) bytes of data.`
fn pinged(bytes: &[u8]) -> Option<String> {
    let heading = lines(bytes)
        .take(SNIFFED_LINES)
        .find(|(_, line)| line.starts_with(b"PING "))?;
    let text = std::str::from_utf8(heading.1).ok()?;
    let (_, rest) = text.split_once('(')?;
    let (address, _) = rest.split_once(')')?;
    Some(address.to_owned()).filter(|address| address.contains(['.', ':']))
}

/// Lines that resemble replies but have no known form.
#[derive(Default)]
struct Unread<'a> {
    first: Option<(u64, &'a [u8])>,
    lines: u64,
    replies: u64,
}

/// A few unread lines are another program's; more would be probes that are neither answered nor
/// lost.
const MAX_UNREAD: u64 = 3;
/// The same for each so many replies.
const REPLIES_EACH: u64 = 50;

impl<'a> Unread<'a> {
    fn count(&mut self, line: u64, text: &'a [u8]) {
        self.first.get_or_insert((line, text));
        self.lines += 1;
    }

    /// Refuses a log with more unread lines than few, by the first.
    fn check(&self, source: Source<'_>) -> Result<(), TraceError> {
        let Some((line, text)) = self.first else {
            return Ok(());
        };
        if self.lines <= MAX_UNREAD.max(self.replies / REPLIES_EACH) {
            return Ok(());
        }
        Err(source.malformed(
            line,
            text,
            "a reply, a time-out or statistics in the form of a known ping",
            "give the log as its program printed it, or as CSV with a column rtt_ms",
        ))
    }
}
