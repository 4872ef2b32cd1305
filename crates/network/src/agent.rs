//! Agents at an access point: passing packets, emitted packets and timers.

use airtcp_link::agent::{
    Agent, AgentConfig, AnyAgent, Emission, FlowKey, LinkEvent, Passage, Toward,
};
use airtcp_link::frame::Urgency;
use airtcp_link::{Admission, Stream};
use airtcp_packet::{LinkFeedback, Segment};
use airtcp_units::Instant;

use crate::alarm::Alarm;
use crate::hop::Hop;
use crate::hosts::Hosts;
use crate::packet::{Content, Packet};
use crate::{Network, Turn};

/// A packet held by an agent, without its headers: enough to send it on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Handle<C> {
    /// The agent's hop on the packet's route.
    hop: u32,
    /// The packet's index in its host's sequence.
    index: u64,
    carried: C,
}

/// An agent in the network.
#[derive(Debug)]
pub(crate) struct AgentNode<C> {
    agent: AnyAgent<Handle<C>>,
    alarm: Alarm,
}

impl<C: Copy> AgentNode<C> {
    /// An agent through which nothing has passed.
    pub(crate) fn new(config: &AgentConfig, stream: Stream) -> Self {
        let agent = AnyAgent::new(config, stream);
        Self {
            agent: agent.expect("what a scenario says of an agent is checked when it is read"),
            alarm: Alarm::default(),
        }
    }

    /// Urgency of a packet by the agent's estimate.
    pub(crate) fn urgency(&self, now: Instant, flow: u32, segment: &Segment) -> Option<Urgency> {
        self.agent.urgency(now, FlowKey::from(flow), segment)
    }
}

impl<C: Copy + Default, A: Copy> Network<C, A> {
    /// A packet passes an agent.
    #[inline(never)]
    pub(crate) fn pass_agent(
        &mut self,
        packet: &Packet<C>,
        agent: u16,
        toward: Toward,
        hosts: &mut impl Hosts<C, A>,
    ) {
        let Content::Segment(segment) = packet.content else {
            // Link feedback and non-TCP packets bypass the agent.
            let onward = Packet {
                next: packet.next + 1,
                ..*packet
            };
            self.forward(&onward, hosts);
            return;
        };
        let passage = Passage {
            flow: FlowKey::from(packet.flow),
            toward,
            segment,
            packet: Handle {
                hop: packet.next,
                index: packet.index,
                carried: packet.carried,
            },
        };
        let now = self.now;
        let node = &mut self.agents[usize::from(agent)];
        node.agent.handle(now, passage, &mut |flow, event| {
            hosts.agent_acted(now, flow as u32, event)
        });
        self.drain_agent(agent, hosts);
    }

    /// The link reports to an agent.
    pub(crate) fn tell_agent(
        &mut self,
        agent: u16,
        flow: u32,
        segment: &Segment,
        event: LinkEvent,
        hosts: &mut impl Hosts<C, A>,
    ) {
        let now = self.now;
        let node = &mut self.agents[usize::from(agent)];
        node.agent.on_link_event(
            now,
            FlowKey::from(flow),
            segment,
            event,
            &mut |flow, event| hosts.agent_acted(now, flow as u32, event),
        );
        self.drain_agent(agent, hosts);
    }

    /// An agent wants to be woken.
    pub(crate) fn on_agent(&mut self, index: u16, hosts: &mut impl Hosts<C, A>) {
        let now = self.now;
        let node = &mut self.agents[usize::from(index)];
        if !node.alarm.rings(&mut self.queue, now) {
            return;
        }
        if node.agent.next_wakeup() <= now {
            node.agent.on_wakeup(now, &mut |flow, event| {
                hosts.agent_acted(now, flow as u32, event)
            });
        }
        self.send_emissions(index, hosts);
        let node = &mut self.agents[usize::from(index)];
        let wanted = node.agent.next_wakeup();
        node.alarm.rearm(&mut self.queue, now, wanted);
    }

    /// Sends the agent's pending packets and re-arms its timer.
    fn drain_agent(&mut self, index: u16, hosts: &mut impl Hosts<C, A>) {
        self.send_emissions(index, hosts);
        let node = &mut self.agents[usize::from(index)];
        let wanted = node.agent.next_wakeup();
        node.alarm
            .arm(&mut self.queue, self.now, wanted, Turn::Agent(index));
    }

    fn send_emissions(&mut self, index: u16, hosts: &mut impl Hosts<C, A>) {
        let now = self.now;
        while let Some(emission) = self.agents[usize::from(index)].agent.poll(now) {
            match emission {
                Emission::Pass(passage) => self.forward(&onward(&passage), hosts),
                Emission::Repeat(passage) => {
                    hosts.repeated(passage.flow as u32, &passage.segment);
                    self.forward(&onward(&passage), hosts);
                }
                Emission::Discard(passage) => {
                    hosts.lost(self, &onward(&passage), Admission::Overflow);
                }
                Emission::Feedback {
                    flow,
                    toward,
                    feedback,
                } => self.send_feedback(index, flow as u32, toward, feedback, hosts),
            }
        }
    }

    /// Sends feedback on the link, written by the agent itself, to the host on that side.
    fn send_feedback(
        &mut self,
        agent: u16,
        flow: u32,
        toward: Toward,
        feedback: LinkFeedback,
        hosts: &mut impl Hosts<C, A>,
    ) {
        let Some(next) = self.hop_behind(agent, flow, toward) else {
            return;
        };
        let packet = Packet {
            content: Content::Feedback(feedback),
            flow,
            next,
            index: 0,
            carried: C::default(),
        };
        self.forward(&packet, hosts);
    }

    /// The hop after an agent on the path of `flow` that passes it in the direction `toward`.
    fn hop_behind(&self, agent: u16, flow: u32, toward: Toward) -> Option<u32> {
        let here = Hop::Agent { agent, toward };
        self.ways.get(flow as usize)?.iter().find_map(|&route| {
            let place = self.routes.from(route).position(|hop| hop == here)?;
            Some(route + place as u32 + 1)
        })
    }
}

const fn onward<C: Copy>(passage: &Passage<Handle<C>>) -> Packet<C> {
    Packet {
        content: Content::Segment(passage.segment),
        flow: passage.flow as u32,
        next: passage.packet.hop + 1,
        index: passage.packet.index,
        carried: passage.packet.carried,
    }
}
