//! A connection: the state machine of RFC 9293 around a sender and a receiver.
//!
//! ```text
//!   connect ─▶ SynSent ──────────▶ Established ─▶ FinWait1 ─▶ FinWait2 ─▶ TimeWait ─▶ Closed
//!   listen ──▶ Listen ─▶ SynReceived ─┘   │           └─▶ Closing ──────────┘
//!                                         └─▶ CloseWait ─▶ LastAck ─▶ Closed
//! ```
//!
//! Here 64-bit stream offsets are converted to and from 32-bit sequence numbers.

mod accel_brake;
mod accurate_ecn;
mod arrival;
mod bytes;
mod challenge;
mod driver;
mod ecn;
mod ending;
mod fast_open;
mod freeze;
mod handshake;
mod ordinary;
mod output;
mod patience;
mod rare;
mod send_side;
mod timestamps;

use alloc::boxed::Box;
use alloc::sync::Arc;

use airtcp_packet::{LinkFeedback, Segment, SequenceNumber};
use airtcp_units::{Duration, Instant};

use crate::config::Config;
use crate::observer::Observer;
use crate::receiver::Receiver;
use crate::sender::Sender;
use ecn::EcnState;
use handshake::Handshake;
use patience::Effort;
use rare::Rare;
use send_side::SendSide;
use timestamps::{Clock, TimestampState};

pub use ending::End;
pub use fast_open::{FastOpenAnswer, FastOpenSyn, SynData};

/// The states of RFC 9293 §3.3.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No connection.
    Closed,
    /// Waiting for a SYN.
    Listen,
    /// Sent a SYN.
    SynSent,
    /// Received a SYN and sent one.
    SynReceived,
    /// Data flows.
    Established,
    /// Sent a FIN.
    FinWait1,
    /// The FIN is acknowledged.
    FinWait2,
    /// Received a FIN.
    CloseWait,
    /// Both sent a FIN, ours is not acknowledged.
    Closing,
    /// Received a FIN, then sent one.
    LastAck,
    /// Both are closed; late segments may still come.
    TimeWait,
}

/// One endpoint of a TCP connection.
#[derive(Clone, Debug)]
pub struct Connection {
    state: State,
    /// Initial sequence numbers: ours, and the peer's.
    iss: SequenceNumber,
    irs: SequenceNumber,
    /// Present until the connection is established; boxed, so that very many established ones fit
    /// in memory.
    handshake: Option<Box<Handshake>>,
    sender: SendSide,
    receiver: Receiver,
    /// Shifts of the window field, for sending and for receiving (RFC 7323 §2.2).
    our_scale: u8,
    peer_scale: u8,
    timestamps: TimestampState,
    ecn: EcnState,
    /// Sequence and acknowledgment offset of the segment last used to update the peer's window
    /// (RFC 9293 §3.10.7.4, SND.WL1 and SND.WL2): the low halves, as in sequence numbers.
    window_from: [SequenceNumber; 2],
    /// The largest window the peer has announced, in bytes (RFC 5961 §5.2, MAX.SND.WND).
    largest_window: u32,
    rare: Option<Box<Rare>>,
    probe_due: bool,
    /// Whether a zero window is announced, whatever the free space (Freeze-TCP).
    frozen: bool,
    /// Whether the data of a SYN arrived.
    syn_data: SynData,
    /// Acknowledgments that leave before any data: the one that ends a handshake, and copies of the
    /// last after a freeze.
    acks_out_of_turn: u8,
    #[cfg(test)]
    ways: ordinary::Ways,
}

impl Connection {
    /// Creates an endpoint that opens the connection; [`poll`](Self::poll) first returns its SYN.
    #[must_use]
    pub fn connect(config: &Config, iss: SequenceNumber) -> Self {
        Self::connect_sharing(Arc::new(*config), iss)
    }

    /// As [`connect`](Self::connect), with configuration shared by very many endpoints.
    #[must_use]
    pub fn connect_sharing(config: Arc<Config>, iss: SequenceNumber) -> Self {
        let mut connection = Self::new(config, iss, State::SynSent);
        connection.handshake().syn_due = true;
        connection
    }

    /// Creates an endpoint that waits for a SYN.
    #[must_use]
    pub fn listen(config: &Config, iss: SequenceNumber) -> Self {
        Self::listen_sharing(Arc::new(*config), iss)
    }

