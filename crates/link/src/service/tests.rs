//! The servers against naive models that take one small step after the other.

use super::*;
use proptest::prelude::*;

/// A packet that comes `gap` after the one before it.
#[derive(Clone, Copy, Debug)]
struct Coming {
    gap: u64,
    bytes: u32,
}

fn coming(
    gap: impl Strategy<Value = u64>,
    bytes: impl Strategy<Value = u32>,
) -> impl Strategy<Value = Vec<Coming>> {
    let one = (gap, bytes).prop_map(|(gap, bytes)| Coming { gap, bytes });
    proptest::collection::vec(one, 1..60)
}

/// Arrival instants in nanoseconds, with sizes.
fn at_instants(packets: &[Coming]) -> Vec<(u64, u32)> {
    let mut now = 0;
    let at = |packet: &Coming| {
        now += packet.gap;
        (now, packet.bytes)
    };
    packets.iter().map(at).collect()
}

/// When the queue lets go of each packet, and when its last byte is on the link.
fn served(service: Service, arrivals: &[(u64, u32)]) -> Vec<(u64, u64)> {
    let mut server = Server::new(service, Stream::new(1, "service"));
    let serve = |&(at, bytes): &(u64, u32)| {
        let start = server.next_start(Instant::from_nanos(at));
        assert!(start.as_nanos() >= at);
        (start.as_nanos(), server.serve(start, bytes).as_nanos())
    };
    arrivals.iter().map(serve).collect()
}

fn departures(service: Service, arrivals: &[(u64, u32)]) -> Vec<u64> {
    served(service, arrivals)
        .into_iter()
        .map(|(_, departure)| departure)
        .collect()
}

/// One byte takes one nanosecond.
const BYTE_A_NANO: BitRate = BitRate::from_bps(8_000_000_000);

/// Serves first in, first out, nanosecond by nanosecond, unless the link stops.
fn step_by_step(every: u64, length: u64, arrivals: &[(u64, u32)], horizon: u64) -> Vec<u64> {
    let mut departures = Vec::new();
    let mut left = arrivals[0].1;
    for nano in 0..horizon {
        let stopped = nano >= every && nano % every < length;
        if departures.len() == arrivals.len() || arrivals[departures.len()].0 > nano || stopped {
            continue;
        }
        left -= 1;
        if left == 0 {
            departures.push(nano + 1);
            left = arrivals.get(departures.len()).map_or(0, |next| next.1);
        }
    }
    departures.resize(arrivals.len(), u64::MAX);
    departures
}

proptest! {
    #[test]
    fn suspended_is_the_rate_integrated_step_by_step(
        packets in coming(prop_oneof![0..4_u64, 0..700_u64], 1..150_u32),
        every in 1..200_u64,
        share in 0..=100_u64,
    ) {
        let length = every * share / 100;
        let arrivals = at_instants(&packets);
        let work: u64 = arrivals.iter().map(|packet| u64::from(packet.1)).sum();
        let horizon = arrivals[arrivals.len() - 1].0 + (work + 2) * (every + 1);
        let service = Service::Suspended {
            rate: BYTE_A_NANO,
            stops: Stops::Periodic {
                every: Duration::from_nanos(every),
                length: Duration::from_nanos(length),
            },
        };
        let expected = step_by_step(every, length, &arrivals, horizon);
        prop_assert_eq!(departures(service, &arrivals), expected);
    }

    #[test]
    fn constant_is_a_link_that_never_stops(packets in coming(0..300_u64, 1..150_u32)) {
        let arrivals = at_instants(&packets);
        let expected = step_by_step(u64::MAX, 0, &arrivals, 60 * 450);
        prop_assert_eq!(departures(Service::Constant(BYTE_A_NANO), &arrivals), expected);
    }

    #[test]
    fn mahimahi_is_the_trace_replayed_millisecond_by_millisecond(
        packets in coming(
            prop_oneof![0..3_000_000_u64, 0..200_u64, 0..90_000_000_u64],
            prop_oneof![1..1501_u32, Just(1500), Just(40), 1..5000_u32],
        ),
        whole_milliseconds: bool,
        gaps in proptest::collection::vec(prop_oneof![Just(0_u32), 0..4_u32, 0..60_u32], 1..30),
        start in 0..3_u32,
    ) {
        let mut at = start;
        let mut timestamps: Vec<u32> = gaps.iter().map(|gap| { at += gap; at }).collect();
        timestamps.push(at.max(1));
        let mut arrivals = at_instants(&packets);
        if whole_milliseconds {
            // Packets that come in the very instant of an opportunity.
            arrivals.iter_mut().for_each(|packet| packet.0 -= packet.0 % 1_000_000);
        }
        let text: String = timestamps.iter().map(|ms| format!("{ms}\n")).collect();
        let trace = MahimahiTrace::parse(text.as_bytes(), "generated").unwrap();
        let expected = replay(&timestamps, &arrivals);
        prop_assert_eq!(served(Service::Mahimahi(Arc::new(trace)), &arrivals), expected);
    }
}

