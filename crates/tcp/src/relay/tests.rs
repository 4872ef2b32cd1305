//! Scripts for both sides of a relay: one line per segment, with the side it leaves on.

use airtcp_packet::{Flags, Segment, SequenceNumber};
use airtcp_units::{Duration, Instant};
use proptest::prelude::*;

use super::*;

const OURS: [SequenceNumber; 2] = [SequenceNumber(0xffff_ff00), SequenceNumber(5000)];
const PEERS: [SequenceNumber; 2] = [SequenceNumber(0x8000_0000), SequenceNumber(77)];

fn plain() -> Config {
    let mut config = Config {
        mss: 1000,
        timestamps: false,
        receive_buffer: 4000,
        ..Config::default()
    };
    config.delayed_ack.segments = 1;
    config
}

struct Script {
    relay: Relay,
    now: Instant,
    events: Vec<(Side, Event)>,
}

impl Script {
    fn new(buffer: u64) -> Self {
        Self {
            relay: Relay::new(&plain(), &plain(), OURS, buffer),
            now: Instant::ZERO,
            events: Vec::new(),
        }
    }

    /// A relay with both handshakes complete.
    fn open(buffer: u64) -> Self {
        let mut script = Self::new(buffer);
        script.take(Side::Client, Flags::SYN, 0, 0, 0);
        script.take(Side::Client, Flags::ACK, 1, 1, 0);
        script.take(Side::Server, Flags::SYN | Flags::ACK, 0, 1, 0);
        script.events.clear();
        script
    }

    fn say(&mut self) -> Vec<String> {
        let sent = std::iter::from_fn(|| self.relay.poll(self.now));
        sent.map(|(side, segment)| {
            let number = |sequence: SequenceNumber, from: [SequenceNumber; 2]| {
                sequence.0.wrapping_sub(from[side as usize].0)
            };
            let start = number(segment.sequence, OURS);
            let end = start.wrapping_add(segment.sequence_length());
            let mut text = format!("{side:?} {:?} {start}:{end}", segment.flags);
            if segment.flags.contains(Flags::ACK) {
                text += &format!(" ack {}", number(segment.acknowledgment, PEERS));
                text += &format!(" win {}", segment.window);
            }
            text
        })
        .collect()
    }

    fn take(
        &mut self,
        side: Side,
        flags: Flags,
        sequence: u32,
        acknowledgment: u32,
        payload_bytes: u32,
    ) -> Vec<String> {
        let segment = Segment {
            sequence: PEERS[side as usize] + sequence,
            acknowledgment: OURS[side as usize] + acknowledgment,
            flags,
            payload_bytes,
            window: 20_000,
            mss: flags.contains(Flags::SYN).then_some(1000),
            ..Segment::default()
        };
        let events = &mut self.events;
        self.relay
            .handle(self.now, side, &segment, &mut |side, _, event| {
                events.push((side, event));
            });
        self.say()
    }

    fn state(&self, side: Side) -> State {
        self.relay.connection(side).state()
    }
}

const NOTHING: [&str; 0] = [];

/// The client is accepted at once; the server is contacted with the client's SYN and not before.
#[test]
fn calls_the_server_when_the_client_calls() {
    let mut script = Script::new(10_000);
    assert_eq!(script.say(), NOTHING);
    assert_eq!(script.relay.next_wakeup(), Instant::FAR_FUTURE);
    assert_eq!(script.take(Side::Server, Flags::ACK, 9, 9, 0), NOTHING);
    assert_eq!(
        script.take(Side::Client, Flags::SYN, 0, 0, 0),
        ["Client SYN|ACK 0:1 ack 1 win 4000", "Server SYN 0:1"]
    );
    // Data sent before the server answers waits, and is acknowledged: no end-to-end meaning. A
    // window opens by segments (RFC 9293 §3.8.6.2.2): 500 bytes read do not open it.
    assert_eq!(
        script.take(Side::Client, Flags::ACK, 1, 1, 500),
        ["Client ACK 1:1 ack 501 win 3500"]
    );
    assert_eq!(script.relay.held(Side::Server), 500);
    assert_eq!(
        script.take(Side::Server, Flags::SYN | Flags::ACK, 0, 1, 0),
        ["Server PSH|ACK 1:501 ack 1 win 4000"]
    );
    let opened = [Side::Client, Side::Server].map(|side| (side, Event::Established));
    script
        .events
        .retain(|(_, event)| *event == Event::Established);
    assert_eq!(script.events, opened);
}

/// Room for 2000 bytes, receive buffer 4000. Of the client's data, 2000 bytes leave for the server
/// and wait for its acknowledgment, 4000 wait unread: the window is closed at 6001.
#[test]
fn a_full_buffer_shuts_the_window() {
    let mut script = Script::open(2000);
    let mut said = Vec::new();
    for number in 0..6 {
        said.extend(script.take(Side::Client, Flags::ACK, 1 + 1000 * number, 1, 1000));
    }
    assert_eq!(
        said,
        [
            "Client ACK 1:1 ack 1001 win 4000",
            "Server PSH|ACK 1:1001 ack 1 win 4000",
            "Client ACK 1:1 ack 2001 win 4000",
            "Server PSH|ACK 1001:2001 ack 1 win 4000",
            "Client ACK 1:1 ack 3001 win 3000",
            "Client ACK 1:1 ack 4001 win 2000",
            "Client ACK 1:1 ack 5001 win 1000",
            "Client ACK 1:1 ack 6001 win 0",
        ]
    );
    assert_eq!(script.relay.held(Side::Server), 2000);
    // The server takes 1000: as many move up, and the client learns of the room.
    assert_eq!(
        script.take(Side::Server, Flags::ACK, 1, 1001, 0),
        [
            "Client ACK 1:1 ack 6001 win 1000",
            "Server PSH|ACK 2001:3001 ack 1 win 4000"
        ]
    );
    // It takes 300 of the next: less than a segment does not move.
    assert_eq!(script.take(Side::Server, Flags::ACK, 1, 1301, 0), NOTHING);
}

