//! Marks of congestion that the peer echoes: the window is reduced as for a loss, once a round
//! trip, and nothing is retransmitted (RFC 3168 §6.1.2).

use airtcp_units::Instant;

use super::{Before, Sender};
use crate::config::Reduction;
use crate::observer::{Event, Observer};
use crate::recovery::{Pace, ProportionalRate};

/// The effect of marks on the window.
#[derive(Clone, Debug, Default)]
pub(super) struct Marks {
    /// The last reduction, until what was under way then is acknowledged.
    reduction: Option<WindowReduction>,
    /// Whether the next new data says that the window was reduced.
    says_reduced: bool,
    reductions: u64,
}

/// A reduction of the window for a mark.
#[derive(Clone, Debug)]
struct WindowReduction {
    /// First byte never sent when it began: over when that is acknowledged too (Linux,
    /// `tcp_fastretrans_alert`: so that the flag in it has reached the receiver).
    until: u64,
    pace: Pace,
}

impl Marks {
    /// Reductions of the window.
    pub const fn reductions(&self) -> u64 {
        self.reductions
    }

    /// Whether the window is on its way to where a mark puts it.
    fn is_under_way(&self) -> bool {
        self.reduction
            .as_ref()
            .is_some_and(|reduction| reduction.pace != Pace::AtOnce)
    }
}

impl Sender {
    /// The peer understands marks, and echoes them.
    pub fn heed_marks(&mut self) {
        self.extras.set_marks(Some(Marks::default()));
    }

    /// Whether the next new data is to say that the window was reduced, once.
    #[inline]
    pub fn take_reduced(&mut self) -> bool {
        self.extras
            .marks_mut()
            .is_some_and(|marks| std::mem::take(&mut marks.says_reduced))
    }

    /// Whether the window must not grow at an acknowledgment, which echoes a mark if `marked`.
    #[inline]
    pub(super) fn holds_window(&self, marked: bool) -> bool {
        marked
            || self
                .extras
                .marks()
                .is_some_and(|marks| marks.is_under_way())
    }

    /// Whether the window is reduced for a mark already, and for data that is still under way.
    pub(super) fn is_reduced_for_mark(&self) -> bool {
        let reduction = self
            .extras
            .marks()
            .and_then(|marks| marks.reduction.as_ref());
        reduction.is_some_and(|reduction| self.space.una() <= reduction.until)
    }

    /// The window is reduced, for whatever reason: a reduction for a mark is part of it, and how
    /// far that has come is returned.
    pub(super) fn on_window_reduced(&mut self) -> Option<Pace> {
        let una = self.space.una();
        let marks = self.extras.marks_mut()?;
        marks.says_reduced = true;
        let reduction = marks.reduction.take()?;
        (una <= reduction.until).then_some(reduction.pace)
    }

    /// An acknowledgment echoes a mark, where nothing is being repaired.
    #[cold]
    pub(super) fn on_mark_echoed(&mut self, now: Instant, observer: &mut impl Observer) {
        self.end_reduction_for_mark();
        if !self.repair.is_open() || self.is_reduced_for_mark() {
            return;
        }
        let cwnd = self.congestion.cwnd();
        let mut pace = Pace::AtOnce;
        // A model takes a mark for no limit, as it does a loss; the peer is told all the same.
        if !self.congestion.is_model_based() {
            // It is the window that is halved, whatever is in flight.
            self.congestion.on_loss(cwnd, None);
            pace = match self.choices.reduction {
                Reduction::AtOnce => Pace::AtOnce,
                Reduction::Proportional => Pace::Proportional(ProportionalRate::new(cwnd)),
                Reduction::RateHalving => Pace::Halving { one: false },
            };
        }
        self.tail_probe.forget();
        // A mark is no mistake: there is nothing to take back.
        self.repair.take_kept();
        let until = self.space.nxt();
        if let Some(marks) = self.extras.marks_mut() {
            marks.says_reduced = true;
            marks.reduction = Some(WindowReduction { until, pace });
            marks.reductions += 1;
        }
        observer.event(now, Event::ReducedForMark { offset: until });
    }

    /// Moves a window that a mark reduces step by step, when `delivered` more bytes have arrived.
    #[inline]
    pub(super) fn move_marked_window(&mut self, before: &Before, delivered: u64) {
        if self.extras.marks().is_some() {
            self.go_on_reducing(before, delivered);
        }
    }

    #[inline(never)]
    fn go_on_reducing(&mut self, before: &Before, delivered: u64) {
        self.end_reduction_for_mark();
        let Some(mut reduction) = self
            .extras
            .marks_mut()
            .and_then(|marks| marks.reduction.take())
        else {
            return;
        };
        let in_flight = self.in_flight();
        self.move_window(&mut reduction.pace, before, (delivered, in_flight));
        if let Some(marks) = self.extras.marks_mut() {
            marks.reduction = Some(reduction);
        }
    }

    /// A reduction is over when what was sent before it, and a segment behind that, is
    /// acknowledged.
    fn end_reduction_for_mark(&mut self) {
        if self.is_reduced_for_mark() {
            return;
        }
        if let Some(marks) = self.extras.marks_mut()
            && let Some(reduction) = marks.reduction.take()
            && reduction.pace != Pace::AtOnce
        {
            self.settle_window(&reduction.pace);
        }
    }

    /// What was sent counts for a window that a mark reduces step by step.
    #[inline]
    pub(super) fn count_for_marks(&mut self, bytes: u64) {
        if let Some(marks) = self.extras.marks_mut()
            && let Some(reduction) = &mut marks.reduction
            && let Pace::Proportional(rate) = &mut reduction.pace
        {
            rate.on_sent(bytes);
        }
    }
}
