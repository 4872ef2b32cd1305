//! RACK: a segment is lost once one sent later has arrived and a reordering window has passed since
//! (RFC 8985 §6.2). QUIC's rule (RFC 9002 §6.1) uses the same list of transmissions with another
//! [`Tolerance`].

mod outage;

use alloc::collections::VecDeque;

use airtcp_units::{Duration, Instant};

use super::delivery::{Delivery, LatestSent};
use super::{Scoreboard, SentSegment, reordering_of};

pub use outage::Outage;

/// Number of recoveries for which a reordering window widened by duplicates is kept (RFC 8985 §6.2
/// step 4).
const PERSISTENCE: u8 = 16;

/// Distinguishes two simultaneous transmissions.
const NEXT: Duration = Duration::from_nanos(1);

/// A transmission, in chronological order.
#[derive(Clone, Copy, Debug)]
struct SentRecord {
    at: Instant,
    start: u64,
    transmissions: u8,
}

impl SentRecord {
    const fn new(segment: &SentSegment) -> Self {
        Self {
            at: segment.sent_at,
            start: segment.start,
            transmissions: segment.transmissions,
        }
    }
}

/// How late a segment may be, once one sent later has arrived, without being lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tolerance {
    /// Time since its transmission.
    pub time: Duration,
    /// Number of segments sent later, up to the delivered one, that mean a loss at once, if any
    /// number does (RFC 9002 §6.1.1).
    pub segments: Option<u64>,
}

/// State of time-based loss detection.
#[derive(Clone, Debug)]
pub struct Rack {
    sent: VecDeque<SentRecord>,
    /// Number of transmissions before the first in `sent`.
    passed: u64,
    /// The outage that the current acknowledgment has ended.
    outage: Option<Outage>,
    /// Time and place in the stream of the last transmission.
    stamped: (Instant, u64),
    /// The segment sent last among all delivered (`RACK.segment`).
    latest: Option<LatestSent>,
    /// Its round trip (`RACK.rtt`).
    rtt: Duration,
    /// Whether anything was delivered since the last loss detection.
    advanced: bool,
    /// Number of segments delivered after a later one.
    reorderings_seen: u32,
    /// Extent of reordering in segments, at least the duplicate-ACK threshold.
    reordering: u32,
    /// Width of the window, in quarters of the minimum round trip.
    steps: u32,
    persistence: u8,
    /// Offset that the peer must acknowledge before another duplicate widens the window.
    round_ends: Option<u64>,
}

/// The result of [`Rack::detect`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Detected {
    /// Bytes newly presumed lost.
    pub lost: u64,
    /// Whether a retransmission is among them.
    pub retransmission: bool,
    /// Time of transmission of the one sent last.
    pub latest: Option<Instant>,
    /// Time until the reordering window has passed for the remaining segments.
    pub wait: Option<Duration>,
}

impl Rack {
    /// Creates the state; `threshold` duplicates mean a loss while no reordering has been seen.
    #[must_use]
    pub const fn new(threshold: u32) -> Self {
        Self {
            sent: VecDeque::new(),
            passed: 0,
            outage: None,
            stamped: (Instant::ZERO, 0),
            latest: None,
            rtt: Duration::ZERO,
            advanced: false,
            reorderings_seen: 0,
            reordering: threshold,
            steps: 1,
            persistence: 0,
            round_ends: None,
        }
    }

    /// The timestamp of a transmission at `now` of the segment at `start`. Among simultaneous
    /// transmissions the earlier in the stream counts as sent first (RFC 8985 §6.2); one sent after
    /// a later one is given the next nanosecond, as no host sends two at once. In virtual time the
    /// transmissions triggered by several consecutive acknowledgments are simultaneous.
    pub fn stamp(&mut self, now: Instant, start: u64) -> Instant {
        let (last, last_start) = self.stamped;
        let at = if now > last {
            now
        } else if start < last_start {
            last + NEXT
        } else {
            last
        };
        self.stamped = (at, start);
        at
    }

    /// Records a transmission or retransmission of `segment`.
    #[inline]
    pub fn on_sent(&mut self, segment: &SentSegment) {
        self.sent.push_back(SentRecord::new(segment));
    }

