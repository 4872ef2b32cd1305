//! NewReno without SACK after a slow-start overshoot: the number of losses for which RFC 6582 §3.2
//! and §4 let the timer run after the first partial acknowledgment.

use airtcp_tcp::{Config, Event, Profile};
use airtcp_units::{Duration, Instant};

use crate::toy::{Application, Network, losing};

const MSS: u64 = 1448;
const RTT: Duration = Duration::from_millis(100);
const SEGMENTS: u64 = 4000;

/// Segment 400 and later are sent while slow start has some 600 in flight.
fn transfer(is_lost: fn(u64) -> bool) -> Network {
    let configs = [Profile::NewReno.config(), Config::default()];
    let applications = [Application::sends(SEGMENTS * MSS), Application::sends(0)];
    let fate = losing(MSS, RTT / 2, is_lost);
    let mut network = Network::new(configs, applications, fate);
    assert!(
        network.run(Instant::ZERO + Duration::from_secs(120)),
        "it stalls"
    );
    network
}

fn timeouts(network: &Network) -> usize {
    network.ends[0].count(|event| matches!(event, Event::Timeout { .. }))
}

fn finished(network: &Network) -> Duration {
    network.now - Instant::ZERO
}

/// Duration of the transfer with one loss at the same place: slow start to some 600 segments, half
/// of that, and one more segment per round trip.
fn with_one_loss() -> Duration {
    finished(&transfer(|segment| segment == 400))
}

/// One retransmission per round trip would take 14 s for 140 losses. The timer ends that.
fn recovers(is_lost: fn(u64) -> bool) {
    let network = transfer(is_lost);
    let extra = finished(&network) - with_one_loss();
    assert_eq!(timeouts(&network), 1, "one timeout ends the recovery");
    assert!(extra < RTT * 25, "{extra:?} longer than with one loss");
    let counters = network.ends[0].connection.sender().counters();
    assert_eq!(counters.fast_retransmits, 1);
    assert!(counters.segments_retransmitted >= 140);
    // Go-back-N retransmits the outstanding data once.
    assert!(counters.segments_retransmitted < 800, "{counters:?}");
}

#[test]
fn recovers_from_140_lost_in_a_row() {
    recovers(|segment| (400..540).contains(&segment));
}

/// A full drop-tail queue in slow start drops every second packet: two arrive for each that leaves.
#[test]
fn recovers_from_every_second_lost() {
    recovers(|segment| (400..680).contains(&segment) && segment % 2 == 0);
}
