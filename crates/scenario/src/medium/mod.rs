//! Media that stations share or that retransmit: one file each, with the medium's part in every
//! other setting of a scenario.

mod arq;
mod cell;
pub(crate) mod edca;
mod ran;
mod selective_repeat;
mod wlan;

use std::fmt::Debug;

use airtcp_link::fading::{Placement, Radio, RadioConfig};
use airtcp_link::mac::damage::Outage;
use airtcp_link::mac::own_retry_limits::{OwnRetryLimits, StationRetryLimits};
use airtcp_link::{PipeConfig, Stream};
use airtcp_network::MediumKind;
use airtcp_remedies::{MediumChange, SentBy};

pub use arq::Arq;
pub use cell::CellLink;
pub use edca::AggregatingWlan;
pub use ran::RanLink;
pub use selective_repeat::SelectiveRepeat;
pub use wlan::Wlan;

/// A medium between mobiles and an access point.
pub trait WirelessMedium: Debug + Send + Sync {
    /// A copy.
    fn boxed(&self) -> Box<dyn WirelessMedium>;

    /// The name of its random stream; with two of them, that of the near one and the far one begin
    /// with it.
    fn name(&self) -> &'static str;

    /// Its configuration for a network, with the mobiles placed. `report_retries` is for agents
    /// that observe every failed attempt.
    fn kind(&self, name: &str, seed: u64, report_retries: bool) -> MediumKind;

    /// Mobiles with flows.
    fn stations(&self) -> u32 {
        1
    }

    /// Hops over the air between a mobile and the access point. The relays are numbered after the
    /// mobiles, the one next to the access point first.
    fn hops(&self) -> u32 {
        1
    }

    /// The way from the mobile to the access point, where that is a pipe and not the medium, and
    /// the name of its random stream.
    fn back(&self) -> Option<(&'static str, &PipeConfig)> {
        None
    }

    /// When it goes away, for each cause of its own.
    fn outages(&self) -> Vec<Outage> {
        Vec::new()
    }

    /// Whether the link reports to TCP how long it retransmits.
    fn tells_retry_timeout(&self) -> bool {
        false
    }

    /// Makes a change; `false`, with nothing changed, if the medium lacks the part.
    #[must_use]
    fn change(&mut self, change: MediumChange) -> bool;
}

impl Clone for Box<dyn WirelessMedium> {
    fn clone(&self) -> Self {
        self.boxed()
    }
}

/// Places of the mobiles, and propagation.
#[derive(Clone, Debug, PartialEq)]
pub struct Air {
    /// The way of a signal.
    pub config: RadioConfig,
    /// Distances of the mobiles.
    pub placement: Placement,
}

/// The mobiles' own retry limits of frames with that sender.
const fn own_limits(limits: &mut StationRetryLimits, sent_by: SentBy) -> &mut OwnRetryLimits {
    match sent_by {
        SentBy::Mobile => &mut limits.from_mobile,
        SentBy::AccessPoint => &mut limits.to_mobile,
    }
}

/// The radio of every station, that of the access point standing for nothing.
fn radios(air: &Air, stations: u32, draws: Stream) -> Vec<Radio> {
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
