//! One flow as a qlog, as seen by its data sender: draft-ietf-quic-qlog-main-schema-14.
//!
//! qlog was made for QUIC, which numbers packets and acknowledges those numbers. Here every segment
//! that takes sequence space gets a new packet number, retransmissions too. An acknowledgment is
//! written as the numbers of the packets that it covers for the first time; for several with the
//! same data as the number of one of them, determined by [`copies`].

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use airtcp_packet::{Flags, Segment, SequenceNumber};
use airtcp_units::{Duration, Instant};
use serde::Serialize;
use serde_json::{Value, json};

use super::copies::{Copies, Outstanding};
use super::{RecordError, create};
use crate::engine::Direction;

/// RFC 7464 §2.2: each JSON text of a sequence begins with this and ends with a line feed.
const RECORD_SEPARATOR: u8 = 0x1e;

/// draft-ietf-quic-qlog-main-schema-14 §5: the header, then one event a record.
const FILE_SCHEMA: &str = "urn:ietf:params:qlog:file:sequential";
/// §11.2 of the same draft: its serialization, with the media type named in RFC 8091.
const SERIALIZATION: &str = "application/qlog+json-seq";
/// draft-ietf-quic-qlog-quic-events-13 §2.1: until there is an RFC, a schema's name ends in the
/// number of its draft.
const EVENT_SCHEMA: &str = "urn:ietf:params:qlog:events:quic-13";

/// draft-ietf-quic-qlog-main-schema-14: messages of the application, by severity.
const LOG_SCHEMA: &str = "urn:ietf:params:qlog:events:loglevel-14";

/// The content of `quic:recovery_metrics_updated`; unchanged values may be left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    /// Congestion window in bytes.
    pub congestion_window: Option<u64>,
    /// Data neither acknowledged nor presumed lost, in bytes.
    pub bytes_in_flight: Option<u64>,
    /// Slow-start threshold in bytes.
    pub ssthresh: Option<u64>,
    /// Smoothed round-trip time.
    pub smoothed_rtt: Option<Duration>,
    /// Last round-trip sample.
    pub latest_rtt: Option<Duration>,
    /// Shortest round-trip time.
    pub min_rtt: Option<Duration>,
}

/// The reason for a retransmission: the `trigger` of `quic:packet_lost`, and of the
/// `quic:packet_sent` that repairs it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LossTrigger {
    /// Later data was acknowledged.
    #[default]
    ReorderingThreshold,
    /// The retransmission timer expired.
    PtoExpired,
    /// No loss: a tail loss probe repeats data that it does not presume lost.
    Probe,
}

/// Writes a qlog file in its JSON text sequence format (`.sqlog`).
#[derive(Debug)]
pub struct QlogWriter {
    path: PathBuf,
    writer: BufWriter<File>,
    /// Numbers of the next outgoing and of the next incoming packet.
    next_number: [u64; 2],
    copies: Copies,
    trigger: LossTrigger,
    /// Sequence number, expanded to 64 bits, near which the next one is expected.
    near: Option<u64>,
    /// Sequence number of the SYN, expanded; stream offset 0 follows it.
    origin: u64,
}

