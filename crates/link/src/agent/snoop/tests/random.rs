//! Random segments, and a radio that loses at random.

use proptest::prelude::*;

use super::*;

fn any_segment() -> impl Strategy<Value = (Segment, Toward, FlowKey, u64)> {
    let flags = prop_oneof![8 => Just(0x10_u8), 2 => Just(0x11), 1 => any::<u8>()];
    let place = prop_oneof![9 => (0_u32..20).prop_map(|n| n * 500), 1 => any::<u32>()];
    (
        flags,
        place.clone(),
        place,
        0_u32..1500,
        0_u16..2,
        any::<bool>(),
        0_u64..3,
        0_u64..300,
    )
        .prop_map(
            |(flags, sequence, acknowledgment, bytes, window, wired, flow, pause)| {
                let segment = Segment {
                    sequence: FIRST + sequence,
                    acknowledgment: FIRST + acknowledgment,
                    payload_bytes: if wired {
                        bytes.saturating_sub(1400)
                    } else {
                        bytes
                    },
                    flags: Flags::from_bits(flags),
                    window,
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
    /// Whatever passes: each packet is passed at once and unchanged, except bare duplicates;
    /// repeated packets have passed before; the timers lie ahead, and memory is bounded.
    #[test]
    fn nothing_is_lost_changed_or_reordered(
        segments in prop::collection::vec(any_segment(), 0..200),
    ) {
        let limit = NonZeroUsize::new(2).unwrap();
        let packets = NonZeroUsize::new(5).unwrap();
        let config = SnoopConfig { flow_limit: limit, packets, ..SnoopConfig::default() };
        let mut script = Script::new(config);
        let mut said = [const { Vec::new() }; 3];
        for (index, (segment, toward, flow, pause)) in segments.into_iter().enumerate() {
            script.now += Duration::from_millis(pause);
            if script.agent.next_wakeup() <= script.now {
                script.wake();
                prop_assert!(script.agent.next_wakeup() > script.now);
            }
            script.put(flow, toward, segment);
            let packet = script.packets - 1;
            let original = Passage { flow, toward, segment, packet };
            let mut passed = false;
            for emission in script.emissions() {
                match emission {
                    Emission::Pass(passage) => {
                        prop_assert_eq!(passage, original);
                        prop_assert!(!passed);
                        passed = true;
                    }
                    Emission::Repeat(passage) => {
                        prop_assert!(passage.packet <= packet && passage.flow == flow);
                        prop_assert_eq!(passage.toward, Toward::Mobile);
                    }
                    Emission::Discard(_) | Emission::Feedback { .. } => {
                        prop_assert!(false, "{}", index);
                    }
                }
            }
            let which = flow as usize;
            if !passed {
                prop_assert!(toward == Toward::Wired && segment.sequence_length() == 0);
                prop_assert!(said[which].contains(&segment.acknowledgment), "no duplicate");
            }
            if toward == Toward::Wired && segment.flags.contains(Flags::ACK) && passed {
                said[which].push(segment.acknowledgment);
            }
            prop_assert!(script.agent.flows.len() <= 2 && script.agent.repairs.timers() <= 2);
        }
    }

    /// Against a radio that loses at random and a receiver with TCP's rules: local repairs suffice
    /// to deliver every packet, in the order asked for, and no duplicate reaches the sender.
    #[test]
    fn repairs_any_losses_of_the_radio(lost in prop::collection::vec(any::<bool>(), 0..40)) {
        // More repeats than losses: it never gives up.
        let mut script = Script::new(SnoopConfig { most_repeats: 100, ..SnoopConfig::default() });
        let (mut held, mut next, mut acks) = ([false; 20], 0_usize, 0);
        let mut fates = lost.into_iter();
        let mut arrive = |script: &mut Script, text: String| {
            let mut texts = std::collections::VecDeque::from([text]);
            while let Some(text) = texts.pop_front() {
                for part in text.split_whitespace() {
                    let Some(number) = part.strip_prefix('>') else {
                        // An acknowledgment to the sender: each moves.
                        continue;
                    };
                    if fates.next().unwrap_or(false) {
                        continue;
                    }
                    held[number.trim_end_matches('*').parse::<usize>().unwrap()] = true;
                    let before = next;
                    while next < 20 && held[next] {
                        next += 1;
                    }
                    let answer = script.ack(next as u32);
                    // The first acknowledgment informs the agent of the window.
                    acks += 1;
                    if next == before && acks > 1 {
                        assert!(!answer.contains('<'), "a duplicate reached the sender: {answer}");
                    }
                    texts.push_back(answer);
                }
            }
            next
        };
        let text = script.data(0);
        let mut reached = arrive(&mut script, text);
        for number in 1..20 {
            script.now += Duration::from_millis(5);
            let text = script.data(number);
            reached = arrive(&mut script, text);
        }
        while reached < 20 {
            prop_assert!(script.next_ms().is_some(), "stalls at {reached}");
            script.now = script.agent.next_wakeup();
            let text = script.wake();
            reached = arrive(&mut script, text);
        }
    }
}
