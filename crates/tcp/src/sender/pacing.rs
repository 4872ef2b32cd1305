//! Sending at a pace: bursts of up to a quantum, as far apart as the rate says (Linux,
//! `tcp_internal_pacing` and `tcp_tso_autosize`; draft-ietf-ccwg-bbr §5.6.3).

use airtcp_units::{BitRate, Duration, Instant};

/// IP and TCP headers with timestamps: the rate counts them.
const HEADER_BYTES: u64 = 52;
/// Below this rate a burst is one segment, above it two at least (`bbr_min_tso_rate`).
const ONE_SEGMENT_BELOW: u64 = 1_200_000;
/// A burst lasts about 1/128 s: what Linux gives sockets whose packets leave by Wi-Fi, so that frames
/// can be aggregated (`tx_sk_pacing_shift` of mac80211; 1/1024 s elsewhere). It also saves most of the
/// wake-ups.
const BURST_SHIFT: u32 = 7;

/// When the next burst may leave.
#[derive(Clone, Debug, Default)]
pub struct Pacing {
    next: Instant,
    /// Bytes left in the burst that is leaving.
    left: u64,
}

impl Pacing {
    /// Until when nothing may leave at `now`; `None` if something may.
    #[inline]
    pub fn blocked_until(&self, now: Instant) -> Option<Instant> {
        (self.left == 0 && self.next > now).then_some(self.next)
    }

    /// `bytes` of payload leave at `now`, where `rate` is the pace.
    pub fn on_sent(&mut self, now: Instant, bytes: u64, mss: u64, rate: BitRate) {
        if self.left == 0 {
            let least = if rate.as_bps() < ONE_SEGMENT_BELOW {
                1
            } else {
                2
            };
            let burst = (rate.as_bps() / 8) >> BURST_SHIFT;
            self.left = (burst / mss).clamp(least, 44) * mss;
        }
        self.left = self.left.saturating_sub(bytes);
        let took = transmission_time(rate, bytes + HEADER_BYTES);
        // What was not sent in time is made up for by half a burst at most (`tcp_update_skb_after_send`).
        let late = now - self.next;
        let credit = Duration::from_nanos(late.as_nanos().min(took.as_nanos() / 2));
        self.next = self.next.max(now) + Duration::from_nanos(took.as_nanos() - credit.as_nanos());
    }
}

fn transmission_time(rate: BitRate, bytes: u64) -> Duration {
    if rate.as_bps() == 0 {
        return Duration::from_secs(1);
    }
    rate.transmission_time(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 3 Mbit/s and 1500 bytes on the wire take 4 ms: 1/128 s is two segments, which leave every 8 ms.
    #[test]
    fn bursts_of_two_leave_two_segment_times_apart() {
        let rate = BitRate::from_bps(3_000_000);
        let mut pacing = Pacing::default();
        let mut now = Instant::ZERO + Duration::from_secs(1);
        let mut sent = Vec::new();
        while sent.len() < 6 {
            if let Some(until) = pacing.blocked_until(now) {
                now = until;
            }
            pacing.on_sent(now, 1448, 1448, rate);
            sent.push((now - Instant::ZERO).as_nanos() / 1000 - 1_000_000);
        }
        // The first burst uses a credit of half a segment's time.
        assert_eq!(sent, [0, 0, 6000, 6000, 14_000, 14_000]);
    }

    #[test]
    fn a_slow_pace_sends_one_at_a_time() {
        let rate = BitRate::from_bps(1_000_000);
        let mut pacing = Pacing::default();
        let now = Instant::ZERO + Duration::from_secs(1);
        pacing.on_sent(now, 1448, 1448, rate);
        assert_eq!(
            pacing.blocked_until(now),
            Some(now + Duration::from_millis(6))
        );
    }
}
