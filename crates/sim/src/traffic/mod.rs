//! Applications and their use of connections.
//!
//! ```text
//!   source ══ objects, files, messages ══▶ sink
//!          ◀──────── requests ────────────
//! ```
//!
//! A [`Session`] runs at both ends of one connection: the *source* has the data, the *sink* wants
//! it. It takes the bytes received at either end, and the time, and returns the next writes. All
//! draws are functions of the flow and of the number of the page or message, so that every remedy
//! meets the same traffic.

mod email;
mod ftp;
mod http;
mod visit;

use std::collections::VecDeque;

use airtcp_link::Stream;
use airtcp_scenario::Traffic;
use airtcp_units::{Duration, Instant};
pub use visit::VisitTimes;

/// An end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The one that has the data.
    Source,
    /// The one that wants it.
    Sink,
}

/// An action of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Writes this many bytes, at least one, at one end.
    Write {
        /// The end that writes.
        end: End,
        /// Number of bytes.
        bytes: u64,
    },
    /// The source has nothing more to send.
    Close,
}

/// Files, pages or messages that have arrived whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transfers {
    /// Their number.
    pub completed: u64,
    /// Their total duration: from the request, or from the write if there is no request, until the
    /// last byte had arrived.
    pub time: Duration,
}

impl Transfers {
    /// Average duration of one, in seconds; `None` if no transfer was completed.
    #[must_use]
    pub fn mean_s(&self) -> Option<f64> {
        (self.completed > 0).then(|| self.time.as_secs_f64() / self.completed as f64)
    }

    fn complete(&mut self, began: Instant, now: Instant) {
        self.completed += 1;
        self.time += now - began;
    }
}

/// An application at work on one connection.
#[derive(Clone, Debug)]
pub struct Session {
    work: Work,
    actions: VecDeque<Action>,
    transfers: Transfers,
}

#[derive(Clone, Debug)]
enum Work {
    Ftp(ftp::Session),
    Http(http::Session),
    Email(email::Session),
    Visit(visit::Session),
}

impl Session {
    /// Creates an application that opens its connection at `start`. Draws come from `stream`, which
    /// belongs to the flow.
    #[must_use]
    pub fn new(traffic: &Traffic, start: Instant, stream: Stream) -> Self {
        let mut actions = VecDeque::new();
        let work = match *traffic {
            Traffic::Ftp(ftp) => Work::Ftp(ftp::Session::new(ftp, start, &mut actions)),
            Traffic::Http(http) => Work::Http(http::Session::new(http, start, stream)),
            Traffic::Email(email) => Work::Email(email::Session::new(email, start, stream)),
            Traffic::Visit(visit) => Work::Visit(visit::Session::new(visit, start)),
        };
        Self {
            work,
            actions,
            transfers: Transfers::default(),
        }
    }

    /// Records that an end has received this many more bytes. Call [`poll`](Self::poll) afterwards.
    pub fn on_received(&mut self, now: Instant, end: End, bytes: u64) {
        let Self {
            work,
            actions,
            transfers,
        } = self;
        match (work, end) {
            (Work::Ftp(session), End::Sink) => session.on_data(now, bytes, actions, transfers),
            (Work::Http(session), End::Sink) => session.on_data(now, bytes, actions, transfers),
            (Work::Http(session), End::Source) => session.on_request(bytes, actions),
            (Work::Email(session), End::Sink) => session.on_data(now, bytes, transfers),
            (Work::Visit(session), End::Sink) => session.on_request(bytes, actions),
            (Work::Visit(session), End::Source) => {
                session.on_answer(now, bytes, actions, transfers);
            }
            (Work::Ftp(_) | Work::Email(_), End::Source) => {}
        }
    }

    /// Time at which to call [`on_wakeup`](Self::on_wakeup); [`Instant::FAR_FUTURE`] for never.
    #[must_use]
    pub const fn next_wakeup(&self) -> Instant {
        match &self.work {
            Work::Ftp(_) => Instant::FAR_FUTURE,
            Work::Http(session) => session.next_page(),
            Work::Email(session) => session.next_message(),
            Work::Visit(session) => session.next_wakeup(),
        }
    }

    /// Records that the end that opened the connection has completed the handshake.
    pub fn on_opened(&mut self, now: Instant) {
        if let Work::Visit(session) = &mut self.work {
            session.on_opened(now);
        }
    }

    /// The times of a visit; `None` for any other application.
    #[must_use]
    pub fn visit(&self) -> Option<VisitTimes> {
        match &self.work {
            Work::Visit(session) => Some(session.times()),
            Work::Ftp(_) | Work::Http(_) | Work::Email(_) => None,
        }
    }

    /// Handles everything due by `now`. Call [`poll`](Self::poll) afterwards.
    pub fn on_wakeup(&mut self, now: Instant) {
        if now < self.next_wakeup() {
            return;
        }
        match &mut self.work {
            Work::Ftp(_) => {}
            Work::Http(session) => session.on_page_due(now, &mut self.actions),
            Work::Email(session) => session.on_message_due(now, &mut self.actions),
            Work::Visit(session) => session.on_start(&mut self.actions),
        }
    }

    /// Returns the next action; call until it returns `None`.
    pub fn poll(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// The completed transfers.
    #[must_use]
    pub const fn transfers(&self) -> Transfers {
        self.transfers
    }
}

/// `mean` times a draw from an exponential distribution.
fn exponential(mean: Duration, stream: Stream, index: u64) -> Duration {
    let seconds = mean.as_secs_f64() * stream.exponential(index);
    Duration::from_secs_f64(seconds).unwrap_or(mean)
}

/// The same in whole units, rounded, at least one.
fn at_least_one(mean: f64, stream: Stream, index: u64) -> u64 {
    ((mean * stream.exponential(index) + 0.5) as u64).max(1)
}

#[cfg(test)]
mod tests;