    /// Records that everything below `una` is acknowledged.
    #[inline]
    pub fn on_acknowledged(&mut self, una: u64) {
        while self.sent.front().is_some_and(|sent| sent.start < una) {
            self.pass();
        }
    }

    /// Drops the first transmission.
    fn pass(&mut self) {
        self.sent.pop_front();
        self.passed += 1;
    }

    /// Number of transmissions up to that of `segment`: QUIC's packet number plus one.
    fn number_of(&self, segment: LatestSent) -> u64 {
        let later = |sent: &SentRecord| (sent.at, sent.start) < (segment.sent_at, segment.end);
        self.passed + self.sent.partition_point(later) as u64
    }

    /// Processes an acknowledgment's delivery at `now` (RFC 8985 §6.2 steps 1 to 3).
    /// `highest_reported` and `mss` give the extent of reordering.
    pub fn on_delivery(
        &mut self,
        now: Instant,
        delivery: &Delivery,
        highest_reported: u64,
        mss: u64,
    ) {
        let Some(latest) = delivery.latest else {
            return;
        };
        self.advanced = true;
        self.rtt = now - delivery.last_sent_at.unwrap_or(latest.sent_at);
        let later = |known: LatestSent| (latest.sent_at, latest.end) > (known.sent_at, known.end);
        if self.latest.is_none_or(later) {
            self.latest = Some(latest);
        }
        // Never retransmitted, yet delivered after later data: it was overtaken.
        if delivery.lowest_original < highest_reported {
            let distance = (highest_reported - delivery.lowest_original).div_ceil(mss);
            self.on_reordering(reordering_of(distance));
        }
    }

    /// Records that a segment has arrived after one sent `reach` segments later.
    pub fn on_reordering(&mut self, reach: u32) {
        self.reordering = self.reordering.max(reach);
        self.reorderings_seen = self.reorderings_seen.saturating_add(1);
    }

    /// Records a duplicate reported by the peer: a segment was retransmitted too soon (§6.2 step
    /// 4). At most once per round trip.
    pub fn on_duplicate_reported(&mut self, una: u64, nxt: u64) {
        if self.round_ends.is_none_or(|end| una >= end) {
            self.round_ends = Some(nxt);
            self.steps = (self.steps + 1).min(255);
            self.persistence = PERSISTENCE;
        }
    }

    /// Records that a recovery ended without a sign that it was needless.
    pub const fn on_recovered(&mut self) {
        self.persistence = self.persistence.saturating_sub(1);
        if self.persistence == 0 {
            self.steps = 1;
        }
    }

    /// Makes the next call repeat loss detection, since a recovery was undone.
    pub const fn look_again(&mut self) {
        self.advanced = true;
    }

    /// Re-watches every segment of `board` that may still arrive: [`detect`](Self::detect) stops
    /// watching segments presumed lost, and some of them are back in flight.
    #[cold]
    pub fn watch_again(&mut self, board: &Scoreboard) {
        let all = self.passed + self.sent.len() as u64;
        self.sent.clear();
        let outstanding = board.iter().filter(|segment| !segment.is_sacked());
        self.sent
            .extend(outstanding.map(|segment| SentRecord::new(&segment)));
        self.sent
            .make_contiguous()
            .sort_by_key(|sent| (sent.at, sent.start));
        self.passed = all - self.sent.len() as u64;
    }

    /// Round trip of the segment sent last among all delivered, at most `longest`: no timer waits
    /// for longer. If reports were lost, one may come an hour after the segment has arrived, and
    /// would make every other segment wait for an hour.
    #[must_use]
    pub fn rtt(&self, longest: Duration) -> Duration {
        self.rtt.min(longest)
    }

    /// Time of transmission of the delivered segment that was sent last.
    #[must_use]
    pub fn delivered_until(&self) -> Option<Instant> {
        self.latest.map(|latest| latest.sent_at)
    }

    /// Whether reordering was seen.
    #[must_use]
    pub const fn reordering_seen(&self) -> bool {
        self.reorderings_seen > 0
    }

