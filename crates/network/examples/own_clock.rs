//! A network driven by a wall clock instead of the simulator: packets of bytes over an 802.11
//! channel, then a wired line, and back. `cargo run -p airtcp-network --example own_clock`
//!
//! ```text
//!   mobile ── 802.11b ── access point ── 10 Mbit/s, 20 ms ── a server that echoes
//! ```

use std::error::Error;
use std::{thread, time};

use airtcp_link::mac::damage::DamageConfig;
use airtcp_link::mac::dcf::{BssConfig, LLC_BYTES, MAC_BYTES, StationConfig};
use airtcp_link::mac::own_retry_limits::StationRetryLimits;
use airtcp_link::phy::{Phy, Preamble, Standard};
use airtcp_link::scheduler::RetransmissionOrder;
use airtcp_link::{
    Delay, Discipline, ErrorModel, PipeConfig, QueueLimit, Service, frame::RetryLimit,
};
use airtcp_network::{
    ACCESS_POINT, AirHop, Arrivals, Content, Hop, Host, MediumConfig, MediumKind,
};
use airtcp_network::{Network, NetworkConfig};
use airtcp_units::{BitRate, Duration, Instant};

fn main() -> Result<(), Box<dyn Error>> {
    // Packets carry a handle of their bytes: their place in this list.
    let bytes: Vec<Vec<u8>> = (1..=8).map(|n| vec![n; 150 * usize::from(n)]).collect();
    let mut network: Network<usize> = Network::new(config()?, 1);
    let air = |from, to| {
        Hop::Air(AirHop {
            medium: 0,
            from,
            to,
        })
    };
    let up = [air(1, ACCESS_POINT), Hop::Pipe(0)];
    let down = [Hop::Pipe(1), air(ACCESS_POINT, 1)];
    let [mut mobile, mut server] = network.add_flow(&up, &down);

    let began = time::Instant::now();
    let clock = || Instant::from_nanos(began.elapsed().as_nanos() as u64);
    let mut arrivals = Arrivals::default();
    for (handle, bytes) in bytes.iter().enumerate() {
        let packet = mobile.packet(Content::Other(bytes.len() as u32), handle);
        network.inject(clock(), packet, &mut arrivals);
    }
    let mut echoes = 0;
    while echoes < bytes.len() && !network.is_idle() {
        let wait = network
            .next_wakeup()
            .as_nanos()
            .saturating_sub(clock().as_nanos());
        thread::sleep(time::Duration::from_nanos(wait));
        network.advance(clock(), &mut arrivals);
        while let Some(arrival) = arrivals.next() {
            let handle = arrival.packet.carried;
            let (time, size) = (arrival.time, bytes[handle].len());
            println!("{time}  {:?}: packet {handle}, {size} bytes", arrival.host);
            match arrival.host {
                Host::Server => {
                    let echo = server.packet(arrival.packet.content, handle);
                    network.inject(clock(), echo, &mut arrivals);
                }
                _ => echoes += 1,
            }
        }
    }
    assert_eq!(echoes, bytes.len(), "nothing on this way loses packets");
    Ok(())
}

/// The channel and both directions of the line.
fn config() -> Result<NetworkConfig, Box<dyn Error>> {
    let line = PipeConfig {
        policer: None,
        service: Service::Constant(BitRate::from_bps(10_000_000)),
        queue: QueueLimit::Packets(50),
        discipline: Discipline::DropTail,
        fec: None,
        error: ErrorModel::None,
        delay: Delay::Constant(Duration::from_millis(20)),
    };
    let station = StationConfig {
        queue: QueueLimit::Packets(50),
        order: RetransmissionOrder::HeadOfLine,
        short_retry_limit: RetryLimit::Unlimited,
        long_retry_limit: RetryLimit::Unlimited,
    };
    let rate = |megabits: u64| BitRate::from_bps(megabits * 1_000_000);
    let channel = BssConfig {
        phy: Phy::new(Standard::B, Preamble::Long, rate(11), rate(1))?,
        station_modes: Vec::new(),
        stations: 1,
        mobile: station,
        access_point: station,
        station_retry_limits: StationRetryLimits::default(),
        rts_threshold: None,
        fragmentation_threshold: None,
        contention_window: None,
        answer_timeout: None,
        overhead: MAC_BYTES + LLC_BYTES,
        damage: DamageConfig::default(),
        report_retries: false,
    };
    let medium = MediumConfig::new("wlan", MediumKind::Bss(Box::new(channel)));
    Ok(NetworkConfig {
        pipes: vec![("up".to_owned(), line.clone()), ("down".to_owned(), line)],
        media: vec![medium],
        agents: Vec::new(),
    })
}
