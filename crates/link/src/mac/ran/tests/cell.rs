//! The downlink: throughput, order, and what RLC, HARQ and PDCP repair.

use super::*;

fn all_at_once(packets: usize) -> Vec<Instant> {
    vec![Instant::ZERO; packets]
}

fn numbers(fates: &[Fate], end: End) -> Vec<u64> {
    let ended = fates.iter().filter(|(.., how)| *how == end);
    ended.map(|(packet, ..)| *packet).collect()
}

/// An undisturbed channel: CQI 15, 50 resource blocks of 120 elements, the largest block within
/// 5.5547 bits for each: 31704 bits a millisecond. 2000 packets of 1502 bytes of PDCP, 8 bytes for
/// RLC and MAC in a block and 2 for each packet boundary.
#[test]
fn throughput_is_that_of_the_transport_blocks() {
    let config = lte(vec![radio(40.0, Fading::None, 0, 1)]);
    let fates = transfer(&config, DOWN, &all_at_once(2000));
    assert!(numbers(&fates, End::Delivered).into_iter().eq(0..2000));
    let last = fates[1999].1.as_nanos() as f64 / 1e6;
    // The first is decoded after 4 ms.
    let expected = 2000.0 * 1503.7 / (31_704.0 / 8.0 - 8.0) + 4.0;
    assert!((last - expected).abs() < 3.0, "{last} {expected}");
}

/// First transmissions fail with 10 % by the outer loop, at any signal, and everything arrives in
/// order.
#[test]
fn the_outer_loop_keeps_to_ten_percent() {
    for (standard, snr_db) in [(0, 6.0), (0, 17.3), (1, 3.0), (1, 12.0)] {
        let radios = vec![radio(snr_db, Fading::None, 0, 1)];
        let base = if standard == 0 {
            lte(radios)
        } else {
            nr(radios)
        };
        let config = RanConfig {
            outer_loop: OuterLoopConfig {
                step_db: 0.01,
                ..base.outer_loop
            },
            saturated: 1,
            ..base
        };
        let mut ran: Ran<u64> = Ran::new(&config, Stream::new(1, "cell")).unwrap();
        let seconds = Instant::ZERO + Duration::from_secs(60);
        run(&mut ran, seconds, &mut Vec::new());
        let (decoded, failed) = ran.first_transmissions(1);
        let rate = failed as f64 / (decoded + failed) as f64;
        assert!((rate - 0.1).abs() < 0.01, "{standard} {snr_db}: {rate}");
    }
}

/// Half of the negative acknowledgments are misread: RLC finds the holes by its receiver's timer
/// and closes them; packets arrive in order, without loss.
#[test]
fn rlc_retransmits_what_harq_does_not() {
    for base in [
        lte(vec![radio(10.0, Fading::Independent, 0, 1)]),
        nr(vec![radio(10.0, Fading::Independent, 0, 4)]),
    ] {
        let base_pdcp = base.pdcp;
        let config = RanConfig {
            cqi: CqiConfig {
                period: NonZeroU32::new(5).unwrap(),
                delay: 4,
            },
            harq: HarqConfig {
                nack_to_ack: Probability::new(0.5).unwrap(),
                ..base.harq
            },
            pdcp: PdcpConfig {
                reordering: Duration::from_secs(5),
                ..base.pdcp
            },
            ..base
        };
        let fates = transfer(&config, DOWN, &all_at_once(3000));
        assert!(numbers(&fates, End::Delivered).into_iter().eq(0..3000));
        let fates = transfer(&config, UP, &all_at_once(3000));
        assert!(numbers(&fates, End::Delivered).into_iter().eq(0..3000));
        if config.generation == Generation::Nr {
            // PDCP's receiver waits for 50 ms, less than RLC takes: it discards what comes late.
            let hasty = RanConfig {
                pdcp: base_pdcp,
                ..config.clone()
            };
            let fates = transfer(&hasty, DOWN, &all_at_once(3000));
            assert!(numbers(&fates, End::Delivered).is_sorted());
            assert!(numbers(&fates, End::Lost).len() > 100);
        }
        let lossy = unacknowledged(config);
        for way in [DOWN, UP] {
            let fates = transfer(&lossy, way, &all_at_once(3000));
            let delivered = numbers(&fates, End::Delivered);
            let lost = numbers(&fates, End::Lost);
            assert!(delivered.is_sorted(), "order is kept");
            assert!(lost.len() > 100, "{}", lost.len());
            assert_eq!(delivered.len() + lost.len(), 3000);
        }
    }
}

