//! Logs that real programs write are read, with the time of each probe; a broken one is named.

use airtcp_units::Duration;
use proptest::prelude::*;

use super::*;

fn micros(values: &[u64]) -> Vec<Duration> {
    values.iter().copied().map(Duration::from_micros).collect()
}

fn probes(bytes: &[u8]) -> ProbeLog {
    parse(bytes, "log").unwrap().probes.unwrap()
}

fn round_trips(log: &ProbeLog) -> Vec<Duration> {
    log.replies().iter().map(|reply| reply.round_trip).collect()
}

/// The round-trip times in microseconds, and the number of lost probes.
fn read_log(text: &str, rtts_us: &[u64], lost: u64) {
    let log = probes(text.as_bytes());
    assert_eq!(
        (round_trips(&log), log.lost()),
        (micros(rtts_us), lost),
        "{text}"
    );
}

fn log_error(bytes: &[u8]) -> String {
    parse(bytes, "x.log").unwrap_err().to_string()
}

/// Printed by `ping -D` of iputils 20221126, but for the middle.
const IPUTILS: &str = "\
PING 127.0.0.1 (127.0.0.1) 56(84) bytes of data.
[1795212907.419948] 64 bytes from 127.0.0.1: icmp_seq=1 ttl=64 time=0.459 ms
[1795212908.419948] 64 bytes from 127.0.0.1: icmp_seq=2 ttl=64 time=12.3 ms
[1795212908.419999] 64 bytes from 127.0.0.1: icmp_seq=2 ttl=64 time=14.1 ms (DUP!)
[1795212909.419948] no answer yet for icmp_seq=3
[1795212910.419948] 64 bytes from 127.0.0.1: icmp_seq=5 ttl=64 time=7 ms
[1795212911.419948] 64 bytes from 127.0.0.1: icmp_seq=4 ttl=64 time=1030 ms
From 10.0.0.1 icmp_seq=6 Destination Host Unreachable

--- 127.0.0.1 ping statistics ---
8 packets transmitted, 4 received, +1 duplicates, 50% packet loss, time 7001ms
rtt min/avg/max/mdev = 0.459/262.000/1030.000/4.000 ms
";

#[test]
fn ping_logs_are_read_in_the_order_of_sending() {
    read_log(IPUTILS, &[459, 12_300, 1_030_000, 7_000], 4);
    // A second run in the same file starts over.
    let twice = format!("{IPUTILS}{IPUTILS}");
    read_log(
        &twice,
        &[459, 12_300, 1_030_000, 7_000, 459, 12_300, 1_030_000, 7_000],
        8,
    );
    // Also when only the replies were kept.
    let replies = "64 bytes from a: icmp_seq=1 ttl=64 time=1 ms\n\
                   64 bytes from a: icmp_seq=3 ttl=64 time=3 ms\n";
    read_log(&replies.repeat(2), &[1_000, 3_000, 1_000, 3_000], 2);
}

#[test]
fn the_pings_of_other_systems_are_read() {
    let busybox = "PING 10.0.0.2 (10.0.0.2): 56 data bytes\n\
                   64 bytes from 10.0.0.2: seq=0 ttl=64 time=0.050 ms\n\
                   64 bytes from 10.0.0.2: seq=2 ttl=64 time=0.060 ms\n";
    read_log(busybox, &[50, 60], 1);
    let macos = "PING 10.0.0.2 (10.0.0.2): 56 data bytes\n\
                 64 bytes from 10.0.0.2: icmp_seq=0 ttl=54 time=15.721 ms\n\
                 Request timeout for icmp_seq 1\n\
                 Request timeout for icmp_seq 2\n";
    read_log(macos, &[15_721], 2);
    let windows = "\r\nPinging 10.0.0.2 with 32 bytes of data:\r\n\
                   Reply from 10.0.0.2: bytes=32 time=12ms TTL=54\r\n\
                   Request timed out.\r\n\
                   Reply from 10.0.0.2: bytes=32 time<1ms TTL=54\r\n";
    read_log(windows, &[12_000, 1_000], 1);
}

