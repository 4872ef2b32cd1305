//! The time in which a connection had data to send, and the part in which the peer's window kept it
//! from sending (Linux, `tcp_chrono_start` and `tcp_write_xmit`): measured from outside, after each
//! event.

use airtcp_tcp::{Connection, State};
use airtcp_units::{Duration, Instant};

/// State of the connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum SendState {
    /// All written data is acknowledged.
    #[default]
    Idle,
    /// Some written data is not acknowledged.
    Busy,
    /// The peer's window has no room for the next segment, though the congestion window has.
    WaitingForWindow,
}

/// Times since the connection was established.
#[derive(Clone, Debug, Default)]
pub struct Stopwatch {
    state: SendState,
    since: Instant,
    busy: Duration,
    waiting: Duration,
}

impl Stopwatch {
    /// Updates the times: the connection has sent all it may at `now`.
    pub fn look(&mut self, now: Instant, connection: &Connection) {
        let state = send_state(connection);
        if state != self.state {
            (self.busy, self.waiting) = self.times(now);
            (self.state, self.since) = (state, now);
        }
    }

    /// Time until `now` with data to send or outstanding (`tcpi_busy_time`).
    pub fn busy(&self, now: Instant) -> Duration {
        self.times(now).0
    }

    /// The part of it limited by the peer's window (`tcpi_rwnd_limited`).
    pub fn waiting_for_window(&self, now: Instant) -> Duration {
        self.times(now).1
    }

    fn times(&self, now: Instant) -> (Duration, Duration) {
        let passed = now - self.since;
        match self.state {
            SendState::Idle => (self.busy, self.waiting),
            SendState::Busy => (self.busy + passed, self.waiting),
            SendState::WaitingForWindow => (self.busy + passed, self.waiting + passed),
        }
    }
}

fn send_state(connection: &Connection) -> SendState {
    let sender = connection.sender();
    let is_open = !matches!(
        connection.state(),
        State::Closed | State::Listen | State::SynSent | State::SynReceived
    );
    if !is_open || sender.una() >= sender.written() {
        return SendState::Idle;
    }
    let unsent = sender.written() - sender.nxt().min(sender.written());
    let next = unsent.min(sender.mss());
    let has_room = sender.in_flight() < sender.cwnd();
    if next > 0 && has_room && sender.nxt() + next > sender.right_edge() {
        SendState::WaitingForWindow
    } else {
        SendState::Busy
    }
}
