//! Choices about losses: detection, retransmission, and undo.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
#[cfg(feature = "schema")]
use serde::{Deserialize, Serialize};

/// The rule by which the sender presumes a segment lost before its timer expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum LossDetection {
    /// Duplicate acknowledgments; with SACK, enough data SACKed above it (RFC 5681 §3.2, RFC 6675
    /// §4).
    #[default]
    DuplicateAcks,
    /// The distance to the highest byte SACKed: every hole below it is a segment that has left the
    /// network (FACK: Mathis & Mahdavi, SIGCOMM 1996). Only with SACK.
    ForwardAcknowledgment,
    /// Time: a segment sent later has arrived, and a reordering window has passed since
    /// (RACK, RFC 8985). Only with SACK.
    Rack,
    /// A segment sent later has arrived, and either `duplicate_ack_threshold` segments were sent
    /// since, or it was sent 9/8 of a round trip ago (QUIC, RFC 9002 §6.1). Only with SACK.
    Quic,
}

impl LossDetection {
    /// Whether it follows the order and the times of transmissions.
    #[must_use]
    pub const fn is_by_time(self) -> bool {
        matches!(self, Self::Rack | Self::Quic)
    }
}

/// How the sender repairs losses once it knows of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum Recovery {
    /// Slow start from one segment after every loss (Jacobson 1988).
    Tahoe,
    /// Fast recovery that ends at the first new acknowledgment (RFC 2581).
    Reno,
    /// Fast recovery that ends when all data outstanding at its start is acknowledged (RFC 6582).
    #[default]
    #[cfg_attr(feature = "schema", serde(rename = "newreno"))]
    NewReno,
    /// The same repair, but the window grows again, and may be reduced again, from the first
    /// acknowledgment of a segment sent since the last reduction on (QUIC, RFC 9002 §7.3.2). Only
    /// where losses are found by time.
    RecoveryPeriod,
}

/// The data to retransmit after a retransmission timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum Retransmission {
    /// All outstanding data, in order from the expired segment, as the window opens.
    /// Miyim §IV calls it "trace-N-retransmit".
    #[default]
    GoBackN,
    /// Only the segment for which the timer expired. Miyim §IV calls it "select-N-repeat".
    SelectiveRepeat,
    /// Two probes, of new data if there is any: nothing is presumed lost and the window stays
    /// (QUIC's probe timeout, RFC 9002 §6.2), unless three timeouts' worth of transmissions in a
    /// row turn out to be lost (persistent congestion, §7.6). Only where losses are found by time.
    Probe,
}

/// The sender's response to a spurious loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum SpuriousResponse {
    /// Nothing.
    #[default]
    None,
    /// Window and threshold return to their earlier values (Linux's undo; RFC 9438 §4.9).
    Restore,
    /// The Eifel response after a spurious timeout: sending resumes with new data, the threshold is
    /// restored, the window reopens to it, and the RTO becomes more conservative (RFC 4015 §3).
    Eifel,
}
