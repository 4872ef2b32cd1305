//! One pass over the packets of a flow: what was sent, what was acknowledged, and the
//! circumstances of everything that was sent more than once.

use std::collections::VecDeque;

use airtcp_packet::{Flags, Segment, SequenceNumber};
use airtcp_units::{Duration, Instant};

use super::agreed::Agreed;
use super::board::{Board, NONE, Overlap};
use super::clock::Clock;
use super::covered::Covered;
use super::found::{Ack, Followed, Repeat, Sent, Silence};
use super::label::Trigger;
use super::numbering::Numbering;
use super::trigger::{self, Circumstances};
use crate::packet::{Packet, Way};

/// Where the stream begins in our counting, so that what is below it has a number, too.
const ORIGIN: u64 = 1 << 32;
/// A sequence number this far from the highest is no part of the stream.
const FAR: u64 = 1 << 30;
/// Silence of ACKs below this is nothing to look at.
const LEAST_SILENCE: Duration = Duration::from_millis(60);
/// How many recent retransmissions are searched for the one a D-SACK reports.
const DSACK_REACH: usize = 4096;
/// In-order data that triggers an immediate ACK, with a margin.
const IN_ORDER_SEGMENTS: u64 = 3;
/// Round trips vary by the rest of this.
const JUST_BELOW_PERCENT: u64 = 95;
/// Ranges acknowledged unseen that are remembered, in case they come late.
const UNSEEN: usize = 256;

/// The state of the pass.
#[derive(Debug)]
pub(super) struct Follower {
    data_way: Way,
    agreed: Agreed,
    base: Option<SequenceNumber>,
    board: Board,
    /// Ranges that were acknowledged unseen, the latest of them.
    unseen: VecDeque<(u64, u64)>,
    clock: Clock,
    out: Followed,
    packets: u32,
    numbering: Numbering,
    delivered: u64,
    last_ack: Instant,
    last_data: Instant,
    last_rtt: Duration,
    /// Running minimum.
    least_rtt: Duration,
    duplicates: u32,
    /// When the last duplicate came.
    last_duplicate: Instant,
    last_window: u16,
    is_window_shut: bool,
    /// Up to here goes what a timeout left to repair, or a recovery.
    after_timeout: u64,
    recovery: u64,
    recovery_since: Option<Instant>,
    is_first: bool,
    /// The repeat of the last timeout that may have been needless.
    last_timeout: Option<usize>,
    /// When the bytes that are under way began to be.
    busy_since: Instant,
}

impl Follower {
    fn new(data_way: Way, agreed: Agreed) -> Self {
        Self {
            data_way,
            agreed,
            base: None,
            board: Board::new(ORIGIN),
            unseen: VecDeque::new(),
            clock: Clock::new(Instant::ZERO),
            out: Followed {
                sent: Vec::new(),
                acks: Vec::new(),
                repeats: Vec::new(),
                silences: Vec::new(),
                recoveries: Vec::new(),
                gaps: Vec::new(),
                holes: Vec::new(),
                unseen_bytes: 0,
                behind_ack: 0,
                end: Instant::ZERO,
                retried_frames: 0,
                reductions: 0,
            },
            packets: 0,
            numbering: Numbering::default(),
            delivered: 0,
            last_ack: Instant::ZERO,
            last_data: Instant::ZERO,
            last_rtt: Duration::ZERO,
            least_rtt: Duration::MAX,
            duplicates: 0,
            last_duplicate: Instant::ZERO,
            last_window: 0,
            is_window_shut: false,
            after_timeout: 0,
            recovery: 0,
            recovery_since: None,
            is_first: true,
            last_timeout: None,
            busy_since: Instant::ZERO,
        }
    }

    /// The pass over `packets`.
    pub fn follow(
        data_way: Way,
        agreed: Agreed,
        packets: impl Iterator<Item = Packet>,
    ) -> Followed {
        let mut follower = Self::new(data_way, agreed);
        for packet in packets {
            follower.take(&packet);
        }
        follower.finish()
    }

    /// Takes the next packet of the flow.
    fn take(&mut self, packet: &Packet) {
        self.out.end = packet.time;
        self.out.retried_frames += u64::from(packet.radio.is_retry);
        if packet.way == self.data_way {
            self.data(packet);
        } else {
            self.ack(packet);
        }
    }

