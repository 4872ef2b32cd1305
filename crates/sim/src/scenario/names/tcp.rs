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
        /// NewReno with the defaults of ns-2.35.
        #[serde(rename = "ns2-newreno")]
        Ns2NewReno,
        /// Linux 2.4: SACK, FACK, rate halving, undo.
        #[serde(rename = "linux-2.4")]
        Linux24,
        /// Linux 6 as it comes: CUBIC, RACK-TLP, PRR, F-RTO, undo.
        Linux,
        /// Linux 6 with Reno as congestion control.
        LinuxReno,
        /// Linux 6 with BBR version 1.
        LinuxBbr,
    }
}

names! {
    /// How slow start ends before a loss ends it.
    SlowStartName for config::SlowStart {
        /// At the threshold only (RFC 5681).
        Standard,
        /// When acknowledgment trains or round trips grow long (Ha & Rhee 2011, as in Linux).
        #[serde(rename = "hystart")]
        HyStart,
        /// Through a phase of slower growth (RFC 9406).
        #[serde(rename = "hystart++")]
        HyStartPlusPlus,
    }
}

names! {
    /// What makes a segment believed lost.
    LossDetectionName for config::LossDetection {
        /// Duplicate acknowledgments, or enough data reported above it (RFC 5681, RFC 6675).
        DuplicateAcks,
        /// Its distance to the highest byte reported (FACK); needs SACK.
        ForwardAcknowledgment,
        /// The time since a later segment was delivered (RACK, RFC 8985); needs SACK.
        Rack,
    }
}

names! {
    /// How the window gets to where a loss puts it.
    ReductionName for config::Reduction {
        /// At once.
        AtOnce,
        /// One segment for two acknowledged (Linux 2.4).
        RateHalving,
        /// In proportion to what is delivered (PRR, RFC 6937).
        Proportional,
    }
}

names! {
    /// What a reduction of the window is taken from.
    ReductionBaseName for config::ReductionBase {
        /// The bytes in flight (RFC 5681).
        FlightSize,
        /// The congestion window (Linux, ns-2).
        Window,
    }
}

names! {
    /// When a window counts as used, so that it may grow.
    WindowValidationName for config::WindowValidation {
        /// What was in flight when the acknowledgment came filled it.
        InFlight,
        /// It held the sender back in the last round trip (Linux).
        LastRound,
        /// Always (RFC 5681, ns-2).
        Always,
    }
}

names! {
    /// What is done about a recovery that was needless.
    SpuriousResponseName for config::SpuriousResponse {
        /// Nothing.
        None,
        /// The windows go back to what they were (Linux).
        Restore,
        /// The Eifel response (RFC 4015).
        Eifel,
    }
}

names! {
    /// Which estimator turns round trips into a timeout.
    RttEstimationName for config::RttEstimation {
        /// Smoothed mean and mean deviation (RFC 6298).
        #[serde(rename = "rfc6298")]
        Rfc6298,
        /// The same in whole ticks of `rto_granularity` (4.3BSD, ns-2).
        Ticks,
        /// Linux's.
        Linux,
    }
}

/// How large the congestion window is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CongestionControlName {
    /// Additive increase, halved at a loss (RFC 5681).
    Reno,
    /// A cubic function of the time since the last loss (RFC 9438).
    Cubic,
    /// A loss leaves what the bandwidth estimate fills (Westwood+).
    Westwood,
    /// A loss without backlog costs a fifth (Veno).
    Veno,
    /// The window that the available bandwidth estimate allows (TCP-Jersey).
    Jersey,
    /// A model of bandwidth and round trip, paced (BBR version 1).
    Bbr,
    /// BBR version 3.
    BbrV3,
}

/// Backlog in segments from which on Veno takes a loss for congestion (Fu & Liew §II: 3).
const VENO_BETA: f64 = 3.0;

impl From<CongestionControlName> for config::CongestionControl {
    fn from(name: CongestionControlName) -> Self {
        match name {
            CongestionControlName::Reno => Self::Reno,
            CongestionControlName::Cubic => Self::Cubic,
            CongestionControlName::Westwood => Self::Westwood,
            CongestionControlName::Veno => Self::Veno { beta: VENO_BETA },
            CongestionControlName::Jersey => Self::Jersey,
            CongestionControlName::Bbr => Self::Bbr,
            CongestionControlName::BbrV3 => Self::BbrV3,
        }
    }
}

impl From<config::CongestionControl> for CongestionControlName {
    fn from(control: config::CongestionControl) -> Self {
        match control {
            config::CongestionControl::Reno => Self::Reno,
            config::CongestionControl::Cubic => Self::Cubic,
            config::CongestionControl::Westwood => Self::Westwood,
            config::CongestionControl::Veno { .. } => Self::Veno,
            config::CongestionControl::Jersey => Self::Jersey,
            config::CongestionControl::Bbr => Self::Bbr,
            config::CongestionControl::BbrV3 => Self::BbrV3,
        }
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
    /// What an acknowledgment counts towards growth of the window.
    GrowthCreditName for config::GrowthCredit {
        /// The bytes that the cumulative acknowledgment newly covers (RFC 3465).
        Acknowledged,
        /// The bytes newly delivered, by reports too, once losses were looked for (Linux).
        Delivered,
    }
}

names! {
    /// Which partial acknowledgments restart the retransmission timer.
    PartialAckTimerName for config::PartialAckTimer {
        /// The first alone (RFC 6582 §3.2 step 3).
        Impatient,
        /// Each (RFC 6582 §4; Linux).
        SlowButSteady,
    }
}

names! {
    /// What restarts the retransmission timer.
    TimerRestartName for config::TimerRestart {
        /// New data acknowledged (RFC 6298 §5.3).
        NewData,
        /// That, the retransmission of the first outstanding segment, and reports of what was sent
        /// before it last was (Linux).
        Front,
    }
}

names! {
    /// Whether a segment reported for the first time gives a round-trip sample.
    ReportedRttName for config::ReportedRtt {
        /// No (RFC 6298 §3).
        Ignored,
        /// Yes, where the cumulative acknowledgment gives none (Linux).
        Sampled,
    }
}

names! {
    /// What is made of the reports in an acknowledgment older than one before it.
    LateReportsName for config::LateReports {
        /// Nothing (RFC 9293 §3.10.7.4).
        Ignored,
        /// They are taken like any (Linux).
        Taken,
    }
}

names! {
    /// When a receiver that asks for what it had reported is taken to have dropped it.
    RenegingName for config::Reneging {
        /// When the retransmission timer expires (RFC 2018 §8).
        AtTimeout,
        /// After half a round trip, 10 ms at least (Linux).
        HalfRoundTrip,
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
