//! A user of a cell: its queue, its packets in transit, and their reordering.

use std::collections::VecDeque;

use crate::frame::Offer;
use crate::queue::QueueLimit;

/// A packet for the user.
#[derive(Clone, Copy, Debug)]
struct QueuedPacket<P> {
    packet: P,
    flow: u32,
    /// Bytes that no block holds yet.
    unsent: u64,
    /// Whether a part of it was discarded.
    is_torn: bool,
}

/// A block in transit.
#[derive(Clone, Copy, Debug)]
struct Block {
    state: State,
    attempts: u32,
    /// Number of packets that end in it.
    ends: u32,
    /// Whether it holds a part of a packet that does not end in it.
    goes_on: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    OnAir,
    /// To be retransmitted, not before that slot.
    Damaged(u64),
    Arrived,
    GivenUp,
}

/// A packet that the link has finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FinishedPacket<P> {
    pub packet: P,
    /// Whether it arrived completely.
    pub is_whole: bool,
    /// Transmissions of its last block.
    pub attempts: u32,
}

/// A user.
#[derive(Clone, Debug)]
pub(super) struct User<P> {
    limit: QueueLimit,
    /// Whether the user is saturated: always backlogged, with data that belongs to no packet.
    is_saturated: bool,
    /// All packets that the link has not finished, oldest first.
    packets: VecDeque<QueuedPacket<P>>,
    /// Number of them, the oldest, that are entirely in blocks.
    sent: usize,
    /// Bytes of the others.
    unsent_bytes: u64,
    blocks: VecDeque<Block>,
    done: VecDeque<FinishedPacket<P>>,
    attempts: u64,
    pub on_air_is_damaged: bool,
    /// Bits that its slots could have carried.
    pub served_bits: f64,
}

impl<P: Copy> User<P> {
    pub fn new(limit: QueueLimit, is_saturated: bool) -> Self {
        Self {
            limit,
            is_saturated,
            packets: VecDeque::new(),
            sent: 0,
            unsent_bytes: 0,
            blocks: VecDeque::new(),
            done: VecDeque::new(),
            attempts: 0,
            on_air_is_damaged: false,
            served_bits: 0.0,
        }
    }

    /// Adds a packet; returns `false` if there is no room.
    pub fn push(&mut self, offer: Offer, packet: P) -> bool {
        let bytes = offer.bytes.max(1);
        let has_room = self
            .limit
            .has_room(self.waiting(), self.unsent_bytes, bytes);
        let bytes = u64::from(bytes);
        if has_room {
            self.unsent_bytes += bytes;
            self.packets.push_back(QueuedPacket {
                packet,
                flow: offer.flow,
                unsent: bytes,
                is_torn: false,
            });
        }
        has_room
    }

    /// Number of packets queued, whole or in part.
    pub fn waiting(&self) -> usize {
        self.packets.len() - self.sent
    }

    /// Whether there is nothing to send now or later.
    pub fn is_idle(&self) -> bool {
        !self.is_saturated && self.packets.is_empty()
    }

    /// Whether it has a block to send in `slot`.
    pub fn has_work(&self, slot: u64) -> bool {
        self.is_saturated || self.waiting() > 0 || self.due_block(slot).is_some()
    }

    /// The flow of the oldest packet.
    pub fn flow(&self) -> u32 {
        self.packets.front().map_or(0, |waiting| waiting.flow)
    }

    /// Number of the attempt that begins, which addresses the draws.
    pub const fn next_attempt(&mut self) -> u64 {
        let attempt = self.attempts;
        self.attempts += 1;
        attempt
    }

    /// Starts a retransmission that is due, or else a new block of up to `bytes`; returns its
    /// number of earlier transmissions. `None` for a user that takes its slots without packets.
    pub fn begin_block(&mut self, bytes: u64, slot: u64) -> Option<u32> {
        if let Some(index) = self.due_block(slot) {
            let block = &mut self.blocks[index];
            block.state = State::OnAir;
            block.attempts += 1;
            return Some(block.attempts);
        }
        let (mut left, mut ends) = (bytes.max(1), 0);
        let mut goes_on = false;
        while let Some(waiting) = self.packets.get_mut(self.sent)
            && left > 0
        {
            let taken = waiting.unsent.min(left);
            waiting.unsent -= taken;
            self.unsent_bytes -= taken;
            left -= taken;
            goes_on = waiting.unsent > 0;
            if !goes_on {
                self.sent += 1;
                ends += 1;
            }
        }
        if ends == 0 && !goes_on {
            return None;
        }
        self.blocks.push_back(Block {
            state: State::OnAir,
            attempts: 1,
            ends,
            goes_on,
        });
        Some(1)
    }

    /// The slot of the block on the air is over. A damaged one may be retransmitted from slot `due`
    /// on, unless its attempts are used up; then its oldest packet and the attempts are returned.
    pub fn end_block(&mut self, due: u64, is_used_up: impl Fn(u32) -> bool) -> Option<(P, u32)> {
        let damaged = self.on_air_is_damaged;
        let block = self
            .blocks
            .iter_mut()
            .find(|block| block.state == State::OnAir)?;
        block.state = match damaged {
            false => State::Arrived,
            true if is_used_up(block.attempts) => State::GivenUp,
            true => State::Damaged(due),
        };
        let attempts = block.attempts;
        let oldest = self.packets.front().map(|waiting| waiting.packet);
        let is_retried = matches!(block.state, State::Damaged(_));
        self.settle();
        oldest
            .filter(|_| is_retried)
            .map(|packet| (packet, attempts))
    }

    /// The next packet that the link has finished.
    pub fn take_done(&mut self) -> Option<FinishedPacket<P>> {
        self.done.pop_front()
    }

    /// The oldest block to be retransmitted.
    fn due_block(&self, slot: u64) -> Option<usize> {
        let is_due = |block: &Block| matches!(block.state, State::Damaged(due) if due <= slot);
        self.blocks.iter().position(is_due)
    }

    /// Releases packets in order: once their blocks, and all earlier ones, have arrived or were
    /// given up.
    fn settle(&mut self) {
        while let Some(block) = self.blocks.front()
            && matches!(block.state, State::Arrived | State::GivenUp)
        {
            let block = *block;
            self.blocks.pop_front();
            let is_lost = block.state == State::GivenUp;
            for _ in 0..block.ends {
                let Some(waiting) = self.packets.pop_front() else {
                    return;
                };
                self.sent -= 1;
                self.done.push_back(FinishedPacket {
                    packet: waiting.packet,
                    is_whole: !(is_lost || waiting.is_torn),
                    attempts: block.attempts,
                });
            }
            if block.goes_on
                && let Some(waiting) = self.packets.front_mut()
            {
                waiting.is_torn |= is_lost;
            }
        }
    }
}
