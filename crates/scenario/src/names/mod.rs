//! The names that a scenario gives to choices: kebab-case text and the choice it means.

mod cell;
mod flows;
mod link;
mod wireless;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use cell::{
    CellRates, CellStandard, DuplexName, McsTableName, RlcModeName, SchedulerName,
    SubcarrierSpacing,
};
pub use flows::{ApplicationName, CodePoint, Companion, FlowDirection, FlowKind, Shape};
pub use link::{
    AckFilterName, DelayOrder, DisciplineName, JitterName, LogStart, LossDirection, RttShapeName,
    StopLengthName, StopProcess, StoppedPackets, TinsName, TraceDirection,
};
pub use wireless::{
    AccessCategoryName, BandName, ChannelWidth, CollisionHeard, Counted, FadingName,
    GuardIntervalName, HandOn, MissedBlockAck, Preamble, ProtectionName, RateControlName, Standard,
    StationScheduler, WindowCount,
};

/// The path between the endpoints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Topology {
    /// All flows go from one sender to one receiver through the link.
    #[default]
    Pipe,
    /// Each flow has a separate access line, with its delay, to the shared link.
    Dumbbell,
    /// Mobiles share an IEEE 802.11 channel with an access point, which connects the wired hosts.
    Wlan,
    /// Two IEEE 802.11 channels, their access points joined by a wired path; a mobile at each end
    /// of every flow (Srinivasan, Fig. 2).
    WlanWiredWlan,
    /// A wireless stop-and-wait ARQ link of an access point.
    Arq,
    /// A wireless link on which frames overtake one that is retransmitted, between a mobile and an
    /// access point.
    SelectiveRepeat,
    /// Two such links, their access points joined by a wired path; a mobile at each end.
    SelectiveRepeatBothEnds,
    /// A cellular base station that serves its users slot by slot.
    Cell,
}

impl Topology {
    /// Whether there is a wireless link at both ends.
    pub const fn has_two_links(self) -> bool {
        matches!(self, Self::WlanWiredWlan | Self::SelectiveRepeatBothEnds)
    }

    /// The name as users write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pipe => "pipe",
            Self::Dumbbell => "dumbbell",
            Self::Wlan => "wlan",
            Self::WlanWiredWlan => "wlan-wired-wlan",
            Self::Arq => "arq",
            Self::SelectiveRepeat => "selective-repeat",
            Self::SelectiveRepeatBothEnds => "selective-repeat-both-ends",
            Self::Cell => "cell",
        }
    }
}
