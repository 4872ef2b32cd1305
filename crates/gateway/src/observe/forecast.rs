//! The effect that held acknowledgments would have on the timers of the mobiles they go to.
//!
//! While packets are only observed, each acknowledgment has two known times: when it passed, and
//! when the agent would have released it. Two estimators of Linux's timer, one for each, see the
//! same delays of the radio; if the time between two acknowledgments exceeds the timer, it would
//! have expired. The forecast ignores that a sender without timeouts sends more.

use std::num::NonZeroUsize;

use airtcp_link::agent::FlowKey;
use airtcp_packet::{Segment, SequenceNumber};
use airtcp_tcp::RttEstimator;
use airtcp_tcp::config::{RttEstimation, TimeoutConfig};
use airtcp_units::{Duration, Instant};
use lru::LruCache;
use serde::Serialize;

/// Maximum pause attributed to the network: no timer runs while nothing is in flight.
const PAUSE: Duration = Duration::from_secs(10);
/// A tick of the mobile's timestamp clock, as in Linux (RFC 7323 §5.4).
const TICK: i64 = 1_000_000;

/// Timeouts expected at the mobiles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Expected {
    /// Acknowledgments of new data that were evaluated.
    pub acknowledgments: u64,
    /// Timers that expire without the agents.
    pub timeouts_now: u64,
    /// Timers that expire with the agents.
    pub timeouts_with: u64,
}

/// A sender's timer.
#[derive(Debug)]
struct Timer {
    estimator: RttEstimator,
    /// Time at which it was last started.
    started: Option<Instant>,
}

/// A connection with acknowledgments to a mobile.
#[derive(Debug)]
struct Uploading {
    /// The first echo and its time: the mobile's clock is known up to a constant.
    origin: Option<(Instant, u32)>,
    /// The minimum age of an echo.
    least: i64,
    acknowledged: Option<SequenceNumber>,
    bytes: u64,
    now: Timer,
    with: Timer,
}

/// The forecast.
#[derive(Debug)]
pub struct Forecast {
    uploading: LruCache<FlowKey, Uploading>,
    expected: Expected,
    floor: Duration,
}

impl Timer {
    fn new(floor: Duration) -> Self {
        Self {
            estimator: RttEstimator::new(&TimeoutConfig {
                min: floor,
                estimation: RttEstimation::Linux,
                ..TimeoutConfig::default()
            }),
            started: None,
        }
    }

    /// Processes an acknowledgment at `time` after a round trip. Returns whether the timer had
    /// expired.
    fn acknowledge(&mut self, time: Instant, round_trip: Duration, una: u64) -> bool {
        let timeout = self
            .estimator
            .srtt()
            .zip(self.estimator.rttvar())
            .map(|(mean, deviation)| mean + deviation * 4);
        let waited = self.started.map(|started| time - started);
        self.started = Some(time);
        self.estimator.on_sample(round_trip, una, una);
        waited
            .zip(timeout)
            .is_some_and(|(waited, timeout)| waited > timeout && waited < PAUSE)
    }
}

impl Forecast {
    /// Creates a forecast for `most` connections at a time, with `floor` as the minimum of their
    /// timers.
    pub fn new(most: NonZeroUsize, floor: Duration) -> Self {
        Self {
            floor,
            uploading: LruCache::new(most),
            expected: Expected::default(),
        }
    }

    /// The forecast so far.
    pub const fn expected(&self) -> Expected {
        self.expected
    }

    /// Processes an acknowledgment that passed to the mobile at `came`, and that the agents would
    /// have released at `left`. `least` is the round trip of the idle path.
    pub fn see(
        &mut self,
        flow: FlowKey,
        segment: &Segment,
        came: Instant,
        left: Instant,
        least: Duration,
    ) {
        let Some(stamps) = segment.timestamps else {
            return;
        };
        let floor = self.floor;
        let one = self.uploading.get_or_insert_mut(flow, || Uploading {
            origin: None,
            least: i64::MAX,
            acknowledged: None,
            bytes: 0,
            now: Timer::new(floor),
            with: Timer::new(floor),
        });
        let Some(before) = one.acknowledged.replace(segment.acknowledgment) else {
            return;
        };
        if !segment.acknowledgment.after(before) {
            one.acknowledged = Some(before);
            return;
        }
        one.bytes += u64::from(segment.acknowledgment.distance(before).unsigned_abs());
        let (start, first) = *one.origin.get_or_insert((came, stamps.echo));
        let ahead = i64::from(SequenceNumber(stamps.echo).distance(SequenceNumber(first)));
        let age = (came - start).as_nanos().cast_signed() - ahead.saturating_mul(TICK);
        one.least = one.least.min(age);
        let above = Duration::from_nanos((age - one.least).max(0).unsigned_abs());
        let round_trip = least + above;
        self.expected.acknowledgments += 1;
        let expired = one.now.acknowledge(came, round_trip, one.bytes);
        self.expected.timeouts_now += u64::from(expired);
        let expired = one
            .with
            .acknowledge(left, round_trip + (left - came), one.bytes);
        self.expected.timeouts_with += u64::from(expired);
    }
}

#[cfg(test)]
mod tests {
    use airtcp_packet::{Flags, Timestamps};

    use super::*;

    /// Acknowledgments every 20 ms over a path of 50 ms, and after 100 of them one that is 400 ms
    /// late: Linux's timer of 250 ms expires. A timer with round trips stretched to 450 ms by held
    /// acknowledgments does not.
    #[test]
    fn a_spike_expires_the_timer_that_did_not_expect_it() {
        let mut forecast = Forecast::new(NonZeroUsize::new(4).unwrap(), Duration::from_millis(200));
        let ms = |millis: u64| Instant::ZERO + Duration::from_millis(millis);
        for round in 0..102_u64 {
            let sent = round * 20;
            let came = sent + 50 + if round == 101 { 400 } else { 0 };
            let held = if round % 7 == 3 { 400 } else { 0 };
            let segment = Segment {
                acknowledgment: SequenceNumber(round as u32 * 1000),
                flags: Flags::ACK,
                timestamps: Some(Timestamps {
                    value: 0,
                    echo: sent as u32,
                }),
                ..Segment::default()
            };
            forecast.see(
                1,
                &segment,
                ms(came),
                ms(came + held),
                Duration::from_millis(50),
            );
        }
        let expected = forecast.expected();
        assert_eq!(expected.acknowledgments, 101);
        assert_eq!(expected.timeouts_now, 1);
    }
}
