//! A policer: a token bucket without a queue. Packets that arrive while tokens are lacking are
//! dropped, and nothing waits: the round trip does not reveal it (Flach et al., "An Internet-Wide
//! Analysis of Traffic Policing", SIGCOMM 2016).

use airtcp_units::{BitRate, Duration, Instant};

/// Tokens that a [`Policer`] grants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicerConfig {
    /// Rate of token generation, in bits of IP packets a second.
    pub rate: BitRate,
    /// Depth of the bucket, in bytes of IP packets; it starts full.
    pub burst: u64,
}

/// A token bucket, as the instant at which it will be full if no packet arrives: each packet moves
/// that later by its transmission time at the rate (the virtual scheduling of ITU-T I.371, annex
/// A).
#[derive(Clone, Copy, Debug)]
pub struct Policer {
    rate: BitRate,
    /// Time in which an empty bucket fills.
    depth: Duration,
    full_at: Instant,
}

impl Policer {
    /// A full bucket.
    #[must_use]
    pub fn new(config: PolicerConfig) -> Self {
        Self {
            rate: config.rate,
            depth: config.rate.transmission_time(config.burst),
            full_at: Instant::ZERO,
        }
    }

    /// Whether a packet of `bytes` passes at `now`; if it does, its tokens are taken.
    pub fn admit(&mut self, now: Instant, bytes: u32) -> bool {
        let taken = self.rate.transmission_time(u64::from(bytes));
        let full_at = self.full_at.max(now) + taken;
        let passes = full_at <= now + self.depth;
        if passes {
            self.full_at = full_at;
        }
        passes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: BitRate = BitRate::from_bps(12_000_000);

    fn policer(packets: u64) -> Policer {
        Policer::new(PolicerConfig {
            rate: RATE,
            burst: packets * 1500,
        })
    }

    fn passed(policer: &mut Policer, spacing_us: u64, count: u64) -> u64 {
        (0..count)
            .map(|number| Instant::ZERO + Duration::from_micros(spacing_us * number))
            .filter(|now| policer.admit(*now, 1500))
            .count() as u64
    }

    /// Packets arrive at twice the rate: as many pass as the burst and the rate have tokens for.
    #[test]
    fn what_passes_is_the_burst_and_the_rate() {
        // A packet takes 1 ms of tokens; 1000 arrive within half a second.
        assert_eq!(passed(&mut policer(50), 500, 1000), 50 + 499);
        assert_eq!(passed(&mut policer(1), 500, 1000), 500);
    }

    #[test]
    fn nothing_is_dropped_below_the_rate() {
        assert_eq!(passed(&mut policer(1), 1000, 1000), 1000);
    }

    #[test]
    fn a_burst_passes_at_once_and_comes_back_with_time() {
        let mut policer = policer(10);
        assert_eq!(passed(&mut policer, 0, 30), 10);
        let later = Instant::ZERO + Duration::from_millis(4);
        let again = (0..30).filter(|_| policer.admit(later, 1500)).count();
        assert_eq!(again, 4);
    }

    #[test]
    fn a_packet_that_is_longer_than_the_burst_never_passes() {
        let mut policer = Policer::new(PolicerConfig {
            rate: RATE,
            burst: 1000,
        });
        assert!(!policer.admit(Instant::ZERO + Duration::from_secs(9), 1500));
        assert!(policer.admit(Instant::ZERO + Duration::from_secs(9), 1000));
    }
}
