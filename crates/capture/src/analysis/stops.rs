//! Stops of the link: silences of the ACKs that end with the answer to data in flight.

use airtcp_units::{Duration, Instant};

use super::findings::{Ack, Sent, Silence};
use super::rate::Path;

/// Minimum length; shorter silences cannot be distinguished from ordinary gaps.
const MIN: Duration = Duration::from_millis(80);
/// Minimum length in packet times.
const MIN_PACKETS: u64 = 8;
/// Minimum length in percent of the round trip.
const MIN_RTT_PERCENT: u64 = 60;
/// Time after a stop in which its release shows.
const RELEASE: Duration = Duration::from_millis(10);
/// Minimum rate of a release at once, relative to the usual rate.
const AT_ONCE: f64 = 2.5;

/// A period in which the link neither delivered nor lost data in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// Time of the last answer: a packet time and the return path after the link stopped.
    pub start: Instant,
    /// Time of the next answer.
    pub end: Instant,
    /// Whether held packets were released in a burst, not at the link's rate.
    pub at_once: bool,
}

/// The stops among the silences of a flow.
pub(super) fn find(
    silences: &[Silence],
    sent: &[Sent],
    acks: &[Ack],
    path: &Path<'_>,
) -> Vec<Stop> {
    let packet_time = typical_packet_time(path, sent, acks);
    let least = MIN
        .max(packet_time * MIN_PACKETS)
        .max(path.base * MIN_RTT_PERCENT / 100);
    silences
        .iter()
        .filter_map(|silence| {
            let answered = original(sent, silence)?;
            // Silence until the answer was due is part of the round trip.
            let base = path.base_at(sent[answered].time);
            let due = sent[answered].time + silence.rtt.unwrap_or_default().max(base);
            let start = silence.from.max(due);
            (silence.to - start >= least).then(|| Stop {
                start,
                end: silence.to,
                at_once: is_released_at_once(silence.to, acks, packet_time),
            })
        })
        .collect()
}

/// The transmission with the answer that ended a silence, if it was not lost meanwhile: for a
/// needless repair, the first transmission.
fn original(sent: &[Sent], silence: &Silence) -> Option<usize> {
    let mut at = silence.ended_by;
    loop {
        let packet = &sent[at.get()];
        let Some(previous) = packet.previous else {
            return Some(at.get());
        };
        if sent[previous.get()].is_lost {
            // A repair: the silence was the sender's wait, unless it began after the repair.
            return Some(at.get());
        }
        at = previous;
    }
}

/// The time between two packets of the link at its usual rate.
pub(super) fn typical_packet_time(path: &Path<'_>, sent: &[Sent], acks: &[Ack]) -> Duration {
    let mut rates: Vec<u64> = acks
        .iter()
        .step_by((acks.len() / 500).max(1))
        .map(|ack| path.rate_bps(ack.time) as u64)
        .filter(|rate| *rate > 0)
        .collect();
    rates.sort_unstable();
    let Some(rate) = rates.get(rates.len() / 2) else {
        return Duration::ZERO;
    };
    let bits = sent.iter().map(|packet| packet.ip_bytes).max().unwrap_or(0) as u64 * 8;
    Duration::from_nanos(bits * 1_000_000_000 / rate.max(&1))
}

fn is_released_at_once(end: Instant, acks: &[Ack], packet_time: Duration) -> bool {
    let first = acks.partition_point(|ack| ack.time < end);
    let behind = acks.partition_point(|ack| ack.time <= end + RELEASE);
    let bytes: u64 = acks
        .get(first..behind)
        .unwrap_or(&[])
        .iter()
        .map(|ack| u64::from(ack.newly))
        .sum();
    let packets = bytes as f64 / 1448.0;
    let expected = RELEASE.as_secs_f64() / packet_time.as_secs_f64().max(1e-9);
    packets >= 4.0 && packets > AT_ONCE * (expected + 1.0)
}
