//! Packets of flows in a bounded store: chains of small blocks from one pool.

use crate::index::Index;
use crate::packet::{Packet, Slot};

/// Slots in a block.
const BLOCK_SLOTS: usize = 16;

/// Stored packets of one flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chain {
    first: Option<Index>,
    last: Option<Index>,
    /// Slots in use.
    slots: u32,
    state: State,
}

/// Completeness of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// All packets stored.
    Whole,
    /// The packets up to a certain one: then there was no room.
    Cut,
    /// No packets, to make room for larger flows, or because they were not to be stored.
    Released,
}

impl Chain {
    /// An empty chain that accepts packets.
    pub const EMPTY: Self = Self {
        first: None,
        last: None,
        slots: 0,
        state: State::Whole,
    };
    /// A chain that accepts no packets.
    pub const CLOSED: Self = Self {
        state: State::Released,
        ..Self::EMPTY
    };

    /// Its completeness.
    pub const fn state(&self) -> State {
        self.state
    }

    /// Whether it holds blocks that could be released.
    pub const fn holds_blocks(&self) -> bool {
        self.first.is_some()
    }

    /// Stops accepting packets.
    pub fn cut(&mut self) {
        if self.state == State::Whole {
            self.state = State::Cut;
        }
    }
}

/// The pool.
#[derive(Debug)]
pub struct PacketPool {
    blocks: Vec<[Slot; BLOCK_SLOTS]>,
    /// For each block the next of its chain, or of the free list.
    next: Vec<Option<Index>>,
    free: Option<Index>,
    free_count: usize,
    limit: usize,
}

impl PacketPool {
    /// A pool of `packets` packets; packets with SACK blocks count as two.
    pub fn new(packets: usize) -> Self {
        Self {
            blocks: Vec::new(),
            next: Vec::new(),
            free: None,
            free_count: 0,
            limit: packets.div_ceil(BLOCK_SLOTS).min(Index::LIMIT),
        }
    }

    /// Appends a packet to a whole chain; `false`, and no change, if there is no room.
    #[inline]
    pub fn push(&mut self, chain: &mut Chain, packet: &Packet) -> bool {
        let sack = packet.segment.tail.blocks();
        if sack.is_empty() {
            return self.push_slot(chain, Slot::of(packet));
        }
        let before = *chain;
        if !self.push_slot(chain, Slot::of(packet)) {
            return false;
        }
        if self.push_slot(chain, Slot::of_sack(sack)) {
            return true;
        }
        // Undoes half a packet. The first slot filled a block, so no new block was taken for it.
        *chain = before;
        false
    }

    #[inline]
    fn push_slot(&mut self, chain: &mut Chain, slot: Slot) -> bool {
        let place = chain.slots as usize % BLOCK_SLOTS;
        if place == 0 {
            let Some(block) = self.take() else {
                return false;
            };
            match chain.last {
                None => chain.first = Some(block),
                Some(last) => self.next[last.get()] = Some(block),
            }
            chain.last = Some(block);
        }
        let Some(last) = chain.last else {
            return false;
        };
        self.blocks[last.get()][place] = slot;
        chain.slots += 1;
        true
    }

    fn take(&mut self) -> Option<Index> {
        if let Some(block) = self.free {
            self.free = self.next[block.get()].take();
            self.free_count -= 1;
            return Some(block);
        }
        if self.blocks.len() >= self.limit {
            return None;
        }
        if self.blocks.len() == self.blocks.capacity() {
            // In even steps, since doubling would temporarily need both copies.
            let step = (self.limit / 8).max(1);
            self.blocks.reserve_exact(step);
            self.next.reserve_exact(step);
        }
        self.blocks.push([Slot::default(); BLOCK_SLOTS]);
        self.next.push(None);
        Some(Index::new(self.blocks.len() - 1))
    }

    /// Releases the blocks of a chain. It accepts no packets afterwards.
    pub fn release(&mut self, chain: &mut Chain) {
        let mut block = chain.first;
        while let Some(released) = block {
            block = std::mem::replace(&mut self.next[released.get()], self.free);
            self.free = Some(released);
            self.free_count += 1;
        }
        *chain = Chain::CLOSED;
    }

    /// Whether at least half of the pool is free.
    pub fn is_half_free(&self) -> bool {
        2 * (self.free_count + self.limit - self.blocks.len()) >= self.limit
    }

    /// The packets of a chain, in the order of the capture.
    pub fn packets(&self, chain: &Chain) -> Packets<'_> {
        Packets {
            kept: self,
            block: chain.first,
            place: 0,
            left: chain.slots as usize,
        }
    }
}

/// The packets of a flow, in the order of the capture.
#[derive(Clone, Debug)]
pub struct Packets<'a> {
    kept: &'a PacketPool,
    block: Option<Index>,
    place: usize,
    left: usize,
}

impl Packets<'_> {
    fn slot(&mut self) -> Option<Slot> {
        if self.left == 0 {
            return None;
        }
        let slot = *self.kept.blocks.get(self.block?.get())?.get(self.place)?;
        self.left -= 1;
        self.place += 1;
        if self.place == BLOCK_SLOTS {
            self.place = 0;
            self.block = self.kept.next[self.block?.get()];
        }
        Some(slot)
    }
}

impl Iterator for Packets<'_> {
    type Item = Packet;

    fn next(&mut self) -> Option<Packet> {
        let slot = self.slot()?;
        let mut packet = slot.packet();
        let blocks = slot.sack_blocks();
        if blocks > 0 {
            packet.segment.tail = self.slot()?.sack(blocks).into();
        }
        Some(packet)
    }
}

#[cfg(test)]
mod tests {
    use airtcp_packet::{SackBlock, SequenceNumber};
    use proptest::prelude::*;

    use super::*;

    fn packet(number: u64, has_sack: bool) -> Packet {
        let mut packet = Packet {
            number,
            ..Packet::default()
        };
        if has_sack {
            packet.segment.tail.push(SackBlock {
                start: SequenceNumber(number as u32),
                end: SequenceNumber(7),
            });
        }
        packet
    }

    proptest! {
        /// Compared with one list per flow: a refused packet changes nothing, a release frees
        /// blocks.
        #[test]
        fn chains_are_lists(steps in prop::collection::vec((0..4_usize, 0..12_u8), 0..600)) {
            let mut kept = PacketPool::new(10 * BLOCK_SLOTS);
            let mut chains = [Chain::EMPTY; 4];
            let mut lists: [Vec<Packet>; 4] = Default::default();
            for (number, (flow, step)) in steps.into_iter().enumerate() {
                if step == 0 {
                    kept.release(&mut chains[flow]);
                    lists[flow].clear();
                    chains[flow] = Chain::EMPTY;
                    continue;
                }
                let packet = packet(number as u64, step % 3 == 0);
                if kept.push(&mut chains[flow], &packet) {
                    lists[flow].push(packet);
                }
            }
            for (chain, list) in chains.iter().zip(&lists) {
                prop_assert!(kept.packets(chain).eq(list.iter().copied()));
            }
            for chain in &mut chains {
                kept.release(chain);
            }
            prop_assert!(kept.is_half_free());
            prop_assert_eq!(kept.free_count, kept.blocks.len());
        }
    }
}
