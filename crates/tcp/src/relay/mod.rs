//! Split TCP: a proxy at the border of the wireless link terminates the connection of one side and
//! opens another towards the other (Bakre & Badrinath, I-TCP: indirect TCP for mobile hosts, ICDCS
//! 1995).
//!
//! ```text
//!             Side::Client                     Side::Server
//!            ┌────────────┐  read    write    ┌────────────┐
//!   client ◀▶│ connection │ ──▶ [ buffer ] ──▶│ connection │◀▶ server
//!            │            │ ◀── [ buffer ] ◀──│            │
//!            └────────────┘  write    read    └────────────┘
//! ```
//!
//! Each side has a separate window, timer and loss recovery: losses of the radio are repaired over
//! the radio, and the far sender never sees them.
//!
//! **The end-to-end meaning of an acknowledgment is lost**: data acknowledged to the client has
//! arrived only at the proxy. A proxy that fails, or a server that resets, takes with it bytes, or
//! even a whole connection, that one endpoint believes delivered (Bakre & Badrinath §3; Srinivasan
//! §2).
//!
//! The client is accepted at once, and the server is contacted when the client's SYN arrives: a
//! server that refuses shows as a reset after the handshake. FIN and RST are passed on, a FIN after
//! all preceding bytes. A relay serves one connection and ends with it.

use airtcp_packet::{Segment, SequenceNumber};
use airtcp_units::Instant;

use crate::config::Config;
use crate::connection::{Connection, State};
use crate::loss_differentiation::Cause;
use crate::observer::{Event, Insight, Observer};

/// One of a relay's two connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The connection opened by the endpoint that sends the first SYN.
    Client,
    /// The connection that the relay opens.
    Server,
}

impl Side {
    /// Both sides.
    pub const ALL: [Self; 2] = [Self::Client, Self::Server];

    /// The other side.
    #[must_use]
    pub const fn opposite(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

/// Receives the events of both connections, as [`Observer`] does for one, and may have
/// [`Insight`]'s knowledge.
pub trait RelayObserver {
    /// Called when `event` happens at `now` on `side`.
    fn event(&mut self, side: Side, now: Instant, event: Event);

    /// See [`Insight::cause_of`].
    fn cause_of(&self, _side: Side, _offset: u64) -> Option<Cause> {
        None
    }

    /// See [`Insight::draw`].
    fn draw(&self, _side: Side, _index: u64) -> Option<u64> {
        None
    }
}

impl<F: FnMut(Side, Instant, Event)> RelayObserver for F {
    fn event(&mut self, side: Side, now: Instant, event: Event) {
        self(side, now, event);
    }
}

/// One side's view of a relay's observer.
struct Tap<'a, O> {
    side: Side,
    observer: &'a mut O,
    /// Whether the connection ended abnormally.
    is_lost: bool,
}

impl<'a, O: RelayObserver> Tap<'a, O> {
    const fn new(side: Side, observer: &'a mut O) -> Self {
        Self {
            side,
            observer,
            is_lost: false,
        }
    }
}

impl<O: RelayObserver> Observer for Tap<'_, O> {
    fn event(&mut self, now: Instant, event: Event) {
        self.is_lost |= matches!(event, Event::Reset | Event::TimedOut);
        self.observer.event(self.side, now, event);
    }
}

impl<O: RelayObserver> Insight for Tap<'_, O> {
    fn cause_of(&self, offset: u64) -> Option<Cause> {
        self.observer.cause_of(self.side, offset)
    }

    fn draw(&self, index: u64) -> Option<u64> {
        self.observer.draw(self.side, index)
    }
}

/// Two connections with a bounded buffer in each direction between them.
#[derive(Clone, Debug)]
pub struct Relay {
    connections: [Connection; 2],
    buffer: u64,
}

