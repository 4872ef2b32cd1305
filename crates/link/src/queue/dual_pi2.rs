//! Dual-queue coupled AQM: a low-latency queue for senders that react to each mark (L4S), a classic
//! one for all others, and one controller with a probability that is squared for the latter, so
//! that both kinds of flows get the same share (RFC 9332, appendix A).
//!
//! Where the RFC leaves a choice this follows Linux (`net/sched/sch_dualpi2.c`): a step marks the
//! low-latency queue, weights protect the other one, and drops are at the head.

use airtcp_packet::Ecn;
use airtcp_units::{Duration, Instant};

use super::fifo::Fifo;
use super::{EcnField, QueueLimit};
use crate::frame::QueuedPacket;
use crate::random::Stream;

/// Weights of the classic and the low-latency queue while both wait, in percent (Linux).
const CLASSIC_WEIGHT: i64 = 10;
const LOW_LATENCY_WEIGHT: i64 = 100 - CLASSIC_WEIGHT;

/// The parameters of DualPI2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DualPi2Config {
    /// Target delay in the classic queue (RFC 9332 A.1: 15 ms).
    pub target: Duration,
    /// Interval between updates of the probability (Linux: 16 ms). Above zero.
    pub update: Duration,
    /// Weight of the distance to the target, per second (A.1: 0.16).
    pub alpha: f64,
    /// Weight of the delay's change, per second (A.1: 3.2).
    pub beta: f64,
    /// Delay in the low-latency queue above which every packet is marked (Linux: 1 ms).
    pub step: Duration,
    /// It marks while more packets than this are in that queue, the one served among them (A.1,
    /// `Th_len`: 1, as on a slow link one packet takes longer than the step; Linux,
    /// `min_qlen_step`: 0).
    pub step_packets: u32,
    /// The coupling factor: a low-latency packet is marked with this many times the probability
    /// that is squared for dropping a classic one (A.1: 2).
    pub coupling: f64,
    /// Bytes of a largest packet: below two of them there are no random marks or drops (Linux,
    /// `must_drop`).
    pub largest_packet: u32,
}

impl Default for DualPi2Config {
    fn default() -> Self {
        Self {
            target: Duration::from_millis(15),
            update: Duration::from_millis(16),
            alpha: 0.16,
            beta: 3.2,
            step: Duration::from_millis(1),
            step_packets: 1,
            coupling: 2.0,
            largest_packet: 1500,
        }
    }
}

/// Both queues.
#[derive(Clone, Debug)]
pub(super) struct DualPi2<P> {
    config: DualPi2Config,
    limit: QueueLimit,
    classic: Fifo<P>,
    low_latency: Fifo<P>,
    /// The controller's probability, and the delay at its last update.
    probability: f64,
    last_delay: Duration,
    next_update: Instant,
    /// At 0 or below the low-latency queue is next.
    credit: i64,
    draws: Stream,
    drawn: u64,
}

/// The fate of a packet at the head.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Passes,
    IsMarked,
    IsDropped,
}

impl<P: EcnField> DualPi2<P> {
    pub(super) fn new(config: DualPi2Config, limit: QueueLimit, draws: Stream) -> Self {
        Self {
            config,
            limit,
            classic: Fifo::default(),
            low_latency: Fifo::default(),
            probability: 0.0,
            last_delay: Duration::ZERO,
            next_update: Instant::ZERO + config.update,
            credit: first_credit(&config),
            draws,
            drawn: 0,
        }
    }

    pub(super) fn packets(&self) -> usize {
        self.classic.packets() + self.low_latency.packets()
    }

    pub(super) const fn bytes(&self) -> u64 {
        self.classic.bytes() + self.low_latency.bytes()
    }

    /// Adds a packet; returns `false` if there is no room.
    pub(super) fn push(&mut self, waiting: QueuedPacket<P>) -> bool {
        self.update_until(waiting.since);
        let bytes = waiting.transmission.bytes;
        if !self.limit.has_room(self.packets(), self.bytes(), bytes) {
            return false;
        }
        if is_low_latency(&waiting.packet) {
            self.low_latency.push(waiting);
        } else {
            self.classic.push(waiting);
        }
        true
    }

    /// Drops the head of the longer queue.
    pub(super) fn shorten(&mut self) -> Option<QueuedPacket<P>> {
        if self.low_latency.bytes() > self.classic.bytes() {
            self.low_latency.pop()
        } else {
            self.classic.pop()
        }
    }

