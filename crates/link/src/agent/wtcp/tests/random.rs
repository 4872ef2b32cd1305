//! Random segments, and a radio that loses at random.

use proptest::prelude::*;

use super::*;

fn any_segment() -> impl Strategy<Value = (Segment, Toward, FlowKey, u64)> {
    let flags = prop_oneof![8 => Just(0x10_u8), 2 => Just(0x11), 1 => any::<u8>()];
    let place = prop_oneof![9 => (0_u32..20).prop_map(|n| n * 500), 1 => any::<u32>()];
    let stamps = prop::option::of((any::<u32>(), 0_u32..300));
    (
        flags,
        place.clone(),
        place,
        0_u32..1500,
        stamps,
        any::<bool>(),
        0_u64..3,
        0_u64..300,
    )
        .prop_map(
            |(flags, sequence, acknowledgment, bytes, stamps, wired, flow, pause)| {
                let segment = Segment {
                    sequence: FIRST + sequence,
                    acknowledgment: FIRST + acknowledgment,
                    payload_bytes: if wired {
                        bytes.saturating_sub(1400)
                    } else {
                        bytes
                    },
                    flags: Flags::from_bits(flags),
                    timestamps: stamps.map(|(value, echo)| Timestamps { value, echo }),
                    ..Segment::default()
                };
                (
                    segment,
                    if wired { Toward::Wired } else { Toward::Mobile },
                    flow,
                    pause,
                )
            },
        )
}

proptest! {
    /// Whatever passes: nothing passes twice or is made up, acknowledgments keep all but their
    /// echo, the timers lie ahead, and memory is bounded.
    #[test]
    fn any_segment_is_safe(segments in prop::collection::vec(any_segment(), 0..200)) {
        let config = WtcpConfig {
            flow_limit: NonZeroUsize::new(2).unwrap(),
            packets: NonZeroUsize::new(5).unwrap(),
            ..windowed(2)
        };
        let mut script = Script::new(config);
        let mut given: Vec<Passage<u32>> = Vec::new();
        let mut passed = std::collections::BTreeSet::new();
        for (segment, toward, flow, pause) in segments {
            script.now += Duration::from_millis(pause);
            if script.agent.next_wakeup() <= script.now {
                script.agent.on_wakeup(script.now, &mut |_, _| {});
                prop_assert!(script.agent.next_wakeup() > script.now);
            }
            given.push(Passage { flow, toward, segment, packet: script.packets });
            script.put(flow, toward, segment);
            for emission in script.emissions() {
                let (Emission::Pass(passage) | Emission::Repeat(passage)) = emission else {
                    panic!("no feedback is sent");
                };
                let mut original = given[passage.packet as usize];
                if passage.toward == Toward::Wired
                    && let (Some(was), Some(is)) =
                        (&mut original.segment.timestamps, passage.segment.timestamps)
                {
                    was.echo = is.echo;
                }
                prop_assert_eq!(passage, original);
                if let Emission::Pass(_) = emission {
                    prop_assert!(passed.insert(passage.packet), "passed twice");
                } else {
                    prop_assert!(passed.contains(&passage.packet), "repeated before it passed");
                }
            }
            for flow in 0..3 {
                if let Some(state) = script.agent.flows.get_mut(flow) {
                    prop_assert!(state.flow.kept.len() <= 5 && state.window <= 2);
                    prop_assert!(state.flow.sent <= state.flow.kept.len());
                    let kept = state.flow.kept.iter();
                    let pairs = kept.clone().zip(kept.skip(1));
                    prop_assert!(pairs.into_iter().all(|(one, other)| one.end <= other.start));
                }
            }
        }
    }

    /// Over a radio that loses at random all of a stream arrives, within the window, and the source
    /// sees each acknowledgment move.
    #[test]
    fn repairs_any_losses_of_the_radio(lost in prop::collection::vec(any::<bool>(), 0..60)) {
        // More repeats than losses: it never gives up.
        let mut script = Script::new(WtcpConfig { most_repeats: 100, ..windowed(4) });
        let (mut held, mut next, mut told) = ([false; 20], 0_u32, None);
        let mut fates = lost.into_iter();
        for number in 0..20 {
            script.put(1, Toward::Mobile, data(number));
        }
        while next < 20 {
            let emissions = script.emissions();
            if emissions.is_empty() {
                prop_assert!(script.next_ms().is_some(), "stalls at {next}");
                script.now = script.agent.next_wakeup();
                script.agent.on_wakeup(script.now, &mut |_, _| {});
            }
            for emission in emissions {
                let (Emission::Pass(passage) | Emission::Repeat(passage)) = emission else {
                    continue;
                };
                if passage.toward == Toward::Wired {
                    let said = number(passage.segment.acknowledgment);
                    prop_assert!(said <= next, "acknowledges what did not arrive");
                    // The first one informs the agent of the window.
                    prop_assert!(told.is_none_or(|told| said > told || told == 0), "{told:?} {said}");
                    told = Some(said);
                } else if !fates.next().unwrap_or(false) {
                    let arrived = number(passage.segment.sequence);
                    held[arrived as usize] = true;
                    while next < 20 && held[next as usize] {
                        next += 1;
                    }
                    script.now += Duration::from_millis(1);
                    script.put(1, Toward::Wired, ack(next, arrived));
                }
            }
        }
    }
}
