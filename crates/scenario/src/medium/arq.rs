//! A stop-and-wait link.

use airtcp_link::mac::arq::ArqConfig;
use airtcp_link::mac::damage::Outage;
use airtcp_link::scheduler::RetransmissionOrder;
use airtcp_link::{PipeConfig, QueueLimit};
use airtcp_network::MediumKind;
use airtcp_remedies::MediumChange;

use super::WirelessMedium;

/// A stop-and-wait link to a mobile.
#[derive(Clone, Debug)]
pub struct Arq {
    /// The direction that repeats.
    pub config: ArqConfig,
    /// The other, which loses nothing.
    pub back: PipeConfig,
}

impl WirelessMedium for Arq {
    fn boxed(&self) -> Box<dyn WirelessMedium> {
        Box::new(self.clone())
    }

    fn name(&self) -> &'static str {
        "arq"
    }

    fn kind(&self, _name: &str, _seed: u64, report_retries: bool) -> MediumKind {
        MediumKind::Arq(Box::new(ArqConfig {
            report_retries,
            ..self.config.clone()
        }))
    }

    fn back(&self) -> Option<(&'static str, &PipeConfig)> {
        Some(("arq.back", &self.back))
    }

    fn outages(&self) -> Vec<Outage> {
        self.config.damage.outage.into_iter().collect()
    }

    fn change(&mut self, change: MediumChange) -> bool {
        match change {
            MediumChange::Queue(packets) => self.config.queue = QueueLimit::Packets(packets),
            MediumChange::Order(order) => self.config.order = RetransmissionOrder::Deadline(order),
            _ => return false,
        }
        true
    }
}
