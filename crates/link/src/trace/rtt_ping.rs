//! Round-trip times from the output of `ping`.
//!
//! Replies are recognized by `time=`, in any context: iputils with or without `-D`
//! (`[1700000000.123456] 64 bytes from 10.0.0.2: icmp_seq=3 ttl=64 time=12.3 ms`), busybox
//! (`seq=3`), BSD and macOS, Windows (`bytes=32 time=12ms`), fping (`[3], 84 bytes, 12.3 ms`), and
//! what they say in German. Sequence numbers put late replies in the order of sending and tell
//! which probes were not answered; without them every time-out that is printed counts, or what the
//! closing statistics say if that is more.

use super::rtt_reply::{Reply, begins_run, is_unanswered, sequence, transmitted};
use super::rtt_value::parse_ms;
use super::{Source, TraceError, lines};
use airtcp_units::Duration;
use std::collections::HashSet;

/// The round-trip times in the order of sending, and how many probes were not answered.
pub(super) fn parse(bytes: &[u8], source: Source<'_>) -> Result<(Vec<Duration>, u64), TraceError> {
    let mut log = Log::default();
    let cut_short = !bytes.ends_with(b"\n");
    let last_line = lines(bytes).last().map_or(0, |(line, _)| line);
    for (line, bytes) in lines(bytes) {
        let text = std::str::from_utf8(bytes).map_err(|_| {
            source.malformed(line, bytes, "text", "check that this is the output of ping")
        })?;
        match Reply::find(text) {
            Reply::None => log.note(text),
            Reply::Time(_) if text.contains("(DUP!)") => {}
            Reply::Time(ms) => {
                // Some write the decimal comma of their language.
                let rtt = parse_ms(ms.replace(',', ".").as_bytes(), line, source)?;
                log.answer(sequence(text), rtt);
            }
            // A recording that was killed may end within a line.
            Reply::NoUnit if cut_short && line == last_line => {}
            Reply::NoUnit => {
                return Err(source.malformed(
                    line,
                    bytes,
                    "a reply that ends as in \"time=12.3 ms\"",
                    "correct or remove the line",
                ));
            }
        }
    }
    Ok(log.finish())
}

/// The state of the reader; one file may hold several runs of `ping`.
#[derive(Default)]
struct Log {
    rtts: Vec<Duration>,
    lost: u64,
    run: Run,
}

/// One run of `ping`.
#[derive(Default)]
struct Run {
    /// Replies with their sequence numbers, widened beyond 16 bits.
    replies: Vec<(i64, Duration)>,
    answered: HashSet<i64>,
    /// First, last and latest sequence number seen in any line.
    first: i64,
    last: i64,
    latest: Option<i64>,
    /// Replies and time-outs of a `ping` that prints no sequence numbers.
    unnumbered: Vec<Duration>,
    timeouts: u64,
    /// The closing statistics.
    transmitted: u64,
}

impl Log {
    /// A line that is no reply.
    fn note(&mut self, text: &str) {
        if begins_run(text) {
            self.end_run();
        } else if let Some(count) = transmitted(text) {
            self.run.transmitted = count;
        } else if is_unanswered(text) {
            match sequence(text) {
                Some(sequence) => {
                    self.run.widen(sequence);
                }
                None => self.run.timeouts += 1,
            }
        }
    }

    fn answer(&mut self, sequence: Option<u16>, rtt: Duration) {
        let Some(sequence) = sequence else {
            self.run.unnumbered.push(rtt);
            return;
        };
        let mut number = self.run.widen(sequence);
        if self.run.answered.contains(&number) {
            // Duplicates are marked as such, so this is a new run whose first line is missing.
            self.end_run();
            number = self.run.widen(sequence);
        }
        self.run.answered.insert(number);
        self.run.replies.push((number, rtt));
    }

    fn end_run(&mut self) {
        let mut run = std::mem::take(&mut self.run);
        run.replies.sort_by_key(|(number, _)| *number);
        let answered = (run.replies.len() + run.unnumbered.len()) as u64;
        let numbered = run.latest.map_or(0, |_| run.last.abs_diff(run.first) + 1);
        let sent = numbered + run.unnumbered.len() as u64 + run.timeouts;
        self.lost = self
            .lost
            .saturating_add(sent.max(run.transmitted) - answered);
        self.rtts
            .extend(run.replies.into_iter().map(|(_, rtt)| rtt));
        self.rtts.append(&mut run.unnumbered);
    }

    fn finish(mut self) -> (Vec<Duration>, u64) {
        self.end_run();
        (self.rtts, self.lost)
    }
}

impl Run {
    /// The number congruent to `sequence` that is nearest to the one seen before.
    fn widen(&mut self, sequence: u16) -> i64 {
        let number = match self.latest {
            None => i64::from(sequence),
            Some(latest) => latest + i64::from(sequence.wrapping_sub(latest as u16) as i16),
        };
        self.first = self.latest.map_or(number, |_| self.first.min(number));
        self.last = self.latest.map_or(number, |_| self.last.max(number));
        self.latest = Some(number);
        number
    }
}
