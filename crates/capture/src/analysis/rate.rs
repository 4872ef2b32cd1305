//! How fast the path carried data at each moment, and the queue that a packet met.

use airtcp_units::{Duration, Instant};

use super::follow::{Ack, Sent};

/// Half of the shortest window over which a rate is taken.
const LEAST_HALF: Duration = Duration::from_millis(100);
/// Measured neighbours whose median stands for a packet that has no answer of its own.
const NEIGHBOURS: usize = 6;
/// How many transmissions each way are looked through for them.
const REACH: usize = 64;

/// Round trips and rates of a flow.
#[derive(Debug)]
pub(super) struct Path<'a> {
    sent: &'a [Sent],
    acks: &'a [Ack],
    /// The shortest round trip, as the 0.2 % quantile.
    pub base: Duration,
    half: Duration,
}

impl<'a> Path<'a> {
    /// The path of a flow; `None` where nothing measured a round trip.
    pub fn of(sent: &'a [Sent], acks: &'a [Ack]) -> Option<Self> {
        let mut rtts: Vec<Duration> = sent.iter().filter_map(Sent::rtt).collect();
        let at = rtts.len() / 500;
        if rtts.is_empty() {
            return None;
        }
        let (_, base, _) = rtts.select_nth_unstable(at);
        let base = *base;
        Some(Self {
            sent,
            acks,
            base,
            half: base.max(LEAST_HALF),
        })
    }

    /// Bits a second that were delivered around `time`; zero where nothing was.
    pub fn rate_bps(&self, time: Instant) -> f64 {
        let from = Instant::from_nanos(time.as_nanos().saturating_sub(self.half.as_nanos()));
        let to = time + self.half;
        let first = self.acks.partition_point(|ack| ack.time < from);
        let behind = self.acks.partition_point(|ack| ack.time <= to);
        let (Some(low), Some(high)) = (self.acks.get(first), self.acks[..behind].last()) else {
            return 0.0;
        };
        let seconds = (high.time - low.time).as_secs_f64();
        if seconds > 0.0 {
            high.delivered.saturating_sub(low.delivered) as f64 * 8.0 / seconds
        } else {
            0.0
        }
    }

    /// The queueing delay that transmission `at` met, from its nearest neighbours that measured
    /// one, itself among them; with the time at which they were acknowledged.
    pub fn queueing(&self, at: usize) -> Option<(Duration, Instant)> {
        let mut near: Vec<(Duration, Instant)> = Vec::with_capacity(NEIGHBOURS);
        for step in 0..REACH {
            let before = at.checked_sub(step);
            let behind = (step > 0).then_some(at + step);
            for place in [before, behind].into_iter().flatten() {
                let Some(sent) = self.sent.get(place) else {
                    continue;
                };
                if let Some(rtt) = sent.rtt()
                    && near.len() < NEIGHBOURS
                {
                    near.push((rtt - self.base, sent.acknowledged));
                }
            }
            if near.len() >= NEIGHBOURS {
                break;
            }
        }
        near.sort_unstable();
        near.get(near.len() / 2).copied()
    }

    /// Bytes in the queue that transmission `at` met: the delay times the rate of the moment, and
    /// no more than was under way.
    pub fn queue_bytes(&self, at: usize) -> Option<u64> {
        let (delay, time) = self.queueing(at)?;
        let bytes = delay.as_secs_f64() * self.rate_bps(time) / 8.0;
        let in_flight = u64::from(self.sent.get(at)?.in_flight);
        Some((bytes as u64).min(in_flight))
    }
}
