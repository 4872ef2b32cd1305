//! Scripts: a peer with segments dictated by the test, and the answers as one line a segment,
//! numbered from the initial sequence numbers as packet traces are.

mod accurate_ecn;
mod arrival;
mod attack;
mod bytes;
mod closing;
mod ecn;
mod fast_open;
mod freeze;
mod handshake;
mod limits;
mod ordinary;
mod pairs;
mod repeated_syn;
mod stamps;

use airtcp_packet::{Flags, SackBlock, Segment, SequenceNumber, TailOptions, Timestamps};
use airtcp_units::{Duration, Instant};

use super::*;
use crate::config::{DelayedAckConfig, HandshakeAck, Profile, QuirksConfig, RepeatedSyn};
use crate::observer::Event;

/// Ours wraps after 255 bytes.
const OURS: SequenceNumber = SequenceNumber(0xffff_ff00);
const PEERS: SequenceNumber = SequenceNumber(0x8000_0000);

fn milliseconds(value: u64) -> Duration {
    Duration::from_millis(value)
}

/// No options except those a test asks for, every segment acknowledged, an unscaled window.
fn plain() -> Config {
    Config {
        mss: 1000,
        sack: false,
        timestamps: false,
        receive_buffer: 10_000,
        delayed_ack: DelayedAckConfig {
            segments: 1,
            ..DelayedAckConfig::default()
        },
        ..Config::default()
    }
}

/// A segment from the peer. It offers no scale; its window is 20 000 bytes.
fn peer(flags: Flags, sequence: u32, acknowledgment: u32) -> Segment {
    Segment {
        sequence: PEERS + sequence,
        acknowledgment: OURS + acknowledgment,
        flags,
        window: 20_000,
        ..Segment::default()
    }
}

/// Data from the peer.
fn data(sequence: u32, bytes: u32, acknowledgment: u32) -> Segment {
    Segment {
        payload_bytes: bytes,
        ..peer(Flags::ACK, sequence, acknowledgment)
    }
}

/// The peer's SYN, with an MSS of 1000.
fn syn(flags: Flags, acknowledgment: u32) -> Segment {
    Segment {
        mss: Some(1000),
        ..peer(flags, 0, acknowledgment)
    }
}

/// A segment as text: flags, sequence numbers of the first byte and after the last, acknowledgment.
fn text(segment: &Segment) -> String {
    let mut text: String = [
        (Flags::SYN, 'S'),
        (Flags::FIN, 'F'),
        (Flags::RST, 'R'),
        (Flags::PSH, 'P'),
        (Flags::ACK, 'A'),
    ]
    .into_iter()
    .filter_map(|(flag, letter)| segment.flags.contains(flag).then_some(letter))
    .collect();
    let start = segment.sequence.0.wrapping_sub(OURS.0);
    text += &format!(" {start}:{}", start.wrapping_add(segment.sequence_length()));
    if segment.flags.contains(Flags::ACK) {
        text += &format!(" ack {}", segment.acknowledgment.0.wrapping_sub(PEERS.0));
    }
    for block in segment.tail.blocks() {
        let [start, end] = [block.start, block.end].map(|edge| edge.0.wrapping_sub(PEERS.0));
        text += &format!(" {start}-{end}");
    }
    text
}

struct Script {
    connection: Connection,
    now: Instant,
    events: Vec<Event>,
}

impl Script {
    fn of(connection: Connection) -> Self {
        Self {
            connection,
            now: Instant::ZERO,
            events: Vec::new(),
        }
    }

    fn connect(config: &Config) -> Self {
        Self::of(Connection::connect(config, OURS))
    }

    fn listen(config: &Config) -> Self {
        Self::of(Connection::listen(config, OURS))
    }

    /// A server with a complete handshake: the next bytes are 1 on both sides.
    fn established(config: &Config) -> Self {
        let mut script = Self::listen(config);
        script.take(syn(Flags::SYN, 0));
        script.take(peer(Flags::ACK, 1, 1));
        assert_eq!(script.state(), State::Established);
        script.events.clear();
        script
    }

    fn at(&mut self, value: u64) -> &mut Self {
        self.now = Instant::ZERO + milliseconds(value);
        self
    }

    /// The segments to send now.
    fn segments(&mut self) -> Vec<Segment> {
        std::iter::from_fn(|| self.connection.poll(self.now)).collect()
    }

    /// The same as text.
    fn say(&mut self) -> Vec<String> {
        self.segments().iter().map(text).collect()
    }

    fn handle(&mut self, segment: Segment) {
        let (now, events) = (self.now, &mut self.events);
        self.connection
            .handle(now, &segment, &mut |_, event| events.push(event));
    }

    /// Takes a segment and returns the answers.
    fn take(&mut self, segment: Segment) -> Vec<String> {
        self.handle(segment);
        self.say()
    }

    fn handle_wakeup(&mut self) {
        let (now, events) = (self.now, &mut self.events);
        self.connection
            .on_wakeup(now, &mut |_, event| events.push(event));
    }

    fn wake(&mut self) -> Vec<String> {
        self.handle_wakeup();
        self.say()
    }

    fn state(&self) -> State {
        self.connection.state()
    }

    fn next_ms(&self) -> Option<u64> {
        let next = self.connection.next_wakeup();
        (next < Instant::FAR_FUTURE).then(|| (next - Instant::ZERO).as_nanos() / 1_000_000)
    }

    fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// The same without round-trip samples.
    fn take_turns(&mut self) -> Vec<Event> {
        let mut events = self.take_events();
        events.retain(|event| !matches!(event, Event::RttSample { .. }));
        events
    }
}

const NOTHING: [&str; 0] = [];

/// Very many should fit in memory: state that few connections need is boxed. A sender needs one
/// more allocation, once something is written.
#[test]
fn a_connection_is_small() {
    let of_tests = size_of::<super::ordinary::Ways>();
    let connection = size_of::<Connection>() - of_tests;
    assert!(connection <= 248, "{connection}");
    assert!(size_of::<Sender>() <= 584, "{}", size_of::<Sender>());
}
