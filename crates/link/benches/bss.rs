//! Cost of one frame exchange on an IEEE 802.11 channel: `cargo bench -p airtcp-link --bench bss`.
//!
//! A plain loop, since the quantity is a mean over millions of equal operations and the best of
//! several rounds is the undisturbed cost of the code.

use airtcp_link::frame::ACCESS_POINT;
use airtcp_link::frame::{Offer, Outcome, PacketClass, RetryLimit};
use airtcp_link::mac::Medium;
use airtcp_link::mac::damage::DamageConfig;
use airtcp_link::mac::dcf::{Bss, BssConfig, LLC_BYTES, MAC_BYTES, StationConfig};
use airtcp_link::mac::own_retry_limits::StationRetryLimits;
use airtcp_link::phy::{Phy, Preamble, Standard};
use airtcp_link::scheduler::RetransmissionOrder;
use airtcp_link::{QueueLimit, Stream};
use airtcp_units::{BitRate, Instant};
use std::hint::black_box;

const DELIVERED: u64 = 2_000_000;
const ROUNDS: usize = 5;

/// As large as the simulator's packets on a channel.
type Packet = [u64; 16];

fn main() {
    for stations in [1, 5, 20] {
        for two_way in [false, true] {
            let best = (0..ROUNDS)
                .map(|_| nanos_per_packet(stations, two_way))
                .fold(f64::MAX, f64::min);
            println!(
                "{stations:2} saturated stations{:30} {best:6.1} ns per delivered packet, {:5.2} M/s",
                if two_way {
                    ", the access point answers"
                } else {
                    ""
                },
                1e3 / best
            );
        }
    }
}

fn config(stations: u32) -> BssConfig {
    let rate = |megabits: u64| BitRate::from_bps(megabits * 1_000_000);
    let phy = Phy::new(Standard::B, Preamble::Long, rate(11), rate(1));
    let own = StationConfig {
        queue: QueueLimit::Packets(50),
        order: RetransmissionOrder::HeadOfLine,
        short_retry_limit: RetryLimit::Unlimited,
        long_retry_limit: RetryLimit::Unlimited,
    };
    BssConfig {
        phy: phy.expect("a physical layer"),
        station_modes: Vec::new(),
        stations,
        mobile: own,
        access_point: own,
        station_retry_limits: StationRetryLimits::default(),
        rts_threshold: None,
        fragmentation_threshold: None,
        contention_window: None,
        answer_timeout: None,
        overhead: MAC_BYTES + LLC_BYTES,
        damage: DamageConfig::default(),
        report_retries: false,
    }
}

fn nanos_per_packet(stations: u32, two_way: bool) -> f64 {
    let config = config(stations);
    let mut bss: Bss<Packet> = Bss::new(&config, Stream::new(1, "bench")).expect("a set");
    let offer = |bytes, class| Offer {
        bytes,
        flow: 0,
        class,
        urgency: None,
    };
    let data = offer(1500, PacketClass::Data);
    let answer = offer(52, PacketClass::Acknowledgment);
    for station in 1..=stations {
        for _ in 0..10 {
            bss.push(
                Instant::ZERO,
                (station, ACCESS_POINT),
                data,
                [0; 16],
                &mut (),
            );
        }
    }
    let mut delivered = 0;
    let started = std::time::Instant::now();
    while delivered < DELIVERED {
        let now = bss.next_wakeup();
        bss.on_wakeup(now, &mut ());
        while let Some(outcome) = bss.poll() {
            if let Outcome::Delivered { packet, from, .. } = outcome {
                delivered += 1;
                if from == ACCESS_POINT {
                    continue;
                }
                black_box(bss.push(now, (from, ACCESS_POINT), data, packet, &mut ()));
                if two_way {
                    black_box(bss.push(now, (ACCESS_POINT, from), answer, packet, &mut ()));
                }
            }
        }
    }
    started.elapsed().as_secs_f64() * 1e9 / delivered as f64
}
