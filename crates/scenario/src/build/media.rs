//! The media of a scenario, and the agents at their access points.

use airtcp_link::agent::AgentConfig;

use crate::{Link, Scenario};
use airtcp_network::{MediumConfig, NetworkConfig};

/// Adds the media to `network`, each with its agents.
pub(super) fn add(scenario: &Scenario, seed: u64, network: &mut NetworkConfig) {
    let Link::Medium(medium) = &scenario.link else {
        add_agents(scenario, "access-point", network);
        return;
    };
    let names = if scenario.topology.has_two_links() {
        vec![
            format!("{}.near", medium.name()),
            format!("{}.far", medium.name()),
        ]
    } else {
        vec![medium.name().to_owned()]
    };
    for name in names {
        let first = network.agents.len();
        add_agents(scenario, &name, network);
        let those = |wanted: fn(&AgentConfig) -> bool| -> Vec<u16> {
            let all = network.agents.iter().zip(0_u16..).skip(first);
            all.filter(|((_, agent), _)| wanted(agent))
                .map(|(_, index)| index)
                .collect()
        };
        let reports_to = those(AgentConfig::listens_to_link);
        let informed_by = those(AgentConfig::knows_urgency).first().copied();
        let kind = medium.kind(&name, seed, !reports_to.is_empty());
        network.media.push(MediumConfig {
            name,
            kind,
            reports_to,
            informed_by,
            tells_retry_timeout: medium.tells_retry_timeout(),
        });
    }
}

fn add_agents(scenario: &Scenario, place: &str, network: &mut NetworkConfig) {
    for (agent, index) in scenario.access_point.agents.iter().zip(0..) {
        let name = format!("{place}.agent.{index}");
        network.agents.push((name, *agent));
    }
}
