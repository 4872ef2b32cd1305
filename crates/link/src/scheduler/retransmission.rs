//! The choice of the next packet among failed ones and new ones.

use std::collections::VecDeque;

use airtcp_units::Instant;

use super::by_station::ByStation;
use super::deadline::{DeadlineOrder, Retries};
use crate::frame::PendingPacket;

/// The order in which failed packets are retransmitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RetransmissionOrder {
    /// Immediately, before anything else: IEEE 802.11, and usually stop-and-wait.
    #[default]
    HeadOfLine,
    /// Before any new packet, the one first that has been due for longest.
    FirstDue,
    /// By the time left to the timer of the packet's sender (Mahmoodi et al. §III-A).
    Deadline(DeadlineOrder),
    /// A queue for each station, served round robin; a failed packet returns to the head of its
    /// queue (Fotiadis & Siris §V).
    ByStation,
}

impl RetransmissionOrder {
    /// Whether it decides itself when a packet is given up: a retry limit does not apply then.
    #[inline]
    #[must_use]
    pub const fn has_own_limit(self) -> bool {
        matches!(self, Self::Deadline(_))
    }
}

/// Packets that wait for another attempt.
#[derive(Clone, Debug)]
pub(crate) enum RetryScheduler<P> {
    /// No storage: the failed one stays chosen.
    HeadOfLine,
    FirstDue(VecDeque<PendingPacket<P>>),
    ByDeadline(Retries<P>),
    ByStation(ByStation<P>),
}

impl<P: Copy> RetryScheduler<P> {
    pub(crate) fn new(order: RetransmissionOrder) -> Self {
        match order {
            RetransmissionOrder::HeadOfLine => Self::HeadOfLine,
            RetransmissionOrder::FirstDue => Self::FirstDue(VecDeque::new()),
            RetransmissionOrder::Deadline(order) => Self::ByDeadline(Retries::new(order)),
            RetransmissionOrder::ByStation => Self::ByStation(ByStation::new()),
        }
    }

    /// Whether a packet that failed is transmitted before anything else.
    #[inline]
    pub(crate) const fn keeps_chosen(&self) -> bool {
        matches!(self, Self::HeadOfLine)
    }

    /// The packet to be transmitted next at `now`, taken from the retries or from `fresh`.
    pub(crate) fn take_next(
        &mut self,
        now: Instant,
        fresh: &mut VecDeque<PendingPacket<P>>,
    ) -> Option<PendingPacket<P>> {
        match self {
            Self::HeadOfLine => fresh.pop_front(),
            Self::FirstDue(due) => due.pop_front().or_else(|| fresh.pop_front()),
            Self::ByDeadline(retries) => retries.select(now, fresh),
            Self::ByStation(stations) => stations.select(fresh),
        }
    }

    /// Takes a failed packet, with the failure already counted. Not for head of line.
    pub(crate) fn add(&mut self, failed: PendingPacket<P>) {
        match self {
            Self::HeadOfLine => {}
            Self::FirstDue(due) => due.push_back(failed),
            Self::ByDeadline(retries) => retries.add(failed),
            Self::ByStation(stations) => stations.add(failed),
        }
    }

    /// A packet that the order gave up.
    #[inline]
    pub(crate) fn take_expired(&mut self) -> Option<PendingPacket<P>> {
        match self {
            Self::ByDeadline(retries) => retries.take_expired(),
            Self::HeadOfLine | Self::FirstDue(_) | Self::ByStation(_) => None,
        }
    }

    /// Number of queued packets that share a queue with one for station `to`, and their bytes;
    /// `None` if all share one.
    pub(crate) fn sharing_a_queue(
        &self,
        to: u32,
        fresh: &VecDeque<PendingPacket<P>>,
    ) -> Option<(usize, u64)> {
        match self {
            Self::ByStation(stations) => Some(stations.waiting_for(to, fresh)),
            Self::HeadOfLine | Self::FirstDue(_) | Self::ByDeadline(_) => None,
        }
    }

    /// Packets that wait for another attempt.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::HeadOfLine => 0,
            Self::FirstDue(due) => due.len(),
            Self::ByDeadline(retries) => retries.len(),
            Self::ByStation(stations) => stations.len(),
        }
    }

    /// Waiting packets with that many failed retransmissions, if the order distinguishes them.
    pub(crate) fn retransmitted(&self, times: usize) -> usize {
        match self {
            Self::ByDeadline(retries) => retries.retransmitted(times),
            Self::HeadOfLine | Self::FirstDue(_) | Self::ByStation(_) => 0,
        }
    }
}