impl QlogWriter {
    /// Creates a log at `path`, replacing an old file; `title` names the run. `has_messages`: it
    /// may have those of a congestion control.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn create(path: &Path, title: &str, has_messages: bool) -> Result<Self, RecordError> {
        let mut schemas = vec![EVENT_SCHEMA];
        schemas.extend(has_messages.then_some(LOG_SCHEMA));
        let mut log = Self {
            path: path.to_path_buf(),
            writer: create(path)?,
            next_number: [0; 2],
            copies: Copies::default(),
            trigger: LossTrigger::default(),
            near: None,
            origin: 0,
        };
        log.record(&json!({
            "file_schema": FILE_SCHEMA,
            "serialization_format": SERIALIZATION,
            "title": title,
            "description": "TCP as airtcp simulated it, in the events of QUIC: each segment with \
                            data has a packet number of its own",
            "trace": {
                "vantage_point": { "name": "airtcp, data sender", "type": "client" },
                "common_fields": {
                    "time_format": "relative_to_epoch",
                    "reference_time": { "clock_type": "monotonic", "epoch": "unknown" },
                },
                "event_schemas": schemas,
            },
        }))?;
        Ok(log)
    }

    /// Adds a segment that passes the data sender's interface at `time`.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn segment(
        &mut self,
        time: Instant,
        segment: &Segment,
        direction: Direction,
    ) -> Result<(), RecordError> {
        let counter = match direction {
            Direction::Data => &mut self.next_number[0],
            Direction::Acknowledgments => &mut self.next_number[1],
        };
        let number = *counter;
        *counter += 1;
        let mut frames = Vec::new();
        let mut trigger = None;
        match direction {
            Direction::Data => {
                trigger = self.losses(time, segment)?;
                self.note_sent(number, segment, &mut frames);
            }
            Direction::Acknowledgments => {
                self.note_acknowledged(time, segment, &mut frames)?;
            }
        }
        let name = match direction {
            Direction::Data => "quic:packet_sent",
            Direction::Acknowledgments => "quic:packet_received",
        };
        let mut data = json!({
            "header": { "packet_type": "1RTT", "packet_number": number },
            "raw": { "length": segment.ip_bytes(), "payload_length": segment.payload_bytes },
            "frames": frames,
        });
        if let Some(trigger) = trigger {
            data["trigger"] = trigger.into();
        }
        self.event(time, name, &data)
    }

    /// Adds the state of the congestion controller and the estimator from `time` on.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn metrics(&mut self, time: Instant, metrics: &Metrics) -> Result<(), RecordError> {
        let mut data = serde_json::Map::new();
        let bytes = [
            ("congestion_window", metrics.congestion_window),
            ("bytes_in_flight", metrics.bytes_in_flight),
            ("ssthresh", metrics.ssthresh),
        ];
        let times = [
            ("smoothed_rtt", metrics.smoothed_rtt),
            ("latest_rtt", metrics.latest_rtt),
            ("min_rtt", metrics.min_rtt),
        ];
        data.extend(
            bytes
                .into_iter()
                .filter_map(|(key, value)| Some((key.into(), value?.into()))),
        );
        data.extend(
            times
                .into_iter()
                .filter_map(|(key, time)| Some((key.into(), time?.as_millis_f64().into()))),
        );
        self.event(time, "quic:recovery_metrics_updated", &Value::Object(data))
    }

    /// Adds a line of the congestion control's.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn message(&mut self, time: Instant, text: &str) -> Result<(), RecordError> {
        self.event(time, "loglevel:info", &json!({ "message": text }))
    }

    /// Flushes the buffer. Without it the end of the file may be missing.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(mut self) -> Result<(), RecordError> {
        self.writer
            .flush()
            .map_err(|error| RecordError::new(&self.path, error))
    }

    /// Sets the reason for retransmissions from now on.
    pub const fn loss_trigger(&mut self, trigger: LossTrigger) {
        self.trigger = trigger;
    }

    /// Adds the packets that the sender presumes lost, as it retransmits their data; returns the
    /// reason, if `segment` is a retransmission.
    fn losses(
        &mut self,
        time: Instant,
        segment: &Segment,
    ) -> Result<Option<&'static str>, RecordError> {
        let (Some(near), true) = (self.near, segment.payload_bytes > 0) else {
            return Ok(None);
        };
        let start = segment.sequence.expand(near);
        let end = start + u64::from(segment.sequence_length());
        let (trigger, retransmits) = match self.trigger {
            LossTrigger::ReorderingThreshold => ("reordering_threshold", "retransmit_reordered"),
            LossTrigger::PtoExpired => ("pto_expired", "retransmit_timeout"),
            LossTrigger::Probe => {
                self.trigger = LossTrigger::default();
                return Ok(Some("pto_probe"));
            }
        };
        let lost = self.copies.presume_lost(start..end);
        let is_retransmission = !lost.is_empty();
        for number in lost {
            self.lost(time, number, trigger)?;
        }
        Ok(is_retransmission.then_some(retransmits))
    }

    /// Remembers the sequence space of an outgoing segment, and describes its data.
    fn note_sent(&mut self, number: u64, segment: &Segment, frames: &mut Vec<Value>) {
        let length = u64::from(segment.sequence_length());
        if length == 0 {
            return;
        }
        let start = match self.near {
            Some(near) => segment.sequence.expand(near),
            None => {
                // One cycle up, so that earlier numbers can still be expanded.
                self.origin = u64::from(segment.sequence.0) + (1 << 32);
                self.origin
            }
        };
        self.near = Some(start);
        self.copies.on_sent(Outstanding {
            number,
            start,
            end: start + length,
            stamp: segment
                .timestamps
                .map(|stamps| SequenceNumber(stamps.value)),
            is_lost: false,
        });
        if segment.payload_bytes > 0 {
            // The SYN takes the first number of the stream.
            let offset = start.saturating_sub(self.origin + 1);
            frames.push(json!({
                "frame_type": "stream", "stream_id": 0,
                "offset": offset, "raw": { "length": segment.payload_bytes },
            }));
        }
    }

    /// Describes the packets acknowledged by an incoming segment: packet numbers, in ranges. A
    /// packet with data that arrived only by a later one is lost, if that was not known.
    fn note_acknowledged(
        &mut self,
        time: Instant,
        segment: &Segment,
        frames: &mut Vec<Value>,
    ) -> Result<(), RecordError> {
        let (Some(near), true) = (self.near, segment.flags.contains(Flags::ACK)) else {
            return Ok(());
        };
        let cumulative = segment.acknowledgment.expand(near);
        let blocks: Vec<_> = segment
            .tail
            .blocks()
            .iter()
            .map(|block| block.start.expand(near)..block.end.expand(near))
            .collect();
        let echo = segment.timestamps.map(|stamps| SequenceNumber(stamps.echo));
        let arrived = self.copies.on_acknowledgment(cumulative, &blocks, echo);
        for number in arrived.missed {
            self.lost(time, number, "reordering_threshold")?;
        }
        let mut ranges: Vec<Vec<u64>> = Vec::new();
        for number in arrived.acknowledged {
            // A range of one packet is written as a single number.
            match ranges.last_mut() {
                Some(range) if range.last().is_some_and(|last| last + 1 == number) => {
                    range.truncate(1);
                    range.push(number);
                }
                _ => ranges.push(vec![number]),
            }
        }
        if !ranges.is_empty() {
            frames.push(json!({ "frame_type": "ack", "acked_ranges": ranges }));
        }
        Ok(())
    }

    /// Adds a packet that the sender presumes lost.
    fn lost(&mut self, time: Instant, number: u64, trigger: &str) -> Result<(), RecordError> {
        let data = json!({
            "header": { "packet_type": "1RTT", "packet_number": number },
            "trigger": trigger,
        });
        self.event(time, "quic:packet_lost", &data)
    }

    fn event(&mut self, time: Instant, name: &str, data: &Value) -> Result<(), RecordError> {
        #[derive(Serialize)]
        struct Event<'a> {
            time: f64,
            name: &'a str,
            data: &'a Value,
        }
        // Milliseconds.
        self.record(&Event {
            time: time.as_nanos() as f64 / 1e6,
            name,
            data,
        })
    }

    fn record(&mut self, record: &impl Serialize) -> Result<(), RecordError> {
        let Self { path, writer, .. } = self;
        let mut write = || {
            writer.write_all(&[RECORD_SEPARATOR])?;
            serde_json::to_writer(&mut *writer, record)?;
            writer.write_all(b"\n")
        };
        write().map_err(|error| RecordError::new(path, error))
    }
}
