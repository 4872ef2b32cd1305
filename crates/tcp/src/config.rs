//! Every choice an endpoint makes, in one place, and the named profiles: each a short table of
//! choices over the same parts.

mod acknowledgment;
mod congestion;
mod limits;
mod profile;
mod timeout;

use airtcp_units::Duration;

pub use acknowledgment::{
    GrowthCredit, LateReports, PartialAckTimer, Reneging, ReportedRtt, TimerRestart,
};
pub use congestion::{CongestionControl, Reduction, ReductionBase, SlowStart, WindowValidation};
pub use limits::LimitsConfig;
pub use profile::Profile;
pub use timeout::{DeviationFrom, RttEstimation, RttSampling, TimeoutConfig, TimerScope};

use crate::loss_differentiation::Differentiation;

/// How the sender repairs losses once it knows of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Recovery {
    /// Slow start from one segment after every loss (Jacobson 1988).
    Tahoe,
    /// Fast recovery that ends at the first new acknowledgment (RFC 2581).
    Reno,
    /// Fast recovery that ends when all data outstanding at its start is acknowledged (RFC 6582).
    #[default]
    NewReno,
}

/// What makes the sender believe a segment lost before its timer does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
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

/// What the sender does about a loss that turns out not to have been one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SpuriousResponse {
    /// Nothing.
    #[default]
    None,
    /// Window and threshold go back to what they were before (Linux's undo; RFC 9438 §4.9).
    Restore,
    /// The Eifel response after a spurious timeout: sending resumes with new data, the threshold
    /// goes back, the window opens anew to it, the timer becomes more patient (RFC 4015 §3).
    Eifel,
}

/// How the sender finds out that a retransmission was needless. Acting on it is
/// [`SpuriousResponse`]'s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SpuriousDetection {
    /// The first acknowledgment echoes a timestamp older than the retransmission
    /// (Eifel detection, RFC 3522 §3). Needs timestamps.
    pub eifel: bool,
    /// After a timeout new data is tried first, and acknowledgments of what was not sent again
    /// show that nothing was lost (F-RTO, RFC 5682).
    pub frto: bool,
    /// Every retransmission was reported as a duplicate (RFC 3708 §2). Needs DSACK.
    pub dsack: bool,
}

/// What WSC-TCP makes of the link's own reports (Srinivasan §3); nothing without a link that
/// reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct LinkFeedbackConfig {
    /// Round trips are corrected by so much for each time the link sent the segment again
    /// (§3.1, `LL_RTO`).
    pub corrected_rtt: Option<Duration>,
    /// The duplicate-ACK threshold grows while the link still retransmits an earlier segment
    /// (§3.2).
    pub dynamic_threshold: bool,
    /// Round trips are grouped, and groups apart by about so much are link retransmissions
    /// (§3.4).
    pub rtt_clusters: Option<Duration>,
}

/// What to resend after a retransmission timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Retransmission {
    /// All outstanding data, in order from the expired segment, as the window opens.
    /// Miyim §IV calls it "trace-N-retransmit".
    #[default]
    GoBackN,
    /// Only the segment whose timer expired. Miyim §IV calls it "select-N-repeat".
    SelectiveRepeat,
}

/// What opens the window: the bytes an acknowledgment covers, or its arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum WindowGrowth {
    /// Bytes acknowledged (RFC 3465), as Linux does.
    #[default]
    Bytes,
    /// One segment's worth for each acknowledgment whatever it covers, as ns-2 and ns-3 do.
    Acknowledgments,
}

/// When the receiver acknowledges (RFC 1122 §4.2.3.2, RFC 5681 §4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayedAckConfig {
    /// Full-sized segments until an acknowledgment must go out: 1 acknowledges each, 2 is the RFC's.
    pub segments: u32,
    /// The longest an acknowledgment waits.
    pub timeout: Duration,
    /// So many segments at the start, and after a pause or a gap, are each acknowledged at once
    /// (Linux's "quick acknowledgments"; RFC 5681 §4.2 allows it).
    pub quick: u32,
}

impl Default for DelayedAckConfig {
    fn default() -> Self {
        Self {
            segments: 2,
            timeout: Duration::from_millis(40),
            quick: 0,
        }
    }
}

