//! The choice of the next segment to send.

use core::ops::Range;

use airtcp_units::{Duration, Instant};

use super::Sender;
use super::pacing::{Pace, burst_segments, small_queue};
use super::timers::{Slot, Timer};
use crate::config::{Push, ShortTrains};
use crate::recovery::Phase;

/// A segment to send now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// Bytes of the stream, the FIN excluded.
    pub range: Range<u64>,
    /// Whether a FIN follows the bytes.
    pub fin: bool,
    /// Whether the bytes were sent before.
    pub retransmission: bool,
    /// Whether it is the last of a train: the receiver should not wait for more.
    pub pushed: bool,
}

/// How a sender is polled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Polling {
    /// Only the windows decide.
    Ordinary,
    /// The same, after a segment that filled the congestion window, with nothing done since.
    Full,
    /// One of the rarer parts decides too.
    Special,
}

impl Polling {
    /// The way of polling a sender with or without one of the rarer parts.
    pub const fn special(has_rare_part: bool) -> Self {
        if has_rare_part {
            Self::Special
        } else {
            Self::Ordinary
        }
    }
}

impl Sender {
    /// Limit on the bytes in the device of a sender that keeps its queue there small, at bursts of
    /// 2^−`shift` seconds; `None` before the first round trip, when there is no rate.
    #[must_use]
    pub fn small_queue(&self, shift: u32) -> Option<u64> {
        let srtt = self.timeout.estimator().srtt()?;
        let (rate, least_burst) = self.congestion.rate(srtt, self.board.outstanding());
        Some(small_queue(
            Pace { rate, least_burst },
            shift,
            self.congestion.mss(),
        ))
    }

    /// Returns the next segment to send at `now`, if any.
    #[inline]
    pub fn poll(&mut self, now: Instant) -> Option<Transmission> {
        if self.is_silent() {
            return None;
        }
        if self.polling == Polling::Special {
            return self.poll_special(now);
        }
        self.poll_next(now)
    }

    /// As [`poll`](Self::poll), for a sender with pacing, a search for the path's MTU, a limited
    /// send buffer or a driver that reports departures.
    fn poll_special(&mut self, now: Instant) -> Option<Transmission> {
        self.fill_from_buffer();
        let transmission = if self.extras.pacing().is_some() {
            self.poll_paced(now)?
        } else {
            self.poll_next_or_probe(now)?
        };
        if let Some(departures) = self.extras.departures_mut() {
            departures.on_polled(now, transmission.range.start, self.space.una());
        }
        Some(transmission)
    }

    #[inline]
    fn poll_next_or_probe(&mut self, now: Instant) -> Option<Transmission> {
        if self.extras.path().is_some()
            && let Some(probe) = self.poll_path_probe(now)
        {
            return Some(probe);
        }
        self.poll_next(now)
    }

    /// As [`poll`](Self::poll), but not before pacing allows it.
    fn poll_paced(&mut self, now: Instant) -> Option<Transmission> {
        let pacing = self.extras.pacing()?;
        // A probe is due once its timer has expired: it does not wait for pacing.
        if let Some(until) = pacing.blocked_until(now)
            && !self.tail_probe.is_due()
        {
            if self.is_waiting_until(until) {
                return None;
            }
            if self.has_something_to_send() {
                self.timers.arm(Timer::Pace, until);
            } else {
                self.arm_probe(now);
            }
            return None;
        }
        let transmission = self.poll_next_or_probe(now)?;
        let pace = self
            .congestion
            .pace(self.timeout.estimator().srtt(), self.board.outstanding());
        if let (Some(pacing), Some((rate, least_burst))) = (self.extras.pacing_mut(), pace) {
            let bytes = transmission.range.end - transmission.range.start;
            pacing.on_sent(
                now,
                bytes,
                self.congestion.mss(),
                Pace { rate, least_burst },
            );
            if transmission.retransmission {
                pacing.end_burst();
            }
            // At the end of a burst the wait for the next begins at once, if there will be one:
            // later polls are then answered without looking at the windows.
            if let Some(until) = pacing.blocked_until(now)
                && self.has_something_to_send()
            {
                self.timers.arm(Timer::Pace, until);
            }
        }
        Some(transmission)
    }

    /// Whether the segment that has just left at `now` filled the congestion window, with nothing
    /// done since: [`poll`](Self::poll) would return and change nothing.
    #[inline]
    pub(crate) fn is_full(&self, now: Instant) -> bool {
        self.polling == Polling::Full && self.last_sent_at() == Some(now)
    }

