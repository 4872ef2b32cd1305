//! A selective-repeat link.

use airtcp_link::QueueLimit;
use airtcp_link::mac::damage::Outage;
use airtcp_link::mac::selective_repeat::SelectiveRepeatConfig;
use airtcp_link::scheduler::RetransmissionOrder;
use airtcp_network::MediumKind;
use airtcp_remedies::MediumChange;

use super::WirelessMedium;

/// A selective-repeat link.
#[derive(Clone, Debug)]
pub struct SelectiveRepeat {
    /// Its configuration.
    pub config: SelectiveRepeatConfig,
    /// Whether the link reports to TCP how long it retransmits.
    pub tells_retry_timeout: bool,
}

impl WirelessMedium for SelectiveRepeat {
    fn boxed(&self) -> Box<dyn WirelessMedium> {
        Box::new(self.clone())
    }

    fn name(&self) -> &'static str {
        "selective-repeat"
    }

    fn kind(&self, _name: &str, _seed: u64, report_retries: bool) -> MediumKind {
        MediumKind::SelectiveRepeat(Box::new(SelectiveRepeatConfig {
            report_retries,
            ..self.config.clone()
        }))
    }

    fn outages(&self) -> Vec<Outage> {
        self.config.damage.outage.into_iter().collect()
    }

    fn tells_retry_timeout(&self) -> bool {
        self.tells_retry_timeout
    }

    fn change(&mut self, change: MediumChange) -> bool {
        let SelectiveRepeatConfig {
            mobile,
            access_point,
            ..
        } = &mut self.config;
        match change {
            MediumChange::Queue(packets) => {
                mobile.queue = QueueLimit::Packets(packets);
                access_point.queue = mobile.queue;
            }
            MediumChange::MobileAttempts(limit) => mobile.retry_limit = limit,
            MediumChange::Order(order) => {
                access_point.order = RetransmissionOrder::Deadline(order);
            }
            _ => return false,
        }
        true
    }
}
