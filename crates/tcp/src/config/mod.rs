//! Every choice an endpoint makes, each declared once, and the named profiles: short tables of
//! choices over the same parts.
//!
//! A setting's declaration below is its field, its default, its key in a scenario with the key's
//! range, and the sentence that describes it. A named choice is declared by its enum: its names in
//! a scenario are the variants in kebab-case.

mod congestion;
#[cfg(feature = "schema")]
mod control_name;
mod ecn;
mod limits;
mod link_feedback;
mod profile;
mod quirks;
mod repair;
#[cfg(feature = "schema")]
mod schema;
mod settings;
mod sprout;
mod timeout;

use airtcp_units::Duration;
#[cfg(feature = "schema")]
use airtcp_units::bounded::{Bytes, Limit, MICROSECOND, MINUTE, Real, Span, Whole};

pub use congestion::{
    CongestionControl, ReceiveWindow, Reduction, ReductionBase, SlowStart, WindowGrowth,
    WindowValidation,
};
#[cfg(feature = "schema")]
pub use control_name::{BpfControl, Constant, ControlName};
pub use ecn::EcnUse;
pub use limits::LimitsConfig;
#[cfg(feature = "schema")]
pub use limits::LimitsTable;
pub use link_feedback::{
    DynamicThreshold, GapCount, LinkFeedbackConfig, RttClustering, ThresholdCap,
};
pub use profile::{PRAGUE_BURST_SHIFT, Profile, UNBURST_SHIFT};
#[cfg(feature = "schema")]
pub use quirks::QuirksTable;
pub use quirks::{
    DuplicateCounting, DuplicateReports, GrowthCredit, HandshakeAck, JudgedRtt, LateReports,
    PartialAckTimer, Push, QuirksConfig, Reneging, RepeatedSyn, ReportedRtt, ShortTrains,
    TimerRestart, WindowReopening,
};
pub use repair::{LossDetection, Recovery, Retransmission, SpuriousResponse};
pub use sprout::{Forecasting, SproutConfig};
pub use timeout::{DeviationFrom, RttEstimation, RttSampling, TimerScope};

use crate::loss_differentiation::Differentiation;
#[cfg(feature = "schema")]
use schema::{Amount, FewSegments, Gain, Segments, Timeout};
#[cfg(feature = "schema")]
pub use settings::Described;
use settings::settings;
#[cfg(feature = "schema")]
use timeout::TimerName;

