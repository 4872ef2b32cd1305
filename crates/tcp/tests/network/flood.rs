//! A classifier that attributes every loss to the radio, at a queue that is the only one to drop:
//! what the bound on such losses saves there, and what it costs where the radio loses.

use airtcp_tcp::loss_differentiation::{Differentiation, ZigZagTable};
use airtcp_tcp::{Config, Profile};
use airtcp_units::{Duration, Instant};

use crate::toy::{Application, Network, bottleneck};

/// Every round trip is below a mean plus this many deviations.
const ALWAYS_RADIO: Differentiation = Differentiation::ZigZag(ZigZagTable {
    below_mean: [-1e9; 4],
    gain: 1.0 / 16.0,
});

/// Retransmissions and time of 8 MB over 10 Mbit/s, 20 ms each way and a queue of 200 packets, of
/// which `loss` in ten thousand are lost behind it.
fn transfer(differentiation: Option<Differentiation>, bounded: bool, loss: u64) -> (u64, Duration) {
    let config = Config {
        differentiation,
        bounded_radio: bounded,
        ..Profile::LinuxReno.config()
    };
    let applications = [Application::sends(8_000_000), Application::sends(0)];
    let fate = bottleneck(10_000_000, 200, Duration::from_millis(20), loss, 7);
    let mut network = Network::new([config; 2], applications, fate);
    assert!(network.run(Instant::ZERO + Duration::from_secs(600)));
    let counters = network.ends[0].connection.sender().counters();
    (counters.segments_retransmitted, network.now - Instant::ZERO)
}

/// Slow start ends with twice of what the path holds. Half of that fits, and four fifths lose again
/// what they exceed it by.
#[test]
fn a_full_queue_is_not_flooded() {
    let (reno, _) = transfer(None, false, 0);
    let (flood, _) = transfer(Some(ALWAYS_RADIO), false, 0);
    let (bounded, _) = transfer(Some(ALWAYS_RADIO), true, 0);
    println!("Reno {reno}, always the radio {flood}, bounded {bounded}");
    assert!(flood * 10 > reno * 15, "{flood} beside {reno}");
    assert!(bounded * 10 < reno * 12, "{bounded} beside {reno}");
}

/// Nothing comes near the bound where a radio loses up to 5 % of the packets.
#[test]
fn the_bound_costs_nothing_where_the_radio_loses() {
    for loss in [50, 100, 200, 500] {
        let free = transfer(Some(ALWAYS_RADIO), false, loss);
        let bounded = transfer(Some(ALWAYS_RADIO), true, loss);
        assert_eq!(free, bounded, "{loss} in ten thousand");
    }
}
