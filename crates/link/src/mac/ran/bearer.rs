//! A bearer in one direction: RLC's queue, the packets in transit, and both ends of RLC and PDCP.

use std::collections::{BTreeMap, VecDeque};

use airtcp_units::{Duration, Instant};

use super::config::{Generation, PdcpConfig, RlcConfig};
use super::pdcp::Reordering;
use super::rlc::{Bytes, DataPdu, LENGTH_INDICATOR, MAX_HEADER, Receiver, Status, Transmitter};
use crate::frame::{Offer, QueuedPacket, Transmission, Urgency};
use crate::queue::managed::ManagedQueue;
use crate::queue::{Discipline, EcnField, QueueLimit};
use crate::random::Stream;
use crate::scheduler::deadline::DeadlineOrder;

/// A packet that left the queue and has not reached its receiver's network layer.
#[derive(Clone, Copy, Debug)]
struct InTransit<P> {
    packet: P,
    flow: u32,
    /// Its size, PDCP's header included.
    bytes: u64,
    /// Its sender's timer, if an agent knows it.
    timer: Option<Urgency>,
}

/// Fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PacketFate<P> {
    /// It is delivered; transmissions of its last block and retransmissions by RLC.
    Delivered(P, u32),
    /// It is lost on the air.
    Lost(P, u32),
    /// It left the queue unsent: the discipline, or PDCP's timer.
    Dropped(P),
}

/// A bearer in one direction.
#[derive(Clone, Debug)]
pub(super) struct Bearer<P> {
    generation: Generation,
    rlc: RlcConfig,
    discard: Option<Duration>,
    queue: ManagedQueue<P>,
    /// Packets handed over.
    pushed: u64,
    /// Packets in transit from number `first` on; `None` for one whose fate is known.
    packets: VecDeque<Option<InTransit<P>>>,
    first: u64,
    /// The stream of bytes: the end of each packet that has not arrived, and its number.
    stream: VecDeque<(u64, u64)>,
    /// End of the stream, and end of the part with sequence numbers.
    taken: u64,
    numbered: u64,
    /// Timers of the senders of packets in the queue, by the packets' numbers.
    timers: BTreeMap<u64, Urgency>,
    pub retransmission_order: Option<DeadlineOrder>,
    pub transmitter: Transmitter,
    pub receiver: Receiver,
    order: Reordering,
    fates: VecDeque<PacketFate<P>>,
}

impl<P: Copy + EcnField> Bearer<P> {
    pub(super) fn new(
        generation: Generation,
        (rlc, pdcp): (RlcConfig, PdcpConfig),
        (discipline, limit): (Discipline, QueueLimit),
        order: Option<DeadlineOrder>,
        draws: Stream,
    ) -> Self {
        Self {
            generation,
            rlc,
            discard: pdcp.discard,
            queue: ManagedQueue::of(discipline, limit, draws),
            pushed: 0,
            packets: VecDeque::new(),
            first: 0,
            stream: VecDeque::new(),
            taken: 0,
            numbered: 0,
            timers: BTreeMap::new(),
            retransmission_order: order,
            transmitter: Transmitter::new(generation, rlc),
            receiver: Receiver::new(generation, rlc),
            order: Reordering::new(pdcp.reordering),
            fates: VecDeque::new(),
        }
    }

    /// Adds a packet to RLC's queue; returns `false` if there is no room.
    pub(super) fn push(&mut self, now: Instant, offer: Offer, packet: P) -> bool {
        let index = self.pushed;
        self.pushed += 1;
        let admitted = self.queue.push(QueuedPacket {
            packet,
            transmission: Transmission {
                bytes: offer.bytes.max(1),
                flow: offer.flow,
                index,
            },
            is_lost: false,
            since: now,
        });
        if admitted && let Some(timer) = offer.urgency {
            self.timers.insert(index, timer);
        }
        self.collect_dropped();
        admitted
    }

    /// Packets in the queue.
    pub(super) fn queued(&self) -> usize {
        self.queue.packets()
    }

    /// Bytes to be sent, with an estimate of their headers.
    pub(super) fn backlog(&self) -> u64 {
        let new = if self.transmitter.is_open() {
            let headers = MAX_HEADER + self.pdcp_header();
            self.queue.bytes() + self.queue.packets() as u64 * headers + self.taken - self.numbered
        } else {
            0
        };
        self.transmitter.backlog() + new
    }

    /// Whether nothing is to be sent, in transit, or waited for.
    pub(super) fn is_idle(&self) -> bool {
        self.queue.packets() == 0
            && self.packets.is_empty()
            && self.transmitter.is_idle()
            && self.receiver.is_idle()
            && !self.order.is_waiting()
    }

