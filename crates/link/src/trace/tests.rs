//! The readers: what real tools write is read, and what is broken is named.

use super::conditions::Conditions;
use super::lost_packets::LostPackets;
use super::mahimahi::MahimahiTrace;
use super::rtt_log::RttSeries;
use super::stop_list::StopList;
use super::*;
use airtcp_units::Duration;
use proptest::prelude::*;

fn micros(values: &[u64]) -> Vec<Duration> {
    values.iter().copied().map(Duration::from_micros).collect()
}

/// The round-trip times in microseconds, and the number of lost probes.
fn read_log(text: &str, rtts_us: &[u64], lost: u64) {
    let series = RttSeries::parse(text.as_bytes(), "log").unwrap();
    assert_eq!(
        (series.as_slice(), series.summary().lost),
        (&micros(rtts_us)[..], lost),
        "{text}"
    );
}

fn trace_error(bytes: &[u8]) -> String {
    MahimahiTrace::parse(bytes, "x.down")
        .unwrap_err()
        .to_string()
}

fn log_error(bytes: &[u8]) -> String {
    RttSeries::parse(bytes, "x.log").unwrap_err().to_string()
}

#[test]
fn mahimahi_traces_are_read() {
    let trace = MahimahiTrace::parse(b"0\n0\r\n7\n7\n12\n\n", "x").unwrap();
    assert_eq!(
        (trace.opportunities_ms(), trace.period_ms()),
        (&[0, 0, 7, 7, 12][..], 12)
    );
    assert_eq!(MahimahiTrace::read(&b"5"[..], "x").unwrap().period_ms(), 5);
}

#[test]
fn broken_mahimahi_traces_are_named() {
    let expected = "expected one timestamp a line, in whole milliseconds below 2^32 (49 days)";
    let remedy = "check that this is an mm-link trace";
    assert_eq!(
        trace_error(b"1\n2 ms\n"),
        format!("trace \"x.down\", line 2: found \"2 ms\": {expected}; {remedy}")
    );
    for broken in [
        &b"-4"[..],
        b"1\n\n2\n",
        b"1.5\n",
        b"4294967296\n",
        b"1\n\xff\xfe\0\x01\n",
    ] {
        assert!(
            trace_error(broken).contains(expected),
            "{}",
            trace_error(broken)
        );
    }
    assert_eq!(
        trace_error(&[0x80; 1000]),
        format!(
            "trace \"x.down\", line 1: found \"{}...\" (1000 bytes): {expected}; {remedy}",
            "\\x80".repeat(40)
        )
    );
    assert_eq!(
        trace_error(b"3\n9\n8\n"),
        "trace \"x.down\", line 3: timestamp 8 ms after 9 ms: expected timestamps that never \
         decrease; sort the file, or cut it where the recording was restarted"
    );
    for empty in [&b""[..], b" \n\n"] {
        assert_eq!(
            trace_error(empty),
            format!("trace \"x.down\": empty: {expected}; record it again")
        );
    }
    assert!(trace_error(b"0\n0\n").starts_with("trace \"x.down\": all timestamps are 0"));
}

/// Ten gigabytes of anything are refused after 64 MiB.
#[test]
fn huge_files_are_refused_without_reading_them() {
    let huge = || std::io::repeat(b'1').take(10 << 30);
    let expected = TraceProblem::TooLarge;
    assert_eq!(
        MahimahiTrace::read(huge(), "x").unwrap_err().problem,
        expected
    );
    assert_eq!(
        RttSeries::read(huge(), "big").unwrap_err().to_string(),
        "trace \"big\": larger than 64 MiB: cut it to the part of interest"
    );
}

