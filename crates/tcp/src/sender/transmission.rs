//! Which segment to send next.

use std::ops::Range;

use airtcp_units::Instant;

use super::Sender;
use super::window_usage::Standing;
use crate::config::{RttSampling, TimerScope, WindowValidation};
use crate::loss_detection::SentSegment;
use crate::recovery::{Pace, Phase};

/// A segment to send now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// Bytes of the stream, without the FIN.
    pub range: Range<u64>,
    /// Whether a FIN follows the bytes.
    pub fin: bool,
    /// Whether the bytes were sent before.
    pub retransmission: bool,
}

impl Sender {
    /// The next segment to send at `now`, until there is none.
    #[inline]
    pub fn poll(&mut self, now: Instant) -> Option<Transmission> {
        if self.pacing.is_some() {
            return self.poll_paced(now);
        }
        self.poll_next(now)
    }

    /// As [`poll`](Self::poll), but not before the pace allows it.
    fn poll_paced(&mut self, now: Instant) -> Option<Transmission> {
        let pacing = self.pacing.as_ref()?;
        // A probe is due once its timer has run out: it does not wait for the pace.
        if let Some(until) = pacing.blocked_until(now)
            && !self.tail_probe_due
        {
            if self.has_something_to_send() {
                self.pacing_deadline = until;
            }
            return None;
        }
        let transmission = self.poll_next(now)?;
        let rate = self.congestion.pacing_rate(self.timeout.estimator().srtt());
        if let (Some(pacing), Some(rate)) = (&mut self.pacing, rate) {
            let bytes = transmission.range.end - transmission.range.start;
            pacing.on_sent(now, bytes, self.mss, rate);
        }
        Some(transmission)
    }

    fn has_something_to_send(&mut self) -> bool {
        let room = self.board.in_flight() + self.mss <= self.window();
        let unsent = self.nxt < (self.written + u64::from(self.closed)).min(self.right_edge);
        room && (unsent || self.board.next_lost().is_some()) || self.repair_now.is_some()
    }

    #[inline]
    fn poll_next(&mut self, now: Instant) -> Option<Transmission> {
        if self.tail_probe_due {
            self.tail_probe_due = false;
            return self.poll_tail_probe(now);
        }
        if let Some(offset) = self.repair_now.take()
            && let Some(index) = self.board.index_at(offset)
        {
            return Some(self.resend(index, now));
        }
        let window = self.window();
        let in_flight = self.board.in_flight();
        if self.new_data_first {
            return self.poll_new(now, in_flight, window);
        }
        if let Some(index) = self.board.next_lost() {
            let length = self
                .board
                .get(index)
                .map_or(0, |segment| u64::from(segment.length));
            if self.is_shut() {
                self.wait_for_window(now);
                return None;
            }
            // Into an empty network one segment always fits: a FIN makes a full one longer than the
            // smallest window.
            let fits = in_flight == 0 || in_flight + length <= window;
            return fits.then(|| self.resend(index, now));
        }
        // RFC 3042 §2. With SACK the bytes in flight shrink when a duplicate arrives (RFC 6675 §5
        // step 3.3), which is to send nothing new before a loss is found if that is not wanted.
        let held = match self.phase {
            Phase::Open if self.choices.sack && !self.choices.limited_transmit => {
                self.board.outstanding()
            }
            _ => in_flight,
        };
        self.poll_new(now, held, window)
            .or_else(|| self.poll_hole(now, in_flight, window))
    }

    /// The window in bytes: the congestion window, what duplicate acknowledgments inflate it by,
    /// and what limited transmit allows beyond it.
    #[inline]
    fn window(&self) -> u64 {
        let cwnd = self.congestion.cwnd();
        match &self.phase {
            Phase::FastRecovery(recovery) => cwnd.saturating_add(recovery.inflation),
            Phase::Open if self.choices.limited_transmit && !self.choices.sack => {
                cwnd + u64::from(self.duplicates.count().min(2)) * self.mss
            }
            // A duplicate of new data that F-RTO has sent shows that it has left the network.
            Phase::Timeout { recover, .. } if self.tests_timeouts() && self.nxt > *recover => {
                cwnd + u64::from(self.duplicates.count()) * self.mss
            }
            _ => cwnd,
        }
    }

