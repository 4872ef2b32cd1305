//! The send side: which bytes to send next, and when to wake up.
//!
//! A [`Sender`] is composed of parts. Each owns its fields, is asked, and answers with a value or a
//! small effect that the sender carries out:
//!
//! | part | knows |
//! |---|---|
//! | [`SendSpace`] | what is acknowledged, sent, written, and allowed by the peer |
//! | [`Timers`] | what is waited for: one table, each timer with its reason |
//! | [`Scoreboard`] | every outstanding segment |
//! | [`Detection`] | what is lost: by duplicates, reports or time |
//! | [`Repair`] | the recovery under way, one way in and one way out; what could be taken back |
//! | [`Congestion`], [`Growth`] | the window, and whether it was used |
//! | [`RetransmissionTimeout`], [`RoundTrips`] | the RTO, and which round trips are measured |
//! | [`TailProbe`], [`ZeroWindow`] | the two kinds of probes |
//! | [`Pacing`], [`SmallSegments`] | what waits though the windows allow it |
//! | [`PathMtu`] | the largest segment that the path takes |
//! | [`Departures`] | what still waits in the driver |
//! | [`Marks`] | reductions of the window for the network's marks |
//! | [`Causes`], [`LinkReports`] | what research adds: causes of losses, the link's own reports |
//! | [`Extras`] | where those of them stand that only some senders have |
//!
//! Three things happen to a sender, and each composes the parts in a file of its own: an
//! [`acknowledgment`] comes (its [`delivery`] is handed out, a [`loss`] found, a repair found
//! [`spurious`]), a timer [expires](expiry) ([`watch`] says which one runs), and a segment is
//! polled for: [`transmission`] chooses it, [`departure`] notes it.

mod acknowledgment;
mod causes;
mod choices;
mod counters;
mod delivery;
mod departure;
mod detection;
mod expiry;
mod extras;
mod growth;
mod living;
mod loss;
mod marks;
mod ordinary;
mod pacing;
mod path_mtu;
mod repair;
mod round_trips;
mod small_segments;
mod space;
mod spurious;
mod tail_probe;
mod timers;
mod transmission;
mod watch;
mod window_usage;
mod zero_window;

use airtcp_units::{Duration, Instant};

use crate::config::{
    Config, GrowthCredit, LossDetection, Reduction, ReportedRtt, SpuriousDetection,
    SpuriousResponse, TimerRestart, TimerScope,
};
use crate::congestion::Congestion;
use crate::delivery_rate::DeliveryRate;
use crate::link_feedback::LinkReports;
use crate::loss_detection::Scoreboard;
use crate::recovery::Phase;
use crate::rtt::RttEstimator;
use crate::timeout::RetransmissionTimeout;
use causes::Causes;
use choices::Choices;
use counters::Counts;
use detection::Detection;
use extras::Extras;
use growth::Growth;
use pacing::Pacing;
use repair::Repair;
use round_trips::RoundTrips;
use small_segments::SmallSegments;
use space::SendSpace;
use tail_probe::TailProbe;
use timers::Timers;
use zero_window::ZeroWindow;

pub use acknowledgment::{Acknowledgment, Echo};
pub use counters::Counters;
pub use spurious::Evidence;
pub use transmission::Transmission;

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
    space: SendSpace,
    timers: Timers,
    board: Scoreboard,
    detection: Detection,
    repair: Repair,
    congestion: Congestion,
    growth: Growth,
    timeout: RetransmissionTimeout,
    round_trips: RoundTrips,
    tail_probe: TailProbe,
    zero_window: ZeroWindow,
    small_segments: SmallSegments,
    causes: Causes,
    counters: Counts,
    extras: Extras,
    /// Whether what is polled goes through one of the rarer parts.
    is_special: bool,
}

