//! Latency measured outside the sender, against closed forms, a log of round trips, and the run's
//! capture.

use std::fs;
use std::path::PathBuf;

use pcap_file::pcapng::{Block, PcapNgReader};

use super::*;

fn close(found: Option<f64>, expected: f64) {
    let found = found.expect("measured");
    assert!(
        (found / expected - 1.0).abs() < 0.011,
        "{found} ms, expected {expected} ms"
    );
}

/// A window of 60 packets of 1500 bytes on 10 Mbit/s: 72 ms until the last has left the queue, and
/// every cycle takes as long, whatever part of it the queue holds: base + Q/R with Q = window - R ×
/// base. The way back takes 25 ms and the time of 40 bytes.
#[test]
fn a_full_window_waits_as_long_as_its_queue_takes_to_drain() {
    let text = "duration = '60 s'\nlink.queue.packets = 1000\ntcp.profile = 'sack'\n\
                tcp.max_window = 60\ntcp.delayed_ack.segments = 1";
    let latency = summary(&scenario(text), 1).flows[0].latency;
    let cycle = 60.0 * 1500.0 * 8.0 / 10e6 * 1e3;
    let back = 25.0 + 40.0 * 8.0 / 10e6 * 1e3;
    close(latency.rtt_p50_ms, cycle);
    close(latency.rtt_p99_ms, cycle);
    close(latency.delay_p50_ms, cycle - back);
    // Nothing is lost: each byte is read when its packet arrives.
    assert_eq!(latency.delivery_p50_ms, latency.delay_p50_ms);
    assert_eq!(latency.delivery_p99_ms, latency.delay_p99_ms);
    let least = latency.min_rtt_ms.expect("measured");
    assert!((50.0..53.0).contains(&least), "{least} ms");
}

/// A file is written as it leaves; repairing lost data first keeps later bytes waiting.
#[test]
fn a_lost_segment_delays_its_own_bytes_and_those_behind_it() {
    let text = "duration = '60 s'\ntcp.profile = 'linux'\nlink.loss.rate = 0.02";
    let latency = summary(&scenario(text), 1).flows[0].latency;
    let (delay, delivery) = (
        latency.delay_p95_ms.unwrap(),
        latency.delivery_p95_ms.unwrap(),
    );
    // Detecting a loss and repairing it takes a round trip of 50 ms or more.
    assert!(delivery > delay + 40.0, "{delay} ms, {delivery} ms");
    let rtt = latency.rtt_p95_ms.unwrap();
    assert!(rtt < delivery, "{rtt} ms, {delivery} ms");
}

/// The k-th packet takes the k-th round trip of a log with 400 ms in every fifth: no sender can
/// make it shorter, whatever it estimates.
#[test]
fn no_remedy_shortens_what_packets_take() {
    let folder = tempfile::tempdir().expect("a folder");
    let times: String = (0..500)
        .map(|k| if k % 5 == 0 { "400\n" } else { "50\n" })
        .collect();
    fs::write(folder.path().join("log.csv"), format!("rtt_ms\n{times}")).expect("a file");
    for remedy in [
        "",
        "remedies = ['wsc']\n",
        "remedies = ['wsc-rtt-clusters']\n",
    ] {
        let text = format!(
            "duration = '120 s'\nlink.rtt_log.path = 'log.csv'\ntcp.max_window = 1\n\
             tcp.delayed_ack.segments = 1\n{remedy}"
        );
        let scenario = Scenario::parse(&text, "test", folder.path()).expect("a scenario");
        let latency = summary(&scenario, 1).flows[0].latency;
        close(latency.rtt_p50_ms, 50.0);
        close(latency.rtt_p95_ms, 400.0);
    }
}

/// With a proxy no packet travels end to end; bytes do.
#[test]
fn a_proxy_does_not_shorten_the_way() {
    let text = "duration = '20 s'\ntopology = 'wlan-wired-wlan'\nremedies = ['split-tcp']";
    let latency = summary(&scenario(text), 1).flows[0].latency;
    assert_eq!((latency.rtt_p95_ms, latency.delay_p95_ms), (None, None));
    assert!(latency.delivery_p50_ms.expect("measured") > 5.0);
}

