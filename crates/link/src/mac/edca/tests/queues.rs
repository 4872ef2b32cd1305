//! Who gets the air from an access point, by its queues: two fast stations and a slow one.

use super::*;
use crate::queue::FqCoDelConfig;
use crate::scheduler::airtime::AirtimeLimits;

/// Two stations at MCS 7 and one at MCS 0, 802.11n, 20 MHz, downstream.
fn anomaly(scheme: Queueing, discipline: Discipline) -> (Saturation, EdcaConfig) {
    let slow = mode(Family::Ht, 0, Width::Mhz20, 1, GuardInterval::Ns800);
    let mut config = config(3, mcs_7());
    config.station_modes = vec![mcs_7(), mcs_7(), slow];
    config.access_point = QueueingConfig {
        scheme,
        limit: QueueLimit::Unlimited,
        discipline,
    };
    let ways = [(0, 1), (0, 2), (0, 3)];
    (saturate(&config, &ways, IP_BYTES, 30, 1), config)
}

/// One queue: each station gets as many packets as the others, since the queue holds as many of
/// each, and the slow one keeps the channel for most of the time.
#[test]
fn one_queue_gives_the_slow_station_the_air() {
    let (ran, _) = anomaly(Queueing::Fifo, Discipline::DropTail);
    let [a, b, slow] = [0, 1, 2].map(|flow| ran.megabits(flow, IP_BYTES));
    println!("{a:.2}, {b:.2}, slow {slow:.2}");
    assert!(
        (a / b - 1.0).abs() < 0.02 && (a / slow - 1.0).abs() < 0.1,
        "{a}, {b}, {slow}"
    );
}

/// Airtime fairness: a third of the time each, so a third of each station's solo throughput, within
/// 1 %. The charge is the time on the air; the pauses before it, 2 % of it for long PPDUs and 3 %
/// for short ones, are not charged.
#[test]
fn airtime_is_shared_in_thirds() {
    let airtime = Queueing::Airtime(AirtimeLimits::default());
    let (ran, config) = anomaly(airtime, Discipline::DropTail);
    for (flow, &mode) in config.station_modes.iter().enumerate() {
        let alone = EdcaConfig {
            station_modes: Vec::new(),
            ..super::config(1, mode)
        };
        let alone = saturate(&alone, &[(0, 1)], IP_BYTES, 10, 1).all_megabits(IP_BYTES);
        let share = ran.megabits(flow, IP_BYTES) / alone;
        println!("{mode}: {share:.4} of {alone:.2} Mbit/s");
        assert!((share * 3.0 - 1.0).abs() < 0.01, "{mode}: {share}");
    }
}

/// In turn: an aggregate each, so the slow station's 2 MPDUs take as long as a fast one's 28.
#[test]
fn turns_share_by_aggregates() {
    let (ran, _) = anomaly(Queueing::RoundRobin, Discipline::DropTail);
    let [fast, _, slow] = [0, 1, 2].map(|flow| ran.delivered[flow] as f64);
    assert!((fast / slow / 14.0 - 1.0).abs() < 0.02, "{fast}, {slow}");
}

/// Below an FQ-CoDel the driver's queue of 64 packets stays, and packets are dropped by CoDel.
#[test]
fn a_discipline_stands_in_front_of_a_driver() {
    let driver = Queueing::Qdisc(QueueLimit::Packets(64));
    let discipline = Discipline::FqCoDel(FqCoDelConfig::default());
    let (ran, _) = anomaly(driver, discipline);
    assert!(
        ran.delivered.iter().all(|&packets| packets > 1000),
        "{:?}",
        ran.delivered
    );
}

/// With a limit of 10 packets one queue refuses the eleventh; queues of destinations drop from the
/// longest of them.
#[test]
fn a_full_queue_refuses_or_drops_from_the_longest() {
    for (scheme, admitted) in [
        (Queueing::Fifo, 10),
        (Queueing::RoundRobin, 20),
        (Queueing::Airtime(AirtimeLimits::default()), 20),
    ] {
        let mut config = config(2, mcs_7());
        config.access_point = QueueingConfig {
            scheme,
            limit: QueueLimit::Packets(10),
            discipline: Discipline::DropTail,
        };
        let mut bss: Edca<u32> = Edca::new(&config, Stream::new(1, "wlan")).unwrap();
        // 18 to the first station, and two to the second.
        let to = |packet: u32| 1 + u32::from(packet >= 18);
        let pushed = (0..20).filter(|&packet| {
            bss.push(
                Instant::ZERO,
                (0, to(packet)),
                offer(0, IP_BYTES),
                packet,
                &mut (),
            )
        });
        assert_eq!(pushed.count(), admitted, "{scheme:?}");
        assert_eq!(bss.queued_packets(0, 0), 10);
        let dropped: Vec<u32> = std::iter::from_fn(|| bss.poll())
            .map(|outcome| match outcome {
                Outcome::Dropped { packet } => packet,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(dropped.len(), admitted - 10, "{scheme:?}");
        assert!(dropped.iter().all(|&packet| packet < 18), "{dropped:?}");
    }
}

/// Far more comes for each station than fits, at the same rate for all: with one limit for all
/// their queues, each station still has a third of the air, within 1 %.
#[test]
fn a_slow_station_does_not_take_the_room_of_others() {
    let slow = mode(Family::Ht, 0, Width::Mhz20, 1, GuardInterval::Ns800);
    let mut config = config(3, mcs_7());
    config.station_modes = vec![mcs_7(), mcs_7(), slow];
    config.access_point = QueueingConfig {
        scheme: Queueing::Airtime(AirtimeLimits::default()),
        limit: QueueLimit::Packets(2000),
        discipline: Discipline::DropTail,
    };
    let mut bss: Edca<u32> = Edca::new(&config, Stream::new(1, "wlan")).unwrap();
    let airtime =
        |bss: &Edca<u32>| [1, 2, 3].map(|to| bss.aggregation(0, to).unwrap().counters.airtime);
    let mut begun = None;
    // 60 Mbit/s for each: a packet in 200 us. The queues are full after half a second.
    for place in 0..100_000_u32 {
        let now = Instant::ZERO + Duration::from_micros(200) * u64::from(place);
        while bss.next_wakeup() < now {
            let at = bss.next_wakeup();
            bss.on_wakeup(at, &mut ());
            while bss.poll().is_some() {}
        }
        for to in 1..=3 {
            bss.push(now, (0, to), offer(to, IP_BYTES), place, &mut ());
            while bss.poll().is_some() {}
        }
        if place == 10_000 {
            begun = Some(airtime(&bss));
        }
    }
    let (begun, ended) = (begun.unwrap(), airtime(&bss));
    let spent = [0, 1, 2].map(|place| (ended[place] - begun[place]).as_secs_f64());
    let all: f64 = spent.iter().sum();
    for share in spent.map(|own| own / all) {
        println!("{share:.4}");
        assert!((share * 3.0 - 1.0).abs() < 0.01, "{spent:?}");
    }
}
