//! Results of speed tests in words: Ookla's `speedtest`, `speedtest-cli`, `networkQuality`, `fast`;
//! and the JSON of `fast --json` (fast-cli).

use serde::Deserialize;

use super::json::{begins_as_object, from_json};
use super::rate_unit::bits_per_second;
use super::speed_test::{add_mean, finish, of_ms};
use super::{Fact, Format, Recording};
use crate::fault::{TraceError, TraceProblem};
use crate::recording::Direction;
use crate::source::{Source, lines};

const KNOWS: &[Fact] = &[
    Fact::Direction,
    Fact::Rate,
    Fact::LowerBound,
    Fact::IdleDelay,
    Fact::LoadedDelay,
    Fact::Losses,
];

pub(super) const FORMAT: Format = Format {
    name: "speedtest-text",
    title: "what a speed test prints (Ookla's speedtest, speedtest-cli, networkQuality, fast)",
    knows: KNOWS,
    by_lines: true,
    sniff: |bytes| {
        let mut shown = lines(bytes).take(SNIFFED_LINES);
        shown.any(|(_, line)| {
            let text = String::from_utf8_lossy(line);
            is_labelled(&text) && !rates(&text).is_empty()
        })
    },
    read,
};

/// fast-cli.
pub(super) const FAST: Format = Format {
    name: "fast",
    title: "the JSON of \"fast --json\" (fast-cli)",
    knows: KNOWS,
    by_lines: false,
    sniff: |bytes| begins_as_object(bytes, &["downloadSpeed"]),
    read: read_fast,
};

const SNIFFED_LINES: usize = 60;
const LABELS: [&str; 6] = [
    "download:",
    "upload:",
    "downlink capacity:",
    "uplink capacity:",
    "download capacity:",
    "upload capacity:",
];

fn is_labelled(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    LABELS.iter().any(|label| lower.starts_with(label)) || text.contains(['\u{2193}', '\u{2191}'])
}

/// The direction that a text names.
fn way(text: &str) -> Option<Direction> {
    let lower = text.to_ascii_lowercase();
    if lower.contains("down") || text.contains('\u{2193}') {
        return Some(Direction::Down);
    }
    (lower.starts_with("up") || text.contains('\u{2191}')).then_some(Direction::Up)
}

/// Rates of a line with their directions: an arrow follows its rate, a word is in front.
fn rates(text: &str) -> Vec<(Direction, f64)> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let of_line = way(text);
    let each = words.windows(2).enumerate().filter_map(|(place, pair)| {
        let value: f64 = pair[0].parse().ok()?;
        let bits = value * bits_per_second(pair[1])?;
        let arrow = words.get(place + 2).and_then(|word| way(word));
        Some((arrow.or(of_line)?, bits))
    });
    each.filter(|(_, bits)| bits.is_finite()).collect()
}

/// A time of a line in milliseconds.
fn milliseconds(text: &str) -> Option<f64> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_unit = |word: &str| word == "ms" || word.starts_with("milli");
    words
        .windows(2)
        .find(|pair| is_unit(pair[1]))
        .and_then(|pair| pair[0].parse().ok())
}

fn read(bytes: &[u8], source: Source<'_>) -> Result<Recording, TraceError> {
    let mut found = Recording::new(FORMAT.name, String::new());
    let (mut program, mut last) = ("", None);
    for (_, bytes) in lines(bytes) {
        let text = String::from_utf8_lossy(bytes);
        // A terminal's progress is overwritten by what follows.
        let text = text.rsplit('\r').next().unwrap_or_default().trim();
        let lower = text.to_ascii_lowercase();
        program = match () {
            () if text.contains("Speedtest by Ookla") => "Ookla's speedtest",
            () if lower.contains("link capacity:") => "networkQuality",
            () if lower.starts_with("retrieving speedtest.net") => "speedtest-cli",
            () if text.contains(['\u{2193}', '\u{2191}']) => "fast",
            () => program,
        };
        let each = if is_labelled(text) {
            rates(text)
        } else {
            Vec::new()
        };
        for (direction, bits) in each {
            // The last line of a direction is its result.
            found.rates.retain(|one| one.direction != direction);
            add_mean(&mut found, direction, bits);
            last = Some(direction);
        }
        let figures = &mut found.figures;
        if let Some(time) = milliseconds(text).and_then(of_ms) {
            let is_idle = ["idle latency:", "latency:", "ping:", "hosted by "]
                .iter()
                .any(|label| lower.starts_with(label));
            match last {
                _ if is_idle => {
                    figures.idle_rtt = Some(time);
                    let jitter = lower.split_once("jitter:").and_then(|(_, rest)| {
                        let number = rest
                            .trim_start()
                            .split(|c: char| !c.is_ascii_digit() && c != '.');
                        number.into_iter().next()?.parse().ok()
                    });
                    figures.idle_jitter = jitter.and_then(of_ms);
                }
                // Ookla's line of a delay under load follows the direction's rate.
                Some(direction) if text.starts_with(|c: char| c.is_ascii_digit()) => {
                    match direction {
                        Direction::Down => figures.loaded_down_rtt = Some(time),
                        _ => figures.loaded_up_rtt = Some(time),
                    }
                }
                _ => {}
            }
        }
        if let Some(percent) = lower
            .strip_prefix("packet loss:")
            .and_then(|rest| rest.trim().trim_end_matches('%').parse::<f64>().ok())
            .filter(|percent| (0.0..=100.0).contains(percent))
        {
            figures.losses = vec![(Direction::Unknown, percent / 100.0)];
        }
    }
    ended(found, program, source)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Fast {
    /// In the unit next to it, otherwise Mbit/s.
    download_speed: Option<f64>,
    upload_speed: Option<f64>,
    download_unit: Option<String>,
    upload_unit: Option<String>,
    /// Milliseconds without load.
    latency: Option<f64>,
    /// Milliseconds under load.
    buffer_bloat: Option<f64>,
}

fn read_fast(bytes: &[u8], source: Source<'_>) -> Result<Recording, TraceError> {
    let fast: Fast = from_json(bytes, source)?;
    let mut found = Recording::new(FAST.name, String::new());
    for (direction, speed, unit) in [
        (Direction::Down, fast.download_speed, fast.download_unit),
        (Direction::Up, fast.upload_speed, fast.upload_unit),
    ] {
        let factor = unit.as_deref().and_then(bits_per_second).unwrap_or(1e6);
        add_mean(&mut found, direction, factor * speed.unwrap_or(0.0));
    }
    found.figures.idle_rtt = fast.latency.and_then(of_ms);
    found.figures.loaded_rtt = fast.buffer_bloat.and_then(of_ms);
    ended(found, "fast", source)
}

fn ended(mut found: Recording, program: &str, source: Source<'_>) -> Result<Recording, TraceError> {
    if found.rates.is_empty() {
        let what = "a speed test without a result".to_owned();
        let remedy = "run it again until it ends".to_owned();
        return Err(source.error(None, TraceProblem::OtherKind { what, remedy }));
    }
    found.origin.program = (!program.is_empty()).then(|| program.to_owned());
    finish(&mut found, program);
    Ok(found)
}
