//! Output of agents that repair losses: packets that pass, copies that are repeated, and the time
//! of the next timer.

use std::collections::VecDeque;

use airtcp_units::Instant;

use super::{Deadlines, Flow, LocalTimeout};
use crate::agent::{AgentEvent, Emission, FlowKey, Passage};

/// Packets that leave, and local timers that run.
#[derive(Debug)]
pub struct Repairs<P> {
    ready: VecDeque<Emission<P>>,
    deadlines: Deadlines,
}

impl<P> Default for Repairs<P> {
    fn default() -> Self {
        Self {
            ready: VecDeque::new(),
            deadlines: Deadlines::default(),
        }
    }
}

impl<P: Copy> Repairs<P> {
    /// Lets a packet pass.
    pub fn pass(&mut self, passage: Passage<P>) {
        self.ready.push_back(Emission::Pass(passage));
    }

    /// The next packet that leaves.
    pub fn poll(&mut self) -> Option<Emission<P>> {
        self.ready.pop_front()
    }

    /// Follows a connection's timer after a change.
    pub fn follow(&mut self, key: FlowKey, flow: &mut Flow<P>) {
        self.deadlines.file(key, &mut flow.filed, flow.deadline);
    }

    /// Forgets the timer of a connection that is no longer tracked.
    pub fn forget(&mut self, key: FlowKey, flow: &Flow<P>) {
        self.deadlines.remove(key, flow.filed);
    }

    /// Time at which the next timer expires; [`Instant::FAR_FUTURE`] if no timer runs.
    pub fn next_wakeup(&self) -> Instant {
        self.deadlines.next()
    }

    /// A connection with a timer that may have expired at `now`.
    pub fn next_due(&mut self, now: Instant) -> Option<FlowKey> {
        self.deadlines.take(now)
    }

    /// Repeats a connection's oldest copy, since duplicate acknowledgments indicate its loss.
    pub fn repeat(
        &mut self,
        now: Instant,
        key: FlowKey,
        flow: &mut Flow<P>,
        timeout: &LocalTimeout,
        observer: &mut impl FnMut(FlowKey, AgentEvent),
    ) {
        self.again(now, flow, timeout);
        self.follow(key, flow);
        observer(key, AgentEvent::LocalRetransmission { timeout: false });
    }

    /// Handles a timer returned by [`next_due`](Self::next_due): it may have moved since. Returns
    /// whether it expired, and the oldest copy is repeated.
    pub fn on_due(
        &mut self,
        now: Instant,
        key: FlowKey,
        flow: &mut Flow<P>,
        (timeout, most_repeats): (&LocalTimeout, u32),
        observer: &mut impl FnMut(FlowKey, AgentEvent),
    ) -> bool {
        flow.filed = Instant::FAR_FUTURE;
        let is_expired = flow.deadline <= now && flow.on_expiry(most_repeats);
        if is_expired {
            self.again(now, flow, timeout);
            observer(key, AgentEvent::LocalRetransmission { timeout: true });
        }
        self.follow(key, flow);
        is_expired
    }

    /// Timers that run.
    #[cfg(test)]
    pub fn timers(&self) -> usize {
        self.deadlines.len()
    }

    fn again(&mut self, now: Instant, flow: &mut Flow<P>, timeout: &LocalTimeout) {
        self.ready.extend(flow.repeat(now).map(Emission::Repeat));
        flow.restart_timer(now, timeout);
    }
}