/// Every choice of one endpoint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Payload of a full-sized segment in bytes, options not counted. The MSS option on the wire
    /// is this plus the bytes that timestamps take (RFC 6691).
    pub mss: u32,
    /// Initial window in segments (RFC 6928: 10).
    pub initial_window: u32,
    /// Slow-start threshold at the start, in bytes; `None` is unbounded.
    pub initial_ssthresh: Option<u64>,
    /// Upper bound of the congestion window in segments; `None` is unbounded.
    pub max_window: Option<u32>,
    /// Receive buffer in bytes: the most that can wait out of order or unread.
    pub receive_buffer: u64,
    /// Whether selective acknowledgments are offered (RFC 2018) and used (RFC 6675).
    pub sack: bool,
    /// Whether duplicates are reported (RFC 2883). Only with `sack`.
    pub dsack: bool,
    /// Whether timestamps are offered (RFC 7323).
    pub timestamps: bool,
    /// What one tick of the timestamp clock lasts (RFC 7323 §5.4: 1 ms to 1 s).
    pub timestamp_tick: Duration,
    /// How large the congestion window is.
    pub congestion: CongestionControl,
    /// How slow start ends before a loss.
    pub slow_start: SlowStart,
    /// Whether a loss is asked what it was of, and by whom. A loss of the radio's shrinks the window
    /// to 4/5 (NewZag, Lien et al. §III) and not by half.
    pub differentiation: Option<Differentiation>,
    /// What a reduction of the window is taken from.
    pub reduction_base: ReductionBase,
    /// How the window gets from where it was to where a loss puts it.
    pub reduction: Reduction,
    /// When a window counts as used.
    pub window_validation: WindowValidation,
    /// Whether the window starts anew after a pause of more than a timeout (RFC 5681 §4.1).
    pub restart_after_idle: bool,
    /// Whether a small segment waits while another is not acknowledged (Nagle's algorithm, RFC 9293
    /// §3.7.4, as modified by Minshall).
    pub nagle: bool,
    /// Whether segments leave at the congestion control's pace, and not as acknowledgments come.
    /// BBR always paces.
    pub pacing: bool,
    /// What makes a segment believed lost.
    pub loss_detection: LossDetection,
    /// Whether a silent tail is probed after two round trips, before the timer (TLP, RFC 8985 §7).
    pub tail_loss_probe: bool,
    /// How needless retransmissions are found out.
    pub spurious_detection: SpuriousDetection,
    /// What is done about them.
    pub spurious_response: SpuriousResponse,
    /// What is made of the link's own reports.
    pub link_feedback: LinkFeedbackConfig,
    /// Seed of the decisions that are a coin's ([`Differentiation::Coin`]).
    pub seed: u64,
    /// How losses are repaired.
    pub recovery: Recovery,
    /// Duplicate acknowledgments that mean a loss (RFC 5681 §3.2: 3).
    pub duplicate_ack_threshold: u32,
    /// Whether the first two duplicate acknowledgments may each send a new segment (RFC 3042).
    pub limited_transmit: bool,
    /// What is resent after a timeout.
    pub retransmission: Retransmission,
    /// What opens the window.
    pub window_growth: WindowGrowth,
    /// What an acknowledgment counts towards growth of the window.
    pub growth_credit: GrowthCredit,
    /// Most segments one acknowledgment may open slow start by (RFC 3465 §2.3, L).
    pub slow_start_limit: u32,
    /// The same while what a timeout gave up is repaired: data acknowledged then may have left before
    /// it (RFC 3465 §2.3: 1; Linux has no such limit).
    pub slow_start_limit_after_timeout: u32,
    /// Which partial acknowledgments restart the retransmission timer; only without `sack`.
    pub partial_ack_timer: PartialAckTimer,
    /// What else restarts the retransmission timer.
    pub timer_restart: TimerRestart,
    /// Whether reports give round-trip samples. Only with `sack`.
    pub reported_rtt: ReportedRtt,
    /// What is made of reports that come late. Only with `sack`.
    pub late_reports: LateReports,
    /// When a receiver is taken to have dropped what it had reported. Only with `sack`.
    pub reneging: Reneging,
    /// The retransmission timeout.
    pub timeout: TimeoutConfig,
    /// When the receiver acknowledges.
    pub delayed_ack: DelayedAckConfig,
    /// When the connection loses patience.
    pub limits: LimitsConfig,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            mss: 1448,
            initial_window: 10,
            initial_ssthresh: None,
            max_window: None,
            receive_buffer: 8 << 20,
            sack: false,
            dsack: true,
            timestamps: true,
            timestamp_tick: Duration::from_millis(1),
            congestion: CongestionControl::Reno,
            slow_start: SlowStart::Standard,
            differentiation: None,
            reduction_base: ReductionBase::FlightSize,
            reduction: Reduction::AtOnce,
            window_validation: WindowValidation::InFlight,
            restart_after_idle: false,
            nagle: false,
            pacing: false,
            loss_detection: LossDetection::DuplicateAcks,
            tail_loss_probe: false,
            spurious_detection: SpuriousDetection::default(),
            spurious_response: SpuriousResponse::None,
            link_feedback: LinkFeedbackConfig::default(),
            seed: 0,
            recovery: Recovery::NewReno,
            duplicate_ack_threshold: 3,
            limited_transmit: true,
            retransmission: Retransmission::GoBackN,
            window_growth: WindowGrowth::Bytes,
            growth_credit: GrowthCredit::Acknowledged,
            slow_start_limit: 2,
            slow_start_limit_after_timeout: 1,
            partial_ack_timer: PartialAckTimer::Impatient,
            timer_restart: TimerRestart::NewData,
            reported_rtt: ReportedRtt::Ignored,
            late_reports: LateReports::Ignored,
            reneging: Reneging::AtTimeout,
            timeout: TimeoutConfig::default(),
            delayed_ack: DelayedAckConfig::default(),
            limits: LimitsConfig::default(),
        }
    }
}

#[cfg(test)]
mod tests;
