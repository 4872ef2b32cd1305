//! What is being repaired: one way in, [`Repair::begin`], and one way out, [`Repair::end`].

use airtcp_units::{Duration, Instant};

use super::Echo;
use crate::congestion::Saved;
use crate::recovery::{FastRecovery, Phase, Undo};

/// How a repair begins.
#[derive(Debug)]
pub(super) enum Entry {
    /// A loss was found by acknowledgments. `first` is retransmitted at once, if it is known.
    Fast {
        recovery: FastRecovery,
        first: Option<u64>,
    },
    /// As after a timeout, though none happened: Tahoe's answer to any loss.
    SlowStart { first: Option<u64> },
    /// The retransmission timer expired at `now` for the segment at `first`.
    Timeout {
        now: Instant,
        first: u64,
        tests_new_data: bool,
    },
    /// A window that was shut opens, and what was outstanding is taken for lost.
    Reopened,
}

/// No offset of a stream.
const NONE: u64 = u64::MAX;

/// The repair under way, if any, and what is kept to take it back.
#[derive(Clone, Debug)]
pub(super) struct Repair {
    phase: Phase,
    /// Data outstanding when the last loss was found, if there was one: acknowledgments of no more
    /// than this do not start another fast recovery (RFC 6582 §3.2 step 2).
    recover: u64,
    /// A segment to be retransmitted now, if any, whatever the window.
    first: u64,
    /// New data goes before retransmissions: F-RTO's question.
    new_data_first: bool,
    /// New bytes sent on duplicate acknowledgments (RFC 3042): no part of FlightSize.
    limited: u64,
    /// When a segment that timed out was retransmitted, until an acknowledgment tells whether that
    /// was needed (RFC 3522 §3); zero otherwise.
    resent_after_timeout: Instant,
    /// Whether the last timeout was found to be spurious, or what is repaired followed no timeout.
    timeout_judged: bool,
    undo: Option<Box<Undo>>,
}

impl Repair {
    /// Nothing to repair; `undoes`: the windows before a reduction are kept.
    pub fn new(undoes: bool) -> Self {
        Self {
            phase: Phase::Open,
            recover: NONE,
            first: NONE,
            new_data_first: false,
            limited: 0,
            resent_after_timeout: Instant::ZERO,
            timeout_judged: false,
            undo: undoes.then(Box::default),
        }
    }

    #[inline]
    pub const fn phase(&self) -> &Phase {
        &self.phase
    }

