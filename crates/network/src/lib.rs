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
//! A [`Network`] is handed packets and the time, and returns the packets that leave it, their
//! hosts, and the time of its next wake-up. It depends neither on the hosts' behaviour nor on the
//! source of time: a simulation drives it in virtual time, with endpoints at the hosts; a gateway
//! in real time, with interfaces there. A packet's payload is a type: empty in a simulation, which
//! so pays no cost for it, and a handle of the bytes where there are bytes. The n-th packet meets
//! the same draw in both.
//!
//! Pending events are kept in an [`EventQueue`]: a pipe has *one* entry there however many
//! packets are in it, and so has each state machine with a timer, however often that moves
//! ([`Alarm`]). In steady state nothing is allocated for a packet and nothing is dispatched
//! dynamically.
//!
//! Simultaneous events are handled in scheduling order; a pipe or a timer that is rescheduled goes
//! to the end of its instant. Events of the hosts share the queue, so that this holds for them too.

mod agent;
mod alarm;
mod event_queue;
mod forwarding;
mod hop;
mod hosts;
mod medium;
mod packet;
mod postponed;
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
use postponed::Postponed;
pub use view::AirView;

/// Configuration of the hops.
#[derive(Clone, Debug, Default)]
pub struct NetworkConfig {
    /// The pipes, which hops name by index, each with the name of its random stream.
    pub pipes: Vec<(String, PipeConfig)>,
    /// The media, which hops name by index.
    pub media: Vec<MediumConfig>,
    /// The agents, which hops name by index, each with the name of its random stream.
    pub agents: Vec<(String, AgentConfig)>,
}

/// Recipient of an event.
#[derive(Clone, Copy, Debug)]
enum Turn<A> {
    /// A packet arrives at the far end of a pipe.
    Pipe(u32),
    /// A medium's wake-up is due.
    Medium(u16),
    /// An agent's wake-up is due.
    Agent(u16),
    /// Packets between neighbouring hosts wait.
    Postponed,
    /// A host's wake-up is due.
    Host(A),
}

#[derive(Clone, Debug)]
struct PipeNode<C> {
    pipe: Pipe<Packet<C>>,
    alarm: Alarm,
    /// Number of packets of each flow, where agents repeat packets: a copy is another transmission.
    /// Empty elsewhere, where a packet's index at its host is its index here.
    counts: Vec<u64>,
}

/// Pipes, media and agents, and the packets among them. `C` is the payload of a packet;
/// `C::default()` is the payload of packets that an agent creates. `A` identifies the hosts'
/// wake-ups.
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
    /// Start of each flow's paths, if there are agents that may send to its hosts.
    ways: Vec<[u32; 2]>,
    /// Whether agents repeat packets, so that pipes have to count.
    has_copies: bool,
    postponed: Postponed<C>,
    events: u64,
}

impl<C: Copy + Default, A: Copy> Network<C, A> {
    /// An idle network at time zero, its channels drawn from `seed`.
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
            postponed: Postponed::default(),
            events: 0,
        };
        for index in (0..).take(network.media.len()) {
            network.arm_medium(index);
        }
        network
    }

    /// Adds a flow with the hops of its data towards the server and of its acknowledgments towards
    /// the client; neither host is named. Returns the ports of client and server. Flows are
    /// numbered from zero in the order in which they are added.
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

    /// Time of the next event; [`Instant::FAR_FUTURE`] without one.
    #[must_use]
    pub fn next_wakeup(&self) -> Instant {
        self.queue
            .first()
            .map_or(Instant::FAR_FUTURE, |(time, _)| time)
    }

    /// Advances to `end`: handles the events due until then, `end` included, in order of time.
    /// Packets that leave the network are handed to `hosts`.
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
                Turn::Postponed => self.on_postponed(hosts),
            }
        }
        self.now = self.now.max(end);
    }

    /// Ensures that hosts are woken for `what` no later than `wanted`; see [`Alarm::arm`].
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
