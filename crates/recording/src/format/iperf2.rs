//! The text of iperf 2: a row an interval and stream, with the sender's window and round trip by
//! `--enhanced`.
//!
//! Its rows resemble iperf3's. A star in front of a stream's number, or "(reverse)" where it
//! connects, is data from the server (`--reverse`, `--full-duplex`); the closing row begins at 0
//! once more.

use std::collections::BTreeMap;

use airtcp_units::Duration;

use super::iperf3::{
    bound_of_udp, in_bits, nonsense, of_bits_per_second, queue_stood, rates, step,
};
use super::{Fact, Format, Recording, in_words};
use crate::fault::{TraceError, TraceProblem};
use crate::recording::{Bound, Direction, Layer, RateStep};
use crate::source::{Source, lines};

pub(super) const FORMAT: Format = Format {
    name: "iperf2",
    title: "the text of iperf 2, best with --enhanced",
    knows: &[
        Fact::Direction,
        Fact::Rate,
        Fact::LowerBound,
        Fact::IdleDelay,
        Fact::LoadedDelay,
        Fact::Losses,
    ],
    by_lines: true,
    sniff,
    read,
};

const SNIFFED_LINES: usize = 100;
const CLIENT: &str = "Client connecting to ";

fn sniff(bytes: &[u8]) -> bool {
    lines(bytes).take(SNIFFED_LINES).any(|(_, line)| {
        let Ok(text) = std::str::from_utf8(line) else {
            return false;
        };
        let ends = [CLIENT, "Server listening on "];
        ends.iter().any(|words| text.starts_with(words)) && protocol(text).is_some()
    })
}

/// Whether the heading of an end names UDP; None without either protocol.
fn protocol(heading: &str) -> Option<bool> {
    let is_udp = heading.contains("UDP port ");
    (is_udp || heading.contains("TCP port ")).then_some(is_udp)
}

/// One row: `[ *1] 0.00-0.50 sec   357 MBytes  5.98 Gbits/sec  40/0  0  1023K/188(102) us  53`.
struct Row<'a> {
    stream: &'a str,
    is_down: bool,
    start_s: f64,
    end_s: f64,
    bits_per_second: f64,
    rtt_us: Option<f64>,
    lost_percent: Option<f64>,
}

impl<'a> Row<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let (id, after) = text.strip_prefix('[')?.split_once(']')?;
        let mut words = after.split_whitespace();
        // "0.0- 1.0 sec" of older versions has a blank within.
        let first = words.next()?;
        let (start, end) = first.split_once('-')?;
        let end = if end.is_empty() { words.next()? } else { end };
        if words.next()? != "sec" {
            return None;
        }
        let words: Vec<&str> = words.collect();
        let unit = words.iter().position(|word| word.ends_with("/sec"))?;
        let bits_per_second = of_bits_per_second(words.get(unit.checked_sub(1)?)?, words[unit])?;
        Some(Self {
            stream: id.trim().trim_start_matches('*'),
            is_down: id.trim_start().starts_with('*'),
            start_s: start.parse().ok()?,
            end_s: end.parse().ok()?,
            bits_per_second,
            rtt_us: words[unit + 1..].windows(2).find_map(rtt_us),
            lost_percent: words[unit + 1..].iter().find_map(|word| {
                let percent = word.strip_prefix('(')?.strip_suffix("%)")?;
                percent.parse().ok()
            }),
        })
    }
}

/// `1023K/188(102)` or `14K/5230` in front of `us`: the window, the round trip, its variation.
fn rtt_us(words: &[&str]) -> Option<f64> {
    let [window, "us"] = words else {
        return None;
    };
    let (_, rtt) = window.split_once('/')?;
    let rtt = rtt.split('(').next()?.parse().ok()?;
    (rtt > 0.0).then_some(rtt)
}

/// The rows of one direction.
#[derive(Default)]
struct Way {
    /// Bits a second of all streams, by the start in nanoseconds, with the end in seconds.
    steps: BTreeMap<u64, (f64, f64)>,
    sums: BTreeMap<u64, (f64, f64)>,
    /// Streams whose first row was read: the next one that begins at 0 closes it.
    begun: Vec<String>,
    closing: f64,
    closing_sum: Option<f64>,
    rtts_us: Vec<f64>,
    lost_percent: Option<f64>,
}

impl Way {
    fn add(&mut self, row: &Row<'_>) {
        self.lost_percent = row.lost_percent.or(self.lost_percent);
        let is_sum = row.stream.starts_with("SUM");
        let known = self.begun.iter().any(|stream| stream == row.stream);
        if row.start_s == 0.0 && known {
            if is_sum {
                self.closing_sum = Some(row.bits_per_second);
            } else if row.lost_percent.is_none() {
                self.closing += row.bits_per_second;
            } else {
                // The server's report: arrivals, where the client's row counts transmissions.
                self.closing = row.bits_per_second;
            }
            return;
        }
        if !known {
            self.begun.push(row.stream.to_owned());
        }
        self.rtts_us.extend(row.rtt_us);
        let steps = if is_sum {
            &mut self.sums
        } else {
            &mut self.steps
        };
        let start = Duration::from_secs_f64(row.start_s).map_or(0, Duration::as_nanos);
        let one = steps.entry(start).or_insert((0.0, row.end_s));
        one.0 += row.bits_per_second;
    }

