//! Pacing: bursts of up to a quantum, spaced according to the rate (Linux, `tcp_pacing_check`,
//! `tcp_tso_autosize` and `tcp_update_skb_after_send`; draft-ietf-ccwg-bbr §5.6.3).

use airtcp_units::{BitRate, Duration, Instant};

/// Number of segments that leave before pacing starts (Linux, `tcp_update_skb_after_send`).
const UNPACED: u8 = 10;
/// The largest burst: that of segmentation offload (Linux, `GSO_LEGACY_MAX_SIZE` less
/// `MAX_TCP_HEADER` and one).
const MAX_BURST_BYTES: u64 = 65_215;

/// Maximum time that a segment delays the next one: a rate may come from a round trip that was
/// measured by a report an hour late, and be out of date before its time has passed (Linux, `fq`:
/// `fq_dequeue` bounds the delay of a packet so).
const MAX: Duration = Duration::from_secs(1);

/// The pace of a segment.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Payload per time: headers are not counted, since a bandwidth estimated from acknowledgments
    /// does not count them either (Linux takes `skb->len` before headers are added).
    pub rate: BitRate,
    /// Minimum burst, in segments.
    pub least_burst: u64,
}

/// The schedule of bursts.
#[derive(Clone, Debug)]
pub struct Pacing {
    /// A burst lasts 2^−shift seconds (Linux, `sk_pacing_shift`).
    shift: u32,
    next: Instant,
    /// Bytes left in the current burst.
    left: u64,
    /// Time at which that burst leaves: segments that the windows do not allow then are not part of
    /// it.
    burst_at: Instant,
    /// Delay of that burst beyond its schedule, as far as not made up for.
    late: Duration,
    unpaced: u8,
}

impl Pacing {
    /// Creates a schedule before the first segment. Bursts last 2^−`shift` seconds.
    pub const fn new(shift: u32) -> Self {
        Self {
            shift,
            next: Instant::ZERO,
            left: 0,
            burst_at: Instant::ZERO,
            late: Duration::ZERO,
            unpaced: UNPACED,
        }
    }

    /// Time before which no segment may leave at `now`; `None` if one may.
    #[inline]
    pub fn blocked_until(&self, now: Instant) -> Option<Instant> {
        (!self.is_in_burst(now) && self.next > now).then_some(self.next)
    }

    /// Whether more of the current burst may leave at `now`. A burst is the data that can leave
    /// together at one instant: a window with room for one segment makes a burst of one, and the
    /// next segment waits for its turn (Linux, `tcp_write_xmit`: a packet for segmentation offload
    /// is no longer than the window allows).
    #[inline]
    fn is_in_burst(&self, now: Instant) -> bool {
        self.left > 0 && now == self.burst_at
    }

    /// Time at which the next burst may leave; it may have passed.
    #[inline]
    pub const fn next(&self) -> Instant {
        self.next
    }

    /// Time at which the next burst may leave, `now` at the earliest.
    #[inline]
    pub fn next_departure(&self, now: Instant) -> Instant {
        self.next.max(now)
    }

    /// Records that a segment with `bytes` of payload, at most `mss`, leaves at `now`.
    pub fn on_sent(&mut self, now: Instant, bytes: u64, mss: u64, pace: Pace) {
        if self.unpaced > 1 {
            self.unpaced -= 1;
            return;
        }
        self.unpaced = 0;
        if !self.is_in_burst(now) {
            self.left = burst(pace, self.shift, mss);
            self.burst_at = now;
            self.late = now - self.next;
            self.next = self.next.max(now);
        }
        self.left = self.left.saturating_sub(bytes);
        let took = transmission_time(pace.rate, bytes);
        // Lost time is made up for by at most half a burst.
        let credit = Duration::from_nanos(self.late.as_nanos().min(took.as_nanos() / 2));
        self.late -= credit;
        self.next += took - credit;
    }

    /// Ends the current burst: a retransmission is a separate packet (Linux,
    /// `tcp_xmit_retransmit_queue` asks `tcp_pacing_check` before each).
    pub const fn end_burst(&mut self) {
        self.left = 0;
    }
}

