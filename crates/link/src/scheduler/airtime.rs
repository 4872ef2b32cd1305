//! Airtime deficits and airtime queue limits: the next queue is chosen by how long each has used
//! the channel, and they limit the packets given to a driver ahead (T. Høiland-Jørgensen et al.,
//! "Ending the Anomaly: Achieving Low Latency and Airtime Fairness in WiFi", USENIX ATC 2017;
//! Linux, net/mac80211/tx.c, `ieee80211_next_txq`).
//!
//! A queue's deficit decreases by the airtime that it has used. A queue that is visited with no
//! deficit left gains its weight and goes to the tail. A queue with more estimated airtime at the
//! driver than its limit goes to the tail, too. A queue that becomes active is the first, so that
//! it goes to the tail only for airtime that it has used.

use std::collections::VecDeque;

use airtcp_units::Duration;

/// The quantum of a queue that is visited with no deficit left (Linux,
/// `IEEE80211_DEFAULT_AIRTIME_WEIGHT`, in microseconds).
const WEIGHT_NANOS: i64 = 256_000;

/// Limits on airtime at a driver (Linux, include/net/cfg80211.h:
/// `IEEE80211_DEFAULT_AQL_TXQ_LIMIT_L`, `_H` and `IEEE80211_AQL_THRESHOLD`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AirtimeLimits {
    /// Per station, while all together have at least `threshold`.
    pub low: Duration,
    /// Per station, while all together have less.
    pub high: Duration,
    /// For all stations.
    pub threshold: Duration,
    /// Whether airtime in which stations send is charged to them too (Linux, `AIRTIME_USE_RX`).
    pub counts_received: bool,
}

impl Default for AirtimeLimits {
    fn default() -> Self {
        Self {
            low: Duration::from_micros(5_000),
            high: Duration::from_micros(12_000),
            threshold: Duration::from_micros(24_000),
            counts_received: true,
        }
    }
}

#[derive(Clone, Debug, Default)]
struct Share {
    deficit_nanos: i64,
    pending: Duration,
    /// Whether it has packets.
    is_active: bool,
    /// Whether it has retransmissions, which its limit does not hold back.
    has_retries: bool,
    round: u64,
}

/// Deficits and pending airtime of numbered queues.
#[derive(Clone, Debug)]
pub(crate) struct AirtimeScheduler {
    limits: AirtimeLimits,
    shares: Vec<Share>,
    active: VecDeque<usize>,
    pending: Duration,
    round: u64,
}

impl AirtimeScheduler {
    pub(crate) fn new(limits: AirtimeLimits, queues: usize) -> Self {
        Self {
            limits,
            shares: vec![Share::default(); queues],
            active: VecDeque::with_capacity(queues),
            pending: Duration::ZERO,
            round: 0,
        }
    }

    /// A queue has packets; it becomes the first of the active ones. `false` if it was active.
    pub(crate) fn activate(&mut self, queue: usize) -> bool {
        let was_active = std::mem::replace(&mut self.shares[queue].is_active, true);
        if !was_active {
            self.active.push_front(queue);
        }
        !was_active
    }

    /// The same, with packets that the driver holds and is to retransmit.
    pub(crate) fn activate_for_retries(&mut self, queue: usize) {
        self.shares[queue].has_retries = true;
        self.activate(queue);
    }

    /// A queue's retransmissions are on the air.
    pub(crate) fn clear_retries(&mut self, queue: usize) {
        self.shares[queue].has_retries = false;
    }

    /// A queue has no packets left.
    pub(crate) fn deactivate(&mut self, queue: usize) {
        if std::mem::take(&mut self.shares[queue].is_active) {
            self.active.retain(|&active| active != queue);
        }
    }

    /// Each active queue is returned by [`next`](Self::next) at most once until the next round.
    pub(crate) const fn begin_round(&mut self) {
        self.round += 1;
    }

