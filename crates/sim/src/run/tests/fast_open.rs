//! Connections opened by a request, and with TCP Fast Open (RFC 7413).

use super::*;

/// A link so fast that only its delay takes time.
const LINK: &str = "duration = '20 s'\nlink.rate = '10 Gbit/s'\nlink.delay = '50 ms'\n\
                    link.queue.packets = 1000000\ntcp.profile = 'linux'\n";

/// Completion time of each flow, in round trips of 100 ms.
fn round_trips(text: &str) -> Vec<f64> {
    round_trips_of(&format!("{LINK}{text}"))
}

fn round_trips_of(text: &str) -> Vec<f64> {
    let summary = summary(&scenario(text), 1);
    let times = summary.flows.iter().map(|flow| {
        let completed = flow.times.completed_s.expect("a completed flow");
        (completed - flow.times.started_s) / 0.1
    });
    // Headers take microseconds of serialization.
    times.map(|time| (time * 1000.0).round() / 1000.0).collect()
}

/// Ten flows, one after another.
fn flows(text: &str) -> String {
    format!("flows.count = 10\nflows.start_spread = '10 s'\n{text}")
}

/// The rounds of slow start that `segments` take, from a window of ten (RFC 6928), and the half
/// round trip of the last.
fn transfer(segments: u32) -> f64 {
    let (mut sent, mut window, mut rounds) = (0, 10, 0.0);
    while sent + window < segments {
        sent += window;
        window *= 2;
        rounds += 1.0;
    }
    rounds + 0.5
}

/// A handshake, half a round trip for the request, and the transfer.
#[test]
fn a_request_takes_the_handshake_and_half_a_round_trip() {
    for segments in [1, 10, 11, 30, 31] {
        let bytes = 1448 * segments;
        let text = flows(&format!("flows.bytes = {bytes}\nflows.request = 350"));
        let times = round_trips(&text);
        assert_eq!(times, [1.5 + transfer(segments); 10], "{segments} segments");
    }
}

/// The request rides in the SYN: exactly the handshake's round trip less, from the second
/// connection on. The first requests a cookie.
#[test]
fn a_cookie_saves_a_request_one_round_trip() {
    for segments in [1, 10, 11, 30, 31] {
        let bytes = 1448 * segments;
        let text = flows(&format!(
            "flows.bytes = {bytes}\nflows.request = 350\ntcp.fast_open = true"
        ));
        let times = round_trips(&text);
        let with_cookie = 0.5 + transfer(segments);
        assert_eq!(times[0], with_cookie + 1.0, "{segments} segments");
        assert_eq!(times[1..], [with_cookie; 9], "{segments} segments");
    }
}

/// A sender that opens the connection saves it only for data that fits the SYN: 1420 bytes, 1460
/// less 40 for options (Linux, `tcp_send_syn_data`).
#[test]
fn a_cookie_saves_an_upload_a_round_trip_if_it_fits_the_syn() {
    for (bytes, saved) in [(1, 1.0), (1420, 1.0), (1421, 0.0), (14_480, 0.0)] {
        let text = flows(&format!("flows.bytes = {bytes}\nflows.direction = 'up'"));
        let without = round_trips(&text);
        assert_eq!(without, [1.5; 10], "{bytes} bytes");
        let times = round_trips(&format!("{text}\ntcp.fast_open = true"));
        assert_eq!(times[0], 1.5, "{bytes} bytes");
        assert_eq!(times[1..], [1.5 - saved; 9], "{bytes} bytes");
    }
    // The SYN's bytes are the window's no more: a window of ten segments reaches further.
    let text = flows("flows.bytes = 15_900\nflows.direction = 'up'");
    assert_eq!(round_trips(&text), [2.5; 10]);
    let times = round_trips(&format!("{text}\ntcp.fast_open = true"));
    assert_eq!((times[0], &times[1..]), (2.5, &[1.5; 9][..]));
}

/// A file that an application writes as it opens the connection leaves in the SYN.
#[test]
fn an_application_that_writes_at_once_opens_fast() {
    let text = flows(
        "traffic = { application = 'ftp', ftp = { size = '1 kB', repeat = false } }\n\
         tcp.fast_open = true",
    );
    let text = format!("{LINK}{text}");
    let summary = summary(&scenario(&text), 1);
    let times = summary.flows.iter().map(|flow| {
        let mean = flow.transfers.transfer_mean_s.expect("a transfer");
        (mean * 1e4).round() / 1e3
    });
    assert_eq!(
        times.collect::<Vec<_>>(),
        [[1.5].as_slice(), &[0.5; 9]].concat()
    );
}

/// A lost SYN is retransmitted after a second without its data, which follows after the handshake
/// (RFC 7413 §4.1.3.1; Linux, `tcp_retransmit_skb`): as slow as without a cookie.
#[test]
fn a_lost_syn_is_retransmitted_without_its_data() {
    let folder = tempfile::tempdir().expect("a folder");
    // Packet 0 of the second flow's mobile is its SYN.
    std::fs::write(folder.path().join("lost.csv"), "flow,packet\n1,0\n").expect("a file");
    let times = |fast: bool| {
        let text = format!(
            "{LINK}{}link.lost_packets.path = 'lost.csv'\ntcp.fast_open = {fast}\n",
            flows("flows.bytes = 1000\nflows.direction = 'up'\n")
        );
        let scenario = Scenario::parse(&text, "test", folder.path()).expect("a scenario");
        let summary = summary(&scenario, 1);
        let times = summary.flows.iter().map(|flow| {
            let completed = flow.times.completed_s.expect("a completed flow");
            ((completed - flow.times.started_s) * 1e4).round() / 1e3
        });
        times.collect::<Vec<_>>()
    };
    // The timer of 1 s, then the handshake and the data.
    let (without, with) = (times(false), times(true));
    assert_eq!(without[..3], [1.5, 11.5, 1.5]);
    assert_eq!(with[..3], [1.5, 11.5, 0.5]);
}

/// Cookies are a pair of hosts': the flows of a dumbbell are between different ones.
#[test]
fn a_cookie_is_for_one_pair_of_hosts() {
    let text = flows("flows.bytes = 1000\nflows.request = 100\ntcp.fast_open = true");
    assert_eq!(
        round_trips_of(&format!("topology = 'dumbbell'\n{LINK}{text}")),
        [2.0; 10]
    );
}

/// Datagrams and pings next to requests are sent as without them.
#[test]
fn a_request_is_no_matter_of_other_kinds() {
    let text = flows(
        "flows.bytes = 1000\nflows.request = 100\nflows.kind = ['tcp', 'ping']\n\
         tcp.fast_open = true",
    );
    let summary = summary(&scenario(&format!("{LINK}{text}")), 1);
    for pair in summary.flows.chunks(2) {
        assert!(pair[0].times.completed_s.is_some() && pair[0].delivery.opened);
        let pings = &pair[1].datagrams;
        assert!(pings.datagrams_sent > 0 && pings.datagrams_lost == 0);
    }
}
