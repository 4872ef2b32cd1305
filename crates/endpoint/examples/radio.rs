//! A driver of a radio that queues for long before it sends, and reports departures: the
//! retransmission timer and the round trip start then. Time is virtual; the peer is a second
//! endpoint, 20 ms away.
//!
//! ```text
//! cargo run --package airtcp-endpoint --example radio
//! ```

use std::collections::VecDeque;

use airtcp_endpoint::{ConnectionId, Departure, Endpoint, ListenOptions, Options, Settings};
use airtcp_units::{Duration, Instant};

/// Airtime of a frame, and its delay to the other side.
const AIRTIME: Duration = Duration::from_millis(120);
const DELAY: Duration = Duration::from_millis(20);

/// The radio of one side: one frame at a time, in order.
#[derive(Default)]
struct Radio {
    queue: VecDeque<(Vec<u8>, Option<Departure>)>,
    free_at: Instant,
    flying: VecDeque<(Instant, Vec<u8>)>,
}

/// Transfers `total` bytes; returns the sender's smoothed round trip and its timeouts.
fn transfer(total: usize, reports: bool) -> (Duration, u64) {
    let options = Options {
        departures: reports,
        ..Options::default()
    };
    let mut ends = [1, 2].map(|number| Endpoint::new(Settings::new([number; 16])));
    let mut radios = [Radio::default(), Radio::default()];
    let mut now = Instant::ZERO;
    let address = |text: &str| text.parse().expect("an address");
    let (from, to) = (address("10.0.0.1:0"), address("10.0.0.2:80"));
    let listener = ends[1]
        .listen(to, ListenOptions::default())
        .expect("a free port");
    let client: ConnectionId = ends[0]
        .connect(now, from, to, &options)
        .expect("a free port");
    let (mut server, mut written, mut read) = (None, 0, 0);
    let mut buffer = vec![0; 1 << 16];
    while read < total {
        written += ends[0]
            .write(client, &vec![0; (total - written).min(1 << 14)])
            .unwrap_or(0);
        server = server.or_else(|| ends[1].accept(listener));
        if let Some(id) = server
            && let Ok(airtcp_endpoint::Read::Bytes(count)) = ends[1].read(id, &mut buffer)
        {
            read += count;
        }
        let mut next = Instant::FAR_FUTURE;
        for side in 0..2 {
            let mut packet = Vec::new();
            while let Some(transmit) = ends[side].poll_transmit(now, &mut packet) {
                radios[side]
                    .queue
                    .push_back((packet.clone(), transmit.departure));
            }
            let radio = &mut radios[side];
            if radio.free_at <= now
                && let Some((frame, departure)) = radio.queue.pop_front()
            {
                // The frame leaves now: report it to the endpoint.
                radio.free_at = now + AIRTIME;
                radio.flying.push_back((now + AIRTIME + DELAY, frame));
                if let Some(departure) = departure {
                    ends[side].on_transmitted(now, departure);
                }
            }
            if !radio.queue.is_empty() {
                next = next.min(radio.free_at);
            }
            let first = radio.flying.front();
            next = next.min(first.map_or(Instant::FAR_FUTURE, |&(at, _)| at));
            next = next.min(ends[side].next_wakeup());
        }
        now = now.max(next);
        for side in 0..2 {
            while let Some(&(at, _)) = radios[side].flying.front() {
                if at > now {
                    break;
                }
                if let Some((_, frame)) = radios[side].flying.pop_front() {
                    let _ = ends[1 - side].handle_packet(now, &frame);
                }
            }
            ends[side].on_wakeup(now);
        }
    }
    let stream = ends[0].stream(client).expect("it is not released");
    let sender = stream.connection().sender();
    (
        sender.rtt().srtt().unwrap_or_default(),
        sender.counters().timeouts,
    )
}

fn main() {
    for reports in [false, true] {
        let (srtt, timeouts) = transfer(300_000, reports);
        let told = if reports {
            "told when frames leave"
        } else {
            "not told"
        };
        println!("{told}: smoothed round trip {srtt}, {timeouts} timeouts");
    }
}
