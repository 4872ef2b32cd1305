//! Choices in which stacks differ where an RFC leaves them open or is not followed.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
#[cfg(feature = "schema")]
use serde::{Deserialize, Serialize};

#[cfg(feature = "schema")]
use super::schema::FewSegments;
use super::settings::settings;

settings! {
    /// Where stacks differ and an RFC leaves the choice open, or is not followed.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    table QuirksTable of QuirksConfig {}

    /// Where stacks differ and an RFC leaves the choice open, or is not followed. A profile sets
    /// them as its stack has them.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct QuirksConfig {
        /// Drops segments without timestamps once both sides have agreed on them (RFC 7323 §3.2).
        /// Linux takes them, unchecked (`tcp_validate_incoming`).
        timestamps_required: bool = true;
        /// The meaning of a duplicate acknowledgment; only without `sack`.
        duplicate_counting: DuplicateCounting = DuplicateCounting::Inflation;
        /// Limit on how far one acknowledgment opens slow start while data given up by a timeout is
        /// repaired, in segments: data acknowledged then may have been sent before the timeout (RFC
        /// 3465 §2.3: 1; Linux has no such limit).
        slow_start_limit_after_timeout: u32 = 1, as FewSegments;
        /// The amount an acknowledgment counts towards growth of the window.
        growth_credit: GrowthCredit = GrowthCredit::Acknowledged;
        /// The partial acknowledgments that restart the retransmission timer (RFC 6582 §3.2); only
        /// without `sack`.
        partial_ack_timer: PartialAckTimer = PartialAckTimer::Impatient;
        /// The events that restart the retransmission timer.
        timer_restart: TimerRestart = TimerRestart::NewData;
        /// Whether a segment reported for the first time gives a round-trip sample; only with
        /// `sack`.
        reported_rtt: ReportedRtt = ReportedRtt::Ignored;
        /// The round trips by which a loss is classified; only with remedies that classify.
        judged_rtt: JudgedRtt = JudgedRtt::Timed;
        /// The treatment of SACK blocks in an acknowledgment older than an earlier one; only with
        /// `sack`.
        late_reports: LateReports = LateReports::Ignored;
        /// The interpretation of a reported duplicate.
        duplicate_reports: DuplicateReports = DuplicateReports::Told;
        /// The point at which a receiver is taken to have dropped data it had reported (RFC 2018
        /// §8); only with `sack`.
        reneging: Reneging = Reneging::AtTimeout;
        /// The segments that set PSH.
        push: Push = Push::Written;
        /// The treatment of a burst of new segments shorter than segmentation offload would send.
        short_trains: ShortTrains = ShortTrains::Sent;
        /// The segment that ends a handshake.
        handshake_ack: HandshakeAck = HandshakeAck::WithData;
        /// The timeout and the window after a SYN that was sent more than once.
        repeated_syn: RepeatedSyn = RepeatedSyn::Lost;
        /// The treatment of data in flight when a closed window reopens.
        window_reopening: WindowReopening = WindowReopening::Resend;
    }
}

/// The meaning of a duplicate acknowledgment without SACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum DuplicateCounting {
    /// In fast recovery it inflates the window by one segment; before that, the first two each
    /// allow one new segment (RFC 6582 §3.2, RFC 3042).
    #[default]
    Inflation,
    /// A segment that has arrived and is no longer in flight, as if it had been SACKed, until it is
    /// acknowledged (Linux, `tcp_add_reno_sack`).
    Arrivals,
}

/// The meaning of a reported duplicate (RFC 2883) besides the sign of a needless recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum DuplicateReports {
    /// The copy of a tail loss probe if it is one segment that ends with the probe (RFC 8985
    /// §7.4.2); another one widens RACK's reordering window only where reordering was seen (Linux
    /// since 5.15).
    #[default]
    Told,
    /// Any is the copy of a probe that is unanswered, and widens the window (RFC 8985 §6.2 step 4;
    /// Linux up to 5.14).
    #[cfg_attr(feature = "schema", serde(rename = "all-5.10"))]
    All,
}

/// The partial acknowledgments that restart the retransmission timer in a fast recovery without
/// SACK (RFC 6582 §3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum PartialAckTimer {
    /// The first one only, so that many losses in one window end in a timeout (RFC 6582 §3.2 step
    /// 3).
    #[default]
    Impatient,
    /// Each of them, so that every loss is repaired, one per round trip (Linux).
    SlowButSteady,
}

