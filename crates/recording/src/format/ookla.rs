//! Results of Ookla's command line (`speedtest -f json`, `-f jsonl`) and of the Python program
//! `speedtest-cli --json`.

use serde::Deserialize;

use super::json::{begins_as_object, from_json};
use super::speed_test::{add_mean, finish, of_ms};
use super::stamp::stamp;
use super::{Fact, Format, Recording};
use crate::fault::{TraceError, TraceProblem};
use crate::recording::Direction;
use crate::source::{Source, lines};

pub(super) const FORMAT: Format = Format {
    name: "speedtest",
    title: "the JSON of a speed test (Ookla's speedtest, speedtest-cli)",
    knows: &[
        Fact::Direction,
        Fact::Rate,
        Fact::LowerBound,
        Fact::IdleDelay,
        Fact::LoadedDelay,
        Fact::Losses,
        Fact::Date,
    ],
    by_lines: false,
    sniff: |bytes| {
        begins_as_object(bytes, &["type", "ping", "latency"])
            || begins_as_object(bytes, &["type", "testStart"])
            || begins_as_object(bytes, &["download", "upload", "ping", "server"])
    },
    read,
};

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type")]
    kind: Option<String>,
    ping: Option<Ping>,
    download: Option<Transfer>,
    upload: Option<Transfer>,
    #[serde(rename = "packetLoss")]
    packet_loss: Option<f64>,
    timestamp: Option<String>,
    server: Option<Server>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Ping {
    Ookla {
        latency: Option<f64>,
        jitter: Option<f64>,
    },
    Milliseconds(f64),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Transfer {
    Ookla {
        /// Bytes a second.
        bandwidth: Option<f64>,
        latency: Option<Latency>,
    },
    BitsPerSecond(f64),
}

#[derive(Deserialize)]
struct Latency {
    iqm: Option<f64>,
}

#[derive(Deserialize)]
struct Server {
    #[serde(default)]
    host: String,
}

fn read(bytes: &[u8], source: Source<'_>) -> Result<Recording, TraceError> {
    let result = match from_json::<Line>(bytes, source) {
        Ok(whole) => whole,
        // Lines of progress come before that of the result.
        Err(error) => of_lines(bytes, source)?.ok_or(error)?,
    };
    let is_ookla = result.kind.is_some();
    let mut found = Recording::new(FORMAT.name, String::new());
    match result.ping {
        Some(Ping::Ookla { latency, jitter }) => {
            found.figures.idle_rtt = latency.and_then(of_ms);
            found.figures.idle_jitter = jitter.and_then(of_ms);
        }
        Some(Ping::Milliseconds(ms)) => found.figures.idle_rtt = of_ms(ms),
        None => {}
    }
    for (direction, transfer) in [
        (Direction::Down, result.download),
        (Direction::Up, result.upload),
    ] {
        let loaded = match transfer {
            Some(Transfer::Ookla { bandwidth, latency }) => {
                add_mean(&mut found, direction, 8.0 * bandwidth.unwrap_or(0.0));
                latency.and_then(|latency| of_ms(latency.iqm?))
            }
            Some(Transfer::BitsPerSecond(bits)) => {
                add_mean(&mut found, direction, bits);
                None
            }
            None => None,
        };
        match direction {
            Direction::Down => found.figures.loaded_down_rtt = loaded,
            _ => found.figures.loaded_up_rtt = loaded,
        }
    }
    if found.rates.is_empty() {
        return Err(source.error(
            None,
            TraceProblem::OtherKind {
                what: "a speed test without a result".to_owned(),
                remedy: "run it again until it ends".to_owned(),
            },
        ));
    }
    match result
        .packet_loss
        .filter(|percent| (0.0..=100.0).contains(percent))
    {
        Some(percent) => found
            .figures
            .losses
            .push((Direction::Unknown, percent / 100.0)),
        None => found.remark("The test counted no losses."),
    }
    found.origin.began_unix_ns = result
        .timestamp
        .and_then(|text| stamp(&text))
        .filter(|stamp| stamp.is_dated)
        .map(|stamp| stamp.nanos);
    let host = result.server.map(|server| server.host);
    found.origin.hosts = host.into_iter().filter(|host| !host.is_empty()).collect();
    let program = if is_ookla {
        "Ookla's speedtest"
    } else {
        "speedtest-cli"
    };
    found.origin.program = Some(program.to_owned());
    if !is_ookla {
        found.remark("speedtest-cli measures no delay under load.");
    }
    finish(&mut found, program);
    Ok(found)
}

/// The result among lines of progress; None where no line is one.
fn of_lines(bytes: &[u8], source: Source<'_>) -> Result<Option<Line>, TraceError> {
    let mut result = None;
    for (line, text) in lines(bytes) {
        if text.is_empty() {
            continue;
        }
        match serde_json::from_slice::<Line>(text) {
            Ok(one) if one.kind.as_deref() == Some("result") => result = Some(one),
            Ok(one) if one.kind.is_some() => {}
            _ if line == 1 => return Ok(None),
            _ => {
                return Err(source.malformed(
                    line,
                    text,
                    "an object of \"speedtest -f jsonl\"",
                    "give the file as its program wrote it",
                ));
            }
        }
    }
    Ok(result)
}
