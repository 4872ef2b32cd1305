//! One pass over the packets of a flow: transmissions, acknowledgments, and the circumstances of
//! every retransmission.
//!
//! ```text
//!   packet ─▶ stream: position ─▶ board: pieces ─▶ covered: answers ─▶ record
//!                                  recovery, clock, activity: circumstances ─▶ record
//! ```

mod activity;
mod board;
mod clock;
mod covered;
mod numbering;
mod record;
mod recovery;
mod stream;
mod unseen;

use activity::Activity;
use airtcp_packet::{Ecn, Flags, SackBlock, Segment, SequenceNumber};
use airtcp_units::{Duration, Instant};
use board::{Board, Overlap};
use clock::Clock;
use covered::Report;
use record::Record;
use recovery::Recovery;
use stream::{ORIGIN, Stream};
use unseen::Unseen;

use super::findings::{Ack, Findings, Repeat, Sent, Silence};
use super::label::Trigger;
use super::negotiated::NegotiatedOptions;
use super::trigger::{self, Circumstances};
use crate::index::Index;
use crate::packet::{Packet, Way};

/// In-order data that triggers an immediate ACK, in segments, with a margin.
const IN_ORDER_SEGMENTS: u64 = 3;
/// Number of SACK blocks that fit into a header with timestamps (RFC 2018 §3).
const CROWDED_BLOCKS: usize = 3;

/// Processes `packets`; the data goes `data_way`.
pub(super) fn follow(
    data_way: Way,
    agreed: NegotiatedOptions,
    packets: impl Iterator<Item = Packet>,
) -> Findings {
    let mut follower = Follower {
        agreed,
        stream: Stream::default(),
        board: Board::new(ORIGIN),
        unseen: Unseen::default(),
        activity: Activity::default(),
        clock: Clock::new(Instant::ZERO),
        recovery: Recovery::default(),
        window: None,
        record: Record::default(),
    };
    for packet in packets {
        follower.record.packet(&packet);
        if packet.way == data_way {
            follower.data(&packet);
        } else {
            follower.ack(&packet);
        }
    }
    follower.record.finish(follower.recovery.unfinished())
}

/// The state of the pass.
#[derive(Debug)]
struct Follower {
    agreed: NegotiatedOptions,
    stream: Stream,
    board: Board,
    unseen: Unseen,
    activity: Activity,
    clock: Clock,
    recovery: Recovery,
    /// The receive window in the last ACK, unscaled.
    window: Option<u16>,
    record: Record,
}

impl Follower {
    fn data(&mut self, packet: &Packet) {
        let segment = &packet.segment;
        let index = self.record.count();
        let length = u64::from(segment.sequence_length());
        if length == 0 || segment.flags.contains(Flags::RST) {
            return;
        }
        let is_syn = segment.flags.contains(Flags::SYN);
        if !is_syn && segment.flags.contains(Flags::CWR) {
            self.record.reduction(packet.time);
        }
        if let Some(start) = self.stream.begin(segment.sequence, is_syn) {
            self.board = Board::new(start);
            self.clock.start(packet.time);
        }
        let Some(start) = self.position(segment.sequence) else {
            return;
        };
        let end = start + length;
        // A byte below the acknowledged ones is a keep-alive (RFC 9293 §3.8.4).
        if end <= self.board.una() && length == 1 && !is_syn {
            return;
        }
        let seen = self.circumstances(packet.time, start, end, is_syn);
        let was_idle = self.board.open() == 0;
        if start > self.board.end() {
            self.record.hole(self.activity.last_data(), packet.time);
        }
        let at = self.record.next_sent();
        let was_acknowledged = end <= self.board.una();
        let overlap = if was_acknowledged {
            self.repeat_of_acknowledged(start, end)
        } else {
            self.board.send(start, end, at)
        };
        if was_idle {
            self.clock.start(packet.time);
        }
        self.record.transmission(Sent {
            time: packet.time,
            number: packet.number,
            index,
            start,
            end,
            ip_bytes: segment.ip_bytes(),
            attempt: overlap.attempts,
            in_flight: u32::try_from(self.board.open()).unwrap_or(u32::MAX),
            acknowledged: Instant::FAR_FUTURE,
            is_measured: false,
            is_lost: false,
            lost_to: None,
            radio_retry: packet.radio.is_retry,
            is_marked: segment.ecn == Ecn::CongestionExperienced,
            is_short: segment.payload_bytes == 0
                || !segment.payload_bytes.is_multiple_of(self.agreed.mss.max(1)),
            meets_full_queue: false,
            is_refused: !was_acknowledged && !overlap.sacked && self.record.is_outdated(segment),
            timestamp: segment.timestamps.map(|both| both.value),
            identification: packet.identification,
            previous: overlap.previous,
            repeat: None,
        });
        if overlap.attempts > 0 || overlap.filled > 0 {
            self.repeat(&seen, &overlap, at, was_acknowledged);
        }
        self.activity.data(packet.time, was_idle);
    }