/// A data packet in the capture.
struct Sent {
    start: u32,
    end: u32,
    /// Nanoseconds.
    at: Vec<u64>,
    is_covered: bool,
}

/// Round trips read from a capture, without any of the crate's code: an acknowledgment answers the
/// last of the segments that it is the first to cover, by its number or by SACK, and of a segment's
/// transmissions the last that left long enough before.
fn round_trips_of(capture: &Path, shortest: u64) -> Vec<u64> {
    let mut reader = PcapNgReader::new(fs::File::open(capture).expect("a file")).expect("pcapng");
    let mut sent: Vec<Sent> = Vec::new();
    let mut round_trips = Vec::new();
    while let Some(block) = reader.next_block() {
        let Block::EnhancedPacket(packet) = block.expect("a block") else {
            continue;
        };
        let now = u64::try_from(packet.timestamp.as_nanos()).expect("a time");
        let ip = &packet.data;
        let tcp = &ip[usize::from(ip[0] & 15) * 4..];
        let word = |at: usize| u32::from_be_bytes(tcp[at..at + 4].try_into().expect("4 bytes"));
        let header = usize::from(tcp[12] >> 4) * 4;
        let payload = tcp.len() - header;
        if payload > 0 {
            let (start, end) = (word(4), word(4) + payload as u32);
            match sent
                .iter_mut()
                .rfind(|one| one.start == start && one.end == end)
            {
                Some(again) => again.at.push(now),
                None => sent.push(Sent {
                    start,
                    end,
                    at: vec![now],
                    is_covered: false,
                }),
            }
            continue;
        }
        let mut ranges = vec![(0, word(8))];
        let mut at = 20;
        while at < header {
            match tcp[at] {
                0 => break,
                1 => at += 1,
                5 => {
                    let blocks = (at + 2..at + usize::from(tcp[at + 1])).step_by(8);
                    ranges.extend(blocks.map(|block| (word(block), word(block + 4))));
                    at += usize::from(tcp[at + 1]);
                }
                _ => at += usize::from(tcp[at + 1]),
            }
        }
        let mut answered = None;
        for one in sent.iter_mut().filter(|one| !one.is_covered) {
            if ranges
                .iter()
                .any(|&(from, to)| from <= one.start && one.end <= to)
            {
                one.is_covered = true;
                answered = one.at.iter().rfind(|&&at| now - at >= shortest).copied();
            }
        }
        round_trips.extend(answered.map(|at| now - at));
        if sent.len() > 4000 {
            sent.retain(|one| !one.is_covered);
        }
    }
    round_trips
}

/// Without losses and with them; delayed acknowledgments and their timer are in both.
#[test]
fn round_trips_are_those_of_the_runs_own_capture() {
    for (profile, loss) in [
        ("sack", 0.0),
        ("sack", 0.01),
        ("linux", 0.02),
        ("linux-bbr", 0.01),
    ] {
        let text = format!(
            "duration = '30 s'\ntcp.profile = '{profile}'\nlink.loss.rate = {loss}\n\
             link.queue.packets = 100"
        );
        let folder = tempfile::tempdir().expect("a folder");
        let capture: PathBuf = folder.path().join("run.pcapng");
        let observe = Observe {
            pcap: Some(capture.clone()),
            ..Observe::default()
        };
        let run = run(&scenario(&text), 3, &observe, &|_| true).expect("a run");
        let latency = run.summary.flows[0].latency;
        let mut times = round_trips_of(&capture, 50_000_000);
        times.sort_unstable();
        assert!(times.len() > 1000, "{}", times.len());
        let nth = |percent: usize| times[(times.len() * percent).div_ceil(100) - 1] as f64 / 1e6;
        close(latency.rtt_p50_ms, nth(50));
        close(latency.rtt_p95_ms, nth(95));
        close(latency.rtt_p99_ms, nth(99));
        assert_eq!(latency.min_rtt_ms, Some(times[0] as f64 / 1e6));
    }
}