/// Behaviour of mahimahi's link: at each opportunity, first in, first out, at most 1500 bytes of
/// the packets that had arrived before that instant.
fn replay(timestamps: &[u32], arrivals: &[(u64, u32)]) -> Vec<(u64, u64)> {
    let period = u64::from(timestamps[timestamps.len() - 1]);
    let mut departures = Vec::new();
    let mut start = None;
    let mut left = arrivals[0].1;
    let mut ms = 0;
    while departures.len() < arrivals.len() {
        // A lap's last opportunity and the next lap's first may fall together.
        let of_lap = timestamps
            .iter()
            .filter(|&&t| u64::from(t) == ms % period && ms % period > 0);
        let at_seam = timestamps
            .iter()
            .filter(|&&t| ms > 0 && ms % period == 0 && u64::from(t) == period);
        let at_start = timestamps.iter().filter(|&&t| ms % period == 0 && t == 0);
        for _ in 0..of_lap.count() + at_seam.count() + at_start.count() {
            let mut capacity = 1500;
            while capacity > 0
                && departures.len() < arrivals.len()
                && arrivals[departures.len()].0 < ms * 1_000_000
            {
                let began = *start.get_or_insert(ms * 1_000_000);
                let sent = left.min(capacity);
                left -= sent;
                capacity -= sent;
                if left == 0 {
                    departures.push((began, ms * 1_000_000));
                    start = None;
                    left = arrivals.get(departures.len()).map_or(0, |next| next.1);
                }
            }
        }
        ms += 1;
    }
    departures
}

/// A trace of light opportunities: trains at 0, 100 and 200 ms, of which the last is the period.
const LIGHT: &str = "0 20 0 1 1\n100 21 0 5\n200 20 0\n";
/// Its trains: start, base delay and offsets.
const TRAINS: [(u64, u64, &[u64]); 3] = [(0, 20, &[0, 1, 1]), (100, 21, &[0, 5]), (200, 20, &[0])];
const MS: u64 = 1_000_000;

/// A packet a millisecond when it is loaded.
fn load_dependent() -> Service {
    Service::LoadDependent {
        heavy: Arc::new(MahimahiTrace::parse(b"1\n", "heavy").unwrap()),
        light: Arc::new(LightTrace::parse(LIGHT.as_bytes(), "light").unwrap()),
    }
}

/// The rule of the paper's section 4 over explicit lists: a packet that finds the link idle begins
/// a train, after which every whole millisecond is an opportunity.
fn replay_by_load(arrivals: &[(u64, u32)]) -> Vec<(u64, u64)> {
    let mut found: Vec<(u64, u64)> = Vec::new();
    // Time, bytes that are left, and whether it waits for packets instead of passing.
    let mut opportunities: Vec<(u64, u32, bool)> = Vec::new();
    let mut idle_from = 0;
    let mut base = 0;
    for &(at, bytes) in arrivals {
        if idle_from <= at {
            let within = at % (200 * MS);
            let train = TRAINS.iter().rfind(|(sent, ..)| sent * MS <= within);
            let (_, base_ms, offsets) = train.unwrap();
            base = base_ms * MS;
            let light = offsets.iter().map(|ms| (at + ms * MS, 1400, true));
            opportunities = light.collect();
            let end = opportunities[opportunities.len() - 1].0;
            let heavy = (1..3000).map(|ms| ((end / MS + ms) * MS, 1500, false));
            opportunities.extend(heavy);
        }
        opportunities.retain(|&(due, left, waits)| left > 0 && (waits || due > at));
        let start = opportunities[0].0.max(at);
        let mut remaining = bytes;
        for (due, left, _) in &mut opportunities {
            let taken = remaining.min(*left);
            (remaining, *left) = (remaining - taken, *left - taken);
            if remaining == 0 {
                found.push((start, start.max(*due)));
                idle_from = start.max(*due) + base;
                break;
            }
        }
    }
    found
}