    /// As [`listen`](Self::listen), with configuration shared by very many endpoints.
    #[must_use]
    pub fn listen_sharing(config: Arc<Config>, iss: SequenceNumber) -> Self {
        Self::new(config, iss, State::Listen)
    }

    fn new(config: Arc<Config>, iss: SequenceNumber, state: State) -> Self {
        let user_timeout = config.limits.user_timeout;
        let mut connection = Self {
            state,
            iss,
            irs: SequenceNumber(0),
            handshake: None,
            receiver: Receiver::new(&config, config.mss),
            our_scale: handshake::window_scale(config.receive_buffer),
            peer_scale: 0,
            timestamps: TimestampState::new(config.timestamps),
            ecn: EcnState::Off,
            window_from: [SequenceNumber(0); 2],
            largest_window: 0,
            rare: None,
            probe_due: false,
            frozen: false,
            syn_data: SynData::None,
            acks_out_of_turn: 0,
            sender: SendSide::new(config),
            #[cfg(test)]
            ways: ordinary::Ways::default(),
        };
        if user_timeout.is_some() {
            connection.set_user_timeout(user_timeout);
        }
        connection
    }

    /// Appends `bytes` to the stream to be sent.
    pub fn write(&mut self, bytes: u64) {
        self.sender.get_mut().write(bytes);
    }

    /// Sets whether small segments leave at once (TCP_NODELAY) or wait while one is unacknowledged
    /// (RFC 9293 §3.7.4).
    pub fn set_no_delay(&mut self, no_delay: bool) {
        self.sender.get_mut().set_no_delay(no_delay);
    }

    /// Sets whether only full segments may leave (TCP_CORK).
    pub fn set_corked(&mut self, corked: bool) {
        self.sender.get_mut().set_corked(corked);
    }

    /// Sets whether the data written last waits for more, until an acknowledgment arrives
    /// (MSG_MORE).
    pub fn set_more(&mut self, more: bool) {
        self.sender.get_mut().set_more(more);
    }

    /// Whether a record is written beyond the data the connection knows of; [`Records`] keeps it.
    ///
    /// [`Records`]: crate::Records
    pub(crate) fn set_followed(&mut self, followed: bool) {
        self.sender.get_mut().set_followed(followed);
    }

    /// Takes up to `most` received bytes for the application; returns their number.
    #[inline]
    pub fn read(&mut self, most: u64) -> u64 {
        self.receiver.read(most)
    }

    /// Processes a segment that arrived at `now`. Any segment is safe to pass in. Call
    /// [`poll`](Self::poll) afterwards.
    #[inline]
    pub fn handle(&mut self, now: Instant, segment: &Segment, observer: &mut impl Observer) {
        if self.take_ordinary(now, segment, observer) {
            return;
        }
        match self.state {
            State::Closed => self.answer_stray(segment),
            State::Listen => self.on_segment_in_listen(now, segment, observer),
            State::SynSent => self.on_segment_in_syn_sent(now, segment, observer),
            _ => self.on_segment_in_synchronized(now, segment, observer),
        }
    }

    /// Processes a message from the link. Explicit bad-state notification restarts a running
    /// retransmission timer with the current RTO; neither the estimator nor the window changes
    /// (Bakshi, Krishna, Vaidya & Pradhan 1997, §5). Reports of deliveries by the link are used
    /// according to [`LinkFeedbackConfig`](crate::config::LinkFeedbackConfig).
    pub fn on_feedback(
        &mut self,
        now: Instant,
        feedback: &LinkFeedback,
        _observer: &mut impl Observer,
    ) {
        match feedback {
            LinkFeedback::BadState => self.sender.restart_timer(now),
            LinkFeedback::RetryTimeout(timeout) => self.sender.on_link_retry_timeout(*timeout),
            LinkFeedback::Delivered {
                sequence,
                retransmissions,
            } => {
                let offset = self.sent_offset(*sequence);
                let sender = self.sender.get_mut();
                sender.on_link_delivered(offset, *retransmissions);
            }
        }
    }

