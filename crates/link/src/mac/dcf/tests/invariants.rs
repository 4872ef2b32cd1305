//! Invariants for any traffic of the stations.

use proptest::prelude::*;

use super::scenario::{Scenario, scenario};
use super::*;
use crate::frame::{Fate, FrameKind};
use crate::mac::history::OnAir;
use crate::scheduler::deadline::{Counted, DeadlineOrder, Weighed};

/// Scenarios in which room is short and the access point may go by deadlines.
fn crowded() -> impl Strategy<Value = Scenario> {
    let weighed = prop::sample::select(vec![Weighed::TimeLeft, Weighed::Length, Weighed::Nothing]);
    let chosen = (1_u32..6, 0_u32..6, weighed, any::<bool>());
    let order = prop::option::of(chosen.prop_map(|(most, ahead_of_fresh, weighed, drops)| {
        RetransmissionOrder::Deadline(DeadlineOrder {
            retransmissions: most,
            urgent_round_trips: 2,
            ahead_of_fresh,
            weighed,
            drops_expired: drops,
            counted: Counted::Packet,
            window_weight: Duration::from_millis(3),
        })
    }));
    let limits = vec![
        QueueLimit::Packets(0),
        QueueLimit::Packets(2),
        QueueLimit::Bytes(2000),
        QueueLimit::Unlimited,
    ];
    (scenario(), order, prop::sample::select(limits)).prop_map(|(mut scenario, order, queue)| {
        scenario.config.report_retries = true;
        scenario.config.mobile.queue = queue;
        scenario.config.access_point.queue = queue;
        scenario.config.access_point.order = order.unwrap_or_default();
        for arrival in &mut scenario.arrivals {
            arrival.expires_after = order.map(|_| Duration::from_millis(20));
        }
        scenario
    })
}

/// Every packet has one end: it is delivered, given up before it arrived, or refused.
fn is_conserved(scenario: &Scenario) -> Result<(), TestCaseError> {
    let (history, bss) = scenario.run();
    let mut ends = vec![0; scenario.arrivals.len()];
    let arrived = history.delivered.iter().map(|&(_, packet, _)| packet);
    let lost = history.discarded.iter().filter(|&&(.., arrived)| !arrived);
    let lost = lost.map(|&(packet, ..)| packet);
    for packet in arrived.chain(lost).chain(history.refused.iter().copied()) {
        ends[packet as usize] += 1;
    }
    prop_assert!(ends.iter().all(|&ends| ends == 1), "{:?}", ends);
    let delivered = history.delivered.iter().map(|&(_, packet, _)| packet);
    let delivered: Vec<u32> = delivered.collect();
    for &(packet, _, arrived) in &history.discarded {
        prop_assert_eq!(arrived, delivered.contains(&packet));
    }
    for station in 0..=scenario.config.stations {
        let counters = bss.counters(station);
        let own = |packet: u32| scenario.arrivals[packet as usize].from == station;
        let mine = history.frames.iter().filter(|sent| sent.station == station);
        let collided = mine.filter(|sent| sent.fate == Fate::Collided).count();
        let discarded = history
            .discarded
            .iter()
            .filter(|given_up| own(given_up.0))
            .count();
        let refused = history
            .refused
            .iter()
            .filter(|&&packet| own(packet))
            .count();
        let given = (0_u32..)
            .zip(&scenario.arrivals)
            .filter(|&(packet, _)| own(packet))
            .count();
        prop_assert_eq!(bss.queued_packets(station, 0), 0);
        prop_assert_eq!(counters.collisions, collided as u64);
        prop_assert_eq!(counters.discarded, discarded as u64);
        prop_assert_eq!(
            counters.acknowledged + counters.discarded,
            (given - refused) as u64
        );
    }
    Ok(())
}

/// Frames overlap only where they collide; after an idle time of SIFS comes an answer or the next
/// of an exchange, and contention only after one of DIFS at least.
fn keeps_its_distance(scenario: &Scenario) -> Result<(), TestCaseError> {
    let phy = &scenario.config.phy;
    let micros = |duration: Duration| duration.as_nanos() / 1000;
    let (sifs, difs) = (micros(phy.sifs()), micros(phy.difs()));
    let frames = scenario.run().0.frames;
    let mut busy_until = 0;
    let mut before: Option<OnAir> = None;
    for frame in frames {
        match before {
            Some(before) if before.start == frame.start => {
                prop_assert_eq!((before.fate, frame.fate), (Fate::Collided, Fate::Collided));
            }
            Some(before) if frame.start == busy_until + sifs => {
                prop_assert_eq!(before.fate, Fate::Received);
                let expected = match before.frame {
                    FrameKind::Rts => FrameKind::Cts,
                    FrameKind::Data => FrameKind::Ack,
                    FrameKind::Cts | FrameKind::Ack => FrameKind::Data,
                    of_blocks => panic!("{of_blocks:?}"),
                };
                prop_assert_eq!(frame.frame, expected);
                prop_assert!(frame.fate != Fate::Collided);
            }
            before => {
                prop_assert!(frame.start >= busy_until + difs, "{:?}", frame);
                prop_assert!(matches!(frame.frame, FrameKind::Data | FrameKind::Rts));
                // Frames received are answered.
                if let Some(before) = before {
                    let answered = before.frame == FrameKind::Ack || before.fate != Fate::Received;
                    prop_assert!(answered, "{:?}", before);
                }
            }
        }
        busy_until = busy_until.max(frame.end);
        before = Some(frame);
    }
    Ok(())
}

/// A mobile's draws do not depend on other stations: the damage to its n-th frame is the same when
/// another mobile is there and when not.
fn draws_are_its_own(scenario: &Scenario) -> Result<(), TestCaseError> {
    let mut alone = scenario.clone();
    alone.arrivals.retain(|arrival| arrival.from == 1);
    alone.config.damage.outage = None;
    let mut together = scenario.clone();
    together.config.damage.outage = None;
    let first = |scenario: &Scenario| -> Vec<bool> {
        let frames = scenario.run().0.frames.into_iter();
        frames
            .filter(|sent| sent.station == 1 && sent.frame == FrameKind::Data)
            .map(|sent| sent.fate == Fate::Damaged)
            .collect()
    };
    // A collision hides damage by the radio, and a failed frame moves the rest.
    let collides = together
        .run()
        .0
        .frames
        .iter()
        .any(|sent| sent.fate == Fate::Collided);
    if !collides {
        prop_assert_eq!(first(&alone), first(&together));
    }
    Ok(())
}

proptest! {
    #[test]
    fn packets_are_conserved(scenario in crowded()) {
        is_conserved(&scenario)?;
    }

    #[test]
    fn frames_keep_their_distance(scenario in crowded()) {
        keeps_its_distance(&scenario)?;
    }

    #[test]
    fn damage_is_a_stations_own(scenario in scenario()) {
        draws_are_its_own(&scenario)?;
    }
}
