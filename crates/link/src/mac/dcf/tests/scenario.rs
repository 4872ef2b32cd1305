//! Small random scenarios, and what a set makes of them.

use proptest::prelude::*;

use super::*;
use crate::error::ErrorModel;
use crate::frame::{Fate, FrameKind, Occupancy, Urgency};
use crate::mac::damage::Outage;
use airtcp_units::Probability;

/// A packet that a station is given; packets are named by their place in the list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) micros: u64,
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) bytes: u32,
    pub(super) class: PacketClass,
}

#[derive(Clone, Debug)]
pub(super) struct Scenario {
    pub(super) config: BssConfig,
    pub(super) arrivals: Vec<Arrival>,
    /// Time from hand-over to the expiry of a packet's timer, where known.
    pub(super) urgency: Option<Duration>,
    pub(super) seed: u64,
}

/// A frame on the air, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OnAir {
    pub(super) station: u32,
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) frame: FrameKind,
    pub(super) attempt: u32,
    pub(super) fate: Fate,
}

/// The event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct History {
    pub(super) frames: Vec<OnAir>,
    /// When each packet arrived, and after how many attempts.
    pub(super) delivered: Vec<(u64, u32, u32)>,
    /// Packet, attempts, and whether it had arrived; sorted by packet.
    pub(super) discarded: Vec<(u32, u32, bool)>,
    /// Packets for which there was no room.
    pub(super) refused: Vec<u32>,
}

pub(super) fn micros(instant: Instant) -> u64 {
    assert_eq!(instant.as_nanos() % 1000, 0, "{instant:?}");
    instant.as_nanos() / 1000
}

pub(super) fn at(micros: u64) -> Instant {
    Instant::ZERO + Duration::from_micros(micros)
}

impl ChannelObserver for History {
    fn occupied(&mut self, occupancy: &Occupancy) {
        self.frames.push(OnAir {
            station: occupancy.station,
            start: micros(occupancy.start),
            end: micros(occupancy.end),
            frame: occupancy.frame,
            attempt: occupancy.attempt,
            fate: occupancy.fate,
        });
    }
}

impl History {
    /// Frames that start in one instant have no order, nor have packets that are given up.
    pub(super) fn sort(&mut self) {
        self.frames
            .sort_by_key(|frame| (frame.start, frame.station));
        self.discarded.sort_unstable();
    }
}

impl Scenario {
    /// Runs a set until nothing is left to do; of what falls into one instant, packets come first.
    pub(super) fn run(&self) -> (History, Bss<u32>) {
        let mut bss = Bss::new(&self.config, Stream::new(self.seed, "bss")).unwrap();
        let mut history = History::default();
        for (packet, arrival) in (0_u32..).zip(&self.arrivals) {
            let now = at(arrival.micros);
            while bss.next_wakeup() < now {
                wake(&mut bss, &mut history);
            }
            let urgency = self.urgency.map(|left| Urgency {
                expires: now + left,
                round_trip: Duration::from_millis(5),
                in_flight: 0,
            });
            let offer = Offer {
                class: arrival.class,
                urgency,
                ..offer(arrival.bytes)
            };
            if !bss.push(now, (arrival.from, arrival.to), offer, packet, &mut ()) {
                history.refused.push(packet);
            }
            assert!(bss.next_wakeup() >= now, "woken in the past");
        }
        while bss.next_wakeup() < Instant::FAR_FUTURE {
            wake(&mut bss, &mut history);
        }
        history.sort();
        (history, bss)
    }
}

fn wake(bss: &mut Bss<u32>, history: &mut History) {
    let now = bss.next_wakeup();
    bss.on_wakeup(now, history);
    assert!(bss.next_wakeup() >= now, "woken in the past");
    while let Some(outcome) = bss.poll() {
        match outcome {
            Outcome::Delivered {
                packet, attempts, ..
            } => history.delivered.push((micros(now), packet, attempts)),
            Outcome::Discarded {
                packet,
                attempts,
                arrived,
                ..
            } => history.discarded.push((packet, attempts, arrived)),
            Outcome::Retried { .. } | Outcome::Acknowledged { .. } | Outcome::Dropped { .. } => {}
        }
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

fn limit() -> impl Strategy<Value = RetryLimit> {
    prop::sample::select(vec![1, 2, 4, 0]).prop_map(|attempts| {
        NonZeroU32::new(attempts).map_or(RetryLimit::Unlimited, RetryLimit::Attempts)
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
        (limit(), limit(), limit(), limit()),
        prop::sample::select(vec![None, Some(0), Some(500)]),
        prop::sample::select(vec![None, Some(256), Some(701)]),
        (prop::option::of(100..600_u64), damage()),
    )
        .prop_map(
            |((phy, stations, window), limits, rts, fragments, (timeout, damage))| BssConfig {
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
                rts_threshold: rts,
                fragmentation_threshold: fragments,
                answer_timeout: timeout.map(Duration::from_micros),
                damage,
                ..config(stations)
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
                micros,
                from,
                to,
                bytes,
                class,
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
            urgency: None,
            seed,
        })
    })
}
