//! The send side: which bytes to send next, and when to wake up.
//!
//! A [`Sender`] is composed of parts. Each owns its fields, answers questions, and returns values
//! or small effects that the sender carries out:
//!
//! | part | knows |
//! |---|---|
//! | [`SendSpace`] | the data acknowledged, sent, written, and allowed by the peer |
//! | [`Timers`] | the timers: one table, each with its reason |
//! | [`Scoreboard`] | every outstanding segment |
//! | [`Detection`] | losses: by duplicates, SACKs or time |
//! | [`Repair`] | the recovery in progress, with one way in and one way out, and its undo state |
//! | [`Congestion`], [`Growth`] | the window, and whether it was used |
//! | [`RetransmissionTimeout`], [`RoundTrips`] | the RTO, and the round trips that are measured |
//! | [`TailProbe`], [`ZeroWindow`] | the two kinds of probes |
//! | [`Pacing`], [`SmallSegments`] | data held back although the windows allow it |
//! | [`Trains`] | segments that leave together, with PSH on the last |
//! | [`PathMtu`] | the largest segment that the path carries |
//! | [`Departures`] | segments that still wait in the driver |
//! | [`Marks`], [`CountedMarks`] | reductions of the window for congestion marks; the count |
//! | [`Causes`], [`LinkReports`] | research additions: causes of losses, reports of the link |
//! | [`SendBuffer`] | data that the application could not write yet |
//! | [`Extras`] | storage for the parts that only some senders have |
//!
//! A sender handles three kinds of event, each in a separate file that composes the parts: an
//! [`acknowledgment`] arrives (its [`delivery`] is passed on, a [`loss`] found, a repair found
//! [`spurious`]), a timer [expires](expiry) ([`watch`] decides which one runs), and a segment is
//! polled for: [`transmission`] chooses it, [`departure`] records it.

mod acknowledgment;
mod causes;
mod choices;
mod counted_marks;
mod counters;
mod delivery;
mod departure;
mod detection;
mod expiry;
mod external;
mod extras;
mod growth;
mod living;
mod loss;
mod marks;
mod ordinary;
mod pacing;
mod path_mtu;
mod probe_timeout;
mod recovery_period;
mod repair;
mod round_trips;
mod send_buffer;
mod small_segments;
mod space;
mod spurious;
mod steering;
mod syn_data;
mod tail_probe;
mod timers;
mod trains;
mod transmission;
mod watch;
mod window_usage;
mod zero_window;

use alloc::sync::Arc;

use airtcp_packet::Forecast;
use airtcp_units::{Duration, Instant};

use crate::config::{
    Config, GrowthCredit, Reduction, ReportedRtt, Retransmission, SpuriousDetection,
    SpuriousResponse, TimerRestart, TimerScope,
};
use crate::congestion::{Congestion, Observed};
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
use send_buffer::SendBuffer;
use small_segments::SmallSegments;
use space::SendSpace;
use tail_probe::TailProbe;
use timers::Timers;
use trains::Trains;
use transmission::Polling;
use zero_window::ZeroWindow;

pub use acknowledgment::Acknowledgment;
pub(crate) use counted_marks::FIRST_COUNT;
pub use counters::Counters;
pub use marks::MarkFeedback;
pub use transmission::Transmission;

/// The sender's state when an acknowledgment arrived, in bytes.
#[derive(Clone, Copy, Debug)]
struct Before {
    una: u64,
    in_flight: u64,
    lost_in_all: u64,
    /// Bytes by which duplicates inflated the window.
    inflation: u64,
}

/// The send side of a connection, in offsets of the stream it sends. A FIN takes the offset after
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
    trains: Trains,
    causes: Causes,
    counters: Counts,
    extras: Extras,
    polling: Polling,
}

impl Sender {
    /// Creates a sender without data, for a peer that has announced no window yet.
    #[must_use]
    pub fn new(config: &Config, mss: u32) -> Self {
        Self::sharing(Arc::new(*config), mss)
    }