    /// Overlap of bytes below the acknowledged ones, which the board no longer has.
    fn repeat_of_acknowledged(&mut self, start: u64, end: u64) -> Overlap {
        let is_behind_ack = self.unseen.passes(start, end);
        if is_behind_ack {
            self.record.behind_ack(end - start);
        }
        Overlap {
            fresh: 0,
            attempts: u32::from(!is_behind_ack),
            previous: None,
            filled: 0,
            acknowledged: true,
            sacked: false,
        }
    }

    fn circumstances(&self, now: Instant, start: u64, end: u64, is_syn: bool) -> Circumstances {
        Circumstances {
            is_syn,
            since_ack: self.activity.since_ack(now),
            silence: self.clock.elapsed(now),
            timeout: self.clock.timeout(),
            srtt: self.clock.srtt(),
            is_lowest: start <= self.board.una(),
            is_highest: end >= self.board.end(),
            is_sacked_above: self.board.is_sacked_above(start),
            duplicates: self.recovery.duplicates(),
            is_after_timeout: self.recovery.is_after_timeout(start),
            is_in_recovery: self.recovery.is_in_fast_recovery(start),
            is_first: self.recovery.is_first(),
            has_sack: self.agreed.has_sack,
            is_window_shut: self.window == Some(0),
        }
    }

    /// Records a packet that was sent before, or that fills a hole.
    fn repeat(
        &mut self,
        seen: &Circumstances,
        overlap: &Overlap,
        at: Index,
        was_acknowledged: bool,
    ) {
        let trigger = trigger::classify(seen);
        let number = self.record.repeats();
        let (now, start) = (self.record.sent(at).time, self.record.sent(at).start);
        let fills = overlap.attempts == 0;
        self.record.repeat(Repeat {
            sent: at,
            trigger,
            backoff: self.clock.backoff,
            timeout: seen.timeout,
            since_silence: seen.silence,
            fills,
            was_acknowledged,
            was_sacked: overlap.sacked,
            is_tail: !seen.is_sacked_above && seen.duplicates == 0,
            bytes_above: self.board.highest_sacked().saturating_sub(start),
            answer: None,
            is_duplicate: false,
            originals_acknowledged: false,
            revealed_by: None,
        });
        if fills {
            self.record.reveal(number, at);
        }
        if fills || was_acknowledged {
            return;
        }
        self.recovery.retransmitted();
        match trigger {
            Some(Trigger::Timeout) => {
                self.clock.backoff += 1;
                let is_doubtful = seen.duplicates == 0
                    && !seen.is_sacked_above
                    && !self.is_revealed(overlap.previous);
                let doubtful = is_doubtful.then_some(number);
                self.recovery.timeout(self.board.end(), now, doubtful);
            }
            Some(Trigger::Fast) => self.recovery.fast(self.board.end(), now),
            _ => {}
        }
        if seen.is_lowest || trigger == Some(Trigger::TailProbe) {
            self.clock.start(now);
        }
    }

