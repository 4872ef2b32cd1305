//! Invariants of every rule for any segments.

use std::num::NonZeroU64;

use airtcp_packet::Timestamps;
use airtcp_units::Probability;
use proptest::prelude::*;

use super::super::*;
use super::bench::constant;
use crate::agent::flow_table::DEFAULT_FLOW_LIMIT;

/// The longest that each rule below may hold.
const MAX: Duration = Duration::from_millis(100);

fn rules() -> impl Strategy<Value = DelayRule> {
    let adaptive = (any::<bool>(), any::<bool>()).prop_map(|(known, all)| {
        DelayRule::Adaptive(AdaptiveDelay {
            clock_offset: if known {
                ClockOffset::Synchronised
            } else {
                ClockOffset::default()
            },
            average: if all {
                Average::AllAcknowledgments
            } else {
                Average::NoSpikes
            },
            longest_delay: MAX,
            ..AdaptiveDelay::default()
        })
    });
    let every = prop_oneof![
        (1_u64..4).prop_map(|n| Distance::Acknowledgments(NonZeroU64::new(n).unwrap())),
        (0_u64..50).prop_map(|n| Distance::Time(Duration::from_millis(n))),
        (0.0..1.0).prop_map(|chance| Distance::Chance(Probability::new(chance).unwrap())),
    ];
    let fixed = every
        .clone()
        .prop_map(|every| constant(StaticDelay { delay: MAX, every }));
    let random = (any::<u64>(), every).prop_map(|(seed, every)| DelayRule::Random {
        delay: RandomDelay {
            mean: MAX / 2,
            every,
        },
        draws: Stream::new(seed, "agent.delay"),
    });
    prop_oneof![adaptive, fixed, random]
}

/// Any segment, mostly plain acknowledgments and data.
fn segments() -> impl Strategy<Value = Segment> {
    let flags = prop_oneof![
        12 => Just(Flags::ACK.bits()),
        1 => any::<u8>(),
    ];
    let payload = prop_oneof![3 => Just(0), 1 => 1_u32..3_000, 1 => any::<u32>()];
    let numbers = prop_oneof![4 => 0_u32..100_000, 1 => any::<u32>()];
    let stamps = prop::option::weighted(0.9, prop_oneof![4 => 0_u32..2_000, 1 => any::<u32>()]);
    (numbers.clone(), numbers, payload, flags, stamps).prop_map(
        |(sequence, acknowledgment, payload_bytes, flags, echo)| Segment {
            sequence: SequenceNumber(sequence),
            acknowledgment: SequenceNumber(acknowledgment),
            payload_bytes,
            flags: Flags::from_bits(flags),
            timestamps: echo.map(|echo| Timestamps { value: 1, echo }),
            ..Segment::default()
        },
    )
}

/// Small numbers become plausible for a live connection: acknowledgments that rise, stamps of the
/// last 400 ms. Large ones stay as wild as they are.
fn plausible(mut segment: Segment, packet: u32, now: Instant) -> Segment {
    if segment.acknowledgment.0 < 100_000 {
        segment.acknowledgment = SequenceNumber(packet * 500);
    }
    if let Some(timestamps) = &mut segment.timestamps
        && timestamps.echo < 2_000
    {
        let millis = (now.as_nanos() / 1_000_000) as u32;
        timestamps.echo = millis - timestamps.echo % 400;
    }
    segment
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    passage: Passage<u32>,
    arrived: Instant,
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Nothing lost or changed, nothing overtakes within a flow and direction, nothing is held
    /// longer than allowed, packets to the wired side are not held, and no wake-up lies in the
    /// past. Three flows compete for two places in the table.
    #[test]
    fn every_packet_leaves_once_in_order_and_in_time(
        rule in rules(),
        steps in prop::collection::vec((0_u64..60, 0_u64..3, any::<bool>(), segments()), 1..120),
        limit in 1_usize..5,
        wakes in any::<bool>(),
    ) {
        let mut agent = DelayInjection::new(rule, NonZeroUsize::new(limit).unwrap()).unwrap();
        let mut now = Instant::ZERO + Duration::from_secs(1);
        let mut waiting: Vec<Sent> = Vec::new();
        let mut packet = 0;
        let steps = steps.into_iter().map(|(wait, flow, up, segment)| {
            (Duration::from_millis(wait), Some((flow, up, segment)))
        });
        for (wait, step) in steps.chain([(MAX, None)]) {
            let until = now + wait;
            while wakes && agent.next_wakeup() <= until {
                now = agent.next_wakeup();
                agent.on_wakeup(now, &mut |_, _| ());
                drain(&mut agent, now, &mut waiting, wakes)?;
            }
            now = until;
            if let Some((flow, up, segment)) = step {
                let toward = if up { Toward::Wired } else { Toward::Mobile };
                let segment = plausible(segment, packet, now);
                let passage = Passage { flow, toward, segment, packet };
                packet += 1;
                waiting.push(Sent { passage, arrived: now });
                agent.handle(now, passage, &mut |_, _| ());
            }
            drain(&mut agent, now, &mut waiting, wakes)?;
            prop_assert!(agent.next_wakeup() > now);
            prop_assert!(waiting.iter().all(|sent| sent.passage.toward == Toward::Mobile));
        }
        prop_assert!(waiting.is_empty(), "{waiting:?}");
        prop_assert_eq!(agent.next_wakeup(), Instant::FAR_FUTURE);
        prop_assert_eq!(agent.queue.held(), 0);
    }
}

