//! Cost of a slot of a cellular downlink: `cargo bench -p airtcp-link --bench cell`.
//!
//! With an argument, that number of slots once and no timing, for a program that counts
//! instructions: `valgrind --tool=callgrind target/release/deps/cell-… 100000`.

use airtcp_link::fading::{Fading, Radio, RadioConfig};
use airtcp_link::frame::RetryLimit;
use airtcp_link::mac::Medium;
use airtcp_link::mac::cellular::{Cell, CellConfig, RateLaw, Scheduler};
use airtcp_link::{QueueLimit, Stream};
use airtcp_units::{Duration, Probability};
use std::num::NonZeroU32;

const SLOTS: u64 = 200_000;
const ROUNDS: usize = 5;
/// As many as in `scenarios/cell.toml`, each walking, each backlogged.
const USERS: u32 = 8;

fn main() {
    if let Some(slots) = std::env::args().nth(1).and_then(|text| text.parse().ok()) {
        run(slots);
        return;
    }
    let best = (0..ROUNDS)
        .map(|_| nanos_per_slot())
        .fold(f64::MAX, f64::min);
    println!("{USERS} walking users {best:8.1} ns a slot");
}

fn config() -> CellConfig {
    let radio = RadioConfig {
        carrier_hz: 1.9e9,
        transmit_power_dbm: 40.0,
        noise_dbm: -100.0,
        path_loss_exponent: 3.5,
        loss_at_1_m_db: None,
        shadowing_db: 4.0,
        shadowing_distance_m: None,
        fading: Fading::Jakes {
            speed_m_per_s: 0.83,
        },
    };
    let stream = Stream::new(1, "bench");
    let radio = |user| Radio::new(&radio, 300.0, stream.substream(user)).expect("a radio");
    CellConfig {
        scheduler: Scheduler::ProportionalFair {
            time_constant: 1000.0,
        },
        slot: Duration::from_nanos(1_666_667),
        rate: RateLaw::Evdo,
        radios: (0..u64::from(USERS)).map(radio).collect(),
        saturated: USERS,
        block_error: Probability::new(0.05).expect("a probability"),
        arq_delay: NonZeroU32::new(4).expect("more than none"),
        retry_limit: RetryLimit::Unlimited,
        queue: QueueLimit::Packets(50),
        report_retries: false,
    }
}

fn run(slots: u64) {
    let mut cell: Cell<u64> = Cell::new(&config(), Stream::new(1, "cell")).expect("a cell");
    for _ in 0..slots {
        let now = cell.next_wakeup();
        cell.on_wakeup(now, &mut ());
    }
}

fn nanos_per_slot() -> f64 {
    let started = std::time::Instant::now();
    run(SLOTS);
    started.elapsed().as_secs_f64() * 1e9 / SLOTS as f64
}
