//! Two sides on the same channel, in stretches of virtual time.

use std::sync::Arc;

use airtcp_scenario::Scenario;
use airtcp_sim::{Observe, Probe, Running};
use airtcp_units::{Duration, Instant};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::chosen::{Chosen, LabError};
use crate::columns::{columns, events};

/// Samples of a run: a point on every second or third pixel.
const SAMPLES: u64 = 300;
/// Target time of a stretch, in seconds: 25 pictures a second.
const STRETCH_S: f64 = 0.04;
/// Virtual time of the first stretch, in seconds, from which the others grow.
const FIRST_STRETCH_S: f64 = 0.01;
/// By at most this factor a stretch is longer or shorter than the previous one.
const GROWTH: f64 = 6.0;
/// Maximum number of events sent per side; a page shows no more.
const MAX_EVENTS: usize = 4000;

const PROBES: [&str; 8] = [
    "cwnd",
    "srtt",
    "rto",
    "rtt",
    "goodput",
    "queue",
    "retransmitted",
    "mac_retries",
];
const EVENTS: [&str; 5] = [
    "timeout",
    "spurious-timeout",
    "fast-retransmit",
    "queue-drop",
    "link-loss",
];
/// Numbers of a flow in the result.
const NUMBERS: [&str; 14] = [
    "flow",
    "goodput_bps",
    "segments_sent",
    "segments_retransmitted",
    "timeouts",
    "timeouts_spurious",
    "fast_retransmits",
    "segments_dropped_queue",
    "segments_lost_link",
    "packets_on_air",
    "attempts_on_air",
    "min_rtt_ms",
    "rtt_p50_ms",
    "rtt_p95_ms",
];

/// A message to the page.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Message {
    /// The first message.
    Begin {
        /// Virtual time of the run.
        duration_s: f64,
        /// Time between samples.
        interval_s: f64,
    },
    /// The recordings of a stretch of one side.
    Rows {
        /// 0 or 1.
        side: usize,
        /// Virtual time at its end.
        time_s: f64,
        /// Samples by column.
        columns: Map<String, Value>,
        /// Time, kind and detail of each event.
        events: Vec<Value>,
    },
    /// The numbers of a finished side.
    Result {
        /// 0 or 1.
        side: usize,
        /// The numbers.
        #[serde(flatten)]
        numbers: Map<String, Value>,
    },
}

/// One of the runs.
struct Side {
    running: Running<Arc<Scenario>>,
    remedies: String,
    flows: usize,
    events: usize,
}

/// Two sides in progress, or one.
pub struct Play {
    sides: Vec<Side>,
    flow: u32,
    interval_s: f64,
    duration_s: f64,
    stretch_s: f64,
    time_s: f64,
}

impl Play {
    /// Begins a run of each side with `seed`: a link and the text of its remedies. Flow number
    /// `flow` is shown.
    ///
    /// # Errors
    /// [`LabError::Scenario`] without a side or such a flow; [`LabError::Run`] when a run cannot
    /// begin.
    pub fn new(sides: Vec<(Chosen, String)>, seed: u64, flow: u32) -> Result<Self, LabError> {
        let count = sides.iter().map(|(one, _)| one.scenario.flows.count).min();
        let (Some(count), Some((first, _))) = (count, sides.first()) else {
            return Err(LabError::Scenario("sides: expected one or two".to_owned()));
        };
        if flow >= count {
            return Err(LabError::Scenario(format!(
                "flow = {flow}: expected one of the link's flows, 0 to {}",
                count - 1
            )));
        }
        let duration = first.scenario.duration;
        // In whole microseconds, rounded down, so that the last sample is not after the end.
        let interval_us = (duration.as_nanos() / SAMPLES / 1000).max(1);
        let interval = Duration::from_micros(interval_us);
        let probes = PROBES.iter().filter_map(|name| name.parse::<Probe>().ok());
        let observe = Observe {
            probes: probes.collect(),
            probe_interval: Some(interval),
            events: true,
            ..Observe::default()
        };
        let sides = sides.into_iter().map(|(chosen, remedies)| {
            Ok(Side {
                flows: chosen.scenario.flows.count as usize,
                running: Running::new(chosen.scenario, seed, &observe)?,
                remedies,
                events: 0,
            })
        });
        Ok(Self {
            sides: sides.collect::<Result<_, LabError>>()?,
            flow,
            interval_s: interval.as_secs_f64(),
            duration_s: duration.as_secs_f64(),
            stretch_s: FIRST_STRETCH_S,
            time_s: 0.0,
        })
    }

