//! The choices about the congestion window, but for the rule that moves it:
//! [`CongestionControl`](crate::congestion::CongestionControl).

#[cfg(feature = "schema")]
use schemars::JsonSchema;
#[cfg(feature = "schema")]
use serde::{Deserialize, Serialize};

/// How slow start ends before a loss ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum SlowStart {
    /// At the threshold only (RFC 5681 §3.1).
    #[default]
    Standard,
    /// When acknowledgment trains or round trips grow long, at once (HyStart, Ha & Rhee, Computer
    /// Networks 55(9), 2011, as Linux has it).
    #[cfg_attr(feature = "schema", serde(rename = "hystart"))]
    HyStart,
    /// When round trips grow, through a phase of slower growth that may be left again (HyStart++,
    /// RFC 9406).
    #[cfg_attr(feature = "schema", serde(rename = "hystart++"))]
    HyStartPlusPlus,
}

/// What a reduction of the window is taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum ReductionBase {
    /// The bytes in flight (RFC 5681 §3.1, eq. 4).
    #[default]
    FlightSize,
    /// The congestion window, as Linux and ns-2 do; safe where an unused window does not grow.
    Window,
}

/// How the window gets from where it was to where a loss puts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum Reduction {
    /// At once: nothing is sent until enough has left the network.
    #[default]
    AtOnce,
    /// One segment for two acknowledged, until it is there (Linux 2.4; Mathis, Semke & Mahdavi,
    /// "The rate-halving algorithm", 1999).
    RateHalving,
    /// In proportion to what is delivered, so that it is there when the recovery ends (PRR,
    /// RFC 6937; its successor's rule for when to bound by segments, RFC 9937).
    Proportional,
}

/// What a duplicate acknowledgment stands for without SACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum DuplicateCounting {
    /// In fast recovery it inflates the window by a segment, and the first two before it allow one
    /// each (RFC 6582 §3.2, RFC 3042).
    #[default]
    Inflation,
    /// A segment that has arrived and is no longer in flight, as if it had been reported, until it
    /// is acknowledged (Linux, `tcp_add_reno_sack`).
    Arrivals,
}

/// What room a receiver offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum ReceiveWindow {
    /// The whole receive buffer from the start.
    #[default]
    Fixed,
    /// 64 KiB at first, then twice what is read in a round trip and more while that grows, up to
    /// the receive buffer (Linux, `tcp_rcv_space_adjust`). Each segment is acknowledged while it
    /// grows.
    Autotuned,
}

/// When a window counts as used, so that it may grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum WindowValidation {
    /// What was in flight when the acknowledgment came filled it (RFC 7661 §4.1).
    #[default]
    InFlight,
    /// It held the sender back in the last round trip; in slow start half of it in flight will do
    /// (Linux, `tcp_is_cwnd_limited`).
    LastRound,
    /// Always (RFC 5681; ns-2).
    Always,
}

/// What opens the window: the bytes an acknowledgment covers, or its arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum WindowGrowth {
    /// Bytes acknowledged (RFC 3465), as Linux does.
    #[default]
    Bytes,
    /// One segment's worth for each acknowledgment whatever it covers, as ns-2 and ns-3 do.
    Acknowledgments,
}
