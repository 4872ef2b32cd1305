//! Which segment to send next.

use std::ops::Range;

use airtcp_units::Instant;

use super::Sender;
use crate::config::{RttSampling, TimerScope};
use crate::loss_detection::SentSegment;
use crate::recovery::Phase;

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
        if let Some(offset) = self.repair_now.take()
            && let Some(index) = self.board.index_at(offset)
        {
            return Some(self.resend(index, now));
        }
        let window = self.window();
        let in_flight = self.board.in_flight();
        if let Some(index) = self.board.next_lost() {
            let length = self
                .board
                .get(index)
                .map_or(0, |segment| u64::from(segment.length));
            if self.is_shut() {
                self.wait_for_window(now);
                return None;
            }
            return (in_flight + length <= window).then(|| self.resend(index, now));
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
            _ => cwnd,
        }
    }

    /// Data never sent before, as far as both windows allow.
    #[inline]
    fn poll_new(&mut self, now: Instant, in_flight: u64, window: u64) -> Option<Transmission> {
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
            return None;
        }
        if in_flight + length > window {
            return None;
        }
        // Sender's silly window avoidance (RFC 9293 §3.8.6.2.1): not less than a full segment for
        // want of the peer's window, unless nothing else is on its way.
        if length < self.mss && end < self.written && !self.board.is_empty() {
            return None;
        }
        let range = start..end + u64::from(fin);
        let deadline = match self.choices.scope {
            TimerScope::Connection => Instant::FAR_FUTURE,
            TimerScope::Segment => now + self.timeout.backed_off(0),
        };
        self.board.push(SentSegment::new(&range, now, deadline));
        self.nxt = range.end;
        if self.duplicates.count() > 0 && matches!(self.phase, Phase::Open) {
            self.limited += length;
        }
        if self.choices.sampling == RttSampling::PerWindow && self.timed.is_none() {
            self.timed = Some((range.end, now));
        }
        self.probe_deadline = Instant::FAR_FUTURE;
        self.counters.segments_sent += 1;
        self.start_timer(now, deadline);
        Some(Transmission {
            range: start..end,
            fin,
            retransmission: false,
        })
    }

    /// In recovery with SACK, when there is no new data: segments not yet known to be lost, and
    /// once the last one (RFC 6675 §4, `NextSeg()` rules 3 and 4).
    fn poll_hole(&mut self, now: Instant, in_flight: u64, window: u64) -> Option<Transmission> {
        if !self.choices.sack || in_flight + self.mss > window {
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

    fn resend(&mut self, index: usize, now: Instant) -> Transmission {
        // Karn's rule: what is sent again is not timed (RFC 6298 §3).
        self.timed = None;
        let deadline = match self.choices.scope {
            TimerScope::Connection => Instant::FAR_FUTURE,
            TimerScope::Segment => {
                let expiries = self.board.get(index).map_or(0, |segment| segment.expiries);
                now + self.timeout.backed_off(u32::from(expiries))
            }
        };
        let segment = self.board.resend(index, now, deadline);
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

    /// RFC 6298 §5.1: a timer runs whenever data is outstanding.
    #[inline]
    fn start_timer(&mut self, now: Instant, segment_deadline: Instant) {
        match self.choices.scope {
            TimerScope::Connection => {
                if self.deadline == Instant::FAR_FUTURE {
                    self.deadline = now + self.timeout.rto();
                }
            }
            TimerScope::Segment => self.deadline = self.deadline.min(segment_deadline),
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
