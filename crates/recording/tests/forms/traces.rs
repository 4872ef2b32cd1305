//! Rates by time: mahimahi, mm-link, Pantheon, CellReplay, cake-autorate, throughputs; and tc.

use airtcp_recording::{Bound, Direction, Losses, Recording, Spread, parse};
use airtcp_units::Duration;

use crate::transfers::rates;

fn read(text: &str) -> Recording {
    parse(text.as_bytes(), "x").unwrap_or_else(|error| panic!("{error}"))
}

pub fn mahimahi() -> String {
    (1..=200).map(|n| format!("{}\n", n * 10)).collect()
}

#[test]
fn mahimahis_lines_are_kept_as_they_are() {
    let found = read(&mahimahi());
    let expected: Vec<u32> = (1..=200).map(|n| n * 10).collect();
    assert_eq!(found.opportunities[0].times_ms, expected);
    assert_eq!((found.opportunities[0].bytes, found.probes), (1500, None));
    // 200 packets of 12 kbit in 2 s.
    assert!(found.summary.contains("1.200 Mbit/s"), "{}", found.summary);
}

/// 40 opportunities of 1504 bytes, one each 5 ms; packets wait 30 ms.
pub fn mm_link() -> String {
    let mut text = String::from(
        "# mahimahi mm-link (downlink) [cell.down] > log\n# queue: droptail\n# base timestamp: 1000\n",
    );
    for n in 0..40 {
        let at = 1005 + n * 5;
        text += &format!("{at} # 1504\n{at} + 1504\n{at} - 1504 {}\n", 30 + n % 3);
    }
    text + "1200 d 2 3008\n"
}

#[test]
fn a_log_of_mm_link_gives_its_trace_back() {
    let found = read(&mm_link());
    let trace = &found.opportunities[0];
    assert_eq!(trace.direction, Direction::Down);
    let expected: Vec<u32> = (1..=40).map(|n| n * 5).collect();
    assert_eq!(trace.times_ms, expected);
    // One way, queue and path: no delay of an idle link.
    assert_eq!(found.figures.idle_rtt, None);
    assert_eq!(
        found.figures.least_loaded_rtt,
        Some(Duration::from_millis(60))
    );
    assert!(
        found
            .remarks
            .iter()
            .any(|line| line.contains("2 of 40 packets"))
    );
}

/// Pantheon's have no opportunities, fractions of a millisecond, and a flow at the end.
#[test]
fn a_log_of_pantheon_tells_what_its_flow_got() {
    let mut text = String::from("# init timestamp: 1.5\n");
    for n in 0..100 {
        text += &format!("{}.25 + 1500 1\n{}.75 - 1500 12.5 1\n", n * 10, n * 10 + 12);
    }
    let found = read(&text);
    assert!(found.opportunities.is_empty());
    assert_eq!(found.rates[0].bound, Bound::Transfer);
    // 12 kbit each 10 ms are 1.2 Mbit/s; the last step of 100 ms is not full.
    assert!(
        (1_050..1_250).contains(&rates(&found)[0].1),
        "{:?}",
        rates(&found)
    );
}

pub const CELLREPLAY: &str =
    "0 21.5 0 0 3 6 12\n500 22.0 0 1 2 8 9\n1000 24.5 0 0 0 5 7\n1500 21.0 0 4 4 4 9\n";

#[test]
fn cellreplays_trains_are_read() {
    let found = read(CELLREPLAY);
    let trains = &found.trains.unwrap().trains;
    assert_eq!((trains.len(), trains[1].offsets.len()), (4, 5));
    assert_eq!(trains[1].sent, Duration::from_millis(500));
    assert_eq!(trains[3].base, Duration::from_millis(21));
    assert_eq!(found.figures.idle_rtt, Some(Duration::from_millis(44)));
    let back = CELLREPLAY.replace("1500 21", "900 21");
    let said = parse(back.as_bytes(), "x").unwrap_err().to_string();
    assert!(said.contains("line 4"), "{said}");
}