/// Linux's default number of halvings of a second that a burst lasts (`sk_pacing_shift`).
const USUAL_SHIFT: u32 = 10;

/// Limit on the bytes queued in the sender's device at `rate`: two bursts, or 2^−`shift` seconds
/// (Linux, `tcp_small_queue_check`; its buffers' overhead is not counted).
pub fn small_queue(pace: Pace, shift: u32, mss: u64) -> u64 {
    let worth = (pace.rate.as_bps() / 8).checked_shr(shift).unwrap_or(0);
    worth.max(2 * burst(pace, shift, mss))
}

/// Segments of a burst at `rate` where nothing is paced.
pub fn burst_segments(rate: BitRate, least_burst: u64, mss: u64) -> u64 {
    burst(Pace { rate, least_burst }, USUAL_SHIFT, mss) / mss.max(1)
}

/// Bytes of a burst: the bytes delivered at the rate in 2^−`shift` seconds, in whole segments.
fn burst(pace: Pace, shift: u32, mss: u64) -> u64 {
    let bytes = (pace.rate.as_bps() / 8)
        .checked_shr(shift)
        .unwrap_or(0)
        .min(MAX_BURST_BYTES);
    (bytes / mss.max(1)).max(pace.least_burst) * mss
}

/// Time that `bytes` take at `rate`, at most [`MAX`].
fn transmission_time(rate: BitRate, bytes: u64) -> Duration {
    if rate.as_bps() == 0 {
        return MAX;
    }
    rate.transmission_time(bytes).min(MAX)
}

#[cfg(test)]
mod tests {
    /// At 80 Mbit/s a burst is cut at 65215 bytes, 45 segments: two of them are more than 2^−7 s,
    /// 78 kB. At 1 Gbit/s 2^−7 s are more. At 1 Mbit/s it is two bursts of two segments.
    #[test]
    fn small_queues_hold_two_bursts() {
        let limit = |rate, shift| {
            let rate = BitRate::from_bps(rate);
            let least_burst = 2;
            small_queue(Pace { rate, least_burst }, shift, 1448)
        };
        assert_eq!(limit(80_000_000, 7), 2 * 45 * 1448);
        assert_eq!(limit(1_000_000_000, 7), 125_000_000 / 128);
        assert_eq!(limit(1_000_000, 10), 4 * 1448);
    }

    use super::*;

    const MSS: u64 = 1500;

    /// Departures of `count` segments that are always available, in microseconds from the first.
    fn departures(pacing: &mut Pacing, rate: u64, least_burst: u64, count: usize) -> Vec<u64> {
        let start = Instant::ZERO + Duration::from_secs(1);
        let pace = Pace {
            rate: BitRate::from_bps(rate),
            least_burst,
        };
        let mut now = start;
        let mut sent = Vec::new();
        while sent.len() < count {
            if let Some(until) = pacing.blocked_until(now) {
                now = until;
            }
            pacing.on_sent(now, MSS, MSS, pace);
            sent.push((now - start).as_nanos() / 1000);
        }
        sent
    }

    /// Linux, `tcp_update_skb_after_send`: the tenth segment is the first that is paced. Then 3
    /// Mbit/s of 1500 bytes are 4 ms a segment, and a burst of two leaves every 8 ms; the first of
    /// them was late, and half of its duration makes up for it.
    #[test]
    fn the_first_ten_leave_at_once_and_then_bursts_of_two() {
        let mut pacing = Pacing::new(10);
        let sent = departures(&mut pacing, 3_000_000, 2, 16);
        assert_eq!(sent[..9], [0; 9]);
        assert_eq!(sent[9..], [0, 0, 4000, 4000, 12_000, 12_000, 20_000]);
    }

