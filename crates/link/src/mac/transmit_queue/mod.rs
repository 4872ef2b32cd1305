//! What waits at a station, and which of it is sent next.
//!
//! ```text
//!   push ──▶ fresh ──┐
//!                    ├─ select ──▶ chosen ──▶ finish
//!          retries ──┘               │
//!             ▲                      │ put_back
//!             └──────────────────────┘
//! ```
//!
//! One packet is chosen at a time and stays chosen until it leaves or is put back. What happens to
//! one that is put back is the retransmission order's business: with [`RetransmissionOrder::
//! HeadOfLine`] it stays chosen, as in IEEE 802.11; with [`RetransmissionOrder::Deadline`] it waits
//! for another turn.

mod deadline;

use std::collections::VecDeque;

use airtcp_units::Instant;

use super::Offer;
use crate::queue::QueueLimit;
use deadline::Retries;
pub use deadline::{Counted, DeadlineOrder, FreshBefore};

/// In which order what failed is sent again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RetransmissionOrder {
    /// At once, before anything else: IEEE 802.11, and stop-and-wait as a rule.
    #[default]
    HeadOfLine,
    /// By the time that is left to the timer of the packet's sender (Mahmoodi et al. §III-A).
    Deadline(DeadlineOrder),
}

/// A packet and how far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting<P> {
    /// The packet.
    pub packet: P,
    /// The station it is meant for.
    pub to: u32,
    /// What is known of it.
    pub offer: Offer,
    /// Attempts in vain, for all of its fragments.
    pub failures: u32,
    /// Attempts in vain for the fragment that is next.
    pub fragment_failures: u32,
    /// Fragments that were acknowledged.
    pub fragments_done: u32,
    /// Whether it has arrived whole: if it is sent again, only an acknowledgment was lost.
    pub arrived: bool,
}

/// A station's queue. The chosen packet takes no room in it.
#[derive(Clone, Debug)]
pub struct TransmitQueue<P> {
    limit: QueueLimit,
    chosen: Option<Waiting<P>>,
    fresh: VecDeque<Waiting<P>>,
    retries: Option<Retries<P>>,
    bytes: u64,
}

impl<P: Copy> TransmitQueue<P> {
    /// An empty queue.
    #[must_use]
    pub fn new(limit: QueueLimit, order: RetransmissionOrder) -> Self {
        Self {
            limit,
            chosen: None,
            fresh: VecDeque::new(),
            retries: match order {
                RetransmissionOrder::HeadOfLine => None,
                RetransmissionOrder::Deadline(order) => Some(Retries::new(order)),
            },
            bytes: 0,
        }
    }

    /// Adds a packet for station `to`, or says `false` when there is no room.
    #[inline]
    pub fn push(&mut self, to: u32, offer: Offer, packet: P) -> bool {
        let has_room = match self.limit {
            QueueLimit::Unlimited => true,
            QueueLimit::Packets(limit) => self.len() < limit as usize,
            QueueLimit::Bytes(limit) => self.bytes.saturating_add(u64::from(offer.bytes)) <= limit,
        };
        // Where nothing is chosen, the packet may be chosen at once and then takes no room.
        if !has_room && !self.is_empty() {
            return false;
        }
        self.bytes += u64::from(offer.bytes);
        self.fresh.push_back(Waiting {
            packet,
            to,
            offer,
            failures: 0,
            fragment_failures: 0,
            fragments_done: 0,
            arrived: false,
        });
        true
    }

    /// The packet to be sent next at `now`, chosen if none is.
    #[inline]
    pub fn select(&mut self, now: Instant) -> Option<&mut Waiting<P>> {
        if self.chosen.is_none() {
            self.chosen = match &mut self.retries {
                None => self.fresh.pop_front(),
                Some(retries) => retries.select(now, &mut self.fresh),
            };
            if let Some(chosen) = &self.chosen {
                self.bytes -= u64::from(chosen.offer.bytes);
            }
        }
        self.chosen.as_mut()
    }

    /// The chosen packet.
    #[inline]
    pub fn current(&mut self) -> Option<&mut Waiting<P>> {
        self.chosen.as_mut()
    }

    /// The chosen packet leaves for good.
    #[inline]
    pub fn finish(&mut self) -> Option<Waiting<P>> {
        self.chosen.take()
    }

    /// The chosen packet failed and is to be sent again, its failures counted by the caller.
    #[inline]
    pub fn put_back(&mut self) {
        if let Some(retries) = &mut self.retries
            && let Some(chosen) = self.chosen.take()
        {
            self.bytes += u64::from(chosen.offer.bytes);
            retries.add(chosen);
        }
    }

    /// A packet that the order gave up; to be asked after [`select`](Self::select) until there is
    /// none.
    #[inline]
    pub fn take_expired(&mut self) -> Option<Waiting<P>> {
        let expired = self.retries.as_mut()?.take_expired()?;
        self.bytes -= u64::from(expired.offer.bytes);
        Some(expired)
    }

    /// Packets that wait, the chosen one not counted.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.fresh.len() + self.retries.as_ref().map_or(0, Retries::len)
    }

    /// Their bytes.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether there is nothing, also nothing chosen.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.chosen.is_none() && self.len() == 0
    }

    /// Packets that wait for another attempt, by how often they were sent again in vain: never,
    /// once, twice. Zeros but for [`RetransmissionOrder::Deadline`].
    #[must_use]
    pub fn retries(&self) -> [usize; 3] {
        self.retries.as_ref().map_or([0; 3], Retries::lengths)
    }
}

#[cfg(test)]
mod tests;
