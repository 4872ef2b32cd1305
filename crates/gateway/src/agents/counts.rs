//! Counters of the agents' actions, real or hypothetical.

use airtcp_link::agent::{AgentEvent, Toward};
use airtcp_units::Duration;
use serde::Serialize;

use super::hold_limit::Bound;

/// Holds shorter than this do not count: the agent passed the packet on immediately.
const AT_ONCE: Duration = Duration::from_micros(1);

/// Counts of packets since the start.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Counts {
    /// Packets towards the mobiles that agents saw.
    pub to_mobile: u64,
    /// Packets towards the wired side that agents saw.
    pub to_wired: u64,
    /// Packets that an agent did not release at once.
    pub held: u64,
    /// Packets that left later than they arrived, for any reason.
    pub delayed: u64,
    /// Acknowledgments evaluated by the adaptive rule.
    pub judged: u64,
    /// Delay spikes among the judged acknowledgments.
    pub spikes: u64,
    /// Total time for which packets were held, in nanoseconds.
    pub held_ns: u64,
    /// The longest of these times, in nanoseconds.
    pub longest_ns: u64,
    /// Holds that ended at a bound.
    pub cut_by_limit: u64,
    /// Holds refused because the round trip was unknown.
    pub cut_unmeasured: u64,
    /// Holds that ended with their connection's budget.
    pub cut_by_budget: u64,
    /// Packets released early because everything was released.
    pub released_early: u64,
    /// Packets that an agent dropped.
    pub dropped: u64,
    /// Packets that an agent repeated.
    pub repeated: u64,
    /// Packets that an agent changed.
    pub changed: u64,
    /// Packets that passed with a raised priority.
    pub prioritised: u64,
    /// Notifications of a bad link.
    pub notified: u64,
}

impl Counts {
    pub(super) const fn seen(&mut self, toward: Toward) {
        match toward {
            Toward::Mobile => self.to_mobile += 1,
            Toward::Wired => self.to_wired += 1,
        }
    }

    pub(super) const fn event(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::AckJudged { spike, .. } => {
                self.judged += 1;
                self.spikes += *spike as u64;
            }
            AgentEvent::Notified => self.notified += 1,
            AgentEvent::LocalRetransmission { .. }
            | AgentEvent::AckSuppressed
            | AgentEvent::DataDropped => {}
        }
    }

    pub(super) const fn cut(&mut self, bound: Bound) {
        match bound {
            Bound::Limit => self.cut_by_limit += 1,
            Bound::Unmeasured => self.cut_unmeasured += 1,
            Bound::Budget => self.cut_by_budget += 1,
        }
    }

    pub(super) fn passed(&mut self, held: Duration) {
        if held < AT_ONCE {
            return;
        }
        self.delayed += 1;
        self.held_ns = self.held_ns.saturating_add(held.as_nanos());
        self.longest_ns = self.longest_ns.max(held.as_nanos());
    }

    /// The mean time for which delayed packets were held, in milliseconds; zero without one.
    pub fn mean_hold_ms(&self) -> f64 {
        if self.delayed == 0 {
            0.0
        } else {
            self.held_ns as f64 / self.delayed as f64 / 1e6
        }
    }
}
