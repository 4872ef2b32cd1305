//! The send side of an endpoint that may never send: until data is written it holds little more
//! than the peer's window, so that very many receiving endpoints fit in memory.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::cell::OnceCell;

use airtcp_units::{Duration, Instant};

use crate::config::{Config, CongestionControl};
use crate::observer::Observer;
use crate::rtt::Echo;
use crate::sender::{Acknowledgment, MarkFeedback, Sender, Transmission};
use crate::timeout::RetransmissionTimeout;

/// A [`Sender`] from its first use on, and until then the inputs it will need.
#[derive(Clone, Debug)]
pub struct SendSide {
    config: Arc<Config>,
    /// Payload of a full segment, in bytes.
    mss: u32,
    /// Whether both sides send timestamps: `config` has our offer.
    timestamps: bool,
    /// The form in which the peer reports congestion marks.
    marks: MarkFeedback,
    /// First byte beyond the peer's window, and the largest that it ever was.
    right_edge: u64,
    largest: u64,
    /// The handshake's measurement, in two parts that take less room than one.
    stage: Stage,
    measured: Duration,
    /// Whether it was polled when it had nothing to send.
    polled: bool,
    sender: OnceCell<Box<Sender>>,
}

/// The handshake's measurement.
#[derive(Clone, Copy, Debug)]
pub(super) enum Opening {
    /// The handshake is not complete.
    Incomplete,
    /// A round trip.
    Timed(Duration),
    /// Nothing: its segment was sent more than once.
    Untimed,
    /// No round trip, and the SYN counts as lost: the RTO for data; the window begins with one
    /// segment.
    TimedOut(Duration),
    /// No round trip, and nothing was lost: the RTO for data.
    Unsure(Duration),
    /// A round trip, although the SYN was lost: the window begins with one segment.
    Restarted(Duration),
}

/// The kind of [`Opening`].
#[derive(Clone, Copy, Debug)]
enum Stage {
    Incomplete,
    Timed,
    Untimed,
    TimedOut,
    Unsure,
    Restarted,
}

impl Opening {
    const fn parts(self) -> (Stage, Duration) {
        match self {
            Self::Incomplete => (Stage::Incomplete, Duration::ZERO),
            Self::Timed(rtt) => (Stage::Timed, rtt),
            Self::Untimed => (Stage::Untimed, Duration::ZERO),
            Self::TimedOut(rto) => (Stage::TimedOut, rto),
            Self::Unsure(rto) => (Stage::Unsure, rto),
            Self::Restarted(rtt) => (Stage::Restarted, rtt),
        }
    }

    /// Passes the measurement on to the sender, with the peer's window.
    fn tell(self, sender: &mut Sender, window: u64) {
        match self {
            Self::Incomplete => {}
            Self::Timed(rtt) => sender.on_established(window, Some(rtt), None),
            Self::Untimed => sender.on_established(window, None, None),
            Self::Unsure(rto) => sender.on_established(window, None, Some(rto)),
            Self::TimedOut(rto) => {
                sender.on_established(window, None, Some(rto));
                sender.begin_with_one_segment();
            }
            Self::Restarted(rtt) => {
                sender.on_established(window, Some(rtt), None);
                sender.begin_with_one_segment();
            }
        }
    }
}

impl SendSide {
    /// Creates a send side to which nothing has been written.
    pub fn new(config: Arc<Config>) -> Self {
        Self {
            mss: config.mss,
            timestamps: config.timestamps,
            marks: MarkFeedback::None,
            config,
            right_edge: 0,
            largest: 0,
            stage: Stage::Incomplete,
            measured: Duration::ZERO,
            polled: false,
            sender: OnceCell::new(),
        }
    }

    /// The endpoint's configuration.
    #[inline]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The sender, read-only.
    pub fn get(&self) -> &Sender {
        self.sender.get_or_init(|| self.make())
    }

    /// The sender, created if necessary.
    pub fn get_mut(&mut self) -> &mut Sender {
        if self.sender.get().is_none() {
            self.sender = OnceCell::from(self.make());
        }
        self.made().expect("made above")
    }

    /// The sender, if there is one, for anything that may let more leave.
    #[inline]
    fn made(&mut self) -> Option<&mut Sender> {
        let sender = self.sender.get_mut()?;
        sender.reconsider();
        Some(sender)
    }

    /// Notifies a control that is not compiled in of the end of the connection.
    pub fn release_control(&mut self) {
        if let Some(sender) = self.made() {
            sender.release_external();
        }
    }

    fn make(&self) -> Box<Sender> {
        // `config` has our offer; the sender uses the options that both sides support.
        let mut negotiated = Arc::clone(&self.config);
        if negotiated.timestamps != self.timestamps {
            Arc::make_mut(&mut negotiated).timestamps = self.timestamps;
        }
        let mut sender = Box::new(Sender::sharing(negotiated, self.mss));
        sender.heed_marks(self.marks);
        let opening = self.opening();
        if !matches!(opening, Opening::Incomplete) {
            opening.tell(&mut sender, self.largest);
            sender.resume_window(self.right_edge);
        }
        if self.polled {
            sender.on_nothing_to_send();
        }
        sender
    }

