//! Nodes joined by hops, and one event queue.
//!
//! ```text
//!              ┌───────── agent ── pipe ── medium ─────────▶
//!   host ──────┘     hops, one after the other                  ── host
//!         ◀─────────────────────────────────────────────────
//!
//!   inject(now, packet) · next_wakeup() · advance(now) → arrivals
//! ```
//!
//! A [`Network`] is handed packets and the time, and says what came out, where, and when it wants
//! to be woken. It knows neither what is at the hosts nor where time comes from: a simulation
//! drives it in virtual time, with endpoints at the hosts; a gateway in real time, with interfaces
//! there. What a packet carries is a type: nothing in a simulation, which pays nothing for it, and
//! a handle of its bytes where there are bytes. The n-th packet meets the same draw in both.
//!
//! Pending events are kept in an [`EventQueue`]: a pipe has *one* entry there however many
//! packets are in it, and so has each state machine with a timer, however often that moves
//! ([`Alarm`]). In steady state nothing is allocated for a packet and nothing is dispatched
//! dynamically.
//!
//! Among events of one instant the order is that in which they were scheduled; a pipe or a timer
//! that is scheduled again goes to the end of its instant. Events of the hosts stand in the same
//! queue, so that this holds for them too.

mod agent;
mod alarm;
mod event_queue;
mod forwarding;
mod hop;
mod hosts;
mod medium;
mod packet;
mod view;

use std::convert::Infallible;

use airtcp_link::agent::AgentConfig;
use airtcp_link::{Pipe, PipeConfig, Stream};
use airtcp_units::Instant;

use agent::AgentNode;
pub use alarm::Alarm;
pub use event_queue::EventQueue;
use hop::Routes;
pub use hop::{AirHop, Hop, Host, Side};
pub use hosts::{Arrival, Arrivals, Hosts};
use medium::MediumNode;
pub use medium::{ACCESS_POINT, MediumConfig, MediumKind};
pub use packet::{Content, Packet, Port};
pub use view::AirView;

/// Hops of packets on their ways.
#[derive(Clone, Debug, Default)]
pub struct NetworkConfig {
    /// The pipes, which hops name by index, each with the name of its random stream.
    pub pipes: Vec<(String, PipeConfig)>,
    /// The media, which hops name by index.
    pub media: Vec<MediumConfig>,
    /// The agents, which hops name by index, each with the name of its random stream.
    pub agents: Vec<(String, AgentConfig)>,
}

/// The part of the network that an event is for.
#[derive(Clone, Copy, Debug)]
enum Turn<A> {
    /// A packet arrives at the far end of a pipe.
    Pipe(u32),
    /// A medium wants to be woken.
    Medium(u16),
    /// An agent wants to be woken.
    Agent(u16),
    /// Something at the hosts wants to be woken.
    Host(A),
}

#[derive(Clone, Debug)]
struct PipeNode<C> {
    pipe: Pipe<Packet<C>>,
    alarm: Alarm,
    /// Number of packets of each flow, where agents repeat packets: a copy is another transmission.
    /// Empty elsewhere; there a packet's place among those of its host is its place here.
    counts: Vec<u64>,
}

/// Pipes, media and agents, and the packets among them. `C` is what packets carry; its default
/// stands for nothing, which is what news of a link carries that an agent writes itself. `A` names
/// what the hosts want to be woken for.
#[derive(Debug)]
pub struct Network<C = (), A = Infallible> {
    now: Instant,
    queue: EventQueue<Turn<A>>,
    pipes: Vec<PipeNode<C>>,
    media: Vec<MediumNode<C>>,
    agents: Vec<AgentNode<C>>,
    routes: Routes,
    /// Number of flows.
    flows: u32,
    /// Where the ways of each flow begin, if there are agents that may write to its hosts.
    ways: Vec<[u32; 2]>,
    /// Whether agents repeat packets, so that pipes have to count.
    has_copies: bool,
    events: u64,
}