settings! {
    /// The TCP endpoints: a profile, and the deviations from it.
    #[derive(Clone, Debug, Default, PartialEq)]
    table TcpTable of Config {
        /// The stack that the other keys change.
        profile: Profile;
    }

    /// Every choice of one endpoint.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Config {
        /// The congestion window's algorithm: a name, or an object file of a program for the
        /// kernel's BPF with its constants, `{ bpf = "my.bpf.o", constants = { beta = 3 } }`.
        congestion: CongestionControl = CongestionControl::Reno, as ControlName, named "congestion_control";
        /// The condition that ends slow start before a loss does.
        slow_start: SlowStart = SlowStart::Standard;
        /// The rule by which a segment is presumed lost.
        loss_detection: LossDetection = LossDetection::DuplicateAcks;
        /// Probes a silent tail after two round trips, before the timer expires (TLP, RFC 8985 §7);
        /// only with `sack`.
        tail_loss_probe: bool = false;
        /// The way the window reaches the value that a loss sets.
        reduction: Reduction = Reduction::AtOnce;
        /// The quantity that a reduction of the window is computed from.
        reduction_base: ReductionBase = ReductionBase::FlightSize;
        /// The condition under which a window counts as used, so that it may grow.
        window_validation: WindowValidation = WindowValidation::InFlight;
        /// Shrinks the window towards the initial one in a pause of more than a timeout (RFC 5681
        /// §4.1).
        restart_after_idle: bool = false;
        /// Holds a small segment back while another is unacknowledged (Nagle's algorithm, RFC 9293
        /// §3.7.4, as modified by Minshall).
        nagle: bool = false;
        /// Sends segments at the congestion control's pace rather than as acknowledgments come. BBR
        /// always paces.
        pacing: bool = false;
        /// A paced burst lasts 2^−n seconds, and is at least two segments (Linux,
        /// `sk_pacing_shift`: 10; Wi-Fi drivers ask for 7, so that frames can be aggregated).
        pacing_shift: u32 = 10, as Whole<0, 31>;
        /// Keeps no more of a flow in the sender's wireless device than 2^−`pacing_shift` seconds
        /// of its pacing rate, and two bursts at least (Linux, TCP small queues).
        small_queue: bool = false;
        /// The response to a recovery that was needless.
        spurious_response: SpuriousResponse = SpuriousResponse::None;
        /// The way losses are repaired.
        recovery: Recovery = Recovery::NewReno;
        /// Offers (RFC 2018) and uses (RFC 6675) selective acknowledgments.
        sack: bool = false;
        /// Reports duplicates (RFC 2883); only with `sack`.
        dsack: bool = true;
        /// Allows packets to be marked instead of dropped, and heeds the marks (RFC 3168), one by
        /// one where both sides count them (RFC 9768). Both sides have the same setting: if neither
        /// requests ECN, nothing is marked.
        ecn: EcnUse = EcnUse::Off;
        /// Offers timestamps (RFC 7323).
        timestamps: bool = true;
        /// One tick of the timestamp clock (RFC 7323 §5.4: 1 ms to 1 s).
        timestamp_tick: Duration = Duration::from_millis(1), as Span<MICROSECOND, MINUTE>;
        /// Payload of a full segment in bytes, options not counted. The MSS option on the wire is
        /// this plus the bytes that timestamps take (RFC 6691).
        mss: u32 = 1448, as Whole<1, 65_495>;
        /// Congestion window at the start, in segments (RFC 6928: 10).
        initial_window: u32 = 10, as FewSegments;
        /// Slow-start threshold at the start, in bytes.
        initial_ssthresh: Option<u64> = None, as Limit<Amount>;
        /// Largest congestion window, in segments.
        max_window: Option<u32> = None, as Limit<Segments>;
        /// Limit on the data written and not yet acknowledged, in bytes of data. Linux counts
        /// memory: `SO_SNDBUF` allows about as much data as its value, and `tcp_wmem` half of it
        /// (socket(7): the kernel doubles the option to leave room for overhead).
        send_buffer: Option<u64> = None, as Limit<Bytes<1, { 1 << 30 }>>;
        /// Limit on data at the receiver that is out of order or unread, in bytes; up to 1 GiB, the
        /// largest window (RFC 7323 §2.3).
        receive_buffer: u64 = 8 << 20, as Bytes<1, { 1 << 30 }>;
        /// How much of its buffer the receiver advertises.
        receive_window: ReceiveWindow = ReceiveWindow::Fixed;
        /// Number of duplicate acknowledgments that mean a loss (RFC 5681 §3.2: 3).
        duplicate_ack_threshold: u32 = 3, as FewSegments;
        /// Lets the first two duplicate acknowledgments each send a new segment (RFC 3042).
        limited_transmit: bool = true;
        /// The data retransmitted after a timeout.
        retransmission: Retransmission = Retransmission::GoBackN;
        /// The event that opens the window.
        window_growth: WindowGrowth = WindowGrowth::Bytes;
        /// Limit on how far one acknowledgment opens slow start, in segments (RFC 3465 §2.3, L).
        slow_start_limit: u32 = 2, as FewSegments;
        /// Sends data in the SYN to a server that has granted a cookie, requests a cookie from
        /// others, and as a server grants them (TCP Fast Open, RFC 7413); in simulations, where
        /// data is written when the connection opens.
        fast_open: bool = false;
    } with tables {
        /// When the receiver acknowledges.
        delayed_ack: DelayedAckConfig = DelayedAckConfig::default(), as DelayedAckTable;
        /// The limits after which the connection gives up.
        limits: LimitsConfig = LimitsConfig::default(), as LimitsTable;
        /// Where stacks differ and an RFC leaves the choice open, or is not followed.
        quirks: QuirksConfig = QuirksConfig::default(), as QuirksTable;
    } without keys {
        /// The detection of needless retransmissions.
        spurious_detection: SpuriousDetection = SpuriousDetection::default();
        /// The retransmission timeout.
        timeout: TimeoutConfig = TimeoutConfig::default();
        /// Backlog in segments at which [Veno](CongestionControl::Veno) attributes a loss to
        /// congestion (Fu & Liew §II: 3).
        veno_backlog: f64 = 3.0;
        /// Segments in the network's queues below which [Vegas](CongestionControl::Vegas) opens the
        /// window (Linux, `tcp_vegas.c`: 2).
        vegas_alpha: u32 = 2;
        /// Segments in the network's queues above which it closes the window (4).
        vegas_beta: u32 = 4;
        /// Round trip at which [Hybla](CongestionControl::Hybla) is Reno (§3; Linux, `tcp_hybla.c`,
        /// `rtt0`: 25 ms).
        hybla_reference_rtt: Duration = Duration::from_millis(25);
        /// Whether [CDG](CongestionControl::Cdg) keeps its window at losses before the queue is
        /// full (§4; Linux, `tcp_cdg.c`, `use_tolerance`: no).
        cdg_tolerance: bool = false;
        /// Round trip that [C2TCP](CongestionControl::C2Tcp) aims at, and for how long it may be
        /// longer (the authors' patch: 100 ms each).
        c2tcp_target: Duration = Duration::from_millis(100);
        /// See there.
        c2tcp_interval: Duration = Duration::from_millis(100);
        /// Delay in the queues that [LEDBAT](CongestionControl::Ledbat) aims at (RFC 6817 §2.5: at
        /// most 100 ms).
        ledbat_target: Duration = Duration::from_millis(100);
        /// Weight of delay against throughput in [Copa](CongestionControl::Copa): a single flow
        /// keeps about 1.25/δ segments queued (Arun & Balakrishnan §2.2: 0.5).
        copa_delta: f64 = 0.5;
        /// Whether it lowers δ where other flows keep the queue full (§2.2).
        copa_competes: bool = true;
        /// Exponent of the rate in the utility of PCC's [controls](CongestionControl::Vivace) (Dong
        /// et al.: t = 0.9, below 1).
        pcc_exponent: f64 = 0.9;
        /// Coefficient of the trend of round trips in it (b = 900; 0 is Vivace-Loss).
        pcc_latency: f64 = 900.0;
        /// Coefficient of the loss rate in it (c = 11.35, which tolerates 5 % at 100 Mbit/s).
        pcc_loss: f64 = 11.35;
        /// Loss rate up to which that coefficient is 1: in no equation of the paper, 0.03 in its
        /// authors' code (PCC-Uspace, branch NSDI-2018).
        pcc_mild_loss: f64 = 0.0;
        /// Coefficient of the deviation of round trips, a second, in the utility of
        /// [Proteus-S](CongestionControl::ProteusS) (Meng et al.; `kRttDeviationCoefficient`:
        /// 1500).
        pcc_deviation: f64 = 1500.0;
        /// Ratio of maximum and minimum delay above which [Verus](CongestionControl::Verus) lowers
        /// its target (Zaki et al.: R, 2 to 6; `VERUS_R`: 6).
        verus_ratio: f64 = 6.0;
        /// The forecast of [Sprout](CongestionControl::Sprout), and how far its sender looks ahead.
        sprout: SproutConfig = SproutConfig::default();
        /// The classifier asked whether a loss was congestion or the radio, if any.
        differentiation: Option<Differentiation> = None;
        /// The share of the window that a radio loss leaves, in per cent; never less than a
        /// congestion loss leaves (NewZag, Lien et al. §II-B: 4/5).
        radio_keeps_percent: u8 = 80;
        /// Attributes no more to the radio than ten segments, or the share of the window that a
        /// radio loss takes, lost in one repair.
        bounded_radio: bool = false;
        /// The use of the link's reports.
        link_feedback: LinkFeedbackConfig = LinkFeedbackConfig::default();
    }

    /// Detection of needless retransmissions. Acting on it is [`SpuriousResponse`]'s task.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct SpuriousDetection in spurious_detection {
        /// Detects a needless retransmission when its first acknowledgment echoes an older
        /// timestamp (Eifel detection, RFC 3522 §3); only with `timestamps`.
        eifel: bool = false;
        /// Detects a needless timeout when data that was not retransmitted is acknowledged after
        /// it, for which new data is tried first (F-RTO, RFC 5682).
        frto: bool = false, named "f_rto";
        /// Detects a needless recovery when every one of its retransmissions is reported as a
        /// duplicate (RFC 3708 §2); only with `dsack`.
        dsack_undo: bool = false;
    }

    /// The retransmission timeout's constants.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct TimeoutConfig in timeout {
        /// Shortest retransmission timeout (RFC 6298 §2.4: 1 s; common stacks: 200 ms).
        min: Duration = Duration::from_millis(200), as Timeout, named "min_rto";
        /// Longest retransmission timeout, backoff included (RFC 6298 §2.5: at least 60 s).
        max: Duration = Duration::from_secs(60), as Timeout, named "max_rto";
        /// Retransmission timeout before the first sample (RFC 6298 §2.1: 1 s).
        initial: Duration = Duration::from_secs(1), as Timeout, named "initial_rto";
        /// m in RTO = smoothed RTT + m × smoothed deviation (RFC 6298 §2.3: 4; Miyim §III: 10).
        factor: f64 = 4.0, as Real<1_000, 1_000_000_000_000>, named "rto_factor";
        /// Clock granularity G, the least the deviation term can be (RFC 6298 §2.3).
        granularity: Duration = Duration::from_millis(1),
            as Span<0, MINUTE>, named "rto_granularity";
        /// The longest delay of an acknowledgment, added to the timeout (QUIC's `max_ack_delay`,
        /// RFC 9002 §6.2.1; RFC 6298 has no such term).
        ack_delay: Duration = Duration::ZERO, as Span<0, MINUTE>, named "rto_ack_delay";
        /// Doubles the timeout each time it expires (RFC 6298 §5.5).
        back_off: bool = true, named "rto_back_off";
        /// Number of retransmission timers. `automatic` follows the retransmission policy: one for
        /// each segment under selective repeat, one for the connection under go-back-N.
        scope: Option<TimerScope> = None, as TimerName, named "timer";
        /// The estimator that turns round trips into a timeout.
        estimation: RttEstimation = RttEstimation::Rfc6298, named "rtt_estimation";
        /// The round trips that are measured.
        sampling: RttSampling = RttSampling::PerAcknowledgment, named "rtt_sampling";
        /// The mean from which a sample's deviation is taken.
        deviation_from: DeviationFrom = DeviationFrom::PreviousMean;
        /// Gain of the smoothed RTT, alpha (RFC 6298 §2.3: 1/8).
        mean_gain: f64 = 0.125, as Gain, named "rtt_mean_gain";
        /// Gain of the smoothed deviation, beta (RFC 6298 §2.3: 1/4).
        deviation_gain: f64 = 0.25, as Gain, named "rtt_deviation_gain";
    }
}