    /// Time at which to call [`on_wakeup`](Self::on_wakeup); [`Instant::FAR_FUTURE`] for never.
    #[inline]
    #[must_use]
    pub fn next_wakeup(&self) -> Instant {
        match self.state {
            State::Closed | State::Listen => Instant::FAR_FUTURE,
            State::SynSent | State::SynReceived => {
                self.handshake_deadline().min(self.receiver.next_wakeup())
            }
            State::TimeWait => self.ending().deadline.min(self.receiver.next_wakeup()),
            _ => self
                .sender
                .next_wakeup()
                .min(self.receiver.next_wakeup())
                .min(self.rare_deadline()),
        }
    }

    /// Handles the timers that have expired by `now`. Call [`poll`](Self::poll) afterwards.
    pub fn on_wakeup(&mut self, now: Instant, observer: &mut impl Observer) {
        match self.state {
            State::Closed | State::Listen => {}
            State::SynSent | State::SynReceived => {
                self.receiver.on_wakeup(now);
                self.on_handshake_timeout(now, observer);
            }
            State::TimeWait => {
                self.receiver.on_wakeup(now);
                self.on_ending_deadline(now, observer);
            }
            _ => {
                self.receiver.on_wakeup(now);
                self.on_ending_deadline(now, observer);
                self.wake_sender(now, observer);
            }
        }
    }

    /// Handles the sender's timers; an expiry may exceed a limit of the connection's patience.
    fn wake_sender(&mut self, now: Instant, observer: &mut impl Observer) {
        let timeouts = self.sender.timeouts();
        let probe = self.sender.on_wakeup(now, observer);
        let effort = Effort {
            timeout: self.sender.timeouts() > timeouts,
            probe,
        };
        if self.is_patience_lost(now, effort) {
            self.on_patience_lost(now, observer);
        } else if probe {
            self.probe_due = true;
        }
    }

    /// Sets how long written data may go unacknowledged, in place of the configured limits
    /// (TCP_USER_TIMEOUT); `None` restores those.
    pub fn set_user_timeout(&mut self, most: Option<Duration>) {
        self.rare_mut().patience.set_user_timeout(most);
    }

    /// The current state.
    #[must_use]
    pub const fn state(&self) -> State {
        self.state
    }

    /// Whether both sides use ECN (RFC 3168 §6.1.1).
    #[must_use]
    pub const fn has_ecn(&self) -> bool {
        self.ecn.is_agreed()
    }

    /// Whether both sides count congestion marks (RFC 9768 §3.1.1).
    #[must_use]
    pub const fn has_accurate_ecn(&self) -> bool {
        self.ecn.is_accurate()
    }

    /// The send side, read-only.
    #[must_use]
    pub fn sender(&self) -> &Sender {
        self.sender.get()
    }

    /// The receive side, read-only.
    #[must_use]
    pub const fn receiver(&self) -> &Receiver {
        &self.receiver
    }

    /// The clock of our timestamps.
    #[inline]
    fn clock(&self) -> Clock {
        Clock::new(self.sender.config().timestamp_tick)
    }

    /// The stream offset of `sequence` among the bytes we send.
    #[inline]
    fn sent_offset(&self, sequence: SequenceNumber) -> u64 {
        relative(sequence, self.iss).expand(self.sender.una())
    }

    /// The stream offset of `sequence` among the bytes we receive.
    #[inline]
    fn received_offset(&self, sequence: SequenceNumber) -> u64 {
        relative(sequence, self.irs).expand(self.receiver.next_expected())
    }

    /// The sequence number of a stream offset we send: the SYN takes the first.
    #[inline]
    fn sequence(&self, offset: u64) -> SequenceNumber {
        at(self.iss, offset)
    }
}

/// `sequence` relative to the byte after the SYN numbered `initial`.
#[inline]
const fn relative(sequence: SequenceNumber, initial: SequenceNumber) -> SequenceNumber {
    SequenceNumber(sequence.0.wrapping_sub(initial.0).wrapping_sub(1))
}

/// The sequence number at stream `offset` after the SYN numbered `initial`.
#[inline]
const fn at(initial: SequenceNumber, offset: u64) -> SequenceNumber {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "sequence numbers wrap (RFC 9293 §3.4)"
    )]
    SequenceNumber(initial.0.wrapping_add(1).wrapping_add(offset as u32))
}

#[cfg(test)]
mod tests;