/// A block that is lost delays those after it by `t-Reordering`, the status and the retransmission:
/// a spike of 50 to 70 ms, not a loss.
#[test]
fn a_hole_is_a_delay_of_the_reordering_timer() {
    let base = lte(vec![radio(40.0, Fading::None, 0, 1)]);
    let times: Vec<_> = (0..400)
        .map(|n| Instant::ZERO + Duration::from_millis(2 * n))
        .collect();
    let config = RanConfig {
        // One outage of 0.5 ms, at 300 ms: the block of that slot has no second transmission.
        outage: Some(crate::mac::damage::Outage {
            every: Duration::from_micros(300_200),
            length: Duration::from_micros(500),
        }),
        harq: HarqConfig {
            transmissions: attempts(1),
            ..base.harq
        },
        ..base
    };
    let fates = transfer(&config, DOWN, &times);
    assert!(numbers(&fates, End::Delivered).into_iter().eq(0..400));
    let longest = fates
        .iter()
        .map(|(packet, at, _)| *at - times[*packet as usize]);
    let longest = longest.max().unwrap().as_millis_f64();
    // 4 ms of the block, at most 2 ms until the next packet, the timer, 5 ms to 15 ms for the
    // status's scheduling request, 12 ms for it, 5 ms for the retransmission.
    assert!((70.0..95.0).contains(&longest), "{longest}");
}

/// `discardTimer` of 100 ms: a queue of a second is cut to it, and dropped packets leave no gap.
#[test]
fn packets_that_waited_too_long_are_discarded() {
    let base = lte(vec![radio(40.0, Fading::None, 0, 1)]);
    let config = RanConfig {
        pdcp: PdcpConfig {
            discard: Some(Duration::from_millis(100)),
            ..base.pdcp
        },
        ..base
    };
    let fates = transfer(&config, DOWN, &all_at_once(2000));
    let delivered = numbers(&fates, End::Delivered);
    let dropped = numbers(&fates, End::Dropped);
    assert!(delivered.is_sorted() && delivered.len() + dropped.len() == 2000);
    // 101 blocks of 31704 bits.
    let sent = 101.0 * (31_704.0 / 8.0 - 8.0) / 1504.0;
    assert!(
        (delivered.len() as f64 - sent).abs() < 4.0,
        "{}",
        delivered.len()
    );
}

/// A window of 4 numbers: 4 blocks, then the wait for a status.
#[test]
fn a_full_window_stalls() {
    let base = lte(vec![radio(40.0, Fading::None, 0, 1)]);
    let narrow = RanConfig {
        rlc: RlcConfig {
            window: NonZeroU32::new(4).unwrap(),
            status_prohibit: Duration::ZERO,
            ..base.rlc
        },
        ..base.clone()
    };
    let last = |config: &RanConfig| transfer(config, DOWN, &all_at_once(500)).pop().unwrap().1;
    let (wide, narrow) = (last(&base), last(&narrow));
    assert!(
        narrow - Instant::ZERO > (wide - Instant::ZERO) * 3,
        "{narrow:?} {wide:?}"
    );
}

/// At a handover each packet is delivered once and in order without loss, or those in transit are
/// lost; the gap is seen by all.
#[test]
fn a_handover_delays_or_loses() {
    for base in [
        lte(vec![radio(20.0, Fading::None, 0, 1)]),
        nr(vec![radio(20.0, Fading::None, 0, 1)]),
    ] {
        let times: Vec<_> = (0..2000)
            .map(|n| Instant::ZERO + Duration::from_millis(1) * n)
            .collect();
        let handover = |is_lossless| super::super::config::HandoverConfig {
            every: Duration::from_millis(700),
            gap: Duration::from_millis(50),
            is_lossless,
        };
        let lossless = RanConfig {
            handover: Some(handover(true)),
            ..base.clone()
        };
        for way in [DOWN, UP] {
            let fates = transfer(&lossless, way, &times);
            assert!(
                numbers(&fates, End::Delivered).into_iter().eq(0..2000),
                "{way:?}"
            );
            let longest = fates
                .iter()
                .map(|(packet, at, _)| *at - times[*packet as usize]);
            let longest = longest.max().unwrap().as_millis_f64();
            assert!((50.0..90.0).contains(&longest), "{longest}");
            let lossy = RanConfig {
                handover: Some(handover(false)),
                ..base.clone()
            };
            let fates = transfer(&lossy, way, &times);
            let (delivered, lost) = (numbers(&fates, End::Delivered), numbers(&fates, End::Lost));
            assert_eq!(delivered.len() + lost.len(), 2000);
            assert!(delivered.is_sorted());
            assert!((4..80).contains(&lost.len()), "{}", lost.len());
        }
    }
}

