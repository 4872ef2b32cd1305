//! Events between the endpoints, in columns: transmissions on a medium, and the actions of agents
//! at an access point.

use std::sync::Arc;

use airtcp_link::agent::AgentEvent;
use airtcp_link::frame::{Fate, FrameKind, Occupancy};
use airtcp_units::{Duration, Instant};
use arrow_array::builder::{
    BooleanBuilder, Float64Builder, StringDictionaryBuilder, UInt16Builder, UInt32Builder,
};
use arrow_array::types::UInt8Type;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::ArrowError;

/// A table of frames: `medium`, `station` (0 is the access point), `start_s`, `end_s`, `frame`
/// ("data", "ack", "rts", "cts", "block-ack", "block-ack-request"), `flow`, `attempt` (from 1),
/// `fate` ("received", "collided", "damaged"; of an aggregate, damaged if all of it is), `mpdus` in
/// the frame (more than 1 in an aggregate), and `damaged`, the number of them that did not arrive.
#[derive(Default)]
pub struct FrameLog {
    medium: UInt16Builder,
    station: UInt32Builder,
    start_s: Float64Builder,
    end_s: Float64Builder,
    frame: StringDictionaryBuilder<UInt8Type>,
    flow: UInt32Builder,
    attempt: UInt32Builder,
    fate: StringDictionaryBuilder<UInt8Type>,
    mpdus: UInt32Builder,
    damaged: UInt32Builder,
}

impl FrameLog {
    /// Adds a frame.
    pub fn push(&mut self, medium: u16, occupancy: &Occupancy) {
        self.medium.append_value(medium);
        self.station.append_value(occupancy.station);
        self.start_s.append_value(occupancy.start.as_secs_f64());
        self.end_s.append_value(occupancy.end.as_secs_f64());
        self.frame.append_value(match occupancy.frame {
            FrameKind::Data => "data",
            FrameKind::Ack => "ack",
            FrameKind::Rts => "rts",
            FrameKind::Cts => "cts",
            FrameKind::BlockAck => "block-ack",
            FrameKind::BlockAckRequest => "block-ack-request",
        });
        self.flow.append_value(occupancy.flow);
        self.attempt.append_value(occupancy.attempt);
        self.fate.append_value(match occupancy.fate {
            Fate::Received => "received",
            Fate::Collided => "collided",
            Fate::Damaged => "damaged",
        });
        self.mpdus.append_value(occupancy.mpdus);
        self.damaged.append_value(occupancy.damaged);
    }

    /// Returns the frames so far as an Arrow table; the log is empty afterwards.
    ///
    /// # Errors
    /// None that the columns can cause; Arrow checks their lengths.
    pub fn finish(&mut self) -> Result<RecordBatch, ArrowError> {
        let columns: [(&str, ArrayRef); 10] = [
            ("medium", Arc::new(self.medium.finish())),
            ("station", Arc::new(self.station.finish())),
            ("start_s", Arc::new(self.start_s.finish())),
            ("end_s", Arc::new(self.end_s.finish())),
            ("frame", Arc::new(self.frame.finish())),
            ("flow", Arc::new(self.flow.finish())),
            ("attempt", Arc::new(self.attempt.finish())),
            ("fate", Arc::new(self.fate.finish())),
            ("mpdus", Arc::new(self.mpdus.finish())),
            ("damaged", Arc::new(self.damaged.finish())),
        ];
        RecordBatch::try_from_iter(columns)
    }
}

/// A table of agents' actions: `time_s`, `flow`, `event` ("ack-judged", "local-retransmission",
/// "local-timeout", "ack-suppressed",
/// "data-dropped", "notified"), and for acknowledgments that a delay injector
/// judged (Fotiadis & Siris §III-B) `path_delay_ms`, `threshold_ms`, `delay_ms` (D, its value
/// afterwards), `held_ms` and `spike`; null for all others.
#[derive(Default)]
pub struct AgentLog {
    time_s: Float64Builder,
    flow: UInt32Builder,
    event: StringDictionaryBuilder<UInt8Type>,
    path_delay_ms: Float64Builder,
    threshold_ms: Float64Builder,
    delay_ms: Float64Builder,
    held_ms: Float64Builder,
    spike: BooleanBuilder,
}