impl Sender {
    /// A sender with nothing written, towards a peer that has announced no window yet.
    #[must_use]
    pub fn new(config: &Config, mss: u32) -> Self {
        let mss = u64::from(mss);
        let choices = Choices::new(config);
        let congestion = Congestion::new(config, mss);
        let mut board = Scoreboard::default();
        if watches_deliveries(config, &congestion) {
            board.watch_deliveries();
        }
        let is_model_based = congestion.is_model_based();
        let mut extras = Extras::default();
        extras.set_rate(is_model_based.then(DeliveryRate::default));
        extras.set_pacing(
            (config.pacing || is_model_based).then(|| Pacing::new(config.pacing_shift)),
        );
        extras.set_link(LinkReports::new(&config.link_feedback));
        let probes_tails = config.tail_loss_probe
            && config.sack
            // Where each segment has a timer, that one is for the tail too.
            && choices.scope == TimerScope::Connection;
        Self {
            choices,
            space: SendSpace::default(),
            timers: Timers::default(),
            board,
            detection: Detection::new(config),
            repair: Repair::new(config.spurious_response != SpuriousResponse::None),
            congestion,
            growth: Growth::new(config),
            timeout: RetransmissionTimeout::new(&config.timeout),
            round_trips: RoundTrips::default(),
            tail_probe: TailProbe::new(config, probes_tails),
            zero_window: ZeroWindow::default(),
            small_segments: SmallSegments::new(config.nagle),
            causes: Causes::new(config),
            extras,
            is_special: config.pacing || is_model_based,
            counters: Counts::default(),
        }
    }

    /// The handshake is complete: the peer offers `window` bytes, and the SYN measured `rtt`. If
    /// the SYN's own timer expired, the first RTO for data is `rto` (RFC 6298 §5.7) and the window
    /// starts at one segment (RFC 5681 §3.1).
    pub fn on_established(&mut self, window: u64, rtt: Option<Duration>, rto: Option<Duration>) {
        self.space.on_window(0, window);
        if let Some(rtt) = rtt {
            self.timeout.on_sample(rtt, 0, 0);
        }
        if let Some(rto) = rto {
            self.timeout.reinitialize(rto);
            self.congestion.restart();
        }
    }

    /// Nothing was sent yet, and the peer now has room up to `right_edge`.
    pub(crate) fn resume_window(&mut self, right_edge: u64) {
        self.space.on_window(0, right_edge);
    }

    /// Appends `bytes` to the stream. Ignored after [`close`](Self::close).
    pub fn write(&mut self, bytes: u64) {
        self.space.write(bytes);
    }

    /// Nothing more will be written: a FIN follows.
    pub fn close(&mut self) {
        self.space.close();
    }

    /// When [`on_wakeup`](Self::on_wakeup) wants to be called; [`Instant::FAR_FUTURE`] for never.
    #[inline]
    #[must_use]
    pub fn next_wakeup(&self) -> Instant {
        self.timers.next()
    }

    /// First byte not acknowledged.
    #[inline]
    #[must_use]
    pub const fn una(&self) -> u64 {
        self.space.una()
    }

    /// First byte never sent.
    #[inline]
    #[must_use]
    pub const fn nxt(&self) -> u64 {
        self.space.nxt()
    }

    /// First byte the peer has no room for.
    #[must_use]
    pub const fn right_edge(&self) -> u64 {
        self.space.right_edge()
    }

    /// End of what the application has written.
    #[must_use]
    pub const fn written(&self) -> u64 {
        self.space.written()
    }

    /// Whether a FIN has been asked for.
    #[must_use]
    pub const fn is_closed(&self) -> bool {
        self.space.is_closed()
    }

    /// Whether everything, the FIN included, is acknowledged.
    #[must_use]
    pub const fn is_finished(&self) -> bool {
        self.space.is_finished()
    }

    /// The largest payload of a segment, in bytes.
    #[must_use]
    pub const fn mss(&self) -> u64 {
        self.congestion.mss()
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
        self.board
            .in_flight()
            .saturating_sub(self.detection.arrived())
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
        self.repair.phase()
    }

