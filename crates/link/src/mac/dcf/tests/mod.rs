use std::num::NonZeroU32;

use airtcp_units::BitRate;

use super::*;
use crate::frame::{PacketClass, RetryLimit};
use crate::mac::damage::DamageConfig;
use crate::mac::own_retry_limits::StationRetryLimits;
use crate::phy::{Phy, Preamble, Standard};
use crate::queue::QueueLimit;
use crate::scheduler::RetransmissionOrder;

mod bianchi;
mod capacity;
mod invariants;
mod reference;
mod refusals;
mod reports;
mod scenario;
mod timelines;

pub(super) fn station() -> StationConfig {
    StationConfig {
        queue: QueueLimit::Unlimited,
        order: RetransmissionOrder::HeadOfLine,
        short_retry_limit: RetryLimit::Unlimited,
        long_retry_limit: RetryLimit::Unlimited,
    }
}

pub(super) fn config(stations: u32) -> BssConfig {
    let rate = |megabits: u64| BitRate::from_bps(megabits * 1_000_000);
    BssConfig {
        phy: Phy::new(Standard::B, Preamble::Long, rate(11), rate(1)).unwrap(),
        station_modes: Vec::new(),
        stations,
        mobile: station(),
        access_point: station(),
        station_retry_limits: StationRetryLimits::default(),
        rts_threshold: None,
        fragmentation_threshold: None,
        contention_window: None,
        answer_timeout: None,
        overhead: 36,
        damage: DamageConfig::default(),
        report_retries: false,
    }
}

pub(super) fn offer(bytes: u32) -> Offer {
    Offer {
        bytes,
        flow: 0,
        class: PacketClass::Data,
        urgency: None,
    }
}
