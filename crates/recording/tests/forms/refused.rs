//! Files that are refused: of other commands, and with numbers that nobody measured.

use airtcp_recording::parse;

fn refusal(bytes: &[u8]) -> String {
    parse(bytes, "x.log").unwrap_err().to_string()
}

#[test]
fn a_file_that_another_command_reads_is_told_apart() {
    let pcap = [0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0];
    let pcapng = b"\x0a\x0d\x0d\x0a\x1c\0\0\0";
    for capture in [&pcap[..], pcapng] {
        let error = refusal(capture);
        assert!(
            error.contains("capture of packets; `airtcp diagnose"),
            "{error}"
        );
    }
    for qlog in ["{\"qlog_version\": \"0.3\"}", "\u{1e}{\"qlog_format\": 1}"] {
        let error = refusal(qlog.as_bytes());
        assert!(error.contains("qlog of a QUIC"), "{error}");
    }
    let error = refusal(b"0,12.1\n1,13\n2,9.5\n");
    assert!(
        error.contains("name its columns in a first line"),
        "{error}"
    );
}

#[test]
fn a_trace_that_was_restarted_is_an_error_and_a_list_of_round_trips_is_none() {
    let times: Vec<u32> = (0..400).map(|line| 37 * line).collect();
    let text = |numbers: &[u32]| {
        numbers
            .iter()
            .map(|one| format!("{one}\n"))
            .collect::<String>()
    };
    assert_eq!(
        parse(text(&times).as_bytes(), "a").unwrap().format,
        "mahimahi"
    );
    let twice = [times.clone(), times].concat();
    let error = refusal(text(&twice).as_bytes());
    assert!(
        error.contains("line 401: timestamp 0 ms after 14763 ms"),
        "{error}"
    );
    // A queue that fills for a hundred probes, over and over.
    let saw: Vec<u32> = (0..1000).map(|probe| 20 + 7 * (probe % 100)).collect();
    let spikes: Vec<u32> = (0..1000)
        .map(|probe| if probe % 100 == 7 { 12_000 } else { 12 })
        .collect();
    for round_trips in [saw, spikes] {
        assert_eq!(
            parse(text(&round_trips).as_bytes(), "a")
                .unwrap()
                .probes
                .unwrap()
                .replies()
                .len(),
            1000
        );
    }
}

#[test]
fn an_interval_of_iperf3_that_no_transfer_has_is_an_error() {
    let test = |stream: &str| {
        format!("{{\"start\": {{}}, \"intervals\": [{{\"streams\": [{stream}]}}], \"end\": {{}}}}")
    };
    let fine = test("{\"start\": 0, \"end\": 1, \"bytes\": 1e6, \"bits_per_second\": 8e6}");
    assert_eq!(
        parse(fine.as_bytes(), "a").unwrap().rates[0].mean,
        8_000_000
    );
    for stream in [
        "{\"start\": 0, \"end\": 1, \"bytes\": -5, \"bits_per_second\": 8e6}",
        "{\"start\": 0, \"end\": 1, \"bytes\": 5, \"bits_per_second\": -8e6}",
        "{\"start\": 0, \"end\": 1, \"bytes\": 5, \"bits_per_second\": 1e300}",
        "{\"start\": 2, \"end\": 1, \"bytes\": 5, \"bits_per_second\": 8e6}",
    ] {
        let error = refusal(test(stream).as_bytes());
        assert!(error.contains("an interval from"), "{error}");
    }
    let text = "[ ID] Interval           Transfer     Bitrate\n\
                [  5]   0.00-1.00   sec  1.0 MBytes  -8.0 Mbits/sec\n";
    assert!(refusal(text.as_bytes()).contains("line 2"));
}

#[test]
fn a_word_that_tc_does_not_take_is_shown() {
    let error = refusal(b"tc qdisc add dev eth0 root netem delay 20ms loss 1%%\n");
    assert!(
        error.contains("found \"1%%\": expected a percentage"),
        "{error}"
    );
}