    /// As [`new`](Self::new), with configuration shared by very many senders.
    #[must_use]
    pub fn sharing(shared: Arc<Config>, mss: u32) -> Self {
        let config = &*shared;
        let mss = u64::from(mss);
        let choices = Choices::new(config);
        let congestion = Congestion::new(config, mss);
        let mut board = Scoreboard::default();
        if watches_deliveries(config, &congestion) {
            board.watch_deliveries();
        }
        let mut extras = Extras::default();
        let needs_rate = congestion.observed() == Observed::Rates;
        extras.set_rate(needs_rate.then(DeliveryRate::default));
        let paces = congestion.paces();
        extras.set_pacing(paces.then(|| Pacing::new(config.pacing_shift)));
        extras.set_link(LinkReports::new(&config.link_feedback));
        extras.set_buffer(config.send_buffer.map(SendBuffer::new));
        // A timeout that only sends probes comes as soon as a tail probe would.
        let probes_at_timeout = choices.retransmission == Retransmission::Probe;
        let probes_tails = config.tail_loss_probe
            && config.sack
            // If each segment has a timer, that one covers the tail too.
            && choices.scope == TimerScope::Connection
            && !probes_at_timeout;
        Self {
            choices,
            space: SendSpace::default(),
            timers: Timers::default(),
            board,
            detection: Detection::new(config),
            repair: Repair::new(config.spurious_response != SpuriousResponse::None),
            congestion,
            growth: Growth::new(config),
            round_trips: RoundTrips::default(),
            tail_probe: TailProbe::new(config, probes_tails, probes_at_timeout),
            zero_window: ZeroWindow::default(),
            small_segments: SmallSegments::new(config.nagle),
            trains: Trains::default(),
            causes: Causes::new(config),
            extras,
            polling: Polling::special(paces || config.send_buffer.is_some()),
            counters: Counts::default(),
            timeout: RetransmissionTimeout::new(shared),
        }
    }

    /// Completes the handshake: the peer offers `window` bytes, and the SYN measured `rtt`. If the
    /// SYN's timer expired, the first RTO for data is `rto` (RFC 6298 §5.7).
    pub fn on_established(&mut self, window: u64, rtt: Option<Duration>, rto: Option<Duration>) {
        self.space.on_window(0, window);
        if let Some(rtt) = rtt {
            self.timeout.on_sample(rtt, 0, 0);
        }
        self.congestion.on_established(rtt);
        if let Some(rto) = rto {
            self.timeout.reinitialize(rto);
        }
    }

    /// Begins with a window of one segment, since the SYN was lost (RFC 5681 §3.1).
    pub fn begin_with_one_segment(&mut self) {
        self.congestion.restart();
    }

    /// Sets the right edge of the peer's window before the first transmission.
    pub(crate) fn resume_window(&mut self, right_edge: u64) {
        self.space.on_window(0, right_edge);
    }

    /// Appends `bytes` to the stream. Ignored after [`close`](Self::close).
    pub fn write(&mut self, bytes: u64) {
        self.trains.end();
        match self.extras.buffer_mut() {
            None => self.space.write(bytes),
            Some(buffer) => {
                buffer.write(bytes);
                self.fill_from_buffer();
            }
        }
    }

    /// Closes the stream: a FIN follows the data written.
    pub fn close(&mut self) {
        match self.extras.buffer_mut() {
            None => self.space.close(),
            Some(buffer) => {
                buffer.close();
                self.fill_from_buffer();
            }
        }
    }

    /// Moves data from the send buffer to the stream as far as there is room.
    fn fill_from_buffer(&mut self) {
        let Some(buffer) = self.extras.buffer_mut() else {
            return;
        };
        let held = self.space.written().saturating_sub(self.space.una());
        let bytes = buffer.take(held, self.congestion.mss());
        self.space.write(bytes);
        if buffer.is_closed() && buffer.waiting() == 0 {
            self.space.close();
        }
    }

    /// Time at which to call [`on_wakeup`](Self::on_wakeup); [`Instant::FAR_FUTURE`] for never.
    #[inline]
    #[must_use]
    pub fn next_wakeup(&self) -> Instant {
        self.timers.next()
    }

    /// First unacknowledged byte.
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

    /// First byte beyond the peer's window.
    #[must_use]
    pub const fn right_edge(&self) -> u64 {
        self.space.right_edge()
    }

    /// End of the data written by the application, as far as the send buffer had room.
    #[must_use]
    pub const fn written(&self) -> u64 {
        self.space.written()
    }

    /// End of the data that the application writes, data still waiting for room included.
    #[must_use]
    pub fn offered(&self) -> u64 {
        let waiting = self.extras.buffer().map_or(0, SendBuffer::waiting);
        self.space.written().saturating_add(waiting)
    }