/// A FIN follows the last byte, independently in each direction.
#[test]
fn passes_the_end_of_a_stream_behind_its_bytes() {
    let mut script = Script::open(1000);
    script.take(Side::Client, Flags::ACK, 1, 1, 1000);
    assert_eq!(
        script.take(Side::Client, Flags::ACK | Flags::FIN, 1001, 1, 500),
        ["Client ACK 1:1 ack 1502 win 3499"],
        "500 bytes do not fit yet, nor does the FIN, which takes a byte of the window"
    );
    assert_eq!(
        script.take(Side::Server, Flags::ACK, 1, 1001, 0),
        ["Server FIN|PSH|ACK 1001:1502 ack 1 win 4000"]
    );
    assert_eq!(
        script.take(Side::Server, Flags::ACK | Flags::FIN, 1, 1502, 0),
        [
            "Client FIN|ACK 1:2 ack 1502 win 3499",
            "Server ACK 1502:1502 ack 2 win 3999"
        ]
    );
    script.take(Side::Client, Flags::ACK, 1502, 2, 0);
    assert_eq!(script.state(Side::Client), State::Closed);
    assert_eq!(script.state(Side::Server), State::TimeWait);
}

/// A client that closes before the server has answered: the server's connection is still opened,
/// and closed.
#[test]
fn a_fin_waits_for_the_servers_answer() {
    let mut script = Script::new(1000);
    script.take(Side::Client, Flags::SYN, 0, 0, 0);
    script.take(Side::Client, Flags::ACK | Flags::FIN, 1, 1, 0);
    assert_eq!(script.state(Side::Server), State::SynSent);
    assert_eq!(
        script.take(Side::Server, Flags::SYN | Flags::ACK, 0, 1, 0),
        ["Server FIN|ACK 1:2 ack 1 win 4000"]
    );
}

/// RFC 9293 §3.10.5: a reset carries the next sequence number.
#[test]
fn passes_a_reset() {
    for side in Side::ALL {
        let mut script = Script::open(1000);
        let other = side.opposite();
        assert_eq!(
            script.take(side, Flags::RST, 1, 0, 0),
            [format!("{other:?} RST|ACK 1:1 ack 1 win 4000")]
        );
        assert_eq!(script.events, [(side, Event::Reset)]);
        assert_eq!(Side::ALL.map(|side| script.state(side)), [State::Closed; 2]);
        assert_eq!(script.relay.next_wakeup(), Instant::FAR_FUTURE);
    }
}

#[test]
fn a_server_that_refuses_resets_the_client() {
    let mut script = Script::new(1000);
    script.take(Side::Client, Flags::SYN, 0, 0, 0);
    script.take(Side::Client, Flags::ACK, 1, 1, 0);
    assert_eq!(
        script.take(Side::Server, Flags::RST | Flags::ACK, 0, 1, 0),
        ["Client RST|ACK 1:1 ack 1 win 4000"]
    );
}

/// RFC 6298 §2.1: 1 s before a sample, so the SYN is retransmitted then; the SYN-ACK too.
#[test]
fn wakes_for_either_side() {
    let mut script = Script::new(1000);
    script.take(Side::Client, Flags::SYN, 0, 0, 0);
    let second = Instant::ZERO + Duration::from_secs(1);
    assert_eq!(script.relay.next_wakeup(), second);
    script.now = second;
    script.relay.on_wakeup(second, &mut |_, _, _| {});
    assert_eq!(
        script.say(),
        ["Client SYN|ACK 0:1 ack 1 win 4000", "Server SYN 0:1"]
    );
}

#[test]
fn a_buffer_of_nothing_holds_a_byte() {
    let mut script = Script::open(0);
    script.take(Side::Client, Flags::ACK, 1, 1, 10);
    assert_eq!(script.relay.held(Side::Server), 1);
}

proptest! {
    /// Whatever arrives, nothing panics, and at most the buffer is held.
    #[test]
    fn any_segment_is_safe(
        segments in prop::collection::vec(
            (any::<bool>(), 0_u8..64, 0_u32..4000, 0_u32..4000, 0_u32..3000, any::<u16>()),
            0..60,
        ),
        buffer in 0_u64..5000,
    ) {
        let mut script = Script::new(buffer);
        script.take(Side::Client, Flags::SYN, 0, 0, 0);
        for (server, flags, sequence, acknowledgment, payload_bytes, window) in segments {
            let side = if server { Side::Server } else { Side::Client };
            let segment = Segment {
                sequence: PEERS[side as usize] + sequence,
                acknowledgment: OURS[side as usize] + acknowledgment,
                flags: Flags::from_bits(flags),
                payload_bytes,
                window,
                ..Segment::default()
            };
            script.relay.handle(script.now, side, &segment, &mut |_, _, _| {});
            script.say();
            let next = script.relay.next_wakeup();
            if next < Instant::FAR_FUTURE && sequence % 3 == 0 {
                script.now = next;
                script.relay.on_wakeup(next, &mut |_, _, _| {});
                script.say();
            }
            for side in Side::ALL {
                prop_assert!(script.relay.held(side) <= buffer.max(1));
            }
        }
    }
}
