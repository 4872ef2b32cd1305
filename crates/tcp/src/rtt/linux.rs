//! Linux's estimator (`tcp_rtt_estimator` in `net/ipv4/tcp_input.c`; Sarolahti & Kuznetsov, USENIX
//! 2002, §4.1). Three things differ from RFC 6298: a deviation that grows because the round trip
//! fell counts only an eighth; the timeout uses the largest deviation of a round trip, which falls
//! by a quarter of the difference once a round trip; the minimum RTO is a floor of the deviation
//! term, so that the timeout is never below SRTT + 200 ms.

use airtcp_units::Duration;

/// The averages in nanoseconds, scaled as in the kernel: eight times the mean, four times the mean
/// deviation.
#[derive(Clone, Debug)]
pub struct LinuxEstimator {
    floor: u64,
    mean_8: u64,
    deviation_4: u64,
    /// Largest deviation since the current round trip began.
    largest: u64,
    /// The timeout's deviation term.
    term: u64,
    /// First byte of the next round trip.
    round_ends: u64,
}

impl LinuxEstimator {
    /// Creates an estimator without samples; the deviation term is at least `floor`.
    pub const fn new(floor: Duration) -> Self {
        let floor = floor.as_nanos();
        Self {
            floor,
            mean_8: 0,
            deviation_4: 0,
            largest: floor,
            term: floor,
            round_ends: 0,
        }
    }

    /// Returns the mean and a quarter of the deviation term after one more sample.
    pub fn on_sample(&mut self, rtt: Duration, una: u64, nxt: u64) -> (Duration, Duration) {
        let sample = rtt.as_nanos().max(1);
        if self.mean_8 == 0 {
            self.mean_8 = sample << 3;
            self.deviation_4 = sample << 1;
            self.term = self.deviation_4.max(self.floor);
            self.largest = self.term;
            self.round_ends = nxt;
        } else {
            self.update(sample);
            if una > self.round_ends {
                if self.largest < self.term {
                    self.term -= (self.term - self.largest) >> 2;
                }
                self.round_ends = nxt;
                self.largest = self.floor;
            }
        }
        (
            Duration::from_nanos(self.mean_8 >> 3),
            Duration::from_nanos(self.term >> 2),
        )
    }

    fn update(&mut self, sample: u64) {
        let mean = self.mean_8 >> 3;
        let error = sample.abs_diff(mean);
        let deviation = self.deviation_4 >> 2;
        if sample >= mean {
            self.mean_8 += error;
            self.deviation_4 = self.deviation_4 + error - deviation;
        } else {
            self.mean_8 -= error;
            // A faster round trip is no reason to wait longer: its deviation counts only an eighth.
            if error > deviation {
                self.deviation_4 += (error - deviation) >> 3;
            } else {
                self.deviation_4 -= deviation - error;
            }
        }
        if self.deviation_4 > self.largest {
            self.largest = self.deviation_4;
            self.term = self.term.max(self.largest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOOR: Duration = Duration::from_millis(200);

    fn milliseconds(value: u64) -> Duration {
        Duration::from_millis(value)
    }

    /// By the kernel's steps: the first sample R gives a mean of R and a term of 2 R, at least the
    /// floor.
    #[test]
    fn the_first_sample_is_the_mean_and_twice_it_the_term() {
        let mut estimator = LinuxEstimator::new(FLOOR);
        let (srtt, quarter) = estimator.on_sample(milliseconds(300), 0, 10);
        assert_eq!((srtt, quarter), (milliseconds(300), milliseconds(150)));
        let mut estimator = LinuxEstimator::new(FLOOR);
        let (srtt, quarter) = estimator.on_sample(milliseconds(20), 0, 10);
        assert_eq!((srtt, quarter), (milliseconds(20), milliseconds(50)));
    }

    /// RTO = 300 + 600; a sample of 700: error 400, mean 350, deviation term 600 + 400 − 150 = 850.
    #[test]
    fn a_slower_round_trip_raises_the_term_at_once() {
        let mut estimator = LinuxEstimator::new(FLOOR);
        estimator.on_sample(milliseconds(300), 0, 10);
        let (srtt, quarter) = estimator.on_sample(milliseconds(700), 5, 20);
        assert_eq!(srtt, milliseconds(350));
        assert_eq!(quarter, Duration::from_micros(212_500));
    }

    /// From 300 and 600 ms a sample of 20 ms: error 280 above the deviation 150, so it grows by
    /// (280 − 150)/8 = 16.25 ms, not by 130.
    #[test]
    fn a_faster_round_trip_counts_an_eighth() {
        let mut estimator = LinuxEstimator::new(FLOOR);
        estimator.on_sample(milliseconds(300), 0, 10);
        let (srtt, quarter) = estimator.on_sample(milliseconds(20), 5, 20);
        assert_eq!(srtt, milliseconds(265));
        assert_eq!(quarter, Duration::from_nanos(616_250_000 / 4));
    }

    /// Steady round trips: the term falls once per round trip, by a quarter of its distance to the
    /// largest deviation of that round trip, and never below the floor.
    #[test]
    fn the_term_falls_once_a_round_trip_to_the_floor() {
        let mut estimator = LinuxEstimator::new(FLOOR);
        estimator.on_sample(milliseconds(300), 0, 10);
        // In the first round trip (una ≤ 10) nothing falls.
        let (_, quarter) = estimator.on_sample(milliseconds(300), 10, 30);
        assert_eq!(quarter, milliseconds(150));
        // It ends here: its largest deviation was that of the first sample, 600 ms.
        let (_, quarter) = estimator.on_sample(milliseconds(300), 11, 40);
        assert_eq!(quarter, milliseconds(150));
        // The next: the largest since is 253.125 ms (600 × (3/4)³).
        let (_, quarter) = estimator.on_sample(milliseconds(300), 41, 80);
        let expected = (600.0 - (600.0 - 253.125) / 4.0) / 4.0;
        assert!(
            (quarter.as_millis_f64() - expected).abs() < 0.001,
            "{quarter}"
        );
        for round in 0..60 {
            estimator.on_sample(milliseconds(300), 100 + 50 * round, 140 + 50 * round);
        }
        let (srtt, quarter) = estimator.on_sample(milliseconds(300), 9000, 9010);
        assert_eq!(srtt, milliseconds(300));
        assert!((quarter.as_millis_f64() - 50.0).abs() < 0.5, "{quarter}");
    }
}