/// Printed by iputils under `LC_ALL=de_DE.UTF-8`, by a German Windows, and by fping 5.
#[test]
fn german_logs_and_those_of_fping_are_read() {
    let iputils = "PING 10.0.0.2 (10.0.0.2) 56(84) Bytes an Daten.\n\
                   64 Bytes von 10.0.0.2: icmp_seq=1 ttl=64 Zeit=12,3 ms\n\
                   64 Bytes von 10.0.0.2: icmp_seq=3 ttl=64 Zeit=9 ms\n\
                   4 Pakete übertragen, 2 empfangen, 50% Paketverlust, Zeit 3004ms\n";
    read_log(iputils, &[12_300, 9_000], 2);
    let windows = "\r\nPing wird ausgeführt für 10.0.0.2 mit 32 Bytes Daten:\r\n\
                   Antwort von 10.0.0.2: Bytes=32 Zeit=12ms TTL=54\r\n\
                   Zeitüberschreitung der Anforderung.\r\n\
                   Antwort von 10.0.0.1: Zielhost nicht erreichbar.\r\n\
                   Antwort von 10.0.0.2: Bytes=32 Zeit<1ms TTL=54\r\n";
    read_log(windows, &[12_000, 1_000], 2);
    // The statistics may be in a language unknown to the lines before them.
    let swedish = "Svar fr 10.0.0.2: byte=32 time=12ms TTL=54\r\n\
                   Paket: Skickade = 4, mottagna = 1, tappade = 3 (75 % tappade),\r\n";
    read_log(swedish, &[12_000], 3);
    let fping = "10.0.0.2 : [0], 84 bytes, 12.3 ms (12.3 avg, 0% loss)\n\
                 10.0.0.2 : [1], timed out (12.3 avg, 50% loss)\n\
                 10.0.0.2 : [2], 64 bytes, 9 ms (10.6 avg, 33% loss)\n\n\
                 10.0.0.2 : xmt/rcv/%loss = 4/2/50%, min/avg/max = 9/10.6/12.3\n";
    read_log(fping, &[12_300, 9_000], 2);
}

#[test]
fn logs_of_any_encoding_are_read() {
    let german = "Antwort von 10.0.0.2: Bytes=32 Zeit=12ms TTL=54\r\n\
                  Zeitüberschreitung der Anforderung.\r\n";
    let units: Vec<u16> = german.encode_utf16().collect();
    let little = [
        vec![0xff, 0xfe],
        units.iter().flat_map(|u| u.to_le_bytes()).collect(),
    ]
    .concat();
    let big = [
        vec![0xfe, 0xff],
        units.iter().flat_map(|u| u.to_be_bytes()).collect(),
    ]
    .concat();
    // Code page 850, that of Windows' console: u with two dots is 0x81.
    let console = german.replace('ü', "?").into_bytes();
    let console = console
        .into_iter()
        .map(|byte| if byte == b'?' { 0x81 } else { byte })
        .collect();
    for bytes in [little, big, console, german.as_bytes().to_vec()] {
        let log = probes(&bytes);
        assert_eq!(round_trips(&log), micros(&[12_000]));
        assert_eq!(log.lost(), 1);
    }
}

#[test]
fn absurd_statistics_do_not_overflow() {
    let run = "64 bytes from a: icmp_seq=1 ttl=64 time=1 ms\n\
               18446744073709551615 packets transmitted, 1 received\nPING a\n";
    read_log(&run.repeat(2), &[1_000, 1_000], u64::MAX);
}

/// ICMP numbers probes with 16 bits.
#[test]
fn sequence_numbers_wrap() {
    let log: String = (65_530..65_540_u32)
        .filter(|number| *number != 65_537)
        .map(|number| {
            format!(
                "64 bytes from a: icmp_seq={} ttl=1 time=2 ms\n",
                number % 65_536
            )
        })
        .collect();
    read_log(&log, &[2_000; 9], 1);
}

