//! When data and ACKs last passed, and the silences between them.

use airtcp_units::{Duration, Instant};

/// A shorter silence of the ACKs is not recorded.
const MIN_SILENCE: Duration = Duration::from_millis(60);

/// The latest packets of both directions. Before the first, the beginning of the capture stands in
/// their place.
#[derive(Clone, Copy, Debug)]
pub struct Activity {
    last_data: Instant,
    last_ack: Instant,
    /// When the bytes in flight began to be: the flight before them was acknowledged.
    busy_since: Instant,
}

impl Default for Activity {
    fn default() -> Self {
        Self {
            last_data: Instant::ZERO,
            last_ack: Instant::ZERO,
            busy_since: Instant::ZERO,
        }
    }
}

impl Activity {
    /// Takes a data packet. `was_idle`: nothing was in flight before it.
    pub fn data(&mut self, now: Instant, was_idle: bool) {
        self.last_data = now;
        if was_idle {
            self.busy_since = now;
        }
    }

    /// Takes a packet of the receiver.
    pub fn ack(&mut self, now: Instant) {
        self.last_ack = now;
    }

    /// When the last data packet passed.
    pub fn last_data(&self) -> Instant {
        self.last_data
    }

    /// Time since the last packet of the receiver.
    pub fn since_ack(&self, now: Instant) -> Duration {
        now - self.last_ack
    }

    /// When the silence began that an ACK at `now` ends; `None` where it was short.
    pub fn silence(&self, now: Instant) -> Option<Instant> {
        let from = self.last_ack.max(self.busy_since);
        (now - from >= MIN_SILENCE).then_some(from)
    }
}
