//! Rate-limited answers to unacceptable segments: two endpoints that each find the other's
//! acknowledgments unacceptable would otherwise answer each other for ever, and one forged segment
//! is enough to get them there (RFC 5961 §7).

use airtcp_packet::Segment;
use airtcp_units::{Duration, Instant};

use super::Connection;

/// Earliest time of the next answer.
#[derive(Clone, Debug, Default)]
pub struct Challenges {
    next: Instant,
}

impl Challenges {
    /// Whether no answer has left.
    pub fn is_nothing(&self) -> bool {
        self.next == Instant::ZERO
    }

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
    /// Answers a possibly forged segment with a challenge ACK (RFC 5961 §3.2, §4.2 and §5.2; Linux,
    /// `tcp_send_challenge_ack`).
    #[cold]
    pub(super) fn challenge(&mut self, now: Instant) {
        if self.may_answer(now) {
            self.receiver.demand_acknowledgment();
        }
    }

    /// Whether another answer may leave at `now`.
    pub(super) fn may_answer(&mut self, now: Instant) -> bool {
        let interval = self.sender.config().limits.challenge_interval;
        self.rare_mut().challenges.take(now, interval)
    }

    /// Answers a segment that is outside the window, or too old. Data cannot sustain a loop of
    /// acknowledgments, and its sender should learn at once which data is missing (Linux,
    /// `tcp_oow_rate_limited`).
    pub(super) fn answer_unacceptable(&mut self, now: Instant, segment: &Segment) {
        if segment.sequence_length() > 0 {
            self.receiver.demand_acknowledgment();
        } else {
            self.challenge(now);
        }
    }
}
