//! Hand-made sequences; the agent's output is written as text: `>3` is data 3 passed to the mobile,
//! `>3*` repeated, `<3` an acknowledgment that asks for 3 passed to the sender.

mod random;

use airtcp_packet::SequenceNumber;
use airtcp_units::Duration;

use super::*;

/// The stream wraps after segment 2.
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
    fn new(config: SnoopConfig) -> Self {
        Self {
            agent: Snoop::new(config),
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
            Emission::Discard(_) | Emission::Feedback { .. } => "?".to_owned(),
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

    /// Packets retransmitted and duplicates suppressed since the last call.
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
/// first has 1 retransmitted, the other two are expected. None passes; the acknowledgment of all
/// does.
#[test]
fn a_loss_on_the_radio_is_repaired_and_hidden() {
    let mut script = Script::new(SnoopConfig::default());
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

/// One duplicate more than the three packets that were in flight: it was caused by 5, sent after
/// the repeat. On one hop nothing overtakes, so the repeat is lost.
#[test]
fn a_repeat_that_is_lost_is_repeated_again() {
    let mut script = Script::new(SnoopConfig::default());
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
    let mut script = Script::new(SnoopConfig::default());
    script.data(0);
    // 1 was lost before the access point.
    (2..6).for_each(|number| drop(script.data(number)));
    script.ack(1);
    assert_eq!(
        [script.ack(1), script.ack(1), script.ack(1)],
        ["<1", "<1", "<1"]
    );
    assert_eq!(
        script.at(900).wake(),
        "",
        "the mobile has what the copies are of"
    );
    assert_eq!(script.next_ms(), None);
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

/// Acknowledgments with other content are not duplicates: another window, data with them, or older
/// than one that passed.
#[test]
fn updates_and_old_acknowledgments_pass() {
    let mut script = Script::new(SnoopConfig::default());
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
    let mut script = Script::new(SnoopConfig {
        most_repeats: 3,
        ..SnoopConfig::default()
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
    // No sample was taken of repeated packets (Karn's rule): 60 ms still.
    assert_eq!(script.next_ms(), Some(1010));
}

/// A higher threshold lets the first duplicates pass.
#[test]
fn the_threshold_can_be_raised() {
    let threshold = NonZeroU32::new(3).unwrap();
    let mut script = Script::new(SnoopConfig {
        threshold,
        ..SnoopConfig::default()
    });
    (0..6).for_each(|number| drop(script.data(number)));
    script.ack(1);
    let said = [script.ack(1), script.ack(1), script.ack(1), script.ack(1)];
    assert_eq!(said, ["<1", "<1", ">1*", ""]);
}

/// FIN, RST and SYN: a FIN is data and ends the flow when it is acknowledged, the others at once.
#[test]
fn a_connection_that_ends_is_forgotten() {
    let mut script = Script::new(SnoopConfig::default());
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
        (script.agent.flows.len(), script.agent.repairs.timers()),
        (0, 0)
    );
    for flags in [Flags::SYN, Flags::RST, Flags::SYN | Flags::ACK] {
        for toward in [Toward::Mobile, Toward::Wired] {
            script.data(0);
            assert_eq!(script.agent.flows.len(), 1);
            script.put(1, toward, Segment { flags, ..ack(0) });
            assert_eq!(script.emissions().len(), 1);
            assert_eq!(
                (script.agent.flows.len(), script.agent.repairs.timers()),
                (0, 0)
            );
        }
    }
}

/// A full cache lets data pass uncopied; the losses in it are the sender's.
#[test]
fn the_cache_is_bounded() {
    let packets = NonZeroUsize::new(2).unwrap();
    let mut script = Script::new(SnoopConfig {
        packets,
        ..SnoopConfig::default()
    });
    for number in 0..5 {
        assert_eq!(script.data(number), format!(">{number}"));
    }
    script.ack(2);
    assert_eq!(script.ack(2), "<2");
}

#[test]
fn ten_thousand_connections_do_not_grow_it() {
    let mut script = Script::new(SnoopConfig::default());
    for flow in 0..10_000 {
        script.put(flow, Toward::Mobile, data(0));
        assert_eq!(script.say(), ">0");
        assert!(script.agent.flows.len() <= 4096);
        assert!(script.agent.repairs.timers() <= 4096);
    }
    // The last ones are known, the first are not.
    for (flow, said) in [(9_999, ">0*"), (0, "<0")] {
        script.put(flow, Toward::Wired, ack(0));
        script.say();
        script.put(flow, Toward::Wired, ack(0));
        assert_eq!(script.say(), said);
    }
}
