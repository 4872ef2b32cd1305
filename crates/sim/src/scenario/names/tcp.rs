//! Names of the choices of the TCP endpoint.

use airtcp_tcp::config;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A scenario's name for each choice of a type of the TCP endpoint, converted both ways.
macro_rules! names {
    ($(#[$doc:meta])* $name:ident for $config:ty {
        $($(#[$variant_doc:meta])* $variant:ident),+ $(,)?
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name {
            $($(#[$variant_doc])* $variant),+
        }

        impl From<$name> for $config {
            fn from(name: $name) -> Self {
                match name {
                    $($name::$variant => Self::$variant),+
                }
            }
        }

        impl From<$config> for $name {
            fn from(config: $config) -> Self {
                match config {
                    $(<$config>::$variant => Self::$variant),+
                }
            }
        }
    };
}

names! {
    /// A named TCP stack.
    ProfileName for config::Profile {
        /// Fast retransmit, then slow start; no fast recovery, no SACK (Jacobson 1988).
        Tahoe,
        /// Fast recovery that ends at the first new acknowledgment (RFC 2581), no SACK.
        Reno,
        /// Fast recovery through partial acknowledgments (RFC 6582), no SACK.
        #[serde(rename = "newreno")]
        NewReno,
        /// Recovery from selective acknowledgments (RFC 2018, RFC 6675).
        Sack,
    }
}

names! {
    /// How losses are repaired.
    RecoveryName for config::Recovery {
        /// Slow start from one segment after every loss (Jacobson 1988).
        Tahoe,
        /// Fast recovery that ends at the first new acknowledgment (RFC 2581).
        Reno,
        /// Fast recovery that ends when all that was outstanding at its start is acknowledged
        /// (RFC 6582; with SACK, RFC 6675).
        #[serde(rename = "newreno")]
        NewReno,
    }
}

names! {
    /// What is resent after a timeout.
    RetransmissionName for config::Retransmission {
        /// All outstanding data, in order (Miyim §IV, "trace-N-retransmit").
        GoBackN,
        /// Only the segment whose timer expired (Miyim §IV, "select-N-repeat").
        SelectiveRepeat,
    }
}

names! {
    /// What opens the window.
    WindowGrowthName for config::WindowGrowth {
        /// The bytes that acknowledgments cover (RFC 3465), as in Linux.
        Bytes,
        /// Their number, as in ns-2 and ns-3.
        Acknowledgments,
    }
}

names! {
    /// Which round trips are measured.
    RttSamplingName for config::RttSampling {
        /// One segment a window is timed (RFC 6298 §3).
        PerWindow,
        /// Every acknowledgment that allows it gives a sample (RFC 7323 §4.1).
        PerAcknowledgment,
        /// Every acknowledgment of new data is measured by the timestamp it echoes, in its ticks.
        EchoedTimestamp,
    }
}

names! {
    /// Which mean the deviation of a round-trip sample is taken from.
    DeviationFromName for config::DeviationFrom {
        /// The mean before the sample (RFC 6298 §2.3).
        PreviousMean,
        /// The mean after the sample (Miyim eq. 2, Fotiadis & Siris eq. 2).
        UpdatedMean,
    }
}

/// How many retransmission timers a connection keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TimerName {
    /// One for each segment under selective repeat, one for the connection under go-back-N.
    #[default]
    Automatic,
    /// One (RFC 6298 §5).
    Connection,
    /// One for each outstanding segment (Miyim §IV).
    Segment,
}

impl From<TimerName> for Option<config::TimerScope> {
    fn from(name: TimerName) -> Self {
        match name {
            TimerName::Automatic => None,
            TimerName::Connection => Some(config::TimerScope::Connection),
            TimerName::Segment => Some(config::TimerScope::Segment),
        }
    }
}

impl From<Option<config::TimerScope>> for TimerName {
    fn from(scope: Option<config::TimerScope>) -> Self {
        match scope {
            None => Self::Automatic,
            Some(config::TimerScope::Connection) => Self::Connection,
            Some(config::TimerScope::Segment) => Self::Segment,
        }
    }
}
