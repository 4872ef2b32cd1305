//! iperf3's JSON: every interval with the sender's window and round trip.

use airtcp_units::Duration;
use serde::Deserialize;

use super::text::OF_TARGET;
use super::{
    Bound, Direction, Layer, bound_of_udp, ended_early, in_bits, in_words, nonsense, queue_stood,
    rates, step,
};
use crate::fault::TraceError;
use crate::recording::Recording;
use crate::source::Source;

impl Stream {
    /// Its numbers, where no transfer has such.
    fn nonsense(&self) -> Option<String> {
        let is_meant = in_bits(self.bits_per_second).is_some()
            && self.bytes.is_none_or(|bytes| bytes >= 0.0)
            && self.start >= 0.0
            && self.end >= self.start;
        (!is_meant).then(|| {
            format!(
                "an interval from {} to {} s with {} bytes at {} bit/s",
                self.start,
                self.end,
                self.bytes.unwrap_or_default(),
                self.bits_per_second
            )
        })
    }
}

impl Interval {
    /// Whether some streams send and others receive.
    fn is_bidirectional(&self) -> bool {
        let is_sender = |stream: &Stream| stream.sender.unwrap_or(true);
        self.streams.iter().any(is_sender) && !self.streams.iter().all(is_sender)
    }
}