    #[inline]
    pub const fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Open)
    }

    /// Whether nothing is repaired, nothing could be taken back and no timeout is in doubt.
    #[inline]
    pub fn is_at_rest(&self) -> bool {
        self.is_open()
            && !self.has_first()
            && self.resent_after_timeout == Instant::ZERO
            && !self.is_undo_possible()
    }

    #[inline]
    pub const fn is_fast(&self) -> bool {
        matches!(self.phase, Phase::FastRecovery(_))
    }

    #[inline]
    pub const fn is_after_timeout(&self) -> bool {
        matches!(self.phase, Phase::Timeout { .. })
    }

    #[inline]
    pub fn fast_mut(&mut self) -> Option<&mut FastRecovery> {
        match &mut self.phase {
            Phase::FastRecovery(recovery) => Some(recovery),
            _ => None,
        }
    }

    /// Repaired when everything below this offset is acknowledged; zero while nothing is repaired.
    #[inline]
    pub const fn recovery_point(&self) -> u64 {
        match &self.phase {
            Phase::Open => 0,
            Phase::FastRecovery(recovery) => recovery.recover,
            Phase::Timeout { recover, .. } => *recover,
        }
    }

    /// Whether a loss found while everything below `una` is acknowledged is another one than the
    /// last (RFC 6582 §3.2 step 2).
    pub const fn is_another_loss(&self, una: u64) -> bool {
        self.recover == NONE || una > self.recover
    }

    /// The one way in. `nxt`: the first byte never sent.
    pub fn begin(&mut self, entry: Entry, nxt: u64) {
        self.recover = nxt;
        // Where no timer has run out, there is no timeout to judge.
        self.timeout_judged = !matches!(entry, Entry::Timeout { .. });
        let after_timeout = |tests_new_data| Phase::Timeout {
            recover: nxt,
            tests_new_data,
        };
        let (phase, first) = match entry {
            Entry::Fast { recovery, first } => (Phase::FastRecovery(Box::new(recovery)), first),
            Entry::SlowStart { first } => (after_timeout(false), first),
            Entry::Reopened => (after_timeout(false), None),
            Entry::Timeout {
                now,
                first,
                tests_new_data,
            } => {
                self.new_data_first = false;
                self.limited = 0;
                self.resent_after_timeout = now;
                (after_timeout(tests_new_data), Some(first))
            }
        };
        self.phase = phase;
        self.first = first.unwrap_or(NONE);
    }

    /// The one way out. Returns what was repaired.
    pub fn end(&mut self) -> Phase {
        if let Some(undo) = &mut self.undo {
            undo.on_open();
        }
        std::mem::take(&mut self.phase)
    }

    /// The segment to be retransmitted now, once.
    #[inline]
    pub fn take_first(&mut self) -> Option<u64> {
        let first = std::mem::replace(&mut self.first, NONE);
        (first != NONE).then_some(first)
    }

    #[inline]
    pub const fn has_first(&self) -> bool {
        self.first != NONE
    }

    /// The segment at `offset` is to be retransmitted now: a partial acknowledgment asks for it.
    pub const fn set_first(&mut self, offset: u64) {
        self.first = offset;
    }

    /// What was to be retransmitted now is not lost.
    pub const fn forget_first(&mut self) {
        self.first = NONE;
    }

    /// Whether new data goes before retransmissions.
    #[inline]
    pub const fn is_new_data_first(&self) -> bool {
        self.new_data_first
    }

    /// An acknowledgment came: what it says of F-RTO's question is found out again.
    #[inline]
    pub const fn on_acknowledgment(&mut self) {
        self.new_data_first = false;
    }

    /// F-RTO goes on with `recover` as its point (RFC 5682 §2.1). `new_data_first`: by new data.
    pub fn test_new_data(&mut self, recover: u64, tests: bool, new_data_first: bool) {
        self.new_data_first = new_data_first;
        self.phase = Phase::Timeout {
            recover,
            tests_new_data: tests,
        };
    }

    /// Whether new data has left to answer F-RTO's question. `nxt`: the first byte never sent.
    pub const fn asks_by_new_data(&self, nxt: u64) -> bool {
        nxt > self.recovery_point()
    }

    /// F-RTO's question cannot be asked: conventional recovery.
    pub const fn stop_testing(&mut self) {
        self.new_data_first = false;
        if let Phase::Timeout { tests_new_data, .. } = &mut self.phase {
            *tests_new_data = false;
        }
    }

    /// Bytes sent by limited transmit, of `outstanding` at most.
    pub fn limited(&self, outstanding: u64) -> u64 {
        self.limited.min(outstanding)
    }

    /// New bytes left on duplicate acknowledgments.
    #[inline]
    pub const fn on_limited_transmit(&mut self, bytes: u64) {
        self.limited += bytes;
    }

    /// New data was acknowledged.
    #[inline]
    pub const fn on_advanced(&mut self) {
        self.limited = 0;
    }

    /// When what timed out was retransmitted, once.
    #[inline]
    pub fn take_resent_after_timeout(&mut self) -> Option<Instant> {
        let at = std::mem::replace(&mut self.resent_after_timeout, Instant::ZERO);
        (at > Instant::ZERO).then_some(at)
    }

    /// The last timeout was spurious. Returns whether that is news.
    pub const fn judge_timeout(&mut self) -> bool {
        !std::mem::replace(&mut self.timeout_judged, true)
    }

    /// Keeps the windows as they are before a reduction, with `resent` retransmissions under way.
    pub fn keep(&mut self, una: u64, windows: Saved, resent: u64) {
        if let Some(undo) = &mut self.undo {
            let resent = u32::try_from(resent).unwrap_or(u32::MAX);
            undo.begin(una, Some(windows), resent);
        }
    }

    /// The windows kept, once: nothing more can be taken back.
    pub fn take_kept(&mut self) -> Option<Saved> {
        self.undo.as_mut().and_then(|undo| undo.take())
    }

    /// Whether anything can be taken back.
    #[inline]
    pub fn is_undo_possible(&self) -> bool {
        self.undo.as_ref().is_some_and(|undo| undo.is_possible())
    }

    /// Whether every retransmission was reported as a duplicate.
    #[inline]
    pub fn is_disproved_by_duplicates(&self) -> bool {
        self.undo
            .as_ref()
            .is_some_and(|undo| undo.is_proved_by_duplicates())
    }

    /// Whether what arrived left before the first retransmission, on a clock of ticks of `tick`.
    pub fn is_disproved_by_echo(&self, echo: Option<Echo>, tick: Duration) -> bool {
        self.undo
            .as_ref()
            .is_some_and(|undo| undo.is_proved_by_echo(echo, tick))
    }

    /// A segment is retransmitted.
    #[inline]
    pub fn on_resent(&mut self, now: Instant) {
        if let Some(undo) = &mut self.undo {
            undo.on_resent(now);
        }
    }

    /// The peer reported a duplicate that ends at `end`.
    pub fn on_duplicate_reported(&mut self, end: u64) {
        if let Some(undo) = &mut self.undo {
            undo.on_duplicate_reported(end);
        }
    }
}
