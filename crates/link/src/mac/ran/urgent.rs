//! Dynamic ARQ in the downlink: the order of retransmissions by the timers of the packets' senders
//! (Mahmoodi et al., VTC 2007, §III-A, Algorithm 1), in HARQ and in RLC.
//!
//! A failed transport block waits in the queue of its failed retransmissions, by the timer that
//! expires first among the senders of its packets. One that is about to expire goes before all
//! others; blocks that failed more often than [`DeadlineOrder::ahead_of_fresh`] yield to new ones.
//! A block without a packet whose timer is known is repeated as without the order. Blocks with
//! nothing but expired packets are given up in RLC's unacknowledged mode; in acknowledged mode RLC
//! would only retransmit them later.
//!
//! RLC's retransmission buffer goes by the same rule, and its urgent parts before other users'
//! data.

use airtcp_units::Instant;

use super::Ran;
use super::bearer::Bearer;
use super::frame_structure::SlotDirection;
use super::rlc::{DataPdu, MAX_HEADER};
use crate::frame::ChannelObserver;
use crate::queue::EcnField;
use crate::scheduler::deadline::{DeadlineOrder, Rank};

/// When failed blocks are repeated in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Before new blocks.
    First,
    /// On the resource blocks that those leave.
    Last,
}

/// A block that is due to be repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Due {
    rank: Rank,
    pub user: usize,
    process: usize,
}

impl<P: Copy + EcnField> Ran<P> {
    /// Repeats the downlink's failed blocks of a turn.
    pub(super) fn repeat_by_timers(
        &mut self,
        now: Instant,
        (order, turn): (DeadlineOrder, Turn),
        observer: &mut impl ChannelObserver,
    ) {
        for due in self.due(now, order, turn) {
            // One that lacks room leaves it to smaller ones.
            let _ = self.repeat(now, (due.user, due.process), SlotDirection::Down, observer);
        }
    }

    /// The downlink's failed blocks of a turn, in their order.
    pub(super) fn due(&mut self, now: Instant, order: DeadlineOrder, turn: Turn) -> Vec<Due> {
        let slot = self.slot;
        let mut found = Vec::new();
        for (index, user) in self.users.iter_mut().enumerate() {
            if user.connected_from > slot {
                continue;
            }
            let side = &mut user.down;
            for (process, place) in side.harq.processes.iter_mut().enumerate() {
                if !place.is_repeated || place.answered > slot {
                    continue;
                }
                let Some(block) = &place.block else {
                    continue;
                };
                let pdus = &block.content.pdus;
                if order.drops_expired && side.bearer.is_of_no_use(pdus, now) {
                    place.is_repeated = false;
                    if let Some(block) = place.block.take() {
                        let bearer = &mut side.bearer;
                        bearer.lose_block(&block.content.pdus, place.transmissions);
                    }
                    continue;
                }
                let rank = side
                    .bearer
                    .rank(pdus, (order, place.transmissions - 1), now);
                if (turn == Turn::First) == rank.is_ahead(order) {
                    found.push(Due {
                        rank,
                        user: index,
                        process,
                    });
                }
            }
        }
        found.sort_unstable();
        found
    }
}

impl<P: Copy + EcnField> Bearer<P> {
    /// Rank of a block with these PDUs that failed `retried` times after its first.
    fn rank(&self, pdus: &[DataPdu], (order, retried): (DeadlineOrder, u32), now: Instant) -> Rank {
        let timers = pdus.iter().flat_map(|pdu| self.timers(pdu.part)).flatten();
        Rank::new(order, retried, timers, now)
    }

    /// Whether nothing but packets that their senders have retransmitted are in these PDUs, and
    /// RLC does not retransmit them.
    fn is_of_no_use(&self, pdus: &[DataPdu], now: Instant) -> bool {
        let mut timers = pdus.iter().flat_map(|pdu| self.timers(pdu.part)).peekable();
        !self.transmitter.is_acknowledged()
            && timers.peek().is_some()
            && timers.all(|timer| timer.is_some_and(|timer| timer.expires <= now))
    }

    /// The place in RLC's retransmission buffer that is sent next.
    pub(super) fn next_missing(&self, now: Instant) -> usize {
        let Some(order) = self.retransmission_order else {
            return 0;
        };
        let rank = |(part, retried)| Rank::new(order, retried, self.timers(part).flatten(), now);
        let ranked = self.transmitter.missing().map(rank).enumerate();
        ranked
            .min_by_key(|(_, rank)| *rank)
            .map_or(0, |(place, _)| place)
    }

    /// Bytes of RLC's retransmissions whose senders are about to time out, headers included.
    pub(super) fn urgent_backlog(&self, order: DeadlineOrder, now: Instant) -> u64 {
        let missing = self.transmitter.missing();
        let urgent = missing.filter(|(part, _)| {
            let mut timers = self.timers(*part).flatten();
            timers.any(|timer| order.is_urgent(&timer, now))
        });
        urgent.map(|(part, _)| part.len() + MAX_HEADER).sum()
    }
}