/// The same link is a ping's and a download's: a lone packet leaves at once, a burst as recorded
/// after a pause, and what follows at the rate of a saturated link.
#[test]
fn a_burst_after_a_pause_is_served_otherwise() {
    let departures = |arrivals: &[(u64, u32)]| {
        let all = departures(load_dependent(), arrivals);
        all.iter().map(|nanos| nanos / MS).collect::<Vec<_>>()
    };
    assert_eq!(departures(&[(10 * MS, 64)]), [10]);
    assert_eq!(departures(&[(10 * MS, 1400); 5]), [10, 11, 11, 12, 13]);
    assert_eq!(departures(&[(110 * MS, 1400); 3]), [110, 115, 116]);
    // After two laps and a half.
    assert_eq!(departures(&[(510 * MS, 1400); 3]), [510, 515, 516]);
    // The last packet arrives at 32 ms: the link is idle again.
    let both = |second| [[(10 * MS, 1400); 4], [(second, 1400); 4]].concat();
    let loaded = [10, 11, 11, 12, 32, 33, 34, 35];
    assert_eq!(departures(&both(32 * MS - 1)), loaded);
    let idle = [10, 11, 11, 12, 32, 33, 33, 34];
    assert_eq!(departures(&both(32 * MS)), idle);
}

proptest! {
    #[test]
    fn load_dependent_is_the_rule_over_explicit_lists(
        packets in coming(
            prop_oneof![0..3_000_000_u64, 0..200_u64, 0..90_000_000_u64],
            prop_oneof![1..1501_u32, Just(1400), Just(40), 1..5000_u32],
        ),
    ) {
        let arrivals = at_instants(&packets);
        prop_assert_eq!(served(load_dependent(), &arrivals), replay_by_load(&arrivals));
    }
}

#[test]
fn unlimited_takes_no_time() {
    assert_eq!(
        departures(Service::Unlimited, &[(5, 1500), (5, 40), (9, 1)]),
        [5, 5, 9]
    );
}

/// Servers must come to an answer at the end of time as everywhere else.
#[test]
fn the_far_future_is_no_trap() {
    let trace = Arc::new(MahimahiTrace::parse(b"0\n3\n", "short").unwrap());
    let stop = Duration::from_millis(1);
    let services = [
        load_dependent(),
        Service::Mahimahi(trace),
        Service::Constant(BitRate::from_bps(0)),
        Service::Suspended {
            rate: BitRate::from_bps(1),
            stops: Stops::Periodic {
                every: stop * 2,
                length: stop,
            },
        },
        Service::Suspended {
            rate: BYTE_A_NANO,
            stops: Stops::Periodic {
                every: Duration::ZERO,
                length: stop,
            },
        },
        Service::Suspended {
            rate: BYTE_A_NANO,
            stops: Stops::Periodic {
                every: Duration::MAX,
                length: Duration::MAX,
            },
        },
    ];
    let end = u64::MAX - 10;
    for service in services {
        let all = departures(service.clone(), &[(end, 1500), (end, 4000), (u64::MAX, 1)]);
        assert_eq!(all[2], u64::MAX, "{service:?}");
    }
}

/// A link that stops permanently at 100 ns carries packets that end by then, and no packet that
/// would end later.
#[test]
fn the_last_byte_before_a_stop_without_end_is_carried() {
    let service = || Service::Suspended {
        rate: BYTE_A_NANO,
        stops: Stops::Periodic {
            every: Duration::from_nanos(100),
            length: Duration::from_nanos(100),
        },
    };
    assert_eq!(departures(service(), &[(60, 40)]), [100]);
    assert_eq!(departures(service(), &[(60, 41)]), [u64::MAX]);
}