    /// Ends the pass.
    fn finish(mut self) -> Followed {
        if let Some(since) = self.recovery_since.take() {
            self.out.recoveries.push((since, self.out.end));
        }
        // Offsets below are relative to the first byte of data.
        for sent in &mut self.out.sent {
            sent.start = sent.start.saturating_sub(ORIGIN);
            sent.end = sent.end.saturating_sub(ORIGIN);
        }
        for ack in &mut self.out.acks {
            ack.acknowledged = ack.acknowledged.saturating_sub(ORIGIN);
            ack.sacked_high = ack.sacked_high.map(|high| high.saturating_sub(ORIGIN));
        }
        self.out
    }

    /// A sequence number's place in the stream, near what is under way; `None` for one that cannot
    /// be of it.
    fn place(&self, number: SequenceNumber) -> Option<u64> {
        place_near(self.base, number, self.board.end())
    }

    fn data(&mut self, packet: &Packet) {
        let segment = &packet.segment;
        let index = self.packets;
        self.packets += 1;
        let length = u64::from(segment.sequence_length());
        if length == 0 || segment.flags.contains(Flags::RST) {
            return;
        }
        let is_syn = segment.flags.contains(Flags::SYN);
        self.out.reductions += u64::from(!is_syn && segment.flags.contains(Flags::CWR));
        if self.base.is_none() {
            // A SYN has the number before the first byte.
            self.base = Some(if is_syn {
                segment.sequence + 1
            } else {
                segment.sequence
            });
            self.board = Board::new(ORIGIN - u64::from(is_syn));
            self.clock.start(packet.time);
        }
        let Some(start) = self.place(segment.sequence) else {
            return;
        };
        let end = start + length;
        // A byte below what is acknowledged keeps a silent connection alive (RFC 9293 §3.8.4).
        if end <= self.board.una() && length == 1 && !is_syn {
            return;
        }
        let seen = self.circumstances(packet, start, end, is_syn);
        let was_idle = self.board.open() == 0;
        if start > self.board.end() {
            self.out.holes.push((self.last_data, packet.time));
        }
        let at = self.out.sent.len() as u32;
        let was_acknowledged = end <= self.board.una();
        let is_behind = was_acknowledged && self.is_behind_ack(start, end);
        let overlap = if was_acknowledged {
            Overlap {
                fresh: 0,
                attempts: u32::from(!is_behind),
                previous: NONE,
                filled: 0,
                acknowledged: true,
                sacked: false,
            }
        } else {
            self.board.send(start, end, at)
        };
        if was_idle {
            self.busy_since = packet.time;
            self.clock.start(packet.time);
        }
        self.out.sent.push(Sent {
            time: packet.time,
            number: packet.number,
            index,
            start,
            end,
            ip_bytes: ip_bytes(packet),
            attempt: overlap.attempts,
            in_flight: u32::try_from(self.board.open()).unwrap_or(u32::MAX),
            acknowledged: Instant::FAR_FUTURE,
            is_measured: false,
            is_lost: false,
            lost_to: None,
            radio_retry: packet.radio.is_retry,
            is_marked: segment.ecn == airtcp_packet::Ecn::CongestionExperienced,
            is_short: segment.payload_bytes == 0
                || !segment.payload_bytes.is_multiple_of(self.agreed.mss.max(1)),
            meets_full_queue: false,
            is_refused: !was_acknowledged && !overlap.sacked && self.is_outdated(segment),
            timestamp: segment.timestamps.map(|both| both.value),
            identification: packet.identification,
            previous: overlap.previous,
            repeat: NONE,
        });
        if overlap.attempts > 0 || overlap.filled > 0 {
            self.repeat(&seen, &overlap, at, was_acknowledged);
        }
        self.last_data = packet.time;
    }

    /// Whether a segment's timestamp is older than the receiver's last echo by more than the tick
    /// that Linux tolerates (`TCP_PAWS_WINDOW`).
    fn is_outdated(&self, segment: &Segment) -> bool {
        let echo = self.out.acks.last().and_then(|ack| ack.timestamp_echo);
        match (echo, segment.timestamps) {
            (Some(echo), Some(both)) => echo.wrapping_sub(both.value).cast_signed() > 1,
            _ => false,
        }
    }

    /// Whether these bytes were acknowledged before they were first seen.
    fn is_behind_ack(&mut self, start: u64, end: u64) -> bool {
        let unseen = self
            .unseen
            .iter_mut()
            .rev()
            .find(|range| range.0 < end && start < range.1);
        let Some(range) = unseen else {
            return false;
        };
        if range.0 == start {
            range.0 = end.min(range.1);
        }
        self.out.behind_ack += 1;
        self.out.unseen_bytes = self.out.unseen_bytes.saturating_sub(end - start);
        true
    }

