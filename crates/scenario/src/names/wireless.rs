//! Names of the radio and of IEEE 802.11.

use airtcp_link::mac::{damage, edca};
use airtcp_link::phy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A physical layer of IEEE 802.11.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Standard {
    /// 2.4 GHz, direct sequence, 1 to 11 Mbit/s.
    #[default]
    #[serde(rename = "802.11b")]
    B,
    /// 2.4 GHz, OFDM, 6 to 54 Mbit/s, no older stations near.
    #[serde(rename = "802.11g")]
    G,
    /// 5 GHz, OFDM, 6 to 54 Mbit/s.
    #[serde(rename = "802.11a")]
    A,
    /// 2.4 and 5 GHz, OFDM with up to 4 streams of 20 or 40 MHz, aggregation.
    #[serde(rename = "802.11n")]
    N,
    /// 5 GHz, up to 160 MHz and 256-QAM.
    #[serde(rename = "802.11ac")]
    Ac,
    /// 2.4, 5 and 6 GHz, longer symbols and 1024-QAM; one user at a time.
    #[serde(rename = "802.11ax")]
    Ax,
}

impl Standard {
    /// Whether its frames are aggregated.
    pub const fn aggregates(self) -> bool {
        matches!(self, Self::N | Self::Ac | Self::Ax)
    }
}

/// Declares names, one for each choice of the link.
macro_rules! choices {
    ($(#[$doc:meta])* $Name:ident for $Of:ty { $($(#[$row:meta])* $Row:ident = $text:literal => $Choice:path,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        pub enum $Name {
            $($(#[$row])* #[serde(rename = $text)] $Row,)+
        }

        impl From<$Name> for $Of {
            fn from(name: $Name) -> Self {
                match name {
                    $($Name::$Row => $Choice,)+
                }
            }
        }
    };
}

choices! {
    /// A band.
    BandName for phy::Band {
        /// Channels of up to 40 MHz.
        Ghz2_4 = "2.4 GHz" => phy::Band::Ghz2_4,
        /// Channels of up to 160 MHz.
        Ghz5 = "5 GHz" => phy::Band::Ghz5,
        /// As 5 GHz.
        Ghz6 = "6 GHz" => phy::Band::Ghz5,
    }
}

choices! {
    /// Width of a channel.
    ChannelWidth for phy::Width {
        /// All standards.
        Mhz20 = "20 MHz" => phy::Width::Mhz20,
        /// All standards.
        Mhz40 = "40 MHz" => phy::Width::Mhz40,
        /// 802.11ac and ax.
        Mhz80 = "80 MHz" => phy::Width::Mhz80,
        /// 802.11ac and ax.
        Mhz160 = "160 MHz" => phy::Width::Mhz160,
    }
}

choices! {
    /// A guard interval.
    GuardIntervalName for phy::GuardInterval {
        /// 802.11n and ac.
        Ns400 = "400 ns" => phy::GuardInterval::Ns400,
        /// All standards.
        Ns800 = "800 ns" => phy::GuardInterval::Ns800,
        /// 802.11ax.
        Ns1600 = "1600 ns" => phy::GuardInterval::Ns1600,
        /// 802.11ax.
        Ns3200 = "3200 ns" => phy::GuardInterval::Ns3200,
    }
}

choices! {
    /// An access category.
    AccessCategoryName for edca::AccessCategory {
        /// AC_BK.
        Background = "background" => edca::AccessCategory::Background,
        /// AC_BE.
        BestEffort = "best-effort" => edca::AccessCategory::BestEffort,
        /// AC_VI.
        Video = "video" => edca::AccessCategory::Video,
        /// AC_VO.
        Voice = "voice" => edca::AccessCategory::Voice,
    }
}

/// How the modes of data frames are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RateControlName {
    /// Always `mcs` and `spatial_streams`.
    #[default]
    Fixed,
    /// The best at the signal-to-noise ratio of the moment, which no real sender knows.
    Ideal,
    /// Minstrel-HT of Linux: by acknowledged frames.
    MinstrelHt,
}

/// How frames are announced to older stations that do not understand them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProtectionName {
    /// Not at all.
    None,
    /// A CTS to oneself.
    CtsToSelf,
    /// RTS and CTS.
    RtsCts,
}

/// Reaction of a sender to a missing block ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MissedBlockAck {
    /// Retransmits the whole aggregate.
    #[default]
    Retransmit,
    /// Contends to ask for the block ACK again.
    Request,
}

/// When a receiver passes on the frames of an aggregate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HandOn {
    /// All at the end of the PPDU, as a driver that takes one interrupt for it.
    #[default]
    Ppdu,
    /// Each at its last bit.
    Mpdu,
}

/// Reaction of stations to a collision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CollisionHeard {
    /// As a frame that is not understood: they wait for EIFS.
    #[default]
    Frame,
    /// As energy, since no preamble was recognised: they wait for AIFS.
    Energy,
}

/// Scheduler of a station that aggregates frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StationScheduler {
    /// One queue, first in, first out.
    Fifo,
    /// A discipline in front of a driver's queue.
    Qdisc,
    /// A queue for each station, an aggregate in turn.
    RoundRobin,
    /// A queue for each station, served by airtime: Linux' mac80211.
    #[default]
    Airtime,
}

/// A preamble of 802.11b.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Preamble {
    /// 192 µs.
    #[default]
    Long,
    /// 96 µs.
    Short,
}

/// Fading of a signal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FadingName {
    /// Not at all.
    #[default]
    None,
    /// Rayleigh, redrawn for every frame.
    Independent,
    /// Rayleigh, correlated in time as Jakes' model has it.
    Jakes,
}

/// Transmissions counted by an error model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Counted {
    /// Each station's transmissions separately: its losses do not depend on the others.
    #[default]
    Station,
    /// All that the channel carries in that direction.
    Channel,
    /// All frames that the access point hears, whatever they carry: its mobiles' link-layer
    /// acknowledgments too, whatever the `direction`.
    Heard,
}

/// Unit of a selective-repeat link's window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WindowCount {
    /// Frame numbers from the oldest unacknowledged frame on, as IEEE 802.16, RLC and block ACK do.
    #[default]
    Numbers,
    /// Unacknowledged frames, as textbooks do.
    Outstanding,
}

impl From<Standard> for phy::Standard {
    fn from(name: Standard) -> Self {
        match name {
            Standard::B => Self::B,
            Standard::G => Self::G,
            Standard::A => Self::A,
            Standard::N => Self::N,
            Standard::Ac => Self::Ac,
            Standard::Ax => Self::Ax,
        }
    }
}

impl From<Preamble> for phy::Preamble {
    fn from(name: Preamble) -> Self {
        match name {
            Preamble::Long => Self::Long,
            Preamble::Short => Self::Short,
        }
    }
}

impl From<Counted> for damage::Counted {
    fn from(name: Counted) -> Self {
        match name {
            Counted::Station => Self::Station,
            Counted::Channel => Self::Channel,
            Counted::Heard => Self::Heard,
        }
    }
}
