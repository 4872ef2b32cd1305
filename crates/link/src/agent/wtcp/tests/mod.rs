//! Hand-made sequences, written as text like Snoop's: `>3` data to the mobile, `>3*` repeated, `<3`
//! an acknowledgment that asks for 3, `<3@70` one that echoes 70.

mod random;

use airtcp_packet::{SequenceNumber, Timestamps};

use super::*;

const FIRST: SequenceNumber = SequenceNumber(0xffff_ffff - 2500);
const BYTES: u32 = 1000;

fn stamped(value: u32, echo: u32) -> Option<Timestamps> {
    Some(Timestamps { value, echo })
}

/// Data stamped by its source with its number plus 100.
fn data(number: u32) -> Segment {
    Segment {
        sequence: FIRST + number * BYTES,
        payload_bytes: BYTES,
        flags: Flags::ACK,
        timestamps: stamped(100 + number, 0),
        ..Segment::default()
    }
}

/// An acknowledgment that echoes the stamp of data `echoed`.
fn ack(number: u32, echoed: u32) -> Segment {
    Segment {
        acknowledgment: FIRST + number * BYTES,
        window: 500,
        flags: Flags::ACK,
        timestamps: stamped(7, 100 + echoed),
        ..Segment::default()
    }
}

fn number(sequence: SequenceNumber) -> u32 {
    sequence.0.wrapping_sub(FIRST.0) / BYTES
}

struct Script {
    agent: Wtcp<u32>,
    now: Instant,
    packets: u32,
}

