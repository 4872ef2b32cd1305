//! The processing of an ordinary acknowledgment: the data it covers includes no known loss and no
//! needless retransmission, and the window is open.
//!
//! The order is that of [`acknowledgment`](super::acknowledgment), without the cases that cannot
//! occur.

use airtcp_units::Instant;

use super::round_trips::RoundTrips;
use super::{Before, Sender};
use crate::config::{GrowthCredit, TimerScope};
use crate::observer::Observer;
use crate::rtt::Echo;

impl Sender {
    /// Whether nothing is in flight and nothing is left to be judged: an acknowledgment that covers
    /// and SACKs nothing can only move the window.
    #[inline]
    pub(crate) fn is_at_rest(&self) -> bool {
        self.board.is_empty() && !self.tail_probe.is_unanswered() && !self.repair.is_undo_possible()
    }

    /// Whether there is nothing to send and no part needs to know that.
    #[inline]
    pub(crate) fn is_silent(&self) -> bool {
        self.board.is_empty()
            && self.space.is_exhausted()
            && self.extras.rate().is_none()
            && self
                .extras
                .buffer()
                .is_none_or(|buffer| buffer.waiting() == 0)
            && !self.tail_probe.is_due()
            && self.repair.is_open()
            && !self.repair.has_first()
    }

    /// Whether the next segment can only be new data within the congestion window: nothing is due
    /// out of turn, SACKed, lost, being repaired, or thought to have left the network.
    #[inline]
    pub(super) fn sends_in_order(&self) -> bool {
        self.board.is_intact()
            && self.repair.is_open()
            && !self.repair.has_first()
            && self.detection.duplicates() == 0
            && self.detection.arrived() == 0
            && !self.tail_probe.is_due()
    }

    /// Sets the peer's window to `right_edge`, and leaves everything else as it was.
    #[inline]
    pub(crate) fn on_window(&mut self, now: Instant, right_edge: u64) {
        self.update_window(now, self.space.una(), right_edge);
        self.repair.on_acknowledgment();
        self.small_segments.on_acknowledgment();
    }

    /// Whether an acknowledgment of new data, without SACK blocks, is an
    /// [ordinary](Self::on_ordinary_acknowledgment) one.
    #[inline]
    pub(crate) fn is_ordinary(&self) -> bool {
        self.board.is_intact()
            && self.repair.is_at_rest()
            && self.detection.duplicates() == 0
            && !self.tail_probe.is_unanswered()
            && self.extras.link().is_none()
            && self.choices.scope == TimerScope::Connection
            && self.space.right_edge() > self.space.nxt()
    }

    /// Processes an acknowledgment of everything below `offset`, which covers new data and has no
    /// SACK blocks, when the sender [is ordinary](Self::is_ordinary). `echo` is called if it is in
    /// doubt which transmission was answered.
    #[inline]
    pub(crate) fn on_ordinary_acknowledgment(
        &mut self,
        now: Instant,
        offset: u64,
        right_edge: u64,
        echo: impl Fn() -> Option<Echo>,
        observer: &mut impl Observer,
    ) {
        let before = Before {
            una: self.space.una(),
            in_flight: self.in_flight(),
            lost_in_all: self.detection.lost_in_all(),
            inflation: 0,
        };
        self.space.on_window(offset, right_edge);
        self.repair.on_acknowledgment();
        self.small_segments.on_acknowledgment();
        self.trains.end();
        self.begin_delivery(now, &echo);
        let highest_before = self.board.highest_sacked().max(before.una);
        self.space.on_acknowledged(offset);
        let advanced = self.board.advance(offset);
        self.detection
            .count_arrivals(offset - before.una, &self.board, self.congestion.mss());
        let echo = if RoundTrips::wants_echo(self.choices.sampling, advanced) {
            echo()
        } else {
            None
        };
        self.sample_rtt(now, advanced, echo, observer);
        self.take_delivery(now, &before, highest_before);
        self.detection.forget_arrivals();
        self.repair.on_advanced();
        let acked = offset - before.una;
        let credit = self.growth.credit();
        if credit == GrowthCredit::Acknowledged {
            self.grow(acked, before.in_flight, false);
        }
        // Without SACK blocks only time can reveal losses.
        let waits = self.detection.is_by_time() && self.look_for_losses(now, observer);
        let delivered = self.delivered(&before, acked);
        self.move_marked_window(now, &before, delivered);
        if self.repair.is_fast() {
            self.set_recovery_window(&before, delivered);
        } else if credit == GrowthCredit::Delivered {
            self.grow(delivered, before.in_flight, false);
        }
        self.control_window(now, &before, delivered);
        self.rearm_after_progress(now, !waits);
    }
}
