//! Timers, events, and what is forgotten.

use airtcp_tcp::State;
use airtcp_units::Instant;

use super::{ConnectionId, Endpoint, id, key};
use crate::listener::ListenerId;
use crate::stream::Readiness;

/// Entries of the heap, for each connection, that are more than usual: then stale ones are dropped.
const MOST_ENTRIES: usize = 4;

/// Something that an application may want to act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A connection waits to be [accepted](Endpoint::accept).
    Incoming(ListenerId),
    /// More can be done with a connection than before, or it has ended: its
    /// [readiness](Endpoint::readiness) says what.
    Changed(ConnectionId),
}

impl Endpoint {
    /// When [`on_wakeup`](Self::on_wakeup) wants to be called; [`Instant::FAR_FUTURE`] for never.
    #[must_use]
    pub fn next_wakeup(&self) -> Instant {
        self.wakeups.next().min(self.time_wait.next_wakeup())
    }

    /// Acts on the timers that have expired by `now`. Poll for packets afterwards.
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
                self.settle(id);
            } else {
                self.arm(id);
            }
        }
    }

    /// Whether an event waits to be fetched.
    #[must_use]
    pub fn has_event(&self) -> bool {
        !self.events.is_empty()
    }

    /// The next event; call until there is none.
    pub fn next_event(&mut self) -> Option<Event> {
        let event = self.events.pop_front()?;
        if let Event::Changed(id) = event
            && let Some(entry) = self.connections.get_mut(id)
        {
            entry.has_event = false;
        }
        Some(event)
    }

    /// Something has happened to a connection: it may have something to send, to tell, or to wait
    /// for.
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

    /// Has the application know what it can do that it could not before, and counts what is held.
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

    /// Puts the connection's next wake-up into the heap, if it is earlier than what is there.
    pub(super) fn arm(&mut self, id: ConnectionId) {
        let Some(entry) = self.connections.get_mut(id) else {
            return;
        };
        let at = entry.stream.next_wakeup();
        if at < entry.armed {
            entry.armed = at;
            self.wakeups.push(at, key(id));
            if self.wakeups.len() > MOST_ENTRIES * (self.connections.len() + 16) {
                let connections = &self.connections;
                self.wakeups.retain(|at, name| {
                    let entry = connections.get(super::id(name));
                    entry.is_some_and(|entry| entry.armed == at)
                });
            }
        }
    }

    /// A connection that was being opened may be open now, or have ended.
    pub(super) fn on_opened(&mut self, id: ConnectionId) {
        let Some(entry) = self.connections.get_mut(id) else {
            return;
        };
        let is_open = entry.stream.connection().is_synchronized();
        let Some(listener) = entry.listener.filter(|_| is_open) else {
            return;
        };
        let was_opening = std::mem::take(&mut entry.is_opening);
        if let Some(waits) = self.listeners.get_mut(listener) {
            waits.opening -= usize::from(was_opening);
            waits.push(id);
            self.events.push_back(Event::Incoming(listener));
        }
    }

    /// A connection that came of a cookie is open, or it is not.
    pub(super) fn drop_unless_open(&mut self, id: ConnectionId) {
        let entry = self.connections.get(id);
        if entry.is_some_and(|entry| !entry.stream.connection().is_synchronized()) {
            self.remove(id);
        }
    }

    /// A connection has nothing to send: it may be over.
    pub(super) fn retire(&mut self, now: Instant, id: ConnectionId) {
        let Some(entry) = self.connections.get(id) else {
            return;
        };
        let state = entry.stream.connection().state();
        // Nobody has heard of a connection that never was.
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
        self.by_tuple.remove(&entry.tuple);
        self.buffered -= entry.buffered as u64;
        if entry.is_opening
            && let Some(waits) = entry.listener.and_then(|id| self.listeners.get_mut(id))
        {
            waits.opening -= 1;
        }
    }
}

/// Whether `now` allows, or tells, what `before` did not.
fn is_more(now: &Readiness, before: &Readiness) -> bool {
    now.established && !before.established
        || now.readable && !before.readable
        || now.writable && !before.writable
        || now.ended.is_some() && before.ended.is_none()
}