/// Some programs print a counter that does not wrap; a number that no probe of a run can have is
/// another run's.
#[test]
fn counters_that_do_not_wrap_are_taken_as_they_are() {
    let line = |number: u64| format!("64 bytes from a: icmp_seq={number} ttl=1 time=2 ms\n");
    let log = |numbers: &[u64]| -> String { numbers.iter().copied().map(line).collect() };
    read_log(&log(&[65_534, 65_535, 65_536, 65_538]), &[2_000; 4], 1);
    // A multiple of 2^16 ahead is no next probe.
    read_log(&log(&[70_000, 135_537]), &[2_000; 2], 65_536);
    for far in [100_000_000, 1 << 40, u64::MAX - 2] {
        read_log(&log(&[1, 2, far + 1, far + 2]), &[2_000; 4], 0);
        read_log(&log(&[far + 1, far + 2, 1, 2]), &[2_000; 4], 0);
    }
    let waiting = "no answer yet for icmp_seq=100000002\n";
    read_log(&format!("{}{waiting}", log(&[1, 2])), &[2_000; 2], 1);
}

#[test]
fn a_log_cut_within_a_line_is_read_up_to_it() {
    for end in [
        "64 bytes from a: icmp_seq=2 ttl=64 time=1",
        "64 bytes fr",
        "64 bytes a: time=",
    ] {
        read_log(
            &format!("64 bytes from a: icmp_seq=1 ttl=64 time=4 ms\n{end}"),
            &[4_000],
            0,
        );
    }
}

#[test]
fn csv_and_bare_numbers_are_read() {
    read_log("time,rtt_ms\n0.1,12.5\n0.2,\n0.3,7\n", &[12_500, 7_000], 1);
    read_log("\u{feff}Time;\"RTT\"\n\"a;b\";3\n", &[3_000], 0);
    read_log("seq\ttime_ms\n1\t0.25\n", &[250], 0);
    // Of several known columns the one that names its unit.
    read_log("rtt,rtt_ms\n1,2\n", &[2_000], 0);
    read_log("12.5\n\n3e1\n0\n", &[12_500, 30_000, 0], 0);
}

#[test]
fn broken_logs_are_named() {
    let formats = "expected the output of \"ping\" or \"ping -D\", CSV with a column rtt_ms (or \
                   rtt, time_ms), or one number of milliseconds a line";
    assert_eq!(
        log_error(b"\n \n"),
        format!("trace \"x.log\": empty: {formats}; record it again")
    );
    for nothing in [
        &b"hello\nworld\n"[..],
        b"PING a\n\n--- a ping statistics ---\n",
        b"rtt_ms\n",
    ] {
        let error = log_error(nothing);
        let start = format!("trace \"x.log\": no round-trip time in it: {formats}; check");
        assert!(error.starts_with(&start), "{error}");
    }
    let range = "expected a round-trip time in milliseconds between 0 and 3600000";
    for (bad, line, found) in [
        ("3\n-2\n", 2, "-2"),
        ("1\ninf\n", 2, "inf"),
        ("rtt\n\n1\n1e9\n", 4, "1e9"),
        ("a,rtt\n1,x\n", 2, "x"),
        ("64 bytes from a: icmp_seq=1 ttl=64 time=-5 ms\n", 1, "-5"),
    ] {
        let start = format!("trace \"x.log\", line {line}: found \"{found}\": {range}; correct");
        assert!(
            log_error(bad.as_bytes()).starts_with(&start),
            "{}",
            log_error(bad.as_bytes())
        );
    }
    assert!(log_error(b"a,rtt_ms\n1\n").contains("line 2: found \"1\": expected as many columns"));
    assert!(log_error(b"x time=3 s\nmore\n").contains("expected a reply that ends as in"));
    assert!(log_error(b"\x7fELF\x02\xff\n").contains("line 1: found \"\\x7fELF\\x02\\xff\""));
}

/// Number and time of sending in milliseconds.
fn sendings(log: &ProbeLog) -> Vec<(u64, Option<f64>)> {
    log.replies()
        .iter()
        .map(|reply| (reply.number, reply.sent.map(Duration::as_millis_f64)))
        .collect()
}

