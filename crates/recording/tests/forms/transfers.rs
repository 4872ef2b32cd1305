//! Rates of transfers: iperf3, speed tests, flent's loads. Figures are as the programs print them.

use airtcp_recording::{Bound, Direction, Recording, parse};

use crate::kin::gzip;

fn read(text: &str) -> Recording {
    parse(text.as_bytes(), "x").unwrap_or_else(|error| panic!("{error}"))
}

/// Rates in words: direction, kbit/s, bound.
pub fn rates(found: &Recording) -> Vec<(Direction, u64, Bound)> {
    let each = found.rates.iter();
    each.map(|one| (one.direction, one.mean / 1000, one.bound))
        .collect()
}

fn ms(time: Option<airtcp_units::Duration>) -> Option<f64> {
    time.map(airtcp_units::Duration::as_millis_f64)
}

/// A test of iperf3 with intervals of a second: megabits of each, round trips in microseconds.
fn iperf3(test: &str, intervals: &[(f64, Option<u64>)], end: &str) -> String {
    let each: Vec<String> = (0..)
        .zip(intervals)
        .map(|(second, (mbps, rtt))| {
            let rtt = rtt.map_or_else(String::new, |rtt| {
                format!(", \"rtt\": {rtt}, \"snd_cwnd\": 100000, \"snd_wnd\": 3000000")
            });
            format!(
                "{{\"streams\": [{{\"socket\": 5, \"start\": {second}, \"end\": {}, \"bits_per_second\": {}, \
                 \"omitted\": false, \"sender\": true{rtt}}}], \"sum\": {{}}}}",
                second + 1,
                mbps * 1e6
            )
        })
        .collect();
    format!(
        "{{\"start\": {{\"version\": \"iperf 3.12\", \"timestamp\": {{\"timesecs\": 1795832936}}, \
         \"connecting_to\": {{\"host\": \"192.0.2.9\", \"port\": 5201}}, \"test_start\": {{{test}}}}},\n\
         \"intervals\": [{}],\n\"end\": {{{end}}}}}",
        each.join(",\n")
    )
}

const TCP: &str = "\"protocol\": \"TCP\", \"reverse\": 0";
const END: &str = "\"streams\": [{}], \"sum_sent\": {\"bits_per_second\": 9600000, \"retransmits\": 3}, \
                   \"sum_received\": {\"bits_per_second\": 9400000}";

pub fn iperf3_json() -> String {
    iperf3(
        TCP,
        &[
            (9.0, Some(20_000)),
            (9.6, Some(48_000)),
            (9.7, Some(50_000)),
        ],
        END,
    )
}

#[test]
fn a_queue_in_front_of_the_link_makes_a_rate_the_links() {
    let found = read(&iperf3_json());
    assert_eq!(rates(&found), [(Direction::Up, 9_400, Bound::Link)]);
    assert_eq!(ms(found.figures.least_loaded_rtt), Some(20.0));
    assert_eq!(ms(found.figures.loaded_up_rtt), Some(48.0));
    assert_eq!(found.figures.idle_rtt, None);
    assert_eq!(found.origin.began_unix_ns, Some(1_795_832_936_000_000_000));
    assert_eq!(found.origin.hosts, ["192.0.2.9"]);
    let flat = [
        (9.0, Some(20_000)),
        (9.6, Some(20_400)),
        (9.7, Some(20_100)),
    ];
    assert_eq!(rates(&read(&iperf3(TCP, &flat, END)))[0].2, Bound::Transfer);
    let target = "\"protocol\": \"TCP\", \"reverse\": 0, \"target_bitrate\": 9600000";
    assert_eq!(
        rates(&read(&iperf3(target, &flat, END)))[0].2,
        Bound::Target
    );
    let reverse = "\"protocol\": \"TCP\", \"reverse\": 1";
    let down = rates(&read(&iperf3(reverse, &[(9.0, None), (9.6, None)], END)));
    assert_eq!(down, [(Direction::Down, 9_400, Bound::Transfer)]);
}

/// Data of UDP beyond what a link carries is its rate; below it, no more than a lower bound.
#[test]
fn udp_shows_the_link_where_it_loses() {
    let udp = "\"protocol\": \"UDP\", \"reverse\": 0, \"target_bitrate\": 50000000";
    let sent = [(50.0, None), (50.0, None)];
    let end = |received: f64, lost: f64| {
        format!(
            "\"streams\": [{{}}], \"sum_sent\": {{\"bits_per_second\": 50e6, \"sender\": true}}, \
             \"sum_received\": {{\"bits_per_second\": {received}, \"lost_percent\": {lost}, \
             \"sender\": false}}"
        )
    };
    let full = read(&iperf3(udp, &sent, &end(45.5e6, 9.0)));
    assert_eq!(rates(&full), [(Direction::Up, 45_500, Bound::Link)]);
    assert_eq!(full.rates[0].steps[0].bits_per_second, 45_500_000);
    assert_eq!(full.figures.losses, [(Direction::Up, 0.09)]);
    let below = read(&iperf3(udp, &sent, &end(50e6, 0.0)));
    assert_eq!(rates(&below), [(Direction::Up, 50_000, Bound::Target)]);
    // Old versions have one sum, of transmissions.
    let old = "\"streams\": [{}], \"sum\": {\"bits_per_second\": 50e6, \"lost_percent\": 10}";
    assert_eq!(rates(&read(&iperf3(udp, &sent, old)))[0].1, 45_000);
}

