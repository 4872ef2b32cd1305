//! The path of each flow's packets.
//!
//! ```text
//!   mobile ── air ── access point ── wired line ── further round trip ── wired host
//!                    agents, proxy
//! ```
//!
//! The way over the air may be a chain of hops, with relays between them. With two channels there
//! is a mobile and an access point at both ends.

use airtcp_link::agent::Toward;
use airtcp_link::{Delay, ErrorModel, PipeConfig, Service, Stream};
use airtcp_units::Duration;

use super::media;
use super::round_trip::RoundTrips;
use crate::{FlowDirection, Link, LossDirection, Scenario, Topology, Wired};
use airtcp_network::{ACCESS_POINT, AirHop, Hop, Host, NetworkConfig, Side};

/// Both directions of a segment of the path between a mobile and its wired host.
#[derive(Clone, Debug, Default)]
struct HopsEachWay {
    to_mobile: Vec<Hop>,
    from_mobile: Vec<Hop>,
}

/// The shared part of the path, once built.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    scenario: &'a Scenario,
    /// Pipes of the link: data, then acknowledgments. A medium with a pipe back has only the
    /// second.
    link: (u32, u32),
    /// Lines of the wired path: towards the wired hosts, then from them.
    wired: Option<(u32, u32)>,
    round_trips: Option<RoundTrips>,
}

impl<'a> Plan<'a> {
    /// Adds the shared part of the path to `network`.
    pub(super) fn lay(scenario: &'a Scenario, seed: u64, network: &mut NetworkConfig) -> Self {
        let mut plan = Self {
            scenario,
            link: (0, 0),
            wired: None,
            round_trips: None,
        };
        match &scenario.link {
            Link::Pipe { data, acks } => {
                // Both directions stop, and begin a recording, at the same times.
                let stops = Stream::new(seed, "link.stops");
                let data = data.clone().with_shared_draws(stops);
                let data = add_pipe(network, "link.data", data);
                let acks = acks.clone().with_shared_draws(stops);
                plan.link = (data, add_pipe(network, "link.acks", acks));
            }
            Link::Medium(medium) => {
                if let Some((name, back)) = medium.back() {
                    plan.link.1 = add_pipe(network, name, back.clone());
                }
            }
        }
        media::add(scenario, seed, network);
        if let Some(wired) = &scenario.wired {
            let up = add_pipe(network, "wired.up", plan.line(wired, FlowDirection::Up));
            let down = add_pipe(network, "wired.down", plan.line(wired, FlowDirection::Down));
            plan.wired = Some((up, down));
            plan.round_trips = wired.round_trip.map(|shape| RoundTrips::new(shape, seed));
        }
        plan
    }

    /// The wired line `toward` one end, with the path's losses in that direction.
    fn line(&self, wired: &Wired, toward: FlowDirection) -> PipeConfig {
        let flows = &self.scenario.flows;
        let carries_data = (0..flows.count).any(|flow| flows.direction_of(flow) == toward);
        let carries_acks = (0..flows.count).any(|flow| flows.direction_of(flow) != toward);
        let loses = match wired.lossy {
            LossDirection::Data => carries_data,
            LossDirection::Acks => carries_acks,
            LossDirection::Both => true,
        };
        PipeConfig {
            error: if loses {
                wired.errors.clone()
            } else {
                ErrorModel::None
            },
            ..wired.line.clone()
        }
    }

    /// The routes of flow number `flow`: of its data, then of its acknowledgments. Adds the flow's
    /// private lines to `network`.
    pub(super) fn routes(&self, flow: u32, network: &mut NetworkConfig) -> (Vec<Hop>, Vec<Hop>) {
        if self.scenario.topology == Topology::Dumbbell {
            return self.dumbbell(flow, network);
        }
        let direction = self.scenario.flows.direction_of(flow);
        let near = self.air(flow, direction, 0);
        let wired = self.wired(flow, network);
        if self.scenario.topology.has_two_links() {
            // The sender is the near channel's mobile, the receiver the far channel's.
            let (near_point, far_point) = (self.access_point(0), self.access_point(1));
            let far = self.air(flow, direction, 1);
            let there = [
                near.from_mobile,
                near_point.from_mobile,
                self.proxy(Side::Client),
                wired.from_mobile,
                far_point.to_mobile,
                far.to_mobile,
            ];
            let back = [
                far.from_mobile,
                far_point.from_mobile,
                wired.to_mobile,
                self.proxy(Side::Server),
                near_point.to_mobile,
                near.to_mobile,
            ];
            return (there.concat(), back.concat());
        }
        let point = self.access_point(0);
        let (to_server, to_client) = (self.proxy(Side::Client), self.proxy(Side::Server));
        let (proxy_up, proxy_down) = match direction {
            FlowDirection::Up => (to_server, to_client),
            FlowDirection::Down => (to_client, to_server),
        };
        let up = [
            near.from_mobile,
            point.from_mobile,
            proxy_up,
            wired.from_mobile,
        ]
        .concat();
        let down = [wired.to_mobile, proxy_down, point.to_mobile, near.to_mobile].concat();
        match direction {
            FlowDirection::Up => (up, down),
            FlowDirection::Down => (down, up),
        }
    }

