//! Runs of `ping`: replies are put in the order of sending, and probes without an answer found.

use std::collections::HashSet;

use airtcp_units::Duration;

use super::line::{begins_run, duration_ms, is_unanswered, sequence, transmitted};
use crate::probes::{ProbeLog, ProbeLogBuilder, Stamp};

/// Most probes after the last line of a run that are taken from its statistics as a gap there; more
/// are a mistake of the statistics, and count as lost without a place.
const LONGEST_END: u64 = 1 << 20;

/// The state of the reader; one file may hold several runs.
#[derive(Default)]
pub(super) struct Log {
    log: ProbeLogBuilder,
    run: Run,
}

/// One run of `ping`.
#[derive(Default)]
struct Run {
    /// Replies with their sequence numbers, widened beyond 16 bits.
    replies: Vec<(i64, Option<Stamp>, Duration)>,
    answered: HashSet<i64>,
    /// First, last and latest sequence number seen in any line.
    first: i64,
    last: i64,
    latest: Option<i64>,
    /// Replies and time-outs of a `ping` that prints no sequence numbers, in their order.
    unnumbered: Vec<(u64, Option<Stamp>, Duration)>,
    places: u64,
    /// The closing statistics.
    transmitted: u64,
    duration_ms: Option<u64>,
}

impl Log {
    /// A line that is no reply.
    pub(super) fn note(&mut self, text: &str) {
        if begins_run(text) {
            self.end_run();
        } else if let Some(count) = transmitted(text) {
            self.run.transmitted = count;
            self.run.duration_ms = duration_ms(text);
        } else if is_unanswered(text) {
            match sequence(text) {
                Some(sequence) => {
                    self.run.widen(sequence);
                }
                None => self.run.places += 1,
            }
        }
    }

    /// A reply, with the stamp of its line.
    pub(super) fn answer(&mut self, sequence: Option<u16>, stamp: Option<Stamp>, rtt: Duration) {
        let Some(sequence) = sequence else {
            self.run.unnumbered.push((self.run.places, stamp, rtt));
            self.run.places += 1;
            return;
        };
        let mut number = self.run.widen(sequence);
        if self.run.answered.contains(&number) {
            // Duplicates are marked as such, so this is a new run whose first line is missing.
            self.end_run();
            number = self.run.widen(sequence);
        }
        self.run.answered.insert(number);
        self.run.replies.push((number, stamp, rtt));
    }

    fn end_run(&mut self) {
        let run = std::mem::take(&mut self.run);
        let numbered = run.latest.map_or(0, |_| run.last.abs_diff(run.first) + 1);
        let placed = numbered + run.places;
        let missing = run.transmitted.saturating_sub(placed);
        // Numbers begin with 0 or 1: what the statistics count beyond them came after the last.
        let is_end = run.latest.is_some() && run.first <= 1 && missing <= LONGEST_END;
        let (end, unplaced) = if is_end { (missing, 0) } else { (0, missing) };
        let replies = run
            .replies
            .into_iter()
            .map(|(number, stamp, rtt)| (number.abs_diff(run.first), stamp, rtt));
        let unnumbered = run
            .unnumbered
            .into_iter()
            .map(|(place, stamp, rtt)| (numbered + end + place, stamp, rtt));
        self.log
            .run(replies.chain(unnumbered), placed + end, unplaced);
        if let Some(ms) = run.duration_ms
            && run.transmitted > 1
        {
            let nanos = Duration::from_millis(ms.min(u64::MAX / 1_000_000)).as_nanos();
            let nanos = nanos / (run.transmitted - 1);
            if nanos > 0 {
                self.log.interval(Duration::from_nanos(nanos));
            }
        }
    }

    /// The log; None where no probe was answered.
    pub(super) fn finish(mut self) -> Option<ProbeLog> {
        self.end_run();
        self.log.finish()
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
