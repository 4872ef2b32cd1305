//! Limits of a packet's hold, for any agent.

use airtcp_units::{Duration, Instant};

/// A connection's round trip and its sender's timer, as far as known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundTrip {
    /// The smoothed round-trip time.
    pub smoothed: Duration,
    /// The sender's timer, as in RFC 6298 §2 with Linux's floor.
    pub timeout: Duration,
}

/// The bounds of injected delay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HoldLimits {
    /// The longest hold.
    pub longest: Duration,
    /// The longest hold, in round trips of the connection.
    pub of_round_trip: f64,
    /// The longest hold, as a share of the time left on its sender's timer.
    pub of_timeout: f64,
    /// A connection's packets are held for at most this total time ...
    pub budget: Duration,
    /// ... in each of these spans.
    pub span: Duration,
    /// The longest wait of data that an agent spaces out.
    pub longest_data: Duration,
}

impl Default for HoldLimits {
    fn default() -> Self {
        Self {
            longest: Duration::from_millis(50),
            of_round_trip: 0.5,
            of_timeout: 0.5,
            budget: Duration::from_secs(1),
            span: Duration::from_secs(10),
            longest_data: Duration::from_secs(1),
        }
    }
}

/// The bound that limits a hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The longest hold, the round trip or the timer.
    Limit,
    /// No round trip was measured yet: nothing is held.
    Unmeasured,
    /// The connection has used up its budget.
    Budget,
}

/// A connection's remaining hold budget.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    /// The budget left, and the time at which that was computed.
    left: Duration,
    at: Instant,
    /// The time up to which holds have been charged: packets wait concurrently.
    paid_until: Instant,
    /// The last known start of its sender's timer: the last acknowledgment that went to it.
    timer_started: Option<Instant>,
}

impl Allowance {
    /// Creates a full budget.
    pub const fn new(limits: &HoldLimits, now: Instant) -> Self {
        Self {
            left: limits.budget,
            at: now,
            paid_until: now,
            timer_started: None,
        }
    }

    /// Records that an acknowledgment went to the sender at `now`.
    pub fn on_released(&mut self, now: Instant) {
        self.timer_started = Some(now);
    }

    /// The time until which an acknowledgment that arrives at `now` may be held; `now` if not at
    /// all.
    pub fn until(
        &self,
        limits: &HoldLimits,
        now: Instant,
        round_trip: Option<RoundTrip>,
    ) -> (Instant, Bound) {
        let Some(round_trip) = round_trip else {
            return (now, Bound::Unmeasured);
        };
        let started = self.timer_started.unwrap_or(now);
        let left = started + round_trip.timeout - now;
        let until = now
            + limits
                .longest
                .min(scaled(round_trip.smoothed, limits.of_round_trip))
                .min(scaled(left, limits.of_timeout));
        let paid = self.paid_until.max(now) + self.left_at(limits, now);
        if paid < until {
            (paid, Bound::Budget)
        } else {
            (until, Bound::Limit)
        }
    }

    /// Charges a hold from `since` to `now`, except for the part already charged.
    pub fn charge(&mut self, limits: &HoldLimits, since: Instant, now: Instant) {
        let left = self.left_at(limits, now);
        let unpaid = now - since.max(self.paid_until);
        self.left = left - unpaid.min(left);
        self.at = now;
        self.paid_until = self.paid_until.max(now);
    }

    /// The budget is replenished at a constant rate.
    fn left_at(&self, limits: &HoldLimits, now: Instant) -> Duration {
        let waited = u128::from((now - self.at).as_nanos());
        let span = u128::from(limits.span.as_nanos().max(1));
        let back = waited * u128::from(limits.budget.as_nanos()) / span;
        let back = Duration::from_nanos(u64::try_from(back).unwrap_or(u64::MAX));
        (self.left + back).min(limits.budget)
    }
}

fn scaled(time: Duration, factor: f64) -> Duration {
    Duration::from_secs_f64(time.as_secs_f64() * factor).unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn round_trip(smoothed: u64, timeout: u64) -> Option<RoundTrip> {
        Some(RoundTrip {
            smoothed: Duration::from_millis(smoothed),
            timeout: Duration::from_millis(timeout),
        })
    }

    #[test]
    fn the_least_of_three_bounds_counts() {
        let limits = HoldLimits::default();
        let mut allowance = Allowance::new(&limits, ms(0));
        let until = |allowance: &Allowance, now, trip| allowance.until(&limits, ms(now), trip).0;
        assert_eq!(until(&allowance, 0, round_trip(400, 800)), ms(50));
        assert_eq!(until(&allowance, 0, round_trip(30, 800)), ms(15));
        allowance.on_released(ms(0));
        // 240 ms, less the 200 that have passed: half of 40.
        assert_eq!(until(&allowance, 200, round_trip(400, 240)), ms(220));
        // An expired timer leaves nothing.
        assert_eq!(until(&allowance, 300, round_trip(400, 240)), ms(300));
        assert_eq!(
            allowance.until(&limits, ms(7), None),
            (ms(7), Bound::Unmeasured)
        );
    }

    #[test]
    fn a_budget_is_used_up_and_comes_back() {
        let limits = HoldLimits {
            longest: Duration::from_secs(60),
            of_round_trip: 1e6,
            of_timeout: 1e6,
            budget: Duration::from_millis(100),
            span: Duration::from_millis(1000),
            ..HoldLimits::default()
        };
        let mut allowance = Allowance::new(&limits, ms(0));
        let trip = round_trip(1000, 1000);
        assert_eq!(
            allowance.until(&limits, ms(0), trip),
            (ms(100), Bound::Budget)
        );
        // Two concurrent holds cost once.
        allowance.charge(&limits, ms(0), ms(60));
        allowance.charge(&limits, ms(10), ms(60));
        // 40 ms were left of 100, and 6 were replenished meanwhile, which the bound had cut off.
        assert_eq!(allowance.until(&limits, ms(60), trip).0, ms(60 + 40));
        allowance.charge(&limits, ms(60), ms(100));
        // 40 plus 4 replenished, less 40.
        assert_eq!(allowance.until(&limits, ms(100), trip).0, ms(104));
        assert_eq!(allowance.until(&limits, ms(1100), trip).0, ms(1200));
    }
}
