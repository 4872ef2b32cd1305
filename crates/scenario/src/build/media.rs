//! The media of a scenario, and the agents at their access points.

use airtcp_link::Stream;
use airtcp_link::agent::AgentConfig;
use airtcp_link::fading::Radio;
use airtcp_link::mac::damage::RadioDamage;
use airtcp_link::mac::dcf::BssConfig;

use crate::{Air, Link, Scenario, Wlan};
use airtcp_network::{MediumConfig, MediumKind, NetworkConfig};

/// Adds the media to `network`, each with agents of its own.
pub(super) fn add(scenario: &Scenario, seed: u64, network: &mut NetworkConfig) {
    let names: &[&str] = match (&scenario.link, scenario.topology.has_two_links()) {
        (Link::Pipe { .. }, _) => {
            add_agents(scenario, "access-point", network);
            return;
        }
        (Link::Wlan(_), true) => &["wlan.near", "wlan.far"],
        (Link::Wlan(_), false) => &["wlan"],
        (Link::SelectiveRepeat(_), true) => &["selective-repeat.near", "selective-repeat.far"],
        (Link::SelectiveRepeat(_), false) => &["selective-repeat"],
        (Link::Arq(_), _) => &["arq"],
        (Link::Cell(_), _) => &["cell"],
    };
    for name in names {
        let first = network.agents.len();
        add_agents(scenario, name, network);
        let those = |wanted: fn(&AgentConfig) -> bool| -> Vec<u16> {
            let all = network.agents.iter().zip(0_u16..).skip(first);
            all.filter(|((_, agent), _)| wanted(agent))
                .map(|(_, index)| index)
                .collect()
        };
        let reports_to = those(AgentConfig::listens_to_link);
        let informed_by = those(AgentConfig::knows_urgency).first().copied();
        let report_retries = !reports_to.is_empty();
        let kind = match &scenario.link {
            Link::Wlan(wlan) => MediumKind::Bss(Box::new(BssConfig {
                report_retries,
                ..bss(wlan, name, seed)
            })),
            Link::Arq(arq) => {
                let mut config = arq.config.clone();
                config.report_retries = report_retries;
                MediumKind::Arq(Box::new(config))
            }
            Link::SelectiveRepeat(link) => {
                let mut config = link.config.clone();
                config.report_retries = report_retries;
                MediumKind::SelectiveRepeat(Box::new(config))
            }
            Link::Cell(cell) => {
                let mut config = cell.config.clone();
                config.report_retries = report_retries;
                let count = cell.users.0 + cell.users.1;
                // The first stands for the base station.
                config.radios = radios(&cell.air, count, Stream::new(seed, name)).split_off(1);
                MediumKind::Cell(Box::new(config))
            }
            Link::Pipe { .. } => continue,
        };
        network.media.push(MediumConfig {
            name: (*name).to_owned(),
            kind,
            reports_to,
            informed_by,
            tells_retry_timeout: matches!(
                &scenario.link,
                Link::SelectiveRepeat(link) if link.tells_retry_timeout
            ),
        });
    }
}

fn add_agents(scenario: &Scenario, place: &str, network: &mut NetworkConfig) {
    for (agent, index) in scenario.access_point.agents.iter().zip(0..) {
        let name = format!("{place}.agent.{index}");
        network.agents.push((name, *agent));
    }
}

/// The channel, its mobiles put in their places.
fn bss(wlan: &Wlan, name: &str, seed: u64) -> BssConfig {
    let mut bss = wlan.bss.clone();
    if let Some(air) = &wlan.air {
        let draws = Stream::new(seed, name);
        bss.damage.radio = Some(RadioDamage {
            radios: radios(air, bss.stations, draws),
            data: if bss.station_modes.is_empty() {
                vec![bss.phy.data_mode()]
            } else {
                bss.station_modes.clone()
            },
            control: bss.phy.control_mode(),
        });
    }
    bss
}

/// The radio of every station, that of the access point standing for nothing.
pub(super) fn radios(air: &Air, stations: u32, draws: Stream) -> Vec<Radio> {
    let (places, channels) = (draws.substream(10), draws.substream(11));
    (0..=stations)
        .map(|station| {
            let distance = air.placement.distance_m(station.saturating_sub(1), places);
            let channel = channels.substream(u64::from(station));
            Radio::new(&air.config, distance, channel)
                .expect("a radio is checked when the scenario is read")
        })
        .collect()
}
