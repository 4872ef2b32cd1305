//! Which of the sender's timers runs, and until when. One runs at a time, as in Linux: the reordering
//! window's, the tail probe's, or the retransmission timer.

use airtcp_units::{Duration, Instant};

use super::Sender;
use crate::config::TimerScope;
use crate::recovery::Phase;

/// The least a timer that is not the retransmission timer waits, so that it does not run out between
/// two acknowledgments of a train (RFC 8985 §7.2; Linux, `TCP_TIMEOUT_MIN_US`).
const SHORTEST: Duration = Duration::from_millis(2);

/// What the running timer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum Pending {
    /// A retransmission timeout.
    #[default]
    Retransmission,
    /// A probe of the tail (RFC 8985 §7).
    TailProbe,
    /// The end of the reordering window (RFC 8985 §6.3).
    Reordering,
}

impl Sender {
    /// RFC 6298 §5.1: a timer runs whenever data is outstanding.
    #[inline]
    pub(super) fn start_timer(&mut self, now: Instant, segment_deadline: Instant) {
        match self.choices.scope {
            TimerScope::Connection => {
                if self.deadline == Instant::FAR_FUTURE {
                    self.deadline = now + self.timeout.rto();
                    self.pending = Pending::Retransmission;
                }
            }
            TimerScope::Segment => self.deadline = self.deadline.min(segment_deadline),
        }
    }

    /// New data went out: the tail has moved, and its probe with it.
    #[inline]
    pub(super) fn on_new_data_sent(&mut self, now: Instant) {
        if !self.choices.tail_loss_probe {
            return;
        }
        if self.pending == Pending::TailProbe || self.board.len() == 1 {
            self.deadline = now + self.timeout.rto();
            self.pending = Pending::Retransmission;
        }
        if self.pending != Pending::Reordering && self.may_probe_tail() {
            let left = self.until_timeout(now);
            self.arm_tail_probe(now, left);
        }
    }

    /// The retransmission timer, or in its place the tail probe's, starts anew.
    pub(super) fn restart_or_probe(&mut self, now: Instant) {
        if self.choices.scope == TimerScope::Segment {
            self.rearm_segment_timers();
        } else if self.may_probe_tail() {
            let rto = self.timeout.rto();
            self.arm_tail_probe(now, rto);
        } else {
            self.restart_retransmission_timer(now);
        }
    }

    /// The retransmission timer starts anew; where another ran meanwhile, as if it had been running since
    /// the first outstanding segment was sent (Linux, `tcp_rearm_rto`).
    pub(super) fn restart_retransmission_timer(&mut self, now: Instant) {
        if self.board.is_empty() {
            self.deadline = Instant::FAR_FUTURE;
            self.pending = Pending::Retransmission;
            return;
        }
        let wait = match self.pending {
            Pending::Retransmission => self.timeout.rto(),
            Pending::TailProbe | Pending::Reordering => {
                self.until_timeout(now).max(Duration::from_millis(1))
            }
        };
        self.pending = Pending::Retransmission;
        self.deadline = now + wait;
    }

    /// How long until the RTO has passed since the first outstanding segment was sent.
    fn until_timeout(&self, now: Instant) -> Duration {
        let sent_at = self.board.front().map_or(now, |front| front.sent_at);
        (sent_at + self.timeout.rto()) - now
    }

    fn may_probe_tail(&self) -> bool {
        self.choices.tail_loss_probe
            && self.choices.sack
            && matches!(self.phase, Phase::Open)
            && self.board.sacked() == 0
            && !self.board.is_empty()
    }

    /// RFC 8985 §7.2: two round trips, and where a delayed acknowledgment may be waited for as long as
    /// that may take; never later than the retransmission timer.
    fn arm_tail_probe(&mut self, now: Instant, no_later: Duration) {
        let wait = match self.timeout.estimator().srtt() {
            None => self.initial_rto,
            Some(srtt) if self.board.len() == 1 => srtt * 2 + self.min_rto,
            Some(srtt) => srtt * 2 + SHORTEST,
        };
        let wait = if no_later > Duration::ZERO {
            wait.min(no_later)
        } else {
            wait
        };
        self.pending = Pending::TailProbe;
        self.deadline = now + wait;
    }

    /// The reordering window is over in `wait`. Where each segment has a timer of its own, that one
    /// tells, or the next acknowledgment.
    pub(super) fn arm_reordering(&mut self, now: Instant, wait: Duration) {
        if self.choices.scope == TimerScope::Segment {
            return;
        }
        self.pending = Pending::Reordering;
        self.deadline = now + wait + SHORTEST;
    }

    /// The wake-up as it should stand after segments were acknowledged or given up, where each has
    /// its own timer.
    pub(super) fn rearm_segment_timers(&mut self) {
        self.deadline = self
            .board
            .earliest_deadline()
            .map_or(Instant::FAR_FUTURE, |(_, deadline)| deadline);
    }
}
