//! From the first sign of a loss to the end of its repair.

use airtcp_units::Instant;

use super::causes::Answer;
use super::repair::Entry;
use super::{Before, Sender};
use crate::config::{Recovery, Reduction, TimerScope};
use crate::external::State;
use crate::loss_detection::Detected;
use crate::loss_differentiation::{Cause, LossEvent};
use crate::observer::{Event, Observer};
use crate::recovery::proportional_rate::Progress;
use crate::recovery::{Bound, FastRecovery, Pace, Phase, ProportionalRate};

/// How a repair ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Everything outstanding when it began is acknowledged.
    Repaired,
    /// It was needless.
    TakenBack,
}

impl Sender {
    /// Processes a duplicate acknowledgment, or one that SACKs new data.
    pub(super) fn on_duplicate(&mut self, now: Instant, observer: &mut impl Observer) {
        self.detection.on_duplicate();
        if self.is_arrival() {
            self.detection
                .count_arrivals(0, &self.board, self.congestion.mss());
        } else {
            self.detection.ignore_duplicate();
        }
        if let Some(recovery) = self.repair.fast_mut() {
            if !self.choices.sack && !self.detection.counts_arrivals() {
                recovery.on_duplicate(self.congestion.mss());
            }
            return;
        }
        // RFC 6582 §3.2 step 4, RFC 6675 §5.1: not before recovery from a timeout. With RACK losses
        // are found by time.
        if !self.repair.is_open() || self.detection.is_by_time() {
            return;
        }
        let fresh = self.choices.sack || self.repair.is_another_loss(self.space.una());
        let reached = self.detection.is_loss_told(self.congestion.mss());
        if (reached && fresh) || (self.choices.sack && self.front_is_lost()) {
            self.enter_recovery(now, observer);
        }
    }

    /// Whether a duplicate counts as an arrived segment. After a timeout only for new data: the
    /// data outstanding then has been given up (Linux, `tcp_process_loss`). Never while a finished
    /// repair [is held](Self::is_repair_held) (`tcp_fastretrans_alert`, `tcp_reset_reno_sack`).
    fn is_arrival(&self) -> bool {
        let news =
            !self.repair.is_after_timeout() || self.space.nxt() > self.repair.recovery_point();
        news && !self.is_repair_held()
    }

    /// Whether everything that was outstanding when the repair began is acknowledged, and nothing
    /// sent later. Without SACK further duplicates may be of needless retransmissions (RFC 6582
    /// §3.2 step 2): Linux holds the repair until more is acknowledged
    /// (`tcp_is_non_sack_preventing_reopen`).
    pub(super) fn is_repair_held(&self) -> bool {
        self.detection.counts_arrivals()
            && !self.repair.is_open()
            && self.space.una() == self.repair.recovery_point()
    }

    pub(super) fn front_is_lost(&self) -> bool {
        self.board
            .front()
            .is_some_and(|front| front.is_lost() && front.transmissions == 1)
    }

    /// Marks the losses that time shows. `forced` by the reordering timer.
    pub(super) fn detect_by_time(&mut self, now: Instant, forced: bool) -> Detected {
        let detected = self.detection.detect_by_time(
            now,
            &mut self.board,
            (&self.timeout, self.congestion.mss()),
            !self.repair.is_open(),
            forced,
        );
        if let Some(rate) = self.extras.rate_mut() {
            rate.on_lost(detected.lost);
        }
        detected
    }

    /// Looks for losses by time. Returns whether a reordering window is running.
    pub(super) fn look_for_losses(&mut self, now: Instant, observer: &mut impl Observer) -> bool {
        if !self.detection.is_by_time() {
            return false;
        }
        let detected = self.detect_by_time(now, false);
        let enters = match self.repair.phase() {
            Phase::Open => self.board.lost() > 0,
            // A retransmission was lost: the repair of the timeout itself meets congestion.
            Phase::Timeout { .. } => detected.retransmission,
            Phase::FastRecovery(_) => {
                if let Some(threshold) = self.causes.doubt(self.detection.lost_in_all()) {
                    self.congestion.lower_threshold(threshold);
                }
                self.is_another_event(detected.latest)
            }
        };
        if enters {
            self.enter_recovery(now, observer);
        }
        if detected.retransmission
            && let Some(recovery) = self.repair.fast_mut()
            && let Pace::Proportional(rate) = &mut recovery.pace
        {
            rate.on_retransmission_lost();
        }
        if let Some(wait) = detected.wait {
            self.arm_reordering(now, wait);
        }
        detected.wait.is_some()
    }

