//! Durations as a histogram that yields quantiles.

use std::iter::{repeat, repeat_n};

use airtcp_units::Duration;

/// Bits of a bucket's position within its octave: 64 buckets, each at most 1/64 as wide as its
/// values.
const PLACE_BITS: u32 = 6;

/// The count of a bucket as it is stored: its low bits, as most counts need no more.
pub trait Cell: Copy + Default + Into<u64> {
    /// Number of bits.
    const BITS: u32;

    /// The low bits of a count.
    fn low(count: u64) -> Self;

    /// Adds to the low bits; returns whether they overflow.
    fn add(&mut self, more: Self) -> bool;
}

macro_rules! cells {
    ($($cell:ty)+) => {$(
        impl Cell for $cell {
            const BITS: u32 = Self::BITS;

            #[inline]
            fn low(count: u64) -> Self {
                count as Self
            }

            #[inline]
            fn add(&mut self, more: Self) -> bool {
                let overflows;
                (*self, overflows) = self.overflowing_add(more);
                overflows
            }
        }
    )+};
}

cells! { u8 u32 }

/// Counts of durations in buckets of a width proportional to the value (log-linear, as in Tene's
/// HdrHistogram). It holds the span of buckets between the shortest and the longest duration, each
/// in one cell until one overflows, so that very many flows fit in memory.
#[derive(Clone, Debug, Default)]
pub struct Histogram<C = u8> {
    /// The bucket of the first count.
    first: u16,
    /// The low bits of each count.
    counts: Vec<C>,
    /// The overflow of each count; `None` until one overflows.
    #[expect(clippy::box_collection, reason = "a pointer where there are none")]
    carried: Option<Box<Vec<u32>>>,
}

impl<C: Cell> Histogram<C> {
    /// Counts a duration `times` times.
    #[inline]
    pub(super) fn add(&mut self, duration: Duration, times: C) {
        let bucket = bucket_of(duration.as_nanos());
        let place = bucket.wrapping_sub(usize::from(self.first));
        match self.counts.get_mut(place) {
            Some(count) => {
                if count.add(times) {
                    self.carry(place, 1);
                }
            }
            None => *self.grown_to(bucket) = times,
        }
    }

    /// Adds to the overflow of the count at `place`.
    #[cold]
    fn carry(&mut self, place: usize, overflow: u64) {
        let length = self.counts.len();
        let carried = self
            .carried
            .get_or_insert_with(|| Box::new(vec![0; length]));
        let overflow = u32::try_from(overflow).unwrap_or(u32::MAX);
        carried[place] = carried[place].saturating_add(overflow);
    }

    /// Extends the span to `bucket`, which is outside.
    #[cold]
    fn grown_to(&mut self, bucket: usize) -> &mut C {
        if self.counts.is_empty() {
            self.first = first_at(bucket);
        }
        let below = usize::from(self.first).saturating_sub(bucket);
        self.first = first_at(usize::from(self.first) - below);
        let place = bucket - usize::from(self.first);
        let length = (below + self.counts.len()).max(place + 1);
        self.counts.splice(0..0, repeat_n(C::default(), below));
        self.counts.resize(length, C::default());
        if let Some(carried) = &mut self.carried {
            carried.splice(0..0, repeat_n(0, below));
            carried.resize(length, 0);
        }
        &mut self.counts[place]
    }

    /// Counts everything that `other` has counted.
    pub fn merge<D: Cell>(&mut self, other: &Histogram<D>) {
        for (count, bucket) in other.counts().zip(usize::from(other.first)..) {
            if count > 0 {
                let place = bucket.wrapping_sub(usize::from(self.first));
                if self.counts.get(place).is_none() {
                    self.grown_to(bucket);
                }
                let place = bucket - usize::from(self.first);
                let overflows = u64::from(self.counts[place].add(C::low(count)));
                let overflow = (count >> C::BITS) + overflows;
                if overflow > 0 {
                    self.carry(place, overflow);
                }
            }
        }
    }

    /// The count of each bucket, from [`Self::first`] on.
    fn counts(&self) -> impl Iterator<Item = u64> {
        let carried = self.carried.as_deref().into_iter().flatten().copied();
        let counts = self.counts.iter().zip(carried.chain(repeat(0)));
        counts.map(|(&count, carried)| (u64::from(carried) << C::BITS) + count.into())
    }

    /// The duration that the share `permille` of the counts does not exceed (nearest rank), within
    /// 1 % or 2 ns; `None` when nothing was counted.
    #[must_use]
    pub fn quantile(&self, permille: u64) -> Option<Duration> {
        self.quantiles([permille]).next().flatten()
    }

    /// [The quantiles](Self::quantile) at these shares, which ascend, in one pass.
    pub fn quantiles(
        &self,
        permilles: impl IntoIterator<Item = u64>,
    ) -> impl Iterator<Item = Option<Duration>> {
        let total: u64 = self.counts().sum();
        let mut buckets = self.counts().zip(usize::from(self.first)..);
        let (mut before, mut here) = (0, None);
        permilles.into_iter().map(move |permille| {
            let rank = u64::try_from((u128::from(total) * u128::from(permille)).div_ceil(1000));
            let rank = rank.unwrap_or(total).max(1);
            while before < rank {
                let (count, bucket) = buckets.next()?;
                before += count;
                here = Some(middle_of(bucket));
            }
            here
        })
    }