    /// The queue that is served next. It stays the first: it goes to the tail once it is visited
    /// with no deficit left.
    pub(crate) fn next(&mut self) -> Option<usize> {
        self.pass_rounds();
        // Once around without one that its limit admits: all wait for the driver.
        let mut refused = 0;
        while refused < self.active.len() {
            let queue = *self.active.front()?;
            let admitted = self.may_send(queue) || self.shares[queue].has_retries;
            let share = &mut self.shares[queue];
            let had_none = share.deficit_nanos < 0;
            if had_none {
                share.deficit_nanos += WEIGHT_NANOS;
            }
            if had_none || !admitted {
                self.active.rotate_left(1);
                refused = if admitted { 0 } else { refused + 1 };
                continue;
            }
            if share.round == self.round {
                return None;
            }
            share.round = self.round;
            return Some(queue);
        }
        None
    }

    /// Executes at once the rounds in which each active queue with no deficit left gains its weight
    /// and no queue is served.
    fn pass_rounds(&mut self) {
        let visits = |share: &Share| match -share.deficit_nanos {
            ..=0 => 0,
            owed => (owed as u64).div_ceil(WEIGHT_NANOS as u64),
        };
        let admitted = self
            .active
            .iter()
            .copied()
            .filter(|&queue| self.may_send(queue) || self.shares[queue].has_retries);
        let rounds = admitted.map(|queue| visits(&self.shares[queue])).min();
        let Some(rounds) = rounds.filter(|&rounds| rounds > 0) else {
            return;
        };
        for &queue in &self.active {
            let share = &mut self.shares[queue];
            share.deficit_nanos += WEIGHT_NANOS * visits(share).min(rounds - 1) as i64;
        }
    }

    /// Whether the driver may be given more of a queue.
    #[inline]
    pub(crate) fn may_send(&self, queue: usize) -> bool {
        let limit = if self.pending < self.limits.threshold {
            self.limits.high
        } else {
            self.limits.low
        };
        self.shares[queue].pending < limit
    }

    /// The driver is given a packet with this estimated airtime.
    #[inline]
    pub(crate) fn begin(&mut self, queue: usize, airtime: Duration) {
        self.shares[queue].pending += airtime;
        self.pending += airtime;
    }

    /// The driver has finished packets with this estimated airtime.
    #[inline]
    pub(crate) fn end(&mut self, queue: usize, airtime: Duration) {
        self.shares[queue].pending -= airtime;
        self.pending -= airtime;
    }

    /// A queue has used the channel.
    pub(crate) fn charge(&mut self, queue: usize, airtime: Duration) {
        self.shares[queue].deficit_nanos -= airtime.as_nanos() as i64;
    }

    /// A queue's destination has used the channel itself.
    pub(crate) fn charge_received(&mut self, queue: usize, airtime: Duration) {
        if self.limits.counts_received {
            self.charge(queue, airtime);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Queue 1's packets take ten times as long as queue 0's. Both are always backlogged, and each
    /// turn is one packet, finished before the next: in 11 000 turns each has used half of the
    /// airtime.
    #[test]
    fn airtime_is_shared_alike() {
        let mut scheduler = AirtimeScheduler::new(AirtimeLimits::default(), 2);
        let costs = [Duration::from_micros(300), Duration::from_micros(3_000)];
        let mut used = [Duration::ZERO; 2];
        for queue in [0, 1] {
            scheduler.activate(queue);
        }
        for _ in 0..11_000 {
            scheduler.begin_round();
            let queue = scheduler.next().expect("both have packets");
            assert!(scheduler.may_send(queue));
            scheduler.charge(queue, costs[queue]);
            used[queue] += costs[queue];
        }
        let share = used[0].as_secs_f64() / (used[0] + used[1]).as_secs_f64();
        assert!((share - 0.5).abs() < 0.005, "{share}");
    }

    /// 12 ms of one station; with 24 ms pending in all, 5 ms.
    #[test]
    fn a_driver_is_given_no_more_than_the_limits() {
        let packet = Duration::from_micros(1_000);
        let mut scheduler = AirtimeScheduler::new(AirtimeLimits::default(), 3);
        let mut fill = |queue| {
            let mut packets = 0;
            while scheduler.may_send(queue) {
                scheduler.begin(queue, packet);
                packets += 1;
            }
            packets
        };
        assert_eq!([0, 1, 2].map(&mut fill), [12, 12, 5]);
        scheduler.activate(0);
        scheduler.begin_round();
        assert_eq!(scheduler.next(), None);
        for _ in 0..8 {
            scheduler.end(0, packet);
        }
        assert_eq!(scheduler.next(), Some(0));
    }
}