    fn steps(&self, bound: Bound) -> Vec<RateStep> {
        let chosen = if self.sums.is_empty() {
            &self.steps
        } else {
            &self.sums
        };
        let steps = chosen
            .iter()
            .filter_map(|(start, (bits, end_s))| step(*start as f64 / 1e9, *end_s, *bits, bound));
        steps.collect()
    }
}

fn read(bytes: &[u8], source: Source<'_>) -> Result<Recording, TraceError> {
    let mut ways = [Way::default(), Way::default()];
    let mut found = Recording::new(FORMAT.name, String::new());
    let (mut is_udp, mut is_server, mut is_reverse) = (false, false, false);
    for (line, bytes) in lines(bytes) {
        let text = String::from_utf8_lossy(bytes);
        if let Some(rest) = text.strip_prefix(CLIENT) {
            is_udp |= protocol(rest) == Some(true);
            let host = rest.split(',').next();
            found.origin.hosts.extend(host.map(str::to_owned));
        } else if text.starts_with("Server listening on ") {
            is_udp |= protocol(&text) == Some(true);
            is_server = true;
        } else if text.contains(" connected with ") {
            is_reverse |= text.contains("(reverse)");
            found.figures.idle_rtt = found.figures.idle_rtt.or_else(|| handshake(&text));
        } else if let Some(row) = Row::of(&text) {
            if in_bits(row.bits_per_second).is_none() || row.end_s < row.start_s {
                return Err(source.error(Some(line), nonsense(format!("\"{text}\""))));
            }
            ways[usize::from(row.is_down || is_reverse && is_server)].add(&row);
        }
    }
    for (way, direction) in ways.iter_mut().zip([Direction::Up, Direction::Down]) {
        add(&mut found, way, direction, is_udp);
    }
    if found.rates.is_empty() {
        return Err(source.error(
            None,
            TraceProblem::OtherKind {
                what: "the text of iperf 2 without a single interval".to_owned(),
                remedy: "run the test again until it ends: iperf -c HOST -e -i 1 -t 30".to_owned(),
            },
        ));
    }
    found.summary = format!("a test of iperf 2 ({})", in_words(&found.rates));
    found.origin.program = Some("iperf 2".to_owned());
    if is_server {
        found.assume(
            "the text is of a server, so that data comes up from its client",
            Some("--direction"),
        );
    }
    Ok(found)
}

/// Adds the rates, delays and losses of a direction.
fn add(found: &mut Recording, way: &mut Way, direction: Direction, is_udp: bool) {
    way.rtts_us.sort_by(f64::total_cmp);
    let least = way.rtts_us.first().copied();
    let median = way.rtts_us.get(way.rtts_us.len() / 2).copied();
    let idle_us = found.figures.idle_rtt.map(|idle| idle.as_secs_f64() * 1e6);
    let without_queue = [least, idle_us]
        .into_iter()
        .flatten()
        .min_by(f64::total_cmp);
    let bound = match (without_queue, median) {
        _ if is_udp => bound_of_udp(way.lost_percent, &mut found.remarks),
        (Some(least), Some(median)) if queue_stood(least, median) => Bound::Link,
        _ => Bound::Transfer,
    };
    let layer = if is_udp { Layer::Udp } else { Layer::Tcp };
    let mean = way
        .closing_sum
        .or_else(|| (way.closing > 0.0).then_some(way.closing));
    let steps = way.steps(bound);
    found.rates.extend(rates(
        direction,
        steps,
        mean.and_then(in_bits),
        bound,
        layer,
    ));
    if let Some(percent) = way.lost_percent.filter(|one| (0.0..=100.0).contains(one)) {
        found.figures.losses.push((direction, percent / 100.0));
    }
    let of_us = |us: f64| Duration::from_secs_f64(us / 1e6).filter(|time| time.as_nanos() > 0);
    let figures = &mut found.figures;
    figures.least_loaded_rtt = [figures.least_loaded_rtt, least.and_then(of_us)]
        .into_iter()
        .flatten()
        .min();
    match direction {
        Direction::Down => figures.loaded_down_rtt = median.and_then(of_us),
        _ => figures.loaded_up_rtt = median.and_then(of_us),
    }
}

/// The round trip of the handshake: `(icwnd/mss/irtt=14/1448/5230)` in microseconds, else
/// `(ct=5.30 ms)`, which is that of connect().
fn handshake(text: &str) -> Option<Duration> {
    let within = |begin: &str, end: char| {
        let (_, after) = text.split_once(begin)?;
        Some(after.split_once(end)?.0)
    };
    let by_kernel = within("irtt=", ')')
        .and_then(|all| all.rsplit('/').next()?.parse::<f64>().ok())
        .map(|us| us / 1e6);
    let connect = within("(ct=", ' ')
        .and_then(|ms| ms.parse::<f64>().ok())
        .map(|ms| ms / 1e3);
    let seconds = by_kernel.or(connect).filter(|seconds| *seconds > 0.0)?;
    Duration::from_secs_f64(seconds)
}