    const fn tests_timeouts(&self) -> bool {
        self.choices.spurious_detection.frto && !self.choices.sack
    }

    /// Data never sent before, as far as both windows allow.
    #[inline]
    pub(super) fn poll_new(
        &mut self,
        now: Instant,
        in_flight: u64,
        mut window: u64,
    ) -> Option<Transmission> {
        let start = self.nxt;
        let end = (start + self.mss)
            .min(self.written)
            .min(self.right_edge)
            .max(start);
        // A FIN takes a byte of the peer's window too (RFC 9293 §3.4).
        let fin =
            self.closed && end == self.written && start <= self.written && end < self.right_edge;
        let length = end - start;
        if length == 0 && !fin {
            self.arm_probe(now);
            self.note_too_little_to_send(end);
            return None;
        }
        if self.board.is_empty() && self.choices.window_validation != WindowValidation::InFlight {
            self.on_idle_over(now);
            window = self.window();
        }
        if in_flight + length > window {
            self.note_usage(now, true);
            return None;
        }
        // Sender's silly window avoidance (RFC 9293 §3.8.6.2.1): not less than a full segment for
        // want of the peer's window, unless nothing else is on its way.
        if length < self.mss && end < self.written && !self.board.is_empty() {
            return None;
        }
        if length < self.mss && !fin && (self.nagle || self.corked) && end == self.written {
            // RFC 9293 §3.7.4; Minshall's modification: only behind another small segment.
            if self.corked || self.small_end > self.una {
                return None;
            }
            self.small_end = end;
        }
        let range = start..end + u64::from(fin);
        let deadline = match self.choices.scope {
            TimerScope::Connection => Instant::FAR_FUTURE,
            TimerScope::Segment => now + self.timeout.backed_off(0),
        };
        let segment = SentSegment::new(&range, now, deadline);
        if let Some(rate) = &mut self.rate {
            let tag = rate.on_sent(now, self.board.in_flight(), range.end - range.start);
            self.board.tag_last(tag);
        }
        if let Some(rack) = &mut self.rack {
            rack.on_sent(&segment);
        }
        self.board.push(segment);
        self.nxt = range.end;
        self.last_sent_at = now;
        if self.duplicates.count() > 0 && matches!(self.phase, Phase::Open) {
            self.limited += length;
        }
        if self.choices.sampling == RttSampling::PerWindow && self.timed.is_none() {
            self.timed = Some((range.end, now));
        }
        self.probe_deadline = Instant::FAR_FUTURE;
        self.counters.segments_sent += 1;
        self.start_timer(now, deadline);
        self.on_new_data_sent(now);
        self.count_in_recovery(length);
        self.note_usage(now, in_flight + length + self.mss > window);
        Some(Transmission {
            range: start..end,
            fin,
            retransmission: false,
        })
    }

    /// What a recovery that moves the window step by step has sent.
    #[inline]
    fn count_in_recovery(&mut self, bytes: u64) {
        if let Phase::FastRecovery(recovery) = &mut self.phase
            && let Pace::Proportional(rate) = &mut recovery.pace
        {
            rate.on_sent(bytes);
        }
    }

    /// How much of the window is used, where that decides whether it may grow.
    #[inline]
    fn note_usage(&mut self, now: Instant, limited: bool) {
        let Some(usage) = &mut self.usage else {
            return;
        };
        let standing = Standing {
            now,
            una: self.una,
            nxt: self.nxt,
            outstanding: self.board.outstanding(),
            limited,
        };
        usage.note(&standing);
        if !self.choices.restart_after_idle {
            return;
        }
        let (cwnd, slow) = (self.congestion.cwnd(), self.congestion.in_slow_start());
        let used = usage.is_used(cwnd, slow);
        let unused = usage.unused_for(&standing, used, self.timeout.rto());
        if let Some(most) = unused
            && matches!(self.phase, Phase::Open)
        {
            self.congestion.on_application_limited(most);
        }
    }

