//! The end of a connection: closing by either side, the final waits, and the reason.

use airtcp_packet::Segment;
use airtcp_units::{Duration, Instant};

use super::{Connection, State};
use crate::observer::{Event, Observer};

/// Duration of TIME-WAIT: twice the maximum segment lifetime, which RFC 9293 §3.4.2 puts at 2
/// minutes and common stacks at 30 s.
const TIME_WAIT: Duration = Duration::from_secs(60);

/// The reason a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Both sides closed, or ours did before a connection existed.
    Orderly,
    /// The peer reset it, or was reset for sending data with no reader left.
    Reset,
    /// The peer reset it before it was established.
    Refused,
    /// The peer was silent for longer than [`LimitsConfig`](crate::config::LimitsConfig) allows.
    TimedOut,
    /// This side [aborted](Connection::abort) it.
    Aborted,
}

/// State of a connection that is ending.
#[derive(Clone, Debug)]
pub struct Ending {
    /// The reason it ended, once it has.
    pub reason: Option<End>,
    /// Whether data that still arrives will not be read.
    pub reading_is_shut: bool,
    /// Whether the application has released the connection.
    pub is_orphan: bool,
    /// End of TIME-WAIT, or of an orphan's FIN-WAIT-2.
    pub deadline: Instant,
}

impl Ending {
    /// The state of a connection that is not ending.
    pub const fn new() -> Self {
        Self {
            reason: None,
            reading_is_shut: false,
            is_orphan: false,
            deadline: Instant::FAR_FUTURE,
        }
    }

    /// Whether the connection is not ending.
    pub fn is_nothing(&self) -> bool {
        let is_released = self.reading_is_shut || self.is_orphan;
        self.reason.is_none() && !is_released && self.deadline == Instant::FAR_FUTURE
    }
}

impl Default for Ending {
    fn default() -> Self {
        Self::new()
    }
}

impl Connection {
    /// Closes the send side: a FIN follows the data already written (RFC 9293 §3.10.4). Before the
    /// handshake is complete the FIN waits for it; a connection with nothing to send just ends.
    pub fn close(&mut self) {
        self.sender.get_mut().close();
        match self.state {
            State::Listen => self.finish(End::Orderly),
            State::SynSent if self.sender.written() == 0 => self.finish(End::Orderly),
            State::Established => self.state = State::FinWait1,
            State::CloseWait => self.state = State::LastAck,
            _ => {}
        }
    }

    /// Closes the receive side. Data that arrives once our FIN has left is answered with a reset
    /// (RFC 9293 §3.6.1); until then it is received, and stays unread.
    pub fn shut_reading(&mut self) {
        self.rare_mut().ending.reading_is_shut = true;
    }

    /// Releases the connection at `now`: nothing more will be written or read. The connection
    /// [closes](Self::close), or [aborts](Self::abort) if received bytes were not read (RFC 9293
    /// §3.6.1; RFC 2525 §2.17). It waits for the peer to close for a limited time only:
    /// [`LimitsConfig::fin_timeout`](crate::config::LimitsConfig::fin_timeout). Call
    /// [`poll`](Self::poll) afterwards.
    pub fn release(&mut self, now: Instant) {
        self.rare_mut().ending.is_orphan = true;
        self.shut_reading();
        if self.receiver.received() > self.receiver.read_so_far() {
            self.abort(now);
            return;
        }
        self.close();
        if self.state == State::FinWait2 {
            self.wait_for_fin(now);
        }
    }

    /// Ends the connection at once, with a RST if the peer knows of it (RFC 9293 §3.10.5).
    pub fn abort(&mut self, now: Instant) {
        if self.state == State::Closed {
            return;
        }
        if !matches!(self.state, State::Listen | State::SynSent | State::TimeWait) {
            let reset = self.own_reset(now);
            self.rare_mut().set_reset(reset);
        }
        self.finish(End::Aborted);
    }

    /// The reason the connection ended; `None` until it has, and [`End::Orderly`] from TIME-WAIT
    /// on.
    #[must_use]
    pub fn end(&self) -> Option<End> {
        self.ending().reason
    }

