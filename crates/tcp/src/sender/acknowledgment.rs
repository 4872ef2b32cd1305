//! The processing of an acknowledgment, in order: the window, the delivery, the round trip,
//! needless retransmissions, losses, the congestion window, the timers.

use core::ops::Range;

use airtcp_units::{Duration, Instant};

use super::timers::{Slot, Timer};
use super::{Before, Sender};
use crate::config::{
    DuplicateReports, GrowthCredit, LateReports, PartialAckTimer, Recovery, Reneging, TimerRestart,
    TimerScope,
};
use crate::observer::{Event, Observer};
use crate::recovery::Phase;
use crate::rtt::Echo;

/// An acceptable acknowledgment, in offsets of the stream being acknowledged.
#[derive(Clone, Copy, Debug)]
pub struct Acknowledgment<'a> {
    /// Everything below it has arrived.
    pub offset: u64,
    /// First byte beyond the peer's window.
    pub right_edge: u64,
    /// Whether the segment carried neither data nor SYN nor FIN.
    pub bare: bool,
    /// Ranges received above `offset`, the most recent first; the first may report a duplicate.
    pub sack: &'a [Range<u64>],
    /// The echoed timestamp.
    pub echo: Option<Echo>,
    /// Whether it echoes a congestion mark (RFC 3168 §6.1.3).
    pub marked: bool,
    /// Whether it echoes ABC's brake (Goyal et al., NSDI 2020).
    pub brakes: bool,
    /// The peer's count of congestion marks, modulo eight, if it counts them (RFC 9768 §3.2.2).
    pub counted: Option<u8>,
}

/// The content of an acknowledgment's SACK blocks.
#[derive(Clone, Copy, Debug, Default)]
struct Report {
    /// Bytes newly SACKed.
    newly: u64,
    /// Whether a duplicate is reported.
    duplicate: bool,
    /// Whether that is the tail probe's copy.
    of_probe: bool,
}

impl Sender {
    /// Processes an acknowledgment that arrived at `now`. It must not cover data never sent.
    #[inline]
    pub fn on_acknowledgment(
        &mut self,
        now: Instant,
        acknowledgment: &Acknowledgment<'_>,
        observer: &mut impl Observer,
    ) {
        let offset = acknowledgment.offset;
        debug_assert!(
            offset <= self.space.nxt(),
            "acknowledgment of data never sent"
        );
        if offset == self.space.una() && acknowledgment.sack.is_empty() && self.is_at_rest() {
            self.on_window(now, acknowledgment.right_edge);
            return;
        }
        let before = self.before();
        let window_moved = acknowledgment.right_edge != self.space.right_edge();
        self.update_window(now, offset, acknowledgment.right_edge);
        self.repair.on_acknowledgment();
        self.small_segments.on_acknowledgment();
        self.trains.end();
        self.begin_delivery(now, || acknowledgment.echo);
        self.note_brake(acknowledgment.brakes);
        if offset < before.una {
            self.take_late_report(now, &before, acknowledgment, observer);
            self.note_brake(false);
            return;
        }
        let highest_before = self.board.highest_sacked().max(before.una);
        let report = self.take_sack(acknowledgment, now, observer);
        let advances = offset > before.una;
        if advances {
            self.space.on_acknowledged(offset);
            let advanced = self.board.advance(offset);
            self.detection
                .count_arrivals(offset - before.una, &self.board, self.congestion.mss());
            self.sample_rtt(now, advanced, acknowledgment.echo, observer);
            self.judge_timeout(now, acknowledgment.echo, observer);
        } else if report.newly > 0 {
            self.sample_reported_rtt(now, observer);
        }
        self.causes.on_delivery(now, self.board.delivery());
        let by_count;
        let acknowledgment = match acknowledgment.counted {
            None => acknowledgment,
            Some(ace) => {
                by_count = Acknowledgment {
                    marked: self.take_count(&before, self.space.una() - before.una, ace),
                    ..*acknowledgment
                };
                &by_count
            }
        };
        self.note_echo(acknowledgment.marked);
        self.take_delivery(now, &before, highest_before);
        self.note_echo(false);
        if self.tail_probe.is_unanswered() {
            let silent = !advances && report.newly == 0 && !window_moved && acknowledgment.bare;
            self.judge_tail_probe(now, &before, report.of_probe, silent, observer);
        }
        if acknowledgment.marked {
            self.on_mark_echoed(now, observer);
        }
        if advances && self.is_reneged() {
            self.wait_out_reneging(now);
            let delivered = self.delivered(&before, offset - before.una);
            self.follow_delivery(now, &before, delivered, acknowledgment.marked);
        } else if advances {
            self.on_new_data_acknowledged(now, &before, acknowledgment, report, observer);
        } else {
            let plain = acknowledgment.bare && !window_moved;
            self.on_nothing_acknowledged(now, &before, acknowledgment, (report, plain), observer);
        }
        self.note_brake(false);
    }

