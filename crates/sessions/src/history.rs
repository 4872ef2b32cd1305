//! Past sessions in memory, within their limits.

use std::collections::BTreeMap;

use crate::{Cell, Precision};

/// Limits of stored sessions, and of their use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum age in seconds; older sessions do not count and are deleted.
    pub age: i64,
    /// Maximum number of stored sessions; the oldest are deleted first.
    pub sessions: u32,
    /// Maximum number of stored sessions per peer.
    pub of_a_peer: u32,
    /// Minimum number of matches to be used.
    pub enough: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            age: 90 * 24 * 3600,
            sessions: 100_000,
            of_a_peer: 1000,
            enough: 3,
        }
    }
}

/// A past session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The peer's address.
    pub peer: String,
    /// Its end, in seconds since the start of 1970.
    pub ended_at: i64,
    /// How far clocks there were ahead of UTC, in seconds.
    pub offset_seconds: i32,
    /// Its steady window, in segments.
    pub window: u32,
}

/// The order of sessions: by their end, and then as they were recorded.
type Age = (i64, u64);

/// Past sessions.
#[derive(Clone, Debug, Default)]
pub struct History {
    by_peer: BTreeMap<String, BTreeMap<Age, Session>>,
    by_age: BTreeMap<Age, String>,
    recorded: u64,
}

impl History {
    /// Adds a session, and deletes those beyond the limits at its end.
    pub fn add(&mut self, session: Session, limits: &Limits) {
        let age = (session.ended_at, self.recorded);
        self.recorded += 1;
        let (peer, ended_at) = (session.peer.clone(), session.ended_at);
        self.by_age.insert(age, peer.clone());
        let of_peer = self.by_peer.entry(peer.clone()).or_default();
        of_peer.insert(age, session);
        if of_peer.len() > limits.of_a_peer as usize
            && let Some((&oldest, _)) = of_peer.first_key_value()
        {
            self.remove(oldest);
        }
        let expired = ended_at.saturating_sub(limits.age);
        while let Some((&oldest, _)) = self.by_age.first_key_value()
            && (oldest.0 < expired || self.len() > limits.sessions as usize)
        {
            self.remove(oldest);
        }
    }

    fn remove(&mut self, age: Age) {
        let Some(peer) = self.by_age.remove(&age) else {
            return;
        };
        if let Some(of_peer) = self.by_peer.get_mut(&peer) {
            of_peer.remove(&age);
            if of_peer.is_empty() {
                self.by_peer.remove(&peer);
            }
        }
    }

    /// Number of sessions.
    pub fn len(&self) -> usize {
        self.by_age.len()
    }

    /// The sessions in the order in which they were recorded.
    pub fn sessions(&self) -> Vec<&Session> {
        let all = self.by_peer.values().flatten();
        let mut all: Vec<_> = all
            .map(|(&(_, recorded), session)| (recorded, session))
            .collect();
        all.sort_unstable_by_key(|(recorded, _)| *recorded);
        all.into_iter().map(|(_, session)| session).collect()
    }

    /// The median window of the sessions with `peer` that match an instant most closely, if there
    /// are enough.
    pub fn median_window(
        &self,
        peer: &str,
        at: i64,
        offset_seconds: i32,
        limits: &Limits,
    ) -> Option<u32> {
        let cell = Cell::at(at, offset_seconds);
        let oldest = (at.saturating_sub(limits.age), 0);
        let past: Vec<_> = self
            .by_peer
            .get(peer)?
            .range(oldest..)
            .map(|(_, one)| (Cell::at(one.ended_at, one.offset_seconds), one.window))
            .collect();
        Precision::ALL.into_iter().find_map(|precision| {
            let matching = past
                .iter()
                .filter(|(other, _)| precision.matches(*other, cell));
            let mut windows: Vec<_> = matching.map(|(_, window)| *window).collect();
            windows.sort_unstable();
            let is_enough = windows.len() >= limits.enough.max(1) as usize;
            is_enough.then(|| windows[(windows.len() - 1) / 2])
        })
    }
}
