use std::num::NonZeroU32;

use airtcp_units::Probability;

use super::*;
use crate::error::ErrorModel;
use crate::frame::{PacketClass, RetryLimit};
use crate::mac::damage::DamageConfig;
use crate::mac::own_retry_limits::StationRetryLimits;
use crate::phy::ppdu::MAX_TIME;
use crate::phy::{Family, GuardInterval, Phy, Standard, Width};
use crate::queue::{Discipline, QueueLimit};

mod adaptation;
mod amsdu;
mod bianchi;
mod categories;
mod legacy;
mod queues;
mod reference;
mod saturation;
mod scenario;
mod timelines;

/// IP packets of ns-3's figures: 1470 bytes of UDP payload, or 1500 in all.
pub(super) const IP_BYTES: u32 = 1500;

pub(super) fn mode(
    family: Family,
    index: u8,
    width: Width,
    streams: u8,
    guard: GuardInterval,
) -> Mode {
    Mode::new(family, index, width, streams, guard).expect("a mode")
}

/// 802.11n, MCS 7, 20 MHz: 65 Mbit/s.
pub(super) fn mcs_7() -> Mode {
    mode(Family::Ht, 7, Width::Mhz20, 1, GuardInterval::Ns800)
}

const fn standard_of(family: Family) -> Standard {
    match family {
        Family::Vht => Standard::Ac,
        Family::He => Standard::Ax,
        _ => Standard::N,
    }
}

pub(super) fn config(stations: u32, mode: Mode) -> EdcaConfig {
    let phy = Phy::in_modes(standard_of(mode.family()), mode, BasicRates::OFDM).expect("a PHY");
    let queueing = QueueingConfig {
        scheme: Queueing::Fifo,
        limit: QueueLimit::Unlimited,
        discipline: Discipline::DropTail,
    };
    let windows = phy.contention_window();
    EdcaConfig {
        station_modes: Vec::new(),
        rate_control: Vec::new(),
        stations,
        categories: vec![AccessCategory::BestEffort],
        access: AccessCategory::ALL.map(|category| AccessParameters::usual(category, windows)),
        mobile_retry_limit: RetryLimit::Unlimited,
        access_point_retry_limit: RetryLimit::Unlimited,
        station_retry_limits: StationRetryLimits::default(),
        ampdu: AmpduLimits {
            mpdus: 256,
            bytes: mode.family().max_ampdu_bytes(),
            time: MAX_TIME,
            amsdu: 0,
        },
        block_ack: BlockAckConfig {
            window: 64,
            reorder_timeout: Duration::from_millis(100),
            requests: false,
            hands_on_each: false,
        },
        rts_threshold: None,
        protection: None,
        collisions_are_energy: false,
        answer_timeout: None,
        overhead: QOS_OVERHEAD,
        mobile: queueing,
        access_point: queueing,
        damage: DamageConfig::default(),
        report_retries: false,
        phy,
    }
}

pub(super) fn offer(flow: u32, bytes: u32) -> Offer {
    Offer {
        bytes,
        flow,
        class: PacketClass::Data,
        urgency: None,
    }
}

pub(super) fn losing(rate: f64) -> DamageConfig {
    DamageConfig {
        model: ErrorModel::Independent(Probability::new(rate).expect("a probability")),
        ..DamageConfig::default()
    }
}

pub(super) fn attempts(limit: u32) -> RetryLimit {
    RetryLimit::Attempts(NonZeroU32::new(limit).expect("one at least"))
}

/// The results of backlogged stations.
pub(super) struct Saturation {
    /// Packets delivered, by the flow that they are of.
    pub delivered: Vec<u64>,
    pub seconds: f64,
    pub counters: Vec<AggregationCounters>,
    /// The ways at the end.
    pub views: Vec<AggregationView>,
}

impl Saturation {
    pub(super) fn megabits(&self, flow: usize, bytes: u32) -> f64 {
        self.delivered[flow] as f64 * f64::from(bytes) * 8.0 / self.seconds / 1e6
    }

    pub(super) fn all_megabits(&self, bytes: u32) -> f64 {
        let all = 0..self.delivered.len();
        all.map(|flow| self.megabits(flow, bytes)).sum()
    }
}

/// Simulates flows that always have packets, each over a way from a station to another.
pub(super) fn saturate(
    config: &EdcaConfig,
    ways: &[(u32, u32)],
    bytes: u32,
    seconds: u64,
    seed: u64,
) -> Saturation {
    /// Enough to fill two aggregates.
    const BACKLOG: u32 = 600;
    let mut bss: Edca<usize> = Edca::new(config, Stream::new(seed, "wlan")).unwrap();
    for (flow, &(from, to)) in ways.iter().enumerate() {
        for _ in 0..BACKLOG {
            bss.push(
                Instant::ZERO,
                (from, to),
                offer(flow as u32, bytes),
                flow,
                &mut (),
            );
        }
    }
    let end = Instant::ZERO + Duration::from_secs(seconds);
    let mut delivered = vec![0; ways.len()];
    while bss.next_wakeup() < end {
        let now = bss.next_wakeup();
        bss.on_wakeup(now, &mut ());
        let mut again = Vec::new();
        while let Some(outcome) = bss.poll() {
            match outcome {
                Outcome::Delivered { packet, .. } => delivered[packet] += 1,
                // An acknowledged or discarded packet makes room for another.
                Outcome::Acknowledged { packet, .. }
                | Outcome::Dropped { packet }
                | Outcome::Discarded { packet, .. } => again.push(packet),
                Outcome::Retried { .. } => {}
            }
        }
        for flow in again {
            let (from, to) = ways[flow];
            bss.push(now, (from, to), offer(flow as u32, bytes), flow, &mut ());
        }
    }
    Saturation {
        delivered,
        seconds: seconds as f64,
        counters: (0..=config.stations)
            .map(|station| bss.counters(station, AccessCategory::BestEffort))
            .collect(),
        views: ways
            .iter()
            .map(|&(from, to)| bss.aggregation(from, to).unwrap())
            .collect(),
    }
}
