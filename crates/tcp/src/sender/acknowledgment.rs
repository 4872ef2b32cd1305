//! What an acknowledgment changes.

use std::ops::Range;

use airtcp_units::{Duration, Instant};

use super::timers::Pending;
use super::{Before, Evidence, Sender};
use crate::config::{Recovery, RttSampling, SpuriousResponse, TimerScope, WindowValidation};
use crate::congestion::{Ack, Repairing};
use crate::loss_detection::Advanced;
use crate::observer::{Event, Observer};
use crate::recovery::Phase;

/// A timestamp that came back (RFC 7323 §4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Echo {
    /// The tick at which it was sent.
    pub sent_at: Instant,
    /// Ticks since then, as a duration.
    pub rtt: Duration,
}

/// An acceptable acknowledgment, in offsets of the stream being acknowledged.
#[derive(Clone, Copy, Debug)]
pub struct Acknowledgment<'a> {
    /// Everything below it has arrived.
    pub offset: u64,
    /// First byte the peer has no room for.
    pub right_edge: u64,
    /// Whether the segment carried neither data nor SYN nor FIN.
    pub bare: bool,
    /// Ranges received above `offset`, the newest first; the first may report a duplicate.
    pub sack: &'a [Range<u64>],
    /// The echoed timestamp.
    pub echo: Option<Echo>,
}

impl Sender {
    /// Takes an acknowledgment that arrived at `now`. It must not cover what was never sent.
    #[inline]
    pub fn on_acknowledgment(
        &mut self,
        now: Instant,
        acknowledgment: &Acknowledgment<'_>,
        observer: &mut impl Observer,
    ) {
        let offset = acknowledgment.offset;
        debug_assert!(offset <= self.nxt, "acknowledgment of data never sent");
        let before = self.before();
        let window_moved = acknowledgment.right_edge != self.right_edge;
        self.update_window(now, offset, acknowledgment.right_edge);
        self.new_data_first = false;
        self.begin_delivery(now);
        if offset < self.una {
            self.take_late_report(now, &before, acknowledgment, observer);
            return;
        }
        let highest_before = self.board.highest_sacked().max(self.una);
        let (newly_reported, probe_twice) = self.take_sack(now, acknowledgment, observer);
        let advances = offset > self.una;
        if advances {
            self.una = offset;
            let advanced = self.board.advance(offset);
            self.sample_rtt(now, advanced, acknowledgment.echo, observer);
            self.judge_timeout(now, acknowledgment.echo, observer);
        } else if newly_reported > 0 {
            self.sample_reported_rtt(now, observer);
        }
        self.take_delivery(now, &before, highest_before);
        if self.tail_probe.is_some() {
            let silent = !advances && newly_reported == 0 && !window_moved && acknowledgment.bare;
            self.judge_tail_probe(now, &before, probe_twice, silent, observer);
        }
        if self.is_reneged() {
            self.wait_out_reneging(now);
            return;
        }
        if advances {
            self.on_new_data_acknowledged(now, &before, acknowledgment, newly_reported, observer);
        } else if self.board.is_empty() || self.is_shut() {
            // Nothing is outstanding, or the window is shut: an answer to a probe, or a window
            // update, or a late report of a duplicate.
            self.try_undo_by_duplicates(now, observer);
        } else if self.choices.sack {
            // RFC 6675 §2: a duplicate is an acknowledgment that reports something new.
            if newly_reported > 0 || (probe_twice && self.rack.is_some()) {
                self.on_report(now, &before, acknowledgment, newly_reported, observer);
            }
        } else if acknowledgment.bare && !window_moved {
            // RFC 5681 §2, definition of a duplicate acknowledgment.
            self.on_report(now, &before, acknowledgment, 0, observer);
        }
    }

    /// An acknowledgment that moves nothing but reports something, or is a plain duplicate.
    fn on_report(
        &mut self,
        now: Instant,
        before: &Before,
        acknowledgment: &Acknowledgment<'_>,
        newly_reported: u64,
        observer: &mut impl Observer,
    ) {
        if matches!(self.phase, Phase::Timeout { .. }) {
            self.on_acknowledgment_after_timeout(
                now,
                acknowledgment,
                before,
                newly_reported,
                observer,
            );
        }
        self.try_undo_by_duplicates(now, observer);
        self.on_duplicate(now, observer);
        let waits = self.look_for_losses(now, observer);
        let delivered = self.delivered(before, 0);
        self.set_recovery_window(before, delivered);
        // Where segments overtake each other, reports are progress like any (Linux,
        // `tcp_may_raise_cwnd`).
        if matches!(self.phase, Phase::Open)
            && newly_reported > 0
            && self.rack.is_some()
            && self.reordering() > self.duplicates.threshold()
        {
            self.grow(delivered, before.in_flight, false);
        }
        self.control_window(now, before, delivered);
        // The timer starts anew only if what was reported was sent before the first outstanding
        // segment last was: else it would be put off again and again (Linux, `tcp_clean_rtx_queue`).
        if self.rack.is_some() && !waits && self.reports_older_than_front() {
            self.restart_or_probe(now);
        }
    }

