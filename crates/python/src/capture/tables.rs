//! Arrow tables. Times are nanoseconds since the capture's first packet, bytes of the stream count
//! from the first byte of data, and packets have Wireshark's numbers.

use std::sync::Arc;

use airtcp_capture::{Analysis, Survey};
use airtcp_units::{Duration, Instant};
use arrow_array::builder::{
    BooleanBuilder, Float64Builder, Int64Builder, StringBuilder, UInt32Builder, UInt64Builder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::ArrowError;

/// Builds the columns one after the other, from all rows.
pub(super) struct Columns<'a, Row> {
    rows: &'a [Row],
    columns: Vec<(&'static str, ArrayRef)>,
}

macro_rules! column {
    ($name:ident, $builder:ident, $value:ty) => {
        pub(super) fn $name(
            mut self,
            name: &'static str,
            value: impl Fn(&Row) -> Option<$value>,
        ) -> Self {
            let mut builder = $builder::new();
            for row in self.rows {
                builder.append_option(value(row));
            }
            self.columns.push((name, Arc::new(builder.finish())));
            self
        }
    };
}

impl<'a, Row> Columns<'a, Row> {
    pub(super) fn of(rows: &'a [Row]) -> Self {
        Self {
            rows,
            columns: Vec::new(),
        }
    }

    column!(signed, Int64Builder, i64);
    column!(long, UInt64Builder, u64);
    column!(short, UInt32Builder, u32);
    column!(real, Float64Builder, f64);
    column!(truth, BooleanBuilder, bool);
    column!(text, StringBuilder, String);
    column!(word, StringBuilder, &'static str);

    pub(super) fn finish(self) -> Result<RecordBatch, ArrowError> {
        RecordBatch::try_from_iter_with_nullable(
            self.columns
                .into_iter()
                .map(|(name, array)| (name, array, true)),
        )
    }
}

fn nanos(time: Instant) -> Option<i64> {
    (time != Instant::FAR_FUTURE)
        .then(|| i64::try_from(time.as_nanos()).ok())
        .flatten()
}

fn span(duration: Duration) -> Option<i64> {
    i64::try_from(duration.as_nanos()).ok()
}

/// One row per flow, by decreasing payload: `number`, `client`, `server`, `start_s`, `duration_s`,
/// `bytes`, `packets`, `goodput_bps`, `rtt_ms` (of the handshake), `retransmitted` (packets below
/// the highest byte), `duplicates_reported`, `data_from` ("client" or "server"), `verdict`.
pub(super) fn flows(survey: &Survey) -> Result<RecordBatch, ArrowError> {
    let rows = survey.by_size();
    Columns::of(&rows)
        .short("number", |flow| Some(flow.number))
        .text("client", |flow| Some(flow.client.to_string()))
        .text("server", |flow| Some(flow.server.to_string()))
        .real("start_s", |flow| Some(flow.first.as_secs_f64()))
        .real("duration_s", |flow| Some(flow.length().as_secs_f64()))
        .long("bytes", |flow| Some(flow.bytes()))
        .long("packets", |flow| {
            Some(flow.halves[0].packets + flow.halves[1].packets)
        })
        .real("goodput_bps", |flow| Some(flow.goodput_bps()))
        .real("rtt_ms", |flow| {
            flow.handshake().map(Duration::as_millis_f64)
        })
        .long("retransmitted", |flow| Some(flow.data().repeats))
        .long("duplicates_reported", |flow| {
            Some(flow.acks().duplicates_reported)
        })
        .word("data_from", |flow| {
            Some(["client", "server"][flow.data_way().index()])
        })
        .text("verdict", |flow| Some(flow.verdict().to_string()))
        .finish()
}

/// One row per transmission of data, in the order of the capture: `time_ns`, `packet`, `index`
/// (among all packets of its direction), `start`, `end`, `attempt` (0 is the first), `lost`,
/// `acked_ns`, `rtt_ns` (a valid sample), `in_flight` (bytes just after it), `size` (the IP
/// packet), `marked` (by congestion), `radio_retry`, `timestamp` (TSval), `full_queue` (it met one,
/// or an empty bucket: a loss is not attributed to the radio), `loss` (its cause).
pub(super) fn segments(analysis: &Analysis) -> Result<RecordBatch, ArrowError> {
    Columns::of(&analysis.sent)
        .signed("time_ns", |sent| nanos(sent.time))
        .long("packet", |sent| Some(sent.number))
        .short("index", |sent| Some(sent.index))
        .long("start", |sent| Some(sent.start))
        .long("end", |sent| Some(sent.end))
        .short("attempt", |sent| Some(sent.attempt))
        .truth("lost", |sent| Some(sent.is_lost))
        .signed("acked_ns", |sent| nanos(sent.acknowledged))
        .signed("rtt_ns", |sent| sent.rtt().and_then(span))
        .short("in_flight", |sent| Some(sent.in_flight))
        .short("size", |sent| Some(sent.ip_bytes))
        .truth("marked", |sent| Some(sent.is_marked))
        .truth("radio_retry", |sent| Some(sent.radio_retry))
        .short("timestamp", |sent| sent.timestamp)
        .truth("full_queue", |sent| Some(sent.meets_full_queue))
        .word("loss", |sent| Some(sent.lost_to?.name()))
        .finish()
}

/// One row per acknowledgment: `time_ns`, `packet`, `ack`, `delivered` (bytes acknowledged or
/// SACKed so far), `newly`, `payload` (of the ACK packet), `window` (bytes, null if its scale is
/// not known), `sacked_high`, `in_flight`, `duplicate`, `dsack`, `echo` (of a congestion mark),
/// `timestamp` (TSval), `timestamp_echo` (TSecr).
pub(super) fn acks(analysis: &Analysis) -> Result<RecordBatch, ArrowError> {
    Columns::of(&analysis.acks)
        .signed("time_ns", |ack| nanos(ack.time))
        .long("packet", |ack| Some(ack.number))
        .long("ack", |ack| Some(ack.acknowledged))
        .long("delivered", |ack| Some(ack.delivered))
        .short("newly", |ack| Some(ack.newly))
        .short("payload", |ack| Some(ack.payload))
        .long("window", |ack| ack.window)
        .long("sacked_high", |ack| ack.sacked_high)
        .short("in_flight", |ack| Some(ack.in_flight))
        .truth("duplicate", |ack| Some(ack.is_duplicate))
        .truth("dsack", |ack| Some(ack.has_dsack))
        .truth("echo", |ack| Some(ack.has_echo))
        .short("timestamp", |ack| ack.timestamp)
        .short("timestamp_echo", |ack| ack.timestamp_echo)
        .finish()
}

/// One row per retransmission: `time_ns`, `packet`, `original_packet`, `start`, `end`, `attempt`,
/// `trigger`, `backoff`, `timeout_ns` (as reconstructed), `verdict`, `sureness`, `evidence`,
/// `cause`, `loss` (radio, tail-drop, not-shown: cause of the previous transmission's loss,
/// whatever `cause` is), `queue_bytes` (that it met), `late_ns` and `reordering_bytes` (of needless
/// ones), `upstream`, `radio_retry`.
pub(super) fn labels(analysis: &Analysis) -> Result<RecordBatch, ArrowError> {
    Columns::of(&analysis.labels)
        .signed("time_ns", |label| nanos(label.time))
        .long("packet", |label| Some(label.number))
        .long("original_packet", |label| label.original)
        .long("start", |label| Some(label.start))
        .long("end", |label| Some(label.end))
        .short("attempt", |label| Some(label.attempt))
        .word("trigger", |label| Some(label.trigger.name()))
        .short("backoff", |label| Some(label.backoff))
        .signed("timeout_ns", |label| span(label.timeout))
        .word("verdict", |label| Some(label.need.name()))
        .word("sureness", |label| Some(label.evidence.sureness()))
        .word("evidence", |label| Some(label.evidence.name()))
        .word("cause", |label| Some(label.cause.name()))
        .word("loss", |label| Some(label.loss?.name()))
        .long("queue_bytes", |label| label.queue_bytes)
        .signed("late_ns", |label| label.late_by.and_then(span))
        .long("reordering_bytes", |label| {
            (label.overtaken_by > 0).then_some(label.overtaken_by)
        })
        .truth("upstream", |label| Some(label.is_upstream))
        .truth("radio_retry", |label| Some(label.radio_retry))
        .finish()
}

/// One row per bin of the queue length: `queue_bytes_low`, `queue_bytes_high`, `transmissions`,
/// `lost`.
pub(super) fn hazard(analysis: &Analysis) -> Result<RecordBatch, ArrowError> {
    Columns::of(&analysis.hazard.bins)
        .long("queue_bytes_low", |bin| Some(bin.low))
        .long("queue_bytes_high", |bin| Some(bin.high))
        .long("transmissions", |bin| Some(bin.transmissions))
        .long("lost", |bin| Some(bin.lost))
        .finish()
}

/// One row per stop of the link: `start_ns`, `end_ns`, `at_once` (held data came all at once).
pub(super) fn stops(analysis: &Analysis) -> Result<RecordBatch, ArrowError> {
    Columns::of(&analysis.stops)
        .signed("start_ns", |stop| nanos(stop.start))
        .signed("end_ns", |stop| nanos(stop.end))
        .truth("at_once", |stop| Some(stop.at_once))
        .finish()
}

/// One row per packet overtaken upstream of the capture and not retransmitted: `time_ns`, `packet`,
/// `late_ns`, `packets` (that overtook it).
pub(super) fn overtaken(analysis: &Analysis) -> Result<RecordBatch, ArrowError> {
    Columns::of(&analysis.overtaken)
        .signed("time_ns", |packet| nanos(packet.time))
        .long("packet", |packet| Some(packet.number))
        .signed("late_ns", |packet| span(packet.late_by))
        .short("packets", |packet| Some(packet.packets))
        .finish()
}
