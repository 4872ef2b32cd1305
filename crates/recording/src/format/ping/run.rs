//! Runs of `ping`: replies are put in the order of sending, and probes without an answer found.

use std::collections::HashSet;

use airtcp_units::Duration;

use super::line::{
    begins_run, duration_ms, is_heading_of_windows, is_other_heading, is_unanswered, received,
    sequence, transmitted,
};
use crate::probes::{ProbeLog, ProbeLogBuilder, Stamp};

/// Most probes after the last line of a run that are taken from its statistics as a gap there; more
/// are a mistake of the statistics, and count as lost without a place.
const MAX_END: u64 = 1 << 20;
/// Most numbers from one line to the next within a run: 12 days, a probe a second.
const MAX_JUMP: u64 = 1 << 20;

/// The state of the reader; one file may hold several runs.
#[derive(Default)]
pub(super) struct Log {
    log: ProbeLogBuilder,
    run: Run,
    /// Probes of a run with statistics and no line yet: a file of both outputs may have them
    /// first.
    stated: u64,
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
    /// A number of more than 16 bits was seen: the counter does not wrap.
    is_wide: bool,
    /// Replies and time-outs of a `ping` that prints no sequence numbers, in their order.
    unnumbered: Vec<(u64, Option<Stamp>, Duration)>,
    places: u64,
    /// Lines are of a Windows ping: a line that is no reply is a time-out, in any language.
    is_windows: bool,
    /// Time-outs recognized only by their position.
    by_place: u64,
    /// The closing statistics.
    transmitted: u64,
    received: u64,
    duration_ms: Option<u64>,
}

impl Log {
    /// A line that is no reply.
    pub(super) fn note(&mut self, text: &str) {
        if begins_run(text) {
            self.end_run();
            self.run.is_windows = is_heading_of_windows(text);
        } else if let Some(count) = transmitted(text) {
            self.run.transmitted = count;
            self.run.received = received(text).unwrap_or(0);
            self.run.duration_ms = duration_ms(text);
            self.run.is_windows = false;
        } else if is_other_heading(text) {
            self.run.is_windows = false;
        } else if let Some(sequence) = sequence(text) {
            self.place(sequence);
        } else if is_unanswered(text) {
            self.run.places += 1;
        } else if self.run.is_windows && !is_key(text) {
            self.run.places += 1;
            self.run.by_place += 1;
        }
    }

    /// Replies that are Windows' were seen: their time-outs are of its language.
    pub(super) fn is_of_windows(&mut self) {
        self.run.is_windows = true;
    }

    /// A reply, with the stamp of its line.
    pub(super) fn answer(&mut self, sequence: Option<u64>, stamp: Option<Stamp>, rtt: Duration) {
        let Some(sequence) = sequence else {
            self.run.unnumbered.push((self.run.places, stamp, rtt));
            self.run.places += 1;
            return;
        };
        if std::mem::take(&mut self.run.is_windows) && self.run.unnumbered.is_empty() {
            // The heading was some other line: Windows' replies have no numbers.
            self.run.places -= std::mem::take(&mut self.run.by_place);
        }
        let mut number = self.place(sequence);
        if self.run.answered.contains(&number) {
            // Duplicates are marked as such, so this is a new run without its first line.
            self.end_run();
            number = self.place(sequence);
        }
        self.run.answered.insert(number);
        self.run.replies.push((number, stamp, rtt));
    }

    /// The number of a line; one that no probe of this run can have begins another.
    fn place(&mut self, sequence: u64) -> i64 {
        if self.run.is_of_another(sequence) {
            self.end_run();
        }
        self.run.widen(sequence)
    }

    fn end_run(&mut self) {
        let mut run = std::mem::take(&mut self.run);
        if run.latest.is_none() && run.places == 0 && run.received > 0 {
            self.stated = run.transmitted;
            return;
        }
        let stated = std::mem::take(&mut self.stated);
        if run.transmitted == 0 {
            run.transmitted = stated;
        }
        let numbered = run.latest.map_or(0, |_| run.last.abs_diff(run.first) + 1);
        let placed = numbered + run.places;
        let missing = run.transmitted.saturating_sub(placed);
        // Numbers begin with 0 or 1: further probes in the statistics came after the last.
        let is_end = run.latest.is_some() && run.first <= 1 && missing <= MAX_END;
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

/// Whether a line is empty, or the key that ended or asked a run: `^C`, `Control-C`, `Ctrl+Break`.
fn is_key(text: &str) -> bool {
    text.is_empty() || text.starts_with('^') || text.starts_with("Control") || text.contains("trl")
}

impl Run {
    /// The number of `sequence`: of the numbers equal modulo 2¹⁶ the nearest to the one before,
    /// and of a counter of more bits the number itself.
    fn number(&self, sequence: u64) -> i64 {
        let itself = i64::try_from(sequence).unwrap_or(i64::MAX);
        match (u16::try_from(sequence), self.latest) {
            (Ok(sequence), Some(latest)) if !self.is_wide => {
                latest.saturating_add(i64::from(sequence.wrapping_sub(latest as u16) as i16))
            }
            _ => itself,
        }
    }

    fn is_of_another(&self, sequence: u64) -> bool {
        let number = self.number(sequence);
        self.latest
            .is_some_and(|latest| number.abs_diff(latest) > MAX_JUMP)
    }

    /// Its number, which is now the latest.
    fn widen(&mut self, sequence: u64) -> i64 {
        let number = self.number(sequence);
        self.is_wide |= sequence > u64::from(u16::MAX);
        self.first = self.latest.map_or(number, |_| self.first.min(number));
        self.last = self.latest.map_or(number, |_| self.last.max(number));
        self.latest = Some(number);
        number
    }
}