/// Each 200 ms: 20 Mbit/s under a shaper of 25, with bufferbloat at each fifth line.
pub fn cake_autorate() -> String {
    let header = "DATA_HEADER; LOG_DATETIME; LOG_TIMESTAMP; PROC_TIME_US; DL_ACHIEVED_RATE_KBPS; \
                  UL_ACHIEVED_RATE_KBPS; DL_LOAD_PERCENT; UL_LOAD_PERCENT; REFLECTOR; DL_OWD_BASELINE; \
                  DL_OWD_US; UL_OWD_BASELINE; UL_OWD_US; DL_LOAD_CONDITION; UL_LOAD_CONDITION; \
                  CAKE_DL_RATE_KBPS; CAKE_UL_RATE_KBPS\n";
    let mut text = String::from(header);
    for n in 0..100 {
        let (kbps, owd, load) = if n % 5 == 4 {
            (22_000, 45_000, "dl_high_bb")
        } else {
            (20_000, 15_000, "dl_high")
        };
        text += &format!(
            "DATA; 2026-11-06-11:13:{:02}; {:.6}; {:.6}; {kbps}; 900; 88; 20; 192.0.2.1; 10000; {owd}; \
             10000; {owd}; {load}; ul_low; 25000; 5000\n",
            n / 5,
            1.7e9 + f64::from(n) * 0.2,
            1.7e9 + f64::from(n) * 0.2,
        );
        if n == 50 {
            text += header;
        }
    }
    text
}

#[test]
fn cake_autorates_rate_is_the_links_only_with_bufferbloat() {
    let found = read(&cake_autorate());
    assert_eq!(found.rates[0].steps.len(), 100);
    let links = found.rates[0]
        .steps
        .iter()
        .filter(|step| step.bound == Bound::Link);
    assert!(links.clone().all(|step| step.bits_per_second == 22_000_000));
    assert_eq!(links.count(), 20);
    assert_eq!(found.rates[1].bound, Bound::Shaper);
    assert_eq!(found.figures.idle_rtt, Some(Duration::from_millis(20)));
    // A rotated log begins before its header.
    let rotated: Vec<&str> = cake_autorate()
        .leak()
        .split_inclusive('\n')
        .skip(1)
        .collect();
    assert_eq!(read(&rotated.concat()).rates[0].steps.len(), 49);
    let silent = "INFO; 2026-11-06-11:13:00; 1700000000.0; Started cake-autorate\n";
    let said = parse(silent.as_bytes(), "x").unwrap_err().to_string();
    assert!(said.contains("output_processing_stats"), "{said}");
}

#[test]
fn throughputs_have_units_and_directions() {
    let cooked: String = (0..40)
        .map(|n| format!("{}.5 {}\n", n * 2, 1 + n % 3))
        .collect();
    let found = read(&cooked);
    assert_eq!(found.format, "throughput");
    assert!(
        (1_900..2_100).contains(&rates(&found)[0].1),
        "{:?}",
        rates(&found)
    );
    // Each row holds until the next that has a value, the last as long as usual.
    let csv = "time_s,dl_mbps,ul_kbps\n0,10,500\n1,20,-\n2,30,700\n";
    let found = read(csv);
    assert_eq!(
        rates(&found),
        [
            (Direction::Down, 20_000, Bound::Transfer),
            (Direction::Up, 600, Bound::Transfer)
        ]
    );
    let said = parse(b"time_s,mbps\n0,10\n2,11\n1,12\n", "x")
        .unwrap_err()
        .to_string();
    assert!(
        said.contains("line 4") && said.contains("sort the file"),
        "{said}"
    );
    // Norwegian HSDPA traces: bytes in a time.
    let hsdpa: String = (1..20)
        .map(|n| {
            format!(
                "{} {} 59.8 10.7 125000 1000\n",
                1_289_406_399_000_i64 + n * 1000,
                n * 1000
            )
        })
        .collect();
    assert_eq!(
        rates(&read(&hsdpa)),
        [(Direction::Down, 1_000, Bound::Transfer)]
    );
}

