//! The path's rate at each moment, and the queue that a packet met.

use airtcp_units::{Duration, Instant};

use super::found::{Ack, Sent};

/// Half of the shortest window over which a rate is taken.
const LEAST_HALF: Duration = Duration::from_millis(100);
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
        // The handshake may have been answered by something nearer.
        let data = sent.iter().filter(|packet| packet.end > 0);
        let mut rtts: Vec<Duration> = data.filter_map(Sent::rtt).collect();
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

    /// Bytes that had been delivered when the last ACK up to `time` had passed.
    fn delivered(&self, time: Instant) -> u64 {
        let behind = self.acks.partition_point(|ack| ack.time <= time);
        self.acks[..behind].last().map_or(0, |ack| ack.delivered)
    }

    /// Bytes in the queue when each transmission came to it, as far as this flow filled it.
    ///
    /// What is under way is in the queue but for what had left it: that is acknowledged within the
    /// shortest round trip. And but for what was lost, until it is repaired. This needs no rate,
    /// hence holds while the rate varies or the link stands still.
    pub fn queue_bytes(&self) -> Vec<u64> {
        let mut lost = Lost::of(self.sent);
        self.sent
            .iter()
            .map(|sent| {
                // Where the capture's clock goes back, less may have been delivered later.
                let then = self.delivered(sent.time + self.base);
                let left = then.saturating_sub(self.delivered(sent.time));
                let own = sent.end - sent.start;
                u64::from(sent.in_flight)
                    .saturating_sub(own)
                    .saturating_sub(left)
                    .saturating_sub(lost.under_way(sent.time))
            })
            .collect()
    }
}

/// Lost bytes that count as under way, walked in time.
struct Lost {
    /// Changes of their number: when, and by how much.
    changes: Vec<(Instant, i64)>,
    at: usize,
    bytes: i64,
}

impl Lost {
    fn of(sent: &[Sent]) -> Self {
        let mut changes = Vec::new();
        for packet in sent {
            // A repair of what was lost is under way itself.
            if let Some(lost) = sent.get(packet.previous as usize)
                && lost.is_lost
            {
                let bytes = (lost.end - lost.start).cast_signed();
                changes.push((lost.time, bytes));
                changes.push((packet.time, -bytes));
            }
        }
        changes.sort_unstable();
        Self {
            changes,
            at: 0,
            bytes: 0,
        }
    }

    /// Their number just before `time`, which does not run backwards.
    fn under_way(&mut self, time: Instant) -> u64 {
        while let Some((when, bytes)) = self.changes.get(self.at)
            && *when < time
        {
            self.bytes += bytes;
            self.at += 1;
        }
        u64::try_from(self.bytes).unwrap_or(0)
    }
}