    /// Notifies a congestion control that is not compiled in of the end of the connection, if it
    /// has not ended: a run ends before.
    pub fn release_control(&mut self) {
        self.sender.release_control();
    }

    /// Ends the connection.
    pub(super) fn finish(&mut self, reason: End) {
        self.state = State::Closed;
        self.release_control();
        // An orderly end stays orderly, whatever arrives in TIME-WAIT.
        if self.ending().reason.is_none() {
            self.rare_mut().ending.reason = Some(reason);
        }
    }

    /// Accepts the peer's reset.
    pub(super) fn on_reset(&mut self, now: Instant, observer: &mut impl Observer) {
        let reason = match self.state {
            State::SynReceived if self.is_open_early() => End::Reset,
            State::SynSent | State::SynReceived => End::Refused,
            _ => End::Reset,
        };
        self.finish(reason);
        observer.event(now, Event::Reset);
    }

    /// Gives up: the peer was silent for too long.
    pub(super) fn on_patience_lost(&mut self, now: Instant, observer: &mut impl Observer) {
        self.finish(End::TimedOut);
        observer.event(now, Event::TimedOut);
    }

    pub(super) fn on_fin_acknowledged(&mut self, now: Instant, observer: &mut impl Observer) {
        match self.state {
            State::FinWait1 => {
                self.state = State::FinWait2;
                if self.ending().is_orphan {
                    self.wait_for_fin(now);
                }
            }
            State::Closing => self.enter_time_wait(now, observer),
            State::LastAck => {
                self.finish(End::Orderly);
                observer.event(now, Event::Closed);
            }
            _ => {}
        }
    }

    pub(super) fn on_fin_received(&mut self, now: Instant, observer: &mut impl Observer) {
        match self.state {
            State::Established => self.state = State::CloseWait,
            // Nothing of ours follows that could bring the acknowledgment (Linux, `tcp_fin`).
            State::FinWait1 => {
                self.receiver.demand_acknowledgment();
                self.state = State::Closing;
            }
            State::FinWait2 => {
                self.receiver.demand_acknowledgment();
                self.enter_time_wait(now, observer);
            }
            _ => {}
        }
    }

    /// Limits an orphan's wait for the peer's FIN, but to no less than a lost FIN needs to be
    /// retransmitted (Linux, `tcp_fin_time`: 3.5 RTO).
    fn wait_for_fin(&mut self, now: Instant) {
        let rto = self.sender.get().rto();
        let wait = self.sender.config().limits.fin_timeout.max(rto * 7 / 2);
        self.rare_mut().ending.deadline = now + wait;
    }

    fn enter_time_wait(&mut self, now: Instant, observer: &mut impl Observer) {
        self.state = State::TimeWait;
        self.release_control();
        self.rare_mut().ending.reason = Some(End::Orderly);
        self.restart_time_wait(now);
        observer.event(now, Event::Closed);
    }

    pub(super) fn restart_time_wait(&mut self, now: Instant) {
        self.rare_mut().ending.deadline = now + TIME_WAIT;
    }

    /// Ends TIME-WAIT, or an orphan's FIN-WAIT-2, if its time is up.
    pub(super) fn on_ending_deadline(&mut self, now: Instant, observer: &mut impl Observer) {
        if self.ending().deadline > now {
            return;
        }
        self.rare_mut().ending.deadline = Instant::FAR_FUTURE;
        match self.state {
            State::TimeWait => self.finish(End::Orderly),
            State::FinWait2 => self.on_patience_lost(now, observer),
            _ => {}
        }
    }

    /// Resets a peer that sends new data when our FIN has left and no reader is left (RFC 9293
    /// §3.6.1; Linux, `tcp_rcv_state_process`, seventh step). Returns whether it did.
    pub(super) fn refuses_data(
        &mut self,
        now: Instant,
        segment: &Segment,
        end: u64,
        observer: &mut impl Observer,
    ) -> bool {
        let is_refused = self.ending().reading_is_shut
            && matches!(self.state, State::FinWait1 | State::FinWait2)
            && segment.payload_bytes > 0
            && end > self.receiver.next_expected();
        if is_refused {
            self.answer_stray(segment);
            self.on_reset(now, observer);
        }
        is_refused
    }
}