#[test]
fn both_directions_at_once_are_told_apart() {
    let stream = |mbps: f64, is_sender: bool| {
        format!(
            "{{\"start\": 0, \"end\": 1, \"bits_per_second\": {}, \"sender\": {is_sender}}}",
            mbps * 1e6
        )
    };
    let text = |peer: &str| {
        format!(
            "{{\"start\": {{{peer}, \"test_start\": {{\"protocol\": \"TCP\"}}}}, \"intervals\": \
             [{{\"streams\": [{}, {}]}}], \"end\": {{}}}}",
            stream(7.0, true),
            stream(3.0, false)
        )
    };
    let client = read(&text("\"connecting_to\": {\"host\": \"a\"}"));
    assert_eq!(
        rates(&client),
        [
            (Direction::Up, 7_000, Bound::Transfer),
            (Direction::Down, 3_000, Bound::Transfer)
        ]
    );
    // The server sends down.
    let server = read(&text("\"accepted_connection\": {\"host\": \"a\"}"));
    assert_eq!(rates(&server)[0].1, 3_000);
}

/// A stream of events is the same test, also where it was cut.
#[test]
fn a_stream_of_events_is_read() {
    let start =
        "{\"event\":\"start\",\"data\":{\"test_start\":{\"protocol\":\"TCP\",\"reverse\":1}}}\n";
    let interval = |second: u32| {
        format!(
            "{{\"event\":\"interval\",\"data\":{{\"streams\":[{{\"start\":{second},\"end\":{},\
             \"bits_per_second\":8e6,\"sender\":false}}]}}}}\n",
            second + 1
        )
    };
    let whole = format!("{start}{}{}", interval(0), interval(1));
    assert_eq!(
        rates(&read(&whole)),
        [(Direction::Down, 8_000, Bound::Transfer)]
    );
    let cut = format!("{whole}{}", &interval(2)[..40]);
    assert_eq!(read(&cut).rates[0].steps.len(), 2);
    let error = "{\"event\":\"error\",\"data\":\"the server has terminated\"}\n";
    let found = read(&format!("{whole}{error}"));
    assert!(
        found
            .remarks
            .iter()
            .any(|line| line.contains("the server has terminated"))
    );
    let damaged = format!("{start}{{\"event\":7}}\n{}", interval(0));
    let said = parse(damaged.as_bytes(), "x").unwrap_err().to_string();
    assert!(said.contains("line 2"), "{said}");
}

pub const IPERF3_TEXT: &str = "Connecting to host 192.0.2.9, port 5201\nReverse mode, remote host 192.0.2.9 is sending\n\
    [ ID] Interval           Transfer     Bitrate\n\
    [  5]   0.00-1.00   sec  5.73 MBytes  48.0 Mbits/sec                  \n\
    [  7]   0.00-1.00   sec  5.73 MBytes  44.0 Mbits/sec                  \n\
    [SUM]   0.00-1.00   sec  11.5 MBytes  92.0 Mbits/sec                  \n\
    [  5]   1.00-2.00   sec  5.61 MBytes  47.0 Mbits/sec                  \n\
    [  7]   1.00-2.00   sec  5.61 MBytes  45.0 Mbits/sec                  \n\
    [SUM]   1.00-2.00   sec  11.2 MBytes  94.0 Mbits/sec                  \n\
    - - - - - - - - - - - - - - - - - - - - - - - - -\n\
    [ ID] Interval           Transfer     Bitrate         Retr\n\
    [SUM]   0.00-2.00   sec   112 MBytes  94.1 Mbits/sec  120             sender\n\
    [SUM]   0.00-2.04   sec   110 MBytes  92.3 Mbits/sec                  receiver\n";

