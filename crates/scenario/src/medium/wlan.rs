//! An IEEE 802.11 channel of 802.11b, g or a.

use airtcp_link::frame::RetryLimit;
use airtcp_link::mac::damage::{Outage, RadioDamage};
use airtcp_link::mac::dcf::BssConfig;
use airtcp_link::scheduler::RetransmissionOrder;
use airtcp_link::{QueueLimit, Stream};
use airtcp_network::MediumKind;

use super::{Air, WirelessMedium, radios};

/// An IEEE 802.11 channel.
#[derive(Clone, Debug)]
pub struct Wlan {
    /// Its configuration, except for parts that depend on the mobiles' places.
    pub bss: BssConfig,
    /// Where the mobiles are, if that matters.
    pub air: Option<Air>,
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
        self.bss.stations
    }

    fn outage(&self) -> Option<Outage> {
        self.bss.damage.outage
    }

    fn set_queue(&mut self, limit: QueueLimit) {
        self.bss.mobile.queue = limit;
        self.bss.access_point.queue = limit;
    }

    fn set_mobile_attempts(&mut self, limit: RetryLimit) -> bool {
        self.bss.mobile.short_retry_limit = limit;
        self.bss.mobile.long_retry_limit = limit;
        true
    }

    fn set_access_point_attempts(&mut self, limit: RetryLimit) -> bool {
        self.bss.access_point.short_retry_limit = limit;
        self.bss.access_point.long_retry_limit = limit;
        true
    }

    fn set_order(&mut self, order: RetransmissionOrder) -> bool {
        self.bss.access_point.order = order;
        true
    }
}