    /// Processes an acknowledgment that does not advance; `plain`: it also brings neither data nor
    /// a window update.
    fn on_nothing_acknowledged(
        &mut self,
        now: Instant,
        before: &Before,
        acknowledgment: &Acknowledgment<'_>,
        (report, plain): (Report, bool),
        observer: &mut impl Observer,
    ) {
        if self.board.is_empty() || self.is_shut() {
            // Nothing is outstanding, or the window is closed: an answer to a probe, a window
            // update, or a late report of a duplicate.
            self.try_undo_by_duplicates(now, observer);
        } else if self.choices.sack {
            // A reported duplicate is news too: it may show that a recovery is needless.
            if report.newly > 0 || report.duplicate {
                self.on_report(now, before, acknowledgment, report.newly, observer);
            }
        } else if plain {
            // RFC 5681 §2, definition of a duplicate acknowledgment.
            self.on_report(now, before, acknowledgment, 0, observer);
        }
    }

    /// Processes an acknowledgment that advances nothing but SACKs new data, or is a plain
    /// duplicate.
    fn on_report(
        &mut self,
        now: Instant,
        before: &Before,
        acknowledgment: &Acknowledgment<'_>,
        newly_reported: u64,
        observer: &mut impl Observer,
    ) {
        self.on_acknowledgment_after_timeout(now, acknowledgment, before, newly_reported, observer);
        self.try_undo_by_duplicates(now, observer);
        // RFC 6675 §2: with SACK, an acknowledgment is a duplicate if it SACKs new data.
        if !self.choices.sack || newly_reported > 0 {
            self.on_duplicate(now, observer);
        }
        let waits = self.look_for_losses(now, observer);
        self.judge_outage(before);
        let delivered = self.delivered(before, 0);
        self.move_marked_window(now, before, delivered);
        self.set_recovery_window(before, delivered);
        self.grow_by_period(before, delivered, acknowledgment.marked);
        // While segments are reordered, SACKs are progress like any other (Linux,
        // `tcp_may_raise_cwnd`).
        if self.repair.is_open()
            && newly_reported > 0
            && !self.has_recovery_period()
            && self.growth.credit() == GrowthCredit::Delivered
            && self.detection.reordering() > self.detection.threshold()
        {
            self.grow(delivered, before.in_flight, acknowledgment.marked);
        }
        self.control_window(now, before, delivered);
        // The timer restarts only if the SACKed data was sent before the last transmission of the
        // first outstanding segment: otherwise it would be put off indefinitely (Linux,
        // `tcp_clean_rtx_queue`).
        if self.choices.timer_restart == TimerRestart::Front
            && !waits
            && self.reports_older_than_front()
        {
            self.restart_or_probe(now);
        } else if self.choices.scope == TimerScope::Segment && newly_reported > 0 {
            self.rearm_segment_timers(now);
        } else if self.probes_at_timeout() && !waits && newly_reported > 0 {
            self.run_retransmission_timer(now);
        }
    }

    /// Processes an acknowledgment older than an earlier one; its SACK blocks may still be news
    /// (Linux, `old_ack`).
    #[cold]
    fn take_late_report(
        &mut self,
        now: Instant,
        before: &Before,
        acknowledgment: &Acknowledgment<'_>,
        observer: &mut impl Observer,
    ) {
        if self.choices.late_reports == LateReports::Ignored || acknowledgment.sack.is_empty() {
            return;
        }
        let highest_before = self.board.highest_sacked().max(self.space.una());
        let report = self.take_sack(acknowledgment, now, observer);
        self.take_delivery(now, before, highest_before);
        if report.newly > 0 {
            self.on_report(now, before, acknowledgment, report.newly, observer);
        }
    }

    /// Whether the receiver asks for a segment that it had SACKed, and has therefore dropped (RFC
    /// 2018 §8).
    #[inline]
    fn is_reneged(&self) -> bool {
        self.choices.reneging == Reneging::HalfRoundTrip
            && self.board.front().is_some_and(|front| front.is_sacked())
    }

