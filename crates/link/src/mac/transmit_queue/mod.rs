//! The queue of a station, and the choice of the next frame.
//!
//! ```text
//!   push ──▶ fresh ──┐
//!                    ├─ select ──▶ chosen ──▶ finish
//!          retries ──┘               │
//!             ▲                      │ put_back
//!             └──────────────────────┘
//! ```
//!
//! One packet is chosen at a time and stays chosen until it leaves or is returned. The handling of
//! a returned one is up to the [scheduler](crate::scheduler): with
//! [`HeadOfLine`](RetransmissionOrder::HeadOfLine) it stays chosen, as in IEEE 802.11; with the
//! other orders it waits for another turn. A selective-repeat link takes transmitted packets out of
//! the queue, and returns them with [`TransmitQueue::retry`] when their timer expires.

use std::collections::VecDeque;

use airtcp_units::Instant;

use crate::frame::{Offer, PendingPacket};
use crate::queue::QueueLimit;
use crate::scheduler::{RetransmissionOrder, RetryScheduler};

/// A station's queue. The chosen packet takes no room in it.
#[derive(Clone, Debug)]
pub struct TransmitQueue<P> {
    limit: QueueLimit,
    chosen: Choice<P>,
    fresh: VecDeque<PendingPacket<P>>,
    retries: RetryScheduler<P>,
    bytes: u64,
}

/// The chosen packet, and its location.
#[derive(Clone, Debug)]
enum Choice<P> {
    Nothing,
    /// The first packet never returned, which stays in its place until it leaves.
    Head,
    /// Taken out of its queue.
    Taken(PendingPacket<P>),
}

impl<P: Copy> TransmitQueue<P> {
    /// An empty queue.
    #[must_use]
    pub fn new(limit: QueueLimit, order: RetransmissionOrder) -> Self {
        Self {
            limit,
            chosen: Choice::Nothing,
            fresh: VecDeque::new(),
            retries: RetryScheduler::new(order),
            bytes: 0,
        }
    }

    /// Whether a packet of this many bytes may wait.
    #[inline]
    #[must_use]
    pub fn has_room(&self, bytes: u32) -> bool {
        self.limit.has_room(self.len(), self.bytes, bytes)
    }

    /// Whether a packet of this many bytes for station `to` may wait: if every station has a
    /// separate queue, the limit applies to each.
    #[inline]
    fn has_room_for(&self, to: u32, bytes: u32) -> bool {
        match self.retries.sharing_a_queue(to, &self.fresh) {
            Some((packets, all)) => self.limit.has_room(packets, all, bytes),
            None => self.has_room(bytes),
        }
    }

    /// Adds a packet for station `to`; returns `false` if there is no room.
    #[inline]
    pub fn push(&mut self, to: u32, offer: Offer, packet: P) -> bool {
        // If no packet is chosen, this one may be chosen immediately and then takes no room.
        if !self.has_room_for(to, offer.bytes) && !self.is_empty() {
            return false;
        }
        self.bytes += u64::from(offer.bytes);
        self.fresh.push_back(PendingPacket::new(packet, to, offer));
        true
    }

    /// The packet to be sent next at `now`, chosen if necessary.
    #[inline]
    pub fn select(&mut self, now: Instant) -> Option<&mut PendingPacket<P>> {
        self.select_among(now, true)
    }

    /// Like [`select`](Self::select), but considers packets never sent only if `with_fresh`.
    #[inline]
    pub fn select_among(
        &mut self,
        now: Instant,
        with_fresh: bool,
    ) -> Option<&mut PendingPacket<P>> {
        if matches!(self.chosen, Choice::Nothing) {
            if !self.retries.keeps_chosen() {
                self.take_next(now, with_fresh);
            } else if with_fresh && let Some(head) = self.fresh.front() {
                self.bytes -= u64::from(head.offer.bytes);
                self.chosen = Choice::Head;
            }
        }
        self.current()
    }

    /// Chooses among packets that failed and those never sent.
    fn take_next(&mut self, now: Instant, with_fresh: bool) {
        let mut none = VecDeque::new();
        let fresh = if with_fresh {
            &mut self.fresh
        } else {
            &mut none
        };
        if let Some(next) = self.retries.take_next(now, fresh) {
            self.bytes -= u64::from(next.offer.bytes);
            self.chosen = Choice::Taken(next);
        }
    }

    /// The chosen packet.
    #[inline]
    pub fn current(&mut self) -> Option<&mut PendingPacket<P>> {
        match &mut self.chosen {
            Choice::Nothing => None,
            Choice::Head => self.fresh.front_mut(),
            Choice::Taken(chosen) => Some(chosen),
        }
    }

    /// Removes the chosen packet from the queue.
    #[inline]
    pub fn finish(&mut self) -> Option<PendingPacket<P>> {
        match std::mem::replace(&mut self.chosen, Choice::Nothing) {
            Choice::Nothing => None,
            Choice::Head => self.fresh.pop_front(),
            Choice::Taken(chosen) => Some(chosen),
        }
    }

    /// The chosen packet failed and is to be retransmitted, its failures counted by the caller.
    #[inline]
    pub fn put_back(&mut self) {
        if !self.retries.keeps_chosen()
            && let Some(chosen) = self.finish()
        {
            self.retry(chosen);
        }
    }

    /// A packet that had left is to be retransmitted, its failures counted by the caller. It finds
    /// room even in a full queue. With [`RetransmissionOrder::HeadOfLine`] it goes to the head.
    #[inline]
    pub fn retry(&mut self, waiting: PendingPacket<P>) {
        self.bytes += u64::from(waiting.offer.bytes);
        if self.retries.keeps_chosen() {
            let behind = usize::from(matches!(self.chosen, Choice::Head));
            self.fresh.insert(behind, waiting);
        } else {
            self.retries.add(waiting);
        }
    }

    /// A packet that the order discarded; to be called after [`select`](Self::select) until it
    /// returns `None`.
    #[inline]
    pub fn take_expired(&mut self) -> Option<PendingPacket<P>> {
        let expired = self.retries.take_expired()?;
        self.bytes -= u64::from(expired.offer.bytes);
        Some(expired)
    }

    /// Number of queued packets, without the chosen one.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        let chosen = usize::from(matches!(self.chosen, Choice::Head));
        self.fresh.len() - chosen + self.retries.len()
    }

    /// Their bytes.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether the queue is empty and no packet is chosen.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        matches!(self.chosen, Choice::Nothing) && self.len() == 0
    }

    /// Packets queued for another attempt after that many failed retransmissions. Zero except for
    /// [`RetransmissionOrder::Deadline`].
    #[must_use]
    pub fn retries(&self, retransmitted: usize) -> usize {
        self.retries.retransmitted(retransmitted)
    }
}

#[cfg(test)]
mod tests;
