//! TCP-aware dynamic ARQ: failed packets wait in one of three queues, sorted by the time left to
//! the timer of the packet's sender (Mahmoodi et al. §III-A, Algorithm 1).
//!
//! The weight of a packet is 10⁴·n + RTO, with n its failed *re*transmissions and RTO the
//! milliseconds left: below 10⁴ it waits in Q1, below 2·10⁴ in Q2, below 3·10⁴ in Q3, and above
//! that it is dropped. With RTO kept below 10⁴, the queue follows from n, and the order within it
//! from the instant at which the timer expires, which unlike the time left does not change. If RTO
//! is read as the timer's length ([`Weighed::Length`]), that is the order.
//!
//! A packet without a known timer is treated as if it never expired.

use std::collections::{BTreeMap, VecDeque};

use airtcp_units::{Duration, Instant};

use crate::frame::{PendingPacket, Urgency};

/// The parameters of the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeadlineOrder {
    /// N_ret, the maximum number of retransmissions of a packet, and so the number of queues: "the
    /// maximum number of retransmission attempts is limited to 3" (§III-A). At least 1.
    pub retransmissions: u32,
    /// The head of a queue with less time left than this many round trips is sent before all others
    /// (§III-A: 2).
    pub urgent_round_trips: u32,
    /// Number of queues, from Q1 on, that go before packets never sent. The paper leaves that open;
    /// it wants "to avoid retransmitting any specific packet iteratively" (§III-A), so by default
    /// packets with failed retransmissions yield to them, and packets that failed only once do not.
    pub ahead_of_fresh: u32,
    /// The meaning of RTO in the weight.
    pub weighed: Weighed,
    /// Whether a packet is dropped once its sender's timer has expired: "wasted retransmissions"
    /// are avoided (§IV).
    pub drops_expired: bool,
    /// The scope in which n counts attempts.
    pub counted: Counted,
    /// Time subtracted from RTO in a packet's weight per segment that its sender has in flight. The
    /// paper leaves the congestion window in the weight to future work (§V) and gives no form: a
    /// timeout costs a large window more, so its packets go first.
    pub window_weight: Duration,
}

/// The scope in which n counts attempts of packets cut into frames. The paper cuts them (320 bytes)
/// and gives both schemes "a maximum of 3 retransmission attempts" (§IV); the scheme it compares
/// with counts per frame, as IEEE 802.11 does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counted {
    /// Attempts of the next frame: three for each, as in the scheme compared with.
    #[default]
    Frame,
    /// Attempts of all frames of the packet together.
    Packet,
}

/// The meaning of RTO in a packet's weight: §III-A has the timer's value in its equations, and
/// "close to expiration" in its words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weighed {
    /// The time left to the sender's timer.
    #[default]
    TimeLeft,
    /// The length of the timer. A packet is then urgent if its whole timer is shorter than the
    /// round trips.
    Length,
    /// Nothing: retries go in the order in which they failed, and no packet is urgent. Not part of
    /// the paper; shows how much knowledge of TCP adds to the queues.
    Nothing,
}

impl Default for DeadlineOrder {
    fn default() -> Self {
        Self {
            retransmissions: 3,
            urgent_round_trips: 2,
            ahead_of_fresh: 1,
            weighed: Weighed::TimeLeft,
            drops_expired: true,
            counted: Counted::Frame,
            window_weight: Duration::ZERO,
        }
    }
}

impl DeadlineOrder {
    /// Whether a sender is about to time out.
    pub(crate) fn is_urgent(&self, urgency: &Urgency, now: Instant) -> bool {
        let margin = urgency.round_trip * u64::from(self.urgent_round_trips);
        match self.weighed {
            Weighed::TimeLeft => now + margin > urgency.expires,
            Weighed::Length => margin > urgency.timeout,
            Weighed::Nothing => false,
        }
    }

    /// The weight within a queue, minus the reduction for the sender's window.
    pub(crate) fn weight(&self, urgency: Option<Urgency>) -> Instant {
        let weight = match self.weighed {
            Weighed::TimeLeft => {
                urgency.map_or(Instant::FAR_FUTURE, |urgency| urgency.expires) - Instant::ZERO
            }
            Weighed::Length => urgency.map_or(Duration::MAX, |urgency| urgency.timeout),
            Weighed::Nothing => Duration::ZERO,
        };
        let in_flight = urgency.map_or(0, |urgency| urgency.in_flight);
        Instant::ZERO + (weight - self.window_weight * u64::from(in_flight))
    }
}

/// Place of a retransmission that several packets share: urgent ones first, then by queue and
/// weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank {
    is_calm: bool,
    queue: u32,
    weight: Instant,
    is_unknown: bool,
}