    /// The packet that is served at `now`; `discard` gets packets dropped on the way.
    pub(super) fn dequeue(
        &mut self,
        now: Instant,
        mut discard: impl FnMut(QueuedPacket<P>),
    ) -> Option<QueuedPacket<P>> {
        self.update_until(now);
        loop {
            let has_both = self.classic.packets() > 0 && self.low_latency.packets() > 0;
            let low_packets = self.low_latency.packets();
            let takes_low = low_packets > 0 && (self.classic.packets() == 0 || self.credit <= 0);
            let taken = if takes_low {
                self.low_latency.pop()
            } else {
                self.classic.pop()
            };
            let Some(mut waiting) = taken else {
                self.credit = first_credit(&self.config);
                return None;
            };
            let mut verdict = self.verdict(takes_low, waiting.packet.ecn().is_capable());
            let is_late = takes_low
                && low_packets > self.config.step_packets as usize
                && now - waiting.since > self.config.step;
            if is_late && verdict == Verdict::Passes {
                verdict = Verdict::IsMarked;
            }
            if verdict == Verdict::IsDropped {
                discard(waiting);
                continue;
            }
            if verdict == Verdict::IsMarked {
                waiting.packet.mark();
            }
            if has_both {
                let bytes = i64::from(waiting.transmission.bytes);
                self.credit += if takes_low {
                    CLASSIC_WEIGHT * bytes
                } else {
                    -LOW_LATENCY_WEIGHT * bytes
                };
            }
            return Some(waiting);
        }
    }

    /// The verdict on the packet that was taken (RFC 9332 A.1, fig. 4; Linux, `must_drop`).
    fn verdict(&mut self, is_low_latency: bool, is_capable: bool) -> Verdict {
        if self.bytes() < 2 * u64::from(self.config.largest_packet) {
            return Verdict::Passes;
        }
        let coupled = self.config.coupling * self.probability;
        let is_overload = coupled > 1.0;
        let squared =
            |queue: &mut Self| queue.roll(queue.probability) && queue.roll(queue.probability);
        if is_low_latency {
            return match is_overload {
                true if squared(self) => Verdict::IsDropped,
                true => Verdict::IsMarked,
                false if self.roll(coupled) => Verdict::IsMarked,
                false => Verdict::Passes,
            };
        }
        match squared(self) {
            true if is_overload || !is_capable => Verdict::IsDropped,
            true => Verdict::IsMarked,
            false => Verdict::Passes,
        }
    }

    fn roll(&mut self, probability: f64) -> bool {
        let draw = self.draws.uniform(self.drawn);
        self.drawn += 1;
        draw <= probability
    }

    /// Makes the updates that were due by `now` (RFC 9332 A.1, fig. 6): queues have not changed
    /// since, and their heads have grown older.
    fn update_until(&mut self, now: Instant) {
        while self.next_update <= now {
            let at = self.next_update;
            let waited =
                |queue: &Fifo<P>| queue.head().map_or(Duration::ZERO, |head| at - head.since);
            let delay = waited(&self.classic).max(waited(&self.low_latency));
            let step = self.config.alpha * (delay.as_secs_f64() - self.config.target.as_secs_f64())
                + self.config.beta * (delay.as_secs_f64() - self.last_delay.as_secs_f64());
            self.probability = (self.probability + step).clamp(0.0, 1.0);
            self.last_delay = delay;
            self.next_update += self.config.update;
            let is_at_rest = self.packets() == 0 && self.probability == 0.0;
            if is_at_rest && self.next_update <= now {
                let periods = (now - self.next_update).as_nanos() / self.config.update.as_nanos();
                self.next_update += self.config.update * (periods + 1);
            }
        }
    }
}

/// Whether a packet's sender reacts to each mark (RFC 9331 §4.1): ECT(1), and CE, which may have
/// been ECT(1).
fn is_low_latency<P: EcnField>(packet: &P) -> bool {
    matches!(packet.ecn(), Ecn::Capable1 | Ecn::CongestionExperienced)
}

