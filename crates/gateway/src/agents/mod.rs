//! The requested agents, and the packets that they need to see.

pub mod counts;
mod echo;
pub mod engine;
pub mod hold_limit;
mod virtual_delivery;

use std::num::NonZeroUsize;

use airtcp_host::error::{Error, Result};
use airtcp_link::Stream;
use airtcp_link::agent::delay_injection::DelayRule;
use airtcp_link::agent::{AgentConfig, AnyAgent, DelayInjection, Toward};
use airtcp_remedies::{ConfiguredRemedy, LinkChange, Place};

use crate::packets::filter::Segments;

/// The agents that a remedy installs.
fn installed(one: &ConfiguredRemedy) -> Vec<AgentConfig> {
    one.apply(&mut airtcp_tcp::Config::default())
        .into_iter()
        .filter_map(|change| match change {
            LinkChange::Agent(agent) => Some(agent),
            _ => None,
        })
        .collect()
}

/// Whether a remedy acts on passing packets.
fn is_an_agent(one: &ConfiguredRemedy) -> bool {
    !installed(one).is_empty()
}

/// Agents in the order of packets from the mobile.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    configurations: Vec<AgentConfig>,
    /// As requested, with every parameter.
    names: Vec<String>,
}

impl Chain {
    /// Parses the agents of these remedies, each as in `airtcp compare --remedy`.
    ///
    /// # Errors
    /// A name or value is wrong, or one of them does not act at the access point.
    pub fn new(remedies: &[String]) -> Result<Self> {
        let selection = airtcp_remedies::parse(&remedies.join("+"))
            .map_err(|error| Error::new(error.to_string()))?;
        for chosen in selection.as_slice() {
            if chosen.remedy.place != Place::AccessPoint {
                return Err(Error::new(format!(
                    "agent {:?}: expected a remedy of the access point; it acts at the {}, where \
                     `airtcp deploy` puts it",
                    chosen.remedy.name,
                    chosen.remedy.place.name()
                )));
            }
        }
        let idle = selection.as_slice().iter().find(|one| !is_an_agent(one));
        if let Some(other) = idle {
            return Err(Error::new(format!(
                "agent {:?}: expected a remedy that acts on passing packets, such as \
                 delay-injection; this one is in the access point's radio. {}",
                other.remedy.name,
                other.deployment()
            )));
        }
        let configurations: Vec<_> = selection.as_slice().iter().flat_map(installed).collect();
        if configurations.is_empty() {
            return Err(Error::new(
                "no agent is named: expected one, such as delay-injection; `airtcp list remedies` \
                 lists those of the access point",
            ));
        }
        if configurations
            .iter()
            .any(|config| matches!(config, AgentConfig::Drop(_)))
        {
            return Err(Error::new(
                "agent \"deliberate-drop\": expected agents that lose nothing; a gateway drops no \
                 data on purpose. Try it in a simulation: airtcp compare SCENARIO --remedy \
                 deliberate-drop",
            ));
        }
        Ok(Self {
            configurations,
            names: selection
                .as_slice()
                .iter()
                .map(ToString::to_string)
                .collect(),
        })
    }

    /// The agents with all parameters.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Creates state machines that track at most `most` connections each.
    ///
    /// # Errors
    /// A parameter is out of its range.
    pub fn agents<P: Copy>(&self, most: NonZeroUsize, seed: u64) -> Result<Vec<AnyAgent<P>>> {
        let stream = Stream::new(seed, "gateway.agent");
        let agents = self.configurations.iter().zip(0..).map(|(config, index)| {
            let draws = stream.substream(index);
            let rule = match *config {
                AgentConfig::AdaptiveDelay(rule) => DelayRule::Adaptive(rule),
                AgentConfig::StaticDelay(delay) => DelayRule::Static { delay, draws },
                AgentConfig::RandomDelay(delay) => DelayRule::Random { delay, draws },
                AgentConfig::Drop(mut config) => {
                    config.flow_limit = most;
                    return AnyAgent::new(&config.into(), draws);
                }
                AgentConfig::Notification(mut config) => {
                    config.flow_limit = most;
                    return AnyAgent::new(&config.into(), draws);
                }
                AgentConfig::Information(mut config) => {
                    config.flow_limit = most;
                    return AnyAgent::new(&config.into(), draws);
                }
                AgentConfig::Snoop(mut config) => {
                    config.flow_limit = most;
                    return AnyAgent::new(&config.into(), draws);
                }
                AgentConfig::Wtcp(mut config) => {
                    config.flow_limit = most;
                    return AnyAgent::new(&config.into(), draws);
                }
            };
            DelayInjection::new(rule, most).map(AnyAgent::Delay)
        });
        agents
            .collect::<std::result::Result<_, _>>()
            .map_err(|error| Error::new(error.to_string()))
    }

    /// The segments of a direction that agents have to see, if any.
    pub fn sees(&self, toward: Toward) -> Option<Segments> {
        let sees = self.configurations.iter().filter_map(|config| {
            match (config, toward) {
                (_, Toward::Mobile) if delays(config) => Some(Segments::PureAcks),
                (_, Toward::Wired) if delays(config) => None,
                // Snoop agents repair or time the source's data, by the mobile's acknowledgments.
                (_, Toward::Mobile) => Some(Segments::All),
                (_, Toward::Wired) => Some(Segments::PureAcks),
            }
        });
        sees.max_by_key(|segments| *segments == Segments::All)
    }

    /// Whether agents see data towards the mobile.
    pub fn sees_data(&self) -> bool {
        self.sees(Toward::Mobile) == Some(Segments::All)
    }

    /// Whether the agent at `place` counts the data of both directions.
    pub fn counts_data(&self, place: usize) -> bool {
        self.configurations.get(place).is_some_and(delays)
    }

    /// Whether one of them retransmits packets.
    pub fn repeats(&self) -> bool {
        self.configurations.iter().any(AgentConfig::repeats)
    }

    /// Whether one of them needs reports of failed attempts on the radio.
    pub fn listens_to_link(&self) -> bool {
        self.configurations.iter().any(AgentConfig::listens_to_link)
    }

    /// Whether one of them knows the urgency of packets.
    pub fn knows_urgency(&self) -> bool {
        self.configurations.iter().any(AgentConfig::knows_urgency)
    }
}

/// Whether an agent only holds acknowledgments to mobiles. With downloads one sees their data
/// too, as Snoop does.
const fn delays(config: &AgentConfig) -> bool {
    match config {
        AgentConfig::AdaptiveDelay(rule) => matches!(rule.acks_toward, Toward::Mobile),
        AgentConfig::StaticDelay(_) | AgentConfig::RandomDelay(_) => true,
        _ => false,
    }
}
