//! The path between the endpoints, checked.

use airtcp_link::agent::AgentConfig;
use airtcp_link::mac::damage::Outage;
use airtcp_link::{ErrorModel, PipeConfig, Service, Stops};
use airtcp_units::Duration;

use crate::medium::WirelessMedium;
use crate::names::LossDirection;

/// The wireless link, or its replacement.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "a scenario has one")]
pub enum Link {
    /// A pipe each way.
    Pipe {
        /// The direction that data takes.
        data: PipeConfig,
        /// The direction that acknowledgments take.
        acks: PipeConfig,
    },
    /// A medium that stations share or that retransmits, or two.
    Medium(Box<dyn WirelessMedium>),
}

/// Agents at the access point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AccessPoint {
    /// Agents, in the order in which packets from the mobile meet them.
    pub agents: Vec<AgentConfig>,
    /// Buffer of a proxy each way, if connections are split.
    pub split_buffer: Option<u64>,
}

/// The path between the access point and the wired hosts.
#[derive(Clone, Debug)]
pub struct Wired {
    /// The line that all flows share, one for each direction.
    pub line: PipeConfig,
    /// Losses of the line, and the packets they concern.
    pub errors: ErrorModel,
    /// Whether it loses data, acknowledgments or both.
    pub lossy: LossDirection,
    /// A further round trip for each flow.
    pub round_trip: Option<RoundTrip>,
}

/// Distribution of additional round-trip time over flows (Mahmoodi et al. §IV).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundTrip {
    /// Every time between the two is as likely.
    Uniform {
        /// Shortest.
        from: Duration,
        /// Longest.
        to: Duration,
    },
    /// Gauss's bell; a draw below zero counts as zero.
    Normal {
        /// Mean of the bell.
        mean: Duration,
        /// Its standard deviation.
        deviation: Duration,
    },
    /// Exponential.
    Exponential {
        /// Mean.
        mean: Duration,
    },
}

impl Link {
    /// When the link goes away, where it is known to: a schedule for each cause.
    pub fn outages(&self) -> Vec<Outage> {
        match self {
            Self::Pipe { data, .. } => match data.service {
                Service::Suspended {
                    stops: Stops::Periodic { every, length },
                    ..
                } => vec![Outage { every, length }],
                _ => Vec::new(),
            },
            Self::Medium(medium) => medium.outages(),
        }
    }
}
