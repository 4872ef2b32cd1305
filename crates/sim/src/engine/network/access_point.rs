//! Agents at an access point: what passes them, what they send, and their timers.

use airtcp_link::Stream;
use airtcp_link::agent::{
    Agent, AgentConfig, AgentEvent, AnyAgent, Emission, FlowKey, LinkEvent, Passage, Toward,
};
use airtcp_link::mac::Urgency;
use airtcp_packet::Segment;
use airtcp_units::Instant;

use super::hop::Hop;
use super::{Content, Network, Packet, Turn};
use crate::engine::watch::Watch;

/// What an agent keeps of a packet beside its headers: enough to send it on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Handle {
    /// The agent's own hop on the packet's route.
    hop: u32,
    /// The packet's place among those of its host.
    index: u64,
}

/// An agent in the network.
#[derive(Debug)]
pub(super) struct AgentNode {
    agent: AnyAgent<Handle>,
    /// Time of the pending event; [`Instant::FAR_FUTURE`] when there is none. It may be earlier
    /// than the agent now wants.
    pending: Instant,
}

impl AgentNode {
    /// An agent through which nothing has passed.
    pub(super) fn new(config: &AgentConfig, stream: Stream) -> Self {
        let agent = AnyAgent::new(config, stream);
        Self {
            agent: agent.expect("what a scenario says of an agent is checked when it is read"),
            pending: Instant::FAR_FUTURE,
        }
    }

    /// How urgent the agent thinks a packet is.
    pub(super) fn urgency(&self, now: Instant, flow: u32, segment: &Segment) -> Option<Urgency> {
        self.agent.urgency(now, FlowKey::from(flow), segment)
    }
}

impl Network {
    /// A packet passes an agent.
    #[inline(never)]
    pub(super) fn pass_agent(
        &mut self,
        packet: Packet,
        agent: u16,
        toward: Toward,
        watch: &mut impl Watch,
    ) {
        let Content::Segment(segment) = packet.content else {
            // News of the link pass an agent by.
            let onward = Packet {
                next: packet.next + 1,
                ..packet
            };
            self.forward(onward, watch);
            return;
        };
        let passage = Passage {
            flow: FlowKey::from(packet.flow),
            toward,
            segment,
            packet: Handle {
                hop: packet.next,
                index: packet.index,
            },
        };
        let now = self.now;
        let node = &mut self.agents[usize::from(agent)];
        node.agent.handle(now, passage, &mut |flow, event| {
            tell(watch, now, flow, event)
        });
        self.drain_agent(agent, watch);
    }

    /// The link reports to an agent.
    pub(super) fn tell_agent(
        &mut self,
        agent: u16,
        flow: u32,
        segment: &Segment,
        event: LinkEvent,
        watch: &mut impl Watch,
    ) {
        let now = self.now;
        let node = &mut self.agents[usize::from(agent)];
        node.agent.on_link_event(
            now,
            FlowKey::from(flow),
            segment,
            event,
            &mut |flow, event| tell(watch, now, flow, event),
        );
        self.drain_agent(agent, watch);
    }

    /// An agent wants to be woken.
    pub(super) fn on_agent(&mut self, index: u16, watch: &mut impl Watch) {
        let now = self.now;
        self.queue.remove_first();
        let node = &mut self.agents[usize::from(index)];
        if node.pending != now {
            // It has announced an earlier time since.
            return;
        }
        node.pending = Instant::FAR_FUTURE;
        if node.agent.next_wakeup() <= now {
            node.agent
                .on_wakeup(now, &mut |flow, event| tell(watch, now, flow, event));
        }
        self.drain_agent(index, watch);
    }

    /// Sends what an agent has to send, and looks after its timer.
    fn drain_agent(&mut self, index: u16, watch: &mut impl Watch) {
        let now = self.now;
        while let Some(emission) = self.agents[usize::from(index)].agent.poll(now) {
            match emission {
                Emission::Pass(passage) => self.forward(onward(&passage), watch),
                Emission::Repeat(passage) => {
                    if let Ok(flow) = usize::try_from(passage.flow) {
                        self.flows[flow].truth.on_repeat(passage.segment.sequence);
                    }
                    self.forward(onward(&passage), watch);
                }
                Emission::Feedback {
                    flow,
                    toward,
                    feedback,
                } => {
                    let flow = flow as u32;
                    if let Some(next) = self.hop_behind(index, flow, toward) {
                        let packet = Packet {
                            content: Content::Feedback(feedback),
                            flow,
                            next,
                            index: 0,
                        };
                        self.forward(packet, watch);
                    }
                }
            }
        }
        let node = &mut self.agents[usize::from(index)];
        let wanted = node.agent.next_wakeup();
        if wanted < node.pending {
            node.pending = wanted.max(now);
            self.queue.schedule(node.pending, Turn::Agent(index));
        }
    }

    /// The hop behind an agent on the way of `flow` that passes it in the direction `toward`.
    fn hop_behind(&self, agent: u16, flow: u32, toward: Toward) -> Option<u32> {
        let flow = self.flows.get(flow as usize)?;
        let here = Hop::Agent { agent, toward };
        [flow.client.route, flow.server.route]
            .into_iter()
            .find_map(|route| {
                let place = self.routes.from(route).position(|hop| hop == here)?;
                Some(route + place as u32 + 1)
            })
    }
}

fn onward(passage: &Passage<Handle>) -> Packet {
    Packet {
        content: Content::Segment(passage.segment),
        flow: passage.flow as u32,
        next: passage.packet.hop + 1,
        index: passage.packet.index,
    }
}

fn tell(watch: &mut impl Watch, now: Instant, flow: FlowKey, event: AgentEvent) {
    watch.agent(now, flow as u32, event);
}
