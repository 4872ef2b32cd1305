//! Packets between neighbouring hosts: one receives them in the instant in which the other sends
//! them, within the call. Two that go on answering each other would nest without end, so from a
//! depth on their packets wait for an event of that instant.

use std::collections::VecDeque;

use airtcp_units::Instant;

use crate::alarm::Alarm;
use crate::hosts::Hosts;
use crate::packet::Packet;
use crate::{Network, Turn};

/// Answers within answers. A level takes some kilobytes of a thread's stack, which has two
/// megabytes.
const MAX_DEPTH: u32 = 64;

/// The depth, and the packets that wait.
#[derive(Debug)]
pub struct Postponed<C> {
    depth: u32,
    waiting: VecDeque<Packet<C>>,
    alarm: Alarm,
}

impl<C> Default for Postponed<C> {
    fn default() -> Self {
        Self {
            depth: 0,
            waiting: VecDeque::new(),
            alarm: Alarm::default(),
        }
    }
}

impl<C: Copy + Default, A: Copy> Network<C, A> {
    /// Hands a packet to a first hop that is no pipe, at once or by an event of this instant. No
    /// packet overtakes one that waits.
    #[inline(never)]
    pub(crate) fn send_elsewhere(&mut self, packet: &Packet<C>, hosts: &mut impl Hosts<C, A>) {
        let postponed = &mut self.postponed;
        if postponed.depth < MAX_DEPTH && postponed.waiting.is_empty() {
            postponed.depth += 1;
            self.forward(packet, hosts);
            self.postponed.depth -= 1;
            return;
        }
        postponed.waiting.push_back(*packet);
        postponed
            .alarm
            .arm(&mut self.queue, self.now, self.now, Turn::Postponed);
    }

    /// Forwards what waits, with what is sent meanwhile.
    #[cold]
    pub(crate) fn on_postponed(&mut self, hosts: &mut impl Hosts<C, A>) {
        if !self.postponed.alarm.rings(&mut self.queue, self.now) {
            return;
        }
        while let Some(packet) = self.postponed.waiting.front().copied() {
            self.forward(&packet, hosts);
            self.postponed.waiting.pop_front();
        }
        let alarm = &mut self.postponed.alarm;
        alarm.rearm(&mut self.queue, self.now, Instant::FAR_FUTURE);
    }
}
