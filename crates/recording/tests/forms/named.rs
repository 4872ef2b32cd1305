//! Reports of mtr, iperf3 with times and targets, and files that are named with the way on.

use airtcp_recording::{Bound, parse};

use crate::transfers;

fn refusal(bytes: &[u8]) -> String {
    parse(bytes, "x.log").unwrap_err().to_string()
}

const XML: &str = "<?xml version=\"1.0\"?>\n<MTR SRC=\"vm\" DST=\"192.0.2.9\" TOS=\"0x0\" \
                   TESTS=\"300\">\n    <HUB COUNT=\"1\" HOST=\"192.0.2.9\">\n        <Loss>  \
                   8.0%</Loss>\n        <Snt>   300</Snt>\n        <Last>  23.1</Last>\n        \
                   <Avg> \
                   29.0</Avg>\n        <Best> 20.1</Best>\n        <Wrst>452.9</Wrst>\n        \
                   <StDev>  40.2</StDev>\n    </HUB>\n</MTR>\n";

/// Columns are found by the heading, which `-o` orders and `-z` precedes with a network.
#[test]
fn reports_of_mtr_are_read_by_their_columns() {
    let usual = "HOST: vm     Loss%   Snt   Last   Avg  Best  Wrst StDev\n";
    for text in [
        XML.to_owned(),
        format!("{usual}  1.|-- 192.0.2.9   8.0%   300   23.1  29.0  20.1 452.9  40.2\n"),
        format!("{usual}  1. AS64496 192.0.2.9   8.0%   300   23.1  29.0  20.1 452.9  40.2\n"),
        "HOST: vm    Loss%   Snt Drop   Rcv   Last  Best   Avg  Wrst StDev  Jttr\n  1.|-- \
         192.0.2.9 \
         8.0%   300   24   276   23.1  20.1  29.0  452.9  40.2   0.1\n"
            .to_owned(),
        "Mtr_Version,Start_Time,Status,Host,Hop,Ip,Loss%,Snt,Drop, ,Last,Best,Avg,Wrst,StDev,\n\
         MTR.0.95,1,OK,192.0.2.9,1,192.0.2.9,8.00,300,24,0,23.1,20.1,29.0,452.9,40.2\n"
            .to_owned(),
    ] {
        let one = parse(text.as_bytes(), "x").unwrap();
        let ms = |time: Option<airtcp_units::Duration>| time.unwrap().as_millis_f64();
        assert_eq!(ms(one.figures.mean_rtt), 29.0, "{text}");
        assert_eq!(ms(one.figures.least_rtt), 20.1, "{text}");
        assert_eq!(one.figures.losses[0].1, 0.08, "{text}");
    }
}

/// The last hop that answers is no answer of the host.
#[test]
fn a_report_that_ends_before_its_host_is_refused() {
    let other = XML.replace("DST=\"192.0.2.9\"", "DST=\"192.0.2.77\"");
    assert!(refusal(other.as_bytes()).contains("not at 192.0.2.77, which did not answer"));
    let lost = XML.replace("  8.0%", "100.0%");
    assert!(refusal(lost.as_bytes()).contains("answered no probe"));
}

#[test]
fn iperf3_with_times_in_front_is_read_as_without() {
    let plain = parse(transfers::IPERF3_TEXT.as_bytes(), "x").unwrap();
    for stamp in ["Sat Nov 28 21:24:14 2026 ", "1795901057 ", "[10:00:01] "] {
        let text: String = transfers::IPERF3_TEXT
            .lines()
            .map(|line| format!("{stamp}{line}\n"))
            .collect();
        assert_eq!(
            parse(text.as_bytes(), "x").unwrap().rates,
            plain.rates,
            "{stamp}"
        );
    }
}