    fn circumstances(&self, packet: &Packet, start: u64, end: u64, is_syn: bool) -> Circumstances {
        Circumstances {
            is_syn,
            since_ack: packet.time - self.last_ack,
            silence: self.clock.elapsed(packet.time),
            timeout: self.clock.timeout(),
            srtt: self.clock.srtt(),
            is_lowest: start <= self.board.una(),
            is_highest: end >= self.board.end(),
            is_sacked_above: self.board.is_sacked_above(start),
            duplicates: self.duplicates,
            is_after_timeout: start < self.after_timeout,
            is_in_recovery: start < self.recovery,
            is_first: self.is_first,
            has_sack: self.agreed.has_sack,
            is_window_shut: self.is_window_shut,
        }
    }

    /// Notes a packet that was sent before, or fills a hole.
    fn repeat(&mut self, seen: &Circumstances, overlap: &Overlap, at: u32, was_acknowledged: bool) {
        let trigger = trigger::of(seen);
        let number = self.out.repeats.len();
        let sent = &mut self.out.sent[at as usize];
        sent.repeat = number as u32;
        let (now, start) = (sent.time, sent.start);
        let fills = overlap.attempts == 0;
        self.out.repeats.push(Repeat {
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
            revealed_by: if fills { self.revealing(at) } else { NONE },
        });
        if fills || was_acknowledged {
            return;
        }
        self.is_first = false;
        match trigger {
            Some(Trigger::Timeout) => {
                self.clock.backoff += 1;
                self.after_timeout = self.board.end();
                self.recovery = 0;
                if self.duplicates == 0
                    && !seen.is_sacked_above
                    && !self.is_revealed(overlap.previous)
                {
                    self.last_timeout = Some(number);
                }
                self.recovery_since.get_or_insert(now);
            }
            Some(Trigger::Fast) if self.recovery == 0 => {
                self.recovery = self.board.end();
                self.recovery_since.get_or_insert(now);
            }
            _ => {}
        }
        if seen.is_lowest || trigger == Some(Trigger::TailProbe) {
            self.clock.start(now);
        }
    }

    /// Whether duplicates that came a round trip after the bytes of transmission `at` were first
    /// sent, without SACK, tell that something behind them had arrived, though a later
    /// acknowledgment has ended their count.
    fn is_revealed(&self, at: u32) -> bool {
        let mut sent = self.out.sent.get(at as usize);
        while let Some(previous) = sent.and_then(|sent| self.out.sent.get(sent.previous as usize)) {
            sent = Some(previous);
        }
        !self.agreed.has_sack
            && self.least_rtt < Duration::MAX
            && sent.is_some_and(|sent| {
                self.last_duplicate > sent.time + self.least_rtt * JUST_BELOW_PERCENT / 100
            })
    }

    /// The packet that revealed the hole which transmission `at` fills: the first that passed
    /// above it.
    fn revealing(&self, at: u32) -> u32 {
        let end = self.out.sent[at as usize].end;
        (0..at)
            .rev()
            .take(DSACK_REACH)
            .map(|other| (other, &self.out.sent[other as usize]))
            // Other repairs of the same time stand in between.
            .take_while(|(_, sent)| sent.start >= end || sent.repeat != NONE)
            .filter(|(_, sent)| sent.start >= end)
            .last()
            .map(|(other, _)| other)
            .unwrap_or(NONE)
    }

