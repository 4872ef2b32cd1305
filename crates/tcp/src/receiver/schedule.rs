//! A limit on the rate of acknowledgments of in-order data, per round trip (Li et al., "TACK:
//! Improving Wireless Transport Performance by Taming Acknowledgments", SIGCOMM 2020, equation 3).
//!
//! The rate is the lesser of bw/(L·MSS), an acknowledgment for L segments, and β/RTT_min. Delayed
//! acknowledgments implement the first; this is the second.

use airtcp_units::{Duration, Instant};

/// A bound on the acknowledgments in a round trip.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    in_a_round_trip: u32,
    /// In microseconds; zero as long as no round trip is known.
    interval_us: u32,
    last: Instant,
    /// The gap that was reported at once, if any is open.
    reported: Option<u32>,
}

impl Schedule {
    /// At most `in_a_round_trip` acknowledgments in each, as soon as one is known.
    pub const fn new(in_a_round_trip: u32) -> Self {
        Self {
            in_a_round_trip,
            interval_us: 0,
            last: Instant::ZERO,
            reported: None,
        }
    }

    /// Takes the handshake's round trip. The paper's receiver gets the minimum from the sender
    /// (§5.2); a handshake meets an empty queue more often than anything after it.
    pub fn on_round_trip(&mut self, round_trip: Duration) {
        let interval = round_trip.as_nanos() / 1000 / u64::from(self.in_a_round_trip);
        self.interval_us = u32::try_from(interval).unwrap_or(u32::MAX);
    }

    /// The earliest time of the next acknowledgment.
    pub fn next(&self) -> Instant {
        self.last + Duration::from_micros(self.interval_us.into())
    }

    /// Records that an acknowledgment became due.
    pub const fn on_due(&mut self, now: Instant) {
        self.last = now;
    }

    /// Whether data after `gap` is reported at once: it is the first (the paper's instant
    /// acknowledgment, §4.4); further data after that gap follows the schedule.
    pub fn reports_at_once(&mut self, gap: u32) -> bool {
        self.reported.replace(gap) != Some(gap)
    }

    /// Records that no gap is open.
    pub const fn on_no_gap(&mut self) {
        self.reported = None;
    }
}

#[cfg(test)]
mod tests {
    use super::super::delayed_ack::{DelayedAck, Disorder};
    use super::*;
    use crate::config::DelayedAckConfig;

    fn at(microseconds: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(microseconds)
    }

    fn tack(round_trip: Duration) -> DelayedAck {
        let mut ack = DelayedAck::new(&DelayedAckConfig {
            most_a_round_trip: Some(4),
            ..DelayedAckConfig::default()
        });
        ack.on_round_trip(round_trip);
        ack
    }

    /// Acknowledgments in a second in which a segment arrives every `every` microseconds.
    fn frequency(round_trip_ms: u64, every: u64) -> u32 {
        let mut ack = tack(Duration::from_millis(round_trip_ms));
        let mut sent = 0;
        for arrival in (every..=1_000_000).step_by(usize::try_from(every).expect("fits")) {
            // Timers that expire before the segment arrives.
            while ack.deadline() <= at(arrival) {
                let deadline = ack.deadline();
                ack.on_wakeup(deadline);
                sent += u32::from(ack.is_due());
                ack.on_sent();
            }
            ack.on_in_order(at(arrival), 1000, false);
            sent += u32::from(ack.is_due());
            if ack.is_due() {
                ack.on_sent();
            }
        }
        sent
    }

    /// Figure 8(b) of the paper: with 802.11ac at 10, 80 and 200 ms 400, 50 and 20 a second; with
    /// 802.11b the data is the bound at 10 ms (294, of 588 segments).
    #[test]
    fn frequencies_are_those_of_the_paper() {
        for (round_trip_ms, published) in [(10, 400), (80, 50), (200, 20)] {
            let ours = frequency(round_trip_ms, 20);
            assert!(ours.abs_diff(published) <= 1, "{round_trip_ms} ms: {ours}");
        }
        for (round_trip_ms, published) in [(10, 294), (80, 50), (200, 20)] {
            let ours = frequency(round_trip_ms, 1701);
            assert!(ours.abs_diff(published) <= 2, "{round_trip_ms} ms: {ours}");
        }
    }

    /// §4.4: an event is reported immediately, repetitions follow the schedule.
    #[test]
    fn a_gap_is_reported_at_once_and_then_by_the_schedule() {
        let mut ack = tack(Duration::from_millis(80));
        let behind = |gap| Disorder {
            gap: Some(gap),
            ..Disorder::default()
        };
        ack.on_disorder(at(100_000), &behind(5000));
        assert!(ack.is_due());
        ack.on_sent();
        ack.on_disorder(at(100_100), &behind(5000));
        assert!(!ack.is_due());
        assert_eq!(ack.deadline(), at(120_000));
        ack.on_disorder(at(100_200), &behind(9000));
        assert!(ack.is_due(), "another gap");
    }

    /// Before the handshake is timed only the count decides.
    #[test]
    fn without_a_round_trip_it_is_a_count() {
        let mut ack = DelayedAck::new(&DelayedAckConfig {
            most_a_round_trip: Some(4),
            ..DelayedAckConfig::default()
        });
        ack.on_in_order(at(10), 1000, false);
        ack.on_in_order(at(11), 1000, false);
        assert!(ack.is_due());
    }
}