    /// Applies the peer's SYN: segments carry `mss` bytes, arrivals are SACKed if `sack`, and both
    /// sides send `timestamps` or neither.
    pub fn on_peer_syn(&mut self, mss: u32, sack: bool, timestamps: bool) {
        self.mss = mss;
        self.timestamps = timestamps;
        if self.config.sack != sack {
            // The configuration may be shared.
            Arc::make_mut(&mut self.config).sack = sack;
        }
        if let Some(before) = self.sender.take() {
            let sender = self.get_mut();
            sender.keep_small_segments(&before);
            sender.write(before.offered());
            if before.is_closed() {
                sender.close();
            }
        }
    }

    /// Sets the form in which the peer reports congestion marks; call before its SYN is applied.
    pub const fn heed_marks(&mut self, marks: MarkFeedback) {
        self.marks = marks;
    }

    /// Follows the peer's count of marks from the handshake's end on, at which it may have counted
    /// one on our SYN-ACK.
    pub fn begin_count(&mut self, marked_syn_ack: bool) {
        let marks = MarkFeedback::Count { marked_syn_ack };
        self.marks = marks;
        if let Some(sender) = self.made() {
            sender.heed_marks(marks);
        }
    }

    /// As [`Sender::heeds_each_mark`].
    #[inline]
    pub fn heeds_each_mark(&self) -> bool {
        self.sender
            .get()
            .is_some_and(|sender| sender.heeds_each_mark())
    }

    /// As [`Sender::take_reduced`].
    #[inline]
    pub fn take_reduced(&mut self) -> bool {
        self.sender
            .get_mut()
            .is_some_and(|sender| sender.take_reduced())
    }

    const fn opening(&self) -> Opening {
        match self.stage {
            Stage::Incomplete => Opening::Incomplete,
            Stage::Timed => Opening::Timed(self.measured),
            Stage::Untimed => Opening::Untimed,
            Stage::TimedOut => Opening::TimedOut(self.measured),
            Stage::Unsure => Opening::Unsure(self.measured),
            Stage::Restarted => Opening::Restarted(self.measured),
        }
    }

    fn note_window(&mut self, right_edge: u64) {
        self.right_edge = right_edge;
        self.largest = self.largest.max(right_edge);
    }

    /// As [`Sender::on_established`].
    pub fn on_established(&mut self, window: u64, opening: Opening) {
        self.note_window(window);
        (self.stage, self.measured) = opening.parts();
        if let Some(sender) = self.made() {
            opening.tell(sender, window);
        }
    }

    /// The retransmission timeout that the handshake's measurement gives.
    pub fn first_timeout(&self) -> Duration {
        let mut timeout = RetransmissionTimeout::new(Arc::clone(&self.config));
        match self.opening() {
            Opening::Timed(rtt) | Opening::Restarted(rtt) => timeout.on_sample(rtt, 0, 0),
            Opening::TimedOut(rto) | Opening::Unsure(rto) => timeout.reinitialize(rto),
            Opening::Incomplete | Opening::Untimed => {}
        }
        timeout.rto()
    }

    /// Largest payload of a segment, in bytes.
    #[inline]
    pub fn mss(&self) -> u64 {
        u64::from(self.mss)
    }

    /// The same, as agreed on in the handshake.
    #[inline]
    pub const fn agreed_payload(&self) -> u32 {
        self.mss
    }

    /// Sets the link's retransmission timeout: a sender created later needs it too.
    pub fn on_link_retry_timeout(&mut self, timeout: Duration) {
        let mut told = self.config.link_feedback;
        told.take_retry_timeout(timeout);
        if told != self.config.link_feedback {
            Arc::make_mut(&mut self.config).link_feedback = told;
        }
        if let Some(sender) = self.made() {
            sender.on_link_retry_timeout(timeout);
        }
    }

    /// Switches the congestion control to `control`.
    pub fn set_congestion_control(&mut self, control: CongestionControl) {
        Arc::make_mut(&mut self.config).congestion = control;
        let config = Arc::clone(&self.config);
        if let Some(sender) = self.made() {
            sender.set_congestion(&config);
        }
    }

    /// Limits how often a SYN is retransmitted.
    pub fn set_syn_retries(&mut self, most: u8) {
        Arc::make_mut(&mut self.config).limits.syn_retries = most;
    }

    /// Lowers the MSS that our SYN offers and segments carry to `mss` bytes, before the handshake
    /// is complete.
    pub fn offer_less(&mut self, mss: u32) {
        if mss < self.config.mss {
            Arc::make_mut(&mut self.config).mss = mss;
            self.mss = mss;
        }
    }

