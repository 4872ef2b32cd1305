//! The send side: which bytes to send next, and when to wake up.
//!
//! [`transmission`] chooses the next segment, [`acknowledgment`] takes what the peer said,
//! [`loss`] goes from the first sign of a loss to the end of its repair, [`spurious`] takes back what
//! was needless, [`expiry`] acts when one of the [`timers`] runs out, [`tail_probe`] before the last of
//! them does, [`shut_window`] while the peer has taken its window back. Everything else is a replaceable
//! part.

mod acknowledgment;
mod expiry;
mod loss;
mod pacing;
mod shut_window;
mod spurious;
mod tail_probe;
mod timers;
mod transmission;
mod window_usage;

use airtcp_units::{Duration, Instant};

use crate::config::{
    Config, LossDetection, Recovery, Reduction, ReductionBase, Retransmission, RttSampling,
    SpuriousDetection, SpuriousResponse, TimerScope, WindowValidation,
};
use crate::congestion::Congestion;
use crate::delivery_rate::DeliveryRate;
use crate::link_feedback::LinkReports;
use crate::loss_detection::{DuplicateAcks, Rack, Scoreboard};
use crate::loss_differentiation::{Cause, Classifier};
use crate::recovery::{Phase, Undo};
use crate::rtt::RttEstimator;
use crate::timeout::RetransmissionTimeout;
use pacing::Pacing;
use tail_probe::TailProbe;
use timers::Pending;
use window_usage::WindowUsage;

pub use acknowledgment::{Acknowledgment, Echo};
pub use spurious::Evidence;
pub use transmission::Transmission;

/// What a sender has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Segments that carried data or a FIN, retransmissions included.
    pub segments_sent: u64,
    /// Of these, the retransmissions.
    pub segments_retransmitted: u64,
    /// Stream bytes in the retransmissions.
    pub bytes_retransmitted: u64,
    /// Retransmission timers that expired.
    pub timeouts: u64,
    /// Timeouts that the endpoint itself came to think unnecessary (RFC 3522 §3).
    pub timeouts_judged_spurious: u64,
    /// Losses found by duplicate or selective acknowledgments.
    pub fast_retransmits: u64,
    /// Duplicates the peer reported (RFC 2883).
    pub duplicates_reported: u64,
    /// Zero-window probes sent.
    pub window_probes: u64,
    /// Recoveries found needless and taken back.
    pub recoveries_taken_back: u64,
    /// Tail loss probes sent (RFC 8985 §7).
    pub tail_probes: u64,
    /// Losses that only a tail loss probe has shown, by repairing them (RFC 8985 §7.4).
    pub losses_repaired_by_probes: u64,
}

/// The part of [`Config`] the send side reads while it runs.
#[derive(Clone, Copy, Debug)]
struct Choices {
    sack: bool,
    recovery: Recovery,
    limited_transmit: bool,
    retransmission: Retransmission,
    scope: TimerScope,
    sampling: RttSampling,
    timestamp_tick: Duration,
    loss_detection: LossDetection,
    reduction: Reduction,
    reduction_base: ReductionBase,
    window_validation: WindowValidation,
    restart_after_idle: bool,
    tail_loss_probe: bool,
    spurious_detection: SpuriousDetection,
    spurious_response: SpuriousResponse,
}

/// Where the sender stood when an acknowledgment came, in bytes.
#[derive(Clone, Copy, Debug)]
struct Before {
    una: u64,
    in_flight: u64,
    lost_in_all: u64,
    /// By which duplicates inflated the window.
    inflation: u64,
}

/// The send side of a connection, in offsets of the stream it sends. A FIN takes the offset behind
/// the last byte.
#[derive(Clone, Debug)]
pub struct Sender {
    choices: Choices,
    mss: u64,
    /// First byte not acknowledged.
    una: u64,
    /// First byte never sent.
    nxt: u64,
    /// End of what the application has written.
    written: u64,
    /// Whether a FIN follows what is written.
    closed: bool,
    /// First byte the peer has no room for.
    right_edge: u64,
    congestion: Congestion,
    board: Scoreboard,
    duplicates: DuplicateAcks,
    phase: Phase,
    /// Data outstanding when the last loss was found: acknowledgments of no more than this do not
    /// start another fast recovery (RFC 6582 §3.2 step 2).
    recover: Option<u64>,
    /// A segment to be sent again now, whatever the window.
    repair_now: Option<u64>,
    /// New bytes sent on duplicate acknowledgments (RFC 3042): no part of FlightSize.
    limited: u64,
    timeout: RetransmissionTimeout,
    deadline: Instant,
    probe_deadline: Instant,
    probes: u32,
    /// The segment being timed, when one a window is: its end, and when it was sent.
    timed: Option<(u64, Instant)>,
    /// When a segment that timed out was sent again, until an acknowledgment tells whether that
    /// was needed (RFC 3522 §3).
    resent_after_timeout: Option<Instant>,
    /// Whether the last timeout was found to be spurious.
    timeout_judged: bool,
    pending: Pending,
    min_rto: Duration,
    initial_rto: Duration,
    /// New data goes before what is to be sent again: F-RTO's question.
    new_data_first: bool,
    tail_probe: Option<TailProbe>,
    tail_probe_due: bool,
    usage: Option<Box<WindowUsage>>,
    last_sent_at: Instant,
    undo: Option<Box<Undo>>,
    /// Bytes presumed lost so far.
    lost_in_all: u64,
    pacing_deadline: Instant,
    nagle: bool,
    corked: bool,
    /// End of the last segment sent that was not full.
    small_end: u64,
    // Parts that only some stacks have, boxed so that very many connections of the others fit.
    rack: Option<Box<Rack>>,
    rate: Option<Box<DeliveryRate>>,
    pacing: Option<Box<Pacing>>,
    classifier: Option<Box<Classifier>>,
    link: Option<Box<LinkReports>>,
    /// The threshold without what the link says.
    base_threshold: u32,
    /// What losses were of, as far as it was told: by offset.
    #[expect(clippy::box_collection, reason = "a pointer where there are none")]
    told: Option<Box<Vec<(u64, Cause)>>>,
    counters: Counters,
}

