//! Lateness of departing packets, which decides whether the emulation can be trusted.

use std::fmt;

use airtcp_units::Duration;
use serde::Serialize;

/// Lateness above which a packet does not count as on time.
pub const TOLERATED: Duration = Duration::from_millis(1);
/// Share of late packets above which a measurement does not count.
pub const TOLERATED_SHARE: f64 = 0.001;

/// Resolution: latenesses below 2^SHIFT nanoseconds are all alike.
const SHIFT: u32 = 10;
/// Buckets per doubling: a quantile is accurate to 9 %.
const STEPS: u64 = 8;
/// Number of doublings from 1 µs: more than four hours.
const DOUBLINGS: usize = 34;

/// A histogram of latenesses in buckets of an eighth of a doubling, from 1 µs.
#[derive(Clone, Debug)]
pub struct Lateness {
    counts: Vec<u64>,
    packets: u64,
    late: u64,
    worst: Duration,
}

impl Default for Lateness {
    fn default() -> Self {
        Self {
            counts: vec![0; DOUBLINGS * STEPS as usize],
            packets: 0,
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
        let bin = bin(late.as_nanos()).min(self.counts.len() - 1);
        self.counts[bin] += 1;
        self.packets += 1;
        self.late += u64::from(late > TOLERATED);
        self.worst = self.worst.max(late);
    }

    /// Number of packets so far.
    pub const fn packets(&self) -> u64 {
        self.packets
    }

    /// The maximum lateness.
    pub const fn worst(&self) -> Duration {
        self.worst
    }

    /// The lateness that `share` of the packets do not exceed, by the upper end of its bucket; zero
    /// without packets.
    pub fn quantile(&self, share: f64) -> Duration {
        let wanted = (share * self.packets as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (bin, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return Duration::from_nanos(upper_end(bin)).min(self.worst);
            }
        }
        Duration::ZERO
    }

    /// The share of packets that were late by more than [`TOLERATED`].
    pub fn late_share(&self) -> f64 {
        if self.packets == 0 {
            0.0
        } else {
            self.late as f64 / self.packets as f64
        }
    }

    /// Whether measurements over the link count: the machine kept up. One late packet is always
    /// tolerated: fewer than a thousand cannot show a share of one in a thousand, and of a hundred
    /// packets on a machine that is just good enough one is late in every tenth run.
    pub fn is_tolerable(&self) -> bool {
        self.late <= 1 || self.late_share() <= TOLERATED_SHARE
    }
}

fn bin(nanos: u64) -> usize {
    let scaled = nanos >> SHIFT;
    if scaled == 0 {
        return 0;
    }
    let doubling = u64::from(scaled.ilog2());
    // The bucket within a doubling, from the three bits below its highest.
    let step = ((nanos >> SHIFT.saturating_sub(3)) >> doubling) & (STEPS - 1);
    (1 + doubling * STEPS + step) as usize
}

fn upper_end(bin: usize) -> u64 {
    if bin == 0 {
        return 1 << SHIFT;
    }
    let (doubling, step) = ((bin as u64 - 1) / STEPS, (bin as u64 - 1) % STEPS);
    ((STEPS + step + 1) << doubling) << (SHIFT - 3)
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
                found >= exact && found <= exact * 1.13 + 1024.0,
                "{share}: {found} for {exact}"
            );
        }
        assert_eq!(lateness.worst().as_nanos(), *all.last().unwrap());
        let late = all.iter().filter(|nanos| **nanos > 1_000_000).count();
        assert_eq!(lateness.late_share(), late as f64 / all.len() as f64);
    }

    #[test]
    fn every_step_ends_where_the_next_begins() {
        for doubling in 0..30_u64 {
            for step in 0..STEPS {
                let lowest = ((STEPS + step) << doubling) << (SHIFT - 3);
                let here = bin(lowest);
                assert_eq!(here, (1 + doubling * STEPS + step) as usize);
                assert_eq!(bin(upper_end(here) - 1), here);
                assert_eq!(bin(upper_end(here)), here + 1);
            }
        }
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

    #[test]
    fn nothing_measured_is_nothing_late() {
        let lateness = Lateness::default();
        assert_eq!(lateness.quantile(0.99), Duration::ZERO);
        assert!(lateness.is_tolerable());
    }
}
