//! Endpoints and pipes, and the loop that moves packets between them.

mod access_point;
mod air;
mod application;
mod endpoints;
mod forwarding;
mod hop;
mod outage;
mod proxy;
mod view;

use airtcp_link::agent::AgentConfig;
use airtcp_link::mac::PacketClass;
use airtcp_link::{Pipe, PipeConfig, Stream};
use airtcp_packet::{LinkFeedback, Segment};
use airtcp_units::Instant;

use super::digest::Digest;
use super::event_queue::EventQueue;
use super::flow::{Flow, FlowConfig};
use super::watch::Watch;
use access_point::AgentNode;
use air::MediumNode;
pub use air::{ACCESS_POINT, MediumConfig, MediumKind};
pub(super) use application::Application;
use hop::Routes;
pub use hop::{AirHop, Hop};
pub(super) use outage::Freeze;
pub use outage::FreezeConfig;
pub(super) use proxy::Proxy;
pub use proxy::ProxyConfig;
pub use view::AirView;

/// Endpoints and pipes.
#[derive(Clone, Debug, Default)]
pub struct NetworkConfig {
    /// The pipes, which flows name by index, each with the name of its random stream.
    pub pipes: Vec<(String, PipeConfig)>,
    /// The media, which flows name by index.
    pub media: Vec<MediumConfig>,
    /// The agents, which flows name by index, each with the name of its random stream.
    pub agents: Vec<(String, AgentConfig)>,
    /// The flows.
    pub flows: Vec<FlowConfig>,
}

/// What a packet carries.
#[derive(Clone, Copy, Debug)]
enum Content {
    Segment(Segment),
    /// News of a link for a host.
    Feedback(LinkFeedback),
}

/// Size of a message about a link on the wire: as an ICMP error has it, with the headers of the
/// packet that it is about (RFC 792).
const FEEDBACK_BYTES: u32 = 56;

/// A packet on its way.
#[derive(Clone, Copy, Debug)]
struct Packet {
    content: Content,
    flow: u32,
    /// Its next hop, an index into the routes.
    next: u32,
    /// How many packets the flow had sent in this direction before.
    index: u64,
}

impl Packet {
    /// Size of the IP packet.
    #[inline]
    fn bytes(&self) -> u32 {
        match &self.content {
            Content::Segment(segment) => segment.ip_bytes(),
            Content::Feedback(_) => FEEDBACK_BYTES,
        }
    }

    #[inline]
    const fn segment(&self) -> Option<&Segment> {
        match &self.content {
            Content::Segment(segment) => Some(segment),
            Content::Feedback(_) => None,
        }
    }

    /// What error models and agents tell apart.
    #[inline]
    fn class(&self) -> PacketClass {
        match &self.content {
            Content::Segment(segment) if segment.sequence_length() > 0 => PacketClass::Data,
            _ => PacketClass::Acknowledgment,
        }
    }
}

/// Whose turn it is.
#[derive(Clone, Copy, Debug)]
enum Turn {
    /// A packet arrives at the far end of a pipe.
    Pipe(u32),
    /// A medium wants to be woken.
    Medium(u16),
    /// An agent wants to be woken.
    Agent(u16),
    /// The application of a flow wants to be woken.
    Application(u32),
    /// The proxy of a flow wants to be woken.
    Proxy(u32),
    /// The link of a flow's receiver is about to go away, or has come back.
    Outage(u32),
    /// The client of a flow opens its connection, or its timer expires.
    Client(u32),
    /// The timer of a server expires.
    Server(u32),
}

#[derive(Clone, Debug)]
struct PipeNode {
    pipe: Pipe<Packet>,
    /// Time of the pending event; [`Instant::FAR_FUTURE`] when there is none.
    pending: Instant,
    /// Packets of each flow so far, where agents repeat packets: a copy is another transmission.
    /// Empty elsewhere; there a packet's place among those of its host is its place here.
    counts: Vec<u64>,
}

/// A running simulation.
#[derive(Debug)]
pub struct Network {
    now: Instant,
    queue: EventQueue<Turn>,
    pipes: Vec<PipeNode>,
    media: Vec<MediumNode>,
    agents: Vec<AgentNode>,
    routes: Routes,
    flows: Vec<Flow>,
    digest: Digest,
    events: u64,
}

