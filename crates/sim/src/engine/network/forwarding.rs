//! From hop to hop: into a pipe, out of it, and what becomes of a packet that is lost.

use airtcp_link::{Admission, Transmission};
use airtcp_tcp::loss_differentiation::Cause;
use airtcp_units::Instant;

use super::endpoints::offset_near;
use super::hop::Hop;
use super::{Network, Packet, Turn};
use crate::engine::insight::sequence_of;
use crate::engine::watch::{Direction, FlowEvent, Watch};

impl Network {
    /// Hands a packet to its next hop.
    #[inline]
    pub(super) fn forward(&mut self, packet: Packet, watch: &mut impl Watch) {
        match self.routes.at(packet.next) {
            Hop::Pipe(pipe) => self.enter_pipe(packet, pipe, watch),
            Hop::Server => self.on_server_arrival(&packet, watch),
            Hop::Client => self.on_client_arrival(&packet, watch),
            Hop::Air(hop) => self.enter_air(packet, hop, watch),
            Hop::Agent { agent, toward } => self.pass_agent(packet, agent, toward, watch),
            Hop::Proxy(side) => self.on_proxy_arrival(&packet, side, watch),
        }
    }

    /// Hands a packet that a host sends to its first hop: a pipe as a rule, and then nothing of what
    /// hosts do to arrivals is called again from here, so that the compiler can lay out the common
    /// way of a packet in one piece.
    #[inline]
    pub(super) fn depart(&mut self, packet: Packet, watch: &mut impl Watch) {
        match self.routes.at(packet.next) {
            Hop::Pipe(pipe) => self.enter_pipe(packet, pipe, watch),
            _ => self.depart_elsewhere(packet, watch),
        }
    }

    #[inline(never)]
    fn depart_elsewhere(&mut self, packet: Packet, watch: &mut impl Watch) {
        self.forward(packet, watch);
    }

    /// A packet arrives at the far end of a pipe.
    #[inline]
    pub(super) fn on_pipe(&mut self, index: u32, watch: &mut impl Watch) {
        let node = &mut self.pipes[index as usize];
        if node.pending != self.now {
            // A packet that overtook has been announced since, at an earlier time.
            self.queue.remove_first();
            return;
        }
        // While packets are handled, events may be added, but none before this one: it is still the
        // first.
        loop {
            let pipe = &mut self.pipes[index as usize].pipe;
            if let Some(mut packet) = pipe.pop(self.now) {
                packet.next += 1;
                self.forward(packet, watch);
            }
            let node = &mut self.pipes[index as usize];
            let next = node.pipe.next_arrival();
            if next > self.now {
                node.pending = next;
                break;
            }
        }
        let next = self.pipes[index as usize].pending;
        if next == Instant::FAR_FUTURE {
            self.queue.remove_first();
        } else {
            self.queue.reschedule_first(next);
        }
    }

    #[inline]
    fn enter_pipe(&mut self, packet: Packet, pipe: u32, watch: &mut impl Watch) {
        let node = &mut self.pipes[pipe as usize];
        let mut index = packet.index;
        if let Some(count) = node.counts.get_mut(packet.flow as usize) {
            index = *count;
            *count += 1;
        }
        let transmission = Transmission {
            bytes: packet.bytes(),
            flow: packet.flow,
            index,
        };
        let admission = node.pipe.push(self.now, transmission, packet);
        let next = node.pipe.next_arrival();
        if next < node.pending {
            node.pending = next;
            self.queue.schedule(next, Turn::Pipe(pipe));
        }
        if admission != Admission::Queued {
            self.on_loss(&packet, admission, watch);
        }
    }

    /// A packet found no room, or was lost: it will not be seen again.
    #[cold]
    pub(super) fn on_loss(
        &mut self,
        packet: &Packet,
        admission: Admission,
        watch: &mut impl Watch,
    ) {
        let Some(segment) = packet.segment() else {
            return;
        };
        let direction = self.direction(packet);
        // Behind a proxy a loss is one of the proxy's connection, not of the sender's.
        let is_senders = !self.is_behind_proxy(packet);
        let flow = &mut self.flows[packet.flow as usize];
        let una = flow.client().sender().una();
        let offset = match direction {
            Direction::Data => {
                let sequence = segment.sequence;
                if is_senders {
                    let una = sequence_of(una, flow.client_iss);
                    flow.truth.on_loss(sequence, packet.index, una);
                    if flow.coins.is_some() {
                        let cause = match admission {
                            Admission::Overflow => Cause::Congestion,
                            _ => Cause::Radio,
                        };
                        flow.truth.on_cause(sequence, cause, una);
                    }
                }
                match admission {
                    Admission::Overflow => flow.tally.dropped_by_queue += 1,
                    _ => flow.tally.lost_by_link += 1,
                }
                offset_near(sequence, flow.client_iss, una)
            }
            Direction::Acknowledgments => {
                flow.tally.acknowledgments_lost += 1;
                offset_near(segment.acknowledgment, flow.client_iss, una)
            }
        };
        let event = match admission {
            Admission::Overflow => FlowEvent::QueueDrop { direction, offset },
            _ => FlowEvent::LinkLoss { direction, offset },
        };
        watch.event(self.now, packet.flow, event);
    }

    /// Which way a packet goes: its route says so at its end.
    fn direction(&self, packet: &Packet) -> Direction {
        match self.routes.from(packet.next).last() {
            Some(Hop::Client) => Direction::Acknowledgments,
            _ => Direction::Data,
        }
    }
}