    /// The first message.
    #[must_use]
    pub const fn begin(&self) -> Message {
        Message::Begin {
            duration_s: self.duration_s,
            interval_s: self.interval_s,
        }
    }

    /// Virtual time that both sides have reached, and that of the whole run, in seconds.
    #[must_use]
    pub const fn progress(&self) -> (f64, f64) {
        (self.time_s, self.duration_s)
    }

    /// Whether both sides have ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        let mut running = self.sides.iter().map(|side| &side.running);
        running.all(|one| one.now() >= one.end())
    }

    /// Advances both sides by a stretch. `took_s` is the time that the previous stretch took, in
    /// seconds, by which the length of the next is chosen; `None` for the first.
    ///
    /// # Errors
    /// [`LabError::Run`] when the recordings have no columns.
    pub fn advance(&mut self, took_s: Option<f64>) -> Result<Vec<Message>, LabError> {
        if let Some(took_s) = took_s {
            let growth = STRETCH_S / took_s.max(1e-6);
            self.stretch_s *= growth.clamp(1.0 / GROWTH, GROWTH);
        }
        self.time_s = (self.time_s + self.stretch_s).min(self.duration_s);
        let until = Duration::from_secs_f64(self.time_s).unwrap_or_default();
        let mut messages = Vec::new();
        for (number, side) in self.sides.iter_mut().enumerate() {
            if side.running.now() >= side.running.end() {
                continue;
            }
            let until = if self.time_s >= self.duration_s {
                side.running.end()
            } else {
                Instant::ZERO + until
            };
            side.running.advance(until);
            let stretch = side.running.take()?;
            let mut found = events(&stretch.events, self.flow, &EVENTS);
            let room = MAX_EVENTS.saturating_sub(side.events);
            side.events += found.len();
            found.truncate(room);
            messages.push(Message::Rows {
                side: number,
                time_s: side.running.now().as_secs_f64(),
                columns: columns(&stretch.samples, self.flow as usize, side.flows),
                events: found,
            });
        }
        Ok(messages)
    }

    /// The numbers of both sides, run to their ends.
    ///
    /// # Errors
    /// [`LabError::Run`] when a congestion control cannot go on.
    pub fn finish(self) -> Result<Vec<Message>, LabError> {
        let flow = self.flow as usize;
        let sides = self.sides.into_iter().enumerate();
        sides
            .map(|(number, side)| {
                Ok(Message::Result {
                    side: number,
                    numbers: numbers(side, flow)?,
                })
            })
            .collect()
    }
}

fn numbers(side: Side, flow: usize) -> Result<Map<String, Value>, LabError> {
    let hidden = side.events.saturating_sub(MAX_EVENTS);
    let summary = side.running.finish()?.summary;
    let deployment: Vec<String> = airtcp_remedies::parse(&side.remedies)
        .map(|chosen| {
            chosen
                .as_slice()
                .iter()
                .map(|one| one.deployment())
                .collect()
        })
        .unwrap_or_default();
    let shown = serde_json::to_value(summary.flows.get(flow)).unwrap_or_default();
    let mut numbers: Map<String, Value> = NUMBERS
        .iter()
        .map(|name| ((*name).to_owned(), shown[*name].clone()))
        .collect();
    // Null if no probes ran under load.
    let under_load = serde_json::to_value(summary.under_load).unwrap_or_default();
    let has_probes = under_load["added_bps"]
        .as_f64()
        .is_some_and(|added| added > 0.0);
    let further = [
        ("flows", summary.flows.len().into()),
        ("goodput_all_bps", summary.goodput_bps.into()),
        ("fairness", summary.fairness.into()),
        ("digest", summary.digest.into()),
        ("engine_version", summary.engine_version.into()),
        ("events_hidden", hidden.into()),
        ("deployment", deployment.into()),
        (
            "under_load",
            if has_probes { under_load } else { Value::Null },
        ),
    ];
    numbers.extend(further.map(|(name, value)| (name.to_owned(), value)));
    Ok(numbers)
}