    /// The window would allow more than the application has written up to `end`.
    fn note_too_little_to_send(&mut self, end: u64) {
        if let Some(rate) = &mut self.rate
            && end == self.written
            && self.board.in_flight() < self.congestion.cwnd()
            && self.board.lost() <= self.board.resent()
        {
            rate.on_application_limited(self.board.in_flight());
        }
    }

    /// Something is sent and nothing is outstanding.
    fn on_idle_over(&mut self, now: Instant) {
        if self.last_sent_at == Instant::ZERO {
            return;
        }
        let idle = now - self.last_sent_at;
        let rto = self.timeout.rto().as_nanos().max(1);
        let expired = if self.choices.restart_after_idle {
            u32::try_from(idle.as_nanos().saturating_sub(1) / rto).unwrap_or(u32::MAX)
        } else {
            0
        };
        self.congestion.on_idle_over(now, idle, expired);
    }

    /// In recovery with SACK, when there is no new data: segments not yet known to be lost, and
    /// once the last one (RFC 6675 §4, `NextSeg()` rules 3 and 4).
    fn poll_hole(&mut self, now: Instant, in_flight: u64, window: u64) -> Option<Transmission> {
        // With RACK it is time that tells what to repair.
        if !self.choices.sack || self.rack.is_some() || in_flight + self.mss > window {
            return None;
        }
        let Phase::FastRecovery(recovery) = &mut self.phase else {
            return None;
        };
        let index = match self.board.next_hole() {
            Some(index) => index,
            None if recovery.rescued => return None,
            None => {
                recovery.rescued = true;
                let index = self.board.last_unreported()?;
                let segment = self.board.get(index)?;
                // What lies behind the recovery point was sent on this recovery's own account.
                if segment.end() > recovery.recover {
                    return None;
                }
                index
            }
        };
        Some(self.resend(index, now))
    }

    pub(super) fn resend(&mut self, index: usize, now: Instant) -> Transmission {
        // Karn's rule: what is sent again is not timed (RFC 6298 §3).
        self.timed = None;
        let deadline = match self.choices.scope {
            TimerScope::Connection => Instant::FAR_FUTURE,
            TimerScope::Segment => {
                let expiries = self.board.get(index).map_or(0, |segment| segment.expiries);
                now + self.timeout.backed_off(u32::from(expiries))
            }
        };
        if let Some(rate) = &mut self.rate {
            let in_flight = self.board.in_flight();
            let length = self
                .board
                .get(index)
                .map_or(0, |segment| u64::from(segment.length));
            let tag = rate.on_sent(now, in_flight, length);
            self.board.tag_again(index, tag);
        }
        let segment = self.board.resend(index, now, deadline);
        if let Some(rack) = &mut self.rack {
            rack.on_sent(&segment);
            // The first outstanding segment has a whole timeout anew (Linux,
            // `tcp_xmit_retransmit_queue`).
            if index == 0
                && self.pending != super::Pending::Reordering
                && self.choices.scope == TimerScope::Connection
            {
                self.pending = super::Pending::Retransmission;
                self.deadline = now + self.timeout.rto();
            }
        }
        self.last_sent_at = now;
        if let Some(undo) = &mut self.undo {
            undo.on_resent(now);
        }
        self.count_in_recovery(u64::from(segment.length));
        self.counters.segments_sent += 1;
        self.counters.segments_retransmitted += 1;
        self.start_timer(now, deadline);
        let end = segment.end().min(self.written);
        self.counters.bytes_retransmitted += end - segment.start;
        Transmission {
            range: segment.start..end,
            fin: segment.end() > self.written,
            retransmission: true,
        }
    }

    /// Data, or a FIN, waits for the peer's window and nothing is on its way that would open it: a probe is
    /// due after one RTO (RFC 9293 §3.8.6.1).
    fn arm_probe(&mut self, now: Instant) {
        let unsent = self.nxt < self.written + u64::from(self.closed);
        let blocked = unsent && self.right_edge <= self.nxt;
        if blocked && self.board.is_empty() && self.probe_deadline == Instant::FAR_FUTURE {
            self.probe_deadline = now + self.timeout.backed_off(self.probes);
        }
    }
}