pub const RACA: &str = "Timestamp,Longitude,Latitude,Speed,Operatorname,CellID,NetworkMode,RSRP,RSRQ,SNR,CQI,RSSI,DL_bitrate,UL_bitrate,State,PINGAVG,PINGMIN\n\
    2019.12.16_13.40.04,-8.4,51.8,0,B,11,5G,-97,-13,4.0,9,-82,10000,100,D,-,-\n\
    2019.12.16_13.40.04,-8.4,51.8,0,B,11,5G,-97,-13,4.0,9,-82,20000,100,D,-,-\n\
    2019.12.16_13.40.05,-8.4,51.8,0,B,12,5G,-97,-13,4.0,9,-82,30000,100,D,52,41\n\
    2019.12.16_13.40.06,-8.4,51.8,0,B,12,5G,-97,-13,-,-,-82,0,0,I,-,-\n\
    2019.12.16_13.40.07,-8.4,51.8,0,B,12,5G,-97,-13,-,-,-82,9000,200,D,-,-\n";

/// Duplicate seconds count once, rows without demand are skipped.
#[test]
fn racas_rows_without_a_demand_are_left_out() {
    let found = read(RACA);
    assert_eq!(found.format, "gnettrack");
    let steps: Vec<u64> = found.rates[0]
        .steps
        .iter()
        .map(|step| step.bits_per_second / 1000)
        .collect();
    assert_eq!(steps, [15_000, 30_000, 9_000]);
    assert_eq!(found.figures.least_rtt, Some(Duration::from_millis(41)));
    assert!(
        found
            .remarks
            .iter()
            .any(|line| line.contains("changed 1 times"))
    );
}

pub const TC_JSON: &str = "[{\"kind\":\"netem\",\"handle\":\"8001:\",\"dev\":\"eth0\",\"root\":true,\"refcnt\":2,\"options\":\
    {\"limit\":1000,\"delay\":{\"delay\":0.05,\"jitter\":0.01,\"correlation\":0},\"loss-random\":{\"loss\":0.01,\
    \"correlation\":0},\"rate\":{\"rate\":1250000,\"packetoverhead\":0,\"cellsize\":0,\"celloverhead\":0},\"ecn\":false,\
    \"gap\":0}}]";

/// Text, JSON and the command are one link.
#[test]
fn tc_is_read_in_every_form() {
    let command = "#!/bin/sh\nsudo tc qdisc add dev eth0 root netem delay 50ms 10ms loss 1% rate 10mbit limit 1000\n";
    let shown = "qdisc noqueue 0: dev lo root refcnt 2 \nqdisc netem 8001: dev eth0 root refcnt 2 limit 1000 delay 50ms  10ms loss 1% rate 10Mbit\n Sent 0 bytes 0 pkt\n";
    for text in [command, shown, TC_JSON] {
        let found = read(text);
        let shaping = &found.shaping[0];
        assert_eq!(
            rates(&found),
            [(Direction::Unknown, 10_000, Bound::Setting)],
            "{text}"
        );
        assert_eq!(shaping.delay, Some(Duration::from_millis(50)), "{text}");
        assert_eq!(shaping.jitter, Some(Duration::from_millis(10)), "{text}");
        assert_eq!(shaping.spread, Some(Spread::Uniform), "{text}");
        assert_eq!(shaping.losses, Some(Losses::Random(0.01)), "{text}");
        assert_eq!(shaping.limit_packets, Some(1000), "{text}");
    }
    let tree = "qdisc tbf 1: dev eth0 root refcnt 2 rate 10Mbit burst 5Kb lat 100ms \nqdisc codel 2: dev eth0 parent 1:1 limit 1000p target 5ms interval 100ms\n\
                qdisc cake 3: dev ifb4eth0 root refcnt 2 bandwidth 40Mbit besteffort\n";
    let found = read(tree);
    assert_eq!(
        rates(&found),
        [
            (Direction::Up, 10_000, Bound::Setting),
            (Direction::Down, 40_000, Bound::Setting)
        ]
    );
    assert_eq!(found.shaping[0].disciplines, ["tbf", "codel"]);
    let said = parse(b"tc qdisc add dev a root netem delay soon\n", "x")
        .unwrap_err()
        .to_string();
    assert!(
        said.contains("line 1") && said.contains("a time such as 100ms"),
        "{said}"
    );
    // `tc qdisc show dev eth0` leaves out the device.
    let alone = read("qdisc netem 8001: root refcnt 2 limit 1000 delay 50ms rate 10Mbit\n");
    assert_eq!(alone.summary, "a setting of tc (netem)");
    let bare = parse(
        b"qdisc fq_codel 0: dev eth0 root refcnt 2 limit 10240p flows 1024\n",
        "x",
    );
    assert!(
        bare.unwrap_err()
            .to_string()
            .contains("none of which shapes or delays")
    );
}

