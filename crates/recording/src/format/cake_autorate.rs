//! Logs of cake-autorate: fields between semicolons, named by header lines.
//!
//! Throughput is limited by the shaper. The rate is the link's only where a line reports a load
//! with bufferbloat (`_bb`) above 75 %; elsewhere it is a lower bound.

use std::collections::BTreeMap;

use airtcp_units::Duration;

use super::{Fact, Format, Recording, in_words};
use crate::fault::{TraceError, TraceProblem};
use crate::recording::{Bound, Direction, Layer, RateStep, Rates};
use crate::source::{Source, lines};

pub(super) const FORMAT: Format = Format {
    name: "cake-autorate",
    title: "a log of cake-autorate with its statistics",
    knows: &[
        Fact::Direction,
        Fact::Rate,
        Fact::LowerBound,
        Fact::IdleDelay,
        Fact::LoadedDelay,
        Fact::Date,
    ],
    by_lines: true,
    sniff,
    read,
};

const SNIFFED_LINES: usize = 200;
/// Share of the shaper's rate from which on a load with bufferbloat has filled the link.
const FULL_PERCENT: f64 = 75.0;
/// A step without a next line lasts so long.
const STEP: Duration = Duration::from_millis(200);
/// A longer time without a line was not recorded.
const MAX_STEP: Duration = Duration::from_secs(5);

fn sniff(bytes: &[u8]) -> bool {
    lines(bytes).take(SNIFFED_LINES).any(|(_, line)| {
        line.starts_with(b"DATA_HEADER;")
            || line.starts_with(b"LOAD_HEADER;")
            || line.starts_with(b"SUMMARY_HEADER;")
            || [
                "DATA",
                "LOAD",
                "SUMMARY",
                "REFLECTOR",
                "INFO",
                "SYSLOG",
                "DEBUG",
            ]
            .iter()
            .any(|kind| is_record(line, kind))
    })
}

/// `KIND; 2026-11-06-11:13:00; 1794222780.123456; …`.
fn is_record(line: &[u8], kind: &str) -> bool {
    let Some(rest) = line.strip_prefix(kind.as_bytes()) else {
        return false;
    };
    let shape = b"; dddd-dd-dd-dd:dd:dd; ";
    rest.len() > shape.len()
        && shape.iter().zip(rest).all(|(expected, found)| {
            if *expected == b'd' {
                found.is_ascii_digit()
            } else {
                expected == found
            }
        })
}

/// One direction of a line.
#[derive(Clone, Copy)]
struct Sample {
    at_s: f64,
    achieved: f64,
    shaper: Option<f64>,
    is_full: bool,
}

/// Names of a direction's columns: achieved rate, load, condition, shaper, baseline, delay.
const DOWN: [&str; 6] = [
    "DL_ACHIEVED_RATE_KBPS",
    "DL_LOAD_PERCENT",
    "DL_LOAD_CONDITION",
    "CAKE_DL_RATE_KBPS",
    "DL_OWD_BASELINE",
    "DL_OWD_US",
];
const UP: [&str; 6] = [
    "UL_ACHIEVED_RATE_KBPS",
    "UL_LOAD_PERCENT",
    "UL_LOAD_CONDITION",
    "CAKE_UL_RATE_KBPS",
    "UL_OWD_BASELINE",
    "UL_OWD_US",
];

#[derive(Default)]
struct Log {
    columns: BTreeMap<String, usize>,
    samples: [Vec<Sample>; 2],
    baselines_us: Vec<f64>,
    delays_us: Vec<f64>,
    loaded_us: [Vec<f64>; 2],
    reflectors: Vec<String>,
}

fn read(bytes: &[u8], source: Source<'_>) -> Result<Recording, TraceError> {
    let mut log = Log::default();
    let has_data = lines(bytes).any(|(_, line)| line.starts_with(b"DATA;"));
    let kind = if has_data { "DATA" } else { "LOAD" };
    let cut_short = !bytes.ends_with(b"\n");
    let last_line = lines(bytes).last().map_or(0, |(line, _)| line);
    let mut rows = 0_u64;
    for (line, bytes) in lines(bytes) {
        let text = String::from_utf8_lossy(bytes);
        let fields: Vec<&str> = text.split(';').map(str::trim).collect();
        if fields[0].strip_suffix("_HEADER") == Some(kind) {
            let places = fields.iter().zip(0..);
            log.columns = places
                .map(|(name, place)| ((*name).to_owned(), place))
                .collect();
        } else if fields[0] == kind {
            rows += 1;
            // Without a header the file was rotated: the next one has it.
            if log.columns.is_empty() || cut_short && line == last_line {
                continue;
            }
            log.add(&fields).ok_or_else(|| {
                source.malformed(
                    line,
                    bytes,
                    "as many numbers as its header names, with times that do not go back",
                    "cut the log where it was restarted, with the header's line in front",
                )
            })?;
        }
    }
    if log.samples[0].is_empty() {
        let what = if rows == 0 {
            "a log of cake-autorate without statistics (output_processing_stats and \
             output_load_stats are 0)"
        } else {
            "a log of cake-autorate whose header is missing, so that its columns have no names"
        };
        return Err(source.error(
            None,
            TraceProblem::OtherKind {
                what: what.to_owned(),
                remedy: "set output_processing_stats=1 and record again, or put the line \
                         DATA_HEADER; … in front"
                    .to_owned(),
            },
        ));
    }
    Ok(log.recording())
}

