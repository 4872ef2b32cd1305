//! Outages that a receiver sees coming: it freezes its sender before each, and thaws it after.

use airtcp_units::{Duration, Instant};

use super::Network;
use crate::engine::watch::Watch;

/// When the receiver's link goes away, and how early it knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreezeConfig {
    /// From the start of one outage to the start of the next; the first comes after this time.
    pub every: Duration,
    /// How long an outage lasts.
    pub length: Duration,
    /// How long before an outage the sender is frozen: about a round trip (Goff et al. §3.1).
    pub warning: Duration,
    /// It sees nothing coming, and repeats its last acknowledgment when the link is back.
    pub repeats_only: bool,
}

/// Where a receiver is between outages.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct Freeze {
    config: FreezeConfig,
    /// The outage that comes next, or that lasts.
    outage: Instant,
    frozen: bool,
}

impl Freeze {
    pub(in crate::engine) fn new(config: FreezeConfig) -> Self {
        Self {
            config,
            outage: Instant::ZERO + config.every,
            frozen: false,
        }
    }

    /// When the receiver acts next.
    pub(super) fn next(&self) -> Instant {
        if self.frozen {
            self.outage + self.config.length
        } else {
            let before = (self.outage - Instant::ZERO) - self.config.warning;
            Instant::ZERO + before
        }
    }

    /// The receiver acts; whether it freezes its sender, or thaws it.
    fn act(&mut self) -> bool {
        self.frozen = !self.frozen;
        if !self.frozen {
            self.outage += self.config.every;
        }
        self.frozen
    }
}

impl Network {
    /// A flow's receiver freezes or thaws its sender.
    pub(super) fn on_outage(&mut self, index: u32, watch: &mut impl Watch) {
        let now = self.now;
        let flow = &mut self.flows[index as usize];
        let Some(freeze) = &mut flow.freeze else {
            self.queue.remove_first();
            return;
        };
        let repeats_only = freeze.config.repeats_only;
        match (freeze.act(), repeats_only) {
            (true, false) => flow.server.connection.freeze(now),
            (false, false) => flow.server.connection.thaw(now),
            (true, true) => {}
            (false, true) => flow.server.connection.repeat_acknowledgment(),
        }
        // A warning longer than what is left until the next outage is given at once.
        let next = freeze.next().max(now);
        self.queue.reschedule_first(next);
        self.drain_server(index, watch);
    }
}
