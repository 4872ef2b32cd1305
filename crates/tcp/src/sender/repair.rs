//! The repair in progress: one way in, [`Repair::begin`], and one way out, [`Repair::end`].

use alloc::boxed::Box;

use airtcp_units::{Compact, Duration, Instant};

use crate::congestion::Saved;
use crate::recovery::{FastRecovery, Phase, Undo};
use crate::rtt::Echo;

/// The start of a repair.
#[derive(Debug)]
pub(super) enum Entry {
    /// A loss was found by acknowledgments. `first` is retransmitted at once, if it is known.
    Fast {
        recovery: FastRecovery,
        first: Option<u64>,
    },
    /// As after a timeout, though no timer expired: Tahoe's response to any loss.
    SlowStart { first: Option<u64> },
    /// The retransmission timer expired at `now` for the segment at `first`.
    Timeout {
        now: Instant,
        first: u64,
        tests_new_data: bool,
    },
    /// A closed window opens, and the outstanding data is presumed lost.
    Reopened,
}

/// The repair in progress, if any, and the state to undo it.
#[derive(Clone, Debug)]
pub(super) struct Repair {
    phase: Phase,
    /// End of the data outstanding when the last loss was found, if any: acknowledgments up to it
    /// do not start another fast recovery (RFC 6582 §3.2 step 2).
    recover: Compact<u64>,
    /// A segment to be retransmitted now, if any, whatever the window.
    first: Compact<u64>,
    /// New data goes before retransmissions: F-RTO's test.
    new_data_first: bool,
    /// New bytes sent on duplicate acknowledgments (RFC 3042): not part of FlightSize.
    limited: u32,
    /// Time at which a segment that timed out was retransmitted, until an acknowledgment reveals
    /// whether that was needed (RFC 3522 §3).
    resent_after_timeout: Compact<Instant>,
    /// Whether the last timeout was found spurious, or the repair followed no timeout.
    timeout_judged: bool,
    undo: Option<Box<Undo>>,
}

