//! Minstrel-HT, as in Linux's mac80211 (`net/mac80211/rc80211_minstrel_ht.c` of Linux 6).
//!
//! Every 50 ms the probability that an MPDU is acknowledged is updated for each mode by a low-pass
//! filter, and the four modes of highest expected throughput and the one that is most probable. A
//! PPDU goes out in the best, its repetitions in the second and third best and then in the most
//! probable one, each after an RTS; if all fail, the driver restarts. Every 20 ms at most, one PPDU
//! samples another mode, and its repetitions begin with the second best.
//!
//! Linux uses it for 802.11n and ac; for 802.11ax, where drivers have proprietary rate control, it
//! is applied here in the same way.

mod rates;
mod sampling;
mod statistics;

use airtcp_units::{Duration, Instant};

use super::{Choice, Report};
use crate::phy::Mode;
use crate::random::Stream;
use rates::{Group, PLACES, Rate, groups};
use sampling::Sampler;
use statistics::{ONE, Statistics, fraction};

/// Interval between updates (`HZ / 20`).
const UPDATE_EVERY: Duration = Duration::from_millis(50);
/// Number of modes of highest throughput that are kept.
const BEST: usize = 4;
/// Weight of the old average length of A-MPDUs, of 128.
const OLD_LENGTH: i32 = 96;
/// Time of a frame but for its data, in nanoseconds: preamble and an ACK at 6 Mbit/s, and SIFS
/// twice (`ieee80211_frame_duration` of 0 and of 10 bytes).
const OVERHEAD_NANOS: u64 = (48 + 60) * 1000;
/// The same with RTS and CTS: two more control frames.
const OVERHEAD_WITH_RTS_NANOS: u64 = OVERHEAD_NANOS + 2 * 60 * 1000;
/// Maximum duration of repetitions in one mode, in microseconds (`segment_size`).
const SEGMENT_MICROS: u64 = 6000;
/// Maximum number of attempts in one mode (`max_retry`).
const MAX_ATTEMPTS: u32 = 7;
/// Modes in a chain of repetitions (`IEEE80211_TX_RATE_TABLE_SIZE`, and ath9k's).
const STAGES: usize = 4;

/// Minstrel-HT for one station.
#[derive(Clone, Debug)]
pub struct Minstrel {
    groups: Vec<Group>,
    /// The modes of highest throughput, best first.
    best: [Rate; BEST],
    most_probable: Rate,
    /// Attempts in the three best modes, and then in the most probable one.
    attempts: [u32; STAGES],
    /// Whether the last PPDU that was not a repetition sampled a mode.
    is_sampling: bool,
    sampler: Sampler,
    updated: Instant,
    /// A-MPDUs and their MPDUs since the last update, and their average length in units of 1/4096.
    ppdus: u32,
    mpdus: u32,
    average_length: i32,
}

impl Minstrel {
    /// A rate control over `modes`, all of one family of 802.11n, ac or ax; `None` without any. It
    /// begins at `now` with the slowest group's first. The order in which modes are sampled is
    /// drawn from `stream`.
    #[must_use]
    pub fn new(modes: &[Mode], now: Instant, stream: Stream) -> Option<Self> {
        let groups = groups(modes);
        let place = (0..12).find(|&place| groups.first().is_some_and(|group| group.has(place)))?;
        let first = Rate { group: 0, place };
        let mut minstrel = Self {
            sampler: Sampler::new(now, stream),
            groups,
            best: [first; BEST],
            most_probable: first,
            attempts: [2; STAGES],
            is_sampling: false,
            updated: now,
            ppdus: 0,
            mpdus: 0,
            average_length: ONE,
        };
        minstrel.update(now);
        Some(minstrel)
    }

    pub(super) fn choose(&mut self, now: Instant, failures: u32) -> Choice {
        if failures == 0 {
            let sampled = self.sampler.take(now);
            self.is_sampling = sampled.is_some();
            if let Some(rate) = sampled {
                return Choice {
                    is_probe: true,
                    ..Choice::of(self.mode(rate))
                };
            }
        }
        let stage = self.stage(failures);
        let rate = match self.best.get(stage) {
            Some(rate) if stage + 1 < STAGES => *rate,
            _ => self.most_probable,
        };
        Choice {
            needs_rts: stage > 0,
            ..Choice::of(self.mode(rate))
        }
    }