    /// An acknowledgment older than one before it, whose reports are still news (Linux, `old_ack`).
    #[cold]
    fn take_late_report(
        &mut self,
        now: Instant,
        before: &Before,
        acknowledgment: &Acknowledgment<'_>,
        observer: &mut impl Observer,
    ) {
        if self.rack.is_none() || acknowledgment.sack.is_empty() {
            return;
        }
        let highest_before = self.board.highest_sacked().max(self.una);
        let (newly_reported, _) = self.take_sack(now, acknowledgment, observer);
        self.take_delivery(now, before, highest_before);
        if newly_reported > 0 {
            self.on_report(now, before, acknowledgment, newly_reported, observer);
        }
    }

    /// Starts the account of what this acknowledgment delivers.
    #[inline]
    fn begin_delivery(&mut self, now: Instant) {
        if self.board.delivery().is_none() {
            return;
        }
        let minimum = self.timeout.estimator().minimum().unwrap_or(Duration::ZERO);
        let sent_before = now.as_nanos().saturating_sub(minimum.as_nanos());
        let recover = match &self.phase {
            Phase::Open => 0,
            Phase::FastRecovery(recovery) => recovery.recover,
            Phase::Timeout { recover, .. } => *recover,
        };
        self.board.begin(Instant::from_nanos(sent_before), recover);
    }

    /// Hands what was delivered to those who want to know.
    #[inline]
    fn take_delivery(&mut self, now: Instant, before: &Before, highest_before: u64) {
        let Some(delivery) = self.board.delivery() else {
            return;
        };
        if let Some(rack) = &mut self.rack {
            rack.on_acknowledged(self.una);
            rack.on_delivery(now, delivery, highest_before, self.mss);
        }
        let bytes = delivery.bytes;
        if bytes == 0 {
            return;
        }
        if let Some(classifier) = &mut self.classifier {
            let segments = u32::try_from(bytes.div_ceil(self.mss)).unwrap_or(u32::MAX);
            classifier.on_acknowledged(now, segments);
        }
        if self.congestion.observes() && !self.congestion.is_model_based() {
            let ack = self.ack_for_control(now, before, self.delivered(before, 0));
            self.congestion.observe(&ack);
        }
    }

    /// Bytes this acknowledgment delivered. Without SACK a duplicate stands for a segment, and what is
    /// acknowledged was counted then (Linux, `tcp_add_reno_sack` and `tcp_remove_reno_sacks`).
    #[inline]
    fn delivered(&self, before: &Before, acked: u64) -> u64 {
        if self.choices.sack {
            return self
                .board
                .delivery()
                .map_or(acked, |delivery| delivery.bytes);
        }
        let acked = self.una - before.una;
        if acked == 0 {
            self.mss
        } else {
            acked
                .saturating_sub(before.inflation)
                .max(acked.min(self.mss))
        }
    }

    fn ack_for_control(&self, now: Instant, before: &Before, delivered: u64) -> Ack {
        let estimator = self.timeout.estimator();
        Ack {
            now,
            delivered,
            lost: self.lost_in_all - before.lost_in_all,
            rtt: self.newest_rtt(now),
            minimum_rtt: estimator.minimum().unwrap_or(Duration::ZERO),
            srtt: estimator.srtt().unwrap_or(Duration::ZERO),
            una: self.una,
            nxt: self.nxt,
            in_flight: self.board.in_flight(),
            delivered_in_all: self.rate.as_ref().map_or(0, |rate| rate.delivered()),
            rate: None,
            repairing: match &self.phase {
                Phase::Open => Repairing::Nothing,
                Phase::FastRecovery(_) => Repairing::FastRecovery,
                Phase::Timeout { .. } => Repairing::Timeout,
            },
        }
    }

    /// The round trip of the segment sent last of those delivered.
    fn newest_rtt(&self, now: Instant) -> Option<Duration> {
        let latest = self.board.delivery()?.latest?;
        Some(now - latest.sent_at)
    }

