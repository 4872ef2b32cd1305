//! All pings of a run, in columns: when each was sent, arrived and was answered, or where it was
//! lost.

use std::sync::Arc;

use airtcp_units::Instant;
use arrow_array::builder::{Float64Builder, StringBuilder, UInt32Builder, UInt64Builder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema};

use crate::engine::PingEvent;

/// One ping.
#[derive(Clone, Copy, Debug)]
struct Ping {
    sent: Instant,
    arrived: Option<Instant>,
    answered: Option<Instant>,
    /// The lost packet: the request or its answer.
    lost: Option<&'static str>,
}

/// A table of pings: `sent_s`, `flow`, `number`, `arrived_s`, `answered_s`, `lost`. A ping without
/// an answer at the end of the run need not be lost.
#[derive(Default)]
pub struct PingTable {
    /// Each flow's pings in the order of sending: their times are all different, and so name them.
    flows: Vec<Vec<Ping>>,
}

impl PingTable {
    /// Records an event of the ping that `flow` sent at `sent`.
    pub fn push(&mut self, now: Instant, flow: u32, sent: Instant, event: PingEvent) {
        let index = flow as usize;
        if self.flows.len() <= index {
            self.flows.resize_with(index + 1, Vec::new);
        }
        let pings = &mut self.flows[index];
        if event == PingEvent::Sent {
            return pings.push(Ping {
                sent,
                arrived: None,
                answered: None,
                lost: None,
            });
        }
        let Ok(place) = pings.binary_search_by_key(&sent, |ping| ping.sent) else {
            return;
        };
        let ping = &mut pings[place];
        match event {
            PingEvent::Sent => {}
            PingEvent::Arrived => ping.arrived = Some(now),
            PingEvent::Answered => ping.answered = Some(now),
            PingEvent::RequestLost => ping.lost = Some("request"),
            PingEvent::AnswerLost => ping.lost = Some("answer"),
        }
    }

    /// Returns the pings as an Arrow table, flow by flow; the log is empty afterwards.
    ///
    /// # Errors
    /// None that the columns can cause; Arrow checks their lengths and types.
    pub fn finish(&mut self) -> Result<RecordBatch, ArrowError> {
        let (mut sent_s, mut flows) = (Float64Builder::new(), UInt32Builder::new());
        let mut numbers = UInt64Builder::new();
        let (mut arrived_s, mut answered_s) = (Float64Builder::new(), Float64Builder::new());
        let mut lost = StringBuilder::new();
        for (pings, flow) in std::mem::take(&mut self.flows).iter().zip(0..) {
            for (ping, number) in pings.iter().zip(0..) {
                sent_s.append_value(ping.sent.as_secs_f64());
                flows.append_value(flow);
                numbers.append_value(number);
                arrived_s.append_option(ping.arrived.map(Instant::as_secs_f64));
                answered_s.append_option(ping.answered.map(Instant::as_secs_f64));
                lost.append_option(ping.lost);
            }
        }
        let schema = Schema::new(vec![
            Field::new("sent_s", DataType::Float64, false),
            Field::new("flow", DataType::UInt32, false),
            Field::new("number", DataType::UInt64, false),
            Field::new("arrived_s", DataType::Float64, true),
            Field::new("answered_s", DataType::Float64, true),
            Field::new("lost", DataType::Utf8, true),
        ]);
        let arrays: Vec<ArrayRef> = vec![
            Arc::new(sent_s.finish()),
            Arc::new(flows.finish()),
            Arc::new(numbers.finish()),
            Arc::new(arrived_s.finish()),
            Arc::new(answered_s.finish()),
            Arc::new(lost.finish()),
        ];
        RecordBatch::try_new(Arc::new(schema), arrays)
    }
}
