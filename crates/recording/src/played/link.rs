//! The scenario of a log's link, and its files of delays and stops.
//!
//! Unanswered runs are gaps in which everything is lost; isolated losses are a rate. Packets
//! answered all at once waited for the end of a stop. The log has no rate: one is given.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use airtcp_units::BitRate;

use super::events::{Events, Span};
use super::timed::{TimedLog, between};

/// Length of the assumed queue, which pings do not show: between an access point's and a router's.
const QUEUE_S: f64 = 0.2;
const FULL_PACKET_BITS: f64 = 8.0 * 1500.0;
const FEWEST_IN_QUEUE: u64 = 50;
const DELAYS: &str = "delays.csv";
const STOPS: &str = "stops.csv";
/// Step of a delay that falls between two probes, in seconds.
const FINEST_S: f64 = 0.002;
const MAX_STEPS: usize = 16;
/// Time after which the recording of a radio with only power save repeats, in seconds.
const MAX_SLEEP_S: f64 = 120.0;
/// Steps in which a wait for a beacon falls.
const SLEEP_STEPS: usize = 16;
const FEWEST_SLEEP_STEPS: usize = 4;
/// Most rows of delays in power save: with gaps or stops the whole log is replayed, in coarser
/// steps if needed.
const MAX_SLEEP_ROWS: f64 = 60_000.0;
/// Least time without a probe that counts as not recorded, and is skipped: in intervals, and in
/// seconds.
const HOLE_INTERVALS: f64 = 10.0;
const MIN_HOLE_S: f64 = 10.0;

/// How a run of unanswered probes is read, which a log leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unanswered {
    /// Everything was lost.
    Lost,
    /// Everything waited.
    Waited,
}

/// What a log does not have of its link.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkOptions {
    /// Name of the scenario.
    pub name: String,
    /// Rate of the link.
    pub rate: BitRate,
    /// How runs of unanswered probes are read.
    pub unanswered: Unanswered,
    /// Seconds that the scenario lasts.
    pub seconds: u64,
}

/// A log's link as a scenario with its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayedLink {
    /// The scenario.
    pub toml: String,
    /// Contents by file name, relative to the scenario.
    pub files: BTreeMap<&'static str, String>,
}

impl PlayedLink {
    /// The link of a log; each seed starts a run at another point of it.
    #[must_use]
    pub fn of(log: &TimedLog, events: &Events, options: &LinkOptions) -> Self {
        let compact = without_holes(log);
        let mut every_s = compact.last().copied().unwrap_or(0.0) + log.interval_s;
        if let Some(sleep_s) = events.sleep_s {
            let is_eventful = !(events.gaps.is_empty() && events.stops.is_empty());
            let longest_s = MAX_SLEEP_ROWS / FEWEST_SLEEP_STEPS as f64 * sleep_s;
            every_s = every_s.min(if is_eventful { longest_s } else { MAX_SLEEP_S });
        }
        let shifted: Vec<f64> = compact
            .iter()
            .zip(&log.time_s)
            .map(|(to, from)| to - from)
            .collect();
        let moved = |spans: &[Span]| -> Vec<Span> {
            let start_s = |one: &Span| between(&log.time_s, &shifted, one.start_s) + one.start_s;
            let span = |one: &Span| Span {
                start_s: start_s(one),
                length_s: one.length_s,
            };
            spans.iter().map(span).collect()
        };
        let (mut gaps, mut stops) = (moved(&events.gaps), moved(&events.stops));
        if options.unanswered == Unanswered::Waited {
            stops.append(&mut gaps);
            stops.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
        }
        let loss = 1.0 - (1.0 - events.loss_rate(log).min(1.0)).sqrt();
        let delays = delays(log, events, &compact, every_s);
        let mut files = BTreeMap::from([(DELAYS, conditions(&delays, &gaps, loss, every_s))]);
        let stops = joined(&stops, every_s);
        let stopped = if stops.is_empty() {
            String::new()
        } else {
            files.insert(STOPS, stop_rows(&stops));
            format!("stops = {{ process = \"recorded\", path = \"{STOPS}\" }}\n")
        };
        let (name, rate) = (&options.name, options.rate);
        let toml = format!(
            "name = \"{name}\"\n\
             description = \"The link of a ping log, played by time\"\n\
             duration = \"{seconds} s\"\n\n\
             [link]\n\
             rate = \"{rate}\"\n\
             recorded = {{ path = \"{DELAYS}\", order = \"in-order\" }}\n\
             {stopped}\
             repeat = {{ every = \"{every_s:.3} s\", start = \"random\" }}\n\
             queue = {{ packets = {packets} }}\n\n\
             [tcp]\n\
             profile = \"linux\"\n",
            seconds = options.seconds,
            packets = queue_packets(rate),
        );
        Self { toml, files }
    }
}

/// Length of the assumed queue in packets.
fn queue_packets(rate: BitRate) -> u64 {
    let packets = QUEUE_S * rate.as_bps() as f64 / FULL_PACKET_BITS;
    FEWEST_IN_QUEUE.max(packets.round_ties_even() as u64)
}

/// The times of sending, without periods in which nothing was recorded.
fn without_holes(log: &TimedLog) -> Vec<f64> {
    let longest_s = MIN_HOLE_S.max(HOLE_INTERVALS * log.interval_s);
    let mut at_s = 0.0;
    let mut compact = vec![at_s];
    for pair in log.time_s.windows(2) {
        let step_s = pair[1] - pair[0];
        at_s += if step_s > longest_s {
            log.interval_s
        } else {
            step_s
        };
        compact.push(at_s);
    }
    compact
}

