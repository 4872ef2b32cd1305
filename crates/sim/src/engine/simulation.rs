//! Virtual time over a network and its hosts.

use airtcp_link::Admission;
use airtcp_link::agent::AgentEvent;
use airtcp_link::frame::Occupancy;
use airtcp_network::AirView;
use airtcp_packet::{LinkFeedback, Segment};
use airtcp_scenario::Layout;
use airtcp_tcp::Sender;
use airtcp_units::Instant;

use super::watch::{FlowEvent, Watch};
use super::{Cookies, Digest, Endpoints, Flow, Host, Hosts, Net, Network, Packet, Turn};

/// A running simulation.
#[derive(Debug)]
pub struct Simulation {
    network: Net,
    flows: Vec<Flow>,
    cookies: Option<Box<Cookies>>,
    digest: Digest,
}

impl Simulation {
    /// Creates a simulation at time zero, its channels drawn from `seed`.
    #[must_use]
    pub fn new(layout: Layout, seed: u64) -> Self {
        let mut network = Network::new(layout.network, seed);
        let flows = layout.flows.iter().zip(0..).map(|(config, index)| {
            let ports = network.add_flow(&config.forward, &config.reverse);
            let mut flow = Flow::new(config, ports);
            flow.arm_opening(&mut network, index);
            flow
        });
        let mut flows: Vec<_> = flows.collect();
        // At the same instant all connections open before the first application acts.
        for (flow, index) in flows.iter_mut().zip(0..) {
            flow.connect(&mut network, index);
        }
        if !flows.iter().any(Flow::awaits_link) {
            network.mute_acknowledgments();
        }
        let opens_fast = flows.iter().any(Flow::opens_fast);
        Self {
            network,
            flows,
            cookies: opens_fast.then(Box::default),
            digest: Digest::default(),
        }
    }

    /// Ends the connections of congestion controls that are not compiled in.
    pub fn release_controls(&mut self) {
        for flow in &mut self.flows {
            flow.release_controls();
        }
    }

    /// Runs until nothing is due before or at `end`, or nothing is due at all.
    pub fn run_until(&mut self, end: Instant, watch: &mut impl Watch) {
        let mut endpoints = Endpoints {
            flows: std::mem::take(&mut self.flows),
            cookies: self.cookies.take(),
            digest: self.digest,
            watch,
        };
        self.network.advance(end, &mut endpoints);
        (self.flows, self.digest) = (endpoints.flows, endpoints.digest);
        self.cookies = endpoints.cookies;
    }

    /// Lets `decide` steer the sender of a flow, which then sends the data that it allows. Returns
    /// its answer; the default without such a flow.
    pub fn steer<T: Default>(
        &mut self,
        flow: u32,
        watch: &mut impl Watch,
        decide: impl FnOnce(&mut Sender) -> T,
    ) -> T {
        let Some(steered) = self.flows.get_mut(flow as usize) else {
            return T::default();
        };
        let decided = steered.client.connection.steer(decide);
        let mut endpoints = Endpoints {
            flows: std::mem::take(&mut self.flows),
            cookies: self.cookies.take(),
            digest: self.digest,
            watch,
        };
        endpoints.drain_client(&mut self.network, flow);
        (self.flows, self.digest) = (endpoints.flows, endpoints.digest);
        self.cookies = endpoints.cookies;
        decided
    }

    /// The current virtual time.
    #[must_use]
    pub const fn now(&self) -> Instant {
        self.network.now()
    }

    /// The current state of `flow`'s link.
    pub fn air(&mut self, flow: u32) -> AirView {
        self.flows
            .get(flow as usize)
            .map_or_else(AirView::default, |flow| self.network.air(&flow.client.port))
    }

    /// Consumes the simulation, leaving its flows.
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

    /// Events handled.
    #[must_use]
    pub const fn events(&self) -> u64 {
        self.network.events()
    }
}

impl<W: Watch> Hosts<Instant, Turn> for Endpoints<'_, W> {
    #[inline]
    fn arrived(&mut self, network: &mut Net, host: Host, packet: &Packet) {
        match host {
            Host::Server => self.on_server_arrival(network, packet),
            Host::Client => self.on_client_arrival(network, packet),
            Host::Proxy(side) => self.on_proxy_arrival(network, packet, side),
        }
    }

    #[inline]
    fn woken(&mut self, network: &mut Net, turn: Turn) {
        match turn {
            Turn::Proxy(index) => self.on_proxy_timer(network, index),
            Turn::Application(index) => self.on_application_timer(network, index),
            Turn::Outage(index) => self.on_outage(network, index),
            Turn::Client(index) => self.on_client_timer(network, index),
            Turn::Server(index) => self.on_server_timer(network, index),
        }
    }

    #[cold]
    fn lost(&mut self, network: &Net, packet: &Packet, why: Admission) {
        self.on_loss(network, packet, why);
    }

    #[inline]
    fn crossed_air(&mut self, packet: &Packet, attempts: u32) {
        self.flows[packet.flow as usize].tally.on_air(attempts);
    }

    /// Reports to a sender that uses link feedback that its link, the first on the path, has
    /// delivered a segment.
    #[inline]
    fn acknowledged_by_link(&mut self, now: Instant, packet: &Packet, attempts: u32) {
        let flow = &mut self.flows[packet.flow as usize];
        if !flow.hears_link || !flow.client.port.is_first_hop_of(packet) {
            return;
        }
        let Some(segment) = packet.segment() else {
            return;
        };
        let feedback = LinkFeedback::Delivered {
            sequence: segment.sequence,
            retransmissions: attempts.saturating_sub(1),
        };
        let (watch, index) = (&mut *self.watch, packet.flow);
        flow.client
            .connection
            .on_feedback(now, &feedback, &mut |now, event| {
                watch.event(now, index, FlowEvent::Sender(event));
            });
    }

    #[inline]
    fn left_station(&mut self, network: &mut Net, packet: &Packet) {
        self.on_left_device(network, packet);
    }

    fn repeated(&mut self, flow: u32, segment: &Segment) {
        if let Some(flow) = self.flows.get_mut(flow as usize) {
            flow.truth.on_repeat(segment.sequence);
        }
    }

    #[inline]
    fn occupied(&mut self, medium: u16, occupancy: &Occupancy) {
        self.watch.occupied(medium, occupancy);
    }

    fn agent_acted(&mut self, now: Instant, flow: u32, event: AgentEvent) {
        self.watch.agent(now, flow, event);
    }
}