    /// Waits for half a round trip, as the receiver may only be slow to acknowledge the data that
    /// it SACKed (Linux, `tcp_check_sack_reneging`).
    #[cold]
    fn wait_out_reneging(&mut self, now: Instant) {
        let srtt = self.timeout.estimator().srtt().unwrap_or(Duration::ZERO);
        let half = Duration::from_nanos(srtt.as_nanos() / 2);
        let soon = now + half.max(Duration::from_millis(10));
        match self.choices.scope {
            TimerScope::Connection => self.timers.arm(Timer::Reneging, soon),
            TimerScope::Segment => {
                self.board.time_front_by(soon);
                self.rearm_segment_timers(now);
            }
        }
    }

    fn reports_older_than_front(&self) -> bool {
        let reported = self
            .board
            .delivery()
            .and_then(|delivery| delivery.reported_sent_at);
        matches!((reported, self.board.front()), (Some(at), Some(front)) if at < front.sent_at)
    }

    /// Enters the SACK blocks into the scoreboard.
    #[inline]
    fn take_sack(
        &mut self,
        acknowledgment: &Acknowledgment<'_>,
        now: Instant,
        observer: &mut impl Observer,
    ) -> Report {
        let mut blocks = acknowledgment.sack;
        let mut report = Report::default();
        let Some(first) = blocks.first() else {
            return report;
        };
        // RFC 2883 §4: a first block below the cumulative acknowledgment, or inside the second
        // block, reports a duplicate.
        let inside_second = blocks
            .get(1)
            .is_some_and(|second| second.start <= first.start && first.end <= second.end);
        if first.start < acknowledgment.offset || inside_second {
            report.duplicate = true;
            report.of_probe = self.on_duplicate_reported(first, now, observer);
            blocks = &blocks[1..];
        }
        if self.choices.sack {
            report.newly = self.board.sack(blocks);
            if report.newly > 0 {
                self.detection
                    .detect_by_reports(&mut self.board, self.congestion.mss());
            }
        }
        report
    }

    /// Takes a reported duplicate. Returns whether it is the copy of a tail loss probe.
    fn on_duplicate_reported(
        &mut self,
        range: &Range<u64>,
        now: Instant,
        observer: &mut impl Observer,
    ) -> bool {
        self.counters.duplicates_reported.add();
        let all = self.choices.duplicate_reports == DuplicateReports::All;
        let of_probe = if all {
            self.tail_probe.is_unanswered()
        } else {
            self.tail_probe.is_copy(range, self.congestion.mss())
        };
        if self.is_duplicate_credible(range) {
            self.repair.on_duplicate_reported(range.end);
            if all || !of_probe {
                let (una, nxt) = (self.space.una(), self.space.nxt());
                self.detection.on_duplicate_reported(una, nxt, all);
            }
        }
        let offset = range.start;
        observer.event(now, Event::DuplicateReported { offset });
        of_probe
    }

    /// Whether a reported duplicate may be of a retransmission: no longer than a window, and no
    /// more of them than retransmissions. The others were duplicated by the network, or are forged:
    /// they do not show that a retransmission was needless (RFC 3708 §3; Linux, `tcp_dsack_seen`).
    fn is_duplicate_credible(&self, range: &Range<u64>) -> bool {
        let reported = u64::from(self.counters.duplicates_reported);
        reported <= u64::from(self.counters.segments_retransmitted)
            && range.end - range.start <= self.space.largest_window()
    }

    fn on_new_data_acknowledged(
        &mut self,
        now: Instant,
        before: &Before,
        acknowledgment: &Acknowledgment<'_>,
        report: Report,
        observer: &mut impl Observer,
    ) {
        self.detection.forget_duplicates();
        if !self.repair.is_fast() {
            self.detection.forget_arrivals();
        }
        self.repair.on_advanced();
        let acked = self.space.una() - before.una;
        let mut restarts_timer = true;
        match self.repair.phase() {
            Phase::Open => {
                if self.repair.is_undo_possible() {
                    self.try_undo_by_duplicates(now, observer);
                }
                if self.growth.credit() == GrowthCredit::Acknowledged {
                    self.grow(acked, before.in_flight, acknowledgment.marked);
                }
            }
            Phase::Timeout { .. } => {
                if self.growth.credit() == GrowthCredit::Acknowledged {
                    self.grow(acked, before.in_flight, acknowledgment.marked);
                }
                self.on_acknowledgment_after_timeout(
                    now,
                    acknowledgment,
                    before,
                    report.newly,
                    observer,
                );
            }
            Phase::FastRecovery(_) => {
                restarts_timer = self.on_progress_in_recovery(now, acked, acknowledgment, observer);
            }
        }
        let waits = self.look_behind_front(now, observer);
        self.judge_outage(before);
        let delivered = self.delivered(before, acked);
        self.follow_delivery(now, before, delivered, acknowledgment.marked);
        self.rearm_after_progress(now, restarts_timer && !waits);
    }