/// The low-latency queue begins.
fn first_credit(config: &DualPi2Config) -> i64 {
    i64::from(config.largest_packet) * (CLASSIC_WEIGHT - LOW_LATENCY_WEIGHT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Transmission;
    use airtcp_packet::Segment;

    fn waiting(millis: u64, ecn: Ecn) -> QueuedPacket<Segment> {
        QueuedPacket {
            packet: Segment {
                ecn,
                ..Segment::default()
            },
            transmission: Transmission {
                bytes: 1500,
                flow: 0,
                index: 0,
            },
            is_lost: false,
            since: at(millis),
        }
    }

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn queues() -> DualPi2<Segment> {
        let draws = Stream::new(1, "draws");
        DualPi2::new(DualPi2Config::default(), QueueLimit::Unlimited, draws)
    }

    /// Credit begins at −80 packets, nine packets of low latency add ten each, one of the others
    /// takes 90: one of ten is classic (Linux, `dequeue_packet`).
    #[test]
    fn one_packet_of_ten_is_classic_while_both_wait() {
        let mut queues = queues();
        for _ in 0..40 {
            queues.push(waiting(0, Ecn::NotCapable));
            queues.push(waiting(0, Ecn::Capable1));
        }
        let served = |queues: &mut DualPi2<Segment>| {
            let served = queues.dequeue(at(0), |_| panic!("nothing is dropped"));
            served.unwrap().packet.ecn == Ecn::NotCapable
        };
        let classic: Vec<usize> = (0..40).filter(|_| served(&mut queues)).collect();
        assert_eq!(classic, [9, 19, 29, 39]);
    }

    /// Packets that have waited for more than a millisecond are marked, and no others.
    #[test]
    fn a_step_marks_what_is_late() {
        let mut queues = queues();
        queues.push(waiting(0, Ecn::Capable1));
        queues.push(waiting(1, Ecn::Capable1));
        let mut ecn = || queues.dequeue(at(2), |_| ()).unwrap().packet.ecn;
        assert_eq!([ecn(), ecn()], [Ecn::CongestionExperienced, Ecn::Capable1]);
    }

    /// A single packet is not marked, however long another kind's took (A.1, `Th_len`), unless
    /// configured so (Linux, `min_qlen_step` 0).
    #[test]
    fn a_step_leaves_one_packet_alone() {
        for (step_packets, expected) in [(1, Ecn::Capable1), (0, Ecn::CongestionExperienced)] {
            let mut queues = queues();
            queues.config.step_packets = step_packets;
            queues.push(waiting(0, Ecn::Capable1));
            assert_eq!(queues.dequeue(at(2), |_| ()).unwrap().packet.ecn, expected);
        }
    }

    /// A head that came at 0: after 16 ms 0.16·(16 − 15 ms) + 3.2·16 ms, then 0.16·(32 − 15 ms) +
    /// 3.2·16 ms more.
    #[test]
    fn the_probability_follows_the_older_head() {
        let mut queues = queues();
        queues.push(waiting(0, Ecn::NotCapable));
        queues.update_until(at(16));
        assert!((queues.probability - 0.051_36).abs() < 1e-12);
        queues.update_until(at(32));
        assert!((queues.probability - 0.105_28).abs() < 1e-12);
        queues.dequeue(at(32), |_| ());
        queues.update_until(at(3_600_000));
        assert_eq!(queues.probability, 0.0);
        assert!(queues.next_update > at(3_600_000));
    }

    /// At a probability p low latency is marked with 2p, others are dropped with p², and marked
    /// with that where they may be (RFC 9332 §2.5).
    #[test]
    fn marks_are_coupled_to_drops_by_a_square() {
        let mut queues = queues();
        queues.probability = 0.3;
        let (mut marked, mut dropped, mut classic_marked) = (0, 0, 0);
        for _ in 0..100 {
            queues.classic.push(waiting(0, Ecn::NotCapable));
        }
        for _ in 0..20_000 {
            marked += u32::from(queues.verdict(true, true) == Verdict::IsMarked);
            dropped += u32::from(queues.verdict(false, false) == Verdict::IsDropped);
            classic_marked += u32::from(queues.verdict(false, true) == Verdict::IsMarked);
        }
        // Five standard deviations of 20 000 draws are 0.017 and 0.010.
        assert!((f64::from(marked) / 2e4 - 0.6).abs() < 0.017, "{marked}");
        assert!((f64::from(dropped) / 2e4 - 0.09).abs() < 0.010, "{dropped}");
        assert!((f64::from(classic_marked) / 2e4 - 0.09).abs() < 0.010);
        // Overload: marks are no longer enough.
        queues.probability = 0.6;
        let all: Vec<Verdict> = (0..1000).map(|_| queues.verdict(true, true)).collect();
        assert!(all.contains(&Verdict::IsDropped) && !all.contains(&Verdict::Passes));
    }
}
