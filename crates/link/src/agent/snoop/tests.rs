//! Sequences made by hand; what the agent emits is told as text: `>3` is data 3 passed to the
//! mobile, `>3*` repeated, `<3` an acknowledgment that asks for 3 passed to the sender.

use airtcp_packet::SequenceNumber;
use airtcp_units::Duration;
use proptest::prelude::*;

use super::*;

/// The stream wraps behind segment 2.
const FIRST: SequenceNumber = SequenceNumber(0xffff_ffff - 2500);
const BYTES: u32 = 1000;

fn data(number: u32) -> Segment {
    Segment {
        sequence: FIRST + number * BYTES,
        payload_bytes: BYTES,
        flags: Flags::ACK,
        ..Segment::default()
    }
}

fn ack(number: u32) -> Segment {
    Segment {
        acknowledgment: FIRST + number * BYTES,
        window: 500,
        flags: Flags::ACK,
        ..Segment::default()
    }
}

fn number(sequence: SequenceNumber) -> u32 {
    sequence.0.wrapping_sub(FIRST.0) / BYTES
}

struct Script {
    agent: Snoop<u32>,
    now: Instant,
    packets: u32,
    events: Vec<AgentEvent>,
}

impl Script {
    fn new(parameters: SnoopParameters) -> Self {
        Self {
            agent: Snoop::new(parameters),
            now: Instant::ZERO,
            packets: 0,
            events: Vec::new(),
        }
    }

    fn at(&mut self, milliseconds: u64) -> &mut Self {
        self.now = Instant::ZERO + Duration::from_millis(milliseconds);
        self
    }

    fn emissions(&mut self) -> Vec<Emission<u32>> {
        std::iter::from_fn(|| self.agent.poll(self.now)).collect()
    }

    fn say(&mut self) -> String {
        let told = self.emissions().into_iter().map(|emission| match emission {
            Emission::Pass(passage) => match passage.toward {
                Toward::Mobile => format!(">{}", number(passage.segment.sequence)),
                Toward::Wired => format!("<{}", number(passage.segment.acknowledgment)),
            },
            Emission::Repeat(passage) => format!(">{}*", number(passage.segment.sequence)),
            Emission::Feedback { .. } => "?".to_owned(),
        });
        told.collect::<Vec<_>>().join(" ")
    }

    fn put(&mut self, flow: FlowKey, toward: Toward, segment: Segment) {
        let passage = Passage {
            flow,
            toward,
            segment,
            packet: self.packets,
        };
        self.packets += 1;
        let events = &mut self.events;
        self.agent
            .handle(self.now, passage, &mut |_, event| events.push(event));
    }

    fn data(&mut self, number: u32) -> String {
        self.put(1, Toward::Mobile, data(number));
        self.say()
    }

    fn ack(&mut self, number: u32) -> String {
        self.put(1, Toward::Wired, ack(number));
        self.say()
    }

    fn wake(&mut self) -> String {
        let events = &mut self.events;
        self.agent
            .on_wakeup(self.now, &mut |_, event| events.push(event));
        self.say()
    }

    fn next_ms(&self) -> Option<u64> {
        let next = self.agent.next_wakeup();
        (next < Instant::FAR_FUTURE).then(|| (next - Instant::ZERO).as_nanos() / 1_000_000)
    }

    /// How many packets were sent again and how many duplicates kept back since last asked.
    fn counts(&mut self) -> (usize, usize) {
        let events = std::mem::take(&mut self.events);
        let repeats = |event: &&AgentEvent| matches!(event, AgentEvent::LocalRetransmission { .. });
        let kept = |event: &&AgentEvent| matches!(event, AgentEvent::AckSuppressed);
        (
            events.iter().filter(repeats).count(),
            events.iter().filter(kept).count(),
        )
    }
}

/// Balakrishnan et al. §3: of 0 to 4, 1 is lost. The packets 2, 3, 4 make three duplicates: the
/// first has 1 sent again, the other two are expected. None passes; the acknowledgment of all does.
#[test]
fn a_loss_on_the_radio_is_repaired_and_hidden() {
    let mut script = Script::new(SnoopParameters::default());
    for number in 0..5 {
        assert_eq!(script.data(number), format!(">{number}"));
    }
    script.at(10);
    assert_eq!(script.ack(1), "<1");
    assert_eq!(script.ack(1), ">1*");
    assert_eq!(
        (script.ack(1), script.ack(1)),
        (String::new(), String::new())
    );
    assert_eq!(script.counts(), (1, 3));
    assert_eq!(script.at(20).ack(5), "<5");
    assert_eq!(
        (
            script.counts(),
            script.agent.flows.get_mut(1).unwrap().kept.len()
        ),
        ((0, 0), 0)
    );
}

