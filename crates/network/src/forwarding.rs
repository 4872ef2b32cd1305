//! Forwarding from hop to hop: into a pipe, to the next one, and out of the network.

use airtcp_link::{Admission, Transmission};

use crate::hop::Hop;
use crate::hosts::Hosts;
use crate::packet::Packet;
use crate::{Network, Turn};

impl<C: Copy + Default, A: Copy> Network<C, A> {
    /// Hands a packet to its next hop.
    #[inline]
    pub(crate) fn forward(&mut self, packet: &Packet<C>, hosts: &mut impl Hosts<C, A>) {
        match self.routes.at(packet.next) {
            Hop::Pipe(pipe) => self.enter_next_pipe(packet, pipe, hosts),
            Hop::Host(host) => hosts.arrived(self, host, packet),
            Hop::Air(hop) => self.enter_air(packet, hop, hosts),
            Hop::Agent { agent, toward } => self.pass_agent(packet, agent, toward, hosts),
        }
    }

    /// Takes a packet from a host, at [`Self::now`]: for hosts that answer while the network
    /// advances. Others call [`Self::inject`].
    ///
    /// The first hop is usually a pipe, and then no code that handles arrivals at hosts is
    /// reachable from here, so that the compiler can lay out a packet's common path in one piece.
    #[inline]
    pub fn send(&mut self, packet: Packet<C>, hosts: &mut impl Hosts<C, A>) {
        match self.routes.at(packet.next) {
            Hop::Pipe(pipe) => self.enter_pipe(&packet, pipe, hosts),
            _ => self.send_elsewhere(&packet, hosts),
        }
    }

    /// A packet arrives at the far end of a pipe.
    #[inline]
    pub(crate) fn on_pipe(&mut self, index: u32, hosts: &mut impl Hosts<C, A>) {
        // An overtaking packet schedules a separate, earlier event.
        if !self.pipes[index as usize]
            .alarm
            .rings(&mut self.queue, self.now)
        {
            return;
        }
        // While packets are handled, events may be added, but only later ones: this one is still
        // first.
        let next = loop {
            let pipe = &mut self.pipes[index as usize].pipe;
            if let Some(mut packet) = pipe.pop(self.now) {
                packet.next += 1;
                self.forward(&packet, hosts);
            }
            let pipe = &self.pipes[index as usize].pipe;
            let next = pipe.next_wakeup();
            if pipe.discards() {
                self.take_discarded(index, hosts);
            }
            if next > self.now {
                break next;
            }
        };
        let node = &mut self.pipes[index as usize];
        node.alarm.rearm(&mut self.queue, self.now, next);
    }

    #[inline(never)]
    fn enter_next_pipe(&mut self, packet: &Packet<C>, pipe: u32, hosts: &mut impl Hosts<C, A>) {
        self.enter_pipe(packet, pipe, hosts);
    }

    // The largest part of a packet's cost; the call itself would be a quarter of it, hence inlined.
    #[inline(always)]
    fn enter_pipe(&mut self, packet: &Packet<C>, pipe: u32, hosts: &mut impl Hosts<C, A>) {
        let node = &mut self.pipes[pipe as usize];
        let mut index = packet.index;
        if let Some(count) = node.counts.get_mut(packet.flow as usize)
            && index != Transmission::UNNUMBERED
        {
            index = *count;
            *count += 1;
        }
        let transmission = Transmission {
            bytes: packet.bytes(),
            flow: packet.flow,
            index,
        };
        let admission = node.pipe.push(self.now, transmission, *packet);
        let next = node.pipe.next_wakeup();
        let discards = node.pipe.discards();
        node.alarm
            .arm(&mut self.queue, self.now, next, Turn::Pipe(pipe));
        if admission != Admission::Queued {
            hosts.lost(self, packet, admission);
        } else if discards {
            self.take_discarded(pipe, hosts);
        }
    }

    /// Reports packets that a queue discipline has dropped or the link has lost after the queue.
    #[cold]
    fn take_discarded(&mut self, pipe: u32, hosts: &mut impl Hosts<C, A>) {
        while let Some((packet, admission)) = self.pipes[pipe as usize].pipe.take_discarded() {
            hosts.lost(self, &packet, admission);
        }
    }
}
