//! Reports of congestion controls from object files about a run.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::engine::Flow;

/// A line that a control printed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ControlMessage {
    /// Time since the start of the run.
    pub time_s: f64,
    /// The line.
    pub text: String,
}

/// The control of one flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ControlReport {
    /// Number of the flow, from 0.
    pub flow: u32,
    /// The control's counters by name.
    pub counters: BTreeMap<String, i64>,
    /// Lines that it printed.
    pub messages: Vec<ControlMessage>,
    /// BPF instructions that it executed; 0 for a control in Python.
    pub instructions: u64,
    /// How often it set a window of 0 segments, where 1 was used.
    pub zero_windows: u64,
    /// How often it set a threshold of 0 segments.
    pub zero_thresholds: u64,
}

impl ControlReport {
    /// The report of flow number `index`, if its control is from an object file.
    pub(crate) fn of(flow: &Flow, index: u32) -> Option<Self> {
        let external = flow.client().sender().external()?;
        let (operations, zeros) = (external.operations(), external.zeros());
        let (counters, messages) = (operations.counters(), operations.messages());
        Some(Self {
            flow: index,
            counters: counters
                .into_iter()
                .map(|(name, value)| {
                    // Larger ones are of 64 bits without a sign.
                    (name, i64::try_from(value).unwrap_or(i64::MAX))
                })
                .collect(),
            messages: messages
                .into_iter()
                .map(|(at, text)| ControlMessage {
                    time_s: at.as_secs_f64(),
                    text,
                })
                .collect(),
            instructions: operations.instructions(),
            zero_windows: zeros.windows,
            zero_thresholds: zeros.thresholds,
        })
    }
}
