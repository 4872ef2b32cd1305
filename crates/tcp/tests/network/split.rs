//! Split TCP over a toy network of two links: client, relay, server.

use std::collections::BTreeMap;

use airtcp_packet::{Segment, SequenceNumber};
use airtcp_tcp::{Config, Connection, Relay, Side, State};
use airtcp_units::{Duration, Instant};
use proptest::prelude::*;
use proptest::sample::select;

use crate::toy::Copies;

/// One endpoint: the data it writes, and the size and interval of its reads.
struct End {
    connection: Connection,
    bytes: u64,
    reads: (u64, Duration),
    read: u64,
    next_read: Instant,
    closed: bool,
}

impl End {
    fn act(&mut self, now: Instant) {
        let opening = matches!(self.connection.state(), State::Listen | State::SynSent);
        if !self.closed && !opening {
            self.connection.close();
            self.closed = true;
        }
        if self.next_read <= now {
            self.read += self.connection.read(self.reads.0);
            self.next_read = now + self.reads.1;
        }
    }
}

/// Decides the arrival times of the copies of segment number `index` that leaves `node`.
type Fate = Box<dyn Fn(usize, u64, Instant) -> Copies>;

/// A network node: 0 the client, 1 and 2 the relay's sides, 3 the server.
struct Chain {
    now: Instant,
    ends: [End; 2],
    relay: Relay,
    buffer: u64,
    fate: Fate,
    in_flight: BTreeMap<(Instant, u64), (usize, Segment)>,
    sent: [u64; 4],
}

impl Chain {
    fn new(
        configs: [Config; 4],
        bytes: [u64; 2],
        reads: [(u64, Duration); 2],
        buffer: u64,
        fate: Fate,
    ) -> Self {
        let [at_client, at_server] = [900, 0xffff_fff0].map(SequenceNumber);
        let connections = [
            Connection::connect(&configs[0], at_client),
            Connection::listen(&configs[3], at_server),
        ];
        let mut which = 0;
        let ends = connections.map(|mut connection| {
            connection.write(bytes[which]);
            which += 1;
            End {
                connection,
                bytes: bytes[which - 1],
                reads: reads[which - 1],
                read: 0,
                next_read: Instant::ZERO,
                closed: false,
            }
        });
        let numbers = [0x7fff_ff00, 3].map(SequenceNumber);
        Self {
            now: Instant::ZERO,
            ends,
            relay: Relay::new(&configs[1], &configs[2], numbers, buffer),
            buffer,
            fate,
            in_flight: BTreeMap::new(),
            sent: [0; 4],
        }
    }

    fn send(&mut self, node: usize, segment: Segment) {
        let index = self.sent[node];
        self.sent[node] += 1;
        for delay in (self.fate)(node, index, self.now) {
            let key = (self.now + delay, self.sent.iter().sum::<u64>() * 4);
            let free = (0..).map(|n| (key.0, key.1 + n));
            let key = free
                .into_iter()
                .find(|key| !self.in_flight.contains_key(key));
            self.in_flight
                .insert(key.expect("a free place"), (node ^ 1, segment));
        }
    }

    fn poll(&mut self) {
        for (which, node) in [(0, 0), (1, 3)] {
            self.ends[which].act(self.now);
            while let Some(segment) = self.ends[which].connection.poll(self.now) {
                self.send(node, segment);
            }
        }
        while let Some((side, segment)) = self.relay.poll(self.now) {
            self.send(1 + side as usize, segment);
        }
    }

    fn is_done(&self) -> bool {
        let [client, server] = &self.ends;
        let closed = |end: &End| matches!(end.connection.state(), State::Closed | State::TimeWait);
        client.read == server.bytes && server.read == client.bytes && self.ends.iter().all(closed)
    }

    /// Runs until everything is read and closed, or until `limit`.
    fn run(&mut self, limit: Instant) -> bool {
        self.poll();
        while !self.is_done() {
            let arrival = self.in_flight.keys().next().map(|key| key.0);
            let reads = self.ends.iter().filter_map(|end| {
                (end.connection.receiver().received() > end.read).then_some(end.next_read)
            });
            let timers = self.ends.iter().map(|end| end.connection.next_wakeup());
            let next = timers
                .chain(reads)
                .chain(arrival)
                .chain([self.relay.next_wakeup()])
                .min()
                .unwrap_or(Instant::FAR_FUTURE);
            if next > limit {
                return false;
            }
            self.now = next.max(self.now);
            let now = self.now;
            while let Some(entry) = self.in_flight.first_entry() {
                if entry.key().0 > now {
                    break;
                }
                let (node, segment) = entry.remove();
                match node {
                    0 => self.ends[0].connection.handle(now, &segment, &mut ()),
                    3 => self.ends[1].connection.handle(now, &segment, &mut ()),
                    side => {
                        self.relay
                            .handle(now, Side::ALL[side - 1], &segment, &mut |_, _, _| {})
                    }
                }
                self.poll();
                self.check();
            }
            self.ends
                .iter_mut()
                .for_each(|end| end.connection.on_wakeup(now, &mut ()));
            self.relay.on_wakeup(now, &mut |_, _, _| {});
            self.poll();
            self.check();
        }
        true
    }

    /// No side holds more than the buffer; nobody receives data that was not sent.
    fn check(&self) {
        for (side, from) in [(Side::Server, 0), (Side::Client, 1)] {
            assert!(self.relay.held(side) <= self.buffer);
            let relayed = self.relay.connection(side).sender().written();
            assert!(relayed <= self.ends[from].bytes);
            assert!(self.ends[1 - from].connection.receiver().received() <= relayed);
        }
    }
}