    /// Records that something is about to be done, after which more may leave.
    #[inline]
    pub(crate) fn reconsider(&mut self) {
        if self.polling == Polling::Full {
            self.polling = Polling::Ordinary;
        }
    }

    /// Whether pacing lets nothing leave at `now`, and its timer is already set: usually it has
    /// been polled before in this pause, and [`poll`](Self::poll) would return and change nothing.
    #[inline]
    pub(crate) fn is_waiting_for_pace(&self, now: Instant) -> bool {
        self.extras
            .pacing()
            .and_then(|pacing| pacing.blocked_until(now))
            .is_some_and(|until| !self.tail_probe.is_due() && self.is_waiting_until(until))
    }

    #[inline]
    fn is_waiting_until(&self, until: Instant) -> bool {
        self.timers.deadline(Slot::Pace) == until && !self.space.is_blocked()
    }

    fn has_something_to_send(&mut self) -> bool {
        let room = self.in_flight() + self.congestion.mss() <= self.window();
        room && (self.space.has_fresh() || self.board.next_lost().is_some())
            || self.repair.has_first()
    }

    #[inline]
    fn poll_next(&mut self, now: Instant) -> Option<Transmission> {
        if self.sends_in_order() {
            let (outstanding, cwnd) = (self.board.outstanding(), self.congestion.cwnd());
            debug_assert_eq!([outstanding, cwnd], [self.in_flight(), self.window()]);
            let transmission = self.poll_train(now, outstanding, cwnd)?;
            let mss = self.congestion.mss();
            if self.polling != Polling::Special {
                let fills = self.board.outstanding() + mss > cwnd;
                self.polling = if fills && self.space.has_full_segment(mss) {
                    Polling::Full
                } else {
                    Polling::Ordinary
                };
            }
            return Some(transmission);
        }
        self.reconsider();
        self.poll_any(now)
    }

    /// Returns new data, unless it waits for more that could leave with it.
    #[inline]
    fn poll_train(&mut self, now: Instant, in_flight: u64, window: u64) -> Option<Transmission> {
        if self.is_train_held_back(now, in_flight, window) {
            return None;
        }
        self.poll_new(now, in_flight, window)
    }

    /// Returns the next segment, new or not.
    fn poll_any(&mut self, now: Instant) -> Option<Transmission> {
        if self.tail_probe.is_due_at_timeout()
            && let Some(probe) = self.poll_timeout_probe(now)
        {
            return Some(probe);
        }
        if self.tail_probe.is_due() {
            return self.poll_tail_probe(now);
        }
        if let Some(offset) = self.repair.take_first()
            && let Some(index) = self.board.index_at(offset)
        {
            return Some(self.resend(index, now));
        }
        let window = self.window();
        let in_flight = self.in_flight();
        if self.repair.is_new_data_first() {
            let new = self.poll_new(now, in_flight, window);
            if new.is_some() || self.repair.asks_by_new_data(self.space.nxt()) {
                return new;
            }
            // RFC 5682 §2.1 step 2b: if the peer's window or Nagle's algorithm lets no new data
            // leave, the test cannot be made, and lost data is retransmitted (Linux,
            // `tcp_xmit_recovery`).
            self.repair.stop_testing();
        }
        // While the receiver may only be slow to acknowledge the data that it SACKed, nothing is
        // retransmitted; new data leaves (Linux, `tcp_fastretrans_alert`).
        let reneged = self.timers.is_armed(Timer::Reneging);
        if let Some(index) = self.board.next_lost().filter(|_| !reneged) {
            return self.poll_lost(index, now, in_flight, window);
        }
        // RFC 3042 §2. With SACK the bytes in flight shrink when a duplicate arrives (RFC 6675 §5
        // step 3.3), which must not send new data before a loss is found if limited transmit is
        // off.
        let held = match self.repair.phase() {
            Phase::Open if self.shrinks_by_reports() && !self.choices.limited_transmit => {
                self.board.outstanding()
            }
            _ => in_flight,
        };
        self.poll_train(now, held, window)
            .or_else(|| self.poll_hole(now, in_flight, window))
    }

    /// The window in bytes: the congestion window, its inflation by duplicate acknowledgments, and
    /// the allowance of limited transmit.
    #[inline]
    fn window(&self) -> u64 {
        let cwnd = self.congestion.cwnd();
        let duplicates = u64::from(self.detection.duplicates());
        match self.repair.phase() {
            Phase::FastRecovery(recovery) => cwnd.saturating_add(recovery.inflation),
            Phase::Open if self.choices.limited_transmit && !self.shrinks_by_reports() => {
                cwnd + duplicates.min(2) * self.congestion.mss()
            }
            // A duplicate of new data that F-RTO has sent shows that a segment has left the
            // network.
            Phase::Timeout { recover, .. }
                if self.tests_timeouts() && self.space.nxt() > *recover =>
            {
                cwnd + duplicates * self.congestion.mss()
            }
            _ => cwnd,
        }
    }