#[test]
fn what_cannot_be_read_is_named() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("cable pulled"))
        }
    }
    assert_eq!(
        MahimahiTrace::read(Broken, "x").unwrap_err().to_string(),
        "trace \"x\": cannot be read (cable pulled): check that the file exists and may be read"
    );
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
    // The statistics are in any language what the lines before them may not be.
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
        let series = RttSeries::parse(&bytes, "x.log").unwrap();
        assert_eq!(series.as_slice(), micros(&[12_000]));
        assert_eq!(series.summary().lost, 1);
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
        ("3\n-1\n", 2, "-1"),
        ("nan\n", 1, "nan"),
        ("1\ninf\n", 2, "inf"),
        ("rtt\n\n1\n1e9\n", 4, "1e9"),
        ("a,rtt\n1,x\n", 2, "x"),
        ("64 bytes from a: icmp_seq=1 ttl=64 time=-5 ms\n", 1, "-5 "),
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

/// By hand: mean 2.5, deviations -1.5 -0.5 0.5 1.5; products 0.75 - 0.25 + 0.75; squares 5.
#[test]
fn a_summary_describes_the_series() {
    let summary = RttSeries::parse(b"1\n2\n3\n4\n", "x").unwrap().summary();
    assert_eq!(summary.count, 4);
    assert_eq!(
        [summary.min, summary.median, summary.max],
        micros(&[1_000, 2_500, 4_000])[..]
    );
    assert!((summary.lag1_autocorrelation.unwrap() - 0.25).abs() < 1e-12);
    assert_eq!(
        RttSeries::parse(b"3\n1\n2\n", "x")
            .unwrap()
            .summary()
            .median,
        micros(&[2_000])[0]
    );
    assert_eq!(
        RttSeries::parse(b"0.1\n0.1\n", "x")
            .unwrap()
            .summary()
            .lag1_autocorrelation,
        None
    );
}

proptest! {
    #[test]
    fn a_trace_that_is_written_is_read_back(
        gaps in proptest::collection::vec(0..1000_u32, 0..200), last in 1..1000_u32,
    ) {
        let mut at = 0;
        let mut timestamps: Vec<u32> = gaps.iter().map(|gap| { at += gap; at }).collect();
        timestamps.push(at + last);
        let text: String = timestamps.iter().map(|ms| format!("{ms}\n")).collect();
        let trace = MahimahiTrace::parse(text.as_bytes(), "x").unwrap();
        prop_assert_eq!(trace.opportunities_ms(), &timestamps[..]);
    }

    #[test]
    fn readers_answer_to_anything(
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
        text in "([0-9\n,.;e-]|rtt_ms|PING |icmp_seq=|time=| ms\n|\\(DUP!\\)|timed out){0,40}",
    ) {
        for input in [&bytes[..], text.as_bytes()] {
            let _ = MahimahiTrace::parse(input, "x");
            let _ = RttSeries::parse(input, "x");
        }
    }
}