#[test]
fn iperf3s_text_is_read() {
    let found = read(IPERF3_TEXT);
    assert_eq!(rates(&found), [(Direction::Down, 92_300, Bound::Transfer)]);
    assert!(
        found
            .summary
            .contains("92.300 Mbit/s down, 120 retransmissions")
    );
    let steps: Vec<u64> = found.rates[0]
        .steps
        .iter()
        .map(|step| step.bits_per_second)
        .collect();
    assert_eq!(steps, [92_000_000, 94_000_000]);
    let udp = "Connecting to host a, port 5201\n[ ID] Interval           Transfer     Bitrate         Total Datagrams\n\
        [  5]   0.00-1.00   sec  5.96 MBytes  50.0 Mbits/sec  4313  \n\
        [ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams\n\
        [  5]   0.00-1.00   sec  5.96 MBytes  50.0 Mbits/sec  0.000 ms  0/4313 (0%)  sender\n\
        [  5]   0.00-1.00   sec  5.42 MBytes  45.5 Mbits/sec  0.002 ms  388/4313 (9%)  receiver\n";
    assert_eq!(rates(&read(udp)), [(Direction::Up, 45_500, Bound::Link)]);
    let said = parse(b"iperf3: error - unable to connect to server\n", "x").unwrap_err();
    assert!(
        said.to_string().contains("without a single interval"),
        "{said}"
    );
}

pub const OOKLA: &str = "{\"type\":\"result\",\"timestamp\":\"2026-11-06T11:13:00Z\",\"ping\":{\"jitter\":1.2,\
    \"latency\":18.5,\"low\":17.1,\"high\":21.9},\"download\":{\"bandwidth\":11537500,\"bytes\":120000000,\
    \"elapsed\":10400,\"latency\":{\"iqm\":61.2,\"low\":18.0,\"high\":140.1,\"jitter\":9.9}},\"upload\":\
    {\"bandwidth\":1250000,\"bytes\":13000000,\"elapsed\":10400,\"latency\":{\"iqm\":19.1}},\"packetLoss\":0.5,\
    \"server\":{\"host\":\"speed.example.net\"}}\n";

/// Ookla counts bytes a second, the Python program bits.
#[test]
fn speed_tests_are_read_in_their_units() {
    let found = read(OOKLA);
    assert_eq!(
        rates(&found),
        [
            (Direction::Down, 92_300, Bound::Link),
            (Direction::Up, 10_000, Bound::Transfer)
        ]
    );
    assert_eq!(ms(found.figures.idle_rtt), Some(18.5));
    assert_eq!(ms(found.figures.loaded_down_rtt), Some(61.2));
    assert_eq!(found.figures.losses, [(Direction::Unknown, 0.005)]);
    assert_eq!(found.origin.began_unix_ns, Some(1_793_963_580_000_000_000));
    let progress =
        "{\"type\":\"testStart\",\"isp\":\"x\"}\n{\"type\":\"ping\",\"ping\":{\"latency\":18.0}}\n";
    assert_eq!(rates(&read(&format!("{progress}{OOKLA}"))), rates(&found));
    let python = "{\"download\": 92300000.5, \"upload\": 10000000.0, \"ping\": 18.5, \"server\": {\"host\": \"a:8080\"}, \
                  \"timestamp\": \"2026-11-06T11:13:00.000000Z\", \"bytes_sent\": 1}";
    let found = read(python);
    assert_eq!(found.rates[0].mean, 92_300_001);
    assert_eq!(
        (ms(found.figures.idle_rtt), found.figures.loaded_rtt),
        (Some(18.5), None)
    );
}

pub const NETWORK_QUALITY: &str = "{\n  \"base_rtt\" : 17.5,\n  \"dl_throughput\" : 361439456,\n  \"ul_throughput\" : 24000000,\n  \
    \"il_tcp_handshake_443\" : [ 13, 12 ],\n  \"lud_foreign_tcp_handshake_443\" : [ 114, 142, 131 ],\n  \
    \"lud_foreign_tls_handshake\" : [ 350, 260 ],\n  \"lud_self_h2_req_resp\" : [ 290, 660, 210 ],\n  \
    \"responsiveness\" : 215.5,\n  \"start_date\" : \"2026-10-07 04:25:59.084\",\n  \
    \"os_version\" : \"Version 14.5\",\n  \"test_endpoint\" : \"edge.example.net\"\n}\n";

#[test]
fn network_quality_is_read_of_several_versions() {
    let found = read(NETWORK_QUALITY);
    assert_eq!(
        rates(&found),
        [
            (Direction::Down, 361_439, Bound::Link),
            (Direction::Up, 24_000, Bound::Link)
        ]
    );
    assert_eq!(
        (ms(found.figures.idle_rtt), ms(found.figures.loaded_rtt)),
        (Some(17.5), Some(131.0))
    );
    // macOS 12, and -s: by direction.
    let old = "{\"dl_flows\": 12, \"dl_throughput\": 5814456, \"lud_foreign_tcp_handshake_443\": [868, 855], \
               \"lud_self_dl_h2\": [700, 2500, 1500], \"ul_throughput\": 1117925}";
    assert_eq!(ms(read(old).figures.loaded_down_rtt), Some(1500.0));
    let failed =
        "{\"error_code\": -1009, \"error_domain\": \"NSURLErrorDomain\", \"os_version\": \"x\"}";
    let said = parse(failed.as_bytes(), "x").unwrap_err().to_string();
    assert!(said.contains("failed (error -1009)"), "{said}");
}