    /// The stage of the chain after that many failed attempts. A sample replaces the first stage,
    /// once; after the last stage the driver restarts.
    fn stage(&self, failures: u32) -> usize {
        let mut left = failures;
        if self.is_sampling {
            let behind: u32 = self.attempts[1..].iter().sum();
            left = left.saturating_sub(1);
            if left < behind {
                left += self.attempts[0];
            } else {
                left -= behind;
            }
        }
        left %= self.attempts.iter().sum::<u32>().max(1);
        for (stage, attempts) in self.attempts.into_iter().enumerate() {
            if left < attempts {
                return stage;
            }
            left -= attempts;
        }
        STAGES - 1
    }

    pub(super) fn report(&mut self, now: Instant, report: &Report) {
        if let Some(statistics) = self.statistics_of(report.mode) {
            statistics.attempts += report.sent;
            statistics.successes += report.acknowledged.min(report.sent);
        }
        self.ppdus += 1;
        self.mpdus += report.sent;
        for place in [0, 1] {
            if self.statistics(self.best[place]).fails_suddenly() {
                self.step_down(place);
            }
        }
        if now > self.updated + UPDATE_EVERY {
            self.update(now);
        }
    }

    pub(super) fn best(&self) -> Mode {
        self.mode(self.best[0])
    }

    pub(super) fn success(&self) -> f64 {
        f64::from(self.statistics(self.best[0]).probability) / f64::from(ONE)
    }

    /// The mode at an occupied place.
    fn mode(&self, rate: Rate) -> Mode {
        let mode = self.groups[usize::from(rate.group)].mode(rate.place);
        mode.unwrap_or(Mode::OFDM_6)
    }

    fn statistics(&self, rate: Rate) -> &Statistics {
        &self.groups[usize::from(rate.group)].statistics[usize::from(rate.place)]
    }

    fn statistics_of(&mut self, mode: Mode) -> Option<&mut Statistics> {
        let place = mode.index();
        let group = self
            .groups
            .iter_mut()
            .find(|group| group.mode(place) == Some(mode))?;
        group.statistics.get_mut(usize::from(place))
    }

    fn duration(&self, rate: Rate) -> u32 {
        self.groups[usize::from(rate.group)].duration(rate.place)
    }

    /// Average number of MPDUs in an A-MPDU, at least one.
    fn length(&self) -> u64 {
        u64::try_from(self.average_length / ONE).unwrap_or(1).max(1)
    }

    /// Packets that would be delivered in 100 ms at that probability, the measure for comparing
    /// modes: as if at most 90 % arrived, since collisions are not the mode's fault; nothing below
    /// 10 %.
    fn throughput(&self, rate: Rate, probability: i32) -> u64 {
        if probability < fraction(10, 100) {
            return 0;
        }
        let nanos = OVERHEAD_NANOS / self.length() + u64::from(self.duration(rate));
        let counted = u64::try_from(probability.min(fraction(90, 100))).unwrap_or(0);
        100 * (counted * 1_000_000 / nanos) / 4096
    }

    fn throughput_of(&self, rate: Rate) -> u64 {
        self.throughput(rate, self.statistics(rate).probability)
    }

    /// All rates, group by group, the fastest of a group first.
    fn rates(&self) -> impl Iterator<Item = Rate> + use<> {
        let has: Vec<_> = self
            .groups
            .iter()
            .zip(0..)
            .flat_map(|(group, number)| {
                let places = (0..PLACES as u8).rev().filter(|place| group.has(*place));
                places.map(move |place| Rate {
                    group: number,
                    place,
                })
            })
            .collect();
        has.into_iter()
    }

    fn update(&mut self, now: Instant) {
        if self.ppdus > 0 {
            let length = fraction(self.mpdus, self.ppdus);
            self.average_length += (128 - OLD_LENGTH) * (length - self.average_length) / 128;
            (self.ppdus, self.mpdus) = (0, 0);
        }
        self.update_statistics();
        self.find_best();
        self.find_most_probable();
        let chain = [self.best[0], self.best[1], self.best[2], self.most_probable];
        self.attempts[0] = self.attempts_of(chain[0], OVERHEAD_NANOS);
        for (stage, rate) in chain.into_iter().enumerate().skip(1) {
            self.attempts[stage] = self.attempts_of(rate, OVERHEAD_WITH_RTS_NANOS);
        }
        self.refill_samples(now);
        self.updated = now;
    }

