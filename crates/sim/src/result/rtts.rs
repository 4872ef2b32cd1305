//! All round-trip samples of senders, in columns: a recorded link for other scenarios.

use std::sync::Arc;

use airtcp_units::{Duration, Instant};
use arrow_array::builder::{Float64Builder, UInt32Builder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::ArrowError;

/// A table of round-trip times: `time_s`, `flow`, `rtt_ms`. As CSV it can be read by
/// `link.rtt_log.path`.
#[derive(Default)]
pub struct RttTable {
    time_s: Float64Builder,
    flow: UInt32Builder,
    rtt_ms: Float64Builder,
}

impl RttTable {
    /// Adds a round-trip sample of `flow`'s sender.
    pub fn push(&mut self, now: Instant, flow: u32, rtt: Duration) {
        self.time_s.append_value(now.as_secs_f64());
        self.flow.append_value(flow);
        self.rtt_ms.append_value(rtt.as_millis_f64());
    }

    /// Returns the round trips so far as an Arrow table; the log is empty afterwards.
    ///
    /// # Errors
    /// None that the columns can cause; Arrow checks their lengths.
    pub fn finish(&mut self) -> Result<RecordBatch, ArrowError> {
        let columns: [(&str, ArrayRef); 3] = [
            ("time_s", Arc::new(self.time_s.finish())),
            ("flow", Arc::new(self.flow.finish())),
            ("rtt_ms", Arc::new(self.rtt_ms.finish())),
        ];
        RecordBatch::try_from_iter(columns)
    }
}
