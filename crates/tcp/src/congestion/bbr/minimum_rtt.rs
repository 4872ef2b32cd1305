//! The minimum round trip, and the pause with a small window in which it is re-measured
//! (`bbr_update_min_rtt`; draft-ietf-ccwg-bbr §5.3.4 and §5.5.7).

use airtcp_units::{Duration, Instant};

use super::bytes_in;
use super::rounds::Rounds;
use crate::congestion::Ack;

/// Age at which the minimum round trip expires.
pub const AGE: Duration = Duration::from_secs(10);
/// Duration of the small window; at least a round trip.
const PROBE: Duration = Duration::from_millis(200);

/// The minimum of recent round trips.
#[derive(Clone, Debug, Default)]
pub struct MinimumRtt {
    /// `None` before the first sample.
    pub(super) rtt: Option<Duration>,
    /// Time of that sample.
    pub(super) at: Instant,
}

impl MinimumRtt {
    /// Takes `rtt`, seen at `seen`, if it is shorter or the known minimum is older than `age`.
    /// Returns whether the known minimum had expired.
    ///
    /// An equal sample does not count here, although it does in the kernel: a simulated path
    /// repeats its minimum round trip to the nanosecond, and the minimum would never be probed.
    #[inline]
    pub fn update(
        &mut self,
        now: Instant,
        rtt: Option<Duration>,
        seen: Instant,
        age: Duration,
    ) -> bool {
        let expired = now > self.at + age;
        if let Some(rtt) = rtt
            && (expired || self.rtt.is_none_or(|least| rtt < least))
        {
            self.rtt = Some(rtt);
            self.at = seen;
        }
        expired
    }

    /// Before the first sample takes the handshake's round trip, from the time at which it was
    /// complete and the first data left (`bbr_init`).
    pub fn take_handshake(&mut self, ack: &Ack) {
        if self.rtt.is_none() && ack.minimum_rtt > Duration::ZERO {
            self.rtt = Some(ack.minimum_rtt);
            let since = ack.rtt.unwrap_or(Duration::ZERO).as_nanos();
            self.at = Instant::from_nanos(ack.now.as_nanos().saturating_sub(since));
        }
    }

    /// The bandwidth-delay product at `bandwidth` bytes a second, in bytes, once it is known.
    #[inline]
    pub fn product(&self, bandwidth: u64) -> Option<u64> {
        self.rtt.map(|rtt| bytes_in(bandwidth, rtt))
    }

    /// Whether more than one such round trip has passed since `since`.
    #[inline]
    pub fn has_passed(&self, since: Instant, now: Instant) -> bool {
        now - since > self.rtt.unwrap_or(Duration::MAX)
    }
}

/// A measurement with a small window.
#[derive(Clone, Debug, Default)]
pub struct RttProbe {
    /// Its earliest end, once as little is in flight as should be.
    pub(super) ends: Option<Instant>,
    /// Whether a round trip began in it.
    pub(super) round_done: bool,
}

impl RttProbe {
    /// Begins one.
    pub const fn begin(&mut self) {
        self.ends = None;
    }

    /// Returns whether it is over: 200 ms and a round trip after no more than `window` bytes were
    /// in flight.
    pub fn is_over(&mut self, ack: &Ack, rounds: &mut Rounds, window: u64) -> bool {
        let Some(ends) = self.ends else {
            if ack.in_flight <= window {
                self.ends = Some(ack.now + PROBE);
                self.round_done = false;
                rounds.restart(ack.delivered_in_all);
            }
            return false;
        };
        self.round_done |= rounds.start;
        self.round_done && ack.now > ends
    }
}

#[cfg(test)]
mod tests {
    use super::super::testbed::{MSS, RTT, START, after, plain};
    use super::*;

    const NANOSECOND: Duration = Duration::from_nanos(1);

    /// `bbr_update_min_rtt`: ten seconds, and not before.
    #[test]
    fn a_minimum_expires_after_its_age() {
        let at = |now, rtt| {
            let mut known = MinimumRtt {
                rtt: Some(RTT),
                at: START,
            };
            let expired = known.update(now, Some(rtt), now, AGE);
            (known.rtt, expired)
        };
        let longer = RTT + NANOSECOND;
        let shorter = RTT - NANOSECOND;
        assert_eq!(at(after(10_000), longer), (Some(RTT), false));
        assert_eq!(at(after(10_000) + NANOSECOND, longer), (Some(longer), true));
        assert_eq!(at(after(5000), shorter), (Some(shorter), false));
    }

    /// An equal sample leaves the time at which the minimum was seen, unlike in the kernel.
    #[test]
    fn an_equal_sample_renews_nothing() {
        let mut known = MinimumRtt {
            rtt: Some(RTT),
            at: START,
        };
        known.update(after(5000), Some(RTT), after(5000), AGE);
        assert_eq!(known.at, START);
    }

    /// Draft §5.3.4.3, `BBRCheckProbeRTTDone`: a probe ends after its deadline has passed, not
    /// exactly at it.
    #[test]
    fn a_probe_outlasts_its_end() {
        let mut probe = RttProbe {
            ends: Some(START),
            round_done: true,
        };
        let mut over = |now| probe.is_over(&plain(now, 0), &mut Rounds::default(), 4 * MSS);
        assert!(!over(START));
        assert!(over(START + NANOSECOND));
    }

    /// Without a round trip that began in it a probe goes on (`bbr_update_min_rtt`).
    #[test]
    fn a_probe_waits_for_a_round() {
        let mut probe = RttProbe::default();
        let mut over = |now, start| {
            let mut rounds = Rounds {
                start,
                ..Rounds::default()
            };
            probe.is_over(&plain(now, 4), &mut rounds, 4 * MSS)
        };
        assert!(!over(after(50), true));
        assert!(!over(after(300), false));
        assert!(over(after(310), true));
    }
}