    /// A mode never tried is as probable as the faster modes of its group.
    fn update_statistics(&mut self) {
        for group in &mut self.groups {
            let mut of_faster = 0;
            for statistics in group.statistics.iter_mut().rev() {
                statistics.update();
                if statistics.was_tried {
                    of_faster = of_faster.max(statistics.probability);
                } else {
                    statistics.probability = statistics.probability.max(of_faster);
                }
            }
        }
    }

    fn find_best(&mut self) {
        let first = self.rates().filter(|rate| rate.group == 0).last();
        let mut best = [first.unwrap_or(self.best[0]); BEST];
        let mut of_group: Vec<[Rate; 2]> = Vec::with_capacity(self.groups.len());
        for rate in self.rates() {
            if of_group.len() <= usize::from(rate.group) {
                let slowest = self
                    .rates()
                    .filter(|other| other.group == rate.group)
                    .last();
                of_group.push([slowest.unwrap_or(rate); 2]);
            }
            if self.throughput_of(rate) == 0 {
                continue;
            }
            self.rank(rate, &mut best);
            self.rank(rate, &mut of_group[usize::from(rate.group)]);
        }
        self.best = best;
        for (group, best) in self.groups.iter_mut().zip(of_group) {
            group.best = best;
        }
    }

    /// Inserts a rate into a list by throughput and then probability, after its equals.
    fn rank(&self, rate: Rate, list: &mut [Rate]) {
        let key = |rate| (self.throughput_of(rate), self.statistics(rate).probability);
        let place = list
            .iter()
            .rposition(|other| key(*other) >= key(rate))
            .map_or(0, |place| place + 1);
        if place < list.len() {
            list[place..].rotate_right(1);
            list[place] = rate;
        }
    }

    /// The mode of the last repetitions: the fastest of the modes that nearly always get through,
    /// else the most probable; with fewer streams than the best if possible.
    fn find_most_probable(&mut self) {
        let best = self.best[0];
        let (best_duration, best_probability) =
            (self.duration(best), self.statistics(best).probability);
        let mut found = self.rates().filter(|rate| rate.group == 0).last();
        for number in 0..self.groups.len() {
            let own = |rate: &Rate| usize::from(rate.group) == number;
            let mut of_group = self.rates().filter(own).last();
            let ascending: Vec<_> = self.rates().filter(own).collect();
            for &rate in ascending.iter().rev() {
                let probability = self.statistics(rate).probability;
                if self.duration(rate) < best_duration && probability < best_probability {
                    continue;
                }
                for place in [&mut found, &mut of_group] {
                    let Some(held) = *place else { continue };
                    let is_better = if probability > fraction(75, 100) {
                        self.throughput_of(rate) > self.throughput_of(held)
                    } else {
                        probability > self.statistics(held).probability
                    };
                    if is_better {
                        *place = Some(rate);
                    }
                }
            }
            if let Some(rate) = of_group {
                self.groups[number].most_probable = rate;
            }
        }
        self.most_probable = found.unwrap_or(best);
        let streams = self.groups[usize::from(best.group)].streams;
        let mut highest = 0;
        for group in &self.groups {
            let throughput = self.throughput_of(group.most_probable);
            if throughput > highest && group.streams < streams {
                self.most_probable = group.most_probable;
                highest = throughput;
            }
        }
    }

    /// Number of attempts in a mode before the next one: two, and more provided that all take less
    /// than a segment, contention and the exchange before the data included.
    fn attempts_of(&self, rate: Rate, overhead: u64) -> u32 {
        if self.statistics(rate).probability < fraction(20, 100) {
            return 2;
        }
        let once = (overhead + u64::from(self.duration(rate)) * self.length()) / 1000;
        let mut window = 15_u64;
        let mut contention = || {
            let micros = 9 * window / 2;
            window = (2 * window + 1).min(1023);
            micros
        };
        let mut total = 2 * once + contention() + contention();
        let mut attempts = 2;
        while attempts < MAX_ATTEMPTS {
            total += once + contention();
            if total >= SEGMENT_MICROS {
                break;
            }
            attempts += 1;
        }
        attempts
    }

    /// Takes the best mode of a group with no more streams for one that suddenly fails.
    fn step_down(&mut self, place: usize) {
        let from = self.best[place];
        let streams = self.groups[usize::from(from.group)].streams;
        let lower = self.groups[..usize::from(from.group)]
            .iter()
            .rev()
            .find(|group| group.streams <= streams);
        if let Some(group) = lower {
            self.best[place] = group.best[place];
        }
    }
}
