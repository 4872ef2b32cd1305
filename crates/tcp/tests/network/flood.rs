//! A classifier that attributes every loss to the radio, at a queue that is the only one to drop:
//! the benefit of the bound on such losses there, and its cost if the radio loses.

use airtcp_tcp::loss_differentiation::{Differentiation, ZigZagTable};
use airtcp_tcp::{Config, Profile};
use airtcp_units::{Duration, Instant};

use crate::toy::{Application, Network, bottleneck, changing};

/// Every round trip is below a mean plus this many deviations.
const ALWAYS_RADIO: Differentiation = Differentiation::ZigZag(ZigZagTable {
    below_mean: [-1e9; 4],
    gain: 1.0 / 16.0,
});

/// Retransmissions and time of 8 MB over 10 Mbit/s, 20 ms each way and a queue of 200 packets, with
/// a loss of `loss` in ten thousand after it.
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

/// Slow start ends with twice the path's capacity. Half of that fits, and four fifths lose the
/// excess once more.
#[test]
fn a_full_queue_is_not_flooded() {
    let (reno, _) = transfer(None, false, 0);
    let (flood, _) = transfer(Some(ALWAYS_RADIO), false, 0);
    let (bounded, _) = transfer(Some(ALWAYS_RADIO), true, 0);
    println!("Reno {reno}, always the radio {flood}, bounded {bounded}");
    assert!(flood * 10 > reno * 15, "{flood} against {reno}");
    assert!(bounded * 10 < reno * 12, "{bounded} against {reno}");
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

/// Retransmissions of ten seconds' worth of data at `bit_rate`, over a link that falls to a
/// `share`-th of that for three of six seconds, `phase` into which it begins.
fn falling(
    differentiation: Option<Differentiation>,
    (bit_rate, share): (u64, u64),
    queue: u64,
    phase: Duration,
    loss: u64,
) -> u64 {
    let config = Config {
        differentiation,
        bounded_radio: true,
        ..Profile::LinuxReno.config()
    };
    let rate = move |now: Instant| {
        let into = (now + phase).as_nanos() % 6_000_000_000;
        if into < 3_000_000_000 {
            bit_rate
        } else {
            bit_rate / share
        }
    };
    let applications = [Application::sends(bit_rate / 8 * 10), Application::sends(0)];
    let fate = changing(rate, queue, Duration::from_millis(25), loss, 7);
    let mut network = Network::new([config; 2], applications, fate);
    network.run(Instant::ZERO + Duration::from_secs(20));
    let counters = network.ends[0].connection.sender().counters();
    counters.segments_retransmitted
}

/// The adjusted classifier (Lien et al. §III-B) at queues that fill repeatedly: the kernel had one
/// run of fifty with 6024 retransmissions for some 90, before there was a bound.
#[test]
fn the_adjusted_classifier_floods_no_queue() {
    let adjusted = Some(Differentiation::ZigZag(ZigZagTable::NEWZAG_ADJUSTED));
    for rates in [(5_000_000, 10), (10_000_000, 50), (50_000_000, 2)] {
        for queue in [100, 400] {
            for phase in [0, 900, 1800].map(Duration::from_millis) {
                for loss in [0, 10] {
                    let [reno, zigzag] =
                        [None, adjusted].map(|which| falling(which, rates, queue, phase, loss));
                    assert!(
                        zigzag * 10 <= reno * 13 + 600,
                        "{zigzag} against {reno}: {rates:?}, {queue}, {phase}, {loss}"
                    );
                }
            }
        }
    }
}

/// Retransmissions where a path that carries `bit_rate` with 50 ms each way before a queue of 50
/// falls to a `share`-th of that after four seconds, for good: of the window then, most is more
/// than the path bears.
fn shrinking(differentiation: Option<Differentiation>, bounded: bool, share: u64) -> u64 {
    let config = Config {
        differentiation,
        bounded_radio: bounded,
        ..Profile::LinuxReno.config()
    };
    let rate = move |now: Instant| {
        let falls = now > Instant::ZERO + Duration::from_secs(4);
        50_000_000 / if falls { share } else { 1 }
    };
    let applications = [Application::sends(100_000_000), Application::sends(0)];
    let fate = changing(rate, 50, Duration::from_millis(50), 0, 7);
    let mut network = Network::new([config; 2], applications, fate);
    network.run(Instant::ZERO + Duration::from_secs(20));
    let counters = network.ends[0].connection.sender().counters();
    counters.segments_retransmitted
}

/// The path has just sustained the window left by an answer "the radio" if no more than a fifth was
/// lost: with the bound no such answer is left that overflows the same path once more. Without it,
/// and always given, it is given eight times over a path that sustains an eighth of the window.
#[test]
fn a_path_that_bears_an_eighth_of_the_window_is_not_flooded() {
    let adjusted = Some(Differentiation::ZigZag(ZigZagTable::NEWZAG_ADJUSTED));
    for share in [20, 50] {
        let reno = shrinking(None, false, share);
        let flood = shrinking(Some(ALWAYS_RADIO), false, share);
        assert!(flood * 10 > reno * 15, "{flood} against {reno}");
        for which in [adjusted, Some(ALWAYS_RADIO)] {
            let bounded = shrinking(which, true, share);
            assert!(
                bounded * 10 < reno * 11,
                "{bounded} against {reno}: {which:?}"
            );
        }
    }
}
