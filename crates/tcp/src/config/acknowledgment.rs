//! The choices of what acknowledgments do besides acknowledging.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
#[cfg(feature = "schema")]
use serde::{Deserialize, Serialize};

/// Which partial acknowledgments restart the retransmission timer in a fast recovery without SACK
/// (RFC 6582 §4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum PartialAckTimer {
    /// The first one alone, so that many losses in a window end in a timeout (RFC 6582 §3.2 step
    /// 3).
    #[default]
    Impatient,
    /// Each of them, so that every loss is repaired, one a round trip (Linux).
    SlowButSteady,
}

/// What an acknowledgment counts towards growth of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum GrowthCredit {
    /// The bytes that the cumulative acknowledgment newly covers (RFC 3465).
    #[default]
    Acknowledged,
    /// The bytes newly delivered, by reports too, and once losses were looked for; reports alone
    /// let it grow where reordering is known (Linux, `tcp_cong_control`, `tcp_may_raise_cwnd`).
    Delivered,
}

/// What restarts the retransmission timer outside a partial acknowledgment's rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum TimerRestart {
    /// New data acknowledged (RFC 6298 §5.3).
    #[default]
    NewData,
    /// That, the retransmission of the first outstanding segment, and reports of what was sent
    /// before that segment last was (Linux, `tcp_xmit_retransmit_queue`, `tcp_clean_rtx_queue`).
    Front,
}

/// Whether a segment reported for the first time gives a round-trip sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum ReportedRtt {
    /// No: only what is cumulatively acknowledged does (RFC 6298 §3).
    #[default]
    Ignored,
    /// Yes, where the cumulative acknowledgment gives none (Linux, `tcp_ack_update_rtt`).
    Sampled,
}

/// Which round trips say what a loss was of, where a classifier or Veno's backlog goes by them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum JudgedRtt {
    /// The samples of the retransmission timer. With delayed acknowledgments most of them hold the
    /// time until a second segment came, and those that tell of a loss do not.
    #[default]
    Timed,
    /// That of the last segment that an acknowledgment covers or reports for the first time, if it
    /// was sent but once: what Linux hands to its congestion controls (`tcp_clean_rtx_queue`,
    /// `ca_rtt_us`).
    Newest,
}

/// What is made of the reports in an acknowledgment older than one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum LateReports {
    /// Nothing (RFC 9293 §3.10.7.4: a duplicate acknowledgment "can be ignored").
    #[default]
    Ignored,
    /// They are taken like any (Linux, `old_ack` in `tcp_ack`).
    Taken,
}

/// When a receiver is taken to have dropped what it had reported (RFC 2018 §8), if it asks for the
/// first segment it reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum Reneging {
    /// When the retransmission timer expires.
    #[default]
    AtTimeout,
    /// After half a round trip, 10 ms at least (Linux, `tcp_check_sack_reneging`).
    HalfRoundTrip,
}

/// What becomes of the data on its way when a window that was shut opens again while the
/// retransmission timer runs, by an acknowledgment of nothing new. If the timer has run out, and
/// probes have gone in its place, it is retransmitted in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum WindowReopening {
    /// It is retransmitted at once (4.4BSD, `tcp_output`), if nothing was heard of it for two round
    /// trips: what is younger may still be answered.
    #[default]
    Resend,
    /// It waits for the timer (Linux).
    AwaitTimer,
}
