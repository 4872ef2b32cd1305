//! The choices about losses: how they are found, what is resent, what is taken back.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
#[cfg(feature = "schema")]
use serde::{Deserialize, Serialize};

/// What makes the sender believe a segment lost before its timer does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum LossDetection {
    /// Duplicate acknowledgments; with SACK, enough data reported above it (RFC 5681 §3.2,
    /// RFC 6675 §4).
    #[default]
    DuplicateAcks,
    /// The distance to the highest byte reported: every hole below is a segment that left the
    /// network (FACK: Mathis & Mahdavi, SIGCOMM 1996). Only with SACK.
    ForwardAcknowledgment,
    /// Time: a segment sent later has arrived, and a reordering window has passed since
    /// (RACK, RFC 8985). Only with SACK.
    Rack,
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
}

/// What to resend after a retransmission timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum Retransmission {
    /// All outstanding data, in order from the expired segment, as the window opens.
    /// Miyim §IV calls it "trace-N-retransmit".
    #[default]
    GoBackN,
    /// Only the segment whose timer expired. Miyim §IV calls it "select-N-repeat".
    SelectiveRepeat,
}

/// What the sender does about a loss that turns out not to have been one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum SpuriousResponse {
    /// Nothing.
    #[default]
    None,
    /// Window and threshold go back to what they were before (Linux's undo; RFC 9438 §4.9).
    Restore,
    /// The Eifel response after a spurious timeout: sending resumes with new data, the threshold
    /// goes back, the window reopens to it, the timer becomes more patient (RFC 4015 §3).
    Eifel,
}
