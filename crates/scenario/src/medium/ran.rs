//! A cell of LTE or NR.

use airtcp_link::fading::Radio;
use airtcp_link::mac::damage::Outage;
use airtcp_link::mac::ran::RanConfig;
use airtcp_link::mac::ran::config::RanError;
use airtcp_link::scheduler::deadline::Counted;
use airtcp_link::{QueueLimit, Stream};
use airtcp_network::MediumKind;
use airtcp_remedies::MediumChange;

use super::{Air, WirelessMedium};

/// A cell of LTE or NR, both directions.
#[derive(Clone, Debug)]
pub struct RanLink {
    /// Its configuration, except for the users' channels.
    pub config: RanConfig,
    /// Where the users are.
    pub air: Air,
    /// Users with flows, and users without who always have something to receive.
    pub users: (u32, u32),
}

impl RanLink {
    /// Validates the configuration, with users somewhere.
    ///
    /// # Errors
    /// See [`RanError`].
    pub fn check(&self) -> Result<(), RanError> {
        RanConfig {
            radios: self.radios(Stream::new(0, "")),
            ..self.config.clone()
        }
        .check()
    }

    /// The radio of every user in every subband.
    fn radios(&self, draws: Stream) -> Vec<Vec<Radio>> {
        let (places, channels) = (draws.substream(10), draws.substream(11));
        let subbands = 0..self.config.down.grid.subbands() as u64;
        (0..self.users.0 + self.users.1)
            .map(|user| {
                let distance = self.air.placement.distance_m(user, places);
                // As on other media, where number 0 is the base station's.
                let channel = channels.substream(u64::from(user) + 1);
                let radio = |subband| {
                    Radio::in_subband(&self.air.config, distance, channel, subband)
                        .expect("a radio is checked when the scenario is read")
                };
                subbands.clone().map(radio).collect()
            })
            .collect()
    }
}

impl WirelessMedium for RanLink {
    fn boxed(&self) -> Box<dyn WirelessMedium> {
        Box::new(self.clone())
    }

    fn name(&self) -> &'static str {
        "cell"
    }

    fn kind(&self, name: &str, seed: u64, report_retries: bool) -> MediumKind {
        MediumKind::Ran(Box::new(RanConfig {
            report_retries,
            radios: self.radios(Stream::new(seed, name)),
            ..self.config.clone()
        }))
    }

    fn stations(&self) -> u32 {
        self.users.0
    }

    fn outages(&self) -> Vec<Outage> {
        let frame = &self.config.frame;
        let in_slots = |time| frame.slot * frame.slots(time);
        let handovers = self.config.handover.map(|handover| Outage {
            every: in_slots(handover.every),
            length: in_slots(handover.gap),
        });
        self.config.outage.into_iter().chain(handovers).collect()
    }

    fn change(&mut self, change: MediumChange) -> bool {
        let config = &mut self.config;
        match change {
            MediumChange::Queue(packets) => {
                config.queue = QueueLimit::Packets(packets);
                config.uplink.queue = config.queue;
            }
            MediumChange::Discipline(discipline) => config.discipline = discipline,
            // Of RLC: after them the radio link has failed.
            MediumChange::MobileAttempts(limit) | MediumChange::AccessPointAttempts(limit) => {
                config.rlc.max_retransmissions = limit;
            }
            // Attempts of a packet are in several blocks and are not counted.
            MediumChange::Order(order) if order.counted == Counted::Frame => {
                config.order = Some(order);
            }
            _ => return false,
        }
        true
    }
}
