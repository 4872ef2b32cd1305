//! Connections closed by both sides, which may still receive late segments (RFC 9293 §3.4.2): a few
//! words each, and a bounded number.

use alloc::collections::VecDeque;

use airtcp_packet::{Flags, Segment, SequenceNumber, Timestamps};
use airtcp_tcp::Connection;
use airtcp_units::{Duration, Instant};
use hashbrown::HashMap;

use crate::secret::Secret;
use crate::tuple::FourTuple;

/// Duration of TIME-WAIT: twice the maximum segment lifetime, which common stacks put at 30 s.
pub const TIME_WAIT: Duration = Duration::from_secs(60);
/// Distance by which a connection that reuses the ends starts beyond the old one's sequence
/// numbers: more than an unscaled window (Linux, `tcp_timewait_state_process`: 65535 + 2).
const APART: u32 = 65_537;

/// The state kept of a connection.
#[derive(Clone, Copy, Debug)]
struct Closed {
    until: Instant,
    /// Our next sequence number, and the peer's.
    next: SequenceNumber,
    expected: SequenceNumber,
    window: u16,
    /// The peer's last timestamp, and ours: it is frozen, and so never goes back.
    recent: Option<u32>,
    stamp: u32,
}

/// The response to a segment for a closed connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Nothing.
    Ignore,
    /// Acknowledge it; the timestamp's offset must be added.
    Answer(Segment),
    /// A new connection may begin, at this sequence number or beyond.
    Reuse(SequenceNumber),
}

/// The closed connections.
#[derive(Debug)]
pub(crate) struct TimeWait {
    closed: HashMap<FourTuple, Closed, Secret>,
    /// In the order in which they expire.
    order: VecDeque<(Instant, FourTuple)>,
    most: usize,
}

impl TimeWait {
    pub fn new(secret: Secret, most: usize) -> Self {
        Self {
            closed: HashMap::with_hasher(secret),
            order: VecDeque::new(),
            most: most.max(1),
        }
    }

    /// Keeps the state of `connection` at `now`.
    pub fn insert(&mut self, now: Instant, tuple: FourTuple, connection: &Connection) {
        while self.closed.len() >= self.most && self.forget_first() {}
        let until = now + TIME_WAIT;
        let window = connection.receiver().acceptable();
        let closed = Closed {
            until,
            next: connection.next_sequence(),
            expected: connection.expected_sequence(),
            window: u16::try_from(window.end - window.start).unwrap_or(u16::MAX),
            recent: connection.recent_timestamp(),
            stamp: connection.timestamp(now),
        };
        self.closed.insert(tuple, closed);
        self.order.push_back((until, tuple));
    }

    pub fn len(&self) -> usize {
        self.closed.len()
    }

    pub fn contains(&self, tuple: &FourTuple) -> bool {
        self.closed.contains_key(tuple)
    }

    /// Time at which the first expires, or [`Instant::FAR_FUTURE`].
    pub fn next_wakeup(&self) -> Instant {
        let first = self.order.front();
        first.map_or(Instant::FAR_FUTURE, |&(until, _)| until)
    }

    /// Removes the expired ones.
    pub fn on_wakeup(&mut self, now: Instant) {
        while self.next_wakeup() <= now && self.forget_first() {}
    }

    fn forget_first(&mut self) -> bool {
        let Some((until, tuple)) = self.order.pop_front() else {
            return false;
        };
        // Unless its time was extended, or another took its place.
        let is_current = |closed: &Closed| closed.until == until;
        if self.closed.get(&tuple).is_some_and(is_current) {
            self.closed.remove(&tuple);
        }
        true
    }

    /// Returns the response to `segment`, if it is for one of them. One that may be reused is
    /// removed.
    pub fn judge(&mut self, now: Instant, tuple: &FourTuple, segment: &Segment) -> Option<Verdict> {
        let closed = self.closed.get_mut(tuple)?;
        if segment.flags.contains(Flags::RST) {
            // RFC 1337: assassination.
            return Some(Verdict::Ignore);
        }
        let is_syn = segment.flags.contains(Flags::SYN) && !segment.flags.contains(Flags::ACK);
        if is_syn && closed.is_older_than(segment) {
            let begin = closed.next + APART;
            self.closed.remove(tuple);
            return Some(Verdict::Reuse(begin));
        }
        if segment.sequence_length() == 0 {
            return Some(Verdict::Ignore);
        }
        let answer = Verdict::Answer(closed.acknowledgment());
        if segment.flags.contains(Flags::FIN) && closed.until < now + TIME_WAIT {
            // The peer's FIN was retransmitted: our last acknowledgment was lost.
            closed.until = now + TIME_WAIT;
            self.order.push_back((closed.until, *tuple));
            while self.order.len() > 2 * self.most && self.forget_first() {}
        }
        Some(answer)
    }
}

impl Closed {
    /// Whether a SYN cannot be a late one of the old connection: its sequence number or its
    /// timestamp is beyond all received (RFC 9293 §3.10.7.4, RFC 6191 §2).
    fn is_older_than(&self, syn: &Segment) -> bool {
        match (self.recent, syn.timestamps) {
            (Some(recent), Some(stamps)) if recent != stamps.value => {
                SequenceNumber(stamps.value).after(SequenceNumber(recent))
            }
            _ => syn.sequence.after(self.expected),
        }
    }

    fn acknowledgment(&self) -> Segment {
        Segment {
            sequence: self.next,
            acknowledgment: self.expected,
            flags: Flags::ACK,
            window: self.window,
            timestamps: self.recent.map(|echo| Timestamps {
                value: self.stamp,
                echo,
            }),
            ..Segment::default()
        }
    }
}
