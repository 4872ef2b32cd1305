//! Per-segment timers of outstanding data (Miyim §IV).

use alloc::boxed::Box;
use alloc::collections::VecDeque;

use airtcp_units::Instant;

/// Expiry of each segment's timer, oldest segment first; a stopped timer expires at
/// [`Instant::FAR_FUTURE`]. Only a null pointer where one timer covers all segments.
#[derive(Clone, Debug, Default)]
pub(super) struct OwnTimers(
    #[expect(clippy::box_collection, reason = "a pointer while it is empty")]
    Option<Box<VecDeque<Instant>>>,
);

impl OwnTimers {
    /// Adds the timer of a new last segment, set to `deadline`.
    pub fn push(&mut self, deadline: Instant) {
        self.0.get_or_insert_default().push_back(deadline);
    }

    /// Removes the oldest segment's timer.
    #[inline]
    pub fn pop(&mut self) {
        if let Some(deadlines) = &mut self.0 {
            deadlines.pop_front();
        }
    }

    /// Expiry of the timer of the segment at `index`.
    pub fn deadline(&self, index: usize) -> Instant {
        let deadlines = self.0.as_ref();
        deadlines
            .and_then(|deadlines| deadlines.get(index).copied())
            .unwrap_or(Instant::FAR_FUTURE)
    }

    /// Whether the timer of the segment at `index` is running.
    pub fn is_running(&self, index: usize) -> bool {
        self.deadline(index) != Instant::FAR_FUTURE
    }

    /// Whether segments have timers, and that of the segment at `index` has stopped.
    pub fn is_stopped(&self, index: usize) -> bool {
        self.0.is_some() && !self.is_running(index)
    }

    /// Sets the timer of the segment at `index` to `deadline`, if segments have timers.
    #[inline]
    pub fn set(&mut self, index: usize, deadline: Instant) {
        if let Some(slot) = self.0.as_mut().and_then(|all| all.get_mut(index)) {
            *slot = deadline;
        }
    }

    /// Stops the timer of the segment at `index`.
    #[inline]
    pub fn stop(&mut self, index: usize) {
        self.set(index, Instant::FAR_FUTURE);
    }

    /// Duplicates the timer of the segment at `index`, which is split in two.
    pub fn split(&mut self, index: usize) {
        let deadline = self.deadline(index);
        if let Some(deadlines) = &mut self.0 {
            deadlines.insert(index + 1, deadline);
        }
    }
}
