//! The sender's retransmission timer, reconstructed from the round trips that the capture shows.

use airtcp_units::{Duration, Instant};

/// The least part of the timer that is for variance: Linux's `tcp_rto_min`.
const LEAST_VARIANCE: Duration = Duration::from_millis(200);
/// RFC 6298 §2.1, and Linux's `TCP_TIMEOUT_INIT`.
const FIRST: Duration = Duration::from_secs(1);
/// Backoff ends here: Linux's `TCP_RTO_MAX`.
const LONGEST: Duration = Duration::from_secs(120);

/// Round-trip times of less than this share of the shortest are faster than the path.
const JUST_BELOW_PERCENT: u64 = 95;

/// Estimator and timer.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// Smoothed round-trip time; zero before the first sample.
    srtt: Duration,
    variance: Duration,
    /// The latest sample; zero before the first.
    last: Duration,
    /// The shortest sample.
    least: Option<Duration>,
    /// When the timer was last started.
    started: Instant,
    /// Timeouts in a row.
    pub backoff: u32,
}

impl Clock {
    /// A timer that was started at `now`.
    pub const fn new(now: Instant) -> Self {
        Self {
            srtt: Duration::ZERO,
            variance: Duration::ZERO,
            last: Duration::ZERO,
            least: None,
            started: now,
            backoff: 0,
        }
    }

    /// Takes a round-trip time (RFC 6298 §2.2, §2.3).
    pub fn sample(&mut self, rtt: Duration) {
        self.last = rtt;
        self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
        if self.srtt == Duration::ZERO {
            self.srtt = rtt;
            self.variance = rtt / 2;
            return;
        }
        let error = if rtt > self.srtt {
            rtt - self.srtt
        } else {
            self.srtt - rtt
        };
        self.variance = (self.variance * 3 + error) / 4;
        self.srtt = (self.srtt * 7 + rtt) / 8;
    }

    /// Starts the timer.
    pub fn start(&mut self, now: Instant) {
        self.started = now;
    }

    /// The smoothed round-trip time.
    pub fn srtt(&self) -> Duration {
        self.srtt
    }

    /// The latest round-trip time; zero before the first sample.
    pub fn last_rtt(&self) -> Duration {
        self.last
    }

    /// What any answer takes at least: a little less than the shortest round trip so far.
    pub fn soonest_answer(&self) -> Option<Duration> {
        self.least.map(|least| least * JUST_BELOW_PERCENT / 100)
    }

    /// Time that the timer has run.
    pub fn elapsed(&self, now: Instant) -> Duration {
        now - self.started
    }

    /// The timeout, with the backoff so far (RFC 6298 §5.5).
    pub fn timeout(&self) -> Duration {
        let plain = if self.srtt == Duration::ZERO {
            FIRST
        } else {
            self.srtt + (self.variance * 4).max(LEAST_VARIANCE)
        };
        (plain * (1 << self.backoff.min(20))).min(LONGEST)
    }
}