    /// The mean of the lowest share `permille` of the counts (nearest rank), in milliseconds,
    /// within 1 %; `None` when nothing was counted.
    #[must_use]
    pub fn trimmed_mean_ms(&self, permille: u64) -> Option<f64> {
        let total: u64 = self.counts().sum();
        let kept = u64::try_from((u128::from(total) * u128::from(permille)).div_ceil(1000)).ok()?;
        let (mut left, mut sum) = (kept, 0.0);
        for (count, bucket) in self.counts().zip(usize::from(self.first)..) {
            let taken = count.min(left);
            left -= taken;
            sum += middle_of(bucket).as_millis_f64() * taken as f64;
        }
        (kept > 0).then(|| sum / kept as f64)
    }
}

/// Added to a time in nanoseconds, so that each of the shortest has a separate bucket.
const SHIFT_NANOS: u64 = 1 << PLACE_BITS;

/// The bucket of a time in nanoseconds: its octave, and the bits below its highest. They are the
/// exponent of a float and the upper bits of its fraction: counting is done for every packet, and
/// this takes half the instructions. Rounded to 24 bits, the same on every machine (IEEE 754 §5.4).
#[expect(
    clippy::cast_possible_wrap,
    reason = "no time is as long as 292 years, and signed numbers take one instruction"
)]
#[inline]
const fn bucket_of(nanos: u64) -> usize {
    let float = nanos.wrapping_add(SHIFT_NANOS) as i64 as f32;
    (float.to_bits() >> (f32::MANTISSA_DIGITS - 1 - PLACE_BITS)) as usize
}

/// The shortest time of a bucket, in nanoseconds.
const fn lowest_of(bucket: usize) -> u64 {
    let float = f32::from_bits((bucket as u32) << (f32::MANTISSA_DIGITS - 1 - PLACE_BITS));
    float as u64 - SHIFT_NANOS
}

/// A bucket in the stored form of the first one.
fn first_at(bucket: usize) -> u16 {
    u16::try_from(bucket).expect("at most 256 exponents of 64 buckets")
}

/// The middle of a bucket.
const fn middle_of(bucket: usize) -> Duration {
    let lowest = lowest_of(bucket);
    let width = lowest_of(bucket + 1) - lowest;
    Duration::from_nanos(lowest + width / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times over all magnitudes possible in a run, in an order that extends the span in both
    /// directions.
    fn times() -> Vec<u64> {
        let mut state = 1_u64;
        (0..5000)
            .map(|_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                (state >> 24) % (1 << (state >> 59))
            })
            .collect()
    }

    #[test]
    fn buckets_do_not_overlap_and_leave_nothing_out() {
        for nanos in (0..100_000).chain(times()) {
            let (here, next) = (bucket_of(nanos), bucket_of(nanos + 1));
            assert!(next == here || next == here + 1, "{nanos}: {here}, {next}");
            assert_eq!(bucket_of(middle_of(here).as_nanos()), here, "{nanos}");
        }
    }

    /// Compared with the nearest rank in the sorted times.
    #[test]
    fn quantiles_are_within_one_per_cent() {
        let mut times = times();
        let mut histogram = <Histogram>::default();
        for &nanos in &times {
            histogram.add(Duration::from_nanos(nanos), 1);
        }
        times.sort_unstable();
        for percent in [1, 25, 50, 95, 99, 100] {
            let exact = times[(times.len() * percent).div_ceil(100) - 1];
            let found = histogram
                .quantile(10 * percent as u64)
                .expect("times")
                .as_nanos();
            let off = found.abs_diff(exact);
            assert!(
                off * 100 <= exact.max(200),
                "{percent} %: {found} for {exact}"
            );
        }
    }

    /// Counts of more than a byte, and a span that grows below and above them.
    #[test]
    fn counts_of_more_than_a_byte_stay_where_they_are() {
        let (mut one_by_one, mut weighted) = (<Histogram>::default(), Histogram::<u32>::default());
        let mut times = Vec::new();
        for (millis, count) in [(50, 700), (20, 300), (90, 1000), (50, 600), (10, 3)] {
            let time = Duration::from_millis(millis);
            for _ in 0..count {
                one_by_one.add(time, 1);
                times.push(time.as_nanos());
            }
            // So heavy that most overflow their cells.
            for _ in 0..count {
                weighted.add(time, u32::MAX / 100);
            }
        }
        times.sort_unstable();
        let mut merged = Histogram::<u32>::default();
        merged.merge(&weighted);
        for percent in 1..=100 {
            let exact = bucket_of(times[(times.len() * percent).div_ceil(100) - 1]);
            let bucket = |time: Option<Duration>| bucket_of(time.expect("times").as_nanos());
            let permille = 10 * percent as u64;
            assert_eq!(bucket(one_by_one.quantile(permille)), exact, "{percent} %");
            assert_eq!(bucket(weighted.quantile(permille)), exact, "{percent} %");
            assert_eq!(bucket(merged.quantile(permille)), exact, "{percent} %");
        }
    }

    #[test]
    fn several_quantiles_are_each_of_them() {
        let mut histogram = <Histogram>::default();
        for nanos in times() {
            histogram.add(Duration::from_nanos(nanos), 1);
        }
        let permilles = [0, 0, 10, 500, 500, 999, 1000];
        let each: Vec<_> = permilles.map(|one| histogram.quantile(one)).into();
        assert_eq!(histogram.quantiles(permilles).collect::<Vec<_>>(), each);
    }

    #[test]
    fn nothing_counted_has_no_quantile() {
        assert_eq!(<Histogram>::default().quantile(500), None);
    }
}
