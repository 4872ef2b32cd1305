//! Deterministic flows that start together: every run is the same, and the flows' shares depend on
//! which of them finds the queue full.
//!
//! Floyd & Jacobson, "On traffic phase effects in packet-switched gateways", Internetworking:
//! Research and Experience 3(3), 1992, §2.

use airtcp_tcp::loss_differentiation::Differentiation;
use airtcp_units::{Duration, Probability};

use super::{Datagrams, Link, Scenario, Traffic};

impl Scenario {
    /// Likely oversights in the scenario, in a sentence each.
    pub fn warnings(&self) -> Vec<String> {
        let renamed = self.renamed.iter().map(|&one| one.to_owned());
        let oversights = [self.fast_log(), self.segment_timer(), self.one_phase()];
        renamed.chain(oversights.into_iter().flatten()).collect()
    }

    /// Whether every seed gives the same run.
    #[must_use]
    pub fn is_same_for_every_seed(&self) -> bool {
        let is_drawn_path = match &self.link {
            Link::Pipe { data, acks } => data.draws() || acks.draws(),
            Link::Medium(_) => true,
        };
        let is_drawn_wire = self.wired.as_ref().is_some_and(|wired| {
            wired.line.draws() || wired.errors.draws() || wired.round_trip.is_some()
        });
        let is_drawn_start =
            self.flows.start_spread > Duration::ZERO || self.perturb > Probability::NEVER;
        let is_drawn_traffic = |traffic: &Option<Traffic>| {
            matches!(traffic, Some(Traffic::Http(_) | Traffic::Email(_)))
        };
        let has_pauses = |datagrams: &Option<Datagrams>| match datagrams {
            Some(Datagrams::Udp(udp)) => udp.bursts.is_some(),
            _ => false,
        };
        let tosses =
            |differentiation| matches!(differentiation, Some(Differentiation::Coin { .. }));
        let mut senders = std::iter::once(&self.tcp)
            .chain(&self.flow_tcp)
            .chain(&self.unchanged_tcp);
        !(is_drawn_path
            || is_drawn_wire
            || is_drawn_start
            || !self.access_point.agents.is_empty()
            || self.traffic.iter().any(is_drawn_traffic)
            || self.flows.datagrams.iter().any(has_pauses)
            || senders.any(|tcp| tosses(tcp.differentiation)))
    }

    fn one_phase(&self) -> Option<String> {
        let connections =
            (0..self.flows.count).filter(|&flow| self.flows.datagrams_of(flow).is_none());
        let count = connections.count();
        (count > 1 && self.is_same_for_every_seed()).then(|| {
            format!(
                "flows.start_spread: nothing here is random, so every seed is the same run, and how \
                 {count} flows share the link is that of one phase among many: begin them apart \
                 (start_spread = \"1 s\") and take several seeds"
            )
        })
    }
}
