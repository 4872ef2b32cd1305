//! TCP over aggregating Wi-Fi: what ns-3.37 measured, and what the queues of an access point do.

use super::*;

/// Goodput of each flow in Mbit/s, the mean over seeds.
fn megabits(text: &str, seeds: u64) -> Vec<f64> {
    let scenario = scenario(text);
    let runs: Vec<_> = (1..=seeds).map(|seed| summary(&scenario, seed)).collect();
    (0..runs[0].flows.len())
        .map(|flow| {
            let all = runs.iter().map(|run| run.flows[flow].delivery.goodput_bps);
            all.sum::<f64>() / seeds as f64 / 1e6
        })
        .collect()
}

/// A download over 802.11n at 65 Mbit/s, an ACK for one, two, four and sixteen segments. ns-3.37 has
/// 51.1, 52.6, 53.3, 53.9 Mbit/s with A-MPDU and 20.5, 24.7, 27.0, 29.1 without (half-widths of 0.4 at
/// most), its ACKs aggregated too and payloads of 1448 bytes.
#[test]
fn goodput_of_tcp_is_ns_3s() {
    for (frames, theirs) in [
        (256, [51.1, 52.6, 53.3, 53.9]),
        (1, [20.5, 24.7, 27.0, 29.1]),
    ] {
        for (segments, theirs) in [1, 2, 4, 16].into_iter().zip(theirs) {
            let text = format!(
                "duration = '10 s'\ntopology = 'wlan'\nflows.direction = 'down'\n\
                tcp.profile = 'sack'\ntcp.delayed_ack.segments = {segments}\n\
                tcp.mss = 1460\ntcp.max_window = 1000\n\
                [wlan]\nstandard = '802.11n'\nmcs = 7\nspatial_streams = 1\n\
                channel_width = '20 MHz'\nscheduler = 'fifo'\naggregation.frames = {frames}\n\
                [wired]\ndelay = '1 ms'\n"
            );
            let ours = megabits(&text, 3)[0];
            println!("{frames} frames, ACK for {segments}: {ours:.2}, ns-3 {theirs}");
            assert!((ours / theirs - 1.0).abs() < 0.05, "{ours}, {theirs}");
        }
    }
}

/// Two stations at 65 Mbit/s and one at 6.5 download. With one queue for all they get about the same,
/// and the slow one keeps the channel; by airtime the fast get several times as much.
#[test]
fn airtime_fairness_frees_the_fast_stations() {
    let with = |scheduler: &str| {
        let text = format!(
            "duration = '20 s'\ntopology = 'wlan'\nflows.direction = 'down'\nflows.count = 3\n\
            tcp.profile = 'linux'\n[wlan]\nstandard = '802.11n'\nstation_mcs = [7, 7, 0]\n\
            spatial_streams = 1\nscheduler = '{scheduler}'\n[wired]\ndelay = '10 ms'\n"
        );
        megabits(&text, 2)
    };
    let (fifo, airtime) = (with("fifo"), with("airtime"));
    println!("fifo {fifo:.2?}, airtime {airtime:.2?}");
    let sum = |all: &[f64]| all.iter().sum::<f64>();
    assert!(sum(&airtime) > 1.8 * sum(&fifo), "{fifo:?}, {airtime:?}");
    assert!(airtime[2] > 1.0 && airtime[2] < 3.0, "{airtime:?}");
}

/// A run says how many frames its aggregates have, and whose airtime is whose.
#[test]
fn aggregates_and_airtime_are_observed() {
    let text = "duration = '3 s'\ntopology = 'wlan'\nflows.direction = 'up'\n\
        [wlan]\nstandard = '802.11ax'\nloss.rate = 0.1\nretry_limit = 12\n\
        [wired]\nrate = '1 Gbit/s'\ndelay = '5 ms'\n";
    let scenario = scenario(text);
    let first = summary(&scenario, 1);
    assert_eq!(
        first.flows[0].losses.segments_lost_link, 0,
        "the radio repairs all"
    );
    assert!(first.flows[0].delivery.goodput_bps > 80e6);
}