    /// Number of segments delivered after a later one.
    #[must_use]
    pub const fn reorderings_seen(&self) -> u32 {
        self.reorderings_seen
    }

    /// Extent of reordering in segments, at least the duplicate-ACK threshold.
    #[must_use]
    pub const fn reordering(&self) -> u32 {
        self.reordering
    }

    /// Bounds the extent of reordering: the timer expired although `threshold` segments were
    /// SACKed, so it was estimated too high.
    pub fn bound_reordering(&mut self, threshold: u32) {
        self.reordering = self.reordering.min(threshold);
    }

    /// The reordering window (§6.2 step 4): zero while no reordering is known and losses are
    /// evident, else a quarter of the minimum round trip, more after duplicates, at most the
    /// smoothed round trip.
    #[must_use]
    pub fn window(&self, evident: bool, minimum: Duration, srtt: Duration) -> Duration {
        if self.reorderings_seen == 0 && evident {
            return Duration::ZERO;
        }
        (Duration::from_nanos(minimum.as_nanos() / 4) * u64::from(self.steps)).min(srtt)
    }

    /// Whether any segment in flight was sent before the delivered one, or with it: no other can be
    /// found lost.
    #[inline]
    pub fn has_earlier(&mut self) -> bool {
        let earlier = match (self.latest, self.sent.front()) {
            (Some(latest), Some(first)) => first.at <= latest.sent_at,
            _ => false,
        };
        self.advanced &= earlier;
        earlier
    }

    /// Marks as lost the segments sent before the delivered one that are later than `tolerance`
    /// (§6.2 step 5: a round trip and the reordering window). No effect if nothing was delivered
    /// since the last call, unless `forced` by the reordering timer.
    pub fn detect(
        &mut self,
        now: Instant,
        board: &mut Scoreboard,
        tolerance: Tolerance,
        forced: bool,
    ) -> Detected {
        let mut detected = Detected::default();
        if !(self.advanced || forced) {
            return detected;
        }
        self.advanced = false;
        let Some(latest) = self.latest else {
            return detected;
        };
        let reached = match tolerance.segments {
            Some(_) => self.number_of(latest),
            None => 0,
        };
        let mut index = 0;
        while let Some(&sent) = self.sent.get(index) {
            if sent.at > latest.sent_at {
                break;
            }
            let Some((position, segment)) = current(board, sent) else {
                // Acknowledged, SACKed, retransmitted later, or lost already.
                if index == 0 {
                    self.pass();
                } else {
                    index += 1;
                }
                continue;
            };
            if (sent.at, segment.end()) >= (latest.sent_at, latest.end) {
                break;
            }
            let deadline = sent.at + tolerance.time;
            if deadline <= now || self.is_overtaken(index, reached, tolerance) {
                detected.lost += u64::from(segment.length);
                detected.retransmission |= segment.is_resent();
                detected.latest = Some(sent.at);
                board.mark_copy_lost(position);
            } else {
                let wait = deadline - now;
                // RACK waits for the last of them, QUIC for the first (RFC 9002 §6.1.2).
                detected.wait = Some(match (detected.wait, tolerance.segments) {
                    (None, _) => wait,
                    (Some(other), None) => other.max(wait),
                    (Some(other), Some(_)) => other.min(wait),
                });
            }
            index += 1;
        }
        detected
    }

    /// Whether enough segments were sent after the transmission at `index`, up to the `reached`-th
    /// of all, that it is lost.
    fn is_overtaken(&self, index: usize, reached: u64, tolerance: Tolerance) -> bool {
        tolerance
            .segments
            .is_some_and(|segments| self.passed + index as u64 + segments < reached)
    }
}

/// The segment last transmitted by `sent`, if it may still arrive.
fn current(board: &Scoreboard, sent: SentRecord) -> Option<(usize, SentSegment)> {
    let position = board.index_of(sent.start);
    let segment = board.get(position)?;
    let alive = segment.start == sent.start
        && segment.transmissions == sent.transmissions
        && !segment.is_sacked()
        && (!segment.is_lost() || segment.is_resent());
    alive.then_some((position, segment))
}

#[cfg(test)]
mod tests;
