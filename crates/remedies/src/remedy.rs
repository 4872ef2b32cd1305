//! Entries of the catalogue.

use airtcp_link::Discipline;
use airtcp_link::agent::AgentConfig;
use airtcp_link::frame::RetryLimit;
use airtcp_link::mac::edca::queueing::Queueing;
use airtcp_link::scheduler::deadline::DeadlineOrder;
use airtcp_tcp::Config;
use airtcp_units::Duration;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::{Deployment, Parameter, Quantity, Values};

/// Where a remedy acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// The TCP endpoint that sends the data.
    Sender,
    /// The TCP endpoint that receives the data.
    Receiver,
    /// The wireless link itself: its queue, its retransmissions.
    Link,
    /// The access point or base station, on packets that pass.
    AccessPoint,
    /// A proxy that ends one TCP connection and begins another.
    Proxy,
}

impl Place {
    /// The name as users read and write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
            Self::Link => "link",
            Self::AccessPoint => "access-point",
            Self::Proxy => "proxy",
        }
    }
}

/// A named change to TCP or to the link.
#[derive(Clone, Copy, Debug)]
pub struct Remedy {
    /// The name, in kebab-case.
    pub name: &'static str,
    /// Where it acts.
    pub place: Place,
    /// Its effect, in a line.
    pub effect: &'static str,
    /// The paper or standard it comes from, with its section.
    pub source: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Its deployment on a real system.
    pub deployment: Deployment,
    /// The choice it makes. Two remedies that make the same choice cannot be combined.
    pub decides: &'static str,
    /// Makes the change.
    pub(crate) apply: fn(&Values<'_>, &mut Changes<'_>),
}

impl Remedy {
    /// The parameters' defaults, in their order.
    pub fn defaults(&self) -> Vec<Quantity> {
        self.parameters.iter().map(|one| one.default).collect()
    }

    /// The deployment in sentences, with the parameters at their defaults.
    pub fn deployment_text(&self) -> String {
        self.deployment.text(&Values {
            parameters: self.parameters,
            quantities: &self.defaults(),
        })
    }
}

impl Serialize for Remedy {
    /// Serializes the entry for programs. The deployment appears twice: as data in `ways`, and as
    /// sentences, with the parameters at their defaults, in `deployment`. `agent` is the program
    /// that implements it between the endpoints.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut entry = serializer.serialize_struct("Remedy", 9)?;
        entry.serialize_field("name", self.name)?;
        entry.serialize_field("place", &self.place)?;
        entry.serialize_field("effect", self.effect)?;
        entry.serialize_field("source", self.source)?;
        entry.serialize_field("parameters", self.parameters)?;
        entry.serialize_field("deployment", &self.deployment_text())?;
        entry.serialize_field("ways", self.deployment.ways)?;
        entry.serialize_field("agent", &self.deployment.agent)?;
        entry.serialize_field("decides", self.decides)?;
        entry.end()
    }
}

/// Changes by remedies between the endpoints.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkChanges {
    /// Packets that the queue in front of the data direction holds.
    pub queue_packets: Option<u32>,
    /// Which of the packets that wait in it is served, dropped or marked.
    pub discipline: Option<Discipline>,
    /// Acknowledgments that a later one in their queue covers are dropped.
    pub filters_acks: bool,
    /// Order in which an access point with a queue per station serves them.
    pub station_queueing: Option<Queueing>,
    /// Airtime of a station's packets that may wait in the hardware.
    pub airtime_limit: Option<Duration>,
    /// Longest aggregate.
    pub aggregate_time: Option<Duration>,
    /// Longest burst of best effort once the channel is won; `None` for one exchange.
    pub burst_time: Option<Duration>,
    /// Maximum number of transmissions of a frame by mobiles.
    pub mobile_attempts: Option<RetryLimit>,
    /// Maximum number of transmissions of a frame by the access point.
    pub access_point_attempts: Option<RetryLimit>,
    /// Agents of the access point, in the order in which packets from the mobile meet it.
    pub agents: Vec<AgentConfig>,
    /// The order in which the access point retransmits.
    pub order: Option<DeadlineOrder>,
    /// Connections are split at the access point, with a buffer of this many bytes each way.
    pub split_buffer: Option<u64>,
    /// Receivers know of outages so long before they come, and freeze their senders.
    pub freeze_warning: Option<Duration>,
    /// Receivers send their last acknowledgment three times after an outage, and do nothing before.
    pub hand_off_acks: bool,
}

/// All that remedies may change. Both endpoints share one configuration: each reads its half.
#[derive(Debug)]
pub struct Changes<'a> {
    /// The TCP endpoints.
    pub tcp: &'a mut Config,
    /// The link.
    pub link: &'a mut LinkChanges,
}
