//! The downlink of a cell.

use airtcp_link::mac::cellular::CellConfig;
use airtcp_link::{PipeConfig, QueueLimit, Stream};
use airtcp_network::MediumKind;
use airtcp_remedies::MediumChange;

use super::{Air, WirelessMedium, radios};

/// The downlink of a cell, with its return path.
#[derive(Clone, Debug)]
pub struct CellLink {
    /// Its configuration, except for the users' channels.
    pub config: CellConfig,
    /// Where the users are.
    pub air: Air,
    /// Users with TCP, and users without who always have something to receive.
    pub users: (u32, u32),
    /// The uplink.
    pub back: PipeConfig,
}

impl WirelessMedium for CellLink {
    fn boxed(&self) -> Box<dyn WirelessMedium> {
        Box::new(self.clone())
    }

    fn name(&self) -> &'static str {
        "cell"
    }

    fn kind(&self, name: &str, seed: u64, report_retries: bool) -> MediumKind {
        let count = self.users.0 + self.users.1;
        // The first radio is the base station.
        let radios = radios(&self.air, count, Stream::new(seed, name)).split_off(1);
        MediumKind::Cell(Box::new(CellConfig {
            report_retries,
            radios,
            ..self.config.clone()
        }))
    }

    fn stations(&self) -> u32 {
        self.users.0
    }

    fn back(&self) -> Option<(&'static str, &PipeConfig)> {
        Some(("cell.uplink", &self.back))
    }

    fn change(&mut self, change: MediumChange) -> bool {
        match change {
            MediumChange::Queue(packets) => self.config.queue = QueueLimit::Packets(packets),
            _ => return false,
        }
        true
    }
}