#[test]
fn a_target_bounds_the_rate() {
    let text = "      Target Bitrate: 20000000\n[ ID] Interval           Transfer     \
                Bitrate         \
                Retr  Cwnd\n[  5]   0.00-1.00   sec  2.50 MBytes  20.0 Mbits/sec    0    402 \
                KBytes\n\
                [  5]   0.00-1.00   sec  2.50 MBytes  20.0 Mbits/sec    0             sender\n";
    assert_eq!(
        parse(text.as_bytes(), "x").unwrap().rates[0].bound,
        Bound::Target
    );
    // A radio that loses 4 % is not full; a link that drops a third is.
    for (percent, bound) in [
        (0.0, Bound::Target),
        (4.0, Bound::Target),
        (33.0, Bound::Link),
    ] {
        let text = format!(
            "{{\"start\": {{\"test_start\": {{\"protocol\": \"UDP\", \"target_bitrate\": 2e7}}}}, \
             \"intervals\": [{{\"streams\": [{{\"start\": 0, \"end\": 1, \"bits_per_second\": \
               2e7}}]}}], \
             \"end\": {{\"sum\": {{\"bits_per_second\": 2e7, \"lost_percent\": {percent}}}}}}}"
        );
        let one = parse(text.as_bytes(), "x").unwrap();
        assert_eq!(one.rates[0].bound, bound, "{percent}");
        assert_eq!(
            one.remarks
                .iter()
                .any(|line| line.contains("twice the target")),
            percent == 4.0
        );
    }
}

#[test]
fn files_that_are_no_recordings_are_named_with_the_way_on() {
    let tracert = "Tracing route to a [192.0.2.9]\nover a maximum of 30 hops:\n\n  1    <1 ms    \
                   <1 ms \
                   <1 ms  192.168.1.1\n  2     *        *        *     Request timed out.\n  \
                   3     9 \
                   ms     8 ms     9 ms  192.0.2.9\n";
    let traceroute = "traceroute to a (192.0.2.9), 30 hops max\n 1  gw (192.168.1.1)  1.234 ms  \
                      1.1 \
                      ms  1.0 ms\n 2  a (192.0.2.9)  9.1 ms  9.2 ms  9.0 ms\n";
    let pathping = "Computing statistics for 25 seconds...\n            Source to Here   This \
                    Node/Link\nHop  RTT    Lost/Sent = Pct  Lost/Sent = Pct  Address\n  1    \
                    1ms     \
                    0/ 100 =  0%     0/ 100 =  0%  192.168.1.1\n";
    let radio = "Station 00:11:22:33:44:55 (on wlan0)\n\tinactive time:\t4 ms\n";
    for (bytes, what, remedy) in [
        (tracert.as_bytes(), "the route to a host", "ping -D"),
        (traceroute.as_bytes(), "the route to a host", "ping -D"),
        (pathping.as_bytes(), "pathping", "ping -D"),
        (radio.as_bytes(), "counters of a radio", "airtcp diagnose"),
        (b"wlan0     ESSID: \"x\"\n", "iwinfo", "station dump"),
        (b"     agrCtlRSSI: -54\n", "airport", "ping -i"),
        (
            b"wlan0  IEEE 802.11  ESSID:\"x\"\n",
            "iwconfig",
            "station dump",
        ),
        (b"    MCS Index            : 9\n", "wdutil", "ping -i"),
        (b"    Receive rate (Mbps)  : 866\n", "netsh wlan", "ping -n"),
        (
            b"PK\x03\x04\x14\0\0\0",
            "zip archive or a spreadsheet",
            "CSV",
        ),
        (b"BZh91AY&SY", "bzip2", "bunzip2"),
        (b"RRD\x000003\0", "Smokeping", "ping -D"),
        (
            b"{\"round_trips\": [{\"seqno\": 0, \"delay\": {\"rtt",
            "JSON",
            "again",
        ),
        (
            b"{\"a\": 1, \"b\": 2}",
            "JSON of no known program, with a, b",
            "CSV",
        ),
        (
            b"<!DOCTYPE html><html>",
            "web page",
            "file that it links to",
        ),
        (
            b"[a] [WaitForPackets] waiting 86.14ms\n",
            "summary of irtt",
            "-q",
        ),
    ] {
        let said = refusal(bytes);
        assert!(
            said.contains(what) && said.contains(remedy),
            "{what}: {said}"
        );
    }
}

/// The first file's lines resemble a ping's log in text.
#[test]
fn an_archive_of_logs_is_no_log() {
    let mut header = [0_u8; 512];
    header[..6].copy_from_slice(b"a.ping");
    header[257..262].copy_from_slice(b"ustar");
    let log = b"64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=5.1 ms\n".repeat(5);
    let said = refusal(&[&header[..], &log].concat());
    assert!(
        said.contains("a tar archive") && said.contains("tar xf"),
        "{said}"
    );
}
