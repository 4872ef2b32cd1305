//! The probes of irtt, and the recording that they make.

use airtcp_units::Duration;
use serde::Deserialize;

use super::Recording;
use super::json::milliseconds;
use crate::fault::{TraceError, TraceProblem};
use crate::probes::{ProbeLogBuilder, Stamp};
use crate::recording::{Delays, Direction};
use crate::source::Source;

#[derive(Deserialize)]
pub(super) struct RoundTrip {
    pub seqno: u64,
    #[serde(default)]
    pub lost: Lost,
    #[serde(default)]
    pub delay: Delay,
    #[serde(default)]
    pub timestamps: Timestamps,
}

/// A text, `"false" "true" "true_up" "true_down"`; the manual has booleans.
#[derive(Default, Deserialize)]
#[serde(untagged)]
pub(super) enum Lost {
    Word(String),
    Flag(bool),
    #[default]
    Unknown,
}

impl Lost {
    fn is(&self, word: &str) -> bool {
        match self {
            Self::Word(text) => text == word,
            Self::Flag(flag) => *flag && word == "true",
            Self::Unknown => false,
        }
    }
}

/// Nanoseconds; absent where the probe was lost.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Delay {
    pub rtt: Option<f64>,
    /// From the client to the server, by two clocks.
    pub send: Option<f64>,
    /// The way back.
    pub receive: Option<f64>,
}

#[derive(Default, Deserialize)]
pub(super) struct Timestamps {
    #[serde(default)]
    pub client: Client,
}

#[derive(Default, Deserialize)]
pub(super) struct Client {
    #[serde(default)]
    pub send: Instants,
    #[serde(default)]
    pub receive: Instants,
}

#[derive(Default, Deserialize)]
pub(super) struct Instants {
    /// Nanoseconds since 1970.
    pub wall: Option<u64>,
}

/// The recording of these probes; `expected` describes them for errors.
pub(super) fn recording(
    (format, expected): (&'static str, &'static str),
    round_trips: &[RoundTrip],
    source: Source<'_>,
) -> Result<Recording, TraceError> {
    const MAX: u64 = 1 << 32;
    let probes = || round_trips.iter().filter(|one| one.seqno < MAX);
    let first = probes().map(|one| one.seqno).min().unwrap_or(0);
    let sent = probes().map(|one| one.seqno - first + 1).max().unwrap_or(0);
    let mut replies = Vec::new();
    for one in probes() {
        let Some(nanos) = one.delay.rtt else { continue };
        let stamp = one.timestamps.client.receive.wall.map(|nanos| Stamp {
            nanos,
            is_dated: true,
            is_fine: true,
        });
        replies.push((one.seqno - first, stamp, milliseconds(nanos / 1e6, source)?));
    }
    let mut log = ProbeLogBuilder::default();
    log.run(replies, sent, 0);
    let none = || source.error(None, TraceProblem::NoRoundTrip { expected });
    let mut found = Recording::of_probes(format, log.finish().ok_or_else(none)?);
    add_directions(&mut found, round_trips);
    Ok(found)
}

/// Delays and losses of each way. One-way delays are differences of two clocks: their least is
/// subtracted, and half of the least round trip put in its place.
fn add_directions(found: &mut Recording, round_trips: &[RoundTrip]) {
    let lost = |word: &str| round_trips.iter().filter(|one| one.lost.is(word)).count();
    let (up, down) = (lost("true_up"), lost("true_down"));
    let sent = round_trips.len();
    if up + down > 0 {
        found.remark(format!(
            "{up} probes were lost on the way up and {down} on the way down, of {sent}."
        ));
        let unknown = lost("true");
        if unknown == 0 {
            let share = |lost: usize, of: usize| lost as f64 / of.max(1) as f64;
            found.figures.losses.push((Direction::Up, share(up, sent)));
            found
                .figures
                .losses
                .push((Direction::Down, share(down, sent - up)));
        }
    }
    let answered = || round_trips.iter().filter(|one| one.delay.rtt.is_some());
    let Some(first) = answered().find_map(|one| one.timestamps.client.send.wall) else {
        return;
    };
    let least_rtt = answered()
        .filter_map(|one| one.delay.rtt)
        .fold(f64::INFINITY, f64::min);
    for (direction, delay) in [
        (
            Direction::Up,
            (|delay: &Delay| delay.send) as fn(&Delay) -> Option<f64>,
        ),
        (Direction::Down, |delay: &Delay| delay.receive),
    ] {
        let values = || {
            answered().filter_map(|one| {
                let at = one.timestamps.client.send.wall?.checked_sub(first)?;
                Some((at, delay(&one.delay).filter(|nanos| nanos.abs() < MAX_NS)?))
            })
        };
        let least = values()
            .map(|(_, nanos)| nanos)
            .fold(f64::INFINITY, f64::min);
        let mut steps: Vec<(Duration, Duration)> = values()
            .map(|(at, nanos)| {
                let delay = nanos - least + least_rtt / 2.0;
                (
                    Duration::from_nanos(at),
                    Duration::from_nanos(delay.round() as u64),
                )
            })
            .collect();
        steps.sort_by_key(|(at, _)| *at);
        steps.dedup_by_key(|(at, _)| *at);
        if steps.len() > 1 {
            found.delays.push(Delays {
                direction,
                steps,
                is_relative: true,
            });
        }
    }
    if !found.delays.is_empty() {
        found.assume(
            "each way takes half of the shortest round trip when it is shortest: the clocks of \
             both ends tell only how it varies",
            None,
        );
    }
}

/// Clocks of two machines may differ by years.
const MAX_NS: f64 = 1e18;