/// A whole test.
#[derive(Default, Deserialize)]
pub(super) struct Test {
    #[serde(default)]
    pub start: Start,
    #[serde(default)]
    pub intervals: Vec<Interval>,
    #[serde(default)]
    pub end: End,
    pub error: Option<String>,
    server_output_json: Option<Box<Test>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Start {
    version: Option<String>,
    timestamp: Timestamp,
    connecting_to: Option<Host>,
    accepted_connection: Option<Host>,
    test_start: TestStart,
    target_bitrate: f64,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Timestamp {
    timesecs: Option<f64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Host {
    host: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct TestStart {
    protocol: String,
    duration: f64,
    reverse: f64,
    bidir: f64,
    target_bitrate: f64,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Interval {
    streams: Vec<Stream>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Stream {
    start: f64,
    end: f64,
    bits_per_second: f64,
    bytes: Option<f64>,
    rtt: Option<f64>,
    snd_cwnd: Option<f64>,
    snd_wnd: Option<f64>,
    omitted: bool,
    sender: Option<bool>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct End {
    streams: Vec<Ends>,
    sum: Option<Sum>,
    sum_sent: Option<Sum>,
    sum_received: Option<Sum>,
    sum_sent_bidir_reverse: Option<Sum>,
    sum_received_bidir_reverse: Option<Sum>,
    sender_tcp_congestion: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Ends {
    sender: Option<Sender>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Sender {
    min_rtt: Option<f64>,
    mean_rtt: Option<f64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Sum {
    bits_per_second: Option<f64>,
    retransmits: Option<f64>,
    lost_percent: Option<f64>,
    sender: Option<bool>,
}

/// A window within this of the receiver's is bounded by it.
const OF_WINDOW: f64 = 0.95;

pub(super) fn recording(test: &Test, source: Source<'_>) -> Result<Recording, TraceError> {
    let theirs = test
        .server_output_json
        .iter()
        .flat_map(|theirs| &theirs.intervals);
    let streams = test
        .intervals
        .iter()
        .chain(theirs)
        .flat_map(|one| &one.streams);
    if let Some(found) = streams
        .filter(|one| !one.omitted)
        .find_map(Stream::nonsense)
    {
        return Err(source.error(None, nonsense(found)));
    }
    let start = &test.start;
    let is_udp = start.test_start.protocol.eq_ignore_ascii_case("udp");
    let is_bidirectional = start.test_start.bidir > 0.0
        || test.end.sum_sent_bidir_reverse.is_some()
        || test.intervals.iter().any(Interval::is_bidirectional);
    let is_server = start.accepted_connection.is_some() && start.connecting_to.is_none();
    let is_reverse = start.test_start.reverse > 0.0;
    let target = start.test_start.target_bitrate.max(start.target_bitrate);
    let mut found = Recording::new(super::FORMAT.name, String::new());
    let ways = if is_bidirectional {
        &[Direction::Up, Direction::Down][..]
    } else if is_reverse {
        &[Direction::Down][..]
    } else {
        &[Direction::Up][..]
    };
    for &way in ways {
        // In tests of both directions, `sender` gives a stream's direction; the client sends up.
        let is_sent_here = (way == Direction::Up) != is_server;
        let belongs =
            |stream: &Stream| !is_bidirectional || stream.sender.unwrap_or(true) == is_sent_here;
        let (sent, received) = if is_bidirectional && way == Direction::Down {
            (
                &test.end.sum_sent_bidir_reverse,
                &test.end.sum_received_bidir_reverse,
            )
        } else {
            (&test.end.sum_sent, &test.end.sum_received)
        };
        let side = Side {
            is_udp,
            target,
            sent: sent.as_ref(),
            received: received
                .as_ref()
                .or(test.end.sum.as_ref().filter(|_| is_udp)),
        };
        // Only the receiver knows arrivals: its intervals are used if the file has them.
        let theirs = test
            .server_output_json
            .as_deref()
            .filter(|_| !is_sent_here || !is_bidirectional);
        let seen = theirs.filter(|theirs| !theirs.intervals.is_empty() && way == Direction::Up);
        let seen = seen.map_or(&test.intervals, |theirs| &theirs.intervals);
        let own = belonging(&test.intervals, &belongs);
        let shape = if std::ptr::eq(seen, &test.intervals) {
            own
        } else {
            belonging(seen, &|_| true)
        };
        let senders = theirs.filter(|_| way == Direction::Down);
        let senders = senders.map_or(&test.intervals, |theirs| &theirs.intervals);
        side.add(&mut found, way, &shape, &belonging(senders, &belongs));
    }
    about(&mut found, test, is_udp, target, source);
    Ok(found)
}

fn belonging<'a>(
    intervals: &'a [Interval],
    belongs: &dyn Fn(&Stream) -> bool,
) -> Vec<Vec<&'a Stream>> {
    let streams = intervals.iter().map(|interval| {
        let own = interval.streams.iter();
        own.filter(|stream| belongs(stream) && !stream.omitted)
            .collect()
    });
    streams
        .filter(|streams: &Vec<&Stream>| !streams.is_empty())
        .collect()
}

/// One direction of a test.
struct Side<'a> {
    is_udp: bool,
    target: f64,
    sent: Option<&'a Sum>,
    received: Option<&'a Sum>,
}

impl Side<'_> {
    /// Adds rates, delays and losses of a direction, by the intervals of the receiver and of the
    /// sender.
    fn add(
        &self,
        found: &mut Recording,
        way: Direction,
        passed: &[Vec<&Stream>],
        senders: &[Vec<&Stream>],
    ) {
        let lost = self.received.and_then(|sum| sum.lost_percent);
        let rtts: Vec<f64> = senders
            .iter()
            .flat_map(|streams| streams.iter().filter_map(|stream| stream.rtt))
            .filter(|rtt| *rtt > 0.0)
            .collect();
        let bound = if self.is_udp {
            bound_of_udp(lost, &mut found.remarks)
        } else {
            self.bound(&rtts, senders)
        };
        let steps = passed.iter().filter_map(|streams| {
            let bits = streams.iter().map(|stream| stream.bits_per_second).sum();
            step(streams[0].start, streams[0].end, bits, bound)
        });
        // The receiver's figure; for UDP in old versions the sent amount less losses.
        let arrived = self.received.and_then(|sum| match lost {
            Some(percent) if self.is_udp && sum.sender.unwrap_or(true) => {
                Some(sum.bits_per_second? * (1.0 - percent / 100.0))
            }
            _ => sum.bits_per_second,
        });
        let mean = arrived.or_else(|| self.sent.and_then(|sum| sum.bits_per_second));
        let layer = if self.is_udp { Layer::Udp } else { Layer::Tcp };
        found.rates.extend(rates(
            way,
            steps.collect(),
            mean.and_then(in_bits),
            bound,
            layer,
        ));
        if let Some(percent) = lost.filter(|percent| (0.0..=100.0).contains(percent)) {
            found.figures.losses.push((way, percent / 100.0));
        }
        self.add_delays(found, way, rtts);
    }

    fn add_delays(&self, found: &mut Recording, way: Direction, mut rtts: Vec<f64>) {
        rtts.sort_by(f64::total_cmp);
        let (Some(&least), Some(&median)) = (rtts.first(), rtts.get(rtts.len() / 2)) else {
            return;
        };
        let figures = &mut found.figures;
        let least = Duration::from_secs_f64(least / 1e6);
        figures.least_loaded_rtt = [figures.least_loaded_rtt, least]
            .into_iter()
            .flatten()
            .min();
        let loaded = Duration::from_secs_f64(median / 1e6);
        match way {
            Direction::Down => figures.loaded_down_rtt = loaded,
            _ => figures.loaded_up_rtt = loaded,
        }
    }

    /// The bound of TCP's rate.
    fn bound(&self, rtts: &[f64], senders: &[Vec<&Stream>]) -> Bound {
        let sent = self.sent.and_then(|sum| sum.bits_per_second).unwrap_or(0.0);
        if self.target > 0.0 && sent >= OF_TARGET * self.target {
            return Bound::Target;
        }
        let streams = || senders.iter().flatten();
        let is_at_window = |stream: &&&Stream| match (stream.snd_wnd, stream.snd_cwnd) {
            (Some(window), Some(cwnd)) => window > 0.0 && cwnd > window / OF_WINDOW,
            _ => false,
        };
        let mut sorted = rtts.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (Some(&least), Some(&median)) = (sorted.first(), sorted.get(sorted.len() / 2)) else {
            return Bound::Transfer;
        };
        if queue_stood(least, median) {
            return Bound::Link;
        }
        if 2 * streams().filter(is_at_window).count() > streams().count() {
            return Bound::Window;
        }
        Bound::Transfer
    }
}

/// Origin, remarks and the sentence about the whole.
fn about(found: &mut Recording, test: &Test, is_udp: bool, target: f64, source: Source<'_>) {
    let start = &test.start;
    found.origin.program.clone_from(&start.version);
    let began = start.timestamp.timesecs.and_then(Duration::from_secs_f64);
    found.origin.began_unix_ns = began.map(Duration::as_nanos);
    let hosts = [&start.connecting_to, &start.accepted_connection];
    let hosts = hosts.into_iter().flatten().map(|host| host.host.clone());
    found.origin.hosts = hosts.filter(|host| !host.is_empty()).collect();
    let protocol = if is_udp { "UDP" } else { "TCP" };
    let retransmits = test.end.sum_sent.as_ref().and_then(|sum| sum.retransmits);
    let retransmits =
        retransmits.map_or_else(String::new, |count| format!(", {count:.0} retransmissions"));
    found.summary = format!(
        "a test of iperf3 over {protocol} ({}{retransmits})",
        in_words(&found.rates)
    );
    if target > 0.0 {
        found.remark(format!(
            "The sender was told to send no more than {:.3} Mbit/s.",
            target / 1e6
        ));
    }
    if let Some(name) = test
        .end
        .sender_tcp_congestion
        .as_deref()
        .filter(|name| !name.is_empty())
    {
        found.remark(format!("The sender's congestion control was {name}."));
    }
    if let Some(error) = &test.error {
        found.remark(ended_early(error));
    } else if test.end.streams.is_empty() {
        found.remark(format!(
            "The test of {} s has no end in {}: what was measured until then is used.",
            start.test_start.duration,
            source.name()
        ));
    }
    let mean = test
        .end
        .streams
        .iter()
        .find_map(|ends| ends.sender.as_ref()?.mean_rtt);
    let least = test
        .end
        .streams
        .iter()
        .find_map(|ends| ends.sender.as_ref()?.min_rtt);
    let of_us = |us: f64| Duration::from_secs_f64(us / 1e6).filter(|time| time.as_nanos() > 0);
    let figures = &mut found.figures;
    let least = least.and_then(of_us);
    figures.least_loaded_rtt = [figures.least_loaded_rtt, least]
        .into_iter()
        .flatten()
        .min();
    if figures.loaded_up_rtt.is_none() && figures.loaded_down_rtt.is_none() {
        figures.loaded_rtt = mean.and_then(of_us);
    }
}
