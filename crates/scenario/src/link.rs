//! The path between the endpoints, checked.

use airtcp_link::agent::AgentConfig;
use airtcp_link::fading::{Placement, RadioConfig};
use airtcp_link::mac::arq::ArqConfig;
use airtcp_link::mac::cellular::CellConfig;
use airtcp_link::mac::damage::Outage;
use airtcp_link::mac::dcf::BssConfig;
use airtcp_link::mac::selective_repeat::SelectiveRepeatConfig;
use airtcp_link::{ErrorModel, PipeConfig, Service, Stops};
use airtcp_units::Duration;

use super::names::LossDirection;

/// The wireless link, or what stands for it.
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
    /// An IEEE 802.11 channel, or two.
    Wlan(Box<Wlan>),
    /// A stop-and-wait link to the mobile.
    Arq(Box<Arq>),
    /// A selective-repeat link, or two.
    SelectiveRepeat(Box<SelectiveRepeat>),
    /// The downlink of a cell.
    Cell(Box<CellLink>),
}

/// An IEEE 802.11 channel.
#[derive(Clone, Debug)]
pub struct Wlan {
    /// Its configuration, except for what the mobiles' places decide.
    pub bss: BssConfig,
    /// Where the mobiles are, if that matters.
    pub air: Option<Air>,
}

/// Where mobiles are, and what the air does to a signal.
#[derive(Clone, Debug, PartialEq)]
pub struct Air {
    /// The way of a signal.
    pub config: RadioConfig,
    /// Distances of the mobiles.
    pub placement: Placement,
}

/// A stop-and-wait link to a mobile.
#[derive(Clone, Debug)]
pub struct Arq {
    /// The direction that repeats.
    pub config: ArqConfig,
    /// The other, which loses nothing.
    pub back: PipeConfig,
}

/// A selective-repeat link.
#[derive(Clone, Debug)]
pub struct SelectiveRepeat {
    /// Its configuration.
    pub config: SelectiveRepeatConfig,
    /// Whether TCP is told after how long the link retransmits.
    pub tells_retry_timeout: bool,
}

/// The downlink of a cell, and what comes back.
#[derive(Clone, Debug)]
pub struct CellLink {
    /// Its configuration, except for the users' channels.
    pub config: CellConfig,
    /// Where the users are.
    pub air: Air,
    /// Users with TCP, and users without who always have something to receive.
    pub users: (u32, u32),
    /// The uplink.
    pub back: PipeConfig,
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
    /// The line that all flows share, each direction one of its own.
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
    /// When the link goes away, where it is known to.
    pub fn outage(&self) -> Option<Outage> {
        match self {
            Self::Pipe { data, .. } => match data.service {
                Service::Suspended {
                    stops: Stops::Periodic { every, length },
                    ..
                } => Some(Outage { every, length }),
                _ => None,
            },
            Self::Wlan(wlan) => wlan.bss.damage.outage,
            Self::Arq(arq) => arq.config.damage.outage,
            Self::SelectiveRepeat(link) => link.config.damage.outage,
            Self::Cell(_) => None,
        }
    }
}
