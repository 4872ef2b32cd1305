//! Cost of one packet through a pipe: `cargo bench -p airtcp-link`.
//!
//! A plain loop, since the quantity is a mean over hundreds of millions of equal operations and the
//! best of several rounds is the undisturbed cost of the code.

use airtcp_link::{
    Delay, Discipline, ErrorModel, MahimahiTrace, Pipe, PipeConfig, QueueLimit, Service, Stream,
    Transmission,
};
use airtcp_units::{BitRate, Duration, Instant, Probability};
use std::hint::black_box;
use std::sync::Arc;

const PACKETS: u64 = 4_000_000;
const ROUNDS: usize = 7;
const BYTES: u32 = 1500;
/// 1500 bytes at 10 Mbit/s: the link is just kept busy.
const SPACING: Duration = Duration::from_micros(1200);

/// As large as the simulator's packets in a pipe.
type Packet = [u64; 12];

fn main() {
    let loss = Probability::new(0.01).expect("a probability");
    let rate = BitRate::from_bps(10_000_000);
    let opportunities: String = (1..=6000).map(|k| format!("{}\n", k * 6 / 5)).collect();
    let trace = MahimahiTrace::parse(opportunities.as_bytes(), "bench").expect("a trace");
    let cases = [
        (
            "constant rate, no loss",
            Service::Constant(rate),
            ErrorModel::None,
        ),
        (
            "constant rate, i.i.d. loss",
            Service::Constant(rate),
            ErrorModel::Independent(loss),
        ),
        (
            "unlimited, i.i.d. loss",
            Service::Unlimited,
            ErrorModel::Independent(loss),
        ),
        (
            "constant rate, bit errors",
            Service::Constant(rate),
            ErrorModel::BitErrors(loss),
        ),
        (
            "mahimahi, i.i.d. loss",
            Service::Mahimahi(Arc::new(trace)),
            ErrorModel::Independent(loss),
        ),
    ];
    for (name, service, error) in cases {
        let config = PipeConfig {
            policer: None,
            service,
            queue: QueueLimit::Packets(100),
            discipline: Discipline::DropTail,
            fec: None,
            error,
            delay: Delay::Constant(Duration::from_millis(25)),
        };
        let best = (0..ROUNDS)
            .map(|_| nanos_per_packet(config.clone()))
            .fold(f64::MAX, f64::min);
        println!("{name:30} {best:6.1} ns per packet (push and pop)");
    }
}

fn nanos_per_packet(config: PipeConfig) -> f64 {
    let mut pipe: Pipe<Packet> = Pipe::new(config, Stream::new(1, "bench"));
    let mut now = Instant::ZERO;
    // Bursts of twenty, so that packets queue as they do with a TCP sender.
    let started = std::time::Instant::now();
    for index in 0..PACKETS {
        if index % 20 == 0 {
            now += SPACING * 20;
        }
        black_box(pipe.push(
            now,
            Transmission {
                bytes: BYTES,
                flow: 0,
                index,
            },
            [index; 12],
        ));
        while pipe.next_wakeup() <= now {
            black_box(pipe.pop(now));
        }
    }
    started.elapsed().as_secs_f64() * 1e9 / PACKETS as f64
}
