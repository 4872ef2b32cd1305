//! Names of the pipe and of recorded links.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

/// Whether packets in flight may overtake each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DelayOrder {
    /// No packet arrives before one that was sent earlier.
    #[default]
    InOrder,
    /// Each arrives when its delay has passed.
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

/// When a link stops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StopProcess {
    /// At random: it works and stops in turn, for times that are independent of each other.
    #[default]
    Random,
    /// At regular intervals.
    Periodic,
    /// As recorded in a file.
    Recorded,
}

/// The distribution of the lengths of stops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StopLengthName {
    /// Exponential.
    #[default]
    Exponential,
    /// All alike.
    Fixed,
}

/// The fate of packets while a link stops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StoppedPackets {
    /// They wait for the link, and follow each other at its rate afterwards.
    #[default]
    Wait,
    /// The link goes on sending, and packets due during the stop arrive together at its end.
    Held,
}

/// The distribution of jitter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum JitterName {
    /// From 0 to twice the mean, all alike.
    #[default]
    Uniform,
    /// Exponential.
    Exponential,
}

/// Which waiting packet is served, dropped or marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DisciplineName {
    /// A queue for each flow, served in turn, with CoDel in each (RFC 8290).
    #[default]
    FqCodel,
    /// One queue; drops at the head when packets wait too long (RFC 8289).
    Codel,
    /// One queue; drops arrivals with a probability that follows the delay (RFC 8033).
    Pie,
    /// A queue for senders that react to each mark and one for all others, coupled (RFC 9332).
    Dualpi2,
    /// A queue for each flow, fair to hosts, in tins by code point, with a shaper (Linux,
    /// sch_cake).
    Cake,
    /// One queue; each packet tells its sender to send one more or one less (ABC, NSDI 2020), if
    /// that understands it (`tcp.congestion_control`).
    Abc,
    /// One queue; drops arrivals when full.
    DropTail,
}

/// CAKE's classes of traffic, by code point (tc-cake(8)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TinsName {
    /// Background, best effort and latency-sensitive traffic.
    #[default]
    Diffserv3,
    /// Background, best effort, video, and voice.
    Diffserv4,
    /// One for all.
    Besteffort,
}

/// How many acknowledgments CAKE leaves (tc-cake(8)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AckFilterName {
    /// All.
    #[default]
    Off,
    /// One is dropped where two wait that the last one covers.
    On,
    /// Also drops an acknowledgment superseded by the one directly following it.
    Aggressive,
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
