//! Resource blocks of a slot for its users: proportionally fair, in turn, or by the best rate.

use std::cmp::Ordering;

use super::channel::SubbandBlocks;
use super::grid::{Grid, MAX_SUBBANDS};
use crate::mac::cellular::Scheduler;

/// A user who wants resource blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub user: usize,
    /// Bits to be sent.
    pub wanted: f64,
    /// The part of these bits that goes before other users' bits.
    pub urgent: f64,
    /// Bits for each resource element in each subband; 0 where there is no transmission.
    pub rates: [f64; MAX_SUBBANDS],
    /// The power that a user has for all resource blocks; absent in the downlink, where each user
    /// has the base station's share.
    pub power: Option<SharedPower>,
    /// Resource blocks granted, in all and in each subband, and the first group of them.
    pub blocks: u32,
    pub shares: SubbandBlocks,
    pub first_group: u32,
    /// Bits that they are expected to carry.
    expected: f64,
}

/// Least bits for each resource element that power is spread down to: CQI 1.
const MIN_RATE: f64 = 0.1523;

/// Power that resource blocks share.
#[derive(Clone, Copy, Debug)]
pub(super) struct SharedPower {
    /// Ratio of signal to noise if it goes into one resource block, over the distance from
    /// Shannon's limit.
    pub snr: f64,
    /// Most bits for a resource element.
    pub most: f64,
}

impl SharedPower {
    /// Bits for each resource element of `blocks` resource blocks.
    fn rate(self, blocks: u32) -> f64 {
        libm::log2(1.0 + self.snr / f64::from(blocks)).min(self.most)
    }
}

impl Candidate {
    pub(super) const fn new(user: usize, wanted: f64, rates: [f64; MAX_SUBBANDS]) -> Self {
        Self {
            user,
            wanted,
            urgent: 0.0,
            rates,
            power: None,
            blocks: 0,
            shares: [0; MAX_SUBBANDS],
            first_group: 0,
            expected: 0.0,
        }
    }

    /// Whether it has bits that go before other users'.
    fn is_urgent(&self) -> bool {
        self.expected < self.urgent
    }

    /// Whether `more` resource blocks of a subband are of use.
    fn wants(&self, subband: usize, more: u32) -> bool {
        let has_signal = match self.power {
            None => self.rates[subband] > 0.0,
            Some(power) => self.blocks == 0 || power.rate(self.blocks + more) >= MIN_RATE,
        };
        has_signal && self.expected < self.wanted
    }

    fn take(&mut self, (group, subband): (u32, usize), blocks: u32, elements: f64) {
        if self.blocks == 0 {
            self.first_group = group;
        }
        self.blocks += blocks;
        self.shares[subband] += blocks;
        self.expected = match self.power {
            None => self.expected + self.rates[subband] * elements * f64::from(blocks),
            Some(power) => f64::from(self.blocks) * elements * power.rate(self.blocks),
        };
    }
}

/// State of a scheduler.
#[derive(Clone, Debug)]
pub(super) struct Allocation {
    scheduler: Scheduler,
    /// Averages of the bits that each user is served in a slot.
    served: Vec<f64>,
    /// The slot up to which they hold.
    slot: u64,
    /// The user whose turn was last.
    last: usize,
}

/// Lower bound of an average: a user that was never served is served soon.
const MIN_SERVED: f64 = 1e-9;

impl Allocation {
    pub(super) fn new(scheduler: Scheduler, users: usize) -> Self {
        Self {
            scheduler,
            served: vec![0.0; users],
            slot: 0,
            last: users.saturating_sub(1),
        }
    }