impl Script {
    fn new(config: WtcpConfig) -> Self {
        Self {
            agent: Wtcp::new(config),
            now: Instant::ZERO,
            packets: 0,
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
            Emission::Pass(Passage {
                toward: Toward::Mobile,
                segment,
                ..
            }) => {
                format!(">{}", number(segment.sequence))
            }
            Emission::Pass(passage) => {
                let echo = passage.segment.timestamps.map_or(0, |stamps| stamps.echo);
                format!("<{}@{echo}", number(passage.segment.acknowledgment))
            }
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
        self.agent.handle(self.now, passage, &mut |_, _| {});
    }

    fn data(&mut self, number: u32) -> String {
        self.put(1, Toward::Mobile, data(number));
        self.say()
    }

    fn ack(&mut self, number: u32, echoed: u32) -> String {
        self.put(1, Toward::Wired, ack(number, echoed));
        self.say()
    }

    fn wake(&mut self) -> String {
        self.agent.on_wakeup(self.now, &mut |_, _| {});
        self.say()
    }

    fn next_ms(&self) -> Option<u64> {
        let next = self.agent.next_wakeup();
        (next < Instant::FAR_FUTURE).then(|| (next - Instant::ZERO).as_nanos() / 1_000_000)
    }

    fn window(&mut self) -> usize {
        self.agent.flows.get_mut(1).map_or(0, |state| state.window)
    }
}

fn windowed(window: usize) -> WtcpConfig {
    WtcpConfig {
        window: NonZeroUsize::new(window).unwrap(),
        ..WtcpConfig::default()
    }
}

/// Ratnam & Matta: data within the wireless window passes, the rest waits in order. Data that
/// waited 20 ms has its echo moved by 20 ticks: 103 + 20.
#[test]
fn data_passes_within_the_wireless_window() {
    let mut script = Script::new(windowed(2));
    assert_eq!([0, 1, 2, 3].map(|n| script.data(n)), [">0", ">1", "", ""]);
    assert_eq!(script.at(20).ack(1, 0), "<1@100 >2");
    assert_eq!(script.ack(2, 1), "<2@101 >3");
    assert_eq!(script.at(50).ack(4, 3), "<4@123");
}

/// 1 arrives at 5 ms and is lost; the duplicate of 30 ms repeats it and the window stays. Its
/// acknowledgment, of 45 ms, echoes the stamp of 1: 101 + (30 − 5) = 126, so that a source 10 ms
/// away reading its clock at 55 ms sees the round trip without the loss.
#[test]
fn a_duplicate_repeats_and_the_time_in_the_buffer_is_hidden() {
    let mut script = Script::new(windowed(8));
    script.data(0);
    script.at(5);
    (1..4).for_each(|number| drop(script.data(number)));
    assert_eq!(script.at(15).ack(1, 0), "<1@100");
    assert_eq!(script.at(30).ack(1, 0), ">1*");
    assert_eq!(script.ack(1, 0), "", "made by 3");
    assert_eq!(script.window(), 8);
    assert_eq!(script.at(45).ack(4, 1), "<4@126");
    assert_eq!(script.data(4), ">4");
    assert_eq!(script.at(60).ack(5, 4), "<5@104", "nothing to hide");
}

/// A clock of 10 ms ticks: 25 ms are two whole ticks; without a tick the echo is unchanged.
#[test]
fn the_echo_moves_by_whole_ticks_of_the_source() {
    for (tick, echo) in [(10, 102), (500, 100), (0, 100)] {
        let tick = Duration::from_millis(tick);
        let mut script = Script::new(WtcpConfig {
            tick,
            ..windowed(1)
        });
        script.data(0);
        script.at(5).put(
            1,
            Toward::Mobile,
            Segment {
                timestamps: stamped(100, 0),
                ..data(1)
            },
        );
        script.at(30).ack(1, 0);
        assert_eq!(script.at(40).ack(2, 0), format!("<2@{echo}"));
    }
}

/// Local round trip 20 ms, so 60 ms. The window falls to one, is kept while nothing comes, and
/// grows by one with each acknowledgment: 2, 3, 4, 4.
#[test]
fn a_timeout_closes_the_wireless_window() {
    let mut script = Script::new(windowed(4));
    script.data(0);
    script.at(20).ack(1, 0);
    (1..9).for_each(|number| drop(script.data(number)));
    assert_eq!(script.next_ms(), Some(80));
    assert_eq!(script.at(80).wake(), ">1*");
    assert_eq!((script.window(), script.next_ms()), (1, Some(200)));
    assert_eq!(script.at(200).wake(), ">1*");
    // Three more are in flight: no new packet until fewer are than the window allows.
    assert_eq!(
        script.at(210).ack(2, 1),
        "<2@281",
        "101 and 180 ms; three are under way, the window is 2"
    );
    assert_eq!(
        (script.window(), script.ack(3, 2)),
        (2, "<3@102 >5".to_owned())
    );
    assert_eq!(
        (script.window(), script.ack(4, 3)),
        (3, "<4@103 >6 >7".to_owned())
    );
    assert_eq!(
        (script.window(), script.ack(5, 4)),
        (4, "<5@104 >8".to_owned())
    );
}

/// The source retransmits data already sent: it passes, once. Data still waiting: it waits once.
#[test]
fn what_the_source_sends_again_replaces_the_copy() {
    let mut script = Script::new(windowed(2));
    (0..4).for_each(|number| drop(script.data(number)));
    assert_eq!([script.data(0), script.data(3)], [">0", ""]);
    assert_eq!(script.ack(2, 1), "<2@101 >2 >3");
    assert_eq!(script.data(1), ">1", "the mobile says again that it has it");
    // A hole of the wired side is the source's to fill, and goes ahead of waiting data.
    (5..8).for_each(|number| drop(script.data(number)));
    script.ack(4, 3);
    assert_eq!([script.ack(4, 3), script.ack(4, 3)], ["<4@103", "<4@103"]);
    assert_eq!(script.data(4), ">4");
    assert_eq!(script.ack(7, 4), "<7@104 >7");
}

/// A full buffer drops, a forgotten connection returns its waiting packets, in order.
#[test]
fn nothing_that_waits_is_forgotten() {
    let config = WtcpConfig {
        packets: NonZeroUsize::new(3).unwrap(),
        flow_limit: NonZeroUsize::MIN,
        ..windowed(1)
    };
    let mut script = Script::new(config);
    assert_eq!([0, 1, 2, 3].map(|n| script.data(n)), [">0", "", "", ""]);
    script.put(2, Toward::Mobile, data(9));
    assert_eq!(script.say(), ">1 >2 >9", "3 found no room");
    script.put(2, Toward::Mobile, data(10));
    let reset = Segment {
        flags: Flags::RST,
        ..data(11)
    };
    script.put(2, Toward::Mobile, reset);
    assert_eq!(script.say(), ">10 >11");
    assert_eq!((script.agent.flows.len(), script.next_ms()), (0, None));
}

#[test]
fn ten_thousand_connections_do_not_grow_it() {
    let mut script = Script::new(windowed(1));
    let mut passed = 0;
    for flow in 0..10_000 {
        script.put(flow, Toward::Mobile, data(0));
        script.put(flow, Toward::Mobile, data(1));
        passed += script.emissions().len();
        assert!(script.agent.flows.len() <= 4096 && script.agent.repairs.timers() <= 4096);
    }
    // Each passed its first, and all that were forgotten their second.
    assert_eq!(passed, 10_000 + (10_000 - 4096));
}
