//! Times of the last data and ACKs, and the silences between them.

use airtcp_units::{Duration, Instant};

/// Minimum silence of the ACKs that is recorded.
const MIN_SILENCE: Duration = Duration::from_millis(60);

/// The latest packets of both directions, initialized with the beginning of the capture.
#[derive(Clone, Copy, Debug)]
pub struct Activity {
    last_data: Instant,
    last_ack: Instant,
    /// Start of the current flight: the previous one was acknowledged.
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
    /// Records a data packet. `was_idle`: nothing was in flight before it.
    pub fn data(&mut self, now: Instant, was_idle: bool) {
        self.last_data = now;
        if was_idle {
            self.busy_since = now;
        }
    }

    /// Records a packet of the receiver.
    pub fn ack(&mut self, now: Instant) {
        self.last_ack = now;
    }

    /// Time of the last data packet.
    pub fn last_data(&self) -> Instant {
        self.last_data
    }

    /// Time since the last packet of the receiver.
    pub fn since_ack(&self, now: Instant) -> Duration {
        now - self.last_ack
    }

    /// Start of the silence that an ACK at `now` ends; `None` if it was short.
    pub fn silence(&self, now: Instant) -> Option<Instant> {
        let from = self.last_ack.max(self.busy_since);
        (now - from >= MIN_SILENCE).then_some(from)
    }
}