    /// The next fate that became known.
    pub(super) fn take_fate(&mut self) -> Option<PacketFate<P>> {
        self.fates.pop_front()
    }

    /// The oldest packet in transit, and its flow.
    pub(super) fn oldest(&self) -> Option<(P, u32)> {
        let oldest = self.packets.iter().flatten().next();
        oldest.map(|known| (known.packet, known.flow))
    }

    /// Bytes of PDCP's header: numbers of 12 bits in LTE (TS 36.323 §6.2.3) and of 18 in NR (TS
    /// 38.323 §6.2.2.3).
    const fn pdcp_header(&self) -> u64 {
        match self.generation {
            Generation::Lte => 2,
            Generation::Nr => 3,
        }
    }

    /// Fills `room` bytes of a transport block: retransmissions first.
    pub(super) fn fill(&mut self, now: Instant, room: u64, pdus: &mut Vec<DataPdu>) {
        let mut left = room;
        let before = pdus.len();
        while let Some((pdu, bytes)) = self.transmitter.retransmit(self.next_missing(now), left) {
            pdus.push(pdu);
            left = left.saturating_sub(bytes);
        }
        loop {
            let has_more = self.transmitter.has_unsent_part()
                || self.transmitter.is_open() && self.number_next(now, left);
            if !has_more {
                break;
            }
            let Some((pdu, bytes)) = self.transmitter.send(left) else {
                break;
            };
            pdus.push(pdu);
            left = left.saturating_sub(bytes);
            if self.generation == Generation::Lte {
                break;
            }
        }
        let is_empty = self.queue.packets() == 0 && self.taken == self.numbered;
        self.transmitter.leave(now, &mut pdus[before..], is_empty);
    }

    /// Gives the next range of the stream a sequence number; `false` without any, or without room
    /// for any of it.
    fn number_next(&mut self, now: Instant, left: u64) -> bool {
        let Some(mut room) = left.checked_sub(MAX_HEADER).filter(|room| *room > 0) else {
            return false;
        };
        let end = match self.generation {
            Generation::Nr => {
                if self.taken == self.numbered && !self.take_packet(now) {
                    return false;
                }
                let place = self
                    .stream
                    .partition_point(|(end, _)| *end <= self.numbered);
                match self.stream.get(place) {
                    Some((end, _)) => *end,
                    None => return false,
                }
            }
            Generation::Lte => {
                let has_rest = self.taken > self.numbered;
                if !has_rest && !self.take_packet(now) {
                    return false;
                }
                while self.taken - self.numbered + LENGTH_INDICATOR < room && self.take_packet(now)
                {
                    room -= LENGTH_INDICATOR;
                }
                self.taken.min(self.numbered + room)
            }
        };
        self.transmitter.number(Bytes {
            start: self.numbered,
            end,
        });
        self.numbered = end;
        true
    }

    /// Takes the next packet from the queue to the stream. Packets that waited for longer than
    /// `discardTimer` are dropped as they would be taken (TS 36.323 §5.4, TS 38.323 §5.3).
    fn take_packet(&mut self, now: Instant) -> bool {
        let taken = loop {
            let Some(queued) = self.queue.dequeue(now) else {
                break None;
            };
            let timer = self.timers.remove(&queued.transmission.index);
            let waited = now - queued.since;
            if self.discard.is_none_or(|most| waited <= most) {
                break Some((queued, timer));
            }
            self.fates.push_back(PacketFate::Dropped(queued.packet));
        };
        self.collect_dropped();
        if self.queue.packets() == 0 {
            // The rest belong to packets that were dropped.
            self.timers.clear();
        }
        let Some((queued, timer)) = taken else {
            return false;
        };
        let bytes = u64::from(queued.transmission.bytes) + self.pdcp_header();
        self.taken += bytes;
        let number = self.first + self.packets.len() as u64;
        self.stream.push_back((self.taken, number));
        self.packets.push_back(Some(InTransit {
            packet: queued.packet,
            flow: queued.transmission.flow,
            bytes,
            timer,
        }));
        true
    }

    /// Timers of the senders of the packets in a range of the stream, where they are known.
    pub(super) fn timers(&self, part: Bytes) -> impl Iterator<Item = Option<Urgency>> {
        let first = self.stream.partition_point(|(end, _)| *end <= part.start);
        let packets = self.stream.range(first..).filter_map(|(end, number)| {
            let place = usize::try_from(number.checked_sub(self.first)?).ok()?;
            let known = self.packets.get(place)?.as_ref()?;
            Some((end - known.bytes, known.timer))
        });
        packets
            .take_while(move |(start, _)| *start < part.end)
            .map(|(_, timer)| timer)
    }