    /// Whether duplicates shrink the bytes in flight rather than inflate the window.
    #[inline]
    const fn shrinks_by_reports(&self) -> bool {
        self.choices.sack || self.detection.counts_arrivals()
    }

    const fn tests_timeouts(&self) -> bool {
        self.choices.spurious_detection.frto && !self.shrinks_by_reports()
    }

    /// Returns the segment at `index`, which is lost and not retransmitted since.
    fn poll_lost(
        &mut self,
        index: usize,
        now: Instant,
        in_flight: u64,
        window: u64,
    ) -> Option<Transmission> {
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
        fits.then(|| self.resend(index, now))
    }

    /// Returns new data, as far as both windows allow.
    #[inline]
    pub(super) fn poll_new(
        &mut self,
        now: Instant,
        in_flight: u64,
        mut window: u64,
    ) -> Option<Transmission> {
        let fresh = self.space.fresh(self.congestion.mss());
        let length = fresh.end - fresh.start;
        if length == 0 && !fresh.fin {
            self.arm_probe(now);
            self.note_too_little_to_send(fresh.end);
            return None;
        }
        if self.board.is_empty() {
            self.on_idle_over(now);
            window = self.window();
        }
        if in_flight + length > window {
            self.note_usage(now, true);
            return None;
        }
        if length < self.congestion.mss() {
            let leaves = if fresh.end < self.space.written() {
                let largest = self.space.largest_window();
                self.small_segments.may_fill_window(length, largest)
            } else {
                fresh.fin || self.small_segments.may_leave(fresh.end, self.space.una())
            };
            if !leaves {
                self.hold_small_segment(now);
                return None;
            }
        }
        let pushed = self.ends_train(in_flight, window);
        self.send_new(now, &fresh);
        self.note_usage(now, in_flight + length + self.congestion.mss() > window);
        Some(Transmission {
            range: fresh.start..fresh.end,
            fin: fresh.fin,
            retransmission: false,
            pushed,
        })
    }

    /// Whether the new segment that leaves now, with `in_flight` bytes of the `window` in flight,
    /// is the last of a train of several.
    #[inline]
    fn ends_train(&mut self, in_flight: u64, window: u64) -> bool {
        let pushes = self.choices.push == Push::Trains;
        if !pushes && self.choices.short_trains == ShortTrains::Sent {
            return false;
        }
        if self.trains.begins() {
            let length = self.train_length(in_flight, window);
            self.trains.begin(length);
        }
        self.trains.on_sent() && pushes
    }

    /// Number of segments of a train that leaves now: as many as the windows allow and the
    /// application has written, at most half the congestion window (Linux, `tcp_cwnd_test`) and a
    /// burst at the pace that the window would have (`tcp_tso_autosize`).
    fn train_length(&self, in_flight: u64, window: u64) -> u64 {
        let mss = self.congestion.mss();
        let room = window.saturating_sub(in_flight) / mss;
        let half = (self.congestion.cwnd() / mss / 2).max(1);
        let fresh = self.space.fresh(u64::MAX >> 1);
        let length = room.min(half).min((fresh.end - fresh.start).div_ceil(mss));
        if length <= 1 {
            return length;
        }
        let srtt = self.timeout.estimator().srtt().unwrap_or(Duration::ZERO);
        let (rate, least) = self.congestion.rate(srtt, self.board.outstanding());
        length.min(burst_segments(rate, least, mss))
    }

    /// Returns a retransmission in recovery with SACK when there is no new data: segments not yet
    /// known to be lost, and once the last one (RFC 6675 §4, `NextSeg()` rules 3 and 4).
    fn poll_hole(&mut self, now: Instant, in_flight: u64, window: u64) -> Option<Transmission> {
        // With RACK, time determines which segments to repair.
        if !self.choices.sack
            || self.detection.is_by_time()
            || in_flight + self.congestion.mss() > window
        {
            return None;
        }
        let recovery = self.repair.fast_mut()?;
        let index = match self.board.next_hole() {
            Some(index) => index,
            None if recovery.rescued => return None,
            None => {
                recovery.rescued = true;
                let index = self.board.last_unreported()?;
                let segment = self.board.get(index)?;
                // Data above the recovery point was sent during this recovery.
                if segment.end() > recovery.recover {
                    return None;
                }
                index
            }
        };
        Some(self.resend(index, now))
    }
}
