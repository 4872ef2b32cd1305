//! A sender's round-trip samples, as a histogram that yields percentiles.

use std::iter::repeat_n;

use airtcp_units::Duration;

/// Bits of a bucket's position within its octave: 64 buckets, each at most 1/64 as wide as its
/// values.
const PLACE_BITS: u32 = 6;

/// Counts of round-trip times in buckets whose width grows with the value. It holds the span of
/// buckets between the shortest and the longest time, each in one byte until one overflows, so that
/// very many flows fit in memory.
#[derive(Clone, Debug, Default)]
pub struct RoundTrips {
    /// The bucket of the first count.
    first: u16,
    /// Each count modulo 256.
    counts: Vec<u8>,
    /// Number of overflows of each count; `None` until one overflows.
    #[expect(clippy::box_collection, reason = "a pointer where there are none")]
    rounds: Option<Box<Vec<u32>>>,
}

impl RoundTrips {
    /// Adds a measurement.
    #[inline]
    pub(super) fn add(&mut self, rtt: Duration) {
        let bucket = bucket_of(rtt.as_nanos());
        let place = bucket.wrapping_sub(usize::from(self.first));
        match self.counts.get_mut(place) {
            Some(count) => {
                *count = count.wrapping_add(1);
                if *count == 0 {
                    self.carry(place);
                }
            }
            None => self.grow(bucket),
        }
    }

    /// Carries the count at `place`, which has overflowed.
    #[cold]
    fn carry(&mut self, place: usize) {
        let length = self.counts.len();
        let rounds = self.rounds.get_or_insert_with(|| Box::new(vec![0; length]));
        rounds[place] = rounds[place].saturating_add(1);
    }

    #[cold]
    fn grow(&mut self, bucket: usize) {
        if self.counts.is_empty() {
            self.first = first_at(bucket);
        }
        let below = usize::from(self.first).saturating_sub(bucket);
        self.first = first_at(usize::from(self.first) - below);
        let place = bucket - usize::from(self.first);
        let length = (below + self.counts.len()).max(place + 1);
        self.counts.splice(0..0, repeat_n(0, below));
        self.counts.resize(length, 0);
        self.counts[place] += 1;
        if let Some(rounds) = &mut self.rounds {
            rounds.splice(0..0, repeat_n(0, below));
            rounds.resize(length, 0);
        }
    }

    /// Number of samples in each bucket, from [`Self::first`] on.
    fn counts(&self) -> impl Iterator<Item = u64> {
        let rounds = self.rounds.as_deref().into_iter().flatten().copied();
        let rounds = rounds.chain(std::iter::repeat(0));
        let counts = self.counts.iter().copied().zip(rounds);
        counts.map(|(count, rounds)| u64::from(rounds) << u8::BITS | u64::from(count))
    }

    /// The time that `percent` of the samples do not exceed (nearest rank), within 1 %; `None`
    /// without samples.
    #[must_use]
    pub fn percentile(&self, percent: u64) -> Option<Duration> {
        let total: u64 = self.counts().sum();
        let rank = (total * percent).div_ceil(100).max(1);
        let mut before = 0;
        self.counts()
            .zip(usize::from(self.first)..)
            .find_map(|(count, bucket)| {
                before += count;
                (before >= rank).then(|| middle_of(bucket))
            })
    }
}

/// The bucket of a time in nanoseconds: its octave, and the bits below its highest.
#[expect(
    clippy::cast_possible_truncation,
    reason = "at most 64 octaves of 64 buckets"
)]
const fn bucket_of(nanos: u64) -> usize {
    let shift = (u64::BITS - nanos.leading_zeros()).saturating_sub(PLACE_BITS + 1);
    ((shift as usize) << PLACE_BITS) + (nanos >> shift) as usize
}

/// A bucket in the stored form of the first one.
fn first_at(bucket: usize) -> u16 {
    u16::try_from(bucket).expect("at most 64 octaves of 64 buckets")
}

/// The middle of a bucket.
const fn middle_of(bucket: usize) -> Duration {
    let shift = (bucket >> PLACE_BITS).saturating_sub(1);
    let lowest = (bucket - (shift << PLACE_BITS)) as u64;
    let width = 1_u64 << shift;
    Duration::from_nanos((lowest << shift) + width / 2)
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
    fn percentiles_are_within_one_per_cent() {
        let mut times = times();
        let mut round_trips = RoundTrips::default();
        for &nanos in &times {
            round_trips.add(Duration::from_nanos(nanos));
        }
        times.sort_unstable();
        for percent in [1, 25, 50, 95, 99, 100] {
            let exact = times[(times.len() * percent).div_ceil(100) - 1];
            let found = round_trips
                .percentile(percent as u64)
                .expect("times")
                .as_nanos();
            let off = found.abs_diff(exact);
            assert!(off * 100 <= exact, "{percent} %: {found} for {exact}");
        }
    }

    /// Counts of more than a byte, and a span that grows below and above them.
    #[test]
    fn counts_of_more_than_a_byte_stay_where_they_are() {
        let mut round_trips = RoundTrips::default();
        let mut times = Vec::new();
        for (millis, count) in [(50, 700), (20, 300), (90, 1000), (50, 600), (10, 3)] {
            for _ in 0..count {
                round_trips.add(Duration::from_millis(millis));
                times.push(Duration::from_millis(millis).as_nanos());
            }
        }
        times.sort_unstable();
        for percent in 1..=100 {
            let exact = times[(times.len() * percent).div_ceil(100) - 1];
            let found = round_trips.percentile(percent as u64).expect("times");
            assert_eq!(bucket_of(found.as_nanos()), bucket_of(exact), "{percent} %");
        }
    }

    #[test]
    fn nothing_measured_has_no_percentile() {
        assert_eq!(RoundTrips::default().percentile(50), None);
    }
}
