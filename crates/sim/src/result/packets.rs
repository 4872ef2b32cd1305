//! The segments at the host that sends the data, in columns.

use std::sync::Arc;

use airtcp_packet::{Flags, Segment};
use airtcp_units::Instant;
use arrow_array::builder::{
    BooleanBuilder, Float64Builder, StringBuilder, UInt32Builder, UInt64Builder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema};

use crate::engine::Direction;

/// The start of a flow's stream in 64-bit sequence space, and the end of the data sent.
#[derive(Clone, Copy, Debug, Default)]
struct Stream {
    /// Number of the SYN; offset 0 follows it.
    origin: Option<u64>,
    /// End of the data sent for the first time.
    sent: u64,
}

/// A table of segments: `time_s`, `flow`, `is_data`, `offset`, `bytes`, `is_retransmission`,
/// `acknowledges`, `sack`, `flags`. Offsets count bytes of the stream from 0.
#[derive(Default)]
pub struct PacketLog {
    streams: Vec<Stream>,
    time_s: Float64Builder,
    flow: UInt32Builder,
    is_data: BooleanBuilder,
    offset: UInt64Builder,
    bytes: UInt32Builder,
    is_retransmission: BooleanBuilder,
    acknowledges: UInt64Builder,
    sack: StringBuilder,
    flags: StringBuilder,
}

impl PacketLog {
    /// Adds a segment of `flow` as it leaves or reaches the host that sends the data.
    pub fn push(&mut self, now: Instant, flow: u32, direction: Direction, segment: &Segment) {
        let index = flow as usize;
        if self.streams.len() <= index {
            self.streams.resize(index + 1, Stream::default());
        }
        self.time_s.append_value(now.as_secs_f64());
        self.flow.append_value(flow);
        self.is_data.append_value(direction == Direction::Data);
        self.bytes.append_value(segment.payload_bytes);
        self.flags.append_value(format!("{:?}", segment.flags));
        match direction {
            Direction::Data => self.push_data(index, segment),
            Direction::Acknowledgments => self.push_acknowledgment(index, segment),
        }
    }

    fn push_data(&mut self, flow: usize, segment: &Segment) {
        let stream = &mut self.streams[flow];
        // One cycle up, so that earlier numbers can still be expanded.
        let first = u64::from(segment.sequence.0) + (1 << 32);
        let origin = *stream.origin.get_or_insert(first);
        let start = segment.sequence.expand(stream.sent.max(origin));
        let end = start + u64::from(segment.sequence_length());
        let is_repeated = end > start && start < stream.sent;
        stream.sent = stream.sent.max(end);
        self.offset
            .append_value(start.saturating_sub(origin.saturating_add(1)));
        self.is_retransmission.append_value(is_repeated);
        self.acknowledges.append_null();
        self.sack.append_null();
    }

    fn push_acknowledgment(&mut self, flow: usize, segment: &Segment) {
        let Stream { origin, sent } = self.streams[flow];
        self.offset.append_null();
        self.is_retransmission.append_value(false);
        let Some(origin) = origin.filter(|_| segment.flags.contains(Flags::ACK)) else {
            self.acknowledges.append_null();
            self.sack.append_null();
            return;
        };
        let offset = |sequence: airtcp_packet::SequenceNumber| {
            sequence.expand(sent).saturating_sub(origin + 1)
        };
        self.acknowledges
            .append_value(offset(segment.acknowledgment));
        if segment.tail.blocks().is_empty() {
            self.sack.append_null();
        } else {
            let blocks: Vec<String> = segment
                .tail
                .blocks()
                .iter()
                .map(|block| format!("{}-{}", offset(block.start), offset(block.end)))
                .collect();
            self.sack.append_value(blocks.join(" "));
        }
    }

    /// Returns the segments so far as an Arrow table; the rows are removed, the streams continue.
    ///
    /// # Errors
    /// None that the columns can cause; Arrow checks their lengths and types.
    pub fn finish(&mut self) -> Result<RecordBatch, ArrowError> {
        let schema = Schema::new(vec![
            Field::new("time_s", DataType::Float64, false),
            Field::new("flow", DataType::UInt32, false),
            Field::new("is_data", DataType::Boolean, false),
            Field::new("offset", DataType::UInt64, true),
            Field::new("bytes", DataType::UInt32, false),
            Field::new("is_retransmission", DataType::Boolean, false),
            Field::new("acknowledges", DataType::UInt64, true),
            Field::new("sack", DataType::Utf8, true),
            Field::new("flags", DataType::Utf8, false),
        ]);
        let arrays: Vec<ArrayRef> = vec![
            Arc::new(self.time_s.finish()),
            Arc::new(self.flow.finish()),
            Arc::new(self.is_data.finish()),
            Arc::new(self.offset.finish()),
            Arc::new(self.bytes.finish()),
            Arc::new(self.is_retransmission.finish()),
            Arc::new(self.acknowledges.finish()),
            Arc::new(self.sack.finish()),
            Arc::new(self.flags.finish()),
        ];
        RecordBatch::try_new(Arc::new(schema), arrays)
    }
}
