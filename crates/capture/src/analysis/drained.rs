//! Moments at which a sender has drained its queue, as BBR does to measure the path
//! (draft-ietf-ccwg-bbr, ProbeRTT): the round trip is then the path's, although the link is full
//! before and after.
//!
//! With few bytes in flight the sender's queue is at most these bytes over the link's rate. A
//! longer round trip is the path's, unless others fill the queue: whoever shares the link hardly
//! ever has all of its rate.

use airtcp_units::{Duration, Instant};

use super::findings::{Ack, Sent};

/// Minimum ratio of the bytes in flight around a moment, at the top decile, to those at it.
const RATIO: u64 = 4;
/// Minimum number of round trips at a moment.
const FEWEST: usize = 8;
/// Minimum share of them near the shortest.
const NEAR_PERCENT: usize = 70;
/// Maximum time between them; and the time before and after a moment for comparisons.
const APART: Duration = Duration::from_millis(300);
const AROUND: Duration = Duration::from_secs(1);
/// Maximum number of earlier transmissions among which one was measured.
const REACH: usize = 64;
/// Share of a round trip by which a link has to have been too fast to be busy for all of it.
const MARGIN: u64 = 10;
/// Number of acknowledgments for a rate over a short time.
const SHORT: usize = 16;
/// Minimum share of the highest rate over a short time that the flow has before or after a moment.
const ALL_PERCENT: u64 = 85;
/// Time before and after a moment for the highest rate: a path that changes may change its rate.
const NEARBY: Duration = Duration::from_secs(2);

/// A moment with a drained queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Drained {
    pub from: Instant,
    /// Just after its last transmission.
    pub until: Instant,
    /// The shortest round trip.
    pub base: Duration,
    /// The path's round trip is no shorter: several are longer by the time that the bytes in flight
    /// take at the link's rate.
    pub min_base: Duration,
}

/// The moments of a flow. `near` is whether two round trips agree.
pub(super) fn find(
    sent: &[Sent],
    acks: &[Ack],
    near: impl Fn(Duration, Duration) -> bool,
) -> Vec<Drained> {
    let mut found = Vec::new();
    for moment in moments(sent) {
        let measured = || moment.iter().filter_map(|packet| packet.rtt());
        let Some(base) = measured().min() else {
            continue;
        };
        let (first, last) = (moment[0].time, moment[moment.len() - 1].time);
        let agree = measured().filter(|rtt| near(base, *rtt)).count();
        let around = within(sent, before(first, AROUND), last + AROUND);
        let is_shortest = around
            .iter()
            .filter(|packet| packet.end > 0)
            .filter_map(Sent::rtt)
            .all(|rtt| rtt >= base || near(base, rtt));
        if agree * 100 < moment.len() * NEAR_PERCENT || !is_shortest {
            continue;
        }
        let after = last + base;
        let rates = [
            rate_bps(acks, before(first, AROUND), first),
            rate_bps(acks, after, after + AROUND),
        ];
        let highest = highest_bps(between(acks, before(first, NEARBY), after + NEARBY));
        let rate = rates[0].max(rates[1]);
        if rate == 0 || rate.saturating_mul(100) < highest.saturating_mul(ALL_PERCENT) {
            continue;
        }
        // A rate that falls makes the same bytes a longer queue.
        let slowest = rates.into_iter().filter(|rate| *rate > 0).min();
        let mut without_own: Vec<u64> = moment
            .iter()
            .filter_map(|packet| {
                let rtt = packet.rtt().filter(|rtt| near(base, *rtt))?;
                let own = own_queue(sent, packet, rtt, slowest?);
                Some(rtt.as_nanos().saturating_sub(own.as_nanos()))
            })
            .collect();
        without_own.sort_unstable();
        let min_base = without_own.iter().nth_back(FEWEST - 1).copied();
        found.push(Drained {
            from: first,
            until: last + Duration::from_nanos(1),
            base,
            min_base: base.min(Duration::from_nanos(min_base.unwrap_or_default())),
        });
    }
    found
}

