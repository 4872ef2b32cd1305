//! The readers: output of real tools is read, and errors name the fault.

use super::conditions::Conditions;
use super::lost_packets::LostPackets;
use super::mahimahi::MahimahiTrace;
use super::rtt_log::RttSeries;
use super::stop_list::StopList;
use super::*;
use airtcp_units::Duration;
use proptest::prelude::*;
use std::fmt;
use std::io::Read;

fn micros(values: &[u64]) -> Vec<Duration> {
    values.iter().copied().map(Duration::from_micros).collect()
}

fn trace_error(bytes: &[u8]) -> String {
    MahimahiTrace::parse(bytes, "x.down")
        .unwrap_err()
        .to_string()
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