settings! {
    /// When the receiver acknowledges (RFC 1122 §4.2.3.2, RFC 5681 §4.2).
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    table DelayedAckTable of DelayedAckConfig {}

    /// When the receiver acknowledges (RFC 1122 §4.2.3.2, RFC 5681 §4.2).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct DelayedAckConfig {
        /// Full segments after which an acknowledgment must go out: 1 acknowledges each, 2 is the
        /// RFC's.
        segments: u32 = 2, as FewSegments;
        /// The longest time an acknowledgment is delayed.
        timeout: Duration = Duration::from_millis(40), as Span<MICROSECOND, MINUTE>;
        /// Number of segments, at the start and after a pause or a gap, that are each acknowledged
        /// at once (Linux's quick acknowledgments: 16; RFC 5681 §4.2 allows it).
        quick: u32 = 0, as Whole<0, 1_000_000>;
        /// Maximum number of acknowledgments of in-order data in the handshake's round trip; data
        /// after a gap is reported at once and then at the same rate (TACK's periodic
        /// acknowledgments: 4).
        most_a_round_trip: Option<u32> = None, as Limit<FewSegments>;
        /// Acknowledges at once when the application has read everything, if the last segment was
        /// pushed (PSH) or not full (Linux, `tcp_cleanup_rbuf`); not while it is answering the data
        /// it reads.
        on_reading: bool = false;
        /// Acknowledges at once a segment that lets an autotuned window grow (Linux,
        /// `tcp_grow_window`).
        on_growth: bool = true;
        /// Lets one acknowledgment cover several segments after the same gap, from the fourth on,
        /// and delays it by a twentieth of a round trip, at most 1 ms (Linux's SACK compression,
        /// `__tcp_ack_snd_check`). Only with SACK.
        compressed: bool = false;
        /// Acknowledges a FIN at once; if not, as the data that comes with it (Linux, `tcp_fin`).
        fin_at_once: bool = true;
    }
}

impl DelayedAckConfig {
    /// Every segment that arrives is acknowledged at once.
    #[must_use]
    pub const fn of_each_segment(self) -> Self {
        Self {
            segments: 1,
            most_a_round_trip: None,
            compressed: false,
            ..self
        }
    }
}

#[cfg(test)]
mod tests;