impl Sender {
    /// A sender with nothing written, towards a peer that has announced no window yet.
    #[must_use]
    pub fn new(config: &Config, mss: u32) -> Self {
        let mss = u64::from(mss);
        let scope = config.timeout.scope.unwrap_or(match config.retransmission {
            Retransmission::GoBackN => TimerScope::Connection,
            Retransmission::SelectiveRepeat => TimerScope::Segment,
        });
        let rack = config.sack && config.loss_detection == LossDetection::Rack;
        let congestion = Congestion::new(config, mss);
        let mut board = Scoreboard::default();
        if rack
            || congestion.observes()
            || config.reduction != Reduction::AtOnce
            || config.spurious_detection != SpuriousDetection::default()
            || config.differentiation.is_some()
        {
            board.watch_deliveries();
        }
        Self {
            choices: Choices {
                sack: config.sack,
                recovery: config.recovery,
                limited_transmit: config.limited_transmit,
                retransmission: config.retransmission,
                scope,
                sampling: config.timeout.sampling,
                timestamp_tick: config.timestamp_tick,
                loss_detection: config.loss_detection,
                reduction: config.reduction,
                reduction_base: config.reduction_base,
                window_validation: config.window_validation,
                restart_after_idle: config.restart_after_idle,
                // Where each segment has a timer of its own, that is the tail's too.
                tail_loss_probe: config.tail_loss_probe
                    && config.sack
                    && scope == TimerScope::Connection,
                spurious_detection: config.spurious_detection,
                spurious_response: config.spurious_response,
            },
            mss,
            una: 0,
            nxt: 0,
            written: 0,
            closed: false,
            right_edge: 0,
            rate: congestion.is_model_based().then(Box::default),
            pacing: (config.pacing || congestion.is_model_based()).then(Box::default),
            congestion,
            board,
            duplicates: DuplicateAcks::new(config.duplicate_ack_threshold),
            phase: Phase::Open,
            recover: None,
            repair_now: None,
            limited: 0,
            timeout: RetransmissionTimeout::new(&config.timeout),
            deadline: Instant::FAR_FUTURE,
            probe_deadline: Instant::FAR_FUTURE,
            probes: 0,
            timed: None,
            resent_after_timeout: None,
            timeout_judged: false,
            pending: Pending::default(),
            min_rto: config.timeout.min,
            initial_rto: config.timeout.initial,
            new_data_first: false,
            tail_probe: None,
            tail_probe_due: false,
            usage: (config.window_validation == WindowValidation::LastRound).then(Box::default),
            last_sent_at: Instant::ZERO,
            undo: (config.spurious_response != SpuriousResponse::None).then(Box::default),
            lost_in_all: 0,
            pacing_deadline: Instant::FAR_FUTURE,
            nagle: config.nagle,
            corked: false,
            small_end: 0,
            rack: rack.then(|| Box::new(Rack::new(config.duplicate_ack_threshold))),
            classifier: config
                .differentiation
                .as_ref()
                .map(|choice| Box::new(Classifier::new(choice, config.seed))),
            link: LinkReports::new(&config.link_feedback).map(Box::new),
            base_threshold: config.duplicate_ack_threshold,
            told: None,
            counters: Counters::default(),
        }
    }

    /// The handshake is complete: the peer offers `window` bytes, and the SYN measured `rtt`. If
    /// the SYN's own timer expired, the first RTO for data is `rto` (RFC 6298 §5.7) and the window
    /// starts at one segment (RFC 5681 §3.1).
    pub fn on_established(&mut self, window: u64, rtt: Option<Duration>, rto: Option<Duration>) {
        self.right_edge = window;
        if let Some(rtt) = rtt {
            self.timeout.on_sample(rtt, 0, 0);
        }
        if let Some(rto) = rto {
            self.timeout.reinitialize(rto);
            self.congestion.restart();
        }
    }

    /// Appends `bytes` to the stream. Ignored after [`close`](Self::close).
    pub fn write(&mut self, bytes: u64) {
        if !self.closed {
            self.written = self.written.saturating_add(bytes).min(u64::MAX >> 1);
        }
    }