fn milliseconds(value: u64) -> Duration {
    Duration::from_millis(value)
}

fn config() -> impl Strategy<Value = Config> {
    (
        select(vec![100_u32, 536, 1448]),
        select(vec![300_u64, 3000, 20_000, 1 << 20]),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(mss, receive_buffer, sack, timestamps)| {
            let mut config = Config {
                mss,
                receive_buffer,
                sack,
                timestamps,
                ..Config::default()
            };
            config.timeout.max = Duration::from_secs(4);
            config
        })
}

fn fates() -> impl Strategy<Value = Vec<Copies>> {
    let copies = prop_oneof![
        6 => Just(vec![5]),
        2 => Just(vec![]),
        2 => (0_u64..400).prop_map(|late| vec![late]),
        1 => (0_u64..400, 0_u64..4000).prop_map(|(one, other)| vec![one, other]),
    ]
    .prop_map(|copies| copies.into_iter().map(milliseconds).collect());
    prop::collection::vec(copies, 0..60)
}

fn reads() -> impl Strategy<Value = (u64, Duration)> {
    prop_oneof![
        2 => Just((u64::MAX, Duration::ZERO)),
        1 => (500_u64..4000, 1_u64..60).prop_map(|(bytes, pause)| (bytes, milliseconds(pause))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Whatever the two links lose, duplicate, delay and reorder.
    #[test]
    fn every_byte_arrives_once_through_a_relay(
        configs in [config(), config(), config(), config()],
        bytes in [0_u64..60_000, 0_u64..20_000],
        reads in [reads(), reads()],
        buffer in select(vec![1_u64, 100, 3000, 100_000]),
        fates in [fates(), fates(), fates(), fates()],
    ) {
        // A byte at a time is a round trip a byte.
        let bytes = if buffer == 1 { bytes.map(|bytes| bytes % 500) } else { bytes };
        let fate: Fate = Box::new(move |node, index, _| {
            let planned = fates[node].get(index as usize);
            planned.cloned().unwrap_or_else(|| vec![milliseconds(5)])
        });
        let mut chain = Chain::new(configs, bytes, reads, buffer, fate);
        let done = chain.run(Instant::ZERO + Duration::from_secs(1200));
        let [client, server] = &chain.ends;
        prop_assert!(
            done,
            "stalls at {:?}: read {} {} of {bytes:?}, {:?} {:?}",
            chain.now,
            client.read,
            server.read,
            client.connection.state(),
            server.connection.state(),
        );
    }
}

/// A server that reads nothing for 20 s: the client stops when both receive buffers and the relay's
/// are full, 20 000 + 10 000 + 8000 bytes, and continues when the server reads.
#[test]
fn back_pressure_reaches_the_client() {
    let config = |receive_buffer| Config {
        receive_buffer,
        ..Config::default()
    };
    let configs = [1 << 20, 10_000, 1 << 20, 20_000].map(config);
    let fate: Fate = Box::new(|_, _, _| vec![milliseconds(10)]);
    let eager = (u64::MAX, Duration::ZERO);
    let mut chain = Chain::new(configs, [1_000_000, 0], [eager; 2], 8000, fate);
    chain.ends[1].next_read = Instant::ZERO + Duration::from_secs(20);
    assert!(!chain.run(Instant::ZERO + Duration::from_secs(19)));
    let acknowledged = chain.ends[0].connection.sender().una();
    // The relay moves whole segments: less room than one segment stays empty.
    assert!(
        (38_000 - 1448..=38_000).contains(&acknowledged),
        "{acknowledged}"
    );
    assert_eq!(chain.ends[0].connection.sender().counters().timeouts, 0);
    assert!(chain.run(Instant::ZERO + Duration::from_secs(100)));
}

/// Why a connection is split: one segment in fifty is lost on the last hop of 5 ms after a path of
/// 100 ms. End to end each loss halves a window that takes 200 ms to open by a segment; split, the
/// radio's window recovers in milliseconds, and the wired one never sees a loss.
#[test]
fn a_split_hides_losses_from_the_wired_side() {
    let fate = || -> Fate {
        Box::new(|node, index, _| match node {
            1 | 0 => vec![milliseconds(100)],
            2 if index % 50 == 49 => vec![],
            _ => vec![milliseconds(5)],
        })
    };
    let eager = (u64::MAX, Duration::ZERO);
    let configs = [Config {
        max_window: Some(100),
        ..Config::default()
    }; 4];
    let mut chain = Chain::new(configs, [3_000_000, 0], [eager; 2], 1 << 20, fate());
    assert!(chain.run(Instant::ZERO + Duration::from_secs(600)));
    let wired = chain.ends[0].connection.sender();
    assert_eq!(wired.counters().segments_retransmitted, 0);
    assert_eq!(wired.cwnd(), 100 * 1448);
    let radio = chain.relay.connection(Side::Server).sender();
    assert!(radio.counters().segments_retransmitted >= 3_000_000 / 1448 / 50);
    // 21 windows of 100 segments after slow start from 10 to 100 in four: 25 round trips of 200 ms,
    // and the same once more as an allowance for the radio.
    assert!(
        chain.now < Instant::ZERO + Duration::from_secs(10),
        "{:?}",
        chain.now
    );
}