fn error_of<T: fmt::Debug>(result: Result<T, TraceError>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn stops_losses_and_conditions_are_read_by_the_names_of_their_columns() {
    let text = b"\xef\xbb\xbflength_ms, start_ms\n0.000001,5\n2,7.5\n";
    let stops = StopList::parse(text, "x").unwrap();
    let spans: Vec<_> = stops
        .as_slice()
        .iter()
        .map(|stop| (stop.start.as_nanos(), stop.end.as_nanos()))
        .collect();
    assert_eq!(spans, [(5_000_000, 5_000_001), (7_500_000, 9_500_000)]);
    assert!(
        StopList::read(&b"start_ms,length_ms\n"[..], "x")
            .unwrap()
            .as_slice()
            .is_empty()
    );

    let lost = LostPackets::parse(b"flow,packet\n1,7\n0,3\n1,7\n", "x").unwrap();
    assert_eq!(lost, LostPackets::new(vec![(0, 3), (1, 7)]));
    assert!(lost.contains(1, 7) && !lost.contains(0, 7) && !lost.contains(1, 6));
    assert_eq!(lost.to_csv(), "flow,packet\n0,3\n1,7\n");
    let lost = LostPackets::read(&b"packet\n4\n"[..], "x").unwrap();
    assert!(lost.contains(0, 4) && lost.len() == 1 && !lost.is_empty());

    let text = b"time_ms,note,loss,delay_ms\n0,a,0.25,10\n5,b,0,20\n";
    let conditions = Conditions::read(&text[..], "x").unwrap();
    let at = |nanos| {
        let step = conditions.at(airtcp_units::Instant::from_nanos(nanos));
        (step.loss.as_f64(), step.delay)
    };
    assert_eq!(at(4_999_999), (0.25, Duration::from_millis(10)));
    assert_eq!(at(5_000_000), (0.0, Duration::from_millis(20)));
    assert_eq!(conditions.as_slice().len(), 2);
}

#[test]
fn what_is_wrong_with_them_is_named() {
    let stops = |bytes: &[u8]| error_of(StopList::parse(bytes, "x.csv"));
    assert_eq!(
        stops(b" \n"),
        "trace \"x.csv\": empty: expected CSV with the columns start_ms and length_ms, a line for \
         each stop; record it again"
    );
    assert_eq!(
        stops(b"start,length\n1,2\n"),
        "trace \"x.csv\", line 1: found \"start,length\": expected CSV with the columns start_ms \
         and length_ms, a line for each stop; name the columns in the first line"
    );
    assert_eq!(
        stops(b"start_ms,length_ms\n1,5\n5,1\n"),
        "trace \"x.csv\", line 3: found \"5 ms, before 6 ms\": expected a start no earlier than \
         the end of the stop before; sort the file by start_ms, or join stops that overlap"
    );
    assert_eq!(
        stops(b"start_ms,length_ms\n1,-5\n"),
        "trace \"x.csv\", line 2: found \"-5\": expected a time in milliseconds between 0 and \
         2592000000 (30 days); correct or remove the line"
    );
    assert_eq!(
        stops(b"start_ms,length_ms\n1\n"),
        "trace \"x.csv\", line 2: found \"1\": expected as many columns as the header has; correct \
         or remove the line"
    );
    let lost = |bytes: &[u8]| error_of(LostPackets::parse(bytes, "x.csv"));
    assert_eq!(
        lost(b"packet\n-1\n"),
        "trace \"x.csv\", line 2: found \"-1\": expected a whole number, counted from 0; correct \
         or remove the line"
    );
    assert_eq!(
        lost(b"flow,packet\n1000000,1\n"),
        "trace \"x.csv\", line 2: found \"1000000\": expected a flow below 1000000; correct or \
         remove the line"
    );
    let conditions = |bytes: &[u8]| error_of(Conditions::parse(bytes, "x.csv"));
    assert_eq!(
        conditions(b"time_ms,delay_ms,loss\n0,1,1.5\n"),
        "trace \"x.csv\", line 2: found \"1.5\": expected a probability between 0 and 1; correct \
         or remove the line"
    );
    assert_eq!(
        conditions(b"time_ms,delay_ms,loss\n5,1,0\n5,1,0\n"),
        "trace \"x.csv\", line 3: found \"5 ms after 5 ms\": expected times that increase; sort \
         the file by time_ms"
    );
    assert_eq!(
        conditions(b"time_ms,delay_ms,loss\n"),
        "trace \"x.csv\": empty: expected CSV with the columns time_ms, delay_ms (one way) and \
         loss (0 to 1); record it again"
    );
}

proptest! {
    #[test]
    fn readers_of_columns_answer_to_anything(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        text in "(start_ms|length_ms|packet|flow|time_ms|delay_ms|loss|[0-9.,e\n\"-]){0,60}",
    ) {
        for input in [&bytes[..], text.as_bytes()] {
            let _ = StopList::parse(input, "x");
            let _ = LostPackets::parse(input, "x");
            let _ = Conditions::parse(input, "x");
        }
    }
}