impl Relay {
    /// Creates a relay that waits for a SYN on the client's side. Each side has a separate
    /// configuration and initial sequence number, the client's first. `buffer_bytes` is the maximum
    /// held for one side, in addition to unread data in the other's receive buffer; 0 counts as 1.
    #[must_use]
    pub fn new(
        client_side: &Config,
        server_side: &Config,
        [client_iss, server_iss]: [SequenceNumber; 2],
        buffer_bytes: u64,
    ) -> Self {
        Self {
            connections: [
                Connection::listen(client_side, client_iss),
                Connection::connect(server_side, server_iss),
            ],
            buffer: buffer_bytes.max(1),
        }
    }

    /// Processes a segment that arrived at `now` on `side`. Any segment is safe to pass in. Call
    /// [`poll`](Self::poll) afterwards.
    pub fn handle(
        &mut self,
        now: Instant,
        side: Side,
        segment: &Segment,
        observer: &mut impl RelayObserver,
    ) {
        if side == Side::Server && !self.has_begun() {
            // That side was never contacted: a segment from there cannot be an answer.
            return;
        }
        let mut tap = Tap::new(side, observer);
        self.connections[side as usize].handle(now, segment, &mut tap);
        if tap.is_lost {
            self.connections[side.opposite() as usize].abort(now);
            return;
        }
        for side in Side::ALL {
            self.forward(side);
        }
    }

    /// Returns the next segment to send at `now`, and its side; call until it returns `None`.
    pub fn poll(&mut self, now: Instant) -> Option<(Side, Segment)> {
        Side::ALL.into_iter().find_map(|side| {
            if side == Side::Server && !self.has_begun() {
                return None;
            }
            let segment = self.connections[side as usize].poll(now)?;
            Some((side, segment))
        })
    }

    /// Time at which to call [`on_wakeup`](Self::on_wakeup); [`Instant::FAR_FUTURE`] for never.
    #[must_use]
    pub fn next_wakeup(&self) -> Instant {
        let [client, server] = &self.connections;
        client.next_wakeup().min(server.next_wakeup())
    }

    /// Handles the timers that have expired by `now`. Call [`poll`](Self::poll) afterwards.
    pub fn on_wakeup(&mut self, now: Instant, observer: &mut impl RelayObserver) {
        for side in Side::ALL {
            let connection = &mut self.connections[side as usize];
            if connection.next_wakeup() > now {
                continue;
            }
            let mut tap = Tap::new(side, observer);
            connection.on_wakeup(now, &mut tap);
            if tap.is_lost {
                self.connections[side.opposite() as usize].abort(now);
            }
        }
    }

    /// Notifies congestion controls that are not compiled in of the end of their connections.
    pub fn release_controls(&mut self) {
        for connection in &mut self.connections {
            connection.release_control();
        }
    }

    /// The connection on that side, read-only.
    #[must_use]
    pub const fn connection(&self, side: Side) -> &Connection {
        &self.connections[side as usize]
    }

    /// Bytes held for that side: taken from the other, and not yet acknowledged on this one.
    #[must_use]
    pub fn held(&self, side: Side) -> u64 {
        let sender = self.connection(side).sender();
        // An acknowledged FIN counts one beyond the data written.
        sender.written().saturating_sub(sender.una())
    }

    /// Whether the client has opened its connection.
    fn has_begun(&self) -> bool {
        self.connection(Side::Client).state() != State::Listen
    }

    /// Takes data from the other side as far as there is room, and the end of its stream. Data that
    /// does not fit stays unread there and closes its window.
    fn forward(&mut self, to: Side) {
        let room = self.buffer - self.held(to).min(self.buffer);
        let [client, server] = &mut self.connections;
        let (to, from) = match to {
            Side::Client => (client, server),
            Side::Server => (server, client),
        };
        // Not byte by byte: every byte that fits would be sent in a separate segment (RFC 9293
        // §3.8.6.2.1).
        if room >= to.sender().mss().min(self.buffer) {
            to.write(from.read(room));
        }
        let is_drained = from.receiver().received() == to.sender().written();
        // A connection that has not reached its peer would lose data on a close (RFC 9293 §3.10.4).
        let is_opening = matches!(to.state(), State::Listen | State::SynSent);
        if from.receiver().is_finished() && is_drained && !is_opening && !to.sender().is_closed() {
            to.close();
        }
    }
}

#[cfg(test)]
mod tests;
