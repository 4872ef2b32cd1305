//! Very many connections.

use std::fs;

use airtcp_endpoint::{Endpoint, ListenOptions, Options, Settings};
use airtcp_units::{Duration, Instant};

use super::world::{Draws, address, server_address};

/// Bytes of memory that this process holds (proc(5), `statm`: the second number, in pages).
fn resident() -> u64 {
    let statm = fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = statm.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096
}

/// Two ends that hand each other everything at once.
struct Pair {
    ends: [Endpoint; 2],
    now: Instant,
    packet: Vec<u8>,
}

impl Pair {
    fn settle(&mut self) {
        loop {
            let mut sent = false;
            for side in 0..2 {
                while self.ends[side]
                    .poll_transmit(self.now, &mut self.packet)
                    .is_some()
                {
                    self.ends[1 - side]
                        .handle_packet(self.now, &self.packet)
                        .unwrap();
                    sent = true;
                }
            }
            if !sent {
                return;
            }
        }
    }
}

fn open_many(count: usize, most: usize) -> (Pair, usize) {
    let end = |number| {
        Endpoint::new(Settings {
            most_connections: most,
            ..Settings::new([number; 16])
        })
    };
    let mut pair = Pair {
        ends: [end(1), end(2)],
        now: Instant::ZERO + Duration::from_secs(1),
        packet: Vec::new(),
    };
    let listener = pair.ends[1]
        .listen(server_address(), ListenOptions::default())
        .unwrap();
    let options = Options::default();
    let mut opened = 0;
    for number in 0..count {
        let from = format!("10.{}.{}.1:0", 1 + number / 50_000, number / 20_000);
        let _ = pair.ends[0].connect(pair.now, address(&from), server_address(), &options);
        if number % 1000 == 999 {
            pair.settle();
            while let Some(id) = pair.ends[1].accept(listener) {
                pair.ends[1].write(id, b"welcome").unwrap();
                opened += 1;
            }
            pair.settle();
        }
    }
    (pair, opened)
}

/// Each connection is there, data passes on each, and beyond the bound no further one is opened.
#[test]
fn as_many_connections_as_allowed() {
    let (mut pair, opened) = open_many(5000, 4000);
    assert_eq!(opened, 4000);
    assert_eq!([pair.ends[0].len(), pair.ends[1].len()], [4000, 4000]);
    let ids: Vec<_> = pair.ends[0].connections().map(|(id, _, _)| id).collect();
    let mut bytes = [0; 8];
    for id in ids {
        pair.ends[0].read(id, &mut bytes).unwrap();
        assert_eq!(&bytes[..7], b"welcome");
    }
    // Any of them at any time, in any order.
    let mut draws = Draws(1);
    let ids: Vec<_> = pair.ends[1].connections().map(|(id, _, _)| id).collect();
    for _ in 0..1000 {
        pair.now += Duration::from_millis(draws.below(100));
        for end in &mut pair.ends {
            end.on_wakeup(pair.now);
        }
        let id = ids[draws.below(4000) as usize];
        pair.ends[1].write(id, b"again").unwrap();
        pair.settle();
    }
    pair.now += Duration::from_secs(2);
    for end in &mut pair.ends {
        end.on_wakeup(pair.now);
    }
    pair.settle();
    let unanswered: usize = pair.ends[1]
        .connections()
        .map(|(_, _, s)| s.unacknowledged())
        .sum();
    assert_eq!(unanswered, 0);
}

/// A hundred thousand connections, both ends of each in this process: the memory per connection.
#[test]
#[ignore = "200 000 ends: a gigabyte and some seconds; run by make check-long"]
fn a_hundred_thousand_connections() {
    let before = resident();
    let (pair, opened) = open_many(100_000, 100_000);
    assert_eq!(opened, 100_000);
    let each = (resident() - before) / 200_000;
    println!("{each} bytes an end");
    // The sending ends have a sender of some 1.5 kB each, the others have no sender.
    assert!(each < 4096, "{each} bytes an end");
    drop(pair);
}