impl Log {
    fn add(&mut self, fields: &[&str]) -> Option<()> {
        let text = |name: &str| fields.get(*self.columns.get(name)?).copied();
        let number = |name: &str| {
            text(name)?
                .parse::<f64>()
                .ok()
                .filter(|value| value.is_finite())
        };
        let at_s = number("LOG_TIMESTAMP").or_else(|| number("PROC_TIME_US"))?;
        let before = self.samples[0].last().map_or(at_s, |sample| sample.at_s);
        if at_s < before - 1.0 {
            return None;
        }
        let mut baseline = 0.0;
        let mut delay = 0.0;
        let mut loaded = [false; 2];
        let mut samples = [None; 2];
        for (way, names) in [DOWN, UP].iter().enumerate() {
            let [achieved, load, condition, shaper, base, now] = names;
            let condition = text(condition).unwrap_or_default();
            loaded[way] = condition.contains("high");
            let is_full = condition.ends_with("_bb")
                && number(load).is_some_and(|percent| percent >= FULL_PERCENT);
            samples[way] = Some(Sample {
                at_s: at_s.max(before),
                achieved: number(achieved).filter(|kbps| (0.0..1e10).contains(kbps))?,
                shaper: number(shaper).filter(|kbps| *kbps > 0.0),
                is_full,
            });
            baseline += number(base).unwrap_or(0.0);
            delay += number(now).unwrap_or(0.0);
        }
        if baseline > 0.0 {
            self.baselines_us.push(baseline);
        }
        if delay > 0.0 {
            self.delays_us.push(delay);
            for way in (0..2).filter(|way| loaded[*way]) {
                self.loaded_us[way].push(delay);
            }
        }
        let reflector = text("REFLECTOR").unwrap_or_default().to_owned();
        if !reflector.is_empty()
            && !self.reflectors.contains(&reflector)
            && self.reflectors.len() < 64
        {
            self.reflectors.push(reflector);
        }
        for (way, sample) in samples.into_iter().enumerate() {
            self.samples[way].extend(sample);
        }
        Some(())
    }

    fn recording(mut self) -> Recording {
        let mut found = Recording::new(FORMAT.name, String::new());
        let began_s = self.samples[0][0].at_s;
        for (samples, direction) in self.samples.iter().zip([Direction::Down, Direction::Up]) {
            found.rates.push(rates(samples, began_s, direction));
            let full = samples.iter().filter(|sample| sample.is_full).count();
            let way = if direction == Direction::Down {
                "down"
            } else {
                "up"
            };
            let most = samples
                .iter()
                .filter_map(|sample| sample.shaper)
                .fold(0.0, f64::max);
            found.remark(format!(
                "The link's rate {way} shows at {full} of {} lines (full, with bufferbloat); at \
                 the others what passed is a lower bound, under a shaper of at most {:.3} Mbit/s.",
                samples.len(),
                most / 1e3
            ));
        }
        let median = |values: &mut Vec<f64>| {
            values.sort_by(f64::total_cmp);
            let middle = values.get(values.len() / 2)?;
            Duration::from_secs_f64(middle / 1e6).filter(|time| time.as_secs_f64() < 3600.0)
        };
        found.figures.idle_rtt = median(&mut self.baselines_us);
        found.figures.loaded_down_rtt = median(&mut self.loaded_us[0]);
        found.figures.loaded_up_rtt = median(&mut self.loaded_us[1]);
        found.remark(
            "With fping, its default, both one-way delays are half the round trip; with tsping or \
             irtt they differ by the clocks.",
        );
        found.origin.program = Some("cake-autorate".to_owned());
        found.origin.began_unix_ns = Duration::from_secs_f64(began_s).map(Duration::as_nanos);
        found.origin.hosts = self.reflectors;
        found.summary = format!(
            "a log of cake-autorate (passed: {})",
            in_words(&found.rates)
        );
        found
    }
}

fn rates(samples: &[Sample], began_s: f64, direction: Direction) -> Rates {
    let mut steps = Vec::with_capacity(samples.len());
    for (place, sample) in samples.iter().enumerate() {
        let since = |sample: &Sample| Duration::from_secs_f64((sample.at_s - began_s).max(0.0));
        let from = since(sample).unwrap_or_default();
        let next = samples.get(place + 1).and_then(since);
        let length = next.map_or(STEP, |next| next - from);
        if length.as_nanos() > 0 {
            steps.push(RateStep {
                from,
                length: if length > MAX_STEP { STEP } else { length },
                bits_per_second: (1e3 * sample.achieved).round() as u64,
                bound: if sample.is_full {
                    Bound::Link
                } else {
                    Bound::Shaper
                },
            });
        }
    }
    let seconds: f64 = steps.iter().map(|step| step.length.as_secs_f64()).sum();
    let bits: f64 = steps
        .iter()
        .map(|step| step.bits_per_second as f64 * step.length.as_secs_f64())
        .sum();
    let has_full = samples.iter().any(|sample| sample.is_full);
    Rates {
        direction,
        mean: if seconds > 0.0 {
            (bits / seconds).round() as u64
        } else {
            0
        },
        bound: if has_full { Bound::Link } else { Bound::Shaper },
        layer: Layer::Packets,
        steps,
    }
}