/// A table of a normal distribution by its quantiles, as iproute2 scales it.
pub fn table() -> String {
    let values: Vec<String> = (1..=4096).map(|n| ((n - 2048) * 4).to_string()).collect();
    let rows: Vec<String> = values
        .chunks(8)
        .map(|row| format!(" {}\n", row.join(" ")))
        .collect();
    format!("# a distribution\n{}", rows.concat())
}

#[test]
fn a_table_of_netem_tells_its_own_deviation() {
    let found = read(&table());
    assert_eq!((found.format, found.table.len()), ("netem-table", 4096));
    // Uniform within one: a deviation of 1/sqrt(3).
    assert!(
        found.summary.contains("deviation 0.577"),
        "{}",
        found.summary
    );
    let short = parse(b"# x\n 1 2 3 4 5 6 7 8\n", "x")
        .unwrap_err()
        .to_string();
    assert!(short.contains("a table of 8 values"), "{short}");
}

#[test]
fn mtrs_report_has_figures_and_its_raw_log_has_probes() {
    let json = "{\"report\": {\"mtr\": {\"src\": \"a\", \"dst\": \"192.0.2.9\", \"tests\": 300}, \"hubs\": [{\"count\": 1, \
                \"host\": \"10.0.0.1\", \"Loss%\": 60.0, \"Snt\": 300, \"Avg\": 1.2, \"Best\": 0.9, \"Wrst\": 8.1, \
                \"StDev\": 0.4}, {\"count\": 2, \"host\": \"192.0.2.9\", \"Loss%\": 8.0, \"Snt\": 300, \"Last\": 23.7, \
                \"Avg\": 29.0, \"Best\": 20.1, \"Wrst\": 452.9, \"StDev\": 40.2}]}}";
    let text = "HOST: a          Loss%   Snt   Last   Avg  Best  Wrst StDev\n\
                \u{20} 1.|-- 10.0.0.1  60.0%   300    1.1   1.2   0.9   8.1   0.4\n\
                \u{20} 2.|-- 192.0.2.9   8.0%   300   23.7  29.0  20.1 452.9  40.2\n";
    let csv = "Mtr_Version,Start_Time,Status,Host,Hop,Ip,Loss%,Snt, ,Last,Avg,Best,Wrst,StDev,\n\
               MTR.0.95,1700000000,OK,a,1,10.0.0.1,60.00,300,0,1.1,1.2,0.9,8.1,0.4,\n\
               MTR.0.95,1700000000,OK,a,2,192.0.2.9,8.00,300,0,23.7,29.0,20.1,452.9,40.2,\n";
    for text in [json, text, csv] {
        let found = read(text);
        assert_eq!(found.figures.losses, [(Direction::Unknown, 0.08)], "{text}");
        assert_eq!(
            found.figures.least_rtt,
            Some(Duration::from_micros(20_100)),
            "{text}"
        );
        assert_eq!((found.probes, found.rates.len()), (None, 0), "{text}");
    }
    let raw = "x 0 33000\nh 0 10.0.0.1\np 0 580 33000\nx 1 33001\nh 1 192.0.2.9\np 1 20100 33001\nx 2 33002\n\
               h 2 192.0.2.9\np 2 20300 33002\nx 0 33003\np 0 570 33003\nx 1 33004\nx 1 33005\np 1 20200 33005\n";
    let log = read(raw).probes.unwrap();
    let rtts: Vec<u64> = log
        .replies()
        .iter()
        .map(|one| one.round_trip.as_nanos() / 1000)
        .collect();
    assert_eq!((rtts, log.lost()), (vec![20_100, 20_200], 1));
}
