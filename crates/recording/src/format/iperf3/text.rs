//! iperf3's text: a row an interval and stream, and two closing rows each.

use super::{
    Bound, Direction, FORMAT, Layer, bound_of_udp, ended_early, in_bits, in_words, nonsense, rates,
    step,
};
use crate::fault::TraceError;
use crate::recording::{RateStep, Recording};
use crate::source::{Source, lines};

/// One row: `[  5][TX-C]   1.00-2.00   sec   480 MBytes  4.03 Gbits/sec    0    894 KBytes`.
struct Row {
    is_sum: bool,
    way: Option<Direction>,
    start_s: f64,
    end_s: f64,
    bits_per_second: f64,
    /// After the rate: retransmissions, jitter, losses.
    rest: String,
}

impl Row {
    /// The row in a line, which `--timestamps` begins with a time.
    fn find(text: &str) -> Option<Self> {
        let mut places = text.match_indices('[');
        places.find_map(|(at, _)| Self::of(&text[at..]))
    }

    fn of(text: &str) -> Option<Self> {
        let (id, after) = text.strip_prefix('[')?.split_once(']')?;
        let (role, after) = match after
            .strip_prefix('[')
            .and_then(|rest| rest.split_once(']'))
        {
            Some((role, rest)) => (role, rest),
            None => ("", after),
        };
        let mut words = after.split_whitespace();
        let (start, end) = words.next()?.split_once('-')?;
        if words.next()? != "sec" {
            return None;
        }
        let words: Vec<&str> = words.collect();
        let unit = words.iter().position(|word| word.ends_with("/sec"))?;
        let bits_per_second = of_bits_per_second(words.get(unit.checked_sub(1)?)?, words[unit])?;
        let way = match role {
            "TX-C" | "RX-S" => Some(Direction::Up),
            "RX-C" | "TX-S" => Some(Direction::Down),
            _ => None,
        };
        Some(Self {
            is_sum: id == "SUM",
            way,
            start_s: start.parse().ok()?,
            end_s: end.parse().ok()?,
            bits_per_second,
            rest: words[unit + 1..].join(" "),
        })
    }
}

/// Bits a second in a number of a unit: `Mbits/sec`, `KBytes/sec`.
pub(in crate::format) fn of_bits_per_second(number: &str, unit: &str) -> Option<f64> {
    Some(number.parse::<f64>().ok()? * factor(unit)?)
}

/// Bits a second in one of a unit.
fn factor(unit: &str) -> Option<f64> {
    let name = unit.strip_suffix("/sec")?;
    let (prefix, bits) = match (name.strip_suffix("bits"), name.strip_suffix("Bytes")) {
        (Some(prefix), _) => (prefix, 1.0),
        (_, Some(prefix)) => (prefix, 8.0),
        _ => return None,
    };
    // Bytes are counted in powers of two, bits in powers of ten (iperf3, units.c).
    let base: f64 = if bits > 1.0 { 1024.0 } else { 1000.0 };
    let power = ["", "K", "M", "G", "T"]
        .iter()
        .position(|one| *one == prefix)?;
    Some(bits * base.powi(i32::try_from(power).ok()?))
}

/// A rate within this of the target is the target's.
pub(super) const OF_TARGET: f64 = 0.97;

/// Rows of one direction.
#[derive(Default)]
struct Way {
    steps: Vec<RateStep>,
    sum_steps: Vec<RateStep>,
    received: Vec<(bool, f64)>,
    sent: Vec<(bool, f64)>,
    retransmits: u64,
    lost_percent: Option<f64>,
    is_udp: bool,
}

