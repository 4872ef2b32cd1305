//! Kinds of facts about a link that a file may hold.

use std::fmt;

/// A kind of fact about a link that a recording may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fact {
    /// Which way data went.
    Direction,
    /// The rate of the link itself.
    Rate,
    /// A rate that got through, which the link may exceed.
    LowerBound,
    /// The delay without load.
    IdleDelay,
    /// The delay under load.
    LoadedDelay,
    /// Delays of each way.
    OneWayDelays,
    /// Round trips of probes.
    RoundTrips,
    /// When each probe was sent, by the file itself or by numbers and an interval.
    SendingTimes,
    /// Probes without an answer.
    UnansweredProbes,
    /// A share of lost packets.
    Losses,
    /// Times without service.
    Outages,
    /// How much may wait.
    Queue,
    /// How delays are distributed.
    Spread,
    /// When it was recorded.
    Date,
}

impl Fact {
    /// All of them, in the order in which documents name them.
    pub const ALL: [Self; 14] = [
        Self::Direction,
        Self::Rate,
        Self::LowerBound,
        Self::IdleDelay,
        Self::LoadedDelay,
        Self::OneWayDelays,
        Self::RoundTrips,
        Self::SendingTimes,
        Self::UnansweredProbes,
        Self::Losses,
        Self::Outages,
        Self::Queue,
        Self::Spread,
        Self::Date,
    ];
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Direction => "direction",
            Self::Rate => "rate of the link",
            Self::LowerBound => "rate that got through",
            Self::IdleDelay => "delay without load",
            Self::LoadedDelay => "delay under load",
            Self::OneWayDelays => "one-way delays",
            Self::RoundTrips => "round trips",
            Self::SendingTimes => "times of sending",
            Self::UnansweredProbes => "unanswered probes",
            Self::Losses => "share of losses",
            Self::Outages => "outages",
            Self::Queue => "queue",
            Self::Spread => "distribution of delays",
            Self::Date => "date",
        })
    }
}
