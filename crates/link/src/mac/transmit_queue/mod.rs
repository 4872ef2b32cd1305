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
//! One packet is chosen at a time and stays chosen until it leaves or is put back. What happens to
//! one that is put back is the retransmission order's business: with [`RetransmissionOrder::
//! HeadOfLine`] it stays chosen, as in IEEE 802.11; with [`RetransmissionOrder::FirstDue`] and
//! [`RetransmissionOrder::Deadline`] it waits for another turn. A selective-repeat link takes what
//! it transmits out of the queue, and puts it back with [`TransmitQueue::retry`] when its timer
//! expires.

mod deadline;

use std::collections::VecDeque;

use airtcp_units::Instant;

use super::Offer;
use crate::queue::QueueLimit;
use deadline::Retries;
pub use deadline::{Counted, DeadlineOrder, FreshBefore};

/// In which order what failed is retransmitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RetransmissionOrder {
    /// At once, before anything else: IEEE 802.11, and stop-and-wait as a rule.
    #[default]
    HeadOfLine,
    /// Before anything new, the one first that has been due for longest.
    FirstDue,
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
    /// Whether it has arrived whole: if it is retransmitted, only an acknowledgment was lost.
    pub arrived: bool,
}

/// A station's queue. The chosen packet takes no room in it.
#[derive(Clone, Debug)]
pub struct TransmitQueue<P> {
    limit: QueueLimit,
    chosen: Chosen<P>,
    fresh: VecDeque<Waiting<P>>,
    retries: Waiters<P>,
    bytes: u64,
}

/// The packet that is chosen, and where it is.
#[derive(Clone, Debug)]
enum Chosen<P> {
    Nothing,
    /// The first of those that were never put back, which stays where it is until it leaves.
    Head,
    /// Taken out of its queue.
    Taken(Waiting<P>),
}

/// Where packets wait for another attempt.
#[derive(Clone, Debug)]
enum Waiters<P> {
    /// Nowhere: the one that failed stays chosen.
    Chosen,
    FirstDue(VecDeque<Waiting<P>>),
    ByDeadline(Retries<P>),
}

impl<P: Copy> TransmitQueue<P> {
    /// An empty queue.
    #[must_use]
    pub fn new(limit: QueueLimit, order: RetransmissionOrder) -> Self {
        Self {
            limit,
            chosen: Chosen::Nothing,
            fresh: VecDeque::new(),
            retries: match order {
                RetransmissionOrder::HeadOfLine => Waiters::Chosen,
                RetransmissionOrder::FirstDue => Waiters::FirstDue(VecDeque::new()),
                RetransmissionOrder::Deadline(order) => Waiters::ByDeadline(Retries::new(order)),
            },
            bytes: 0,
        }
    }

    /// Whether a packet of this many bytes may wait.
    #[inline]
    #[must_use]
    pub fn has_room(&self, bytes: u32) -> bool {
        self.limit.has_room(self.len(), self.bytes, bytes)
    }

    /// Adds a packet for station `to`, or says `false` when there is no room.
    #[inline]
    pub fn push(&mut self, to: u32, offer: Offer, packet: P) -> bool {
        // Where nothing is chosen, the packet may be chosen at once and then takes no room.
        if !self.has_room(offer.bytes) && !self.is_empty() {
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
        self.select_among(now, true)
    }

    /// The same; what was never sent stays where it is unless `with_fresh`.
    #[inline]
    pub fn select_among(&mut self, now: Instant, with_fresh: bool) -> Option<&mut Waiting<P>> {
        if matches!(self.chosen, Chosen::Nothing) {
            if !matches!(self.retries, Waiters::Chosen) {
                self.take_next(now, with_fresh);
            } else if with_fresh && let Some(head) = self.fresh.front() {
                self.bytes -= u64::from(head.offer.bytes);
                self.chosen = Chosen::Head;
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
        let next = match &mut self.retries {
            Waiters::Chosen => fresh.pop_front(),
            Waiters::FirstDue(due) => due.pop_front().or_else(|| fresh.pop_front()),
            Waiters::ByDeadline(retries) => retries.select(now, fresh),
        };
        if let Some(next) = next {
            self.bytes -= u64::from(next.offer.bytes);
            self.chosen = Chosen::Taken(next);
        }
    }

    /// The chosen packet.
    #[inline]
    pub fn current(&mut self) -> Option<&mut Waiting<P>> {
        match &mut self.chosen {
            Chosen::Nothing => None,
            Chosen::Head => self.fresh.front_mut(),
            Chosen::Taken(chosen) => Some(chosen),
        }
    }

    /// The chosen packet leaves for good.
    #[inline]
    pub fn finish(&mut self) -> Option<Waiting<P>> {
        match std::mem::replace(&mut self.chosen, Chosen::Nothing) {
            Chosen::Nothing => None,
            Chosen::Head => self.fresh.pop_front(),
            Chosen::Taken(chosen) => Some(chosen),
        }
    }

    /// The chosen packet failed and is to be retransmitted, its failures counted by the caller.
    #[inline]
    pub fn put_back(&mut self) {
        if !matches!(self.retries, Waiters::Chosen)
            && let Some(chosen) = self.finish()
        {
            self.retry(chosen);
        }
    }

    /// A packet that had left is to be retransmitted, its failures counted by the caller. It finds
    /// room even in a full queue. With [`RetransmissionOrder::HeadOfLine`] it goes to the head.
    #[inline]
    pub fn retry(&mut self, waiting: Waiting<P>) {
        self.bytes += u64::from(waiting.offer.bytes);
        match &mut self.retries {
            Waiters::Chosen => {
                let behind = usize::from(matches!(self.chosen, Chosen::Head));
                self.fresh.insert(behind, waiting);
            }
            Waiters::FirstDue(due) => due.push_back(waiting),
            Waiters::ByDeadline(retries) => retries.add(waiting),
        }
    }

    /// A packet that the order gave up; to be asked after [`select`](Self::select) until there is
    /// none.
    #[inline]
    pub fn take_expired(&mut self) -> Option<Waiting<P>> {
        let Waiters::ByDeadline(retries) = &mut self.retries else {
            return None;
        };
        let expired = retries.take_expired()?;
        self.bytes -= u64::from(expired.offer.bytes);
        Some(expired)
    }

    /// Packets that wait, the chosen one not counted.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        let waiting = match &self.retries {
            Waiters::Chosen => 0,
            Waiters::FirstDue(due) => due.len(),
            Waiters::ByDeadline(retries) => retries.len(),
        };
        let chosen = usize::from(matches!(self.chosen, Chosen::Head));
        self.fresh.len() - chosen + waiting
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
        matches!(self.chosen, Chosen::Nothing) && self.len() == 0
    }

    /// Packets that wait for another attempt, by how often they were retransmitted in vain: never,
    /// once, twice. Zeros but for [`RetransmissionOrder::Deadline`].
    #[must_use]
    pub fn retries(&self) -> [usize; 3] {
        match &self.retries {
            Waiters::ByDeadline(retries) => retries.lengths(),
            Waiters::Chosen | Waiters::FirstDue(_) => [0; 3],
        }
    }
}

#[cfg(test)]
mod tests;
