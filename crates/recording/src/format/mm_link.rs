//! Logs of mahimahi's `mm-link` and of Pantheon: opportunities, arrivals, departures, drops.
//!
//! `T # BYTES` is an opportunity, `T + BYTES [FLOW]` an arrival, `T - BYTES DELAY [FLOW]` a
//! departure, `T d PACKETS BYTES` a drop, T and DELAY in milliseconds. Pantheon's logs have no
//! opportunities: they only show the rate of one flow.

use airtcp_units::Duration;

use super::mahimahi::{self, PACKET_BYTES};
use super::speed_test::of_ms;
use super::{Fact, Format, Recording};
use crate::fault::TraceError;
use crate::recording::{Bound, Direction, Layer, RateStep, Rates};
use crate::source::{Source, lines};

pub(super) const FORMAT: Format = Format {
    name: "mm-link",
    title: "a log of mahimahi's mm-link, or of Pantheon",
    knows: &[
        Fact::Direction,
        Fact::Rate,
        Fact::LowerBound,
        Fact::LoadedDelay,
        Fact::Losses,
        Fact::Outages,
    ],
    by_lines: true,
    sniff,
    read,
};

const SNIFFED_LINES: usize = 50;
/// Bytes of an opportunity: a packet of 1500 and four of the TUN device.
const OPPORTUNITY_BYTES: u64 = PACKET_BYTES as u64 + 4;
/// Departures are counted over this time.
const STEP_MS: f64 = 100.0;
/// Times above are no milliseconds of a run: 30 days.
const MAX_MS: f64 = 2.592e9;

fn sniff(bytes: &[u8]) -> bool {
    let mut events = 0;
    for (_, line) in lines(bytes).take(SNIFFED_LINES) {
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        if Event::of(line).is_none() {
            return false;
        }
        events += 1;
    }
    events > 1
}

enum Event {
    Opportunity(f64, u64),
    Arrival,
    Departure(f64, u64, f64),
    Drop(u64),
}

impl Event {
    fn of(line: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(line).ok()?;
        let mut words = text.split_whitespace();
        let time: f64 = words.next()?.parse().ok().filter(|time| *time >= 0.0)?;
        let kind = words.next()?;
        let mut number = || words.next().and_then(|word| word.parse::<f64>().ok());
        let count = number().filter(|count| (0.0..1e12).contains(count))? as u64;
        match kind {
            "#" => Some(Self::Opportunity(time, count)),
            "+" => Some(Self::Arrival),
            "-" => Some(Self::Departure(time, count, number()?)),
            "d" => Some(Self::Drop(count)),
            _ => None,
        }
    }
}

#[derive(Default)]
struct Log {
    base: Option<f64>,
    opportunities: Vec<u32>,
    /// Bytes that opportunities had beyond whole packets.
    reserve: u64,
    arrivals: u64,
    drops: u64,
    bits: Vec<u64>,
    delays: Vec<f64>,
}

impl Log {
    fn since(&mut self, time: f64) -> Option<f64> {
        let base = *self.base.get_or_insert(time);
        Some(time - base).filter(|since| (0.0..=MAX_MS).contains(since))
    }

    fn add(&mut self, event: &Event) -> Option<()> {
        match *event {
            Event::Opportunity(time, bytes) => {
                let at = self.since(time)?.round() as u32;
                let bytes = bytes.min(1 << 24);
                // Some versions count only the packet.
                let is_of_packets = bytes % u64::from(PACKET_BYTES) == 0;
                let packets = bytes / u64::from(PACKET_BYTES);
                self.reserve += if is_of_packets {
                    packets * OPPORTUNITY_BYTES
                } else {
                    bytes
                };
                if self.opportunities.last().is_some_and(|last| *last > at) {
                    return None;
                }
                while self.reserve >= OPPORTUNITY_BYTES {
                    self.reserve -= OPPORTUNITY_BYTES;
                    self.opportunities.push(at);
                }
                Some(())
            }
            Event::Arrival => {
                self.arrivals += 1;
                Some(())
            }
            Event::Departure(time, bytes, delay) => {
                let step = (self.since(time)? / STEP_MS) as usize;
                const MAX_STEPS: usize = 1 << 24;
                if step >= MAX_STEPS {
                    return None;
                }
                if self.bits.len() <= step {
                    self.bits.resize(step + 1, 0);
                }
                self.bits[step] = self.bits[step].saturating_add(8 * bytes.min(1 << 30));
                self.delays.push(delay);
                Some(())
            }
            Event::Drop(packets) => {
                self.drops = self.drops.saturating_add(packets);
                Some(())
            }
        }
    }
}