fn drain(
    agent: &mut DelayInjection<u32>,
    now: Instant,
    waiting: &mut Vec<Sent>,
    wakes: bool,
) -> Result<(), TestCaseError> {
    while let Some(emission) = agent.poll(now) {
        let Emission::Pass(passage) = emission else {
            return Err(TestCaseError::fail(format!("{emission:?}")));
        };
        // The first that waits of its flow and direction: nothing has overtaken it.
        let place = waiting
            .iter()
            .position(|sent| {
                (sent.passage.flow, sent.passage.toward) == (passage.flow, passage.toward)
            })
            .ok_or_else(|| TestCaseError::fail("sent twice"))?;
        let sent = waiting.remove(place);
        prop_assert_eq!(sent.passage, passage);
        // A driver that sleeps over wake-ups holds longer, and is to blame.
        prop_assert!(!wakes || now - sent.arrived <= MAX);
    }
    Ok(())
}

/// Ten thousand uploads, each with a held acknowledgment: the table keeps to its bound, packets
/// held for forgotten connections leave at once, and the store grows no further than the held
/// packets.
#[test]
fn ten_thousand_flows_take_bounded_memory() {
    let rule = constant(StaticDelay {
        delay: MAX,
        every: Distance::Acknowledgments(NonZeroU64::MIN),
    });
    let mut agent = DelayInjection::new(rule, DEFAULT_FLOW_LIMIT).unwrap();
    let now = Instant::ZERO;
    let (mut up, mut down) = (0, 0);
    for flow in 0..10_000_u64 {
        let segment = Segment {
            payload_bytes: 100,
            flags: Flags::ACK,
            ..Segment::default()
        };
        let ack = Segment {
            payload_bytes: 0,
            ..segment
        };
        for (toward, segment) in [(Toward::Wired, segment), (Toward::Mobile, ack)] {
            let packet = 0_u32;
            let passage = Passage {
                flow,
                toward,
                segment,
                packet,
            };
            agent.handle(now, passage, &mut |_, _| ());
        }
        while let Some(Emission::Pass(passage)) = agent.poll(now) {
            match passage.toward {
                Toward::Wired => up += 1,
                Toward::Mobile => {
                    assert_eq!(passage.flow, down, "the idlest goes first");
                    down += 1;
                }
            }
        }
    }
    assert_eq!((up, down), (10_000, 10_000 - 4_096));
    assert_eq!((agent.flows.len(), agent.queue.held()), (4_096, 4_096));
    assert_eq!(agent.queue.slots(), 4_096);
    agent.on_wakeup(now + MAX, &mut |_, _| ());
    assert_eq!(std::iter::from_fn(|| agent.poll(now + MAX)).count(), 4_096);
}

/// A full store releases the connection that wants more, in order.
#[test]
fn a_full_store_releases_the_newcomers_connection() {
    let mut queue = HoldQueue::new(3);
    let mut lanes = [Lane::EMPTY; 2];
    let passage = |flow: usize, packet: u32| Passage {
        flow: flow as u64,
        toward: Toward::Mobile,
        segment: Segment::default(),
        packet,
    };
    let leave = Instant::ZERO + MAX;
    let mut push = |flow: usize, packet| {
        queue.push(
            Instant::ZERO,
            &mut lanes[flow],
            leave,
            passage(flow, packet),
        )
    };
    assert_eq!([push(0, 0), push(1, 1), push(0, 2)], [MAX; 3]);
    assert_eq!(push(0, 3), Duration::ZERO);
    let sent: Vec<u32> = std::iter::from_fn(|| queue.pop_ready().map(|sent| sent.packet)).collect();
    assert_eq!((sent, queue.held()), (vec![0, 2, 3], 1));
}