/// The times of changes of the round trip, with its new values.
///
/// It rises abruptly at the probe that shows it, and falls linearly towards the next: a delay that
/// falls by an interval in an interval is a queue released all at once. In stops and without
/// answers, the usual round trip is taken.
fn delays(log: &TimedLog, events: &Events, time_s: &[f64], every_s: f64) -> Vec<(f64, f64)> {
    if let Some(sleep_s) = events.sleep_s {
        let base_s = log.answered().first().copied().unwrap_or(0.0);
        return asleep(base_s, sleep_s, every_s);
    }
    let rtt = |at: usize| {
        if log.rtt_s[at].is_nan() || events.stopped[at] {
            events.usual_s[at]
        } else {
            log.rtt_s[at]
        }
    };
    let mut rows = Vec::new();
    for at in 0..log.rtt_s.len() {
        rows.push((time_s[at], rtt(at)));
        if at + 1 == log.rtt_s.len() || rtt(at + 1) >= rtt(at) {
            continue;
        }
        let falls = rtt(at + 1) - rtt(at);
        let steps = MAX_STEPS.min((-falls / FINEST_S).ceil() as usize);
        for step in 1..steps {
            let share = step as f64 / steps as f64;
            let time = time_s[at] + share * (time_s[at + 1] - time_s[at]);
            rows.push((time, rtt(at) + share * falls));
        }
    }
    rows
}

/// Packets that wait for the next beacon; the probes are too few to show each.
fn asleep(base_s: f64, sleep_s: f64, until_s: f64) -> Vec<(f64, f64)> {
    let affordable = (MAX_SLEEP_ROWS * sleep_s / until_s) as usize;
    let steps = SLEEP_STEPS.min(affordable.max(FEWEST_SLEEP_STEPS));
    let count = (until_s / sleep_s * steps as f64) as usize + 1;
    let row = |number: usize| {
        let wait = sleep_s * (1.0 - (number % steps) as f64 / steps as f64);
        (number as f64 * sleep_s / steps as f64, base_s + wait)
    };
    (0..count).map(row).collect()
}

/// A change of the conditions: of the loss, before one of the round trip at the same time.
#[derive(Clone, Copy)]
enum Change {
    Loss(f64),
    RoundTrip(f64),
}

impl Change {
    const fn rank(self) -> (u8, f64) {
        match self {
            Self::Loss(share) => (0, share),
            Self::RoundTrip(seconds) => (1, seconds),
        }
    }
}

/// The file of delays and losses: half of a round trip each way.
fn conditions(delays: &[(f64, f64)], gaps: &[Span], loss: f64, every_s: f64) -> String {
    let edges = gaps.iter().flat_map(|gap| {
        [
            (gap.start_s, Change::Loss(1.0)),
            (gap.start_s + gap.length_s, Change::Loss(loss)),
        ]
    });
    let trips = delays
        .iter()
        .map(|&(time, rtt)| (time, Change::RoundTrip(rtt)));
    let mut changes: Vec<(f64, Change)> = edges.chain(trips).collect();
    changes.sort_by(|(a, change_a), (b, change_b)| {
        let ((rank_a, value_a), (rank_b, value_b)) = (change_a.rank(), change_b.rank());
        let times = a.total_cmp(b).then(rank_a.cmp(&rank_b));
        times.then_with(|| value_a.total_cmp(&value_b))
    });
    let (mut rtt, mut lost) = (delays.first().map_or(0.0, |row| row.1), loss);
    let mut rows: Vec<(i64, f64, f64)> = Vec::with_capacity(changes.len());
    for (time, change) in changes {
        if time >= every_s {
            break;
        }
        match change {
            Change::Loss(share) => lost = share,
            Change::RoundTrip(seconds) => rtt = seconds,
        }
        let micros = (1e6 * time).round_ties_even() as i64;
        match rows.last_mut() {
            Some(last) if micros <= last.0 => *last = (micros, rtt, lost),
            _ => rows.push((micros, rtt, lost)),
        }
    }
    let mut text = "time_ms,delay_ms,loss\n".to_owned();
    for (micros, rtt, lost) in rows {
        let (whole, part) = (micros / 1000, micros % 1000);
        let _ = writeln!(text, "{whole}.{part:03},{:.4},{lost:.6}", 500.0 * rtt);
    }
    text
}

/// Stops in order, overlapping ones merged, within the recording.
fn joined(stops: &[Span], every_s: f64) -> Vec<Span> {
    let mut joined: Vec<Span> = Vec::new();
    for stop in stops {
        let end_s = (stop.start_s + stop.length_s).min(every_s);
        match joined.last_mut() {
            Some(last) if stop.start_s <= last.start_s + last.length_s => {
                last.length_s = (last.start_s + last.length_s).max(end_s) - last.start_s;
            }
            _ if end_s > stop.start_s => joined.push(Span {
                start_s: stop.start_s,
                length_s: end_s - stop.start_s,
            }),
            _ => {}
        }
    }
    joined
}

fn stop_rows(stops: &[Span]) -> String {
    let mut text = "start_ms,length_ms\n".to_owned();
    for stop in stops {
        let (start, length) = (1e3 * stop.start_s, 1e3 * stop.length_s);
        let _ = writeln!(text, "{start:.3},{length:.3}");
    }
    text
}
