//! Small random scenarios, and their histories in a set.

use proptest::prelude::*;

use super::*;
use crate::error::ErrorModel;
use crate::mac::damage::Outage;
use crate::mac::history::{Arrival, History, retry_limit, station_retry_limits};
use airtcp_units::Probability;

/// Times are in microseconds.
const TICK: Duration = Duration::from_micros(1);

#[derive(Clone, Debug)]
pub(super) struct Scenario {
    pub(super) config: BssConfig,
    pub(super) arrivals: Vec<Arrival>,
    pub(super) seed: u64,
}

pub(super) fn at(micros: u64) -> Instant {
    Instant::ZERO + TICK * micros
}

impl Scenario {
    /// Runs a set until nothing is left to do.
    pub(super) fn run(&self) -> (History, Bss<u32>) {
        let mut bss = Bss::new(&self.config, Stream::new(self.seed, "bss")).unwrap();
        let history = History::of(&mut bss, &self.arrivals, TICK);
        (history, bss)
    }

    /// The part that a second model fills in.
    pub(super) const fn untold() -> History {
        History::new(TICK)
    }
}

fn physical_layer() -> impl Strategy<Value = Phy> {
    use Preamble::{Long, Short};
    let kinds = vec![
        (Standard::B, Long, 11_000, 1_000),
        (Standard::B, Short, 11_000, 11_000),
        (Standard::B, Short, 5_500, 1_000),
        (Standard::A, Long, 6_000, 6_000),
        (Standard::A, Long, 54_000, 24_000),
        (Standard::G, Long, 54_000, 6_000),
    ];
    prop::sample::select(kinds).prop_map(|(standard, preamble, data, control)| {
        let rate = |kilobits: u64| BitRate::from_bps(kilobits * 1000);
        Phy::new(standard, preamble, rate(data), rate(control)).unwrap()
    })
}

fn damage() -> impl Strategy<Value = DamageConfig> {
    let model = prop::sample::select(vec![
        ErrorModel::None,
        ErrorModel::Independent(Probability::new(0.3).unwrap()),
        ErrorModel::Block { period: 5, lost: 2 },
    ]);
    let outage = prop::option::of(Just(Outage {
        every: Duration::from_millis(7),
        length: Duration::from_millis(2),
    }));
    (model, outage).prop_map(|(model, outage)| DamageConfig {
        model,
        outage,
        ..DamageConfig::default()
    })
}

/// Sets of up to four mobiles. A window that can hold but one number would collide for ever.
pub(super) fn configuration() -> impl Strategy<Value = BssConfig> {
    let windows = prop::sample::select(vec![(0, 7), (1, 3), (7, 7), (15, 1023)]);
    (
        (physical_layer(), 1..=4_u32, windows),
        (
            (retry_limit(), retry_limit(), retry_limit(), retry_limit()),
            station_retry_limits(),
        ),
        prop::sample::select(vec![None, Some(0), Some(500)]),
        prop::sample::select(vec![None, Some(256), Some(701)]),
        (prop::option::of(100..600_u64), damage()),
    )
        .prop_map(
            |((phy, stations, window), (limits, own), rts, fragments, (timeout, damage))| {
                BssConfig {
                    phy,
                    station_modes: Vec::new(),
                    contention_window: Some(window),
                    mobile: StationConfig {
                        short_retry_limit: limits.0,
                        long_retry_limit: limits.1,
                        ..station()
                    },
                    access_point: StationConfig {
                        short_retry_limit: limits.2,
                        long_retry_limit: limits.3,
                        ..station()
                    },
                    station_retry_limits: own,
                    rts_threshold: rts,
                    fragmentation_threshold: fragments,
                    answer_timeout: timeout.map(Duration::from_micros),
                    damage,
                    ..config(stations)
                }
            },
        )
}

fn arrivals(stations: u32) -> impl Strategy<Value = Vec<Arrival>> {
    // Many within one exchange, some in one instant, some after the channel has come to rest.
    let gap = prop_oneof![Just(0), 1..400_u64, 400..6000_u64];
    let class = prop::sample::select(vec![PacketClass::Data, PacketClass::Acknowledgment]);
    let one = (gap, 1..=stations, any::<bool>(), 40..1500_u32, class);
    prop::collection::vec(one, 1..30).prop_map(|list| {
        let mut micros = 0;
        let place = |(gap, mobile, up, bytes, class)| {
            micros += gap;
            let (from, to) = if up {
                (mobile, ACCESS_POINT)
            } else {
                (ACCESS_POINT, mobile)
            };
            Arrival {
                at: micros,
                from,
                to,
                bytes,
                flow: 0,
                class,
                expires_after: None,
            }
        };
        list.into_iter().map(place).collect()
    })
}

pub(super) fn scenario() -> impl Strategy<Value = Scenario> {
    configuration().prop_flat_map(|config| {
        (arrivals(config.stations), any::<u64>()).prop_map(move |(arrivals, seed)| Scenario {
            config: config.clone(),
            arrivals,
            seed,
        })
    })
}