    /// Moves the window when `delivered` more bytes have arrived, and new data is acknowledged.
    fn follow_delivery(&mut self, now: Instant, before: &Before, delivered: u64, marked: bool) {
        self.move_marked_window(now, before, delivered);
        if self.repair.is_fast() {
            self.set_recovery_window(before, delivered);
            self.grow_by_period(before, delivered, marked);
        } else if self.growth.credit() == GrowthCredit::Delivered {
            self.grow(delivered, before.in_flight, marked);
        }
        self.control_window(now, before, delivered);
    }

    /// Processes new data acknowledged in fast recovery. Returns whether the timer restarts.
    fn on_progress_in_recovery(
        &mut self,
        now: Instant,
        acked: u64,
        acknowledgment: &Acknowledgment<'_>,
        observer: &mut impl Observer,
    ) -> bool {
        let (una, mss) = (self.space.una(), self.congestion.mss());
        if una >= self.repair.recovery_point() || self.choices.recovery == Recovery::Reno {
            self.detection.forget_arrivals();
            self.leave_recovery(now, acknowledgment.echo, observer);
            return true;
        }
        let mut restarts_timer = true;
        if !self.choices.sack
            && let Some(recovery) = self.repair.fast_mut()
        {
            recovery.on_partial(acked, mss);
            restarts_timer = match self.choices.partial_ack_timer {
                PartialAckTimer::Impatient => recovery.partial_acknowledgments == 1,
                PartialAckTimer::SlowButSteady => true,
            };
            self.detection.presume_front_lost(&mut self.board);
            // Linux retransmits it when the window allows, like everything in recovery.
            if !self.detection.counts_arrivals() {
                self.repair.set_first(una);
            }
        }
        self.on_partial_acknowledgment(now, acked, acknowledgment.echo, observer);
        restarts_timer
    }

    /// Looks for a loss that shows only now that the front has moved below SACKed data. Returns
    /// whether a reordering window is running.
    #[inline]
    fn look_behind_front(&mut self, now: Instant, observer: &mut impl Observer) -> bool {
        if self.detection.is_by_time() {
            return self.look_for_losses(now, observer);
        }
        if self.choices.sack && self.repair.is_open() && self.front_is_lost() {
            self.enter_recovery(now, observer);
        }
        false
    }

    /// Rearms the timers after new data was acknowledged (RFC 6298 §5.2 and §5.3).
    #[inline]
    pub(super) fn rearm_after_progress(&mut self, now: Instant, restarts: bool) {
        match self.choices.scope {
            TimerScope::Segment => self.rearm_segment_timers(now),
            TimerScope::Connection if self.board.is_empty() => {
                self.timers.cancel(Slot::Outstanding);
            }
            TimerScope::Connection if !restarts => {}
            TimerScope::Connection if self.tail_probe.is_enabled() => self.restart_or_probe(now),
            TimerScope::Connection => self.run_retransmission_timer(now),
        }
    }

    /// Opens the window by `credit` bytes, if it was used when `in_flight_before` bytes were in
    /// flight; not at an acknowledgment that echoes a congestion mark (RFC 3168 §6.1.2).
    #[inline]
    pub(super) fn grow(&mut self, credit: u64, in_flight_before: u64, marked: bool) {
        if self.holds_window(marked) {
            return;
        }
        let mss = self.congestion.mss();
        // Linux's controls ask themselves whether the window is used.
        if self.congestion.external().is_some()
            || self.growth.is_used(&self.congestion, in_flight_before, mss)
            || self.is_held_by_pace()
        {
            let after_timeout = self.repair.is_after_timeout();
            self.congestion.on_acknowledged(credit, after_timeout);
        }
    }

    /// Whether data waits because the window is spread over the round trip, as a control that heeds
    /// each mark does without a margin: such a window is used although it is never full.
    #[cold]
    fn is_held_by_pace(&self) -> bool {
        self.heeds_each_mark() && self.space.has_fresh()
    }
}