impl Network {
    /// A network at rest at time zero, its channels drawn from `seed`.
    #[must_use]
    pub fn new(config: NetworkConfig, seed: u64) -> Self {
        let counted = if config.agents.iter().any(|(_, agent)| agent.repeats()) {
            config.flows.len()
        } else {
            0
        };
        let pipes = config
            .pipes
            .into_iter()
            .map(|(name, pipe)| PipeNode {
                pipe: Pipe::new(pipe, Stream::new(seed, &name)),
                pending: Instant::FAR_FUTURE,
                counts: vec![0; counted],
            })
            .collect();
        let media: Vec<_> = config
            .media
            .into_iter()
            .map(|medium| MediumNode::new(medium, seed))
            .collect();
        let agents = config
            .agents
            .iter()
            .map(|(name, agent)| AgentNode::new(agent, Stream::new(seed, name)))
            .collect();
        let mut queue = EventQueue::default();
        for (flow, index) in config.flows.iter().zip(0..) {
            queue.schedule(flow.start, Turn::Client(index));
        }
        for (medium, index) in media.iter().zip(0..) {
            if medium.pending() < Instant::FAR_FUTURE {
                queue.schedule(medium.pending(), Turn::Medium(index));
            }
        }
        let mut routes = Routes::default();
        let mut flows: Vec<Flow> = config
            .flows
            .iter()
            .map(|flow| {
                let there = routes.add(&flow.forward, Hop::Server);
                let back = routes.add(&flow.reverse, Hop::Client);
                Flow::new(flow, there, back)
            })
            .collect();
        for (flow, index) in flows.iter_mut().zip(0..) {
            flow.client.timer = flow.start;
            if flow.hears_link
                && let Hop::Air(first) = routes.at(flow.client.route)
                && let Some(timeout) = media[usize::from(first.medium)].told_retry_timeout()
            {
                let feedback = LinkFeedback::RetryTimeout(timeout);
                let connection = &mut flow.client.connection;
                connection.on_feedback(Instant::ZERO, &feedback, &mut ());
            }
            if let Some(freeze) = &flow.freeze {
                queue.schedule(freeze.next(), Turn::Outage(index));
            }
            if flow.application.is_some() {
                queue.schedule(flow.start, Turn::Application(index));
            }
            if let Some(proxy) = &mut flow.proxy {
                proxy.lay_routes(&routes, flow.client.route, flow.server.route);
            }
        }
        Self {
            now: Instant::ZERO,
            queue,
            pipes,
            media,
            agents,
            routes,
            flows,
            digest: Digest::default(),
            events: 0,
        }
    }

    /// Runs until nothing is due before or at `end`, or nothing is due at all.
    pub fn run_until(&mut self, end: Instant, watch: &mut impl Watch) {
        while let Some((time, turn)) = self.queue.first() {
            if time > end {
                break;
            }
            debug_assert!(time >= self.now, "time runs backwards");
            self.now = time;
            self.events += 1;
            match turn {
                Turn::Pipe(index) => self.on_pipe(index, watch),
                Turn::Medium(index) => self.on_medium(index, watch),
                Turn::Agent(index) => self.on_agent(index, watch),
                Turn::Proxy(index) => self.on_proxy_timer(index, watch),
                Turn::Application(index) => self.on_application_timer(index, watch),
                Turn::Outage(index) => self.on_outage(index, watch),
                Turn::Client(index) => self.on_client_timer(index, watch),
                Turn::Server(index) => self.on_server_timer(index, watch),
            }
        }
        self.now = self.now.max(end);
    }

    /// Virtual time now.
    #[must_use]
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// Whether nothing is due any more.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.queue.is_empty()
    }

    /// The flows, when nothing else of the network is needed any more.
    #[must_use]
    pub fn into_flows(self) -> Vec<Flow> {
        self.flows
    }

    /// The flows.
    #[must_use]
    pub fn flows(&self) -> &[Flow] {
        &self.flows
    }

    /// The fingerprint of all deliveries so far.
    #[must_use]
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// Events handled so far.
    #[must_use]
    pub const fn events(&self) -> u64 {
        self.events
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets are copied at every hop: a kind of content that does not fit beside a segment would
    /// cost all.
    #[test]
    fn a_packet_is_small() {
        assert_eq!(size_of::<Content>(), size_of::<Segment>());
        assert!(size_of::<Packet>() <= 88, "{}", size_of::<Packet>());
    }
}
