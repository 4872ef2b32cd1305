//! The mode: the default δ, or a smaller one where other flows keep the queue full (Arun &
//! Balakrishnan §2.2).

use airtcp_units::{Duration, Instant};

use super::delays::Delays;

/// Round trips without a nearly empty queue that mean competition: Copa flows among themselves
/// empty it at least once in five (§3).
const ROUNDS: u64 = 5;

/// 1/δ, and the time at which the queue was last nearly empty.
#[derive(Clone, Debug)]
pub struct Competition {
    /// 1/δ of the default mode, in segments.
    usual: f64,
    may_compete: bool,
    last_empty: Option<Instant>,
    /// 1/δ of the competitive mode, in segments; `None` in the default mode.
    competitive: Option<f64>,
    /// Whether a loss occurred in this round trip.
    lost: bool,
}

impl Competition {
    /// The default mode with `delta`.
    pub const fn new(delta: f64, may_compete: bool) -> Self {
        Self {
            usual: 1.0 / delta,
            may_compete,
            last_empty: None,
            competitive: None,
            lost: false,
        }
    }

    /// 1/δ, in segments.
    pub fn inverse_delta(&self) -> f64 {
        self.competitive.unwrap_or(self.usual)
    }

    /// Chooses the mode after a sample at `now`.
    pub fn on_delays(&mut self, now: Instant, srtt: Duration, delays: &Delays) {
        if !self.may_compete {
            return;
        }
        if delays.is_nearly_empty() {
            self.last_empty = Some(now);
        }
        let since = *self.last_empty.get_or_insert(now);
        let span = Duration::from_nanos(srtt.as_nanos().saturating_mul(ROUNDS));
        if now > since + span {
            self.competitive.get_or_insert(self.usual);
        } else {
            self.competitive = None;
        }
    }

    /// Ends a round trip: 1/δ grows by one if nothing was lost in it, as a window of Reno does.
    pub fn on_round(&mut self) {
        let lost = core::mem::take(&mut self.lost);
        if let (Some(segments), false) = (&mut self.competitive, lost) {
            *segments += 1.0;
        }
    }

    /// A repair begins: 1/δ is halved, to no less than the default.
    pub fn on_loss(&mut self) {
        self.lost = true;
        if let Some(segments) = &mut self.competitive {
            *segments = (*segments / 2.0).max(self.usual);
        }
    }

    /// Waits another five round trips for a nearly empty queue, after a time without one.
    pub const fn forget(&mut self) {
        self.last_empty = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(100);

    /// Round trips of 100 ms, and then of 150 ms that never fall by more than a millisecond.
    fn standing_queue() -> (Competition, Delays, Instant) {
        let mut competition = Competition::new(0.5, true);
        let mut delays = Delays::default();
        let mut now = Instant::ZERO + RTT;
        delays.on_sample(now, RTT, RTT);
        competition.on_delays(now, RTT, &delays);
        for millisecond in 0..505 {
            now += Duration::from_millis(1);
            assert_eq!(competition.inverse_delta(), 2.0, "after {millisecond} ms");
            if millisecond > 3 {
                delays.on_sample(now, Duration::from_millis(150), RTT);
                competition.on_delays(now, RTT, &delays);
            }
        }
        (competition, delays, now)
    }

    /// §2.2: five round trips without a nearly empty queue; then additive increase and
    /// multiplicative decrease of 1/δ, never below the default, and the default once it empties.
    #[test]
    fn a_queue_that_stays_full_is_competed_for() {
        let (mut competition, mut delays, mut now) = standing_queue();
        let mut step = |rtt, competition: &mut Competition| {
            for _ in 0..100 {
                now += Duration::from_millis(1);
                delays.on_sample(now, Duration::from_millis(rtt), RTT);
                competition.on_delays(now, RTT, &delays);
            }
        };
        step(150, &mut competition);
        for expected in [3.0, 4.0, 5.0, 6.0] {
            competition.on_round();
            assert_eq!(competition.inverse_delta(), expected);
        }
        competition.on_loss();
        assert_eq!(competition.inverse_delta(), 3.0);
        competition.on_round();
        assert_eq!(competition.inverse_delta(), 3.0, "no growth after a loss");
        competition.on_loss();
        assert_eq!(competition.inverse_delta(), 2.0);
        competition.on_round();
        competition.on_round();
        assert_eq!(competition.inverse_delta(), 3.0);
        step(101, &mut competition);
        assert_eq!(competition.inverse_delta(), 2.0);
    }

    #[test]
    fn without_the_mode_delta_stays() {
        let (mut competition, delays, now) = standing_queue();
        competition.may_compete = false;
        competition.competitive = None;
        competition.on_delays(now + RTT * 100, RTT, &delays);
        assert_eq!(competition.inverse_delta(), 2.0);
    }
}
