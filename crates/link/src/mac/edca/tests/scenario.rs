//! Small random cells, and their histories.

use super::*;
use crate::mac::damage::Outage;
use crate::mac::history::{Arrival, History, retry_limit, station_retry_limits};
use proptest::prelude::*;

/// Times are in nanoseconds.
const NANO: Duration = Duration::from_nanos(1);

#[derive(Clone, Debug)]
pub(super) struct Scenario {
    pub(super) config: EdcaConfig,
    pub(super) arrivals: Vec<Arrival>,
    pub(super) seed: u64,
    /// All durations are multiples of it, in nanoseconds: 1 µs, less where symbols take no whole
    /// number of them.
    pub(super) tick: u64,
}

pub(super) fn at(nanos: u64) -> Instant {
    Instant::from_nanos(nanos)
}

impl Scenario {
    /// Runs a cell until nothing is left to do.
    pub(super) fn run(&self) -> History {
        let mut bss = Edca::new(&self.config, Stream::new(self.seed, "wlan")).unwrap();
        History::of(&mut bss, &self.arrivals, NANO)
    }

    /// The part that a second model fills in.
    pub(super) const fn untold() -> History {
        History::new(NANO)
    }
}

/// Modes, and the tick of each.
fn modes() -> impl Strategy<Value = (Vec<Mode>, u64)> {
    use Family::{He, Ht, Vht};
    use GuardInterval::{Ns400, Ns800, Ns3200};
    use Width::{Mhz20, Mhz40, Mhz80};
    let slow = mode(Ht, 0, Mhz20, 1, Ns800);
    prop::sample::select(vec![
        (vec![mcs_7()], 1000),
        (vec![mcs_7(), slow], 1000),
        (
            vec![mode(Ht, 7, Mhz40, 2, Ns400), mode(Ht, 3, Mhz20, 1, Ns800)],
            1000,
        ),
        (
            vec![mode(Vht, 8, Mhz80, 1, Ns800), mode(Vht, 1, Mhz80, 1, Ns800)],
            1000,
        ),
        (vec![mode(He, 11, Mhz80, 1, Ns3200)], 1000),
        (vec![mode(He, 4, Mhz20, 1, Ns800)], 200),
    ])
}

fn damage() -> impl Strategy<Value = DamageConfig> {
    let model = prop_oneof![
        Just(ErrorModel::None),
        (0.02..0.7_f64).prop_map(|rate| losing(rate).model),
        Just(ErrorModel::Block { period: 5, lost: 2 }),
    ];
    // Long enough apart for the longest PPDU.
    let outage = prop::option::of(Just(Outage {
        every: Duration::from_millis(17),
        length: Duration::from_millis(2),
    }));
    (model, outage).prop_map(|(model, outage)| DamageConfig {
        model,
        outage,
        ..DamageConfig::default()
    })
}

/// How each category contends: by the table, all alike with short windows, or with TXOPs. A window
/// that can hold but one number would collide for ever.
fn access() -> impl Strategy<Value = [AccessParameters; 4]> {
    let windows = prop::sample::select(vec![(0, 7), (1, 3), (7, 7), (15, 1023)]);
    let txop = prop::sample::select(vec![None, Some(0), Some(300), Some(1504)]);
    (windows, txop, any::<bool>()).prop_map(|((smallest, largest), txop, usual)| {
        AccessCategory::ALL.map(|category| {
            let mut own = AccessParameters::usual(category, (15, 1023));
            if !usual {
                (own.smallest_window, own.largest_window) = (smallest, largest);
            }
            if let Some(micros) = txop {
                own.txop_limit = Duration::from_micros(micros);
            }
            own
        })
    })
}

fn categories() -> impl Strategy<Value = Vec<AccessCategory>> {
    use AccessCategory::{Background, BestEffort, Video, Voice};
    prop::sample::select(vec![
        vec![BestEffort],
        vec![Voice, Background],
        vec![Video, BestEffort],
        AccessCategory::ALL.to_vec(),
    ])
}

