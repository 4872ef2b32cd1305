//! The send side of an endpoint that may never send: until something is written it is no more than
//! the window that the peer offers, so that very many receiving ends fit.

use std::cell::OnceCell;
use std::sync::Arc;

use airtcp_units::{Duration, Instant};

use crate::config::{Config, CongestionControl};
use crate::observer::Observer;
use crate::sender::{Acknowledgment, Echo, Sender, Transmission};

/// A [`Sender`] from when it is first needed, and what it would have been told before.
#[derive(Clone, Debug)]
pub struct SendSide {
    config: Arc<Config>,
    /// Payload of a full segment, in bytes.
    mss: u32,
    /// Whether both sides send timestamps: `config` says what we offer.
    timestamps: bool,
    /// Whether both sides understand marks of congestion.
    marks: bool,
    /// First byte the peer has no room for, and the largest that it ever was.
    right_edge: u64,
    largest: u64,
    /// What the handshake measured, in two parts that take less room than one.
    stage: Stage,
    measured: Duration,
    /// Whether it was polled when it had nothing.
    polled: bool,
    sender: OnceCell<Box<Sender>>,
}

/// What the handshake measured.
#[derive(Clone, Copy, Debug)]
pub(super) enum Opening {
    /// It is not complete.
    Incomplete,
    /// A round trip.
    Timed(Duration),
    /// Nothing: it was sent more than once.
    Untimed,
    /// That its own timer was too short: the RTO for data is this one.
    TimedOut(Duration),
}

/// Which [`Opening`] it is.
#[derive(Clone, Copy, Debug)]
enum Stage {
    Incomplete,
    Timed,
    Untimed,
    TimedOut,
}

impl Opening {
    const fn parts(self) -> (Stage, Duration) {
        match self {
            Self::Incomplete => (Stage::Incomplete, Duration::ZERO),
            Self::Timed(rtt) => (Stage::Timed, rtt),
            Self::Untimed => (Stage::Untimed, Duration::ZERO),
            Self::TimedOut(rto) => (Stage::TimedOut, rto),
        }
    }

    /// Tells the sender of it, and the window that the peer offers.
    fn tell(self, sender: &mut Sender, window: u64) {
        match self {
            Self::Incomplete => {}
            Self::Timed(rtt) => sender.on_established(window, Some(rtt), None),
            Self::Untimed => sender.on_established(window, None, None),
            Self::TimedOut(rto) => sender.on_established(window, None, Some(rto)),
        }
    }
}

impl SendSide {
    /// Nothing is written yet.
    pub fn new(config: Arc<Config>) -> Self {
        Self {
            mss: config.mss,
            timestamps: config.timestamps,
            marks: false,
            config,
            right_edge: 0,
            largest: 0,
            stage: Stage::Incomplete,
            measured: Duration::ZERO,
            polled: false,
            sender: OnceCell::new(),
        }
    }

    /// What the endpoint is set to.
    #[inline]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The sender, to look at.
    pub fn get(&self) -> &Sender {
        self.sender.get_or_init(|| self.make())
    }

    /// The sender, to be given something to do.
    pub fn get_mut(&mut self) -> &mut Sender {
        if self.sender.get().is_none() {
            self.sender = OnceCell::from(self.make());
        }
        self.sender.get_mut().expect("made above")
    }

