//! Outages that a receiver foresees: it freezes its sender before each, and thaws it afterwards.

use airtcp_network::Alarm;
use airtcp_scenario::FreezeConfig;
use airtcp_units::Instant;

use super::watch::Watch;
use super::{Endpoints, Net, Turn};

/// A receiver's position between outages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Freeze {
    config: FreezeConfig,
    /// The next outage, or the current one.
    outage: Instant,
    frozen: bool,
    alarm: Alarm,
}

impl Freeze {
    pub(super) fn new(config: FreezeConfig) -> Self {
        Self {
            config,
            outage: Instant::ZERO + config.every,
            frozen: false,
            alarm: Alarm::default(),
        }
    }

    /// Schedules the first wake-up.
    pub(super) fn arm(&mut self, network: &mut Net, flow: u32) {
        let first = self.next();
        network.arm(&mut self.alarm, first, Turn::Outage(flow));
    }

    /// Time of the receiver's next action.
    fn next(&self) -> Instant {
        if self.frozen {
            self.outage + self.config.length
        } else {
            let before = (self.outage - Instant::ZERO) - self.config.warning;
            Instant::ZERO + before
        }
    }

    /// Performs the receiver's action; returns whether it freezes its sender, or thaws it.
    fn act(&mut self) -> bool {
        self.frozen = !self.frozen;
        if !self.frozen {
            self.outage += self.config.every;
        }
        self.frozen
    }
}

impl<W: Watch> Endpoints<'_, W> {
    /// Freezes or thaws the sender of a flow, as its receiver.
    pub(super) fn on_outage(&mut self, network: &mut Net, index: u32) {
        let now = network.now();
        let flow = &mut self.flows[index as usize];
        let Some(freeze) = &mut flow.freeze else {
            return;
        };
        if !network.rings(freeze.alarm) {
            return;
        }
        let repeats_only = freeze.config.repeats_only;
        match (freeze.act(), repeats_only) {
            (true, false) => flow.server.connection.freeze(now),
            (false, false) => flow.server.connection.thaw(now),
            (true, true) => {}
            (false, true) => flow.server.connection.repeat_acknowledgment(),
        }
        // A warning longer than the time until the next outage is given immediately.
        let next = freeze.next().max(now);
        network.rearm(&mut freeze.alarm, next);
        self.drain_server(network, index);
    }
}
