//! Names of the pipe and of recorded links.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How losses are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LossModel {
    /// Each packet on its own, with probability `rate`.
    #[default]
    Iid,
    /// Of every `of` packets the last `lost`.
    Block,
    /// Two states, good and bad, each with its own loss.
    GilbertElliott,
    /// Each bit on its own, with probability `rate`: long packets are lost more often.
    BitError,
}

/// Which direction of the link loses packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LossDirection {
    /// The one that data takes.
    #[default]
    Data,
    /// The one that acknowledgments take.
    Acks,
    /// Both, independently.
    Both,
}

/// Which of a recorded link's two files carries the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TraceDirection {
    /// `down`, towards the mobile.
    #[default]
    Down,
    /// `up`, from the mobile.
    Up,
}

/// Whether packets under way with recorded round-trip times may overtake each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DelayOrder {
    /// No packet arrives before one that was sent earlier.
    #[default]
    InOrder,
    /// Each arrives when its own delay has passed.
    Reorder,
}

/// The distribution of round-trip times that are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RttShapeName {
    /// Log-normal.
    #[default]
    LogNormal,
    /// A base delay, and now and then a spike.
    Spikes,
}

/// Where in a recording a run begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LogStart {
    /// At its first round trip, whatever the seed.
    #[default]
    Beginning,
    /// At one that the seed chooses.
    Random,
}