/// The amount an acknowledgment counts towards growth of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum GrowthCredit {
    /// The bytes that the cumulative acknowledgment newly covers (RFC 3465).
    #[default]
    Acknowledged,
    /// The bytes newly delivered, SACKed ones included, after loss detection; SACKs without a
    /// cumulative advance let the window grow where reordering is known (Linux, `tcp_cong_control`,
    /// `tcp_may_raise_cwnd`).
    Delivered,
}

/// The events that restart the retransmission timer, partial acknowledgments apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum TimerRestart {
    /// New data acknowledged (RFC 6298 §5.3).
    #[default]
    NewData,
    /// The same, the retransmission of the first outstanding segment, and SACKs of data sent before
    /// that segment was last sent (Linux, `tcp_xmit_retransmit_queue`, `tcp_clean_rtx_queue`).
    Front,
}

/// Whether a segment reported for the first time gives a round-trip sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum ReportedRtt {
    /// No: only cumulatively acknowledged segments do (RFC 6298 §3).
    #[default]
    Ignored,
    /// Yes, if the cumulative acknowledgment gives no sample (Linux, `tcp_ack_update_rtt`).
    Sampled,
}

/// The round trips by which a classifier, or Veno's backlog, judges a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum JudgedRtt {
    /// The samples of the retransmission timer. With delayed acknowledgments most of them include
    /// the wait for a second segment, unlike the ones that reveal a loss.
    #[default]
    Timed,
    /// That of the last segment that an acknowledgment covers or SACKs for the first time, if it
    /// was sent only once: the value Linux hands to its congestion controls (`tcp_clean_rtx_queue`,
    /// `ca_rtt_us`).
    Newest,
}

/// The treatment of SACK blocks in an acknowledgment older than an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum LateReports {
    /// Ignored (RFC 9293 §3.10.7.4: a duplicate acknowledgment "can be ignored").
    #[default]
    Ignored,
    /// Processed like any other (Linux, `old_ack` in `tcp_ack`).
    Taken,
}

/// The point at which a receiver is taken to have dropped data it had reported (RFC 2018 §8), if it
/// asks for the first segment it reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum Reneging {
    /// When the retransmission timer expires.
    #[default]
    AtTimeout,
    /// After half a round trip, at least 10 ms (Linux, `tcp_check_sack_reneging`).
    HalfRoundTrip,
}

/// The segments that set PSH (RFC 9293 §3.9.1.2): they ask the receiver to deliver its data to the
/// application, and a Linux receiver to acknowledge it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum Push {
    /// Segments that end with the last byte written.
    #[default]
    Written,
    /// Also the last of each train of two segments or more that one instant lets leave, as the
    /// kernel hands them to segmentation offload (Linux, `__tcp_transmit_skb`).
    Trains,
}

/// The treatment of a burst of new segments shorter than segmentation offload would send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum ShortTrains {
    /// It is sent as soon as the windows allow.
    #[default]
    Sent,
    /// It waits for the next acknowledgment, so that more segments can leave with it, if data was
    /// sent within the last millisecond and that acknowledgment is due within the next one (Linux,
    /// `tcp_tso_should_defer`).
    Deferred,
}

/// The segment that ends a handshake, at the end that began it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum HandshakeAck {
    /// The first with data, if there is any (RFC 9293 §3.5 allows both).
    #[default]
    WithData,
    /// A pure acknowledgment, which a kernel sends before `connect` returns, so that a program can
    /// only write after it (Linux, `tcp_rcv_synsent_state_process`). It can take the place of data
    /// in a small queue.
    Alone,
}

/// The timeout and the window after a SYN that was sent more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum RepeatedSyn {
    /// A timeout of 3 s and a window of one segment: the SYN counts as lost, and gives no round
    /// trip (RFC 6298 §5.7, RFC 5681 §3.1).
    #[default]
    Lost,
    /// Derived from the timestamp that the answer echoes: the round trip of the answered SYN, and
    /// whether that was the first, so that nothing was lost. The window is one segment only after
    /// two necessary retransmissions, one of them by the timer; a SYN-ACK is also retransmitted to
    /// answer a repeated SYN. Without timestamps there is no sample, and the timeout is 3 s (Linux,
    /// `tcp_ack_update_rtt`, `tcp_try_undo_spurious_syn`, `tcp_create_openreq_child`,
    /// `tcp_init_transfer`, `tcp_init_metrics`).
    ByEcho,
}

/// The treatment of data in flight when a closed window reopens while the retransmission timer
/// runs, by an acknowledgment of nothing new. If the timer has expired and window probes have taken
/// its place, the data is retransmitted in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum WindowReopening {
    /// It is retransmitted at once (4.4BSD, `tcp_output`), if it has been silent for two round
    /// trips: younger data may still be acknowledged.
    #[default]
    Resend,
    /// It waits for the timer (Linux).
    AwaitTimer,
}
