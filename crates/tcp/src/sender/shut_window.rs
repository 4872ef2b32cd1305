//! A peer that takes its window back to nothing while data is on its way: a sender "MUST probe it in the
//! standard way" (RFC 9293 §3.8.6), and its silence is no congestion. Freeze-TCP stops senders so.
//!
//! As in 4.4BSD's `tcp_output`, the retransmission timer gives way to the probe's, and when the
//! window opens what is outstanding is sent again, within the congestion window as it was. A window
//! that shuts for less than a round trip has it sent for nothing, as there.

use airtcp_units::{Duration, Instant};

use super::Sender;
use crate::config::TimerScope;
use crate::recovery::Phase;

impl Sender {
    /// Whether data is outstanding and the peer has no room for even its first byte.
    #[inline]
    pub(super) fn is_shut(&self) -> bool {
        self.right_edge <= self.una && !self.board.is_empty()
    }

    /// The retransmission timer has run out towards a shut window: probe in its place.
    #[cold]
    pub(super) fn persist(&mut self, now: Instant) {
        self.deadline = Instant::FAR_FUTURE;
        if self.probe_deadline == Instant::FAR_FUTURE {
            self.probe_deadline = now;
        }
    }

    /// What is lost waits for the window. Where no timer of its own runs, a probe is due after one
    /// RTO, as where unsent data waits.
    #[cold]
    pub(super) fn wait_for_window(&mut self, now: Instant) {
        if self.deadline == Instant::FAR_FUTURE && self.probe_deadline == Instant::FAR_FUTURE {
            self.probe_deadline = now + self.timeout.backed_off(self.probes);
        }
    }

    /// The window opens again. If its timer has run out, or if the acknowledgment that opens it
    /// `advances` over nothing, what was on its way is taken for lost; duplicate acknowledgments of
    /// what is then sent again tell of no loss. Else acknowledgments still come, and will tell.
    #[cold]
    pub(super) fn resume(&mut self, now: Instant, advances: bool) {
        self.probe_deadline = Instant::FAR_FUTURE;
        self.probes = 0;
        if advances && self.deadline != Instant::FAR_FUTURE {
            self.restart_timer(now);
            return;
        }
        self.board.mark_lost_from(self.una);
        self.recover = Some(self.nxt);
        // Repaired as after a timeout, so that no fast recovery starts on the way.
        self.phase = Phase::Timeout {
            recover: self.nxt,
            tests_new_data: false,
        };
        self.repair_now = None;
        self.deadline = Instant::FAR_FUTURE;
    }

    /// A link announces that it is bad: running timers start anew with the RTO as it is.
    pub fn restart_timer(&mut self, now: Instant) {
        if self.deadline == Instant::FAR_FUTURE {
            return;
        }
        match self.choices.scope {
            TimerScope::Connection => self.deadline = now + self.timeout.rto(),
            TimerScope::Segment => {
                let timeout = &self.timeout;
                let after = |expiries: u8| -> Duration { timeout.backed_off(u32::from(expiries)) };
                self.board.restart_timers(now, after);
                self.rearm_segment_timers();
            }
        }
    }
}
