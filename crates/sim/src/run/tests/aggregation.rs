//! TCP over aggregating Wi-Fi: measurements of ns-3.37, and the effect of an access point's queues.

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

/// A download over 802.11n at 65 Mbit/s, an ACK for one, two, four and sixteen segments. ns-3.37
/// has
/// 51.1, 52.6, 53.3, 53.9 Mbit/s with A-MPDU and 20.5, 24.7, 27.0, 29.1 without (half-widths of 0.4
/// at most), its ACKs aggregated too and payloads of 1448 bytes.
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

/// Two stations at 65 Mbit/s and one at 6.5 download. With one queue for all they get about the
/// same, and the slow one keeps the channel; by airtime the fast get several times as much.
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

/// A run reports the number of frames in its aggregates, and each station's airtime.
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

/// A laptop uploads over 802.11n at 130 Mbit/s with a deep device queue. Small queues keep little
/// of it there: CUBIC's round trip falls to two fifths and less, more with bursts of 2^−10 s than
/// with the 2^−7 s that Wi-Fi's drivers ask for, and goodput stays.
#[test]
fn small_queues_keep_latency_low() {
    let run = |small: bool, shift: u32, congestion: &str| {
        let text = format!(
            "duration = '10 s'\ntopology = 'wlan'\nflows.direction = 'up'\n\
            tcp.profile = 'linux'\ntcp.congestion_control = '{congestion}'\n\
            tcp.small_queue = {small}\ntcp.pacing_shift = {shift}\n\
            [wlan]\nstandard = '802.11n'\nscheduler = 'fifo'\n\
            [wired]\nrate = '1 Gbit/s'\ndelay = '5 ms'\n"
        );
        let flow = summary(&scenario(&text), 1).flows[0];
        let median = flow.latency.rtt_p50_ms.expect("measured");
        println!(
            "{congestion}, small {small}, shift {shift}: {:.1} Mbit/s, {median:.1} ms",
            flow.delivery.goodput_bps / 1e6
        );
        (flow.delivery.goodput_bps / 1e6, median)
    };
    for congestion in ["cubic", "bbr"] {
        let (deep, wifi, usual) = (
            run(false, 7, congestion),
            run(true, 7, congestion),
            run(true, 10, congestion),
        );
        assert!(wifi.0 > 0.9 * deep.0, "{congestion}: {wifi:?}, {deep:?}");
        if congestion == "cubic" {
            assert!(wifi.1 * 2.5 < deep.1, "{wifi:?}, {deep:?}");
            assert!(usual.1 < wifi.1, "{usual:?}, {wifi:?}");
        }
    }
}

/// During a saturated best-effort upload from the same laptop a call of 100 kbit/s marked EF waits
/// for one aggregate at most; unmarked it waits in the queue.
#[test]
fn a_marked_call_overtakes() {
    let delay = |mark: &str| {
        let text = format!(
            "duration = '5 s'\ntopology = 'wlan'\nflows.direction = 'up'\nflows.count = 2\n\
            flows.kind = ['tcp', 'udp']\nflows.dscp = ['CS0', '{mark}']\n\
            flows.udp = {{ rate = '100 kbit/s', size = '160 B' }}\n\
            [wlan]\nstandard = '802.11n'\nstations = 1\nscheduler = 'fifo'\n\
            [wired]\nrate = '1 Gbit/s'\ndelay = '5 ms'\n"
        );
        let flow = summary(&scenario(&text), 1).flows[1];
        flow.latency.delay_p95_ms.expect("measured")
    };
    let (marked, unmarked) = (delay("EF"), delay("CS0"));
    println!("EF {marked:.1} ms, CS0 {unmarked:.1} ms");
    assert!(
        marked < 12.0 && unmarked > 3.0 * marked,
        "{marked}, {unmarked}"
    );
}

/// With Minstrel-HT a station ten metres away ends in a fast mode and one far away in a slow one,
/// as the probes show.
#[test]
fn rates_follow_the_distance() {
    let text = "duration = '4 s'\ntopology = 'wlan'\nflows.direction = 'down'\nflows.count = 2\n\
        [wlan]\nstandard = '802.11n'\nspatial_streams = 1\nrate_control = 'minstrel-ht'\n\
        radio.distance_m = [5, 60]\nradio.path_loss_exponent = 3.5\n[wired]\ndelay = '5 ms'\n";
    let observe = Observe {
        probes: ["rate", "mode", "mode_streams", "mode_success", "snr"]
            .map(|name| name.parse().unwrap())
            .to_vec(),
        ..Observe::default()
    };
    let outcome = run(&scenario(text), 1, &observe, &|_| true).expect("a run");
    let column = |name: &str| {
        let column = outcome.samples.column_by_name(name).unwrap();
        column.as_primitive::<Float64Type>().clone()
    };
    let (rates, modes) = (column("rate_bps"), column("mode_mcs"));
    let successes = column("mode_success_probability");
    let rows = outcome.samples.num_rows();
    println!(
        "{} {} dB",
        column("snr_db").value(rows - 2),
        column("snr_db").value(rows - 1)
    );
    assert_eq!(modes.value(rows - 2), 7.0);
    assert_eq!(rates.value(rows - 2), 65e6);
    assert!(modes.value(rows - 1) < 4.0, "{}", modes.value(rows - 1));
    assert!((0.1..=1.0).contains(&successes.value(rows - 1)));
    assert_eq!(column("mode_streams").value(rows - 1), 1.0);
}