/// A stamp of `ping -D` is the arrival of the reply: the probe was sent one round trip earlier. By
/// hand, and further losses in the statistics are a gap at the end.
#[test]
fn stamps_tell_when_probes_were_sent() {
    let log = probes(
        b"PING a\n[1732700000.013063] 64 bytes from a: icmp_seq=1 ttl=55 time=13.063 ms\n\
          [1732700000.230000] 64 bytes from a: icmp_seq=2 ttl=55 time=30 ms\n\
          [1732700000.815000] 64 bytes from a: icmp_seq=5 ttl=55 time=15 ms\n\
          [1732700000.900000] 64 bytes from a: icmp_seq=4 ttl=55 time=300 ms\n\n\
          8 packets transmitted, 4 received, 50% packet loss, time 1400ms\n",
    );
    let expected = [(0, 0.0), (1, 200.0), (3, 600.0), (4, 800.0)];
    assert_eq!(sendings(&log), expected.map(|(n, ms)| (n, Some(ms))));
    assert_eq!((log.numbered(), log.unplaced(), log.lost()), (8, 0, 4));
    assert_eq!(log.clock(), Clock::Stamps);
    assert_eq!(log.interval(), Some(Duration::from_millis(200)));
    assert_eq!(log.began_unix_ns(), Some(1_732_700_000_000_000_000));
}

/// A wrapper that stamps the sending: with the stamps as arrivals, the second probe would have been
/// sent before the first.
#[test]
fn stamps_of_the_sending_are_known_by_their_regularity() {
    let log = probes(
        b"[1732700000.5] 64 bytes from a: icmp_seq=1 time=1 ms\n\
          [1732700001.5] 64 bytes from a: icmp_seq=2 time=1500 ms\n\
          [1732700002.5] 64 bytes from a: icmp_seq=3 time=500 ms\n\
          [1732700003.5] 64 bytes from a: icmp_seq=4 time=1 ms\n",
    );
    let expected = [(0, 0.0), (1, 1000.0), (2, 2000.0), (3, 3000.0)];
    assert_eq!(sendings(&log), expected.map(|(n, ms)| (n, Some(ms))));
}

/// iputils states the time from the first probe to the last.
#[test]
fn statistics_tell_the_interval_where_stamps_do_not() {
    let log = probes(
        b"64 bytes from a: icmp_seq=1 ttl=64 time=1 ms\n\
          64 bytes from a: icmp_seq=3 ttl=64 time=1 ms\n\
          3 packets transmitted, 2 received, 33.3333% packet loss, time 1000ms\n",
    );
    assert_eq!(sendings(&log), [(0, None), (2, None)]);
    assert_eq!(
        (log.clock(), log.interval(), log.began_unix_ns()),
        (Clock::Statistics, Some(Duration::from_millis(500)), None)
    );
    let log = probes(b"64 bytes from a: icmp_seq=1 ttl=64 time=1 ms\n");
    assert_eq!((log.clock(), log.interval()), (Clock::Unknown, None));
}

/// Whole seconds place no probe, but all of them give the interval, past midnight, too.
#[test]
fn stamps_of_whole_seconds_give_the_interval() {
    let lines = (0..41).map(|n| {
        let second = 86_390 + n / 2;
        let (hour, minute, second) = (second / 3600 % 24, second / 60 % 60, second % 60);
        format!("{hour:02}:{minute:02}:{second:02} 64 bytes from a: icmp_seq={n} time=1 ms\n")
    });
    let log = probes(lines.collect::<String>().as_bytes());
    assert_eq!(
        (log.clock(), log.interval(), log.began_unix_ns()),
        (Clock::Statistics, Some(Duration::from_millis(500)), None)
    );
}

/// A clock that was set back is useless.
#[test]
fn stamps_that_go_back_are_not_used() {
    let log = probes(
        b"[1732700000.5] 64 bytes from a: icmp_seq=1 time=1 ms\n\
          [1732600000.5] 64 bytes from a: icmp_seq=2 time=1 ms\n",
    );
    assert_eq!((log.clock(), log.interval()), (Clock::Unknown, None));
}

/// Windows prints no numbers: its time-outs are placed by their position.
#[test]
fn printed_timeouts_have_their_place() {
    let log = probes(
        b"Reply from a: bytes=32 time=12ms TTL=54\r\nRequest timed out.\r\n\
          Request timed out.\r\nReply from a: bytes=32 time=13ms TTL=54\r\n",
    );
    assert_eq!(sendings(&log), [(0, None), (3, None)]);
    assert_eq!((log.numbered(), log.lost()), (4, 2));
}

