//! The connections' timers by expiry. A timer that moves later stays filed where it is and is moved
//! when that time comes, so that an acknowledgment costs nothing here.

use std::collections::BTreeSet;

use airtcp_units::Instant;

use crate::agent::FlowKey;

/// One instant at most for each connection.
#[derive(Debug, Default)]
pub struct Deadlines(BTreeSet<(Instant, FlowKey)>);

impl Deadlines {
    /// The timer of `flow`, filed under `filed` ([`Instant::FAR_FUTURE`] if it is not), expires at
    /// `deadline`.
    pub fn file(&mut self, flow: FlowKey, filed: &mut Instant, deadline: Instant) {
        if deadline < *filed {
            self.remove(flow, *filed);
            self.0.insert((deadline, flow));
            *filed = deadline;
        }
    }

    /// A connection is forgotten.
    pub fn remove(&mut self, flow: FlowKey, filed: Instant) {
        if filed < Instant::FAR_FUTURE {
            self.0.remove(&(filed, flow));
        }
    }

    /// The earliest deadline, or [`Instant::FAR_FUTURE`].
    pub fn next(&self) -> Instant {
        self.0.first().map_or(Instant::FAR_FUTURE, |&(at, _)| at)
    }

    /// Removes and returns a connection with a deadline due by `now`.
    pub fn take(&mut self, now: Instant) -> Option<FlowKey> {
        if self.next() > now {
            return None;
        }
        self.0.pop_first().map(|(_, flow)| flow)
    }

    /// Number filed.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.0.len()
    }
}