    fn collect_dropped(&mut self) {
        while let Some((packet, _)) = self.queue.discarded.pop_front() {
            self.fates.push_back(PacketFate::Dropped(packet));
        }
    }

    /// PDUs of a decoded block arrive, after `transmissions` of it.
    pub(super) fn receive(&mut self, now: Instant, pdus: &[DataPdu], transmissions: u32) {
        for pdu in pdus {
            self.receiver.on_pdu(now, pdu);
            self.collect_arrived(now, transmissions + pdu.retransmissions);
        }
    }

    fn collect_arrived(&mut self, now: Instant, attempts: u32) {
        match self.generation {
            Generation::Lte => {
                while let Some(&(end, number)) = self.stream.front()
                    && end <= self.receiver.in_order()
                {
                    self.stream.pop_front();
                    self.deliver(number, attempts);
                }
            }
            Generation::Nr => {
                while let Some(end) = self.receiver.take_complete() {
                    let place = self.stream.partition_point(|(other, _)| *other < end);
                    let Some((_, number)) = self.stream.remove(place) else {
                        continue;
                    };
                    if !self.order.on_packet(now, number) {
                        self.lose(number, attempts);
                    }
                }
                self.collect_ordered(attempts);
            }
        }
    }

    fn collect_ordered(&mut self, attempts: u32) {
        while let Some(number) = self.order.take() {
            self.deliver(number, attempts);
        }
    }

    fn slot_of(&mut self, number: u64) -> Option<&mut Option<InTransit<P>>> {
        let place = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.packets.get_mut(place)
    }

    fn deliver(&mut self, number: u64, attempts: u32) {
        if let Some(known) = self.slot_of(number).and_then(Option::take) {
            self.fates
                .push_back(PacketFate::Delivered(known.packet, attempts));
        }
        self.trim();
    }

    fn lose(&mut self, number: u64, attempts: u32) {
        if let Some(known) = self.slot_of(number).and_then(Option::take) {
            self.fates
                .push_back(PacketFate::Lost(known.packet, attempts));
        }
        self.trim();
    }

    fn trim(&mut self) {
        while let Some(None) = self.packets.front() {
            self.packets.pop_front();
            self.first += 1;
        }
    }

    /// PDUs of a block that no further transmission repeats. RLC in acknowledged mode finds out by
    /// a status; in unacknowledged mode their packets are lost.
    pub(super) fn lose_block(&mut self, pdus: &[DataPdu], transmissions: u32) {
        if self.transmitter.is_acknowledged() {
            return;
        }
        for pdu in pdus {
            let part = pdu.part;
            let mut place = self.stream.partition_point(|(end, _)| *end <= part.start);
            let mut start = part.start;
            while start < part.end
                && let Some(&(end, number)) = self.stream.get(place)
            {
                self.lose(number, transmissions);
                start = end;
                match self.generation {
                    Generation::Lte => place += 1,
                    Generation::Nr => {
                        self.stream.remove(place);
                    }
                }
            }
        }
    }

    /// A status of the receiver reaches the transmitter; `true` if the radio link has failed: a PDU
    /// was retransmitted as often as it may be.
    pub(super) fn on_status(&mut self, status: &Status) -> bool {
        self.transmitter.on_status(status);
        self.transmitter.take_failure()
    }

    /// Expiry of timers; `true` if the radio link has failed.
    pub(super) fn on_time(&mut self, now: Instant) -> bool {
        let is_empty = self.queue.packets() == 0 && self.taken == self.numbered;
        self.transmitter.on_time(now, is_empty);
        self.receiver.on_time(now);
        self.collect_arrived(now, 1);
        self.order.on_time(now);
        self.collect_ordered(1);
        self.transmitter.take_failure()
    }

    /// RLC is re-established, as at a handover or after a radio link failure (TS 36.331 §5.3.5.4,
    /// TS 38.331 §5.3.5.5). Without loss, packets that did not arrive are retransmitted, in order
    /// (TS 36.323 §5.2.1.1, TS 38.323 §5.1.2); else they are lost.
    pub(super) fn re_establish(&mut self, without_loss: bool) {
        self.transmitter = Transmitter::new(self.generation, self.rlc);
        self.receiver = Receiver::new(self.generation, self.rlc);
        let unarrived: Vec<(u64, u64)> = self.stream.drain(..).collect();
        (self.taken, self.numbered) = (0, 0);
        for (_, number) in unarrived {
            let Some(bytes) = self
                .slot_of(number)
                .and_then(|known| known.map(|it| it.bytes))
            else {
                continue;
            };
            if without_loss {
                self.taken += bytes;
                self.stream.push_back((self.taken, number));
            } else {
                self.lose(number, 1);
            }
        }
    }
}