impl Rank {
    /// Of a retransmission that failed `retried` times before, with the known timers of its
    /// packets' senders.
    pub(crate) fn new(
        order: DeadlineOrder,
        retried: u32,
        timers: impl Iterator<Item = Urgency>,
        now: Instant,
    ) -> Self {
        let mut rank = Self {
            is_calm: true,
            queue: retried,
            weight: order.weight(None),
            is_unknown: true,
        };
        for timer in timers {
            rank.is_unknown = false;
            rank.is_calm &= !order.is_urgent(&timer, now);
            rank.weight = rank.weight.min(order.weight(Some(timer)));
        }
        if !rank.is_calm {
            // Urgent ones go by their weights only.
            rank.queue = 0;
        }
        rank
    }

    /// Whether it goes before packets that were never sent.
    pub(crate) const fn is_ahead(self, order: DeadlineOrder) -> bool {
        !self.is_calm || self.is_unknown || self.queue < order.ahead_of_fresh
    }
}

/// Key of a retry: its weight, minus the reduction for the sender's window; then order of arrival.
type Place = (Instant, u64);

/// The queues.
#[derive(Clone, Debug)]
pub(crate) struct Retries<P> {
    order: DeadlineOrder,
    queues: Box<[BTreeMap<Place, PendingPacket<P>>]>,
    expired: VecDeque<PendingPacket<P>>,
    added: u64,
}

impl<P: Copy> Retries<P> {
    pub(super) fn new(order: DeadlineOrder) -> Self {
        Self {
            order,
            queues: (0..order.retransmissions.max(1))
                .map(|_| BTreeMap::new())
                .collect(),
            expired: VecDeque::new(),
            added: 0,
        }
    }

    /// Takes a failed packet, with the failure already counted.
    pub(super) fn add(&mut self, waiting: PendingPacket<P>) {
        let failures = match self.order.counted {
            Counted::Frame => waiting.fragment_failures,
            Counted::Packet => waiting.failures,
        };
        let retried = failures.saturating_sub(1) as usize;
        let place = (self.order.weight(waiting.offer.urgency), self.added);
        self.added += 1;
        match self.queues.get_mut(retried) {
            Some(queue) => {
                queue.insert(place, waiting);
            }
            None => self.expired.push_back(waiting),
        }
    }

    /// The packet to be sent next; from `fresh` if it is its turn.
    pub(super) fn select(
        &mut self,
        now: Instant,
        fresh: &mut VecDeque<PendingPacket<P>>,
    ) -> Option<PendingPacket<P>> {
        self.expire(now);
        if let Some(queue) = self.most_urgent(now) {
            return take_first(&mut self.queues[queue]);
        }
        let ahead = self.queues.len().min(self.order.ahead_of_fresh as usize);
        let (before, after) = self.queues.split_at_mut(ahead);
        before
            .iter_mut()
            .find_map(take_first)
            .or_else(|| fresh.pop_front())
            .or_else(|| after.iter_mut().find_map(take_first))
    }

    /// Removes packets that are not retransmitted because their sender's timer has expired.
    fn expire(&mut self, now: Instant) {
        if !self.order.drops_expired {
            return;
        }
        // No packet ranks after the instant at which its timer expires, if that is the weight.
        let last = match self.order.weighed {
            Weighed::TimeLeft => now,
            Weighed::Length | Weighed::Nothing => Instant::FAR_FUTURE,
        };
        for queue in &mut self.queues {
            let mut ranked = queue.range(..=(last, u64::MAX));
            while let Some((&place, _)) = ranked.find(|(_, waiting)| expiry(waiting) <= now) {
                self.expired.extend(queue.remove(&place));
                ranked = queue.range(..=(last, u64::MAX));
            }
        }
    }

    /// The queue with a head about to be timed out, if there is one; the head with the least time
    /// left goes first.
    fn most_urgent(&self, now: Instant) -> Option<usize> {
        let heads = self.queues.iter().enumerate();
        heads
            .filter_map(|(index, queue)| {
                let (_, waiting) = queue.first_key_value()?;
                let urgency = waiting.offer.urgency?;
                let is_urgent = self.order.is_urgent(&urgency, now);
                is_urgent.then_some((urgency.expires, index))
            })
            .min()
            .map(|(_, index)| index)
    }

    pub(super) fn take_expired(&mut self) -> Option<PendingPacket<P>> {
        self.expired.pop_front()
    }

    /// Number of packets with that many failed retransmissions.
    pub(super) fn retransmitted(&self, times: usize) -> usize {
        self.queues.get(times).map_or(0, BTreeMap::len)
    }

    pub(super) fn len(&self) -> usize {
        self.queues.iter().map(BTreeMap::len).sum::<usize>() + self.expired.len()
    }
}

fn take_first<P>(queue: &mut BTreeMap<Place, PendingPacket<P>>) -> Option<PendingPacket<P>> {
    queue.pop_first().map(|(_, waiting)| waiting)
}

fn expiry<P>(waiting: &PendingPacket<P>) -> Instant {
    waiting
        .offer
        .urgency
        .map_or(Instant::FAR_FUTURE, |urgency| urgency.expires)
}
