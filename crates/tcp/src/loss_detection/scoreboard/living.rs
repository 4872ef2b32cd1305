//! Changes to outstanding segments that occur only on a real network: segments are cut to the
//! path's size, and leave later than they were polled.

use core::iter::repeat_n;

use airtcp_units::Instant;

use super::Scoreboard;
use crate::loss_detection::SendTag;
use crate::loss_detection::segment::LOST;

impl Scoreboard {
    /// Marks lost every segment of more than `mss` bytes that was not SACKed, in a stream that ends
    /// at `written`. Returns whether there was any.
    pub fn mark_larger_lost(&mut self, mss: u64, written: u64) -> bool {
        let mut any = false;
        for (segment, index) in self.segments.iter_mut().zip(0..) {
            let start = segment.start(self.start);
            let bytes = segment.end(self.start).min(written) - start.min(written);
            if bytes > mss && !segment.is_sacked() {
                self.sums.change(segment, LOST);
                self.own_timers.stop(index);
                self.repair_from = self.repair_from.min(start);
                any = true;
            }
        }
        any
    }

    /// Splits the segment at `index` after its first `bytes`: both parts keep its state.
    pub fn split(&mut self, index: usize, bytes: u64) {
        let Some(whole) = self.segments.get_mut(index) else {
            return;
        };
        let Ok(length) = u16::try_from(bytes) else {
            return;
        };
        if length == 0 || length >= whole.length {
            return;
        }
        let rest = whole.split_off(length);
        self.segments.insert(index + 1, rest);
        self.own_timers.split(index);
        if let Some(tags) = self.tags_mut()
            && let Some(&tag) = tags.get(index)
        {
            tags.insert(index + 1, tag);
        }
    }

    /// Records that the segment at `index`, if last sent at `polled_at`, left the device at `now`.
    /// Returns whether that was its last transmission.
    pub fn restamp(&mut self, index: usize, polled_at: Instant, now: Instant) -> bool {
        let Some(segment) = self.segments.get_mut(index) else {
            return false;
        };
        let is_last = segment.sent_at == polled_at && polled_at <= now;
        if is_last {
            segment.sent_at = now;
            if self.own_timers.is_running(index) {
                let deadline = self.own_timers.deadline(index) + (now - polled_at);
                self.own_timers.set(index, deadline);
            }
        }
        is_last
    }

    /// Moves the timer of the segment at `index`, if it has one, to `deadline`.
    pub fn put_off(&mut self, index: usize, deadline: Instant) {
        if self.own_timers.is_running(index) {
            self.own_timers.set(index, deadline);
        }
    }

    /// Attaches an empty tag to every segment: from now on each has one.
    pub fn tag_all(&mut self) {
        let tags = repeat_n(SendTag::default(), self.segments.len()).collect();
        self.watched.get_or_insert_default().tags = Some(tags);
    }

    /// Removes all tags.
    pub fn forget_tags(&mut self) {
        if let Some(watched) = &mut self.watched {
            watched.tags = None;
        }
    }
}
