//! The own timers of outstanding segments, where each has one (Miyim §IV).

use std::collections::VecDeque;

use airtcp_units::Instant;

/// When the timer of each segment expires, oldest first; a timer that does not run expires at
/// [`Instant::FAR_FUTURE`]. No more than a pointer where one timer watches over all segments.
#[derive(Clone, Debug, Default)]
pub(super) struct OwnTimers(
    #[expect(clippy::box_collection, reason = "a pointer where there are none")]
    Option<Box<VecDeque<Instant>>>,
);

impl OwnTimers {
    /// The segment behind all others has a timer until `deadline`.
    pub fn push(&mut self, deadline: Instant) {
        self.0.get_or_insert_default().push_back(deadline);
    }

    /// The oldest segment is gone.
    #[inline]
    pub fn pop(&mut self) {
        if let Some(deadlines) = &mut self.0 {
            deadlines.pop_front();
        }
    }

    /// When the timer of the segment at `index` expires.
    pub fn deadline(&self, index: usize) -> Instant {
        let deadlines = self.0.as_ref();
        deadlines
            .and_then(|deadlines| deadlines.get(index).copied())
            .unwrap_or(Instant::FAR_FUTURE)
    }

    /// Whether the timer of the segment at `index` runs.
    pub fn is_running(&self, index: usize) -> bool {
        self.deadline(index) != Instant::FAR_FUTURE
    }

    /// The timer of the segment at `index` expires at `deadline`, where segments have timers.
    #[inline]
    pub fn set(&mut self, index: usize, deadline: Instant) {
        if let Some(slot) = self.0.as_mut().and_then(|all| all.get_mut(index)) {
            *slot = deadline;
        }
    }

    /// The timer of the segment at `index` runs no more.
    #[inline]
    pub fn stop(&mut self, index: usize) {
        self.set(index, Instant::FAR_FUTURE);
    }

    /// The segment at `index` is cut in two: both parts have its timer.
    pub fn split(&mut self, index: usize) {
        let deadline = self.deadline(index);
        if let Some(deadlines) = &mut self.0 {
            deadlines.insert(index + 1, deadline);
        }
    }
}
