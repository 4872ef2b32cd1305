//! Flows that are not TCP.

use arrow_array::Array;

use super::*;
use crate::result::FlowSummary;

fn flows(keys: &str) -> Vec<FlowSummary> {
    let scenario = scenario(keys);
    let result = run(&scenario, 1, &Observe::default(), &|_| true).expect("a run");
    result.summary.flows
}

fn near(found: f64, expected: f64, share: f64) -> bool {
    (found / expected - 1.0).abs() <= share
}

/// A datagram of 1222 bytes is a packet of 1250: 1 ms at 10 Mbit/s, followed by 25 ms.
const LINK: &str = "duration = '20 s'\nlink.rate = '10 Mbit/s'\nlink.delay = '25 ms'\n\
                    link.queue.packets = 100\nflows.udp.size = '1222 B'\n";

#[test]
fn a_rate_below_the_links_meets_an_empty_queue() {
    let udp = "flows.kind = 'udp'\nflows.udp.rate = '1 Mbit/s'\n";
    let flow = flows(&format!("{LINK}{udp}"))[0];
    assert!(near(flow.delivery.goodput_bps, 1e6, 0.005), "{flow:?}");
    assert_eq!(flow.datagrams.datagrams_lost, 0);
    assert!(flow.datagrams.datagrams_sent - flow.datagrams.datagrams_received <= 3);
    for delay in [flow.latency.delay_p50_ms, flow.latency.delay_p99_ms] {
        assert!(near(delay.unwrap(), 26.0, 0.01), "{delay:?}");
    }
    assert_eq!(flow.datagrams.jitter_ms, Some(0.0));
    assert_eq!(flow.sending.segments_sent, 0);
}

/// 10 Mbit/s in packets of 1250 bytes, 1222 of them payload, through a queue that is full: 100
/// packets ahead of each.
#[test]
fn a_saturated_source_fills_the_link() {
    let flow = flows(&format!("{LINK}flows.kind = 'udp'\n"))[0];
    assert!(
        near(flow.delivery.goodput_bps, 1e7 * 1222.0 / 1250.0, 0.003),
        "{flow:?}"
    );
    let delay = flow.latency.delay_p50_ms.unwrap();
    assert!((120.0..=128.0).contains(&delay), "{delay}");
    let counts = flow.datagrams;
    let under_way = counts.datagrams_sent - counts.datagrams_received - counts.datagrams_lost;
    assert!(under_way <= 130, "{counts:?}");
}

/// 100 bits of 1000 datagrams a second for 20 s: 10 % within three standard errors.
#[test]
fn what_the_link_loses_is_counted() {
    let lossy = "flows.kind = 'udp'\nflows.udp.rate = '5 Mbit/s'\nlink.loss.rate = 0.1\n";
    let counts = flows(&format!("{LINK}{lossy}"))[0].datagrams;
    let share = counts.datagrams_lost as f64 / counts.datagrams_sent as f64;
    let error = (0.1 * 0.9 / counts.datagrams_sent as f64).sqrt();
    assert!((share - 0.1).abs() < 3.0 * error, "{counts:?}");
}

/// A ping of 84 bytes takes 67.2 µs each way and the delays; in competition with TCP it waits in
/// its queue.
#[test]
fn a_ping_measures_the_queue_of_others() {
    let alone = flows(
        "duration = '20 s'\nlink.rate = '10 Mbit/s'\nlink.delay = '25 ms'\nflows.kind = 'ping'\n",
    )[0];
    assert_eq!(alone.datagrams.datagrams_sent, 201);
    let rtt = alone.latency.rtt_p50_ms.unwrap();
    assert!(near(rtt, 50.134, 0.01), "{rtt}");
    assert_eq!(
        (alone.delivery.goodput_bps, alone.delivery.delivered_bytes),
        (0.0, 0)
    );
    let competing = flows(
        "duration = '60 s'\nlink.rate = '10 Mbit/s'\nlink.delay = '25 ms'\n\
         link.queue.packets = 100\nflows.count = 2\nflows.kind = ['tcp', 'ping']\n",
    );
    let loaded = competing[1].latency.rtt_p95_ms.unwrap();
    assert!((100.0..175.0).contains(&loaded), "{loaded}");
    let own = competing[0].latency.rtt_p95_ms.unwrap();
    assert!(
        near(loaded, own, 0.1),
        "TCP sees the same queue: {own}, {loaded}"
    );
}

/// The numbers of a TCP flow do not depend on whether its kind is written down.
#[test]
fn tcp_is_what_it_was() {
    let plain = scenario("duration = '5 s'\nlink.loss.rate = 0.01\n");
    let named = scenario("duration = '5 s'\nlink.loss.rate = 0.01\nflows.kind = 'tcp'\n");
    let digest = |scenario| {
        let result = run(scenario, 3, &Observe::default(), &|_| true).expect("a run");
        result.summary.digest
    };
    assert_eq!(digest(&plain), digest(&named));
}

