//! The modes sampled in addition to the best ones.
//!
//! - *Step*: in each group in turn, the slowest mode that is faster than the best.
//! - *Leap*: in each group in turn, any mode that is faster.
//! - *Gap*: a mode between the fastest and the slowest of those in use, which seldom succeeded.
//!
//! Up to five of each kind wait; samples take them in the order step, leap, step, leap, step, gap.

use airtcp_units::{Duration, Instant};

use super::Minstrel;
use super::rates::{PLACES, Rate};
use super::statistics::fraction;
use crate::random::Stream;

/// Interval between samples (`HZ / 50`).
const SAMPLE_EVERY: Duration = Duration::from_millis(20);
/// Modes of a kind that wait to be sampled.
const WAITING: usize = 5;
/// Columns of the table of orders.
const COLUMNS: usize = 10;

/// A reason to sample a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Step,
    Leap,
    Gap,
}

/// The order of kinds.
const TURNS: [Kind; 6] = [
    Kind::Step,
    Kind::Leap,
    Kind::Step,
    Kind::Leap,
    Kind::Step,
    Kind::Gap,
];

/// Modes that wait to be sampled.
#[derive(Clone, Debug)]
pub(super) struct Sampler {
    next: Instant,
    turn: usize,
    waiting: [[Option<Rate>; WAITING]; 3],
    /// The group of the last step or leap.
    group: [usize; 2],
    /// Orders of the places of a group, drawn once.
    table: [[u8; PLACES]; COLUMNS],
}

impl Sampler {
    pub(super) fn new(now: Instant, stream: Stream) -> Self {
        Self {
            next: now,
            turn: 0,
            waiting: [[None; WAITING]; 3],
            group: [0; 2],
            table: table(stream),
        }
    }

    /// The mode to sample at `now`, if it is time for one.
    pub(super) fn take(&mut self, now: Instant) -> Option<Rate> {
        if now < self.next {
            return None;
        }
        self.next = now + SAMPLE_EVERY;
        let kind = TURNS[self.turn];
        self.turn = (self.turn + 1) % TURNS.len();
        let waiting = &mut self.waiting[kind as usize];
        waiting.iter_mut().find_map(Option::take)
    }

    fn holds(&self, kind: Kind, rate: Rate) -> bool {
        let waiting = self.waiting[kind as usize].iter();
        waiting.map_while(|&other| other).any(|other| other == rate)
    }

    /// Moves modes that are still right to the front; returns how many places are taken. A mode
    /// already in the first place is not counted (`minstrel_ht_move_sample_rates`), so that it
    /// gives way to the next: a single mode waits for at most one update.
    fn keep(&mut self, kind: Kind, is_right: impl Fn(Rate) -> bool) -> usize {
        let waiting = &mut self.waiting[kind as usize];
        let mut kept = 0;
        for place in 0..WAITING {
            let Some(rate) = waiting[place] else {
                continue;
            };
            if !is_right(rate) {
                waiting[place] = None;
            } else if place != kept {
                waiting[place] = None;
                waiting[kept] = Some(rate);
                kept += 1;
            }
        }
        kept
    }
}

/// Ten orders of the places of a group: each place moves by a random number, to the next that is
/// free.
fn table(stream: Stream) -> [[u8; PLACES]; COLUMNS] {
    // Reduced before it becomes a usize, which may have 32 bits.
    let mut draws = (0..).map(|index| (stream.draw(index) % PLACES as u64) as usize);
    [(); COLUMNS].map(|()| {
        let mut column = [None; PLACES];
        for place in 0..PLACES {
            let start = place + draws.next().unwrap_or(0);
            let free = (0..PLACES)
                .map(|step| (start + step) % PLACES)
                .find(|&at| column[at].is_none());
            column[free.unwrap_or(place)] = Some(place as u8);
        }
        column.map(|place| place.unwrap_or(0))
    })
}

impl Minstrel {
    /// Refills the waiting modes, after an update: modes no longer between the right ones are
    /// removed.
    pub(super) fn refill_samples(&mut self, now: Instant) {
        self.sampler.next = now;
        let durations =
            [self.best[0], self.best[1], self.most_probable].map(|rate| self.duration(rate));
        let fastest = durations.into_iter().min().unwrap_or(0);
        let slowest = durations.into_iter().max().unwrap_or(0);
        let groups = &self.groups;
        let duration = |rate: Rate| groups[usize::from(rate.group)].duration(rate.place);
        let is_faster = |rate| duration(rate) < fastest;
        let is_between = |rate| (fastest + 1..slowest).contains(&duration(rate));
        let steps = self.sampler.keep(Kind::Step, is_faster);
        let leaps = self.sampler.keep(Kind::Leap, is_faster);
        let mut gaps = self.sampler.keep(Kind::Gap, is_between);
        for place in steps..WAITING {
            let rate = self.next_step(self.duration(self.best[0]));
            self.sampler.waiting[Kind::Step as usize][place] = rate;
            if rate.is_none() {
                break;
            }
        }
        for place in leaps..WAITING {
            let rate = self.next_leap(fastest, slowest, &mut gaps);
            self.sampler.waiting[Kind::Leap as usize][place] = rate;
            if rate.is_none() {
                break;
            }
        }
    }

    /// The first place of a group with a mode that takes less than `duration`.
    fn first_below(&self, group: usize, duration: u32) -> Option<u8> {
        let group = &self.groups[group];
        (0..PLACES as u8).find(|&place| group.has(place) && group.duration(place) < duration)
    }

    fn next_step(&mut self, duration: u32) -> Option<Rate> {
        let count = self.groups.len();
        for _ in 0..count {
            let group = (self.sampler.group[0] + 1) % count;
            self.sampler.group[0] = group;
            if let Some(place) = self.first_below(group, duration) {
                let rate = Rate {
                    group: group as u8,
                    place,
                };
                if !self.sampler.holds(Kind::Step, rate) {
                    return Some(rate);
                }
            }
        }
        None
    }

    /// `gaps` modes wait to be sampled as gaps; a newly drawn one joins them.
    fn next_leap(&mut self, fastest: u32, slowest: u32, gaps: &mut usize) -> Option<Rate> {
        let count = self.groups.len();
        for _ in 0..count {
            let group = (self.sampler.group[1] + 1) % count;
            self.sampler.group[1] = group;
            let has_gaps = *gaps < WAITING;
            let below = if has_gaps { slowest } else { fastest };
            let Some(first) = self.first_below(group, below) else {
                continue;
            };
            let Some(rate) = self.drawn(group, first) else {
                continue;
            };
            let duration = self.duration(rate);
            if duration < fastest {
                if !self.sampler.holds(Kind::Leap, rate) {
                    return Some(rate);
                }
            } else if has_gaps
                && duration < slowest
                && !self.sampler.holds(Kind::Gap, rate)
                && self.statistics(rate).probability <= fraction(95, 100)
            {
                self.sampler.waiting[Kind::Gap as usize][*gaps] = Some(rate);
                *gaps += 1;
            }
        }
        None
    }

    /// The next mode of a group in the drawn order, from place `first` on.
    fn drawn(&mut self, number: usize, first: u8) -> Option<Rate> {
        for _ in 0..PLACES {
            let group = &mut self.groups[number];
            let place = self.sampler.table[group.column][group.row];
            group.row += 1;
            if group.row == PLACES {
                group.row = 0;
                group.column = (group.column + 1) % COLUMNS;
            }
            if place >= first && group.has(place) {
                return Some(Rate {
                    group: number as u8,
                    place,
                });
            }
        }
        None
    }
}
