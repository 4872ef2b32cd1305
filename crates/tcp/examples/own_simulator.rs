//! A discrete-event simulator of a stranger, with two TCP endpoints from here: it owns the clock,
//! the queue and the line; the endpoints are asked when to wake them, and given segments.
//!
//! ```text
//! cargo run --package airtcp-tcp --example own_simulator
//! ```

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use airtcp_packet::{Segment, SequenceNumber};
use airtcp_tcp::{Connection, Profile};
use airtcp_units::{BitRate, Duration, Instant};

const BYTES: u64 = 2_000_000;
const RATE: BitRate = BitRate::from_bps(10_000_000);
const DELAY: Duration = Duration::from_millis(20);
/// IPv4's and TCP's headers.
const HEADERS: u64 = 40;

/// The stranger's event: a segment reaches an end.
struct Arrival {
    at: Instant,
    /// The order of equal instants.
    number: u64,
    to: usize,
    segment: Segment,
}

/// The stranger's simulator: a line each way that carries one segment at a time, and loses every
/// `lossy`-th of the first one's.
struct Simulator {
    now: Instant,
    events: BinaryHeap<Reverse<(Instant, u64, usize)>>,
    arrivals: Vec<Option<Arrival>>,
    free_at: [Instant; 2],
    sent: u64,
    lossy: u64,
}

impl Simulator {
    fn send(&mut self, from: usize, segment: Segment) {
        let bytes = HEADERS + u64::from(segment.payload_bytes);
        let airtime = Duration::from_nanos(bytes * 8 * 1_000_000_000 / RATE.as_bps());
        self.free_at[from] = self.free_at[from].max(self.now) + airtime;
        self.sent += 1;
        if from == 0 && segment.payload_bytes > 0 && self.sent.is_multiple_of(self.lossy) {
            return;
        }
        let arrival = Arrival {
            at: self.free_at[from] + DELAY,
            number: self.sent,
            to: 1 - from,
            segment,
        };
        let place = self.arrivals.len();
        self.events
            .push(Reverse((arrival.at, arrival.number, place)));
        self.arrivals.push(Some(arrival));
    }
}

/// Sends `BYTES` from one end to the other; returns the time it took and the segments repeated.
fn transfer(profile: Profile, lossy: u64) -> (Duration, u64) {
    let config = profile.config();
    let mut ends = [
        Connection::connect(&config, SequenceNumber(1)),
        Connection::listen(&config, SequenceNumber(2)),
    ];
    let mut line = Simulator {
        now: Instant::ZERO,
        events: BinaryHeap::new(),
        arrivals: Vec::new(),
        free_at: [Instant::ZERO; 2],
        sent: 0,
        lossy,
    };
    ends[0].write(BYTES);
    let mut read = 0;
    while read < BYTES {
        for (from, end) in ends.iter_mut().enumerate() {
            while let Some(segment) = end.poll(line.now) {
                line.send(from, segment);
            }
        }
        let arrival = line.events.peek().map(|Reverse((at, ..))| *at);
        let wakeup = ends[0].next_wakeup().min(ends[1].next_wakeup());
        line.now = line
            .now
            .max(wakeup.min(arrival.unwrap_or(Instant::FAR_FUTURE)));
        while let Some(&Reverse((at, _, place))) = line.events.peek()
            && at <= line.now
        {
            line.events.pop();
            if let Some(one) = line.arrivals[place].take() {
                ends[one.to].handle(line.now, &one.segment, &mut |_, _| ());
            }
        }
        for end in &mut ends {
            if end.next_wakeup() <= line.now {
                end.on_wakeup(line.now, &mut |_, _| ());
            }
        }
        read += ends[1].read(u64::MAX);
    }
    let repeated = ends[0].sender().counters().segments_retransmitted;
    (line.now - Instant::ZERO, repeated)
}

fn main() {
    for profile in [Profile::Reno, Profile::Sack] {
        for lossy in [u64::MAX, 100] {
            let (took, repeated) = transfer(profile, lossy);
            println!("{}: {took}, {repeated} repeated", profile.name());
        }
    }
}