fn read(bytes: &[u8], source: Source<'_>) -> Result<Recording, TraceError> {
    let mut log = Log::default();
    let mut direction = Direction::Unknown;
    let cut_short = !bytes.ends_with(b"\n");
    let last_line = lines(bytes).last().map_or(0, |(line, _)| line);
    for (line, text) in lines(bytes) {
        if text.starts_with(b"#") {
            let header = String::from_utf8_lossy(text);
            if header.contains("uplink") && !header.contains("downlink") {
                direction = Direction::Up;
            } else if header.contains("downlink") && !header.contains("uplink") {
                direction = Direction::Down;
            }
            if let Some((_, base)) = header.split_once("base timestamp:") {
                log.base = base.trim().parse().ok();
            }
            continue;
        }
        if text.is_empty() {
            continue;
        }
        let event = Event::of(text);
        if event.is_none() && cut_short && line == last_line {
            continue;
        }
        if event.and_then(|event| log.add(&event)).is_none() {
            return Err(source.malformed(
                line,
                text,
                "an event of mm-link, with times that do not go back before the first",
                "cut the log where it was restarted",
            ));
        }
    }
    recording(log, direction, source)
}

fn recording(
    mut log: Log,
    direction: Direction,
    source: Source<'_>,
) -> Result<Recording, TraceError> {
    log.delays.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let place = (log.delays.len().checked_sub(1)? as f64 * share) as usize;
        log.delays.get(place).copied()
    };
    let (least, median) = (at(0.0).and_then(of_ms), at(0.5).and_then(of_ms));
    let mut found = if log.opportunities.len() > 1 {
        let times = std::mem::take(&mut log.opportunities);
        let mut found = mahimahi::recording(FORMAT.name, "a log of mm-link", times, source)?;
        found.opportunities[0].direction = direction;
        found
    } else {
        of_departures(&log, direction, source)?
    };
    let sent = log.arrivals.max(log.delays.len() as u64);
    if log.drops > 0 && sent > 0 {
        found.remark(format!(
            "{} of {sent} packets were dropped, by the queue of that run.",
            log.drops
        ));
    }
    // One way and of whole packets: twice the least is a round trip of as good as no queue.
    found.figures.least_loaded_rtt = least.map(|least| least + least);
    if let (Some(least), Some(median)) = (least, median) {
        found.remark(format!(
            "Delays in it are queue and path, one way and under load: at least {:.4} ms, median \
             {:.4} ms.",
            least.as_millis_f64(),
            median.as_millis_f64()
        ));
        let round = least + median;
        match direction {
            Direction::Up => found.figures.loaded_up_rtt = Some(round),
            Direction::Down => found.figures.loaded_down_rtt = Some(round),
            Direction::Unknown => found.figures.loaded_rtt = Some(round),
        }
        found.assume(
            "the way back takes as long as the shortest way there",
            Some("--rtt"),
        );
    }
    Ok(found)
}

fn of_departures(
    log: &Log,
    direction: Direction,
    source: Source<'_>,
) -> Result<Recording, TraceError> {
    let bits: u64 = log.bits.iter().sum();
    let seconds = log.bits.len() as f64 * STEP_MS / 1e3;
    if bits == 0 {
        return Err(source.malformed(
            1,
            b"",
            "opportunities (#) or departures (-)",
            "give the log of the direction that carried data",
        ));
    }
    let mean = (bits as f64 / seconds).round() as u64;
    let length = Duration::from_millis(STEP_MS as u64);
    let steps = (0_u64..).zip(&log.bits).map(|(place, bits)| RateStep {
        from: Duration::from_millis(place * STEP_MS as u64),
        length,
        bits_per_second: bits * (1000.0 / STEP_MS) as u64,
        bound: Bound::Transfer,
    });
    let mut found = Recording::new(
        FORMAT.name,
        format!(
            "a log of packets that left a link, without its opportunities ({:.3} Mbit/s in the \
             mean over {seconds:.1} s)",
            mean as f64 / 1e6
        ),
    );
    found.rates.push(Rates {
        direction,
        mean,
        bound: Bound::Transfer,
        layer: Layer::Packets,
        steps: steps.collect(),
    });
    Ok(found)
}
