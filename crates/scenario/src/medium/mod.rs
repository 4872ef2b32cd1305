//! Media that stations share or that retransmit: one file each, with the medium's part in every
//! other setting of a scenario.

mod arq;
mod cell;
pub(crate) mod edca;
mod selective_repeat;
mod wlan;

use std::fmt::Debug;

use airtcp_link::fading::{Placement, Radio, RadioConfig};
use airtcp_link::frame::RetryLimit;
use airtcp_link::mac::damage::Outage;
use airtcp_link::mac::edca::queueing::Queueing;
use airtcp_link::scheduler::RetransmissionOrder;
use airtcp_link::{AckFilter, CakeConfig, Discipline, PipeConfig, QueueLimit, Stream, Tins};
use airtcp_network::MediumKind;
use airtcp_units::Duration;

pub use arq::Arq;
pub use cell::CellLink;
pub use edca::AggregatingWlan;
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

    /// The way from the mobile to the access point, where that is a pipe and not the medium, and
    /// the name of its random stream.
    fn back(&self) -> Option<(&'static str, &PipeConfig)> {
        None
    }

    /// When it goes away.
    fn outage(&self) -> Option<Outage> {
        None
    }

    /// Whether the link reports to TCP how long it retransmits.
    fn tells_retry_timeout(&self) -> bool {
        false
    }

    /// The remedy `queue`: changes the queue limit of every station.
    fn set_queue(&mut self, limit: QueueLimit);

    /// Changes which of the packets that wait is served, dropped or marked; `false` where that is
    /// the hardware's.
    #[must_use]
    fn set_discipline(&mut self, _discipline: Discipline) -> bool {
        false
    }

    /// Drops acknowledgments that a later one in the same queue covers, as CAKE does; `false` where
    /// no discipline can.
    #[must_use]
    fn filter_acks(&mut self) -> bool {
        let cake = CakeConfig {
            tins: Tins::BestEffort,
            ack_filter: AckFilter::On,
            ..CakeConfig::default()
        };
        self.set_discipline(Discipline::Cake(cake))
    }

    /// Gives each station a queue at the access point, served by `_queueing`; `false` if the medium
    /// cannot.
    #[must_use]
    fn set_station_queueing(&mut self, _queueing: Queueing) -> bool {
        false
    }

    /// Changes the most transmissions of a mobile's frame; `false` if no mobile retransmits.
    #[must_use]
    fn set_mobile_attempts(&mut self, _limit: RetryLimit) -> bool {
        false
    }

    /// Changes the access point's attempt limit; `false` if it never retransmits.
    #[must_use]
    fn set_access_point_attempts(&mut self, _limit: RetryLimit) -> bool {
        false
    }

    /// Changes the airtime of a station's packets that may wait in the access point's hardware;
    /// `false` where nothing bounds it.
    #[must_use]
    fn set_airtime_limit(&mut self, _limit: Duration) -> bool {
        false
    }

    /// Changes the longest aggregate; `false` if the medium does not aggregate.
    #[must_use]
    fn set_aggregate_time(&mut self, _time: Duration) -> bool {
        false
    }

    /// Changes for how long best effort may keep the channel; `false` without access categories.
    #[must_use]
    fn set_burst_time(&mut self, _time: Duration) -> bool {
        false
    }

    /// Changes the order of an access point's retransmissions; `false` if it does not retransmit
    /// single frames.
    #[must_use]
    fn set_order(&mut self, _order: RetransmissionOrder) -> bool {
        false
    }
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
