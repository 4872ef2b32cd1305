//! An agent's observation of an interval: sums and round trips since the last step, and the
//! sender's state at its end.

use airtcp_tcp::Event;
use airtcp_units::{Duration, Instant};

use crate::engine::{Flow, FlowEvent, Watch};

/// Number of values of an observation.
pub const OBSERVED: usize = 16;

/// Name, unit and meaning of each value, in their order.
pub const VALUES: [(&str, &str, &str); OBSERVED] = [
    ("interval_ms", "ms", "length of the interval"),
    (
        "throughput_mbps",
        "Mbit/s",
        "data newly acknowledged, in order or by SACK, over the interval",
    ),
    (
        "sending_mbps",
        "Mbit/s",
        "data sent, retransmissions included, over the interval",
    ),
    (
        "retransmitted_share",
        "1",
        "share of retransmissions in the segments sent",
    ),
    (
        "loss_share",
        "1",
        "data newly presumed lost, as a share of that and the data newly acknowledged",
    ),
    (
        "marked_share",
        "1",
        "share of data packets with a congestion mark, as the receiver counts them",
    ),
    ("timeouts", "1", "expiries of the retransmission timer"),
    (
        "rtt_mean_ms",
        "ms",
        "mean of the round trips measured; the smoothed round trip without any",
    ),
    ("rtt_min_ms", "ms", "least of them"),
    ("rtt_max_ms", "ms", "greatest of them"),
    (
        "rtt_gradient",
        "ms/ms",
        "change of the round trip from the first to the last of them, over the time between",
    ),
    ("srtt_ms", "ms", "smoothed round trip at the end"),
    ("least_rtt_ms", "ms", "least round trip of the connection"),
    ("cwnd_segments", "segments", "congestion window at the end"),
    (
        "in_flight_segments",
        "segments",
        "data in flight at the end",
    ),
    (
        "pacing_mbps",
        "Mbit/s",
        "pacing rate at the end; 0 where segments are not paced",
    ),
];

/// Counts of a flow since its start.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    at: Instant,
    delivered: u64,
    sent: u64,
    segments: u64,
    retransmitted: u64,
    lost: u64,
    marked: u64,
    timeouts: u64,
}

impl Counts {
    fn of(flow: &Flow, now: Instant) -> Self {
        let sender = flow.client().sender();
        let counters = sender.counters();
        Self {
            at: now,
            delivered: sender.arrived(),
            sent: sender.nxt() + counters.bytes_retransmitted,
            segments: counters.segments_sent,
            retransmitted: counters.segments_retransmitted,
            lost: sender.lost_in_all(),
            marked: flow.tally().marked.into(),
            timeouts: counters.timeouts,
        }
    }
}

/// Round trips of an interval.
#[derive(Clone, Copy, Debug, Default)]
struct RoundTrips {
    count: u32,
    sum_ms: f64,
    least_ms: f64,
    greatest_ms: f64,
    first: (Instant, f64),
    last: (Instant, f64),
}

impl RoundTrips {
    fn push(&mut self, now: Instant, rtt: Duration) {
        let rtt = rtt.as_millis_f64();
        if self.count == 0 {
            (self.least_ms, self.greatest_ms, self.first) = (rtt, rtt, (now, rtt));
        }
        self.count += 1;
        self.sum_ms += rtt;
        self.least_ms = self.least_ms.min(rtt);
        self.greatest_ms = self.greatest_ms.max(rtt);
        self.last = (now, rtt);
    }

    fn gradient(&self) -> f64 {
        let apart = (self.last.0 - self.first.0).as_millis_f64();
        ratio(self.last.1 - self.first.1, apart)
    }
}

/// The observer of all agents: their counts at the last step, and their round trips since.
#[derive(Debug)]
pub(super) struct Interval {
    before: Vec<Counts>,
    round_trips: Vec<RoundTrips>,
}

impl Interval {
    pub(super) fn new(agents: usize) -> Self {
        Self {
            before: vec![Counts::default(); agents],
            round_trips: vec![RoundTrips::default(); agents],
        }
    }

    /// Ends the interval of one agent: its observation.
    pub(super) fn end(&mut self, agent: usize, flow: &Flow, now: Instant) -> [f32; OBSERVED] {
        let counts = Counts::of(flow, now);
        let before = std::mem::replace(&mut self.before[agent], counts);
        let trips = std::mem::take(&mut self.round_trips[agent]);
        let since = |value: fn(&Counts) -> u64| whole(value(&counts) - value(&before));
        let sender = flow.client().sender();
        let milliseconds = |time: Option<Duration>| time.map_or(0.0, Duration::as_millis_f64);
        let srtt = milliseconds(sender.rtt().srtt());
        let or_srtt = |value: f64| if trips.count == 0 { srtt } else { value };
        let length = (counts.at - before.at).as_secs_f64();
        let delivered = since(|counts| counts.delivered);
        let lost = since(|counts| counts.lost);
        let mss = whole(sender.mss());
        let values = [
            length * 1e3,
            ratio(delivered * 8e-6, length),
            ratio(since(|counts| counts.sent) * 8e-6, length),
            ratio(
                since(|counts| counts.retransmitted),
                since(|counts| counts.segments),
            ),
            ratio(lost, lost + delivered),
            ratio(since(|counts| counts.marked) * mss, delivered).min(1.0),
            since(|counts| counts.timeouts),
            or_srtt(ratio(trips.sum_ms, f64::from(trips.count))),
            or_srtt(trips.least_ms),
            or_srtt(trips.greatest_ms),
            trips.gradient(),
            srtt,
            milliseconds(sender.rtt().minimum()),
            whole(sender.cwnd()) / mss,
            whole(sender.in_flight()) / mss,
            sender
                .pace()
                .map_or(0.0, |rate| whole(rate.as_bps()) * 1e-6),
        ];
        values.map(single)
    }
}

impl Watch for Interval {
    fn event(&mut self, now: Instant, flow: u32, event: FlowEvent) {
        if let FlowEvent::Sender(Event::RttSample { rtt }) = event
            && let Some(trips) = self.round_trips.get_mut(flow as usize)
        {
            trips.push(now, rtt);
        }
    }
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
const fn whole(value: u64) -> f64 {
    value as f64
}

#[expect(clippy::cast_possible_truncation, reason = "observations are single")]
const fn single(value: f64) -> f32 {
    value as f32
}