    /// Whether duplicates, a round trip after the first transmission of the bytes of `at` and
    /// without SACK, show that a later packet had arrived, though a later acknowledgment has reset
    /// their count.
    fn is_revealed(&self, at: Option<Index>) -> bool {
        let first = self.record.first_sent(at);
        !self.agreed.has_sack
            && first
                .zip(self.clock.soonest_answer())
                .is_some_and(|(sent, soonest)| self.recovery.has_duplicate_after(sent + soonest))
    }

    fn ack(&mut self, packet: &Packet) {
        let segment = &packet.segment;
        if !segment.flags.contains(Flags::ACK) || segment.flags.contains(Flags::RST) {
            return;
        }
        let Some(ack) = self.position(segment.acknowledgment) else {
            self.activity.ack(packet.time);
            return;
        };
        let una = self.board.una();
        let is_duplicate = self.is_duplicate(segment, ack);
        if is_duplicate {
            self.recovery.duplicate(packet.time);
        }
        self.window = Some(segment.window);
        if ack > self.board.end() {
            self.record.unseen(ack - self.board.end());
            self.unseen.acknowledged(self.board.end(), ack);
            self.record.gap(self.activity.last_data(), packet.time);
        }
        let has_dsack = self.dsack(segment, ack, packet.time);
        let is_crowded = self.is_crowded(segment, has_dsack);
        let delivered_before = self.board.delivered(ORIGIN);
        self.cover(segment, ack, packet.time, has_dsack);
        if ack > una {
            self.clock.start(packet.time);
            self.clock.backoff = 0;
            if let Some(since) = self.recovery.advance(ack) {
                self.record.recovery(since, packet.time);
            }
        }
        let sacked_high = self.board.highest_sacked();
        let delivered = self.board.delivered(ORIGIN);
        let newly = delivered.saturating_sub(delivered_before);
        let acknowledgment = Ack {
            time: packet.time,
            number: packet.number,
            acknowledged: ack,
            delivered,
            newly: u32::try_from(newly).unwrap_or(u32::MAX),
            in_flight: u32::try_from(self.board.open()).unwrap_or(u32::MAX),
            payload: segment.payload_bytes,
            window: self.scaled_window(segment),
            sacked_high: (sacked_high > self.board.una()).then_some(sacked_high),
            is_duplicate,
            has_dsack,
            // In a SYN it only negotiates ECN (RFC 3168 §6.1.1).
            has_echo: segment.flags.contains(Flags::ECE) && !segment.flags.contains(Flags::SYN),
            missing_before: 0,
            is_crowded,
            timestamp: segment.timestamps.map(|both| both.value),
            timestamp_echo: segment.timestamps.map(|both| both.echo),
        };
        self.record.ack(packet, acknowledgment);
        self.activity.ack(packet.time);
    }

    /// The position of a sequence number near the highest byte sent.
    fn position(&self, number: SequenceNumber) -> Option<u64> {
        self.stream.position(number, self.board.end())
    }

    /// Whether an ACK is a duplicate (RFC 5681 §2), or has SACK blocks instead.
    fn is_duplicate(&self, segment: &Segment, ack: u64) -> bool {
        ack == self.board.una()
            && segment.payload_bytes == 0
            && self.board.open() > 0
            && segment.flags.bits() & (Flags::SYN.bits() | Flags::FIN.bits()) == 0
            && (self.window == Some(segment.window) || !segment.tail.blocks().is_empty())
    }

    /// The window that a packet announces: that of a SYN is never scaled (RFC 7323 §2.2), and a
    /// closed one is closed at any scale.
    fn scaled_window(&self, segment: &Segment) -> Option<u64> {
        let scale = if segment.flags.contains(Flags::SYN) || segment.window == 0 {
            0
        } else {
            self.agreed.window_scale?
        };
        Some(u64::from(segment.window) << scale.min(14))
    }

