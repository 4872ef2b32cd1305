//! The handover to a new process without a gap: the gateway starts its successor, which takes over
//! the packets, and ends when its remaining packets have left.

use airtcp_host::daemon::successor::Successor;
use airtcp_units::{Duration, Instant};
use tracing::warn;

/// Time after a handover during which arriving packets were queued before it.
const DRAINED: Duration = Duration::from_millis(100);

/// The gateway's successor, if any.
#[derive(Debug, Default)]
pub struct Handover {
    /// The process, if this one has started it.
    successor: Successor,
    /// Start of the drain, and the number of packets received until then.
    draining: Option<(Instant, u64)>,
}

impl Handover {
    /// Starts the program once more, unless already done; the new process takes over by itself.
    pub fn start(&mut self) {
        if let Err(error) = self.successor.start(false) {
            warn!(%error, "no new process can be started");
        }
    }

    /// Forgets a successor that ended before it took over.
    pub fn look_after_successor(&mut self) {
        if self.draining.is_none()
            && let Some(status) = self.successor.ended()
        {
            warn!(%status, "the new process has ended; this one goes on");
        }
    }

    /// Records that a successor has the packets from `now` on; `came` were received here until
    /// then.
    pub const fn begin(&mut self, now: Instant, came: u64) {
        self.draining = Some((now, came));
    }

    /// Whether a successor has the packets.
    pub const fn has_begun(&self) -> bool {
        self.draining.is_some()
    }

    /// Whether a successor has the packets, no packet counted in `came` was received here recently,
    /// and no packet is held.
    pub fn is_complete(&mut self, now: Instant, came: u64, holding: usize) -> bool {
        match self.draining {
            None => false,
            Some((_, before)) if before != came => {
                self.begin(now, came);
                false
            }
            Some((since, _)) => holding == 0 && now - since > DRAINED,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(milliseconds: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(milliseconds)
    }

    #[test]
    fn it_is_complete_when_nothing_came_lately_and_nothing_is_held() {
        let mut handover = Handover::default();
        assert!(!handover.is_complete(ms(1000), 5, 0));
        assert!(!handover.has_begun());
        handover.begin(ms(1000), 5);
        assert!(handover.has_begun());
        assert!(!handover.is_complete(ms(1100), 5, 0), "too early");
        assert!(!handover.is_complete(ms(1101), 6, 0), "one came");
        assert!(!handover.is_complete(ms(1201), 6, 0), "too early again");
        assert!(!handover.is_complete(ms(1202), 6, 1), "one is held");
        assert!(handover.is_complete(ms(1202), 6, 0));
    }
}
