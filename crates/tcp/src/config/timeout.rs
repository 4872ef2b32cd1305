//! Choices about the retransmission timeout.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
#[cfg(feature = "schema")]
use serde::{Deserialize, Serialize};

#[cfg(feature = "schema")]
use super::schema::Written;

/// The estimator that turns round trips into a timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum RttEstimation {
    /// A smoothed mean and a smoothed mean deviation (RFC 6298 §2).
    #[default]
    Rfc6298,
    /// RFC 6298's in whole ticks of the granularity, the mean in eighths of a tick and the
    /// deviation in quarters, as in 4.3BSD and ns-2 (Jacobson 1988, appendix A).
    Ticks,
    /// Linux's: the deviation term is the largest mean deviation of a round trip's worth of
    /// samples, never below the minimum RTO, and shrinks once a round trip
    /// (`tcp_rtt_estimator`; Sarolahti & Kuznetsov, "Congestion control in Linux TCP", USENIX
    /// 2002, §4.1).
    Linux,
}

/// Number of retransmission timers that a connection keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum TimerScope {
    /// One, restarted by every acknowledgment of new data (RFC 6298 §5).
    #[default]
    Connection,
    /// One for each outstanding segment, set when the segment is sent (Miyim §IV).
    Segment,
}

/// The round trips that are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum RttSampling {
    /// One segment a window is timed (RFC 6298 §3 without timestamps).
    PerWindow,
    /// Every eligible acknowledgment gives a sample (RFC 7323 §4.1 with timestamps).
    #[default]
    PerAcknowledgment,
    /// As `PerAcknowledgment` where both sides send timestamps, else as `PerWindow` (RFC 6298 §3
    /// and RFC 7323 §4.1 to the letter; ns-2).
    ByTimestamps,
    /// Every acknowledgment of new data gives a sample from the timestamp it echoes (RFC 7323 §4.1,
    /// RTTM to the letter), in ticks of the timestamp clock: a network element that alters the echo
    /// shows. Without timestamps as `PerWindow`.
    EchoedTimestamp,
}

/// The mean from which the deviation of a new round-trip sample is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum DeviationFrom {
    /// The mean before the sample (RFC 6298 §2.3).
    #[default]
    PreviousMean,
    /// The mean after the sample (Miyim eq. 2, Fotiadis & Siris eq. 2).
    UpdatedMean,
}

/// A [`TimerScope`], or the retransmission policy's choice, as a scenario names it.
#[cfg(feature = "schema")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TimerName {
    /// One for each segment under selective repeat, one for the connection under go-back-N.
    Automatic,
    /// One (RFC 6298 §5).
    Connection,
    /// One for each outstanding segment (Miyim §IV).
    Segment,
}

#[cfg(feature = "schema")]
impl Written<Option<TimerScope>> for TimerName {
    fn of(setting: &Option<TimerScope>) -> Self {
        match setting {
            None => Self::Automatic,
            Some(TimerScope::Connection) => Self::Connection,
            Some(TimerScope::Segment) => Self::Segment,
        }
    }

    fn setting(&self, _: &Option<TimerScope>) -> Option<TimerScope> {
        match self {
            Self::Automatic => None,
            Self::Connection => Some(TimerScope::Connection),
            Self::Segment => Some(TimerScope::Segment),
        }
    }
}
