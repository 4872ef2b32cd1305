//! An IEEE 802.11 channel of 802.11n, ac or ax.

use airtcp_link::frame::RetryLimit;
use airtcp_link::mac::damage::{Outage, RadioDamage};
use airtcp_link::mac::edca::EdcaConfig;
use airtcp_link::{QueueLimit, Stream};
use airtcp_network::MediumKind;

use super::{Air, WirelessMedium, radios};

/// An IEEE 802.11 channel on which frames are aggregated.
#[derive(Clone, Debug)]
pub struct AggregatingWlan {
    /// Its configuration, except for what the mobiles' places decide.
    pub config: EdcaConfig,
    /// Where the mobiles are, if that matters.
    pub air: Option<Air>,
}

impl WirelessMedium for AggregatingWlan {
    fn boxed(&self) -> Box<dyn WirelessMedium> {
        Box::new(self.clone())
    }

    fn name(&self) -> &'static str {
        "wlan"
    }

    fn kind(&self, name: &str, seed: u64, report_retries: bool) -> MediumKind {
        let mut config = self.config.clone();
        config.report_retries = report_retries;
        if let Some(air) = &self.air {
            config.damage.radio = Some(RadioDamage {
                radios: radios(air, config.stations, Stream::new(seed, name)),
                // Each frame says in which mode it is sent.
                data: Vec::new(),
                control: config.phy.control_mode(),
            });
        }
        MediumKind::Edca(Box::new(config))
    }

    fn stations(&self) -> u32 {
        self.config.stations
    }

    fn outage(&self) -> Option<Outage> {
        self.config.damage.outage
    }

    fn set_queue(&mut self, limit: QueueLimit) {
        self.config.mobile.limit = limit;
        self.config.access_point.limit = limit;
    }

    fn set_mobile_attempts(&mut self, limit: RetryLimit) -> bool {
        self.config.mobile_retry_limit = limit;
        true
    }
}