impl Repair {
    /// Creates the state without a repair; `undoes`: the windows before a reduction are saved.
    pub fn new(undoes: bool) -> Self {
        Self {
            phase: Phase::Open,
            recover: Compact::NONE,
            first: Compact::NONE,
            new_data_first: false,
            limited: 0,
            resent_after_timeout: Compact::NONE,
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

    /// Whether nothing is being repaired, nothing could be undone and no timeout is in doubt.
    #[inline]
    pub fn is_at_rest(&self) -> bool {
        self.is_open()
            && !self.has_first()
            && self.resent_after_timeout.is_none()
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

    /// The repair ends when everything below this offset is acknowledged; zero while nothing is
    /// repaired.
    #[inline]
    pub const fn recovery_point(&self) -> u64 {
        match &self.phase {
            Phase::Open => 0,
            Phase::FastRecovery(recovery) => recovery.recover,
            Phase::Timeout { recover, .. } => *recover,
        }
    }

    /// Whether a loss found while everything below `una` is acknowledged differs from the last one
    /// (RFC 6582 §3.2 step 2).
    pub fn is_another_loss(&self, una: u64) -> bool {
        self.recover.get().is_none_or(|recover| una > recover)
    }

    /// Begins a repair; the only way in. `nxt`: the first byte never sent.
    pub fn begin(&mut self, entry: Entry, nxt: u64) {
        self.recover = Compact::some(nxt);
        // If no timer has expired, there is no timeout to judge.
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
                self.resent_after_timeout = Compact::some(now);
                (after_timeout(tests_new_data), Some(first))
            }
        };
        self.phase = phase;
        self.first = first.into();
    }

    /// Ends the repair; the only way out. Returns its phase.
    pub fn end(&mut self) -> Phase {
        if let Some(undo) = &mut self.undo {
            undo.on_open();
        }
        core::mem::take(&mut self.phase)
    }

    /// Takes the segment to be retransmitted now.
    #[inline]
    pub fn take_first(&mut self) -> Option<u64> {
        self.first.take()
    }

    #[inline]
    pub fn has_first(&self) -> bool {
        self.first.is_some()
    }

    /// Schedules the segment at `offset` for immediate retransmission: a partial acknowledgment
    /// asks for it.
    pub const fn set_first(&mut self, offset: u64) {
        self.first = Compact::some(offset);
    }

    /// Cancels the immediate retransmission: its segment is not lost.
    pub const fn forget_first(&mut self) {
        self.first = Compact::NONE;
    }

    /// Whether new data goes before retransmissions.
    #[inline]
    pub const fn is_new_data_first(&self) -> bool {
        self.new_data_first
    }

    /// Handles an acknowledgment: its answer to F-RTO's test is evaluated separately.
    #[inline]
    pub const fn on_acknowledgment(&mut self) {
        self.new_data_first = false;
    }

    /// Continues F-RTO with `recover` as its point (RFC 5682 §2.1). `new_data_first`: by new data.
    pub fn test_new_data(&mut self, recover: u64, tests: bool, new_data_first: bool) {
        self.new_data_first = new_data_first;
        self.phase = Phase::Timeout {
            recover,
            tests_new_data: tests,
        };
    }

    /// Whether new data has left for F-RTO's test. `nxt`: the first byte never sent.
    pub const fn asks_by_new_data(&self, nxt: u64) -> bool {
        nxt > self.recovery_point()
    }

    /// Abandons F-RTO's test for conventional recovery.
    pub const fn stop_testing(&mut self) {
        self.new_data_first = false;
        if let Phase::Timeout { tests_new_data, .. } = &mut self.phase {
            *tests_new_data = false;
        }
    }

    /// Bytes sent by limited transmit, at most `outstanding`.
    pub fn limited(&self, outstanding: u64) -> u64 {
        u64::from(self.limited).min(outstanding)
    }

    /// Records new bytes sent on duplicate acknowledgments.
    #[inline]
    pub fn on_limited_transmit(&mut self, bytes: u64) {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        self.limited = self.limited.saturating_add(bytes);
    }

    /// Records that new data was acknowledged.
    #[inline]
    pub const fn on_advanced(&mut self) {
        self.limited = 0;
    }

    /// Takes the time at which the expired segment was retransmitted.
    #[inline]
    pub fn take_resent_after_timeout(&mut self) -> Option<Instant> {
        self.resent_after_timeout.take()
    }

    /// Judges the last timeout spurious. Returns whether that is news.
    pub const fn judge_timeout(&mut self) -> bool {
        !core::mem::replace(&mut self.timeout_judged, true)
    }

    /// Saves the windows before a reduction, with `resent` retransmissions in flight.
    pub fn keep(&mut self, una: u64, windows: Saved, resent: u64) {
        if let Some(undo) = &mut self.undo {
            let resent = u32::try_from(resent).unwrap_or(u32::MAX);
            undo.begin(una, Some(windows), resent);
        }
    }

    /// Takes the saved windows: nothing more can be undone.
    pub fn take_kept(&mut self) -> Option<Saved> {
        self.undo.as_mut().and_then(|undo| undo.take())
    }

    /// Whether anything can be undone.
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

    /// Whether the arrived data left before the first retransmission, on a clock with ticks of
    /// `tick`.
    pub fn is_disproved_by_echo(&self, echo: Option<Echo>, tick: Duration) -> bool {
        self.undo
            .as_ref()
            .is_some_and(|undo| undo.is_proved_by_echo(echo, tick))
    }

    /// Records a retransmission.
    #[inline]
    pub fn on_resent(&mut self, now: Instant) {
        if let Some(undo) = &mut self.undo {
            undo.on_resent(now);
        }
    }

    /// Records that the peer reported a duplicate that ends at `end`.
    pub fn on_duplicate_reported(&mut self, end: u64) {
        if let Some(undo) = &mut self.undo {
            undo.on_duplicate_reported(end);
        }
    }
}