    pub(super) fn enter_recovery(&mut self, now: Instant, observer: &mut impl Observer) {
        if self.is_path_probe_lost() {
            return;
        }
        let outstanding = self.board.outstanding();
        let una = self.space.una();
        self.counters.fast_retransmits.add();
        observer.event(now, Event::FastRetransmit { offset: una });
        let cause = self.classify(now, observer);
        let cwnd = self.congestion.cwnd();
        let reduced = self.on_window_reduced();
        if reduced.is_none() {
            self.keep_windows();
            self.seed_external(observer);
            self.show_external(now);
            let flight_size = outstanding - self.repair.limited(outstanding);
            let threshold = self.congestion.on_loss(flight_size, cause);
            if cause == Some(Cause::Radio) {
                let before = self
                    .detection
                    .lost_in_all()
                    .saturating_sub(self.board.lost());
                self.causes
                    .excuse(before, cwnd, self.congestion.mss(), threshold);
            }
        }
        self.tail_probe.forget();
        // Time determines which segments are lost, and the first need not be among them.
        let first = match self.choices.recovery {
            // RFC 9002 §7.3.2: one leaves before the reduction.
            Recovery::RecoveryPeriod => self.first_lost(),
            _ => (!self.detection.is_by_time()).then_some(una),
        };
        let entry = if self.choices.recovery == Recovery::Tahoe {
            self.congestion.restart();
            self.board.mark_lost_from(una);
            Entry::SlowStart { first }
        } else {
            if !self.detection.is_by_time() {
                self.detection.presume_front_lost(&mut self.board);
            }
            let mut recovery = self.fast_recovery(cwnd);
            if self.choices.recovery == Recovery::RecoveryPeriod {
                recovery.begin_period(now);
            }
            // One reduction per round trip: one for a mark continues.
            recovery.pace = reduced.unwrap_or(recovery.pace);
            Entry::Fast { recovery, first }
        };
        self.repair.begin(entry, self.space.nxt());
        self.enter_external_state(State::Recovery);
        // The repair gets a whole timeout to be acknowledged: the running timer was set for data
        // sent a round trip ago (RFC 6675 §6 allows it; Linux and ns-2 do it without SACK too).
        if self.choices.scope == TimerScope::Connection {
            self.run_retransmission_timer(now);
        }
    }

    /// The first segment to retransmit.
    fn first_lost(&mut self) -> Option<u64> {
        let index = self.board.next_lost()?;
        self.board.get(index).map(|segment| segment.start)
    }

    /// Creates a fast recovery that begins with a window of `cwnd` bytes.
    fn fast_recovery(&self, cwnd: u64) -> FastRecovery {
        let mut recovery = FastRecovery::enter(
            self.space.nxt(),
            self.detection.duplicates(),
            self.congestion.mss(),
            self.choices.sack || self.detection.counts_arrivals(),
        );
        recovery.pace = self.reduction_pace(cwnd);
        recovery
    }

    /// How a window of `cwnd` bytes moves to the value that a reduction sets.
    pub(super) fn reduction_pace(&self, cwnd: u64) -> Pace {
        match self.choices.reduction {
            Reduction::AtOnce => Pace::AtOnce,
            Reduction::Proportional => {
                Pace::Proportional(ProportionalRate::new(cwnd, Bound::SlowStart))
            }
            Reduction::Proportional510 => {
                Pace::Proportional(ProportionalRate::new(cwnd, Bound::Conservation))
            }
            Reduction::RateHalving => Pace::Halving { one: false },
        }
    }

    /// Saves the windows before a reduction, if it may be undone.
    pub(super) fn keep_windows(&mut self) {
        let resent = self.board.resent().div_ceil(self.congestion.mss());
        let windows = self.congestion.save(self.board.outstanding());
        self.repair.keep(self.space.una(), windows, resent);
    }

