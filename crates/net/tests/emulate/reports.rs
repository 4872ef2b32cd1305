//! A radio link's reports to the station on the station's segments.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use airtcp_host::link_reports;

use super::{Scenario, emulate, is_allowed, text};

const ROLE: &str = "AIRTCP_TEST_ROLE";
const PORT: u16 = 5001;
const BYTES: usize = 200_000;
const PATIENCE: Duration = Duration::from_secs(60);
/// A station uploads over 802.11b, and every fifth frame is damaged.
const UPLOAD: &str = "topology = \"wlan\"\n[wlan]\nstandard = \"802.11b\"\nrate = \"11 Mbit/s\"\n\
                      [wlan.loss]\nrate = 0.2\n[flows]\ndirection = \"up\"\n";

fn is(role: &str) -> bool {
    std::env::var(ROLE).is_ok_and(|given| given == role)
}

/// Not a test by itself: the far end of the link below.
#[test]
fn a_sink() {
    if is("sink") {
        let listener = TcpListener::bind(("0.0.0.0", PORT)).unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        std::io::copy(&mut stream, &mut std::io::sink()).unwrap();
    }
}

/// Not a test by itself: the station, which receives its driver's reports and sends.
#[test]
fn a_station() {
    if !is("station") {
        return;
    }
    let heard = link_reports::listener().unwrap();
    let server = (std::env::var("AIRTCP_SERVER").unwrap(), PORT);
    let start = Instant::now();
    let mut stream = loop {
        match TcpStream::connect((server.0.as_str(), PORT)) {
            Ok(stream) => break stream,
            // The far end is not ready yet.
            Err(error) => assert!(start.elapsed() < PATIENCE, "{error}"),
        }
    };
    let ends = (stream.local_addr().unwrap(), stream.peer_addr().unwrap());
    let (mut sequences, mut retransmissions) = (Vec::new(), 0);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // A socket queues a bounded number of datagrams: they are read at once.
        let hearing = scope.spawn(|| {
            let mut reported = Vec::new();
            while !is_over.load(Ordering::Acquire) {
                reported.extend(std::iter::from_fn(|| link_reports::next(&heard)));
                std::thread::yield_now();
            }
            reported
        });
        stream.write_all(&vec![0; BYTES]).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        stream.read_to_end(&mut Vec::new()).unwrap();
        is_over.store(true, Ordering::Release);
        for report in hearing.join().unwrap() {
            if (report.local, report.remote) == ends {
                sequences.push(report.sequence);
                retransmissions += report.retransmissions;
            }
        }
    });
    // Every byte was in some segment that the link has delivered, from the SYN to the last.
    let (first, last) = (sequences[0], *sequences.last().unwrap());
    let spanned = last.wrapping_sub(first) as usize;
    assert!(spanned + 1460 >= BYTES, "{first} to {last}");
    assert!(
        sequences.len() > BYTES / 1460,
        "{} reports",
        sequences.len()
    );
    // One attempt in five fails: a quarter of a retransmission for each segment, within wide
    // bounds.
    let each = f64::from(retransmissions) / sequences.len() as f64;
    assert!(
        (0.1..0.5).contains(&each),
        "{each} retransmissions a segment"
    );
}

#[test]
fn a_station_hears_of_each_of_its_segments() {
    if !is_allowed() || !rustix::process::geteuid().is_root() {
        airtcp_needs::skip("root alone has a queue long enough for all reports");
        return;
    }
    let scenario = Scenario::new(UPLOAD);
    let me = std::env::current_exe().unwrap();
    let run = |role: &str, test: &str| {
        format!(
            "{ROLE}={role} '{}' --exact link_reports::{test} --nocapture",
            me.display()
        )
    };
    let output = emulate(
        &scenario,
        &[],
        &run("sink", "a_sink"),
        &run("station", "a_station"),
    );
    assert!(
        output.status.success(),
        "{} {}",
        text(&output.stdout),
        text(&output.stderr)
    );
}