    fn ack(&mut self, packet: &Packet) {
        let segment = &packet.segment;
        if !segment.flags.contains(Flags::ACK) || segment.flags.contains(Flags::RST) {
            return;
        }
        let Some(ack) = self.place(segment.acknowledgment) else {
            self.last_ack = packet.time;
            return;
        };
        let una = self.board.una();
        let is_duplicate = ack == una
            && segment.payload_bytes == 0
            && self.board.open() > 0
            && segment.flags.bits() & (Flags::SYN.bits() | Flags::FIN.bits()) == 0
            && (segment.window == self.last_window || !segment.sack.is_empty());
        if is_duplicate {
            self.duplicates += 1;
            self.last_duplicate = packet.time;
        }
        self.last_window = segment.window;
        self.is_window_shut = segment.window == 0;
        if ack > self.board.end() {
            self.out.unseen_bytes += ack - self.board.end();
            if self.unseen.len() >= UNSEEN {
                self.unseen.pop_front();
            }
            self.unseen.push_back((self.board.end(), ack));
            self.out.gaps.push((self.last_data, packet.time));
        }
        let has_dsack = self.dsack(segment, ack, packet.time);
        let newly = self.cover(segment, ack, packet.time);
        if ack > una {
            self.advance(ack, packet.time);
        }
        let sacked_high = self.board.highest_sacked();
        let missing_before = self.numbering.missing_before(packet);
        self.out.acks.push(Ack {
            time: packet.time,
            number: packet.number,
            acknowledged: ack,
            delivered: self.delivered,
            newly: u32::try_from(newly).unwrap_or(u32::MAX),
            in_flight: u32::try_from(self.board.open()).unwrap_or(u32::MAX),
            window: self.window(segment),
            sacked_high: (sacked_high > self.board.una()).then_some(sacked_high),
            is_duplicate,
            has_dsack,
            // In a SYN it only offers to report (RFC 3168 §6.1.1).
            has_echo: segment.flags.contains(Flags::ECE) && !segment.flags.contains(Flags::SYN),
            missing_before,
            timestamp_echo: segment.timestamps.map(|both| both.echo),
        });
        self.last_ack = packet.time;
    }

    /// The window that a packet announces: that of a SYN is never scaled (RFC 7323 §2.2).
    fn window(&self, segment: &Segment) -> Option<u64> {
        let scale = if segment.flags.contains(Flags::SYN) {
            0
        } else {
            self.agreed.window_scale?
        };
        Some(u64::from(segment.window) << scale.min(14))
    }

    /// Ends what a new acknowledgment ends.
    fn advance(&mut self, ack: u64, now: Instant) {
        self.duplicates = 0;
        self.is_first = true;
        self.clock.start(now);
        self.clock.backoff = 0;
        if ack >= self.after_timeout {
            self.last_timeout = None;
        }
        if ack >= self.recovery {
            self.recovery = 0;
        }
        if ack >= self.after_timeout
            && self.recovery == 0
            && let Some(since) = self.recovery_since.take()
        {
            self.out.recoveries.push((since, now));
        }
    }

    /// Gives a D-SACK to the latest retransmission that it can be of (RFC 2883 §4).
    fn dsack(&mut self, segment: &Segment, ack: u64, now: Instant) -> bool {
        let blocks = segment.sack.as_slice();
        let Some(first) = blocks.first() else {
            return false;
        };
        let (Some(start), Some(end)) = (self.place(first.start), self.place(first.end)) else {
            return false;
        };
        let is_within = blocks.get(1).is_some_and(|second| {
            !first.start.before(second.start) && !first.end.after(second.end)
        });
        if start >= ack && !is_within {
            return false;
        }
        // The report takes at least a round trip; half of one allows for a path that got shorter.
        let soonest = self.last_rtt.min(self.clock.srtt()) / 2;
        for repeat in self.out.repeats.iter_mut().rev().take(DSACK_REACH) {
            let sent = &self.out.sent[repeat.sent as usize];
            if sent.start < end
                && start < sent.end
                && !repeat.is_duplicate
                && !repeat.fills
                && now - sent.time >= soonest
            {
                repeat.is_duplicate = true;
                break;
            }
        }
        true
    }

