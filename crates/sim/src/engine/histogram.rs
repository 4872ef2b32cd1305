//! Durations as a histogram that yields quantiles.

use std::iter::repeat_n;

use airtcp_units::Duration;

/// Bits of a bucket's position within its octave: 64 buckets, each at most 1/64 as wide as its
/// values.
const PLACE_BITS: u32 = 6;
/// Buckets by which a span is extended beyond the duration that extends it.
const MARGIN: usize = 8;
/// The first bucket while the cells are a list: above every bucket, so that the span is empty.
const LISTED: u16 = u16::MAX;
/// Bytes of a listed bucket: the bucket, little-endian, and the units counted in it.
const ENTRY: usize = 3;
/// Maximum number of listed buckets: the list takes about as much as the cells of delays that
/// differ by a factor of three.
const MAX_LISTED: usize = 32;
/// Units in a listed bucket that end the list: searching it costs more than a cell, which a flow
/// with few packets can afford.
const MANY: u8 = 64;

/// The amount that a cell counts.
pub trait Unit: Copy + Default {
    /// The unit of a histogram whose first duration counts `amount` times.
    fn of_first(amount: u32) -> Self;

    /// The amount.
    fn amount(self) -> u32;
}

/// One: each duration counts once.
#[derive(Clone, Copy, Debug, Default)]
pub struct One;

impl Unit for One {
    fn of_first(_amount: u32) -> Self {
        Self
    }

    #[inline]
    fn amount(self) -> u32 {
        1
    }
}

/// The amount of the first duration: bytes that arrive in segments of one size.
impl Unit for u32 {
    fn of_first(amount: u32) -> Self {
        amount
    }

    #[inline]
    fn amount(self) -> u32 {
        self
    }
}

/// Counts of durations in buckets of a width proportional to the value (log-linear, as in Tene's
/// HdrHistogram). It holds the span of buckets between the shortest and the longest duration, each
/// in a cell of one byte that counts in a [unit](Unit), so that very many flows fit in memory.
/// While few durations are counted, most cells would be empty, and it lists the others.
#[derive(Clone, Debug, Default)]
pub struct Histogram<U = One> {
    /// The bucket of the first cell; [`LISTED`] while the cells are a list.
    first: u16,
    unit: U,
    /// Units counted in each bucket of the span; or a list of buckets, ascending, each with its
    /// units, in [`ENTRY`] bytes.
    cells: Box<[u8]>,
    /// Counts that cells cannot hold, by ascending bucket: overflows, and parts of a unit.
    #[expect(clippy::box_collection, reason = "a pointer while it is empty")]
    carried: Option<Box<Vec<(u16, u64)>>>,
}

impl<U: Unit> Histogram<U> {
    /// Counts a duration `amount` times.
    #[inline]
    pub(super) fn add(&mut self, duration: Duration, amount: u32) {
        let bucket = bucket_of(duration.as_nanos());
        let place = bucket.wrapping_sub(usize::from(self.first));
        match self.cells.get_mut(place) {
            Some(cell) if amount == self.unit.amount() => {
                let overflows;
                (*cell, overflows) = cell.overflowing_add(1);
                if overflows {
                    self.carry_overflow(bucket);
                }
            }
            _ => self.add_unusual(bucket, amount),
        }
    }

    /// Counts an amount that is not the unit, or in a bucket that has no cell.
    #[cold]
    fn add_unusual(&mut self, bucket: usize, amount: u32) {
        if self.cells.is_empty() {
            self.begin(amount);
        }
        self.add_any(bucket, amount.into());
    }

    /// Begins with an empty list, for a first duration that counts `amount` times.
    fn begin(&mut self, amount: u32) {
        self.first = LISTED;
        self.unit = U::of_first(amount);
    }

    /// Adds to the count of any bucket.
    fn add_any(&mut self, bucket: usize, amount: u64) {
        let unit = u64::from(self.unit.amount());
        let place = self.place_of(bucket);
        let cell = &mut self.cells[place];
        if let Some(units) = amount.checked_div(unit)
            && amount == units * unit
            && let Ok(units) = u8::try_from(u64::from(*cell) + units)
        {
            *cell = units;
            if units >= MANY {
                self.end_list();
            }
        } else {
            self.carry(bucket, amount);
        }
    }

    /// The index of a bucket's units, for which room is made if necessary.
    fn place_of(&mut self, bucket: usize) -> usize {
        if self.first == LISTED {
            let (entries, _) = self.cells.as_chunks::<ENTRY>();
            match entries.binary_search_by_key(&bucket, |&entry| listed(entry).0) {
                Ok(index) => return (index + 1) * ENTRY - 1,
                Err(index) if entries.len() < MAX_LISTED => {
                    let (below, above) = entries.split_at(index);
                    let [low, high] = stored(bucket).to_le_bytes();
                    self.cells = [below, &[[low, high, 0]], above]
                        .concat()
                        .as_flattened()
                        .into();
                    return (index + 1) * ENTRY - 1;
                }
                Err(_) => self.end_list(),
            }
        }
        self.extend_to(bucket);
        bucket - usize::from(self.first)
    }

    /// Gives each bucket a cell, if they are a list.
    fn end_list(&mut self) {
        if self.first != LISTED {
            return;
        }
        let list = std::mem::take(&mut self.cells);
        let (entries, _) = list.as_chunks::<ENTRY>();
        if let [first, ..] = entries {
            self.first = stored(listed(*first).0);
        }
        // From the longest on, so that the span is extended once.
        for (bucket, units) in entries.iter().rev().map(|&entry| listed(entry)) {
            self.extend_to(bucket);
            self.cells[bucket - usize::from(self.first)] = units;
        }
    }

