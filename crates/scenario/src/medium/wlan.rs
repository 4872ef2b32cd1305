//! An IEEE 802.11 channel of 802.11b, g or a.

use airtcp_link::mac::damage::{Outage, RadioDamage};
use airtcp_link::mac::dcf::BssConfig;
use airtcp_link::mac::own_retry_limits::OwnRetryLimits;
use airtcp_link::scheduler::RetransmissionOrder;
use airtcp_link::{QueueLimit, Stream};
use airtcp_network::MediumKind;
use airtcp_remedies::{MediumChange, SentBy};

use super::{Air, WirelessMedium, own_limits, radios};

/// An IEEE 802.11 channel.
#[derive(Clone, Debug)]
pub struct Wlan {
    /// Its configuration, except for parts that depend on the mobiles' places.
    pub bss: BssConfig,
    /// Where the mobiles are, if that matters.
    pub air: Option<Air>,
    /// Hops between a mobile and the access point. The relays are the last stations of `bss`.
    pub hops: u32,
}

impl WirelessMedium for Wlan {
    fn boxed(&self) -> Box<dyn WirelessMedium> {
        Box::new(self.clone())
    }

    fn name(&self) -> &'static str {
        "wlan"
    }

    fn kind(&self, name: &str, seed: u64, report_retries: bool) -> MediumKind {
        let mut bss = self.bss.clone();
        bss.report_retries = report_retries;
        if let Some(air) = &self.air {
            bss.damage.radio = Some(RadioDamage {
                radios: radios(air, bss.stations, Stream::new(seed, name)),
                data: if bss.station_modes.is_empty() {
                    vec![bss.phy.data_mode()]
                } else {
                    bss.station_modes.clone()
                },
                control: bss.phy.control_mode(),
            });
        }
        MediumKind::Bss(Box::new(bss))
    }

    fn stations(&self) -> u32 {
        self.bss.stations + 1 - self.hops
    }

    fn hops(&self) -> u32 {
        self.hops
    }

    fn outages(&self) -> Vec<Outage> {
        self.bss.damage.outage.into_iter().collect()
    }

    fn change(&mut self, change: MediumChange) -> bool {
        let mobiles = self.stations();
        let BssConfig {
            mobile,
            access_point,
            station_retry_limits,
            stations,
            ..
        } = &mut self.bss;
        let (station, limit) = match change {
            MediumChange::Queue(packets) => {
                mobile.queue = QueueLimit::Packets(packets);
                access_point.queue = mobile.queue;
                return true;
            }
            MediumChange::Order(order) => {
                access_point.order = RetransmissionOrder::Deadline(order);
                return true;
            }
            MediumChange::StationAttempts {
                mobile,
                sent_by,
                limit,
            } => {
                let own = own_limits(station_retry_limits, sent_by);
                return mobile <= mobiles && own.set(mobile, *stations, limit);
            }
            MediumChange::MobileAttempts(limit) => {
                *own_limits(station_retry_limits, SentBy::Mobile) = OwnRetryLimits::default();
                (mobile, limit)
            }
            MediumChange::AccessPointAttempts(limit) => {
                *own_limits(station_retry_limits, SentBy::AccessPoint) = OwnRetryLimits::default();
                (access_point, limit)
            }
            _ => return false,
        };
        (station.short_retry_limit, station.long_retry_limit) = (limit, limit);
        true
    }
}
