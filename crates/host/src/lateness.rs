//! Lateness of departing packets, which decides whether the emulation can be trusted.

use std::fmt;

use airtcp_units::Duration;
use hdrhistogram::Histogram;
use serde::Serialize;

/// Lateness above which a packet does not count as on time.
pub const TOLERATED: Duration = Duration::from_millis(1);
/// Share of late packets above which a measurement does not count.
pub const TOLERATED_SHARE: f64 = 0.001;

/// Resolution in nanoseconds: latenesses below are all alike.
const FINEST: u64 = 1000;
/// Latenesses above are counted as this one: four hours, in nanoseconds.
const GREATEST: u64 = 4 * 3600 * 1_000_000_000;
/// Significant digits of a quantile.
const DIGITS: u8 = 2;

/// A histogram of latenesses, accurate to 1 %.
#[derive(Clone, Debug)]
pub struct Lateness {
    counts: Histogram<u64>,
    late: u64,
    worst: Duration,
}

impl Default for Lateness {
    fn default() -> Self {
        Self {
            counts: Histogram::new_with_bounds(FINEST, GREATEST, DIGITS)
                .expect("bounds and digits that a histogram can have"),
            late: 0,
            worst: Duration::ZERO,
        }
    }
}

/// A link's punctuality, as reported in results.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Punctuality {
    /// Lateness of departing packets: median, in milliseconds.
    pub late_median_ms: f64,
    /// The 99th percentile.
    pub late_p99_ms: f64,
    /// The maximum.
    pub late_worst_ms: f64,
    /// Share of packets that were later than [`TOLERATED`].
    pub late_share: f64,
    /// Whether the machine kept up; a late measurement does not count.
    pub in_time: bool,
}

impl Lateness {
    /// Punctuality since the start.
    pub fn punctuality(&self) -> Punctuality {
        let ms = |late: Duration| late.as_secs_f64() * 1e3;
        Punctuality {
            late_median_ms: ms(self.quantile(0.5)),
            late_p99_ms: ms(self.quantile(0.99)),
            late_worst_ms: ms(self.worst),
            late_share: self.late_share(),
            in_time: self.is_tolerable(),
        }
    }

    /// Adds a packet that left `late` after it was due.
    pub fn add(&mut self, late: Duration) {
        self.counts.saturating_record(late.as_nanos());
        self.late += u64::from(late > TOLERATED);
        self.worst = self.worst.max(late);
    }

    /// Number of packets so far.
    pub fn packets(&self) -> u64 {
        self.counts.len()
    }

    /// The maximum lateness.
    pub const fn worst(&self) -> Duration {
        self.worst
    }

    /// The lateness that `share` of the packets do not exceed, by the upper end of its bucket; zero
    /// without packets.
    pub fn quantile(&self, share: f64) -> Duration {
        Duration::from_nanos(self.counts.value_at_quantile(share)).min(self.worst)
    }

    /// The share of packets that were late by more than [`TOLERATED`].
    pub fn late_share(&self) -> f64 {
        match self.packets() {
            0 => 0.0,
            packets => self.late as f64 / packets as f64,
        }
    }

    /// Whether measurements over the link count: the machine kept up. One late packet is always
    /// tolerated: fewer than a thousand cannot show a share of one in a thousand, and of a hundred
    /// packets on a machine that is just good enough one is late in every tenth run.
    pub fn is_tolerable(&self) -> bool {
        self.late <= 1 || self.late_share() <= TOLERATED_SHARE
    }
}

impl fmt::Display for Lateness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = |late: Duration| late.as_secs_f64() * 1e6;
        write!(
            f,
            "late by {:.0} µs (median), {:.0} µs (p99), {:.0} µs (worst)",
            micros(self.quantile(0.5)),
            micros(self.quantile(0.99)),
            micros(self.worst)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compared with quantiles of the sorted list.
    #[test]
    fn quantiles_are_right_within_a_step() {
        let mut lateness = Lateness::default();
        let mut all: Vec<u64> = (0..20_000_u64)
            .map(|i| (i * i * 7919) % 50_000_000)
            .collect();
        for nanos in &all {
            lateness.add(Duration::from_nanos(*nanos));
        }
        all.sort_unstable();
        for share in [0.01, 0.5, 0.9, 0.99, 0.999] {
            let exact = all[(share * all.len() as f64).ceil() as usize - 1] as f64;
            let found = lateness.quantile(share).as_nanos() as f64;
            assert!(
                found >= exact && found <= exact * 1.01 + 1024.0,
                "{share}: {found} for {exact}"
            );
        }
        assert_eq!(lateness.worst().as_nanos(), *all.last().unwrap());
        let late = all.iter().filter(|nanos| **nanos > 1_000_000).count();
        assert_eq!(lateness.late_share(), late as f64 / all.len() as f64);
    }

    /// One late packet voids no run, however short; two do below two thousand packets.
    #[test]
    fn a_short_run_survives_one_late_packet() {
        let run = |packets: u64, late: u64| {
            let mut lateness = Lateness::default();
            for number in 0..packets {
                let by = if number < late {
                    TOLERATED * 5
                } else {
                    TOLERATED
                };
                lateness.add(by);
            }
            lateness.punctuality().in_time
        };
        assert!(run(10, 1) && run(999, 1) && run(1000, 1));
        assert!(!run(10, 2) && !run(1999, 2) && run(2000, 2));
        assert!(!run(10_000, 11));
    }

    /// A machine that sleeps for a day is late by more than the histogram spans.
    #[test]
    fn a_day_of_lateness_is_the_worst() {
        let mut lateness = Lateness::default();
        let day = Duration::from_secs(24 * 3600);
        lateness.add(day);
        assert_eq!((lateness.packets(), lateness.worst()), (1, day));
        assert!(lateness.quantile(0.5) >= Duration::from_secs(4 * 3600));
    }

    #[test]
    fn nothing_measured_is_nothing_late() {
        let lateness = Lateness::default();
        assert_eq!(lateness.quantile(0.99), Duration::ZERO);
        assert!(lateness.is_tolerable());
    }
}
