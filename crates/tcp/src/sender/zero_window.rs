//! A peer without room, and zero-window probes (RFC 9293 §3.8.6.1).
//!
//! A peer may shrink its window to zero while data is in flight: a sender "MUST probe it in the
//! standard way" (RFC 9293 §3.8.6), and the peer's silence is no congestion. This is how Freeze-TCP
//! stops senders.
//!
//! As in 4.4BSD's `tcp_output`, the retransmission timer gives way to the probe's, and when the
//! window opens the outstanding data is retransmitted, within the unchanged congestion window.
//! While that timer still runs, [`WindowReopening`] decides.

use airtcp_units::{Duration, Instant};

use super::Sender;
use super::repair::Entry;
use super::timers::{Slot, Timer};
use crate::config::WindowReopening;
use crate::observer::{Event, Observer};
use crate::timeout::RetransmissionTimeout;

/// The probes of the current closed window.
#[derive(Clone, Debug, Default)]
pub(super) struct ZeroWindow {
    probes: u32,
}

impl ZeroWindow {
    /// Time until the next probe: an RTO, doubled for each one sent.
    fn wait(&self, timeout: &RetransmissionTimeout) -> Duration {
        timeout.backed_off(self.probes)
    }

    const fn on_probe(&mut self) {
        self.probes = self.probes.saturating_add(1);
    }

    const fn on_open(&mut self) {
        self.probes = 0;
    }
}

impl Sender {
    /// Whether data is outstanding and the peer has no room for even its first byte.
    #[inline]
    pub(super) fn is_shut(&self) -> bool {
        self.space.right_edge() <= self.space.una() && !self.board.is_empty()
    }

    /// Updates the peer's window to `right_edge`, from an acknowledgment of everything below
    /// `offset`.
    pub(super) fn update_window(&mut self, now: Instant, offset: u64, right_edge: u64) {
        let (una, nxt) = (self.space.una(), self.space.nxt());
        if self.space.right_edge() <= nxt {
            if right_edge > nxt {
                self.stop_probing();
            }
            if self.is_shut() && right_edge > una.max(offset) {
                self.reopen(now, offset > una);
            }
        }
        self.space.on_window(offset.max(una), right_edge);
        // The peer reports that it is still closed: the wait restarts (Linux, `tcp_ack_probe`).
        if self.space.is_blocked()
            && self.board.is_empty()
            && self.timers.is_armed(Timer::WindowProbe)
        {
            self.probe_after_wait(now);
        }
    }

    /// Cancels the wait for the window: new data leaves.
    #[inline]
    pub(super) const fn stop_waiting_for_window(&mut self) {
        self.timers.cancel(Slot::Window);
    }

    fn stop_probing(&mut self) {
        self.timers.cancel(Slot::Window);
        self.zero_window.on_open();
    }

    /// Starts probing: the retransmission timer has expired against a closed window.
    #[cold]
    pub(super) fn persist(&mut self, now: Instant) {
        if !self.timers.is_running(Slot::Window) {
            self.timers.arm(Timer::WindowProbe, now);
        }
    }

    /// Arms the probe's timer while data, or a FIN, waits for the peer's window with nothing in
    /// flight that would open it: one RTO (RFC 9293 §3.8.6.1).
    pub(super) fn arm_probe(&mut self, now: Instant) {
        if self.space.is_blocked()
            && self.board.is_empty()
            && !self.timers.is_armed(Timer::WindowProbe)
        {
            self.probe_after_wait(now);
        }
    }

    /// Holds a small segment back for more bytes or room: at most an RTO while nothing is
    /// outstanding.
    #[cold]
    pub(super) fn hold_small_segment(&mut self, now: Instant) {
        if self.board.is_empty() && !self.timers.is_running(Slot::Window) {
            let at = now + self.timeout.rto();
            self.timers.arm(Timer::SmallSegment, at);
        }
    }

    /// Arms the probe's timer for lost data that waits for the window without a running timer, as
    /// for unsent data.
    #[cold]
    pub(super) fn wait_for_window(&mut self, now: Instant) {
        if !self.timers.is_running(Slot::Outstanding) && !self.timers.is_running(Slot::Window) {
            self.probe_after_wait(now);
        }
    }

    fn probe_after_wait(&mut self, now: Instant) {
        let wait = self.zero_window.wait(&self.timeout);
        self.timers.arm(Timer::WindowProbe, now + wait);
    }

    pub(super) fn on_probe_timer(&mut self, now: Instant, observer: &mut impl Observer) {
        self.zero_window.on_probe();
        self.counters.window_probes.add();
        self.probe_after_wait(now);
        observer.event(now, Event::WindowProbe);
    }

    /// Whether the first outstanding segment left at least two round trips ago, so that an answer
    /// is no longer expected (the same criterion as in RFC 8985 §7.2).
    fn is_front_silent(&self, now: Instant) -> bool {
        let wait = self.timeout.two_round_trips();
        self.board
            .front()
            .is_some_and(|front| front.sent_at + wait <= now)
    }

    /// Handles a window that reopens, by an acknowledgment that `advances` or not. If the timer has
    /// expired, the data that was in flight is presumed lost, and duplicate acknowledgments of its
    /// retransmission mean no loss. Otherwise acknowledgments may still arrive and decide.
    #[cold]
    fn reopen(&mut self, now: Instant, advances: bool) {
        self.stop_probing();
        if self.timers.is_running(Slot::Outstanding) {
            if advances {
                self.restart_timer(now);
                return;
            }
            let resends = self.choices.window_reopening == WindowReopening::Resend;
            if !(resends && self.is_front_silent(now)) {
                return;
            }
        }
        self.board.mark_lost_from(self.space.una());
        // Repaired as after a timeout, so that no fast recovery starts before that.
        self.repair.begin(Entry::Reopened, self.space.nxt());
        self.timers.cancel(Slot::Outstanding);
    }
}