    /// Carries the units of a cell that has just overflowed.
    #[cold]
    fn carry_overflow(&mut self, bucket: usize) {
        let units = u64::from(u8::MAX) + 1;
        self.carry(bucket, units * u64::from(self.unit.amount()));
    }

    /// Adds to the count of a bucket outside its cell.
    fn carry(&mut self, bucket: usize, amount: u64) {
        let carried = self.carried.get_or_insert_default();
        let bucket = stored(bucket);
        match carried.binary_search_by_key(&bucket, |&(bucket, _)| bucket) {
            Ok(place) => carried[place].1 += amount,
            Err(place) => carried.insert(place, (bucket, amount)),
        }
    }

    /// Extends the span to `bucket`, and some more for the next ones, if it is outside.
    fn extend_to(&mut self, bucket: usize) {
        let first = usize::from(self.first);
        let end = first + self.cells.len();
        let (new_first, new_end) = if bucket < first {
            ((bucket - MARGIN).max(bucket_of(0)), end)
        } else if bucket >= end {
            (first, bucket + 1 + MARGIN)
        } else {
            return;
        };
        let mut cells = Vec::with_capacity(new_end - new_first);
        cells.extend(repeat_n(0, first - new_first));
        cells.extend_from_slice(&self.cells);
        cells.resize(new_end - new_first, 0);
        self.first = stored(new_first);
        self.cells = cells.into();
    }

    /// Counts everything that `other` has counted.
    pub fn merge<V: Unit>(&mut self, other: &Histogram<V>) {
        for (bucket, count) in other.counts().filter(|&(_, count)| count > 0) {
            if self.cells.is_empty() {
                self.begin(u32::try_from(count).unwrap_or(u32::MAX));
            }
            self.add_any(bucket, count);
        }
    }

    /// The buckets that are listed or in the span, ascending, each with its count.
    fn counts(&self) -> impl Iterator<Item = (usize, u64)> {
        let unit = u64::from(self.unit.amount());
        let mut carried = self.carried.as_deref().into_iter().flatten().peekable();
        let (list, span) = if self.first == LISTED {
            (&*self.cells, &[][..])
        } else {
            (&[][..], &*self.cells)
        };
        let (entries, _) = list.as_chunks::<ENTRY>();
        let entries = entries.iter().map(|&entry| listed(entry));
        let cells = (usize::from(self.first)..).zip(span.iter().copied());
        entries.chain(cells).map(move |(bucket, units)| {
            let aside = carried.next_if(|&&(other, _)| usize::from(other) == bucket);
            let aside = aside.map_or(0, |&(_, amount)| amount);
            (bucket, u64::from(units) * unit + aside)
        })
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
        let total: u64 = self.counts().map(|(_, count)| count).sum();
        let mut buckets = self.counts();
        let (mut before, mut here) = (0, None);
        permilles.into_iter().map(move |permille| {
            let rank = u64::try_from((u128::from(total) * u128::from(permille)).div_ceil(1000));
            let rank = rank.unwrap_or(total).max(1);
            while before < rank {
                let (bucket, count) = buckets.next()?;
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
        let total: u64 = self.counts().map(|(_, count)| count).sum();
        let kept = u64::try_from((u128::from(total) * u128::from(permille)).div_ceil(1000)).ok()?;
        let (mut left, mut sum) = (kept, 0.0);
        for (bucket, count) in self.counts() {
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

/// A bucket in its stored form.
fn stored(bucket: usize) -> u16 {
    u16::try_from(bucket).expect("at most 256 exponents of 64 buckets")
}

/// A bucket and its units, from a list.
fn listed([low, high, units]: [u8; ENTRY]) -> (usize, u8) {
    (u16::from_le_bytes([low, high]).into(), units)
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
            // Of one size, with parts and multiples of it between them.
            for part in 0..count {
                for bytes in [1448, 1448 * (1 + part % 3), 1448 * 300, 1 + part % 1448] {
                    weighted.add(time, bytes);
                }
                weighted.add(time, 1448 * 400 - 1448 * (part % 3) - part % 1448);
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

    /// Before the list ends, because of many buckets or of many units in one, and after it.
    #[test]
    fn a_list_counts_as_cells_do() {
        for (buckets, rounds) in [(MAX_LISTED, 2 * MANY), (MAX_LISTED + 2, 3)] {
            let mut histogram = Histogram::<u32>::default();
            let mut counts = std::collections::BTreeMap::new();
            for (round, place) in
                (0..rounds).flat_map(|round| (0..buckets).map(move |p| (round, p)))
            {
                // Far apart, in an order that inserts at both ends and in between.
                let time = Duration::from_micros(100 + 5000 * ((place * 7) % buckets) as u64);
                let bytes = if round % 3 == 1 { 1448 * 2 } else { 1448 } + u32::from(place == 5);
                histogram.add(time, bytes);
                *counts.entry(bucket_of(time.as_nanos())).or_insert(0) += u64::from(bytes);
                let counted = histogram.counts().filter(|&(_, count)| count > 0);
                assert!(counted.eq(counts.iter().map(|(&bucket, &count)| (bucket, count))));
            }
            assert_ne!(histogram.first, LISTED);
        }
    }

    /// Few delays far apart take three bytes each.
    #[test]
    fn few_delays_are_small() {
        let mut histogram = <Histogram>::default();
        for millis in [50, 100, 200, 100, 400] {
            histogram.add(Duration::from_millis(millis), 1);
        }
        assert_eq!(histogram.cells.len(), 4 * ENTRY);
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
