//! The changes that remedies make.

use airtcp_link::agent::AgentConfig;
use airtcp_link::frame::RetryLimit;
use airtcp_link::mac::edca::queueing::Queueing;
use airtcp_link::scheduler::deadline::DeadlineOrder;
use airtcp_link::{Discipline, FecConfig};
use airtcp_tcp::Config;
use airtcp_units::Duration;

/// All that a remedy may change. Both endpoints share one configuration: each reads its half.
#[derive(Debug)]
pub(crate) struct Changes<'a> {
    /// The TCP endpoints.
    pub tcp: &'a mut Config,
    /// The changes between them, in the order of the remedies.
    pub link: &'a mut Vec<LinkChange>,
}

impl Changes<'_> {
    /// Changes the link's queues or its medium.
    pub fn medium(&mut self, change: MediumChange) {
        self.link.push(LinkChange::Medium(change));
    }

    /// Installs an agent at the access point.
    pub fn install(&mut self, agent: AgentConfig) {
        self.link.push(LinkChange::Agent(agent));
    }
}

/// A change between the endpoints.
#[derive(Clone, Debug, PartialEq)]
pub enum LinkChange {
    /// A change of the link's queues or its medium.
    Medium(MediumChange),
    /// Acknowledgments that a later one in their queue covers are dropped.
    AckFilter,
    /// An agent of the access point. Packets from the mobile meet the agents in order.
    Agent(AgentConfig),
    /// Connections are split at the access point.
    Split {
        /// Buffer each way, in bytes.
        buffer: u64,
    },
    /// Receivers react to outages of the link.
    Outages(OutageReaction),
}

/// Reaction of receivers to outages of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutageReaction {
    /// They foresee an outage and freeze their senders.
    Freeze {
        /// Time before the outage at which they do.
        warning: Duration,
    },
    /// They send their last acknowledgment three times after it, and do nothing before.
    RepeatLastAck,
}

/// A sender of frames over a radio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SentBy {
    /// The mobile.
    Mobile,
    /// The access point.
    AccessPoint,
}

/// A change of the link's queues or its medium.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MediumChange {
    /// Length of the queue in front of the data direction, in packets.
    Queue(u32),
    /// Which of the packets that wait in it is served, dropped or marked.
    Discipline(Discipline),
    /// Repair packets after each block of packets of the data direction.
    Fec(FecConfig),
    /// Order in which an access point with a queue per station serves them.
    StationQueueing(Queueing),
    /// Airtime of a station's packets that may wait in the access point's hardware.
    AirtimeLimit(Duration),
    /// Longest aggregate.
    AggregateTime(Duration),
    /// Longest burst of best effort once the channel is won.
    BurstTime(Duration),
    /// Maximum number of transmissions of a frame by mobiles.
    MobileAttempts(RetryLimit),
    /// Maximum number of transmissions of a frame by the access point.
    AccessPointAttempts(RetryLimit),
    /// Maximum number of transmissions of a frame between the access point and one mobile.
    StationAttempts {
        /// The mobile, counted from 1.
        mobile: u32,
        /// The sender of the frames.
        sent_by: SentBy,
        /// The limit.
        limit: RetryLimit,
    },
    /// The order in which the access point retransmits.
    Order(DeadlineOrder),
}