    /// A controller with a model of the path moves the window itself, whatever is being repaired.
    #[inline]
    fn control_window(&mut self, now: Instant, before: &Before, delivered: u64) {
        if !self.congestion.is_model_based() {
            return;
        }
        let minimum = self.timeout.estimator().minimum().unwrap_or(Duration::ZERO);
        let tag = self.board.delivery().and_then(|delivery| delivery.tag);
        let mut sample = None;
        if let Some(rate) = &mut self.rate {
            sample = rate.on_delivered(now, delivered, tag, minimum);
        }
        let mut ack = self.ack_for_control(now, before, delivered);
        ack.rate = sample;
        self.congestion.observe(&ack);
        if self.congestion.is_probing_rtt()
            && let Some(rate) = &mut self.rate
        {
            // What is sent with an all but empty window is no measure of the bandwidth.
            rate.on_application_limited(self.board.in_flight());
        }
    }

    /// A receiver that reported the segment it now asks for has dropped it (RFC 2018 §8).
    #[inline]
    fn is_reneged(&self) -> bool {
        self.rack.is_some()
            && self
                .board
                .front()
                .is_some_and(crate::loss_detection::SentSegment::is_sacked)
    }

    /// It may be a receiver that acknowledges what it reported a little late; so it is given half a
    /// round trip (Linux, `tcp_check_sack_reneging`).
    #[cold]
    fn wait_out_reneging(&mut self, now: Instant) {
        let srtt = self.timeout.estimator().srtt().unwrap_or(Duration::ZERO);
        let half = Duration::from_nanos(srtt.as_nanos() / 2);
        let soon = now + half.max(Duration::from_millis(10));
        self.pending = Pending::Retransmission;
        self.deadline = match self.choices.scope {
            TimerScope::Connection => soon,
            TimerScope::Segment => self.deadline.min(soon),
        };
    }

    fn reports_older_than_front(&self) -> bool {
        let reported = self
            .board
            .delivery()
            .and_then(|delivery| delivery.reported_sent_at);
        matches!((reported, self.board.front()), (Some(at), Some(front)) if at < front.sent_at)
    }

    /// Duplicates were reported of all that was sent again: the recovery was needless.
    fn try_undo_by_duplicates(&mut self, now: Instant, observer: &mut impl Observer) {
        let proved = self
            .undo
            .as_ref()
            .is_some_and(|undo| undo.is_proved_by_duplicates());
        if !proved
            || !self.choices.spurious_detection.dsack
            || matches!(self.phase, Phase::Timeout { .. })
        {
            return;
        }
        self.take_back(now, Evidence::Duplicates, false, observer);
        if matches!(self.phase, Phase::FastRecovery(_)) && self.board.lost() == 0 {
            self.phase = Phase::Open;
            self.on_open();
            observer.event(now, Event::RecoveryExit);
        }
    }

    /// Looks for losses by time. Returns whether a reordering window is waited for.
    fn look_for_losses(&mut self, now: Instant, observer: &mut impl Observer) -> bool {
        if self.rack.is_none() {
            return false;
        }
        let detected = self.detect_by_time(now, false);
        let enters = match &self.phase {
            Phase::Open => self.board.lost() > 0,
            // A retransmission was lost: the repair of the timeout is itself in congestion.
            Phase::Timeout { .. } => detected.retransmission,
            Phase::FastRecovery(_) => false,
        };
        if enters {
            self.enter_recovery(now, observer);
        }
        if let Some(wait) = detected.wait {
            self.arm_reordering(now, wait);
            return true;
        }
        false
    }

    fn update_window(&mut self, now: Instant, offset: u64, right_edge: u64) {
        if self.right_edge <= self.nxt {
            if right_edge > self.nxt {
                self.probe_deadline = Instant::FAR_FUTURE;
                self.probes = 0;
            }
            if self.is_shut() && right_edge > self.una.max(offset) {
                self.resume(now, offset > self.una);
            }
        }
        self.right_edge = right_edge;
    }