    /// Whether a FIN has been requested.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        let buffer = self.extras.buffer();
        self.space.is_closed() || buffer.is_some_and(SendBuffer::is_closed)
    }

    /// Whether everything, the FIN included, is acknowledged.
    #[must_use]
    pub const fn is_finished(&self) -> bool {
        self.space.is_finished()
    }

    /// Largest payload of a segment, in bytes.
    #[must_use]
    pub const fn mss(&self) -> u64 {
        self.congestion.mss()
    }

    /// The congestion window in bytes, without the inflation of fast recovery.
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

    /// The current retransmission timeout, backoff included.
    #[must_use]
    pub fn rto(&self) -> Duration {
        self.timeout.rto()
    }

    /// The round-trip estimator.
    #[must_use]
    pub const fn rtt(&self) -> &RttEstimator {
        self.timeout.estimator()
    }

    /// The recovery phase.
    #[must_use]
    pub const fn phase(&self) -> &Phase {
        self.repair.phase()
    }

    /// Counters of the sender's actions.
    #[must_use]
    pub fn counters(&self) -> Counters {
        let (tail_probes, losses_repaired_by_probes) = self.tail_probe.counts();
        Counters {
            tail_probes,
            losses_repaired_by_probes,
            ..self.counters.told()
        }
    }

    /// Number of reductions of the window for congestion marks (RFC 3168 §6.1.2).
    #[must_use]
    pub fn reductions_for_marks(&self) -> u64 {
        let of_each = self.congestion.reductions_for_marks();
        self.extras
            .marks()
            .map_or(0, |marks| marks.reductions() + of_each)
    }

    /// Sets the link's retransmission timeout.
    pub fn on_link_retry_timeout(&mut self, timeout: Duration) {
        if let Some(link) = self.extras.link_mut() {
            link.on_retry_timeout(timeout);
        }
    }

    /// Takes the receiver's forecast, before the acknowledgment that brought it.
    pub fn on_forecast(&mut self, forecast: Forecast) {
        self.congestion.on_forecast(forecast);
    }

    /// Records that the link has delivered the segment at `offset` after this many retransmissions.
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

    /// Sets whether small segments leave at once (TCP_NODELAY).
    pub const fn set_no_delay(&mut self, no_delay: bool) {
        self.small_segments.set_no_delay(no_delay);
    }

    /// Copies the settings for small segments from `before`.
    pub(crate) fn keep_small_segments(&mut self, before: &Self) {
        self.small_segments = before.small_segments.clone();
    }

    /// Sets whether only full segments may leave (TCP_CORK).
    pub const fn set_corked(&mut self, corked: bool) {
        self.small_segments.set_corked(corked);
    }

    /// Sets whether the data written last waits for more, until an acknowledgment arrives
    /// (MSG_MORE).
    pub const fn set_more(&mut self, more: bool) {
        self.small_segments.set_more(more);
    }

    /// Whether a record is written after the bytes that the sender knows of: the last of these need
    /// not wait to be a full segment.
    pub(crate) const fn set_followed(&mut self, followed: bool) {
        self.small_segments.set_followed(followed);
    }

    /// Time of the last transmission, if any.
    #[inline]
    #[must_use]
    pub fn last_sent_at(&self) -> Option<Instant> {
        self.growth.last_sent_at()
    }

    /// The scoreboard, read-only.
    #[must_use]
    pub const fn scoreboard(&self) -> &Scoreboard {
        &self.board
    }

    /// Extent of reordering in segments, at least the duplicate-ACK threshold.
    #[must_use]
    pub fn reordering(&self) -> u32 {
        self.detection.reordering()
    }

    /// Number of segments seen to arrive after a later one, if reordering is tracked.
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

/// Whether any part needs each acknowledgment's delivery.
fn watches_deliveries(config: &Config, congestion: &Congestion) -> bool {
    let of_reports = config.loss_detection.is_by_time()
        || config.quirks.growth_credit == GrowthCredit::Delivered
        || config.quirks.timer_restart == TimerRestart::Front
        || config.quirks.reported_rtt == ReportedRtt::Sampled;
    (config.sack && of_reports)
        || congestion.observed() != Observed::Nothing
        || config.reduction != Reduction::AtOnce
        || config.spurious_detection != SpuriousDetection::default()
        || config.differentiation.is_some()
}

#[cfg(test)]
mod tests;