/// The longest time that a packet of round trip `rtt` may have waited for others of its flow, on a
/// link that delivers `rate_bps`.
///
/// Data sent more than a round trip before has been acknowledged, and is no more in the queue. With
/// a path of round trip b, the packet waited R - b, and one sent R before it E - b. A link that was
/// busy from then on took the wait to E - b + A/rate - R, where A bytes were sent meanwhile: no
/// less than R - b only if 2 R <= E + A/rate. Otherwise its queue was empty meanwhile, and the wait
/// is for the backlog of these bytes.
fn own_queue(sent: &[Sent], packet: &Sent, rtt: Duration, rate_bps: u64) -> Duration {
    let takes = |bytes: u64| Duration::from_nanos(bytes * 8_000_000_000 / rate_bps);
    let in_flight = takes(u64::from(packet.in_flight));
    let from = before(packet.time, rtt);
    let first = sent.partition_point(|other| other.time <= from);
    let behind = sent.partition_point(|other| other.number <= packet.number);
    let (earlier, recent) = (sent.get(..first), sent.get(first..behind));
    let (Some(earlier), Some(recent)) = (earlier, recent) else {
        return in_flight;
    };
    let Some(earlier_rtt) = earlier.iter().rev().take(REACH).find_map(Sent::rtt) else {
        return in_flight;
    };
    let mut backlog = Duration::ZERO;
    let mut last = from;
    let mut bytes = 0;
    for other in recent {
        let own = other.end - other.start;
        bytes += own;
        let left = backlog
            .as_nanos()
            .saturating_sub((other.time - last).as_nanos());
        backlog = Duration::from_nanos(left) + takes(own);
        last = other.time;
    }
    let was_busy = rtt + rtt <= earlier_rtt + takes(bytes) + rtt / MARGIN;
    if was_busy {
        in_flight
    } else {
        backlog.min(in_flight)
    }
}

/// Groups of measured transmissions with few bytes in flight. A lone segment is left out: its
/// receiver may delay the acknowledgment.
fn moments(sent: &[Sent]) -> Vec<Vec<&Sent>> {
    let mut found: Vec<Vec<&Sent>> = Vec::new();
    let mut top = Top::default();
    for packet in sent.iter().filter(|packet| packet.end > 0) {
        let own = packet.end - packet.start;
        let in_flight = u64::from(packet.in_flight);
        if in_flight < 2 * own || packet.rtt().is_none() {
            continue;
        }
        if in_flight * RATIO > top.around(sent, packet.time) {
            continue;
        }
        match found.last_mut() {
            Some(last) if last[last.len() - 1].time + APART > packet.time => last.push(packet),
            _ => found.push(vec![packet]),
        }
    }
    found.retain(|moment| moment.len() >= FEWEST);
    found
}

/// The top decile of the bytes in flight around a time, kept for a tenth of a second.
#[derive(Debug, Default)]
struct Top {
    until: Option<Instant>,
    bytes: u64,
}

impl Top {
    fn around(&mut self, sent: &[Sent], time: Instant) -> u64 {
        if self.until.is_none_or(|until| time >= until) {
            let mut flights: Vec<u32> = within(sent, before(time, AROUND), time + AROUND)
                .iter()
                .map(|packet| packet.in_flight)
                .collect();
            let at = flights.len() * 9 / 10;
            self.bytes = match flights.get(at) {
                Some(_) => u64::from(*flights.select_nth_unstable(at).1),
                None => 0,
            };
            self.until = Some(time + AROUND / 10);
        }
        self.bytes
    }
}

fn before(time: Instant, by: Duration) -> Instant {
    Instant::from_nanos(time.as_nanos().saturating_sub(by.as_nanos()))
}

/// Transmissions from `from` to `until`. A clock that goes back can reverse the order.
fn within(sent: &[Sent], from: Instant, until: Instant) -> &[Sent] {
    let first = sent.partition_point(|packet| packet.time < from);
    let behind = sent.partition_point(|packet| packet.time <= until);
    sent.get(first..behind).unwrap_or_default()
}

/// Bits a second delivered from `from` to `until`; zero without any.
fn rate_bps(acks: &[Ack], from: Instant, until: Instant) -> u64 {
    bps(between(acks, from, until))
}

/// Acknowledgments from `from` to `until`.
fn between(acks: &[Ack], from: Instant, until: Instant) -> &[Ack] {
    let first = acks.partition_point(|ack| ack.time < from);
    let behind = acks.partition_point(|ack| ack.time <= until);
    acks.get(first..behind).unwrap_or_default()
}

/// The rate over a short time that 5 % of the others exceed.
fn highest_bps(acks: &[Ack]) -> u64 {
    let mut rates: Vec<u64> = acks.windows(SHORT + 1).map(bps).collect();
    let at = rates.len() * 95 / 100;
    match rates.get(at) {
        Some(_) => *rates.select_nth_unstable(at).1,
        None => u64::MAX,
    }
}

/// Bits a second between the first and the last of these acknowledgments.
fn bps(acks: &[Ack]) -> u64 {
    let (Some(first), Some(last)) = (acks.first(), acks.last()) else {
        return 0;
    };
    let nanos = (last.time.as_nanos()).saturating_sub(first.time.as_nanos());
    let bits = u128::from(last.delivered.saturating_sub(first.delivered)) * 8_000_000_000;
    u64::try_from(bits / u128::from(nanos.max(1))).unwrap_or(u64::MAX)
}