#[test]
fn csv_has_the_times_of_its_column() {
    let log = probes(b"time_s,rtt_ms\n5,10\n6,\n7.5,20\n");
    assert_eq!(sendings(&log), [(0, Some(0.0)), (2, Some(2500.0))]);
    assert_eq!((log.clock(), log.began_unix_ns()), (Clock::Stamps, None));
}

/// Five probes a second with whole seconds: they give the mean interval, but no row's time.
#[test]
fn csv_of_whole_seconds_tells_the_mean_interval() {
    let rows = |per_second: u64, unit: u64| -> String {
        let row = |n: u64| format!("{},20\n", (1_700_000_000 + n / per_second) * unit);
        (0..501).map(row).collect()
    };
    for (header, unit) in [("time_s,rtt_ms\n", 1), ("time_ms,rtt_ms\n", 1000)] {
        let log = probes(format!("{header}{}", rows(5, unit)).as_bytes());
        assert_eq!(
            (log.clock(), log.replies()[7].sent),
            (Clock::Statistics, None)
        );
        assert_eq!(log.interval(), Some(Duration::from_millis(200)));
        // One probe a second has its time.
        let log = probes(format!("{header}{}", rows(1, unit)).as_bytes());
        assert_eq!(
            (log.clock(), log.interval()),
            (Clock::Stamps, Some(Duration::from_secs(1)))
        );
    }
}

/// Many runs, each of one probe, and a second reply to it: the work is that of the replies.
#[test]
fn many_runs_take_no_longer_than_one() {
    let mut builder = ProbeLogBuilder::default();
    let rtt = Duration::from_millis(1);
    for _ in 0..200_000 {
        builder.run([(0, None, rtt), (0, None, rtt)], 1, 0);
    }
    assert_eq!(builder.finish().unwrap().replies().len(), 200_000);
}

/// Numbers end at 2^64 - 1, and no reply has that of another.
#[test]
fn runs_beyond_all_numbers_are_left_out() {
    let mut builder = ProbeLogBuilder::default();
    let rtt = Duration::from_millis(1);
    for _ in 0..3 {
        builder.run([(0, None, rtt), (1, None, rtt)], u64::MAX, 0);
    }
    let numbers: Vec<u64> = builder
        .finish()
        .unwrap()
        .replies()
        .iter()
        .map(|r| r.number)
        .collect();
    assert_eq!(numbers, [0, 1, u64::MAX]);
}

/// Every row of the registry recognizes its own files and no others.
#[test]
fn formats_are_sniffed() {
    for (text, name) in [
        ("rtt_ms\n3\n", "csv"),
        ("3.5\n4\n", "csv"),
        ("PING a (a) 56(84) bytes of data.\n", "ping"),
        (
            "10.0.0.2 : [0], 84 bytes, 12.3 ms (12.3 avg, 0% loss)\n",
            "ping",
        ),
    ] {
        let found = sniffed(text.as_bytes()).map(|format| format.name);
        assert_eq!(found, Some(name), "{text}");
    }
    assert!(sniffed(b"hello\n").is_none());
}

proptest! {
    #[test]
    fn readers_answer_to_anything(
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
        text in "([0-9\n,.;:e\\[\\]-]|rtt_ms|time_s|PING |icmp_seq=|time=| ms\n|\\(DUP!\\)|timed out\
                 |[0-9]{5} packets transmitted, 1 received, 3% x, time [0-9]{3}ms\n){0,40}",
    ) {
        for input in [&bytes[..], text.as_bytes()] {
            let Ok(recording) = parse(input, "x") else { continue };
            let log = recording.probes.unwrap();
            for pair in log.replies().windows(2) {
                prop_assert!(pair[0].number < pair[1].number && pair[0].sent <= pair[1].sent);
            }
            prop_assert!(log.replies().last().unwrap().number < log.numbered());
        }
    }
}

/// Rows are split at any white space, and this one is more than what a line is trimmed of.
#[test]
fn a_line_of_a_space_that_is_no_ascii_is_refused() {
    assert!(parse("\u{a0}".as_bytes(), "x").is_err());
    assert!(parse("\u{a0}\n".repeat(9).as_bytes(), "x").is_err());
}
