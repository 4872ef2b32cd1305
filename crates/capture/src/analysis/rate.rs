//! The path's rate over time, and the queue met by each packet.

use airtcp_units::{Duration, Instant};

use super::acking::Acking;
use super::findings::{Ack, Sent};
use super::path_phases::{self, Phase};

/// Half of the shortest window for a rate.
const MIN_HALF: Duration = Duration::from_millis(100);
/// Round trips and rates of a flow.
#[derive(Debug)]
pub(super) struct Path<'a> {
    sent: &'a [Sent],
    acks: &'a [Ack],
    /// The shortest round trip, as the 0.2 % quantile.
    pub base: Duration,
    /// The path's phases, where it has several.
    pub phases: Vec<Phase>,
    half: Duration,
}

impl<'a> Path<'a> {
    /// The path of a flow; `None` without round-trip samples.
    pub fn of(sent: &'a [Sent], acks: &'a [Ack], acking: &Acking) -> Option<Self> {
        // A nearer device may have answered the handshake.
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
            phases: path_phases::find(sent, acks, acking),
            half: base.max(MIN_HALF),
        })
    }

    /// The shortest round trip of the path in use at `time`.
    pub fn base_at(&self, time: Instant) -> Duration {
        let behind = self.phases.partition_point(|phase| phase.from <= time);
        let phase = self.phases.get(behind.saturating_sub(1));
        phase.map_or(self.base, |phase| phase.base)
    }

    /// Bits a second delivered around `time`; zero without any.
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

    /// Bytes delivered up to the last ACK at `time`.
    fn delivered(&self, time: Instant) -> u64 {
        let behind = self.acks.partition_point(|ack| ack.time <= time);
        self.acks[..behind].last().map_or(0, |ack| ack.delivered)
    }

    /// Queue length in bytes at each transmission's arrival, counting only this flow.
    ///
    /// The bytes in flight are in the queue except those past it, which are acknowledged within the
    /// shortest round trip, and except lost ones, until they are repaired. This needs no rate,
    /// hence holds while the rate varies or the link is stopped.
    pub fn queue_bytes(&self) -> Vec<u64> {
        let mut lost = LostBytes::of(self.sent);
        self.sent
            .iter()
            .map(|sent| {
                // If the capture's clock goes back, fewer bytes may have been delivered later.
                let then = self.delivered(sent.time + self.base_at(sent.time));
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

/// For each transmission, whether its queue is known without SACK: while acknowledgments stall at a
/// hole, arrivals above it count as in flight for too long. They stall from the acknowledgment of
/// the data before the hole until that of the hole.
pub(super) fn is_told_without_sack(sent: &[Sent]) -> Vec<bool> {
    let mut before = Instant::ZERO;
    let mut holes = Vec::new();
    for packet in sent.iter().filter(|packet| packet.attempt == 0) {
        if packet.is_lost {
            holes.push((before, packet.acknowledged));
        } else if packet.acknowledged < Instant::FAR_FUTURE {
            before = before.max(packet.acknowledged);
        }
    }
    holes.sort_unstable();
    let mut ahead = holes.into_iter().peekable();
    let mut until = Instant::ZERO;
    sent.iter()
        .map(|packet| {
            while let Some((_, closed)) = ahead.next_if(|(open, _)| *open <= packet.time) {
                until = until.max(closed);
            }
            until <= packet.time
        })
        .collect()
}

/// Lost bytes that count as in flight, over time.
struct LostBytes {
    /// Changes of their number: time, and difference.
    changes: Vec<(Instant, i64)>,
    at: usize,
    bytes: i64,
}

impl LostBytes {
    fn of(sent: &[Sent]) -> Self {
        let mut changes = Vec::new();
        for packet in sent {
            // A repair of lost data is in flight itself.
            if let Some(lost) = packet.previous_in(sent)
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

    /// Their number just before `time`, which must not decrease.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::tests::transmission;

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    /// A packet every 10 ms, acknowledged after 50; those sent at 100 and 110 ms are lost, and
    /// acknowledged with all later data at 300 ms.
    fn sent() -> Vec<Sent> {
        (0..60)
            .map(|number| {
                let is_behind = (10..25).contains(&number);
                Sent {
                    time: ms(10 * number),
                    number,
                    start: number * 1000,
                    end: number * 1000 + 1000,
                    ip_bytes: 1040,
                    acknowledged: ms(if is_behind { 300 } else { 10 * number + 50 }),
                    is_measured: !is_behind,
                    is_lost: number == 10 || number == 11,
                    ..transmission()
                }
            })
            .collect()
    }

    /// Acknowledgments stall from 140 ms, when data sent at 90 ms is acknowledged, until 300; both
    /// losses met a known queue.
    #[test]
    fn a_queue_is_told_while_acknowledgments_go_on() {
        let told = is_told_without_sack(&sent());
        let silent: Vec<_> = (0..60).filter(|&place| !told[place]).collect();
        assert_eq!(silent, (14..30).collect::<Vec<_>>());
    }
}
