//! Timers, events, and expiry of state.

use airtcp_tcp::State;
use airtcp_units::Instant;

use super::{Endpoint, id, key};
use crate::ids::ConnectionId;
use crate::ids::ListenerId;
use crate::stream::Readiness;

/// Number of heap entries per connection above which stale ones are dropped.
const MAX_ENTRIES: usize = 4;

/// An event that an application may want to act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A connection waits to be [accepted](Endpoint::accept).
    Incoming(ListenerId),
    /// A connection allows more than before, or it has ended: see its
    /// [readiness](Endpoint::readiness).
    Changed(ConnectionId),
}

impl Endpoint {
    /// Time at which to call [`on_wakeup`](Self::on_wakeup); [`Instant::FAR_FUTURE`] for never.
    #[must_use]
    pub fn next_wakeup(&self) -> Instant {
        self.wakeups.next().min(self.time_wait.next_wakeup())
    }

    /// Handles the timers that have expired by `now`. Poll for packets afterwards.
    pub fn on_wakeup(&mut self, now: Instant) {
        self.time_wait.on_wakeup(now);
        while let Some((at, name)) = self.wakeups.pop_due(now) {
            let id = id(name);
            let Some(entry) = self.connections.get_mut(id) else {
                continue;
            };
            if entry.armed != at {
                continue;
            }
            entry.armed = Instant::FAR_FUTURE;
            if entry.stream.next_wakeup() <= now {
                entry.stream.on_wakeup(now);
                self.notice_silence(now, id);
                self.settle(id);
            } else {
                self.arm(id);
            }
        }
    }

    /// Whether an event is pending.
    #[must_use]
    pub fn has_event(&self) -> bool {
        !self.events.is_empty()
    }

    /// Returns the next event; call until it returns `None`.
    pub fn next_event(&mut self) -> Option<Event> {
        let event = self.events.pop_front()?;
        if let Event::Changed(id) = event
            && let Some(entry) = self.connections.get_mut(id)
        {
            entry.has_event = false;
        }
        Some(event)
    }

    /// Updates everything that depends on a connection's state: its output, its events, its
    /// wake-up.
    pub(super) fn settle(&mut self, id: ConnectionId) {
        let Some(entry) = self.connections.get_mut(id) else {
            return;
        };
        if !entry.is_queued {
            entry.is_queued = true;
            self.ready.push_back(id);
        }
        self.tell(id);
        self.arm(id);
    }

    /// Notifies the application of new readiness, and updates the accounting of buffers.
    pub(super) fn tell(&mut self, id: ConnectionId) {
        let Some(entry) = self.connections.get_mut(id) else {
            return;
        };
        let readiness = entry.stream.readiness();
        let gains = is_more(&readiness, &entry.told);
        entry.told = readiness;
        if gains && entry.listener.is_none() && !entry.has_event && !entry.stream.is_released() {
            entry.has_event = true;
            self.events.push_back(Event::Changed(id));
        }
        let buffered = entry.stream.buffered();
        self.buffered = self.buffered - entry.buffered as u64 + buffered as u64;
        entry.buffered = buffered;
    }

    /// Puts the connection's next wake-up into the heap, if it is earlier than the one there.
    pub(super) fn arm(&mut self, id: ConnectionId) {
        let Some(entry) = self.connections.get_mut(id) else {
            return;
        };
        let at = entry.stream.next_wakeup();
        if at < entry.armed {
            entry.armed = at;
            self.wakeups.push(at, key(id));
            if self.wakeups.len() > MAX_ENTRIES * (self.connections.len() + 16) {
                let connections = &self.connections;
                self.wakeups.retain(|at, name| {
                    let entry = connections.get(super::id(name));
                    entry.is_some_and(|entry| entry.armed == at)
                });
            }
        }
    }

    /// Handles the end of a connection's opening: it may be established, or have ended.
    pub(super) fn on_opened(&mut self, id: ConnectionId) {
        let Some(entry) = self.connections.get_mut(id) else {
            return;
        };
        let is_open = entry.stream.connection().is_synchronized();
        let Some(listener) = entry.listener.filter(|_| is_open) else {
            return;
        };
        if !entry.is_opening && entry.told.established {
            // Opened by its SYN, it is queued already.
            return;
        }
        let was_opening = core::mem::take(&mut entry.is_opening);
        if let Some(waits) = self.listeners.get_mut(listener) {
            waits.opening -= usize::from(was_opening);
            waits.push(id);
            self.events.push_back(Event::Incoming(listener));
        }
    }

    /// Drops a connection from a cookie unless it is established.
    pub(super) fn drop_unless_open(&mut self, id: ConnectionId) {
        let entry = self.connections.get(id);
        if entry.is_some_and(|entry| !entry.stream.connection().is_synchronized()) {
            self.remove(id);
        }
    }

    /// Handles a connection without output: it may be over.
    pub(super) fn retire(&mut self, now: Instant, id: ConnectionId) {
        let Some(entry) = self.connections.get(id) else {
            return;
        };
        let state = entry.stream.connection().state();
        // The application does not know of a connection that was never established.
        let is_unknown = entry.listener.is_some() && !entry.told.established;
        let is_nobodys = entry.stream.is_released() || is_unknown;
        if state == State::TimeWait && is_nobodys {
            self.time_wait
                .insert(now, entry.tuple, entry.stream.connection());
            self.remove(id);
        } else if state == State::Closed && is_nobodys {
            self.remove(id);
        } else {
            self.arm(id);
        }
    }

    fn remove(&mut self, id: ConnectionId) {
        let Some(entry) = self.connections.remove(id) else {
            return;
        };
        if let Some(waits) = entry.early.and_then(|id| self.listeners.get_mut(id)) {
            waits.early.on_settled(Instant::ZERO, false);
        }
        self.by_tuple.remove(&entry.tuple);
        self.buffered -= entry.buffered as u64;
        if entry.is_opening
            && let Some(waits) = entry.listener.and_then(|id| self.listeners.get_mut(id))
        {
            waits.opening -= 1;
        }
    }
}

/// Whether `now` allows, or reports, something that `before` did not.
fn is_more(now: &Readiness, before: &Readiness) -> bool {
    now.established && !before.established
        || now.readable && !before.readable
        || now.writable && !before.writable
        || now.ended.is_some() && before.ended.is_none()
}