    /// What has been done so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters.told()
    }

    /// Reductions of the window for marks of congestion (RFC 3168 §6.1.2).
    #[must_use]
    pub fn reductions_for_marks(&self) -> u64 {
        self.extras.marks().map_or(0, |marks| marks.reductions())
    }

    /// The link says after how long it retransmits.
    pub fn on_link_retry_timeout(&mut self, timeout: Duration) {
        if let Some(link) = self.extras.link_mut() {
            link.on_retry_timeout(timeout);
        }
    }

    /// The link has delivered the segment at `offset`, and had to retransmit it that often.
    pub fn on_link_delivered(&mut self, offset: u64, retransmissions: u32) {
        let Some(link) = self.extras.link_mut() else {
            return;
        };
        if let Some(index) = self.board.index_at(offset)
            && let Some(segment) = self.board.get(index)
        {
            link.on_delivered(
                segment.start,
                segment.end(),
                retransmissions,
                self.congestion.mss(),
            );
            let base = self.detection.base_threshold();
            let threshold = link.threshold(base, self.congestion.cwnd(), self.congestion.mss());
            self.detection.set_threshold(threshold);
        }
    }

    /// Whether small segments are to leave at once (TCP_NODELAY).
    pub const fn set_no_delay(&mut self, no_delay: bool) {
        self.small_segments.set_no_delay(no_delay);
    }

    /// What `before` was told of small segments holds for this one too.
    pub(crate) fn keep_small_segments(&mut self, before: &Self) {
        self.small_segments = before.small_segments.clone();
    }

    /// Whether no segment is to leave that is not full (TCP_CORK).
    pub const fn set_corked(&mut self, corked: bool) {
        self.small_segments.set_corked(corked);
    }

    /// Whether what was written last is to wait for more, until an acknowledgment comes (MSG_MORE).
    pub const fn set_more(&mut self, more: bool) {
        self.small_segments.set_more(more);
    }

    /// When something was last sent.
    #[must_use]
    pub const fn last_sent_at(&self) -> Instant {
        self.growth.last_sent_at()
    }

    /// The scoreboard, to look at.
    #[must_use]
    pub const fn scoreboard(&self) -> &Scoreboard {
        &self.board
    }

    /// Distance in segments that reordering has reached, at least the duplicate-ACK threshold.
    #[must_use]
    pub fn reordering(&self) -> u32 {
        self.detection.reordering()
    }

    /// How often a segment was seen to arrive behind a later one, as far as anybody looks for it.
    #[must_use]
    pub fn reorderings_seen(&self) -> u32 {
        self.detection.reorderings_seen()
    }

    /// Expiries of the retransmission timer since the last round-trip sample.
    #[must_use]
    pub const fn back_off(&self) -> u32 {
        self.timeout.back_off()
    }

    fn before(&self) -> Before {
        Before {
            una: self.space.una(),
            in_flight: self.in_flight(),
            lost_in_all: self.detection.lost_in_all(),
            inflation: match self.repair.phase() {
                Phase::FastRecovery(recovery) => recovery.inflation,
                Phase::Open => u64::from(self.detection.duplicates()) * self.congestion.mss(),
                Phase::Timeout { .. } => 0,
            },
        }
    }
}

/// Whether anybody wants to know what each acknowledgment delivers.
fn watches_deliveries(config: &Config, congestion: &Congestion) -> bool {
    let of_reports = config.loss_detection == LossDetection::Rack
        || config.growth_credit == GrowthCredit::Delivered
        || config.timer_restart == TimerRestart::Front
        || config.reported_rtt == ReportedRtt::Sampled;
    (config.sack && of_reports)
        || congestion.observes()
        || config.reduction != Reduction::AtOnce
        || config.spurious_detection != SpuriousDetection::default()
        || config.differentiation.is_some()
}

#[cfg(test)]
mod tests;