    /// Enters what the receiver reported into the scoreboard. Returns how many bytes were new, and
    /// whether a duplicate was reported that may be the tail probe's.
    #[inline]
    fn take_sack(
        &mut self,
        now: Instant,
        acknowledgment: &Acknowledgment<'_>,
        observer: &mut impl Observer,
    ) -> (u64, bool) {
        let mut blocks = acknowledgment.sack;
        let Some(first) = blocks.first() else {
            return (0, false);
        };
        // RFC 2883 §4: a first block below the cumulative acknowledgment, or inside the second
        // block, reports a duplicate.
        let inside_second = blocks
            .get(1)
            .is_some_and(|second| second.start <= first.start && first.end <= second.end);
        let mut duplicate = false;
        if first.start < acknowledgment.offset || inside_second {
            duplicate = true;
            self.counters.duplicates_reported += 1;
            if let Some(undo) = &mut self.undo {
                undo.on_duplicate_reported(first.end);
            }
            if let Some(rack) = &mut self.rack
                && rack.reordering_seen()
                && self.tail_probe.is_none()
            {
                rack.on_duplicate_reported(self.una, self.nxt);
            }
            observer.event(
                now,
                Event::DuplicateReported {
                    offset: first.start,
                },
            );
            blocks = &blocks[1..];
        }
        if !self.choices.sack {
            return (0, duplicate);
        }
        let newly = self.board.sack(blocks);
        if newly > 0 {
            self.detect_by_reports();
        }
        (newly, duplicate)
    }

    #[inline]
    fn on_new_data_acknowledged(
        &mut self,
        now: Instant,
        before: &Before,
        acknowledgment: &Acknowledgment<'_>,
        newly_reported: u64,
        observer: &mut impl Observer,
    ) {
        self.duplicates.reset();
        self.limited = 0;
        let acked = self.una - before.una;
        let mut restart_timer = true;
        match &mut self.phase {
            Phase::Open => {
                if self.undo.as_ref().is_some_and(|undo| undo.is_possible()) {
                    self.try_undo_by_duplicates(now, observer);
                }
                if self.rack.is_none() {
                    let credit = self.credit(before, acked);
                    self.grow(credit, before.in_flight, false);
                }
            }
            Phase::Timeout { .. } => {
                if self.rack.is_none() {
                    // Linux does without RFC 3465's caution after a timeout.
                    let careful = self.choices.window_validation != WindowValidation::LastRound;
                    self.grow(acked, before.in_flight, careful);
                }
                self.on_acknowledgment_after_timeout(
                    now,
                    acknowledgment,
                    before,
                    newly_reported,
                    observer,
                );
            }
            Phase::FastRecovery(recovery) => {
                if self.una >= recovery.recover || self.choices.recovery == Recovery::Reno {
                    self.leave_recovery(now, acknowledgment.echo, observer);
                } else {
                    if !self.choices.sack {
                        recovery.on_partial(acked, self.mss);
                        // RFC 6582 §3.2 step 3: the first partial acknowledgment restarts the timer,
                        // later ones do not, so that many losses end in a timeout and not in one
                        // round trip each (§4, "impatient"). Linux restarts it at each.
                        restart_timer = recovery.partial_acknowledgments == 1
                            || self.choices.window_validation == WindowValidation::LastRound;
                        self.board.mark_lost(0);
                        self.repair_now = Some(self.una);
                    }
                    self.on_partial_acknowledgment(now, acknowledgment.echo, observer);
                }
            }
        }
        // A loss may show only now: what was reported lies above a front that just moved.
        let waits = if self.rack.is_some() {
            self.look_for_losses(now, observer)
        } else {
            if self.choices.sack && matches!(self.phase, Phase::Open) && self.front_is_lost() {
                self.enter_recovery(now, observer);
            }
            false
        };
        let delivered = self.delivered(before, acked);
        if matches!(self.phase, Phase::FastRecovery(_)) {
            self.set_recovery_window(before, delivered);
        } else if self.rack.is_some() {
            self.grow(delivered, before.in_flight, false);
        }
        self.control_window(now, before, delivered);
        match self.choices.scope {
            TimerScope::Segment => self.rearm_segment_timers(),
            // RFC 6298 §5.2 and §5.3.
            TimerScope::Connection if self.board.is_empty() => {
                self.deadline = Instant::FAR_FUTURE;
                self.pending = Pending::Retransmission;
            }
            TimerScope::Connection if waits || !restart_timer => {}
            TimerScope::Connection if self.choices.tail_loss_probe => self.restart_or_probe(now),
            TimerScope::Connection => self.deadline = now + self.timeout.rto(),
        }
    }

    /// All that was outstanding is acknowledged: the recovery ends, or is taken back.
    fn leave_recovery(&mut self, now: Instant, echo: Option<Echo>, observer: &mut impl Observer) {
        let evidence = self
            .evidence(echo)
            .filter(|_| self.choices.spurious_response != SpuriousResponse::None);
        match evidence {
            Some(evidence) => {
                self.take_back(now, evidence, false, observer);
                self.phase = Phase::Open;
                self.on_open();
                observer.event(now, Event::RecoveryExit);
            }
            None => self.exit_recovery(now, observer),
        }
    }