    /// Assigns a D-SACK to the latest retransmission that it can refer to (RFC 2883 §4). Returns
    /// whether there is one.
    fn dsack(&mut self, segment: &Segment, ack: u64, now: Instant) -> bool {
        let blocks = segment.tail.blocks();
        let Some(first) = blocks.first() else {
            return false;
        };
        let Some((start, end)) = self.block(first) else {
            return false;
        };
        let is_within = blocks.get(1).is_some_and(|second| {
            !first.start.before(second.start) && !first.end.after(second.end)
        });
        if start >= ack && !is_within {
            return false;
        }
        // A D-SACK takes at least a round trip; half of one allows for a path that got shorter.
        let round_trip = self.clock.last_rtt().min(self.clock.srtt());
        let soonest = round_trip.unwrap_or_default() / 2;
        self.record.duplicate(start, end, now, soonest);
        true
    }

    /// Whether an ACK has as many SACK blocks as fit into it, and all of them are new. Receivers
    /// that answer each packet repeat blocks.
    fn is_crowded(&self, segment: &Segment, has_dsack: bool) -> bool {
        let blocks = &segment.tail.blocks()[usize::from(has_dsack)..];
        let is_new = |block: &SackBlock| {
            self.block(block).is_some_and(|(start, end)| {
                start < end && self.board.unsacked(start, end) == end - start
            })
        };
        blocks.len() + usize::from(has_dsack) >= CROWDED_BLOCKS && blocks.iter().all(is_new)
    }

    /// The positions of a SACK block.
    fn block(&self, block: &SackBlock) -> Option<(u64, u64)> {
        Some((self.position(block.start)?, self.position(block.end)?))
    }

    /// Processes data newly covered by an ACK: the answers, the RTT, the end of a silence, and
    /// evidence on the last timeout.
    fn cover(&mut self, segment: &Segment, ack: u64, now: Instant, has_dsack: bool) {
        let newly = ack.saturating_sub(self.board.una());
        let (stream, end) = (self.stream, self.board.end());
        let position = |number| stream.position(number, end);
        let blocks = segment.tail.blocks().iter();
        let blocks = blocks.filter_map(|block| position(block.start).zip(position(block.end)));
        let doubtful = self.recovery.doubtful_timeout();
        let report = Report {
            time: now,
            ack,
            echo: segment.timestamps.map(|both| both.echo),
            number: self.record.acks() as u32,
            at_once: IN_ORDER_SEGMENTS * u64::from(self.agreed.mss),
            has_dsack,
            timed_out: doubtful.and_then(|number| self.record.repair(number)),
        };
        let covered = covered::cover(&mut self.board, self.record.unanswered(), blocks, report);
        self.record.unseen(covered.unseen_bytes);
        if covered.originals
            && let Some(number) = self.recovery.settle_timeout()
            && self.are_late(number, newly, now)
        {
            self.record.originals_answered(number);
        }
        if let Some(ended_by) = covered.newest_sacked.or(covered.newest)
            && let Some(from) = self.activity.silence(now)
        {
            self.record.silence(Silence {
                from,
                to: now,
                ended_by,
                rtt: self.clock.last_rtt(),
            });
        }
        // A packet that fills a hole makes the receiver acknowledge earlier arrivals: only the SACK
        // of a packet, or an ACK without holes, is prompted by the packet itself.
        let prompted_by = covered
            .newest_sacked
            .or(covered.newest.filter(|_| !covered.has_repeated));
        if let Some(rtt) = prompted_by.and_then(|at| self.record.measure(at)) {
            self.clock.sample(rtt);
        }
    }

    /// Whether originals acknowledged after timeout `number` arrived after it. Without SACK they
    /// may have waited for the hole filled by the timeout's repair: then the acknowledgment jumps,
    /// a round trip after the repair.
    fn are_late(&self, number: usize, newly: u64, now: Instant) -> bool {
        let Some(repair) = self.record.repair(number) else {
            return false;
        };
        let took: Duration = now - self.record.sent(repair).time;
        let is_jump = newly > IN_ORDER_SEGMENTS * u64::from(self.agreed.mss);
        let soonest = self.clock.soonest_answer();
        self.agreed.has_sack || !is_jump || soonest.is_none_or(|soonest| took < soonest)
    }
}
