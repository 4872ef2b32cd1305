//! The hosts of flows: which connections are between the same two, and whether a proxy may be.

use std::collections::BTreeSet;

use airtcp_units::Duration;

use crate::error::Problem;
use crate::link::Link;
use crate::traffic::Traffic;
use crate::{FlowDirection, Scenario, Topology};

impl Scenario {
    /// Numbers of the mobile's and the wired host of flow number `flow`. Each flow of a dumbbell,
    /// or with a drawn round trip, has different hosts; others share the hosts of their mobile.
    pub(crate) fn ends_of(&self, flow: u32) -> [u32; 2] {
        let is_alone = self.topology == Topology::Dumbbell
            || self
                .wired
                .as_ref()
                .is_some_and(|wired| wired.round_trip.is_some());
        let pair = match &self.link {
            _ if is_alone => flow,
            Link::Pipe { .. } => 0,
            Link::Medium(medium) => flow % medium.stations(),
        };
        [2 * pair, 2 * pair + 1]
    }

    /// Numbers of the hosts that send and receive the data of flow number `flow`.
    pub(crate) fn hosts_of(&self, flow: u32) -> [u32; 2] {
        let [mobile, wired] = self.ends_of(flow);
        match self.flows.direction_of(flow) {
            FlowDirection::Up => [mobile, wired],
            FlowDirection::Down => [wired, mobile],
        }
    }

    /// Whether a host opens several of the connections that remedies change to the same other host,
    /// one after another, with data to send at once.
    pub(crate) fn reopens(&self) -> bool {
        let count = self.flows.count - self.flows.unchanged;
        let writes_at_once = |flow: u32| {
            let traffic = self.traffic[flow as usize % self.traffic.len().max(1)];
            matches!(traffic, None | Some(Traffic::Ftp(_)))
        };
        let mut pairs = BTreeSet::new();
        let mut is_repeated = (0..count)
            .filter(|&flow| self.flows.datagrams_of(flow).is_none() && writes_at_once(flow))
            .map(|flow| !pairs.insert(self.hosts_of(flow)));
        self.flows.start_spread > Duration::ZERO && is_repeated.any(|is_repeated| is_repeated)
    }

    /// Checks that a splitting proxy meets only connections that it can split.
    pub(crate) fn check_proxy(&self) -> Result<(), Problem> {
        if self.access_point.split_buffer.is_none() {
            return Ok(());
        }
        if self.flows.request.is_some() {
            return Err(Problem::at(
                key!(flows.request),
                "a simulated proxy splits connections that the sender of the data opens; leave out \
                 split-tcp, or flows.request",
            ));
        }
        let mut endpoints = std::iter::once(&self.tcp).chain(&self.flow_tcp);
        if endpoints.any(|tcp| tcp.fast_open) {
            return Err(Problem::at(
                key!(tcp.fast_open),
                "a splitting proxy answers the SYN, and takes no data from it; leave out \
                 split-tcp, or Fast Open",
            ));
        }
        Ok(())
    }
}