    /// Gives the free groups to candidates, beginning with the subband that is the best for the
    /// candidate who is first there: a user with little to send has its best subband, and is not
    /// held up by the fade of another. A candidate wants no more once its bits are expected to fit.
    pub(super) fn allocate(
        &mut self,
        slot: u64,
        (grid, elements): (Grid, u32),
        free: &mut [bool],
        candidates: &mut [Candidate],
    ) {
        self.age(slot);
        let elements = f64::from(elements);
        let mut turn = None;
        let subbands = best_first(grid.subbands(), |subband| {
            let metrics = candidates.iter().map(|one| {
                (
                    one.is_urgent(),
                    self.metric(one, subband),
                    one.rates[subband],
                )
            });
            metrics.fold(
                (false, f64::NEG_INFINITY, 0.0),
                |a, b| if b > a { b } else { a },
            )
        });
        let ranked = subbands.into_iter().take(grid.subbands());
        let groups =
            ranked.flat_map(|subband| grid.groups_of(subband).map(move |group| (subband, group)));
        for (subband, group) in groups {
            if !free[group as usize] {
                continue;
            }
            let blocks = grid.blocks_in(group);
            let mut best: Option<((bool, f64), usize)> = None;
            for (place, candidate) in candidates.iter().enumerate() {
                if !candidate.wants(subband, blocks) {
                    continue;
                }
                let metric = (candidate.is_urgent(), self.metric(candidate, subband));
                if best.is_none_or(|(most, _)| metric > most) {
                    best = Some((metric, place));
                }
            }
            if let Some((_, place)) = best {
                free[group as usize] = false;
                let candidate = &mut candidates[place];
                candidate.take((group, subband), blocks, elements);
                turn.get_or_insert(candidate.user);
            }
        }
        self.last = turn.unwrap_or(self.last);
    }

    fn metric(&self, candidate: &Candidate, subband: usize) -> f64 {
        let rate = candidate.rates[subband];
        match self.scheduler {
            Scheduler::ProportionalFair { .. } => {
                rate / self.served[candidate.user].max(MIN_SERVED)
            }
            Scheduler::MaxRate => rate,
            // Who has the fewest; of those the next one after the last.
            Scheduler::RoundRobin => {
                let count = self.served.len();
                let turn = (candidate.user + count - self.last - 1) % count;
                -(f64::from(candidate.blocks) * count as f64 + turn as f64)
            }
        }
    }

    /// A user is served `bits` in this slot.
    pub(super) fn on_served(&mut self, user: usize, bits: u32) {
        if let Scheduler::ProportionalFair { time_constant } = self.scheduler {
            self.served[user] += f64::from(bits) / time_constant;
        }
    }

    /// Lets averages decay for the slots since the last, idle ones included.
    fn age(&mut self, slot: u64) {
        let slots = slot.saturating_sub(self.slot) + 1;
        self.slot = slot + 1;
        if let Scheduler::ProportionalFair { time_constant } = self.scheduler {
            let kept = 1.0 - 1.0 / time_constant;
            let decay = if slots == 1 {
                kept
            } else {
                libm::pow(kept, slots as f64)
            };
            for served in &mut self.served {
                *served *= decay;
            }
        }
    }
}

/// Urgency, metric and rate of the candidate who is first in a subband.
type Rank = (bool, f64, f64);

