//! Dynamic ARQ's order in HARQ and RLC.

use super::*;
use crate::frame::Urgency;
use crate::mac::damage::Outage;
use crate::mac::ran::urgent::Turn;
use crate::scheduler::deadline::DeadlineOrder;

const ORDER: DeadlineOrder = DeadlineOrder {
    retransmissions: 3,
    urgent_round_trips: 2,
    ahead_of_fresh: 1,
    weighed: crate::scheduler::deadline::Weighed::TimeLeft,
    drops_expired: true,
    counted: crate::scheduler::deadline::Counted::Frame,
    window_weight: Duration::ZERO,
};

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

/// A packet whose sender times out at `expires`, with a round trip of 20 ms.
fn expiring(expires: Instant) -> Offer {
    Offer {
        urgency: Some(Urgency {
            expires,
            timeout: Duration::from_millis(200),
            round_trip: Duration::from_millis(20),
            in_flight: 10,
        }),
        ..offer(1500)
    }
}

/// Slots in which nothing arrives, from 100 ms on.
fn away(slots: u64) -> Option<Outage> {
    Some(Outage {
        every: Duration::from_millis(100),
        length: Duration::from_micros(1000 * slots - 500),
    })
}

fn users(count: u64) -> Vec<Vec<Radio>> {
    (0..count)
        .map(|user| radio(40.0, Fading::None, user, 1))
        .collect()
}

/// One packet for user 1 at 100 ms; returns its fate.
fn only(config: &RanConfig, offer: Offer) -> Fate {
    let mut ran = Ran::new(config, Stream::new(1, "cell")).unwrap();
    let mut fates = Vec::new();
    while ran.next_wakeup() < at(100) {
        let now = ran.next_wakeup();
        ran.on_wakeup(now, &mut ());
    }
    assert!(ran.push(at(100), DOWN, offer, 7, &mut ()));
    while fates.is_empty() {
        let now = ran.next_wakeup();
        ran.on_wakeup(now, &mut ());
        collect(&mut ran, now, &mut fates);
    }
    fates[0]
}

/// The first transmission is at 100 ms, the second at 108 and the third at 116, and a block is
/// decoded 4 ms after it. A backlogged neighbour takes all resource blocks that are left: with the
/// order, the block that failed twice yields to new ones until two round trips before its sender's
/// timer expires, at 180 ms.
#[test]
fn a_block_that_failed_again_yields_until_it_is_urgent() {
    let plain = RanConfig {
        outage: away(9),
        saturated: 1,
        ..lte(users(2))
    };
    assert_eq!(
        only(&plain, expiring(at(180))),
        (7, at(120), End::Delivered)
    );
    let ordered = RanConfig {
        order: Some(ORDER),
        ..plain
    };
    let (_, delivered, end) = only(&ordered, expiring(at(180)));
    assert_eq!(end, End::Delivered);
    assert!((at(140)..=at(148)).contains(&delivered), "{delivered:?}");
    // Two queues ahead of new blocks, or an unknown timer: as without the order.
    let ahead = RanConfig {
        order: Some(DeadlineOrder {
            ahead_of_fresh: 2,
            ..ORDER
        }),
        ..ordered.clone()
    };
    assert_eq!(
        only(&ahead, expiring(at(180))),
        (7, at(120), End::Delivered)
    );
    assert_eq!(only(&ordered, offer(1500)), (7, at(120), End::Delivered));
}

