//! Events of a connection, in columns.

use std::fmt;
use std::sync::Arc;

use airtcp_units::Instant;
use arrow_array::builder::{Float64Builder, StringBuilder, UInt32Builder, UInt64Builder};
use arrow_array::types::UInt8Type;
use arrow_array::{ArrayRef, DictionaryArray, RecordBatch, StringArray, UInt8Array};
use arrow_schema::{ArrowError, DataType, Field, Schema};

/// A kind of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventKind {
    /// The retransmission timer expired.
    Timeout,
    /// It expired although an acknowledgment was to come.
    SpuriousTimeout,
    /// Duplicate acknowledgments caused a retransmission.
    FastRetransmit,
    /// The losses of a recovery are repaired.
    RecoveryExit,
    /// A segment found the link's queue full.
    QueueDrop,
    /// The link lost a segment.
    LinkLoss,
    /// The sender found a recovery needless and took it back.
    RecoveryTakenBack,
    /// The sender judged a loss to be the radio's.
    JudgedRadio,
    /// The sender judged a loss to be congestion's.
    JudgedCongestion,
    /// A tail loss probe was sent.
    TailProbe,
    /// The connection is established.
    Established,
    /// The connection is closed.
    Closed,
}

impl EventKind {
    /// All kinds, in the order of the event column's codes.
    pub const ALL: [Self; 12] = [
        Self::Timeout,
        Self::SpuriousTimeout,
        Self::FastRetransmit,
        Self::RecoveryExit,
        Self::QueueDrop,
        Self::LinkLoss,
        Self::RecoveryTakenBack,
        Self::JudgedRadio,
        Self::JudgedCongestion,
        Self::TailProbe,
        Self::Established,
        Self::Closed,
    ];

    /// The name in the column `event`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::SpuriousTimeout => "spurious-timeout",
            Self::FastRetransmit => "fast-retransmit",
            Self::RecoveryExit => "recovery-exit",
            Self::QueueDrop => "queue-drop",
            Self::LinkLoss => "link-loss",
            Self::RecoveryTakenBack => "recovery-taken-back",
            Self::JudgedRadio => "judged-radio",
            Self::JudgedCongestion => "judged-congestion",
            Self::TailProbe => "tail-probe",
            Self::Established => "established",
            Self::Closed => "closed",
        }
    }

    /// One-line description.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Timeout => "the retransmission timer expired",
            Self::SpuriousTimeout => {
                "it expired although an acknowledgment was to come without the retransmission"
            }
            Self::FastRetransmit => "duplicate acknowledgments caused a retransmission",
            Self::RecoveryExit => "the losses of a recovery are repaired",
            Self::QueueDrop => "a segment found the link's queue full",
            Self::LinkLoss => "the link lost a segment",
            Self::RecoveryTakenBack => "the sender found a recovery needless and took it back",
            Self::JudgedRadio => "the sender judged a loss to be the radio's",
            Self::JudgedCongestion => "the sender judged a loss to be congestion's",
            Self::TailProbe => "a probe of a silent tail was sent",
            Self::Established => "the connection is established",
            Self::Closed => "the connection is closed",
        }
    }
}

/// A table of events: time, flow, event, stream offset, detail.
#[derive(Debug, Default)]
pub struct EventLog {
    time_s: Float64Builder,
    flow: UInt32Builder,
    event: Vec<u8>,
    offset: UInt64Builder,
    detail: StringBuilder,
}

impl EventLog {
    /// Creates an empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an event of `flow`. `offset` is the position in the byte stream concerned, and `detail`
    /// any other information.
    pub fn push(
        &mut self,
        time: Instant,
        flow: u32,
        event: EventKind,
        offset: Option<u64>,
        detail: Option<fmt::Arguments<'_>>,
    ) {
        self.time_s.append_value(time.as_secs_f64());
        self.flow.append_value(flow);
        // The position in ALL, which is the order of declaration.
        self.event.push(event as u8);
        self.offset.append_option(offset);
        self.detail
            .append_option(detail.map(|detail| detail.to_string()));
    }

    /// Number of events.
    pub fn len(&self) -> usize {
        self.event.len()
    }

    /// Whether the table is empty.
    pub fn is_empty(&self) -> bool {
        self.event.is_empty()
    }

    /// Returns the events so far as an Arrow table; the log is empty afterwards.
    ///
    /// # Errors
    /// None that the columns can cause; Arrow checks their lengths and types.
    pub fn finish(&mut self) -> Result<RecordBatch, ArrowError> {
        let codes = UInt8Array::from(std::mem::take(&mut self.event));
        let names = StringArray::from_iter_values(EventKind::ALL.map(EventKind::name));
        let event = DictionaryArray::<UInt8Type>::try_new(codes, Arc::new(names))?;
        let names_type = DataType::Dictionary(Box::new(DataType::UInt8), Box::new(DataType::Utf8));
        let schema = Schema::new(vec![
            Field::new("time_s", DataType::Float64, false),
            Field::new("flow", DataType::UInt32, false),
            Field::new("event", names_type, false),
            Field::new("offset", DataType::UInt64, true),
            Field::new("detail", DataType::Utf8, true),
        ]);
        let arrays: Vec<ArrayRef> = vec![
            Arc::new(self.time_s.finish()),
            Arc::new(self.flow.finish()),
            Arc::new(event),
            Arc::new(self.offset.finish()),
            Arc::new(self.detail.finish()),
        ];
        RecordBatch::try_new(Arc::new(schema), arrays)
    }
}