pub const GO: &str = "Calculated RPM...\nFinal RPM:   432 (P90, ...)\nDownload:  92.300 Mbps ( 11.538 MBps), using 20 parallel connections.\n\
    Upload:    10.000 Mbps (  1.250 MBps), using 20 parallel connections.\n";

#[test]
fn goresponsiveness_is_read() {
    assert_eq!(
        rates(&read(GO)),
        [
            (Direction::Down, 92_300, Bound::Transfer),
            (Direction::Up, 10_000, Bound::Transfer)
        ]
    );
    let log = "Time of the generation of the data point., Instantaneous throughput (B/s)., Number of parallel connections., \n\
               01-02-2026-15-04-05.000, 1000000, 4, \n01-02-2026-15-04-06.000, 3000000, 8, \n";
    let found = read(log);
    assert_eq!(found.rates[0].mean, 16_000_000);
    assert_eq!(found.rates[0].steps.len(), 2);
}

/// A ping of 10 s, a load from 2 to 8 s, by version.
pub fn flent_with_load(version: u32, loaded_ms: f64) -> String {
    let steps: Vec<String> = (0..50)
        .map(|n| format!("{:.1}", f64::from(n) * 0.2))
        .collect();
    let is_loaded = |n: u32| (10..40).contains(&n);
    let pings: Vec<String> = (0..50)
        .map(|n| {
            let ms = if is_loaded(n) { loaded_ms } else { 20.0 };
            let t = 1.7e9 + f64::from(n) * 0.2 + ms / 1e3;
            format!("{{\"seq\": {n}, \"t\": {t:.6}, \"val\": {ms}}}")
        })
        .collect();
    let load: Vec<&str> = (0..50)
        .map(|n| if is_loaded(n) { "6.0" } else { "null" })
        .collect();
    let load = load.join(", ");
    format!(
        "{{\"version\": {version}, \"x_values\": [{}], \"results\": {{\"Ping (ms) ICMP\": [], \
         \"TCP download BE\": [{load}], \"TCP download BK\": [{load}], \"TCP download sum\": [{load}], \
         \"TCP totals\": [{load}]}}, \"raw_values\": {{\"Ping (ms) ICMP\": [{}]}}, \"metadata\": {{\"NAME\": \
         \"tcp_download\", \"T0\": \"2026-11-06T11:13:00.000000Z\", \"HOST\": \"netperf.example.net\", \
         \"REMOTE_METADATA\": {{\"router\": {{\"EGRESS_INFO\": {{\"qdiscs\": [{{\"name\": \"tbf\", \"params\": \
         {{\"rate\": \"10Mbit\"}}}}]}}}}}}}}}}",
        steps.join(", "),
        pings.join(", ")
    )
}

#[test]
fn flent_has_delays_without_and_with_its_load() {
    let found = read(&flent_with_load(4, 80.0));
    assert_eq!(rates(&found), [(Direction::Down, 12_000, Bound::Link)]);
    assert_eq!(
        (
            ms(found.figures.idle_rtt),
            ms(found.figures.loaded_down_rtt)
        ),
        (Some(20.0), Some(80.0))
    );
    assert!(
        found
            .remarks
            .iter()
            .any(|line| line.contains("tbf rate 10Mbit"))
    );
    let found = read(&flent_with_load(3, 20.5));
    assert_eq!(rates(&found)[0].2, Bound::Transfer);
}

/// Before version 4 raw values of netperf's UDP_RR were transactions a second.
#[test]
fn old_transactions_of_flent_are_times() {
    let text = |version: u32| {
        let raw: Vec<String> = (0..40)
            .map(|n| {
                format!(
                    "{{\"t\": {}.0, \"val\": 100.0, \"dur\": 0.2}}",
                    1_700_000_000 + n
                )
            })
            .collect();
        format!(
            "{{\"version\": {version}, \"x_values\": [0.0], \"results\": {{\"Ping (ms) UDP\": [10.0]}}, \
             \"raw_values\": {{\"Ping (ms) UDP\": [{}]}}}}",
            raw.join(", ")
        )
    };
    for (version, expected) in [(2, 10.0), (3, 10.0), (4, 100.0)] {
        let found = parse(&gzip(text(version).as_bytes()), "x").unwrap();
        let log = found.probes.unwrap();
        assert_eq!(log.replies().len(), 40);
        assert_eq!(
            log.replies()[0].round_trip.as_millis_f64(),
            expected,
            "{version}"
        );
    }
}