/// The sender's timer expires at 105 ms, before the block can be repeated: it is given up in
/// unacknowledged mode, and repeated in acknowledged mode, where RLC would retransmit it.
#[test]
fn a_packet_that_its_sender_retransmits_is_given_up() {
    let acknowledged = RanConfig {
        outage: away(1),
        order: Some(ORDER),
        ..lte(users(1))
    };
    let expired = expiring(at(105));
    assert_eq!(only(&acknowledged, expired), (7, at(112), End::Delivered));
    let lossy = unacknowledged(acknowledged);
    assert_eq!(only(&lossy, expired), (7, at(108), End::Lost));
    let kept = RanConfig {
        order: Some(DeadlineOrder {
            drops_expired: false,
            ..ORDER
        }),
        ..lossy.clone()
    };
    assert_eq!(only(&kept, expired), (7, at(112), End::Delivered));
    assert_eq!(
        only(&lossy, expiring(at(400))),
        (7, at(112), End::Delivered)
    );
}

/// Most retransmissions of a block are the order's, below HARQ's own limit.
#[test]
fn the_order_has_its_own_limit_of_retransmissions() {
    let base = unacknowledged(RanConfig {
        outage: away(9),
        ..lte(users(1))
    });
    let once = |retransmissions| RanConfig {
        order: Some(DeadlineOrder {
            retransmissions,
            ..ORDER
        }),
        ..base.clone()
    };
    assert_eq!(only(&once(1), expiring(at(900))).2, End::Lost);
    assert_eq!(only(&once(2), expiring(at(900))).2, End::Delivered);
}

/// Blocks of three users fail in the same slot; they are due by their senders' timers, and the one
/// without a known timer last.
#[test]
fn failed_blocks_go_by_their_senders_timers() {
    let config = RanConfig {
        outage: away(1),
        order: Some(ORDER),
        ..lte(users(4))
    };
    let mut ran: Ran<u64> = Ran::new(&config, Stream::new(1, "cell")).unwrap();
    let offers = [
        expiring(at(900)),
        offer(1500),
        expiring(at(700)),
        expiring(at(140)),
    ];
    for (user, offer) in (1..).zip(offers) {
        assert!(ran.push(at(100), (ACCESS_POINT, user), offer, 0, &mut ()));
    }
    while ran.next_wakeup() < at(108) {
        let now = ran.next_wakeup();
        ran.on_wakeup(now, &mut ());
    }
    let due: Vec<_> = ran
        .due(at(108), ORDER, Turn::First)
        .iter()
        .map(|due| due.user)
        .collect();
    assert_eq!(due, [3, 2, 0, 1]);
    assert!(ran.due(at(108), ORDER, Turn::Last).is_empty());
}

/// Blocks of 30 packets that alternate between two senders are lost at once, without HARQ. RLC
/// retransmits first what belongs to the sender that times out first.
#[test]
fn rlc_retransmits_the_urgent_first() {
    let base = lte(users(1));
    let config = RanConfig {
        outage: away(12),
        harq: HarqConfig {
            transmissions: attempts(1),
            ..base.harq
        },
        generation: Generation::Nr,
        pdcp: PdcpConfig {
            discard: None,
            // Packets are handed on as they come.
            reordering: Duration::ZERO,
        },
        order: Some(ORDER),
        ..base
    };
    let order_of = |config: &RanConfig| {
        let mut ran = Ran::new(config, Stream::new(1, "cell")).unwrap();
        let mut fates = Vec::new();
        for packet in 0..30 {
            let expires = if packet % 2 == 0 { at(2000) } else { at(1000) };
            assert!(ran.push(at(100), DOWN, expiring(expires), packet, &mut ()));
        }
        run(&mut ran, at(400), &mut fates);
        assert_eq!(fates.len(), 30);
        let retransmitted = fates.iter().filter(|(_, when, _)| *when > at(150));
        retransmitted
            .map(|(packet, ..)| packet % 2)
            .collect::<Vec<_>>()
    };
    let ordered = order_of(&config);
    let plain = order_of(&RanConfig {
        order: None,
        ..config
    });
    // A poll that is repeated carries the last packet before anything is known to be missing.
    let urgent = |order: &[u64]| order[..15].iter().sum::<u64>();
    assert!(
        urgent(&ordered) >= 12 && urgent(&plain) <= 9,
        "{ordered:?} {plain:?}"
    );
}