impl AgentLog {
    /// Adds an agent's action on `flow`.
    pub fn push(&mut self, now: Instant, flow: u32, event: AgentEvent) {
        self.time_s.append_value(now.as_secs_f64());
        self.flow.append_value(flow);
        let times = match event {
            AgentEvent::AckJudged {
                path_delay,
                threshold,
                delay,
                held,
                spike,
            } => {
                self.event.append_value("ack-judged");
                self.spike.append_value(spike);
                [path_delay, threshold, delay, held].map(Some)
            }
            AgentEvent::LocalRetransmission { timeout } => {
                let name = if timeout {
                    "local-timeout"
                } else {
                    "local-retransmission"
                };
                self.other(name)
            }
            AgentEvent::AckSuppressed => self.other("ack-suppressed"),
            AgentEvent::DataDropped => self.other("data-dropped"),
            AgentEvent::Notified => self.other("notified"),
        };
        let columns = [
            &mut self.path_delay_ms,
            &mut self.threshold_ms,
            &mut self.delay_ms,
            &mut self.held_ms,
        ];
        for (column, time) in columns.into_iter().zip(times) {
            column.append_option(time.map(Duration::as_millis_f64));
        }
    }

    fn other(&mut self, name: &str) -> [Option<Duration>; 4] {
        self.event.append_value(name);
        self.spike.append_null();
        [None; 4]
    }

    /// Returns the events so far as an Arrow table; the log is empty afterwards.
    ///
    /// # Errors
    /// None that the columns can cause; Arrow checks their lengths.
    pub fn finish(&mut self) -> Result<RecordBatch, ArrowError> {
        let columns: [(&str, ArrayRef, bool); 8] = [
            ("time_s", Arc::new(self.time_s.finish()), false),
            ("flow", Arc::new(self.flow.finish()), false),
            ("event", Arc::new(self.event.finish()), false),
            ("path_delay_ms", Arc::new(self.path_delay_ms.finish()), true),
            ("threshold_ms", Arc::new(self.threshold_ms.finish()), true),
            ("delay_ms", Arc::new(self.delay_ms.finish()), true),
            ("held_ms", Arc::new(self.held_ms.finish()), true),
            ("spike", Arc::new(self.spike.finish()), true),
        ];
        RecordBatch::try_from_iter_with_nullable(columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_and_agents_become_columns() {
        let mut frames = FrameLog::default();
        let mut agents = AgentLog::default();
        frames.push(
            1,
            &Occupancy {
                station: 2,
                start: Instant::from_nanos(500_000_000),
                end: Instant::from_nanos(501_000_000),
                frame: FrameKind::Rts,
                flow: 3,
                attempt: 4,
                fate: Fate::Collided,
                mpdus: 1,
                damaged: 1,
            },
        );
        let now = Instant::from_nanos(1_000_000);
        agents.push(now, 0, AgentEvent::Notified);
        agents.push(
            now,
            0,
            AgentEvent::AckJudged {
                path_delay: Duration::from_millis(30),
                threshold: Duration::from_millis(20),
                delay: Duration::from_millis(10),
                held: Duration::ZERO,
                spike: true,
            },
        );
        let (frames, agents) = (frames.finish().unwrap(), agents.finish().unwrap());
        assert_eq!((frames.num_rows(), frames.num_columns()), (1, 10));
        assert_eq!((agents.num_rows(), agents.num_columns()), (2, 8));
        assert_eq!(agents.column(3).null_count(), 1);
        assert_eq!(agents.column(7).null_count(), 1);
    }
}