    /// Nothing more will be written: a FIN follows.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// When [`on_wakeup`](Self::on_wakeup) wants to be called; [`Instant::FAR_FUTURE`] for never.
    #[inline]
    #[must_use]
    pub fn next_wakeup(&self) -> Instant {
        self.deadline
            .min(self.probe_deadline)
            .min(self.pacing_deadline)
    }

    /// First byte not acknowledged.
    #[inline]
    #[must_use]
    pub const fn una(&self) -> u64 {
        self.una
    }

    /// First byte never sent.
    #[inline]
    #[must_use]
    pub const fn nxt(&self) -> u64 {
        self.nxt
    }

    /// First byte the peer has no room for.
    #[must_use]
    pub const fn right_edge(&self) -> u64 {
        self.right_edge
    }

    /// End of what the application has written.
    #[must_use]
    pub const fn written(&self) -> u64 {
        self.written
    }

    /// Whether a FIN has been asked for.
    #[must_use]
    pub const fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether everything, the FIN included, is acknowledged.
    #[must_use]
    pub const fn is_finished(&self) -> bool {
        self.closed && self.una > self.written
    }

    /// The largest payload of a segment, in bytes.
    #[must_use]
    pub const fn mss(&self) -> u64 {
        self.mss
    }

    /// The congestion window in bytes, inflation during fast recovery not counted.
    #[must_use]
    pub const fn cwnd(&self) -> u64 {
        self.congestion.cwnd()
    }

    /// The slow-start threshold in bytes; `None` before the first loss.
    #[must_use]
    pub fn ssthresh(&self) -> Option<u64> {
        Some(self.congestion.ssthresh()).filter(|&bytes| bytes != u64::MAX)
    }

    /// Bytes believed to be in the network (RFC 6675 §4, "pipe").
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        self.board.in_flight()
    }

    /// The retransmission timeout now, back-off included.
    #[must_use]
    pub fn rto(&self) -> Duration {
        self.timeout.rto()
    }

    /// The round-trip estimator.
    #[must_use]
    pub const fn rtt(&self) -> &RttEstimator {
        self.timeout.estimator()
    }

    /// Whether a loss is being repaired.
    #[must_use]
    pub const fn phase(&self) -> &Phase {
        &self.phase
    }

    /// What has been done so far.
    #[must_use]
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The link has delivered the segment at `offset`, and had to send it again so often.
    pub fn on_link_delivered(&mut self, offset: u64, retransmissions: u32) {
        let Some(link) = &mut self.link else {
            return;
        };
        if let Some(index) = self.board.index_at(offset)
            && let Some(segment) = self.board.get(index)
        {
            link.on_delivered(segment.start, segment.end(), retransmissions);
            let threshold = link.threshold(self.base_threshold, self.congestion.cwnd(), self.mss);
            self.duplicates.set_threshold(threshold);
        }
    }

    /// The truth about a loss, as no real sender is told it: the segment at `offset` is lost of
    /// `cause`.
    pub fn tell_cause(&mut self, offset: u64, cause: Cause) {
        let una = self.una;
        let told = self.told.get_or_insert_default();
        told.retain(|(lost, _)| *lost >= una);
        told.push((offset, cause));
    }

    /// Whether small segments are to leave at once (TCP_NODELAY).
    pub const fn set_no_delay(&mut self, no_delay: bool) {
        self.nagle = !no_delay;
    }

    /// Whether no segment is to leave that is not full (TCP_CORK).
    pub const fn set_corked(&mut self, corked: bool) {
        self.corked = corked;
    }

    /// When something was last sent.
    #[must_use]
    pub const fn last_sent_at(&self) -> Instant {
        self.last_sent_at
    }

    /// The scoreboard, to look at.
    #[must_use]
    pub const fn scoreboard(&self) -> &Scoreboard {
        &self.board
    }

    /// Distance in segments that reordering has reached, at least the duplicate-ACK threshold.
    #[must_use]
    pub fn reordering(&self) -> u32 {
        self.rack
            .as_ref()
            .map_or(self.duplicates.threshold(), |rack| rack.reordering())
    }

    /// How often a segment was seen to arrive behind a later one, as far as anybody looks for it.
    #[must_use]
    pub fn reorderings_seen(&self) -> u32 {
        self.rack.as_ref().map_or(0, |rack| rack.reorderings_seen())
    }

    /// Expiries of the retransmission timer since the last round-trip sample.
    #[must_use]
    pub const fn back_off(&self) -> u32 {
        self.timeout.back_off()
    }

    fn before(&self) -> Before {
        Before {
            una: self.una,
            in_flight: self.board.in_flight(),
            lost_in_all: self.lost_in_all,
            inflation: match &self.phase {
                Phase::FastRecovery(recovery) => recovery.inflation,
                Phase::Open => u64::from(self.duplicates.count()) * self.mss,
                Phase::Timeout { .. } => 0,
            },
        }
    }
}

#[cfg(test)]
mod tests;