    /// The route over the air between the flow's mobile and its access point.
    fn air(&self, flow: u32, direction: FlowDirection, medium: u16) -> HopsEachWay {
        let hop = |from, to| Hop::Air(AirHop { medium, from, to });
        let (data, acks) = self.link;
        match &self.scenario.link {
            Link::Pipe { .. } => {
                let (data, acks) = (vec![Hop::Pipe(data)], vec![Hop::Pipe(acks)]);
                match direction {
                    FlowDirection::Up => HopsEachWay {
                        from_mobile: data,
                        to_mobile: acks,
                    },
                    FlowDirection::Down => HopsEachWay {
                        from_mobile: acks,
                        to_mobile: data,
                    },
                }
            }
            Link::Medium(link) => {
                let chain = chain(flow, link.stations(), link.hops());
                let ends = chain.windows(2);
                HopsEachWay {
                    from_mobile: match link.back() {
                        Some(_) => vec![Hop::Pipe(acks)],
                        None => ends.clone().map(|ends| hop(ends[0], ends[1])).collect(),
                    },
                    to_mobile: ends.rev().map(|ends| hop(ends[1], ends[0])).collect(),
                }
            }
        }
    }

    /// The agents of access point number `point` on the path of a packet.
    fn access_point(&self, point: u16) -> HopsEachWay {
        let count = u16::try_from(self.scenario.access_point.agents.len()).unwrap_or(0);
        let agents = || point * count..(point + 1) * count;
        let hop = |agent, toward| Hop::Agent { agent, toward };
        HopsEachWay {
            from_mobile: agents().map(|agent| hop(agent, Toward::Wired)).collect(),
            to_mobile: agents()
                .rev()
                .map(|agent| hop(agent, Toward::Mobile))
                .collect(),
        }
    }

    /// The proxy, if there is one, as seen by packets arriving from `side`.
    fn proxy(&self, side: Side) -> Vec<Hop> {
        match self.scenario.access_point.split_buffer {
            Some(_) => vec![Hop::Host(Host::Proxy(side))],
            None => Vec::new(),
        }
    }

    /// The route between the access point and the flow's wired host.
    fn wired(&self, flow: u32, network: &mut NetworkConfig) -> HopsEachWay {
        let Some((up, down)) = self.wired else {
            return HopsEachWay::default();
        };
        let mut ways = HopsEachWay {
            from_mobile: vec![Hop::Pipe(up)],
            to_mobile: vec![Hop::Pipe(down)],
        };
        if let Some(round_trips) = &self.round_trips {
            let half = round_trips.of(flow) / 2;
            ways.from_mobile.push(add_line(network, half));
            ways.to_mobile.insert(0, add_line(network, half));
        }
        ways
    }

    fn dumbbell(&self, flow: u32, network: &mut NetworkConfig) -> (Vec<Hop>, Vec<Hop>) {
        let access = self.scenario.flows.access_delay_of(flow);
        let (data, acks) = self.link;
        let mut way = |link| {
            let mut hops = vec![Hop::Pipe(link)];
            if access > Duration::ZERO {
                hops.push(add_line(network, access));
            }
            hops
        };
        (way(data), way(acks))
    }
}

/// The flow's station: flows take stations in turn, from 1 on.
fn station_of(flow: u32, stations: u32) -> u16 {
    u16::try_from(flow % stations).unwrap_or(u16::MAX - 1) + 1
}

/// The stations on the air from the flow's mobile to the access point: the relays follow the
/// `mobiles` in number, the one next to the access point first.
fn chain(flow: u32, mobiles: u32, hops: u32) -> Vec<u16> {
    let relay = |hop: u32| u16::try_from(mobiles + hop).unwrap_or(u16::MAX);
    let relays = (1..hops).rev().map(relay);
    let mobile = std::iter::once(station_of(flow, mobiles));
    mobile.chain(relays).chain([ACCESS_POINT]).collect()
}

fn add_pipe(network: &mut NetworkConfig, name: &str, pipe: PipeConfig) -> u32 {
    let index = u32::try_from(network.pipes.len()).unwrap_or(u32::MAX);
    network.pipes.push((name.to_owned(), pipe));
    index
}

/// A private line of one flow, with a delay only. Losses would need a separate random stream.
fn add_line(network: &mut NetworkConfig, delay: Duration) -> Hop {
    let name = format!("access.{}", network.pipes.len());
    let line = PipeConfig::line(Service::Unlimited, Delay::Constant(delay));
    Hop::Pipe(add_pipe(network, &name, line))
}
