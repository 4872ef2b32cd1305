//! The choice of the timer that watches outstanding data. One runs at a time, as in Linux: the
//! reordering window's, the tail probe's, or the retransmission timer.

use airtcp_units::{Duration, Instant};

use super::Sender;
use super::tail_probe::MIN;
use super::timers::{Slot, Timer};
use crate::config::TimerScope;

impl Sender {
    /// RFC 6298 §5.1: a timer runs whenever data is outstanding.
    #[inline]
    pub(super) fn start_timer(&mut self, now: Instant, segment_deadline: Instant) {
        match self.choices.scope {
            TimerScope::Connection => {
                // RFC 9002 §6.2.1: a probe timeout runs from the last transmission.
                if !self.timers.is_running(Slot::Outstanding)
                    || self.probes_at_timeout() && self.timers.is_armed(Timer::Retransmission)
                {
                    self.run_retransmission_timer(now);
                }
            }
            TimerScope::Segment => {
                let earliest = self.timers.deadline(Slot::Outstanding);
                self.timers
                    .arm(Timer::Retransmission, earliest.min(segment_deadline));
            }
        }
    }

    /// Expiry of the timer of a segment that leaves now, after this many expiries.
    #[inline]
    pub(super) fn segment_deadline(&self, now: Instant, expiries: u8) -> Instant {
        match self.choices.scope {
            TimerScope::Connection => Instant::FAR_FUTURE,
            TimerScope::Segment => now + self.timeout.backed_off(u32::from(expiries)),
        }
    }

    /// Updates the timers after new data was sent: the tail has moved, and its probe with it.
    #[inline]
    pub(super) fn on_tail_moved(&mut self, now: Instant) {
        if !self.tail_probe.is_enabled() {
            return;
        }
        if self.timers.is_armed(Timer::TailProbe) || self.board.len() == 1 {
            self.run_retransmission_timer(now);
        }
        if !self.timers.is_armed(Timer::ReorderingWindow) && self.may_probe_tail() {
            let left = self.until_timeout(now);
            self.arm_tail_probe(now, left);
        }
    }

    /// Updates the timers after the first outstanding segment was retransmitted: it gets a whole
    /// timeout (Linux, `tcp_xmit_retransmit_queue`), unless a reordering window is running.
    pub(super) fn on_front_resent(&mut self, now: Instant) {
        if self.choices.scope == TimerScope::Connection
            && !self.timers.is_armed(Timer::ReorderingWindow)
        {
            self.run_retransmission_timer(now);
        }
    }

    /// Runs the retransmission timer for a whole RTO from now.
    #[inline]
    pub(super) fn run_retransmission_timer(&mut self, now: Instant) {
        let at = now + self.timeout.rto();
        self.timers.arm(Timer::Retransmission, at);
    }

    /// Runs the retransmission timer as if since the first outstanding segment was sent, after
    /// another ran in its place (Linux, `tcp_rearm_rto`).
    pub(super) fn resume_retransmission_timer(&mut self, now: Instant) {
        if self.board.is_empty() {
            self.timers.cancel(Slot::Outstanding);
            return;
        }
        let left = self.until_timeout(now).max(Duration::from_millis(1));
        self.timers.arm(Timer::Retransmission, now + left);
    }

    /// Restarts the retransmission timer after news, or the tail probe's in its place.
    pub(super) fn restart_or_probe(&mut self, now: Instant) {
        if self.choices.scope == TimerScope::Segment {
            self.rearm_segment_timers(now);
        } else if self.may_probe_tail() {
            let rto = self.timeout.rto();
            self.arm_tail_probe(now, rto);
        } else if self.timers.is_armed(Timer::TailProbe)
            || self.timers.is_armed(Timer::ReorderingWindow)
        {
            self.resume_retransmission_timer(now);
        } else if self.board.is_empty() {
            self.timers.cancel(Slot::Outstanding);
        } else {
            self.run_retransmission_timer(now);
        }
    }

    /// Time until the RTO has passed since the first outstanding segment was sent.
    fn until_timeout(&self, now: Instant) -> Duration {
        let sent_at = self.board.front().map_or(now, |front| front.sent_at);
        (sent_at + self.timeout.rto()) - now
    }

    /// Sets the reordering window to end in `wait`, at most a timeout (Linux,
    /// `tcp_rack_mark_lost`): its round trip may be that of a segment reported long after it
    /// arrived. If each segment has a timer, that timer or the next acknowledgment finds the loss.
    pub(super) fn arm_reordering(&mut self, now: Instant, wait: Duration) {
        if self.choices.scope == TimerScope::Connection {
            // RFC 9002 §6.1.2 has the granularity of the clock in the tolerance.
            let least = if self.probes_at_timeout() {
                Duration::ZERO
            } else {
                MIN
            };
            let wait = (wait + least).min(self.timeout.rto());
            self.timers.arm(Timer::ReorderingWindow, now + wait);
        }
    }

    /// Updates the wake-up after segments were acknowledged or given up, if each has a timer. The
    /// first one always needs a timer or a retransmission: SACKed after it was presumed lost, which
    /// stopped its timer, it would have neither, though the receiver asks for it.
    pub(super) fn rearm_segment_timers(&mut self, now: Instant) {
        if let Some(front) = self.board.front()
            && front.is_sacked()
        {
            let deadline = self.segment_deadline(now, front.expiries);
            self.board.time_front_by(deadline);
        }
        match self.board.earliest_deadline() {
            Some((_, deadline)) => self.timers.arm(Timer::Retransmission, deadline),
            None => self.timers.cancel(Slot::Outstanding),
        }
    }

    /// Restarts running timers with the current RTO, when a link announces that it is bad.
    pub fn restart_timer(&mut self, now: Instant) {
        if !self.timers.is_running(Slot::Outstanding) {
            return;
        }
        match self.choices.scope {
            TimerScope::Connection => {
                let at = now + self.timeout.rto();
                self.timers.move_to(Slot::Outstanding, at);
            }
            TimerScope::Segment => {
                let timeout = &self.timeout;
                let after = |expiries: u8| -> Duration { timeout.backed_off(u32::from(expiries)) };
                self.board.restart_timers(now, after);
                self.rearm_segment_timers(now);
            }
        }
    }
}