/// One duplicate more than the three packets that were under way: it was made by 5, sent after the
/// repeat. On one hop nothing overtakes, so the repeat is lost.
#[test]
fn a_repeat_that_is_lost_is_repeated_again() {
    let mut script = Script::new(SnoopParameters::default());
    (0..5).for_each(|number| drop(script.data(number)));
    script.ack(1);
    assert_eq!(script.ack(1), ">1*");
    assert_eq!(script.data(5), ">5");
    assert_eq!([script.ack(1), script.ack(1)], ["", ""]);
    assert_eq!(script.ack(1), ">1*", "made by 5");
    assert_eq!(script.data(6), ">6");
    assert_eq!(script.ack(1), ">1*", "made by 6");
    assert_eq!(script.ack(7), "<7");
}

/// A hole that the wired side left, and one that the sender itself repairs, are the sender's.
#[test]
fn what_the_sender_must_know_reaches_it() {
    let mut script = Script::new(SnoopParameters::default());
    script.data(0);
    // 1 was lost before the access point.
    (2..6).for_each(|number| drop(script.data(number)));
    script.ack(1);
    assert_eq!(
        [script.ack(1), script.ack(1), script.ack(1)],
        ["<1", "<1", "<1"]
    );
    assert_eq!(script.data(1), ">1", "the sender's repair");
    assert_eq!(script.ack(6), "<6");
    // 6 is lost on the radio, repeated, and the sender has timed out meanwhile.
    (6..9).for_each(|number| drop(script.data(number)));
    assert_eq!(script.ack(6), ">6*");
    assert_eq!(script.data(6), ">6");
    assert_eq!([script.ack(6), script.ack(6)], ["<6", "<6"]);
    assert_eq!(script.ack(9), "<9");
    assert_eq!(
        script.data(8),
        ">8",
        "acknowledged already: the mobile says so again"
    );
}

/// Acknowledgments that say something else are no duplicates: another window, data with them, or
/// older than one that passed.
#[test]
fn updates_and_old_acknowledgments_pass() {
    let mut script = Script::new(SnoopParameters::default());
    (0..5).for_each(|number| drop(script.data(number)));
    script.ack(2);
    assert_eq!(script.ack(1), "<1", "older");
    let wider = Segment {
        window: 600,
        ..ack(2)
    };
    script.put(1, Toward::Wired, wider);
    assert_eq!(script.say(), "<2");
    script.put(
        1,
        Toward::Wired,
        Segment {
            payload_bytes: 7,
            ..wider
        },
    );
    assert_eq!(script.say(), "<2");
    assert_eq!(script.ack(90), "<90", "of what was never sent");
    script.put(1, Toward::Wired, wider);
    assert_eq!(script.say(), ">2*", "but this is one");
}

/// Local round trip 20 ms: 20 + 4 · 10 = 60 ms. The timer doubles while nothing is acknowledged,
/// and stops after as many repeats as allowed; then duplicates are the sender's.
#[test]
fn the_timer_repeats_what_no_duplicate_tells_of() {
    let mut script = Script::new(SnoopParameters {
        most_repeats: 3,
        ..SnoopParameters::default()
    });
    script.data(0);
    assert_eq!(script.next_ms(), Some(1000), "before a sample");
    assert_eq!(script.at(20).ack(1), "<1");
    script.at(30).data(1);
    script.at(40).data(2);
    assert_eq!(script.at(89).wake(), "");
    for (at, next) in [
        (90, Some(210)),
        (210, Some(450)),
        (450, Some(930)),
        (930, None),
    ] {
        let again = if next.is_some() { ">1*" } else { "" };
        assert_eq!(script.at(at).wake(), again, "{at}");
        assert_eq!(script.next_ms(), next, "{at}");
    }
    assert_eq!(script.counts(), (3, 0));
    assert_eq!(
        [script.ack(1), script.ack(1)],
        ["", "<1"],
        "one was expected, of 2"
    );
    assert_eq!(script.at(950).ack(2), "<2");
    // No sample was taken of what was repeated (Karn's rule): 60 ms still.
    assert_eq!(script.next_ms(), Some(1010));
}