/// The subbands by falling rank; of equal ones the lower first.
fn best_first(count: usize, rank: impl Fn(usize) -> Rank) -> [usize; MAX_SUBBANDS] {
    let mut ranked = [((false, 0.0, 0.0), 0); MAX_SUBBANDS];
    for (subband, place) in ranked[..count].iter_mut().enumerate() {
        *place = (rank(subband), subband);
    }
    // Of at most eight, a stable sort inserts.
    ranked[..count].sort_by(|(a, _), (b, _)| b.partial_cmp(a).unwrap_or(Ordering::Equal));
    ranked.map(|(_, subband)| subband)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(scheduler: Scheduler, wanted: [f64; 3], rates: [f64; 3]) -> [u32; 3] {
        let mut allocation = Allocation::new(scheduler, 3);
        let grid = Grid::new(12, 1, 1);
        let mut candidates: Vec<_> = (0..3)
            .map(|user| Candidate::new(user, wanted[user], [rates[user]; MAX_SUBBANDS]))
            .collect();
        allocation.allocate(0, (grid, 100), &mut [true; 12], &mut candidates);
        [0, 1, 2].map(|user| candidates[user].blocks)
    }

    /// 12 resource blocks of 100 resource elements.
    #[test]
    fn resource_blocks_go_by_the_rule_until_all_is_sent() {
        let endless = [f64::INFINITY; 3];
        let rates = [1.0, 2.0, 4.0];
        assert_eq!(shares(Scheduler::RoundRobin, endless, rates), [4, 4, 4]);
        assert_eq!(shares(Scheduler::MaxRate, endless, rates), [0, 0, 12]);
        // 1000 bits need 3 blocks of 400, and the rest goes to the next.
        let little = [f64::INFINITY, 500.0, 1000.0];
        assert_eq!(shares(Scheduler::MaxRate, little, rates), [6, 3, 3]);
        assert_eq!(shares(Scheduler::RoundRobin, little, rates), [6, 3, 3]);
        assert_eq!(shares(Scheduler::MaxRate, endless, [0.0; 3]), [0, 0, 0]);
    }

    /// 12 resource blocks in four subbands, 300 bits in each at a rate of 1. Who has little to send
    /// has its best subband, in turn too; whose data is urgent, before one with a better signal.
    #[test]
    fn little_data_has_the_best_subband() {
        let grid = Grid::new(12, 1, 4);
        let rates = |best: usize| {
            let mut rates = [1.0; MAX_SUBBANDS];
            rates[best] = 3.0;
            rates
        };
        let shares = |scheduler, mut candidates: Vec<Candidate>| {
            let mut allocation = Allocation::new(scheduler, 2);
            allocation.allocate(0, (grid, 100), &mut [true; 12], &mut candidates);
            let shares = candidates.iter().map(|one| one.shares[..4].to_vec());
            shares.collect::<Vec<_>>()
        };
        let little = Candidate::new(0, 300.0, rates(2));
        for scheduler in [Scheduler::MaxRate, Scheduler::RoundRobin] {
            assert_eq!(shares(scheduler, vec![little]), [[0, 0, 1, 0]]);
            let more = Candidate::new(0, 1000.0, rates(3));
            assert_eq!(shares(scheduler, vec![more]), [[1, 0, 0, 3]]);
        }
        let endless = Candidate::new(1, f64::INFINITY, [2.0; MAX_SUBBANDS]);
        let both = shares(Scheduler::MaxRate, vec![endless, little]);
        assert_eq!(both, [[3, 3, 2, 3], [0, 0, 1, 0]]);
        let weak = Candidate {
            urgent: 100.0,
            ..Candidate::new(0, 100.0, [0.5, 1.0, 0.5, 0.5, 0.0, 0.0, 0.0, 0.0])
        };
        let both = shares(Scheduler::MaxRate, vec![endless, weak]);
        assert_eq!(both, [[3, 2, 3, 3], [0, 1, 0, 0]]);
    }

    /// Power for one block at a ratio of 1: in 8 blocks log2(1 + 1/8) = 0.170 bits, in 9 0.152,
    /// which is less than the lowest rate.
    #[test]
    fn power_is_not_spread_beyond_the_lowest_rate() {
        let mut allocation = Allocation::new(Scheduler::MaxRate, 1);
        let mut candidates = [Candidate {
            power: Some(SharedPower {
                snr: 1.0,
                most: 5.5,
            }),
            ..Candidate::new(0, f64::INFINITY, [1.0; MAX_SUBBANDS])
        }];
        let grid = Grid::new(12, 1, 1);
        allocation.allocate(0, (grid, 100), &mut [true; 12], &mut candidates);
        assert_eq!(candidates[0].blocks, 8);
    }
}
