//! The sender's retransmission timer, reconstructed from the captured round trips.

use airtcp_units::{Duration, Instant};

/// Minimum of the timer's variance term: Linux's `tcp_rto_min`.
const MIN_VARIANCE: Duration = Duration::from_millis(200);
/// RFC 6298 §2.1, and Linux's `TCP_TIMEOUT_INIT`.
const FIRST: Duration = Duration::from_secs(1);
/// Maximum RTO after backoff: Linux's `TCP_RTO_MAX`.
const MAX: Duration = Duration::from_secs(120);

/// Minimum RTT, relative to the shortest so far, that the path allows.
const JUST_BELOW_PERCENT: u64 = 95;

/// Estimator and timer.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// The estimate, after the first sample.
    estimate: Option<Estimate>,
    /// When the timer was last started.
    started: Instant,
    /// Number of consecutive timeouts.
    pub backoff: u32,
}

#[derive(Clone, Copy, Debug)]
struct Estimate {
    /// Smoothed round-trip time.
    srtt: Duration,
    variance: Duration,
    /// The latest sample.
    last: Duration,
    /// The shortest sample.
    least: Duration,
}

impl Clock {
    /// A timer started at `now`.
    pub const fn new(now: Instant) -> Self {
        Self {
            estimate: None,
            started: now,
            backoff: 0,
        }
    }

    /// Adds an RTT sample (RFC 6298 §2.2, §2.3).
    pub fn sample(&mut self, rtt: Duration) {
        let Some(known) = &mut self.estimate else {
            self.estimate = Some(Estimate {
                srtt: rtt,
                variance: rtt / 2,
                last: rtt,
                least: rtt,
            });
            return;
        };
        known.last = rtt;
        known.least = known.least.min(rtt);
        let error = if rtt > known.srtt {
            rtt - known.srtt
        } else {
            known.srtt - rtt
        };
        known.variance = (known.variance * 3 + error) / 4;
        known.srtt = (known.srtt * 7 + rtt) / 8;
    }

    /// Starts the timer.
    pub fn start(&mut self, now: Instant) {
        self.started = now;
    }

    /// The smoothed RTT, after the first sample.
    pub fn srtt(&self) -> Option<Duration> {
        self.estimate.map(|known| known.srtt)
    }

    /// The latest RTT, after the first sample.
    pub fn last_rtt(&self) -> Option<Duration> {
        self.estimate.map(|known| known.last)
    }

    /// Lower bound of the time to any answer: slightly less than the minimum RTT so far.
    pub fn soonest_answer(&self) -> Option<Duration> {
        self.estimate
            .map(|known| known.least * JUST_BELOW_PERCENT / 100)
    }

    /// Time since the timer was started.
    pub fn elapsed(&self, now: Instant) -> Duration {
        now - self.started
    }

    /// The timeout, with the backoff so far (RFC 6298 §5.5).
    pub fn timeout(&self) -> Duration {
        let plain = self.estimate.map_or(FIRST, |known| {
            known.srtt + (known.variance * 4).max(MIN_VARIANCE)
        });
        (plain * (1 << self.backoff.min(20))).min(MAX)
    }
}