/// A higher threshold lets the first duplicates pass.
#[test]
fn the_threshold_can_be_raised() {
    let threshold = NonZeroU32::new(3).unwrap();
    let mut script = Script::new(SnoopParameters {
        threshold,
        ..SnoopParameters::default()
    });
    (0..6).for_each(|number| drop(script.data(number)));
    script.ack(1);
    let said = [script.ack(1), script.ack(1), script.ack(1), script.ack(1)];
    assert_eq!(said, ["<1", "<1", ">1*", ""]);
}

/// FIN, RST and SYN: a FIN is data and ends the flow when it is acknowledged, the others at once.
#[test]
fn a_connection_that_ends_is_forgotten() {
    let mut script = Script::new(SnoopParameters::default());
    script.data(0);
    let fin = Segment {
        flags: Flags::ACK | Flags::FIN,
        ..data(1)
    };
    script.put(1, Toward::Mobile, fin);
    assert_eq!(script.say(), ">1");
    script.ack(1);
    assert_eq!(script.agent.flows.len(), 1);
    let all = Segment {
        acknowledgment: FIRST + 2001,
        ..ack(0)
    };
    script.put(1, Toward::Wired, all);
    assert_eq!((script.say().as_str(), script.next_ms()), ("<2", None));
    assert_eq!(
        (script.agent.flows.len(), script.agent.deadlines.len()),
        (0, 0)
    );
    for flags in [Flags::SYN, Flags::RST, Flags::SYN | Flags::ACK] {
        for toward in [Toward::Mobile, Toward::Wired] {
            script.data(0);
            assert_eq!(script.agent.flows.len(), 1);
            script.put(1, toward, Segment { flags, ..ack(0) });
            assert_eq!(script.emissions().len(), 1);
            assert_eq!(
                (script.agent.flows.len(), script.agent.deadlines.len()),
                (0, 0)
            );
        }
    }
}

/// A full cache lets data pass uncopied; the losses in it are the sender's.
#[test]
fn the_cache_is_bounded() {
    let packets = NonZeroUsize::new(2).unwrap();
    let mut script = Script::new(SnoopParameters {
        packets,
        ..SnoopParameters::default()
    });
    for number in 0..5 {
        assert_eq!(script.data(number), format!(">{number}"));
    }
    script.ack(2);
    assert_eq!(script.ack(2), "<2");
}

#[test]
fn ten_thousand_connections_do_not_grow_it() {
    let mut script = Script::new(SnoopParameters::default());
    for flow in 0..10_000 {
        script.put(flow, Toward::Mobile, data(0));
        assert_eq!(script.say(), ">0");
        assert!(script.agent.flows.len() <= 4096);
        assert!(script.agent.deadlines.len() <= 4096);
    }
    // The last ones are known, the first are not.
    for (flow, said) in [(9_999, ">0*"), (0, "<0")] {
        script.put(flow, Toward::Wired, ack(0));
        script.say();
        script.put(flow, Toward::Wired, ack(0));
        assert_eq!(script.say(), said);
    }
}

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
    /// Whatever passes: each packet is passed at once and unchanged, but for bare duplicates; what
    /// is repeated has passed before; the timers lie ahead, and memory is bounded.
    #[test]
    fn nothing_is_lost_changed_or_reordered(
        segments in prop::collection::vec(any_segment(), 0..200),
    ) {
        let limit = NonZeroUsize::new(2).unwrap();
        let packets = NonZeroUsize::new(5).unwrap();
        let parameters = SnoopParameters { flows: limit, packets, ..SnoopParameters::default() };
        let mut script = Script::new(parameters);
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
                    Emission::Feedback { .. } => prop_assert!(false, "{}", index),
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
            prop_assert!(script.agent.flows.len() <= 2 && script.agent.deadlines.len() <= 2);
        }
    }

    /// Against a radio that loses at random and a receiver of TCP's rules: the local repairs alone
    /// bring every packet over, in the order asked for, and no duplicate reaches the sender.
    #[test]
    fn repairs_any_losses_of_the_radio(lost in prop::collection::vec(any::<bool>(), 0..40)) {
        let mut script = Script::new(SnoopParameters::default());
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
                    // The first acknowledgment tells the agent of the window.
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