    /// Notes what an ACK covers newly; how many bytes.
    fn cover(&mut self, segment: &Segment, ack: u64, now: Instant) -> u64 {
        let timed_out = self
            .last_timeout
            .map_or(0, |number| self.out.repeats[number].sent);
        let mut covered = Covered {
            sent: &mut self.out.sent,
            repeats: &mut self.out.repeats,
            now,
            timed_out,
            echo: segment.timestamps.map(|both| both.echo),
            una: self.board.una(),
            newest: NONE,
            has_repeated: false,
            originals: false,
            asks_for: self.board.last_of(ack),
            hole: self.board.last_of(self.board.una()),
            newly: ack.saturating_sub(self.board.una()),
            number: self.out.acks.len() as u32,
        };
        let mut newest_sacked = NONE;
        let mut unseen = 0;
        for block in segment.sack.as_slice() {
            let (Some(start), Some(end)) = (
                place_near(self.base, block.start, self.board.end()),
                place_near(self.base, block.end, self.board.end()),
            ) else {
                continue;
            };
            // A D-SACK that lies below the acknowledgment tells nothing new.
            if end <= ack {
                continue;
            }
            covered.newest = NONE;
            self.board.sack(start, end, |piece| {
                unseen += piece.unseen_bytes();
                covered.take(piece, true);
            });
            if covered.newest != NONE && newest_sacked == NONE {
                newest_sacked = covered.newest;
            }
        }
        let is_behind_sacked = newest_sacked != NONE;
        covered.newest = NONE;
        covered.has_repeated = false;
        self.board.acknowledge(ack, |piece| {
            if piece.sacked {
                covered.has_repeated = true;
            } else {
                unseen += piece.unseen_bytes();
                covered.take(piece, false);
            }
        });
        let (newest, originals) = (covered.newest, covered.originals);
        let newly_acknowledged = covered.newly;
        let has_repeated = covered.has_repeated;
        self.out.unseen_bytes += unseen;
        if originals && let Some(number) = self.last_timeout {
            self.last_timeout = None;
            if self.are_late(number, newly_acknowledged, now) {
                self.take_back(number);
            }
        }
        let ended_by = if is_behind_sacked {
            newest_sacked
        } else {
            newest
        };
        if ended_by != NONE {
            self.silence(ended_by, now);
        }
        // What fills a hole makes the receiver acknowledge what had come before: only the SACK of a
        // packet, or an ACK without holes, is prompted by the packet itself.
        if !has_repeated && newest != NONE && !is_behind_sacked {
            self.sample(newest);
        }
        if is_behind_sacked {
            self.sample(newest_sacked);
        }
        let before = std::mem::replace(&mut self.delivered, self.board.delivered(ORIGIN));
        self.delivered.saturating_sub(before)
    }

    /// Whether originals that are acknowledged after timeout `number` arrived after it. Without
    /// SACK they may have waited behind the hole that the timeout's repair filled: then the
    /// acknowledgment jumps, a round trip after the repair.
    fn are_late(&self, number: usize, newly: u64, now: Instant) -> bool {
        let Some(repair) = self.out.repeats.get(number) else {
            return false;
        };
        let took = now - self.out.sent[repair.sent as usize].time;
        let is_jump = newly > IN_ORDER_SEGMENTS * u64::from(self.agreed.mss);
        self.agreed.has_sack || !is_jump || took * 100 < self.least_rtt * JUST_BELOW_PERCENT
    }

    /// Notes that timeout number `number`, and those before it of the same bytes, were answered by
    /// originals.
    fn take_back(&mut self, number: usize) {
        let mut next = self.out.repeats.get_mut(number);
        while let Some(repeat) = next
            && repeat.trigger == Some(Trigger::Timeout)
        {
            repeat.originals_acknowledged = true;
            let previous = self.out.sent[repeat.sent as usize].previous;
            let before = self.out.sent.get(previous as usize);
            next = before.and_then(|sent| self.out.repeats.get_mut(sent.repeat as usize));
        }
    }

    /// Takes a round-trip time from a transmission that was just covered (RFC 6298 §3: never of
    /// what was sent twice).
    fn sample(&mut self, newest: u32) {
        let sent = &mut self.out.sent[newest as usize];
        if sent.attempt > 0 || sent.acknowledged == Instant::FAR_FUTURE {
            return;
        }
        sent.is_measured = true;
        self.last_rtt = sent.acknowledged - sent.time;
        self.least_rtt = self.least_rtt.min(self.last_rtt);
        self.clock.sample(self.last_rtt);
    }

    /// Notes a silence of the ACKs that an acknowledgment at `now` ends.
    fn silence(&mut self, ended_by: u32, now: Instant) {
        let from = self.last_ack.max(self.busy_since);
        if now - from >= LEAST_SILENCE {
            self.out.silences.push(Silence {
                from,
                to: now,
                ended_by,
                rtt: self.last_rtt,
            });
        }
    }
}

/// A sequence number's place in the stream, near `near`.
fn place_near(base: Option<SequenceNumber>, number: SequenceNumber, near: u64) -> Option<u64> {
    let low = SequenceNumber(number.0.wrapping_sub(base?.0).wrapping_add(ORIGIN as u32));
    let place = low.expand(near);
    (place.abs_diff(near) < FAR).then_some(place)
}

/// Length of the IP packet, without IP options.
fn ip_bytes(packet: &Packet) -> u32 {
    packet.segment.ip_bytes()
}