/// Over every topology, competing with TCP, both ways, and past a proxy.
#[test]
fn datagrams_cross_every_topology() {
    for topology in [
        "pipe",
        "dumbbell",
        "wlan",
        "wlan-wired-wlan",
        "arq",
        "selective-repeat",
        "selective-repeat-both-ends",
        "cell",
    ] {
        for direction in ["up", "down"] {
            if topology == "cell" && direction == "up" {
                continue;
            }
            let keys = format!(
                "duration = '60 s'\ntopology = '{topology}'\nflows.count = 3\n\
                 flows.kind = ['tcp', 'udp', 'ping']\nflows.udp.rate = '20 kbit/s'\n\
                 flows.direction = '{direction}'\n"
            );
            let [tcp, udp, ping] = flows(&keys)[..] else {
                panic!("three flows");
            };
            assert!(tcp.delivery.goodput_bps > 1e5, "{topology}, {direction}");
            assert!(
                udp.datagrams.datagrams_received > 60,
                "{topology}, {direction}: {udp:?}"
            );
            assert!(
                ping.datagrams.pings_answered > 60,
                "{topology}, {direction}: {ping:?}"
            );
            assert!(ping.latency.rtt_p50_ms.is_some() && udp.datagrams.jitter_ms.is_some());
        }
    }
}

/// Media next to a download that fills the queue, and alone: its rate, delay and loss.
#[test]
fn media_follow_the_room_that_others_leave() {
    let keys = "duration = '60 s'\nlink.rate = '4 Mbit/s'\nlink.delay = '25 ms'\n\
                link.queue.packets = 200\n";
    let alone = &flows(&format!("{keys}flows.kind = 'scream'\n"))[0];
    assert!(alone.delivery.goodput_bps > 2e6, "{alone:?}");
    assert!(alone.latency.delay_p95_ms.unwrap() < 200.0, "{alone:?}");
    let shared = format!("{keys}flows.count = 2\nflows.kind = ['tcp', 'scream']\n");
    let [download, media] = &flows(&shared)[..] else {
        panic!("two flows");
    };
    assert!(media.delivery.goodput_bps < alone.delivery.goodput_bps);
    assert!(download.delivery.goodput_bps > 1e6, "{download:?}");
    assert!(media.latency.delay_p95_ms > alone.latency.delay_p95_ms);
    let counts = media.datagrams;
    assert!(counts.datagrams_received <= counts.datagrams_sent);
    assert!(media.datagrams.jitter_ms.is_some());
}

/// The fates of single pings are those that the summary counts, and one that was answered waited
/// for nothing but the link: 67.2 µs for 84 bytes and 25 ms a way.
#[test]
fn each_ping_is_recorded() {
    let scenario = scenario(
        "duration = '60 s'\nlink.rate = '10 Mbit/s'\nlink.delay = '25 ms'\nflows.count = 2\n\
         flows.kind = ['udp', 'ping']\nflows.udp.rate = '1 Mbit/s'\n\
         link.loss = { rate = 0.1, direction = 'both' }\n",
    );
    let observe = Observe {
        pings: true,
        ..Observe::default()
    };
    let result = run(&scenario, 1, &observe, &|_| true).expect("a run");
    let counts = result.summary.flows[1].datagrams;
    let pings = &result.pings;
    assert_eq!(pings.num_rows() as u64, counts.datagrams_sent);
    let column = |name: &str| pings.column_by_name(name).expect(name);
    let seconds = |name: &str| column(name).as_primitive::<Float64Type>().clone();
    let (sent, arrived, answered) = (
        seconds("sent_s"),
        seconds("arrived_s"),
        seconds("answered_s"),
    );
    let of = |fate: &str| {
        let lost = column("lost").as_string::<i32>();
        lost.iter().filter(|one| *one == Some(fate)).count() as u64
    };
    assert_eq!(of("request"), counts.datagrams_lost);
    assert_eq!(of("answer"), counts.ping_answers_lost);
    assert!(of("request") > 20 && of("answer") > 20, "{counts:?}");
    assert_eq!(
        (answered.len() - answered.null_count()) as u64,
        counts.pings_answered
    );
    assert_eq!(
        (arrived.len() - arrived.null_count()) as u64,
        counts.datagrams_received
    );
    let least = sent
        .iter()
        .zip(answered.iter())
        .filter_map(|(sent, answered)| Some(answered? - sent?))
        .fold(f64::INFINITY, f64::min);
    assert!((least - 0.050_134_4).abs() < 1e-9, "{least}");
    let plain = run(&scenario, 1, &Observe::default(), &|_| true).expect("a run");
    assert_eq!((plain.summary, plain.pings.num_rows()), (result.summary, 0));
}
