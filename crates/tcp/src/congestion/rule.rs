//! The trait of a window rule, and how any control starts.

use alloc::boxed::Box;

use airtcp_units::{Duration, Instant};

use super::Ack;
use super::windows::Windows;
use crate::config::Config;

/// A rule or a model at the start of a connection.
pub(super) trait Start {
    /// Creates it with its parameters from `config`, and the windows it starts with.
    fn start(config: &Config, windows: &Windows) -> Self;
}

impl<R: Start> Start for Box<R> {
    fn start(config: &Config, windows: &Windows) -> Self {
        Self::new(R::start(config, windows))
    }
}

/// Moves the window outside slow start. Every method except [`grow`](Self::grow) and
/// [`threshold`](Self::threshold) may do nothing.
pub(super) trait Rule {
    /// Sees every acknowledgment that delivers data, whether or not the window may grow.
    fn observe(&mut self, _ack: &Ack, _windows: &mut Windows) {}

    /// Sets the first window, if the rule replaces the configured one. `rtt`: the handshake's round
    /// trip, if it was measured.
    fn on_established(&mut self, _rtt: Option<Duration>, _windows: &mut Windows) {}

    /// Returns by how many bytes the window grows in slow start at an acknowledgment, if the rule
    /// replaces the standard slow start.
    fn slow_start(&mut self, _windows: &Windows) -> Option<u64> {
        None
    }

    /// Returns by how many bytes the window grows when `acked` bytes are acknowledged.
    fn grow(&mut self, acked: u64, windows: &Windows) -> u64;

    /// Called after a window that was used has grown, in slow start too.
    fn after_growth(&mut self, _windows: &mut Windows) {}

    /// Whether the rule demands a reduction of the window, as a congestion mark does; polled after
    /// each observed acknowledgment.
    fn demands_reduction(&self) -> bool {
        false
    }

    /// The slow-start threshold after a loss with `base` bytes in the network, in bytes.
    fn threshold(&mut self, base: u64, windows: &Windows) -> u64;

    /// The same after a congestion mark, or on the rule's demand.
    fn threshold_for_mark(&mut self, base: u64, windows: &Windows) -> u64 {
        self.threshold(base, windows)
    }

    /// Called after the threshold is set for a loss after which slow start begins again: the first
    /// timeout for this data (Linux, `CA_EVENT_LOSS`), or any loss without fast recovery (Tahoe).
    fn on_given_up(&mut self, _windows: &mut Windows) {}

    /// Called when the window has reached the value set for a loss, a mark or the rule's demand: a
    /// fast recovery or a reduction is over (Linux, `CA_EVENT_COMPLETE_CWR`).
    fn on_reduction_over(&mut self, _windows: &mut Windows) {}

    /// Called when the retransmission timer has expired.
    fn on_timeout(&mut self) {}

    /// Called when a loss turned out not to have been one.
    fn on_taken_back(&mut self) {}

    /// Called when data is sent after nothing was in flight for `idle`.
    fn on_idle_over(&mut self, _now: Instant, _idle: Duration) {}

    /// Called when the window restarts after a pause of at least a timeout (RFC 7661 §4.4.2).
    fn on_restart(&mut self, _windows: &Windows) {}

    /// Called when the peer turns out to count congestion marks. Returns whether the rule reacts to
    /// each of them itself.
    fn heed_each_mark(&mut self) -> bool {
        false
    }

    /// Number of times that the rule itself has reduced the window for marks.
    fn reductions_for_marks(&self) -> u64 {
        0
    }

    /// Bytes that leave in a round trip, of a rule that spreads its window over it without a margin
    /// and segment by segment.
    fn paced_window(&self, _windows: &Windows) -> Option<u64> {
        None
    }
}