    /// A burst of 2^−7 s at 12 Mbit/s is 11 718 bytes, seven segments of 1500, which take 7 ms; one
    /// of 2^−10 s is 1464 bytes, less than a segment.
    #[test]
    fn the_shift_says_how_long_a_burst_lasts() {
        let mut pacing = Pacing::new(7);
        let sent = departures(&mut pacing, 12_000_000, 2, 9 + 14 + 1);
        assert_eq!(sent[9 + 6], 0);
        assert_eq!(sent[9 + 7], 3500);
        assert_eq!(sent[9 + 13], 3500);
        assert_eq!(sent[9 + 14], 10_500);
        let mut pacing = Pacing::new(10);
        let sent = departures(&mut pacing, 12_000_000, 1, 9 + 3);
        assert_eq!(sent[9..], [0, 500, 1500]);
    }

    /// Linux, `tcp_update_skb_after_send`: a burst that leaves 1 ms late shortens the wait for the
    /// next by as much, and its segments do not make up for the same millisecond twice: 8 ms less
    /// 1.
    #[test]
    fn lateness_is_made_up_for_once() {
        let pace = Pace {
            rate: BitRate::from_bps(3_000_000),
            least_burst: 2,
        };
        let mut pacing = Pacing::new(10);
        let start = Instant::ZERO + Duration::from_secs(1);
        departures(&mut pacing, 3_000_000, 2, 11);
        // A delay of a second was made up for by half of each segment.
        let next = start + Duration::from_millis(4);
        assert_eq!(pacing.blocked_until(start), Some(next));
        assert_eq!(pacing.blocked_until(next), None);
        assert_eq!(pacing.next_departure(start), next);
        let late = next + Duration::from_millis(1);
        assert_eq!(pacing.next_departure(late), late);
        for _ in 0..2 {
            assert_eq!(pacing.blocked_until(late), None, "one burst");
            pacing.on_sent(late, MSS, MSS, pace);
        }
        let after = late + Duration::from_millis(7);
        assert_eq!(pacing.blocked_until(late), Some(after));
    }

    /// The window lets one of a burst of two leave: the other does not belong to it, and leaves
    /// when a segment's 4 ms have passed; so does new data directly after a retransmission.
    #[test]
    fn a_burst_that_the_window_cuts_short_is_over() {
        let pace = Pace {
            rate: BitRate::from_bps(3_000_000),
            least_burst: 2,
        };
        let mut pacing = Pacing::new(10);
        let start = Instant::ZERO + Duration::from_secs(1);
        departures(&mut pacing, 3_000_000, 2, 11);
        let next = start + Duration::from_millis(4);
        pacing.on_sent(next, MSS, MSS, pace);
        assert_eq!(pacing.blocked_until(next), None, "one more would fit");
        let after = next + Duration::from_millis(4);
        let soon = next + Duration::from_millis(1);
        assert_eq!(pacing.blocked_until(soon), Some(after));
        pacing.on_sent(after, MSS, MSS, pace);
        pacing.end_burst();
        let last = after + Duration::from_millis(4);
        assert_eq!(pacing.blocked_until(after), Some(last));
    }

    /// Linux, `tcp_tso_autosize`: `gso_max_size` bounds a burst, whatever the rate: 43 segments of
    /// 1500 bytes. A rate of zero is still a segment a second.
    #[test]
    fn no_burst_is_larger_than_offload_takes() {
        let fast = Pace {
            rate: BitRate::from_bps(100_000_000_000),
            least_burst: 2,
        };
        assert_eq!(burst(fast, 10, MSS), 43 * MSS);
        let none = Pace {
            rate: BitRate::from_bps(0),
            least_burst: 1,
        };
        assert_eq!(burst(none, 10, MSS), MSS);
        assert_eq!(transmission_time(none.rate, MSS), Duration::from_secs(1));
    }

    /// Linux, `fq_dequeue`: a rate of a window in an hour delays no segment by an hour.
    #[test]
    fn no_segment_makes_the_next_wait_for_more_than_a_second() {
        let crawl = BitRate::from_bps(3);
        assert_eq!(transmission_time(crawl, MSS), Duration::from_secs(1));
        let slow = BitRate::from_bps(24_000);
        assert_eq!(transmission_time(slow, MSS), Duration::from_millis(500));
    }
}
