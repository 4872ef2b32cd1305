//! Writing down what a run tells: events in columns, segments in a capture, both in a qlog.

use airtcp_packet::Segment;
use airtcp_tcp::Event;
use airtcp_units::Instant;
use arrow_array::RecordBatch;

use super::{EventLog, Observe, RunError};
use crate::engine::{Direction, FlowEvent, Watch};
use crate::result::EventKind;

/// Watches a run and writes down what was asked for.
pub(super) struct Recorder {
    log: Option<EventLog>,
}

impl Recorder {
    pub(super) fn create(observe: &Observe) -> Result<Self, RunError> {
        Ok(Self { log: observe.events.then(EventLog::new) })
    }

    /// Whether there is anything to write down: a run that nobody watches pays nothing.
    pub(super) const fn is_active(&self) -> bool {
        self.log.is_some()
    }

    pub(super) fn finish(self) -> Result<RecordBatch, RunError> {
        Ok(self.log.unwrap_or_default().finish()?)
    }
}

impl Watch for Recorder {
    fn event(&mut self, now: Instant, flow: u32, event: FlowEvent) {
        if let Some(log) = &mut self.log {
            log_event(log, now, flow, event);
        }
    }

    fn segment(&mut self, _now: Instant, _flow: u32, _direction: Direction, _segment: &Segment) {}
}

fn log_event(log: &mut EventLog, now: Instant, flow: u32, event: FlowEvent) {
    let mut push = |time, kind, offset| log.push(time, flow, kind, offset, None);
    match event {
        FlowEvent::Sender(Event::Timeout { offset, transmissions, rto }) => log.push(
            now,
            flow,
            EventKind::Timeout,
            Some(offset),
            Some(format_args!("after {rto}, sent {transmissions} times")),
        ),
        // It stands at the time of the timeout; that it was spurious may be known only later.
        FlowEvent::TimeoutSpurious { offset, expired_at } => {
            push(expired_at, EventKind::SpuriousTimeout, Some(offset));
        }
        FlowEvent::Sender(Event::FastRetransmit { offset }) => {
            push(now, EventKind::FastRetransmit, Some(offset));
        }
        FlowEvent::Sender(Event::RecoveryExit) => push(now, EventKind::RecoveryExit, None),
        FlowEvent::Sender(Event::Established) => push(now, EventKind::Established, None),
        FlowEvent::Sender(Event::Closed | Event::Reset) => push(now, EventKind::Closed, None),
        FlowEvent::QueueDrop { direction: Direction::Data, offset } => {
            push(now, EventKind::QueueDrop, Some(offset));
        }
        FlowEvent::LinkLoss { direction: Direction::Data, offset } => {
            push(now, EventKind::LinkLoss, Some(offset));
        }
        // Not losses of this flow's data, or told by the samples.
        FlowEvent::QueueDrop { .. }
        | FlowEvent::LinkLoss { .. }
        | FlowEvent::Completed
        | FlowEvent::Sender(
            Event::TimeoutJudgedSpurious
            | Event::RttSample { .. }
            | Event::DuplicateReported { .. }
            | Event::WindowProbe,
        ) => {}
    }
}