    /// Limits the payload of a segment to the path's `mss` bytes.
    pub fn on_path_limit(&mut self, mss: u64) {
        if let Some(sender) = self.made() {
            sender.on_path_limit(mss);
        }
    }

    /// First unacknowledged byte.
    #[inline]
    pub fn una(&self) -> u64 {
        self.sender.get().map_or(0, |sender| sender.una())
    }

    /// First byte never sent.
    #[inline]
    pub fn nxt(&self) -> u64 {
        self.sender.get().map_or(0, |sender| sender.nxt())
    }

    /// End of the data written by the application.
    #[inline]
    pub fn written(&self) -> u64 {
        self.sender.get().map_or(0, |sender| sender.written())
    }

    /// First byte beyond the peer's window.
    #[inline]
    pub fn right_edge(&self) -> u64 {
        self.sender
            .get()
            .map_or(self.right_edge, |sender| sender.right_edge())
    }

    /// Whether a FIN has been requested.
    #[inline]
    pub fn is_closed(&self) -> bool {
        self.sender.get().is_some_and(|sender| sender.is_closed())
    }

    /// Whether everything, the FIN included, is acknowledged.
    #[inline]
    pub fn is_finished(&self) -> bool {
        self.sender.get().is_some_and(|sender| sender.is_finished())
    }

    /// Number of retransmission timers that expired.
    pub fn timeouts(&self) -> u64 {
        self.sender
            .get()
            .map_or(0, |sender| sender.counters().timeouts)
    }

    /// Time of the next wake-up; [`Instant::FAR_FUTURE`] for never.
    #[inline]
    pub fn next_wakeup(&self) -> Instant {
        self.sender
            .get()
            .map_or(Instant::FAR_FUTURE, |sender| sender.next_wakeup())
    }

    /// As [`Sender::on_wakeup`].
    pub fn on_wakeup(&mut self, now: Instant, observer: &mut impl Observer) -> bool {
        self.made()
            .is_some_and(|sender| sender.on_wakeup(now, observer))
    }

    /// As [`Sender::restart_timer`].
    pub fn restart_timer(&mut self, now: Instant) {
        if let Some(sender) = self.made() {
            sender.restart_timer(now);
        }
    }

    /// Whether [`poll`](Self::poll) would return and change nothing.
    #[inline]
    pub fn is_silent(&self) -> bool {
        self.sender
            .get()
            .map_or(self.polled, |sender| sender.is_silent())
    }

    /// As [`is_silent`](Self::is_silent), of a sender that has just filled its window.
    #[inline]
    pub fn is_full(&self, now: Instant) -> bool {
        (self.sender.get()).is_some_and(|sender| sender.is_full(now))
    }

    /// As [`is_silent`](Self::is_silent), of a sender that must wait before its next burst.
    #[inline]
    pub fn is_waiting_for_pace(&self, now: Instant) -> bool {
        self.sender
            .get()
            .is_some_and(|sender| sender.is_waiting_for_pace(now))
    }

    /// Returns the next segment to send at `now`, if any.
    #[inline]
    pub fn poll(&mut self, now: Instant) -> Option<Transmission> {
        match self.sender.get_mut() {
            Some(sender) => sender.poll(now),
            None => {
                self.polled = true;
                None
            }
        }
    }

    /// As [`Sender::on_acknowledgment`].
    #[inline]
    pub fn on_acknowledgment(
        &mut self,
        now: Instant,
        acknowledgment: &Acknowledgment<'_>,
        observer: &mut impl Observer,
    ) {
        match self.made() {
            Some(sender) => sender.on_acknowledgment(now, acknowledgment, observer),
            None => self.note_window(acknowledgment.right_edge),
        }
    }

    /// Whether an acknowledgment that covers and SACKs nothing can only move the window.
    #[inline]
    pub fn is_at_rest(&self) -> bool {
        self.sender.get().is_none_or(|sender| sender.is_at_rest())
    }

    /// Sets the peer's window to `right_edge`, and leaves everything else as it was.
    #[inline]
    pub fn on_window(&mut self, now: Instant, right_edge: u64) {
        match self.made() {
            Some(sender) => sender.on_window(now, right_edge),
            None => self.note_window(right_edge),
        }
    }

    /// As [`Sender::is_ordinary`].
    #[inline]
    pub fn is_ordinary(&self) -> bool {
        self.sender.get().is_some_and(|sender| sender.is_ordinary())
    }

    /// As [`Sender::on_ordinary_acknowledgment`].
    #[inline]
    pub fn on_ordinary_acknowledgment(
        &mut self,
        now: Instant,
        offset: u64,
        right_edge: u64,
        echo: impl Fn() -> Option<Echo>,
        observer: &mut impl Observer,
    ) {
        if let Some(sender) = self.made() {
            sender.on_ordinary_acknowledgment(now, offset, right_edge, echo, observer);
        }
    }
}