pub(super) fn recording(bytes: &[u8], source: Source<'_>) -> Result<Recording, TraceError> {
    let mut ways = [Way::default(), Way::default()];
    let (mut is_reverse, mut error, mut host, mut is_server) = (false, None, None, false);
    let mut target = 0.0_f64;
    for (line, bytes) in lines(bytes) {
        let text = std::str::from_utf8(bytes).map_err(|_| {
            source.malformed(
                line,
                bytes,
                "text of iperf3",
                "give the file as iperf3 printed it",
            )
        })?;
        if text.contains("Reverse mode, remote host") {
            is_reverse = true;
        } else if let Some((_, rest)) = text.split_once("Connecting to host ") {
            host = rest.split(',').next().map(str::to_owned);
        } else if text.contains("Accepted connection from ") {
            is_server = true;
        } else if let Some((_, rest)) = text.split_once("Target Bitrate: ") {
            // Printed with -V only; 0 where it is not.
            target = rest.trim().parse().unwrap_or(0.0);
        } else if let Some(rest) = text.strip_prefix("iperf3: ") {
            error = Some(rest.trim_start_matches("error - ").to_owned());
        } else if let Some(row) = Row::find(text) {
            if in_bits(row.bits_per_second).is_none() || row.end_s < row.start_s {
                return Err(source.error(Some(line), nonsense(format!("\"{text}\""))));
            }
            let usual = if is_reverse {
                Direction::Down
            } else {
                Direction::Up
            };
            let down = row.way.unwrap_or(usual) == Direction::Down;
            ways[usize::from(down)].add(&row);
        }
    }
    let mut found = Recording::new(FORMAT.name, String::new());
    let mut retransmits = 0;
    for (way, direction) in ways.iter().zip([Direction::Up, Direction::Down]) {
        retransmits += way.retransmits;
        if let Some(percent) = way
            .lost_percent
            .filter(|percent| (0.0..=100.0).contains(percent))
        {
            found.figures.losses.push((direction, percent / 100.0));
        }
        found
            .rates
            .extend(way.rates(direction, target, &mut found.remarks));
    }
    let retransmits = match retransmits {
        0 => String::new(),
        count => format!(", {count} retransmissions"),
    };
    found.summary = format!("a test of iperf3 ({}{retransmits})", in_words(&found.rates));
    found.origin.program = Some("iperf3".to_owned());
    found.origin.hosts = host.into_iter().collect();
    if let Some(error) = error {
        found.remark(ended_early(&error));
    }
    if is_server {
        found.assume(
            "the text is of a server, so that data comes up from its client",
            Some("--direction"),
        );
    }
    Ok(found)
}

impl Way {
    fn add(&mut self, row: &Row) {
        let percent = row
            .rest
            .rsplit_once('(')
            .and_then(|(_, rest)| rest.split_once("%)"));
        let percent = percent.and_then(|(text, _)| text.parse::<f64>().ok());
        self.is_udp |= row.rest.contains(" ms ") || percent.is_some();
        if row.rest.ends_with("(omitted)") {
            return;
        }
        if row.rest.ends_with("sender") {
            self.sent.push((row.is_sum, row.bits_per_second));
            let count = row
                .rest
                .split(' ')
                .next()
                .and_then(|word| word.parse::<u64>().ok());
            if row.is_sum {
                self.retransmits = count.unwrap_or(0);
            } else if self.sent.iter().all(|(is_sum, _)| !is_sum) {
                self.retransmits += count.unwrap_or(0);
            }
        } else if row.rest.ends_with("receiver") {
            self.received.push((row.is_sum, row.bits_per_second));
            self.lost_percent = percent.or(self.lost_percent);
        } else if let Some(step) =
            step(row.start_s, row.end_s, row.bits_per_second, Bound::Transfer)
        {
            if row.is_sum {
                self.sum_steps.push(step);
            } else {
                self.steps.push(step);
            }
        }
    }

    /// The sum where the text has one, else all streams added.
    fn total(rows: &[(bool, f64)]) -> Option<f64> {
        let sum = rows
            .iter()
            .find(|(is_sum, _)| *is_sum)
            .map(|(_, bits)| *bits);
        sum.or_else(|| (!rows.is_empty()).then(|| rows.iter().map(|(_, bits)| bits).sum()))
    }

    fn rates(
        &self,
        direction: Direction,
        target: f64,
        remarks: &mut Vec<String>,
    ) -> Option<crate::recording::Rates> {
        let sent = Self::total(&self.sent).unwrap_or(0.0);
        let bound = if self.is_udp {
            bound_of_udp(self.lost_percent, remarks)
        } else if target > 0.0 && sent >= OF_TARGET * target {
            Bound::Target
        } else {
            Bound::Transfer
        };
        let layer = if self.is_udp { Layer::Udp } else { Layer::Tcp };
        let steps = if self.sum_steps.is_empty() {
            self.steps.clone()
        } else {
            self.sum_steps.clone()
        };
        let mean = Self::total(&self.received).or_else(|| Self::total(&self.sent));
        rates(direction, steps, mean.and_then(in_bits), bound, layer)
    }
}
