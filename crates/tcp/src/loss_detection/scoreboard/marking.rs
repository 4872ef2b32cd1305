//! Which segments are presumed lost.

use airtcp_units::Instant;

use super::Scoreboard;
use crate::loss_detection::segment::{LOST, Record, SACKED};

impl Scoreboard {
    /// Marks lost the segments that RFC 6675 §4 `IsLost()` finds: every segment without SACK that
    /// has `threshold` separate SACKed ranges, or more than `threshold − 1` full SACKed segments,
    /// above it. Returns whether any was newly marked.
    pub fn detect_losses(&mut self, threshold: u32, mss: u64) -> bool {
        let mut index = self.index_of(self.highest_sacked);
        let (mut bytes, mut ranges, mut inside) = (0, 0, false);
        let enough = u64::from(threshold.saturating_sub(1)) * mss;
        let mut edge = None;
        while index > 0 {
            index -= 1;
            let segment = &self.segments[index];
            if segment.is_sacked() {
                bytes += u64::from(segment.length);
                if !inside {
                    ranges += 1;
                }
                inside = true;
            } else {
                inside = false;
            }
            if ranges >= threshold || bytes > enough {
                edge = Some(segment.start(self.start));
                break;
            }
        }
        edge.is_some_and(|edge| self.mark_lost_below(edge))
    }

    /// Marks lost every segment without SACK that starts below `edge`. Returns whether there was
    /// one.
    pub fn mark_lost_below(&mut self, edge: u64) -> bool {
        if edge <= self.loss_edge {
            return false;
        }
        let first = self.index_of(self.loss_edge);
        let mut any = false;
        for record in self.segments.range_mut(first..) {
            let start = record.start(self.start);
            if start >= edge {
                break;
            }
            if record.flags() & (SACKED | LOST) == 0 {
                self.sums.change(record, record.flags() | LOST);
                self.repair_from = self.repair_from.min(start);
                any = true;
            }
        }
        self.loss_edge = edge;
        any
    }

    /// Marks everything from `offset` on that was not SACKed as lost, to be retransmitted, as
    /// go-back-N does after a timeout. Copies of SACKed segments are not in flight any more: they
    /// would fill a window of one segment for ever.
    pub fn mark_lost_from(&mut self, offset: u64) {
        self.void_reneged_reports();
        let first = self.index_of(offset);
        for (segment, index) in self.segments.range_mut(first..).zip(first..) {
            if segment.is_sacked() {
                self.sums.change(segment, SACKED);
            } else {
                self.sums.change(segment, LOST);
                self.own_timers.stop(index);
            }
        }
        self.loss_edge = if self.is_empty() { 0 } else { self.end };
        self.repair_from = self.repair_from.min(offset);
    }

    /// As [`mark_lost_from`](Self::mark_lost_from) from the front on, except for segments sent
    /// after `recent`, which may still be in flight (Linux, `tcp_timeout_mark_lost`). The one at
    /// `start` has timed out, however recently it was sent.
    pub fn mark_lost_but_recent(&mut self, recent: Instant, start: u64) {
        self.void_reneged_reports();
        for (segment, index) in self.segments.iter_mut().zip(0..) {
            let from = segment.start(self.start);
            if !segment.is_sacked() && (from == start || segment.sent_at <= recent) {
                self.sums.change(segment, LOST);
                self.own_timers.stop(index);
                self.repair_from = self.repair_from.min(from);
            }
        }
    }

    /// Marks the segment at `index` lost, or its retransmission (RFC 8985 §6.2 step 5).
    pub fn mark_copy_lost(&mut self, index: usize) {
        let segment = &mut self.segments[index];
        self.sums.change(segment, LOST);
        self.repair_from = self.repair_from.min(segment.start(self.start));
    }

    /// Undoes all presumed losses: the segments are back in flight, and the timer of each, unless
    /// running, is set to `deadline` of its number of expiries. Later reports may mark them lost
    /// once more.
    pub fn unmark_lost(&mut self, deadline: impl Fn(u8) -> Instant) {
        if self.sums.lost == 0 {
            return;
        }
        for (segment, index) in self.segments.iter_mut().zip(0..) {
            if segment.flags() & LOST != 0 {
                self.sums.change(segment, segment.flags() & !LOST);
                let running = self.own_timers.deadline(index);
                let deadline = running.min(deadline(segment.expiries()));
                self.own_timers.set(index, deadline);
            }
        }
        self.loss_edge = 0;
    }

    /// Marks one segment lost, whatever the state of the others: the first of a fast recovery, or
    /// the one with the expired timer under selective repeat. Its timer stops until it is
    /// retransmitted.
    pub fn mark_lost(&mut self, index: usize) {
        self.void_reneged_reports();
        let segment = &mut self.segments[index];
        if !segment.is_sacked() {
            self.sums.change(segment, LOST);
        }
        self.repair_from = self.repair_from.min(segment.start(self.start));
        self.own_timers.stop(index);
    }

    /// Discards all SACKs: a receiver that asks for a segment it had SACKed has dropped it, and all
    /// its reports are unreliable (RFC 2018 §8).
    fn void_reneged_reports(&mut self) {
        if !self.segments.front().is_some_and(Record::is_sacked) {
            return;
        }
        for (segment, index) in self.segments.iter_mut().zip(0..) {
            if !segment.is_sacked() {
                continue;
            }
            // Presumed lost before it was SACKed, it has no timer that could retransmit it.
            let lost = self.own_timers.is_stopped(index);
            let flags = segment.flags() & !SACKED;
            self.sums.change(segment, if lost { LOST } else { flags });
            if lost {
                self.repair_from = self.repair_from.min(segment.start(self.start));
            }
        }
        self.highest_sacked = 0;
        self.loss_edge = 0;
        self.known = None;
    }
}