    /// Classifies the loss. The number of losses n is that of the holes below the highest SACKed
    /// byte (Lien et al. §II-C), or one without SACK.
    fn classify(&mut self, now: Instant, observer: &mut impl Observer) -> Option<Cause> {
        let offset = self.space.una();
        let holes = self
            .board
            .highest_sacked()
            .saturating_sub(offset)
            .saturating_sub(self.board.sacked());
        let lost_segments =
            u32::try_from(holes.div_ceil(self.congestion.mss()).max(1)).unwrap_or(u32::MAX);
        let event = LossEvent {
            now,
            lost_segments,
            cwnd: self.congestion.cwnd(),
            mss: self.congestion.mss(),
            offset,
        };
        let Answer { cause, below_mean } = self.causes.classify(&event, observer)?;
        observer.event(
            now,
            Event::LossClassified {
                offset,
                cause,
                lost_segments,
                below_mean,
            },
        );
        Some(cause)
    }

    /// Ends a repair; the only way out.
    pub(super) fn end_repair(&mut self, now: Instant, end: End, observer: &mut impl Observer) {
        let repaired = self.repair.end();
        self.board.give_back_room();
        let is_complete = matches!(repaired, Phase::FastRecovery(_)) && end == End::Repaired;
        if let (Phase::FastRecovery(recovery), End::Repaired) = (repaired, end)
            && !recovery.taken_back
        {
            self.settle_window(&recovery.pace);
            self.detection.on_recovered();
        }
        self.on_reduction_over(now, is_complete);
        observer.event(now, Event::RecoveryExit);
    }

    /// Sets the window at the end of a fast recovery that moved it by `pace`.
    pub(super) fn settle_window(&mut self, pace: &Pace) {
        match pace {
            // RFC 6582 §3.2 step 3, first case: at most the data in flight and one segment, so that
            // no burst follows a long repair. With SACK the window was ssthresh all along.
            Pace::AtOnce => {
                if !self.choices.sack {
                    self.congestion.bound(
                        self.board.outstanding().max(self.congestion.mss()) + self.congestion.mss(),
                    );
                }
            }
            // RFC 9937 §6: cwnd = ssthresh.
            Pace::Proportional(_) => self.congestion.settle(),
            Pace::Halving { .. } => self.congestion.bound(self.congestion.ssthresh()),
        }
    }

    /// Moves the window in a gradual recovery when `delivered` more bytes have arrived.
    #[inline]
    pub(super) fn set_recovery_window(&mut self, before: &Before, delivered: u64) {
        let in_flight = self.in_flight();
        let Some(recovery) = self.repair.fast_mut() else {
            return;
        };
        // Duplicates that inflate the window count as data that has left the network.
        let inflation = recovery.inflation;
        let mut pace = core::mem::replace(&mut recovery.pace, Pace::AtOnce);
        let in_flight = in_flight.saturating_sub(inflation);
        self.move_window(&mut pace, before, (delivered, in_flight));
        if let Some(recovery) = self.repair.fast_mut() {
            recovery.pace = pace;
        }
    }

    /// Moves a window towards the threshold by its pace, when `delivered` more bytes have arrived
    /// and `in_flight` remain.
    #[inline]
    pub(super) fn move_window(
        &mut self,
        pace: &mut Pace,
        before: &Before,
        (delivered, in_flight): (u64, u64),
    ) {
        let ssthresh = self.congestion.ssthresh();
        match pace {
            Pace::AtOnce => {}
            Pace::Proportional(rate) => {
                if delivered > 0 {
                    let resent = self
                        .board
                        .delivery()
                        .is_some_and(|delivery| delivery.resent_covered);
                    let lost = self.detection.lost_in_all() != before.lost_in_all;
                    let progress = Progress {
                        delivered,
                        in_flight,
                        safe: self.space.una() > before.una && rate.is_safe(resent, lost),
                    };
                    let cwnd = rate.on_acknowledged(&progress, ssthresh, self.congestion.mss());
                    self.congestion.set_cwnd(cwnd);
                }
            }
            Pace::Halving { one } => {
                let mut cwnd = self.congestion.cwnd();
                if core::mem::replace(one, !*one) && cwnd > ssthresh / 2 {
                    cwnd -= self.congestion.mss();
                }
                self.congestion
                    .set_cwnd(cwnd.min(in_flight + self.congestion.mss()));
            }
        }
    }
}