    fn make(&self) -> Box<Sender> {
        // Our SYN says what we offer; the sender goes by what both do.
        let negotiated = Config {
            timestamps: self.timestamps,
            ..*self.config
        };
        let mut sender = Box::new(Sender::new(&negotiated, self.mss));
        if self.marks {
            sender.heed_marks();
        }
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

    /// The peer's SYN came: segments carry `mss` bytes, what arrives is reported if `sack`, and
    /// both sides send `timestamps` or neither.
    pub fn on_peer_syn(&mut self, mss: u32, sack: bool, timestamps: bool) {
        self.mss = mss;
        self.timestamps = timestamps;
        if self.config.sack != sack {
            // Others may share the configuration.
            Arc::make_mut(&mut self.config).sack = sack;
        }
        if let Some(before) = self.sender.take() {
            let sender = self.get_mut();
            sender.keep_small_segments(&before);
            sender.write(before.written());
            if before.is_closed() {
                sender.close();
            }
        }
    }

    /// Whether the peer echoes marks of congestion; to be told before its SYN is.
    pub const fn heed_marks(&mut self, marks: bool) {
        self.marks = marks;
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
        if let Some(sender) = self.sender.get_mut() {
            opening.tell(sender, window);
        }
    }

    /// The largest payload of a segment, in bytes.
    #[inline]
    pub fn mss(&self) -> u64 {
        u64::from(self.mss)
    }

    /// The same as the handshake agreed on it.
    #[inline]
    pub const fn agreed_payload(&self) -> u32 {
        self.mss
    }

    /// The link says after how long it retransmits: a sender that is made later has to know, too.
    pub fn on_link_retry_timeout(&mut self, timeout: Duration) {
        let mut told = self.config.link_feedback;
        told.take_retry_timeout(timeout);
        if told != self.config.link_feedback {
            Arc::make_mut(&mut self.config).link_feedback = told;
        }
        if let Some(sender) = self.sender.get_mut() {
            sender.on_link_retry_timeout(timeout);
        }
    }

    /// The congestion control is `control` from now on.
    pub fn set_congestion_control(&mut self, control: CongestionControl) {
        let config = Arc::make_mut(&mut self.config);
        config.congestion = control;
        if let Some(sender) = self.sender.get_mut() {
            sender.set_congestion(config);
        }
    }

    /// No more than `mss` bytes of payload fit in a packet on the path.
    pub fn on_path_limit(&mut self, mss: u64) {
        if let Some(sender) = self.sender.get_mut() {
            sender.on_path_limit(mss);
        }
    }

    /// First byte not acknowledged.
    #[inline]
    pub fn una(&self) -> u64 {
        self.sender.get().map_or(0, |sender| sender.una())
    }

    /// First byte never sent.
    #[inline]
    pub fn nxt(&self) -> u64 {
        self.sender.get().map_or(0, |sender| sender.nxt())
    }

    /// End of what the application has written.
    #[inline]
    pub fn written(&self) -> u64 {
        self.sender.get().map_or(0, |sender| sender.written())
    }

    /// First byte the peer has no room for.
    #[inline]
    pub fn right_edge(&self) -> u64 {
        self.sender
            .get()
            .map_or(self.right_edge, |sender| sender.right_edge())
    }

    /// Whether a FIN has been asked for.
    #[inline]
    pub fn is_closed(&self) -> bool {
        self.sender.get().is_some_and(|sender| sender.is_closed())
    }

    /// Whether everything, the FIN included, is acknowledged.
    #[inline]
    pub fn is_finished(&self) -> bool {
        self.sender.get().is_some_and(|sender| sender.is_finished())
    }

    /// Retransmission timers that expired.
    pub fn timeouts(&self) -> u64 {
        self.sender
            .get()
            .map_or(0, |sender| sender.counters().timeouts)
    }

    /// When it wants to be woken; [`Instant::FAR_FUTURE`] for never.
    #[inline]
    pub fn next_wakeup(&self) -> Instant {
        self.sender
            .get()
            .map_or(Instant::FAR_FUTURE, |sender| sender.next_wakeup())
    }

    /// As [`Sender::on_wakeup`].
    pub fn on_wakeup(&mut self, now: Instant, observer: &mut impl Observer) -> bool {
        self.sender
            .get_mut()
            .is_some_and(|sender| sender.on_wakeup(now, observer))
    }

    /// As [`Sender::restart_timer`].
    pub fn restart_timer(&mut self, now: Instant) {
        if let Some(sender) = self.sender.get_mut() {
            sender.restart_timer(now);
        }
    }

    /// Whether [`poll`](Self::poll) would give and change nothing.
    #[inline]
    pub fn is_silent(&self) -> bool {
        self.sender
            .get()
            .map_or(self.polled, |sender| sender.is_silent())
    }

    /// As [`is_silent`](Self::is_silent), of a sender whose next burst may not leave yet.
    #[inline]
    pub fn is_waiting_for_pace(&self, now: Instant) -> bool {
        self.sender
            .get()
            .is_some_and(|sender| sender.is_waiting_for_pace(now))
    }

    /// The next segment to send at `now`, until there is none.
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
        match self.sender.get_mut() {
            Some(sender) => sender.on_acknowledgment(now, acknowledgment, observer),
            None => self.note_window(acknowledgment.right_edge),
        }
    }

    /// Whether an acknowledgment that covers and reports nothing can only move the window.
    #[inline]
    pub fn is_at_rest(&self) -> bool {
        self.sender.get().is_none_or(|sender| sender.is_at_rest())
    }

    /// The peer's window is now `right_edge`, and all else is as it was.
    #[inline]
    pub fn on_window(&mut self, now: Instant, right_edge: u64) {
        match self.sender.get_mut() {
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
        if let Some(sender) = self.sender.get_mut() {
            sender.on_ordinary_acknowledgment(now, offset, right_edge, echo, observer);
        }
    }
}
