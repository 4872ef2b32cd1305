//! Congestion marks echoed by the peer: the window is reduced as for a loss, once per round trip,
//! and nothing is retransmitted (RFC 3168 §6.1.2).

use airtcp_units::Instant;

use super::counted_marks::{CountedMarks, FIRST_COUNT};
use super::{Before, Sender};
use crate::external::State;
use crate::observer::{Event, Observer};
use crate::recovery::Pace;

/// The form in which the peer reports marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkFeedback {
    /// It reports no marks.
    None,
    /// It echoes them until the sender signals that the window is reduced (RFC 3168 §6.1.3).
    Echo,
    /// It counts them (RFC 9768 §3.2), and has counted one in the handshake if that marked our
    /// SYN-ACK.
    Count {
        /// Whether the SYN-ACK was marked.
        marked_syn_ack: bool,
    },
}

/// The effect of marks on the window.
#[derive(Clone, Debug, Default)]
pub(super) struct Marks {
    /// The peer's count, if it counts.
    counted: Option<CountedMarks>,
    /// The last reduction, until the data in flight at its start is acknowledged.
    reduction: Option<WindowReduction>,
    /// Whether the next new data carries CWR.
    says_reduced: bool,
    /// Whether the acknowledgment being processed echoes a mark.
    is_echoed: bool,
    /// Whether it echoes ABC's brake.
    brakes: bool,
    reductions: u64,
}

/// A reduction of the window for a mark.
#[derive(Clone, Debug)]
struct WindowReduction {
    /// First byte never sent when it began: the reduction ends when that, too, is acknowledged
    /// (Linux, `tcp_fastretrans_alert`: so that its flag has reached the receiver).
    until: u64,
    pace: Pace,
}

impl Marks {
    /// Number of reductions of the window.
    pub const fn reductions(&self) -> u64 {
        self.reductions
    }

    /// The peer's count, if it counts.
    pub const fn counted(&self) -> Option<&CountedMarks> {
        self.counted.as_ref()
    }

    /// The same, mutable.
    pub const fn counted_mut(&mut self) -> Option<&mut CountedMarks> {
        self.counted.as_mut()
    }

    /// Whether the window is still moving to the value that a mark set.
    fn is_under_way(&self) -> bool {
        self.reduction
            .as_ref()
            .is_some_and(|reduction| reduction.pace != Pace::AtOnce)
    }
}

impl Sender {
    /// Starts to heed marks, if the peer reports them.
    pub fn heed_marks(&mut self, feedback: MarkFeedback) {
        let counted = match feedback {
            MarkFeedback::None => return,
            MarkFeedback::Echo => None,
            MarkFeedback::Count { marked_syn_ack } => Some(CountedMarks::new(
                FIRST_COUNT + u8::from(marked_syn_ack),
                false,
            )),
        };
        self.extras.set_marks(Some(Marks {
            counted,
            ..Marks::default()
        }));
        self.heed_each_mark();
    }

    /// Whether the next new data should carry CWR; true only once.
    #[inline]
    pub fn take_reduced(&mut self) -> bool {
        self.extras
            .marks_mut()
            .is_some_and(|marks| core::mem::take(&mut marks.says_reduced))
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

    /// Whether the window is already reduced for a mark on data that is still in flight.
    #[must_use]
    pub fn is_reduced_for_mark(&self) -> bool {
        let reduction = self
            .extras
            .marks()
            .and_then(|marks| marks.reduction.as_ref());
        reduction.is_some_and(|reduction| self.space.una() <= reduction.until)
    }

    /// Ends a reduction for a mark, as another reduction of the window includes it, and returns its
    /// progress.
    pub(super) fn on_window_reduced(&mut self) -> Option<Pace> {
        let una = self.space.una();
        let marks = self.extras.marks_mut()?;
        marks.says_reduced = true;
        let reduction = marks.reduction.take()?;
        (una <= reduction.until).then_some(reduction.pace)
    }

    /// Notes whether the acknowledgment being processed echoes a mark.
    pub(super) fn note_echo(&mut self, is_echoed: bool) {
        if let Some(marks) = self.extras.marks_mut() {
            marks.is_echoed = is_echoed;
        }
    }

    /// Notes whether the acknowledgment being processed echoes ABC's brake.
    #[inline]
    pub(super) fn note_brake(&mut self, brakes: bool) {
        if let Some(marks) = self.extras.marks_mut() {
            marks.brakes = brakes;
        }
    }

    /// Whether the acknowledgment being processed echoes a mark.
    pub(super) fn is_mark_echoed(&self) -> bool {
        self.extras.marks().is_some_and(|marks| marks.is_echoed)
    }

    /// Bytes of `delivered` that the acknowledgment being processed reports as marked: by the
    /// peer's count, or all of them at an echo (Linux, `tcp_count_delivered`) or ABC's brake.
    pub(super) fn newly_marked(&self, delivered: u64) -> u64 {
        match self.extras.marks() {
            None => 0,
            Some(marks) => match marks.counted() {
                Some(counted) => counted.newly_marked(),
                None => u64::from(marks.is_echoed || marks.brakes) * delivered,
            },
        }
    }

    /// Responds to an acknowledgment that echoes a mark while nothing is being repaired.
    #[cold]
    pub(super) fn on_mark_echoed(&mut self, now: Instant, observer: &mut impl Observer) {
        if self.reduce_window(now)
            && let Some(marks) = self.extras.marks_mut()
        {
            marks.reductions += 1;
            let offset = self.space.nxt();
            observer.event(now, Event::ReducedForMark { offset });
        }
    }

    /// Reduces the window for a mark, or because the congestion control demands it, unless that is
    /// under way or something is being repaired. Returns whether it did.
    #[cold]
    pub(super) fn reduce_window(&mut self, now: Instant) -> bool {
        self.end_reduction_for_mark(now);
        if !self.repair.is_open() || self.is_reduced_for_mark() {
            return false;
        }
        let cwnd = self.congestion.cwnd();
        let mut pace = Pace::AtOnce;
        // The peer is notified even if the window stays.
        self.show_external(now);
        if self.congestion.on_mark() {
            self.enter_external_state(State::ReducedForMark);
            pace = self.reduction_pace(cwnd);
        }
        self.tail_probe.forget();
        // A mark is no mistake: there is nothing to undo.
        self.repair.take_kept();
        let until = self.space.nxt();
        let mut marks = self
            .extras
            .marks_mut()
            .map(core::mem::take)
            .unwrap_or_default();
        marks.says_reduced = true;
        marks.reduction = Some(WindowReduction { until, pace });
        self.extras.set_marks(Some(marks));
        true
    }

    /// Moves a window that a mark reduces gradually, when `delivered` more bytes have arrived.
    #[inline]
    pub(super) fn move_marked_window(&mut self, now: Instant, before: &Before, delivered: u64) {
        if self.extras.marks().is_some() {
            self.go_on_reducing(now, before, delivered);
        }
    }

    #[inline(never)]
    fn go_on_reducing(&mut self, now: Instant, before: &Before, delivered: u64) {
        self.end_reduction_for_mark(now);
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

    /// Ends a reduction once the data sent before it, and a segment after that, is acknowledged.
    fn end_reduction_for_mark(&mut self, now: Instant) {
        if self.is_reduced_for_mark() {
            return;
        }
        if let Some(marks) = self.extras.marks_mut()
            && let Some(reduction) = marks.reduction.take()
        {
            if reduction.pace != Pace::AtOnce {
                self.settle_window(&reduction.pace);
            }
            self.on_reduction_over(now, true);
        }
    }

    /// Counts bytes sent towards a window that a mark reduces gradually.
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
