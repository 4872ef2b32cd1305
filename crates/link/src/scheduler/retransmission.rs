//! Which of the packets that failed, and those never sent, is transmitted next.

use std::collections::VecDeque;

use airtcp_units::Instant;

use super::by_station::ByStation;
use super::deadline::{DeadlineOrder, Retries};
use crate::frame::PendingPacket;

/// In which order what failed is retransmitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RetransmissionOrder {
    /// Immediately, before anything else: IEEE 802.11, and usually stop-and-wait.
    #[default]
    HeadOfLine,
    /// Before anything new, the one first that has been due for longest.
    FirstDue,
    /// By the time that is left to the timer of the packet's sender (Mahmoodi et al. §III-A).
    Deadline(DeadlineOrder),
    /// A queue for each station, served in turn; what failed goes back to the head of its own
    /// (Fotiadis & Siris §V).
    ByStation,
}

impl RetransmissionOrder {
    /// Whether it says itself when a packet is given up: a retry limit has no say then.
    #[inline]
    #[must_use]
    pub const fn has_own_limit(self) -> bool {
        matches!(self, Self::Deadline(_))
    }
}

/// Where packets wait for another attempt.
#[derive(Clone, Debug)]
pub(crate) enum RetryScheduler<P> {
    /// Nowhere: the one that failed stays chosen.
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

    /// The packet to be transmitted next at `now`, taken out of these or out of `fresh`.
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

    /// A packet failed, which its counts of failures have already. Not for head of line.
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

    /// Of the packets that wait, those that share a queue with one for station `to`, and their
    /// bytes; `None` where all share one.
    pub(crate) fn beside(
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

    /// Of these, those retransmitted without success that many times, where the order tells them
    /// apart.
    pub(crate) fn retransmitted(&self, times: usize) -> usize {
        match self {
            Self::ByDeadline(retries) => retries.retransmitted(times),
            Self::HeadOfLine | Self::FirstDue(_) | Self::ByStation(_) => 0,
        }
    }
}