impl<C: Copy + Default, A: Copy> Network<C, A> {
    /// A network at rest at time zero, its channels drawn from `seed`.
    #[must_use]
    pub fn new(config: NetworkConfig, seed: u64) -> Self {
        let has_copies = config.agents.iter().any(|(_, agent)| agent.repeats());
        let pipes = config.pipes.into_iter();
        let media = config.media.into_iter();
        let agents = config.agents.iter();
        let mut network = Self {
            now: Instant::ZERO,
            queue: EventQueue::default(),
            pipes: pipes
                .map(|(name, pipe)| PipeNode {
                    pipe: Pipe::new(pipe, Stream::new(seed, &name)),
                    alarm: Alarm::default(),
                    counts: Vec::new(),
                })
                .collect(),
            media: media.map(|medium| MediumNode::new(medium, seed)).collect(),
            agents: agents
                .map(|(name, agent)| AgentNode::new(agent, Stream::new(seed, name)))
                .collect(),
            routes: Routes::default(),
            flows: 0,
            ways: Vec::new(),
            has_copies,
            events: 0,
        };
        for index in (0..).take(network.media.len()) {
            network.arm_medium(index);
        }
        network
    }

    /// Adds a flow, by what its data meets on the way to the server and what its acknowledgments
    /// meet on the way to the client; neither host is named. Returns the ports of client and
    /// server. Flows are numbered from zero in the order in which they are added.
    pub fn add_flow(&mut self, forward: &[Hop], reverse: &[Hop]) -> [Port; 2] {
        let flow = self.flows;
        self.flows += 1;
        let ways = [
            self.routes.add(forward, Host::Server),
            self.routes.add(reverse, Host::Client),
        ];
        if !self.agents.is_empty() {
            self.ways.push(ways);
        }
        if self.has_copies {
            for node in &mut self.pipes {
                node.counts.push(0);
            }
        }
        ways.map(|route| Port::new(flow, route))
    }

    /// Takes a packet from a host at `now`, when everything due before has been done.
    pub fn inject(&mut self, now: Instant, packet: Packet<C>, hosts: &mut impl Hosts<C, A>) {
        self.advance(now, hosts);
        self.send(packet, hosts);
    }

    /// When something is due next; [`Instant::FAR_FUTURE`] when nothing is.
    #[must_use]
    pub fn next_wakeup(&self) -> Instant {
        self.queue
            .first()
            .map_or(Instant::FAR_FUTURE, |(time, _)| time)
    }

    /// Advances to `end`: handles the events that are due until then, `end` included, in the order
    /// of their times. Packets that come out are handed to `hosts`.
    pub fn advance(&mut self, end: Instant, hosts: &mut impl Hosts<C, A>) {
        while let Some((time, turn)) = self.queue.first() {
            if time > end {
                break;
            }
            debug_assert!(time >= self.now, "time runs backwards");
            self.now = time;
            self.events += 1;
            match turn {
                Turn::Pipe(index) => self.on_pipe(index, hosts),
                Turn::Host(alarm) => hosts.woken(self, alarm),
                Turn::Medium(index) => self.on_medium(index, hosts),
                Turn::Agent(index) => self.on_agent(index, hosts),
            }
        }
        self.now = self.now.max(end);
    }

    /// Sees to it that hosts are woken for `what` no later than `wanted`; see [`Alarm::arm`].
    #[inline(always)]
    pub fn arm(&mut self, alarm: &mut Alarm, wanted: Instant, what: A) {
        alarm.arm(&mut self.queue, self.now, wanted, Turn::Host(what));
    }

    /// Whether the event for which hosts are being woken still counts; see [`Alarm::rings`].
    #[inline(always)]
    pub fn rings(&mut self, alarm: Alarm) -> bool {
        alarm.rings(&mut self.queue, self.now)
    }

    /// Moves the event for which hosts are being woken to `wanted`; see [`Alarm::rearm`].
    #[inline(always)]
    pub fn rearm(&mut self, alarm: &mut Alarm, wanted: Instant) {
        alarm.rearm(&mut self.queue, self.now, wanted);
    }

    /// The time now.
    #[inline]
    #[must_use]
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// Whether nothing is due any more.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.queue.is_empty()
    }

    /// Number of events handled.
    #[must_use]
    pub const fn events(&self) -> u64 {
        self.events
    }
}

#[cfg(test)]
mod tests;