/// Cells of up to four mobiles, so two to five stations.
fn configuration() -> impl Strategy<Value = (EdcaConfig, u64)> {
    let windows = prop::sample::select(vec![4, 8, 16, 64, 256]);
    let most = prop::sample::select(vec![1, 3, 32, 256]);
    let reorder = prop::sample::select(vec![3, 100]);
    (
        (modes(), 1..=4_u32, categories(), access()),
        (
            (retry_limit(), retry_limit(), station_retry_limits()),
            windows,
            most,
            reorder,
            any::<bool>(),
        ),
        (
            prop::sample::select(vec![None, Some(0), Some(2000)]),
            prop::option::of(prop::sample::select(vec![3, 40])),
            prop::option::of(100..600_u64),
            damage(),
        ),
    )
        .prop_map(
            |(
                ((modes, tick), stations, categories, access),
                ((mobile, access_point, own), window, mpdus, reorder, requests),
                (rts_threshold, queue, timeout, damage),
            )| {
                let mut config = EdcaConfig {
                    access,
                    categories,
                    mobile_retry_limit: mobile,
                    access_point_retry_limit: access_point,
                    station_retry_limits: own,
                    block_ack: BlockAckConfig {
                        window,
                        reorder_timeout: Duration::from_millis(reorder),
                        requests,
                        hands_on_each: false,
                    },
                    rts_threshold,
                    collisions_are_energy: false,
                    answer_timeout: timeout.map(Duration::from_micros),
                    damage,
                    ..config(stations, modes[0])
                };
                config.ampdu.mpdus = mpdus;
                if stations as usize >= modes.len() {
                    config.station_modes = modes;
                }
                // The next PPDU of a TXOP is put together when the last one has ended, and leaves
                // room then; without TXOPs that is when it starts.
                let has_txops = access.iter().any(|own| own.txop_limit > Duration::ZERO);
                if let Some(packets) = queue
                    && !has_txops
                {
                    config.mobile.limit = QueueLimit::Packets(packets);
                    config.access_point.limit = QueueLimit::Packets(packets);
                }
                (config, tick)
            },
        )
}

fn arrivals(stations: u32, tick: u64) -> impl Strategy<Value = Vec<Arrival>> {
    // Many within one exchange, some in one instant, some after the channel has come to rest.
    let gap = prop_oneof![Just(0), 1..400_u64, 400..6000_u64];
    let class = prop::sample::select(vec![PacketClass::Data, PacketClass::Acknowledgment]);
    let count = prop_oneof![6 => 1..4_usize, 3 => 4..40_usize, 1 => 40..300_usize];
    let way = (1..=stations, any::<bool>(), 0..4_u32, class);
    let bytes = prop_oneof![40..100_u32, 40..1500_u32];
    prop::collection::vec((gap, way, count, bytes), 1..12).prop_map(move |bursts| {
        let mut now = 0;
        let mut all = Vec::new();
        for (gap, (mobile, up, flow, class), count, bytes) in bursts {
            now += gap * 1000 / tick * tick;
            let (from, to) = if up {
                (mobile, ACCESS_POINT)
            } else {
                (ACCESS_POINT, mobile)
            };
            // Long packets do not come by the hundred: a case is to be short.
            let count = if bytes > 100 { count.min(30) } else { count };
            all.extend((0..count as u32).map(|place| Arrival {
                at: now,
                from,
                to,
                bytes: bytes + place % 3,
                flow,
                class,
                expires_after: None,
            }));
        }
        all
    })
}

pub(super) fn scenario() -> impl Strategy<Value = Scenario> {
    configuration().prop_flat_map(|(config, tick)| {
        (arrivals(config.stations, tick), any::<u64>()).prop_map(move |(arrivals, seed)| Scenario {
            config: config.clone(),
            arrivals,
            seed,
            tick,
        })
    })
}