/// A packet that comes to a cell at rest during the gap waits for its end, and one after it does
/// not.
#[test]
fn a_handover_is_met_by_a_packet_that_comes_during_it() {
    let config = RanConfig {
        handover: Some(crate::mac::ran::config::HandoverConfig {
            every: Duration::from_secs(1),
            gap: Duration::from_millis(50),
            is_lossless: true,
        }),
        ..lte(vec![radio(30.0, Fading::None, 0, 1)])
    };
    let times = [1020, 2060].map(|millis| Instant::ZERO + Duration::from_millis(millis));
    let fates = transfer(&config, DOWN, &times);
    let delays: Vec<_> = fates
        .iter()
        .zip(times)
        .map(|((_, at, _), from)| *at - from)
        .collect();
    assert_eq!(delays, [34, 4].map(Duration::from_millis));
}

/// No signal at all for a second: RLC gives up after its retransmissions, the radio link fails, and
/// the connection is re-established; no packet is lost in acknowledged mode.
#[test]
fn a_failed_radio_link_is_established_anew() {
    let base = lte(vec![radio(20.0, Fading::None, 0, 1)]);
    let config = RanConfig {
        outage: Some(crate::mac::damage::Outage {
            every: Duration::from_secs(2),
            length: Duration::from_millis(1500),
        }),
        rlc: RlcConfig {
            max_retransmissions: attempts(2),
            ..base.rlc
        },
        ..base
    };
    let times: Vec<_> = (0..3000)
        .map(|n| Instant::ZERO + Duration::from_millis(1) * n)
        .collect();
    let fates = transfer(&config, DOWN, &times);
    assert!(numbers(&fates, End::Delivered).into_iter().eq(0..3000));
}

/// A cell at rest has nothing to do, and begins with the next slot.
#[test]
fn an_idle_cell_sleeps() {
    let config = lte(vec![radio(20.0, Fading::None, 0, 1)]);
    let mut ran = Ran::new(&config, Stream::new(1, "cell")).unwrap();
    assert_eq!(ran.next_wakeup(), Instant::FAR_FUTURE);
    let at = Instant::from_nanos(1_000_000_001);
    assert!(ran.push(at, DOWN, offer(1500), 7, &mut ()));
    assert_eq!(ran.next_wakeup(), Instant::from_nanos(1_001_000_000));
    assert!(
        !ran.push(at, (ACCESS_POINT, 2), offer(1500), 8, &mut ()),
        "no such user"
    );
    let mut fates = Vec::new();
    run(&mut ran, Instant::ZERO + Duration::from_secs(9), &mut fates);
    assert_eq!(
        fates,
        [(7, Instant::from_nanos(1_005_000_000), End::Delivered)]
    );
    assert_eq!(ran.next_wakeup(), Instant::FAR_FUTURE);
}

#[test]
fn invalid_configurations_are_refused() {
    let base = || lte(vec![radio(20.0, Fading::None, 0, 1)]);
    let refused = |config: RanConfig| config.check().unwrap_err().to_string();
    let still = FrameStructure {
        slot: Duration::ZERO,
        ..base().frame
    };
    assert_eq!(
        refused(RanConfig {
            frame: still,
            ..base()
        }),
        "a slot of 0 s; expected more"
    );
    let deaf = FrameStructure {
        pattern: vec![SlotDirection::Down],
        ..base().frame
    };
    assert_eq!(
        refused(RanConfig {
            frame: deaf,
            ..base()
        }),
        "a pattern without a slot in each direction; expected at least one D and one U"
    );
    let nobody = RanConfig {
        radios: Vec::new(),
        ..base()
    };
    assert_eq!(refused(nobody), "no user; expected at least one");
    let hasty = Scheduler::ProportionalFair { time_constant: 0.5 };
    assert_eq!(
        refused(RanConfig {
            scheduler: hasty,
            ..base()
        }),
        "a time constant of 0.5 slots; expected at least 1"
    );
}
