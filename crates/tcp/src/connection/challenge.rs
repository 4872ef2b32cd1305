//! Answers to segments that cannot be taken, at most one in a while: two endpoints each of which
//! holds the other's acknowledgments for unacceptable would otherwise answer each other for ever,
//! and one forged segment is enough to make them (RFC 5961 §7).

use airtcp_packet::Segment;
use airtcp_units::{Duration, Instant};

use super::Connection;

/// When the next answer may leave.
#[derive(Clone, Debug, Default)]
pub struct Challenges {
    next: Instant,
}

impl Challenges {
    /// Whether an answer may leave at `now`; if so, it counts as sent, and the next may leave
    /// `interval` later.
    pub fn take(&mut self, now: Instant, interval: Duration) -> bool {
        let may = now >= self.next;
        if may {
            self.next = now + interval;
        }
        may
    }
}

impl Connection {
    /// A segment that may be forged arrived: say where we stand (RFC 5961 §3.2, §4.2 and §5.2;
    /// Linux, `tcp_send_challenge_ack`).
    #[cold]
    pub(super) fn challenge(&mut self, now: Instant) {
        if self.may_answer(now) {
            self.receiver.demand_acknowledgment();
        }
    }

    /// Whether one more answer may leave at `now`.
    pub(super) fn may_answer(&mut self, now: Instant) -> bool {
        let interval = self.sender.config().limits.challenge_interval;
        self.rare_mut().challenges.take(now, interval)
    }

    /// Answers a segment outside the window, or too old. Data is no part of a loop of
    /// acknowledgments, and its sender is to learn at once what is missing (Linux,
    /// `tcp_oow_rate_limited`).
    pub(super) fn answer_unacceptable(&mut self, now: Instant, segment: &Segment) {
        if segment.sequence_length() > 0 {
            self.receiver.demand_acknowledgment();
        } else {
            self.challenge(now);
        }
    }
}