    /// Part of what was outstanding is acknowledged. If it was sent before the first retransmission,
    /// it was late and not lost (Linux, `tcp_try_undo_partial`).
    fn on_partial_acknowledgment(
        &mut self,
        now: Instant,
        echo: Option<Echo>,
        observer: &mut impl Observer,
    ) {
        if self.choices.spurious_response == SpuriousResponse::None {
            return;
        }
        if self.evidence(echo) == Some(Evidence::Echo) {
            // What was sent again is still on its way: the window waits for that.
            if self.board.resent() == 0 {
                self.take_back(now, Evidence::Echo, true, observer);
                self.phase = Phase::Open;
                self.on_open();
                observer.event(now, Event::RecoveryExit);
            }
        } else {
            self.try_undo_by_duplicates(now, observer);
        }
    }

    /// What an acknowledgment of `acked` bytes counts towards growth: all of it; in Linux what it newly
    /// delivers.
    #[inline]
    fn credit(&self, before: &Before, acked: u64) -> u64 {
        match self.choices.window_validation {
            WindowValidation::LastRound => self.delivered(before, acked),
            _ => acked,
        }
    }

    /// Opens the window, if it was used: one that was not has not been tested (RFC 7661 §4.1).
    #[inline]
    fn grow(&mut self, acked: u64, in_flight_before: u64, after_timeout: bool) {
        let used = match self.choices.window_validation {
            WindowValidation::InFlight => in_flight_before + self.mss > self.congestion.cwnd(),
            WindowValidation::LastRound => self.usage.as_ref().is_some_and(|usage| {
                usage.is_used(self.congestion.cwnd(), self.congestion.in_slow_start())
            }),
            WindowValidation::Always => true,
        };
        if used {
            self.congestion.on_acknowledged(acked, after_timeout);
        }
    }

    #[inline]
    fn sample_rtt(
        &mut self,
        now: Instant,
        advanced: Advanced,
        echo: Option<Echo>,
        observer: &mut impl Observer,
    ) {
        let sample = match self.choices.sampling {
            // The sender's own record is exact; where a segment was sent more than once only the
            // echo tells which one was answered (RFC 7323 §4.1).
            RttSampling::PerAcknowledgment => advanced
                .sent_at
                .map(|sent_at| now - sent_at)
                .or_else(|| echo.filter(|_| advanced.resent).map(|echo| echo.rtt)),
            RttSampling::EchoedTimestamp => echo.map(|echo| echo.rtt),
            RttSampling::PerWindow => match self.timed {
                Some((end, sent_at)) if self.una >= end => {
                    self.timed = None;
                    Some(now - sent_at)
                }
                _ => None,
            },
        };
        match sample {
            Some(rtt) => self.on_rtt_sample(now, rtt, observer),
            None => self.sample_reported_rtt(now, observer),
        }
    }

    /// What is reported for the first time has made its round trip too (Linux, `tcp_ack_update_rtt`).
    fn sample_reported_rtt(&mut self, now: Instant, observer: &mut impl Observer) {
        let reported = self
            .board
            .delivery()
            .and_then(|delivery| delivery.reported_sent_at);
        if self.rack.is_some()
            && let Some(sent_at) = reported
        {
            self.on_rtt_sample(now, now - sent_at, observer);
        }
    }

    #[inline]
    fn on_rtt_sample(&mut self, now: Instant, mut rtt: Duration, observer: &mut impl Observer) {
        if let Some(link) = &mut self.link {
            let least = self.timeout.estimator().minimum().unwrap_or(rtt);
            link.on_acknowledged(self.una);
            let threshold = link.threshold(self.base_threshold, self.congestion.cwnd(), self.mss);
            self.duplicates.set_threshold(threshold);
            match link.filter(self.una, rtt, least) {
                Some(believed) => rtt = believed,
                None => return,
            }
        }
        self.timeout.on_sample(rtt, self.una, self.nxt);
        if let Some(classifier) = &mut self.classifier {
            classifier.on_rtt_sample(now, rtt);
        }
        observer.event(now, Event::RttSample { rtt });
    }

    /// RFC 3522 §3: if the first acknowledgment after a timeout echoes a timestamp older than the
    /// retransmission, the original had arrived.
    #[inline]
    fn judge_timeout(&mut self, now: Instant, echo: Option<Echo>, observer: &mut impl Observer) {
        let Some(resent_at) = self.resent_after_timeout.take() else {
            return;
        };
        if echo.is_some_and(|echo| echo.sent_at + self.choices.timestamp_tick <= resent_at) {
            self.timeout_judged = true;
            self.counters.timeouts_judged_spurious += 1;
            observer.event(now, Event::TimeoutJudgedSpurious);
        }
    }
}
