//! Files that are no recordings: the command that reads them or makes one, or the words they lack.

use super::json::begins_as_object;
use crate::fault::TraceProblem;
use crate::source::lines;

/// First bytes of captures: pcap in both byte orders, with microseconds and nanoseconds, and
/// pcapng's section header (draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng).
const CAPTURES: [[u8; 4]; 5] = [
    [0xd4, 0xc3, 0xb2, 0xa1],
    [0xa1, 0xb2, 0xc3, 0xd4],
    [0x4d, 0x3c, 0xb2, 0xa1],
    [0xa1, 0xb2, 0x3c, 0x4d],
    [0x0a, 0x0d, 0x0d, 0x0a],
];
/// Record separator of JSON text sequences (RFC 7464), which qlog's `.sqlog` files are.
const SEPARATOR: u8 = 0x1e;
/// Rows that must contain only numbers for a table without a header.
const ROWS: usize = 3;
const SNIFFED_LINES: usize = 60;
const DIAGNOSE: &str = "`airtcp diagnose FILE` reads it, fits its link and tries remedies on it";
const PING: &str = "ping the host: ping -D -i 0.2 -c 1500 HOST > link.ping";

const SCENARIO: &str = "a scenario of airtcp";
const COMPARE: &str = "`airtcp compare FILE` tries remedies on it";

/// First bytes of a file, its description, and the remedy.
const MAGICS: [(&[u8], &str, &str); 8] = [
    (
        b"PK\x03\x04",
        "a zip archive or a spreadsheet (.xlsx)",
        "unpack it, or export it as CSV",
    ),
    (
        b"BZh",
        "compressed with bzip2",
        "unpack it: bunzip2 -k FILE",
    ),
    (b"\xfd7zXZ", "compressed with xz", "unpack it: unxz -k FILE"),
    (
        b"\x28\xb5\x2f\xfd",
        "compressed with zstd",
        "unpack it: unzstd FILE",
    ),
    (b"7z\xbc\xaf", "a 7-Zip archive", "unpack it: 7z x FILE"),
    (
        b"RRD\0",
        "a round-robin database, as Smokeping keeps, with means and no single round trip",
        PING,
    ),
    (b"\x89PNG", "a picture", "give the recording behind it"),
    (b"%PDF", "a PDF", "give the recording behind it"),
];

/// The header of the first file in a tar archive names the form here (tar(5), "ustar").
const TAR_MAGIC: std::ops::Range<usize> = 257..262;

/// Words that one line has, the description of such a file, and the remedy.
const LINES: [(&[&str], &str, &str); 19] = [
    (
        &["[WaitForPackets]"],
        "the summary of irtt, without a line for each round trip",
        "leave out -q, or write all of it: irtt client -o FILE.json HOST",
    ),
    (
        &["Source to Here", "This Node/Link"],
        "the output of Windows' pathping, with losses and no \
      round trip of each probe",
        PING,
    ),
    (
        &["IFACE", "rxkB/s", "txkB/s"],
        "a table of all interfaces' rates (`sar -n DEV`)",
        "give one of them as CSV with the columns time_s,mbps: its rxkB/s or txkB/s by 122",
    ),
    (
        &["KB/s in", "KB/s out"],
        "a table of rates by ifstat",
        "give it as CSV with the columns time_s,mbps: its KB/s by 122",
    ),
    (
        &["TCP STREAM TEST from"],
        "the result of netperf: one mean",
        "the rate over time shows more: iperf3 --json -c HOST > test.json",
    ),
    (
        &["% Total", "Average Speed"],
        "the progress of curl: one mean",
        "the rate over time shows more: iperf3 --json -c HOST > test.json",
    ),
    (
        &["TcpExtTCP"],
        "a list of the kernel's counters of TCP (`nstat`)",
        "`airtcp diagnose FILE` reads them",
    ),
    (
        &["segments retransmit"],
        "a list of the kernel's counters of TCP (`netstat -s`)",
        "`airtcp diagnose FILE` reads them",
    ),
    (
        &["Station ", " (on "],
        "the counters of a radio (`iw dev DEVICE station dump`)",
        "`airtcp diagnose FILE` reads them",
    ),
    (
        &["ESSID: "],
        "what `iwinfo` says of a radio, without a transfer or a round trip",
        "record both: `iw dev DEVICE station dump > FILE` for the radio, ping -D -i 0.2 -c 1500 \
         HOST \
      > link.ping for the link",
    ),
    (
        &["IEEE 802.11", "ESSID:\""],
        "what `iwconfig` says of a radio, without a transfer or a round trip",
        "iw dev DEVICE station dump > stations.txt, which `airtcp diagnose` reads",
    ),
    (
        &["agrCtlRSSI: "],
        "what macOS's `airport -I` says of a radio, without a round trip",
        "ping the access point while it is slow: ping -i 0.2 -c 1500 HOST > link.ping",
    ),
    (
        &["MCS Index", " : "],
        "what macOS's `wdutil info` says of a radio, without a round trip",
        "ping the access point while it is slow: ping -i 0.2 -c 1500 HOST > link.ping",
    ),
    (
        &["Receive rate (Mbps)"],
        "what Windows' `netsh wlan` says of a radio, without a round trip",
        "ping the access point while it is slow: ping -n 1500 HOST > link.ping",
    ),
    (
        &["Send-Q", "Recv-Q"],
        "the kernel's counters of connections (`ss`)",
        "`airtcp diagnose FILE` reads the output of `ss -ti`",
    ),
    (&["[link]"], SCENARIO, COMPARE),
    (&["[tcp]"], SCENARIO, COMPARE),
    (&["<html"], "a web page", "give the file that it links to"),
    (
        &["<!DOCTYPE html"],
        "a web page",
        "give the file that it links to",
    ),
];

/// The fault of a file that no format of recordings recognizes, if recognizable.
pub(super) fn fault(bytes: &[u8]) -> Option<TraceProblem> {
    let other = |what: &str, remedy: &str| {
        Some(TraceProblem::OtherKind {
            what: what.to_owned(),
            remedy: remedy.to_owned(),
        })
    };
    if CAPTURES.iter().any(|magic| bytes.starts_with(magic)) {
        return other("a capture of packets", DIAGNOSE);
    }
    if let Some((_, what, remedy)) = MAGICS.iter().find(|(magic, ..)| bytes.starts_with(magic)) {
        return other(what, remedy);
    }
    if bytes.get(TAR_MAGIC) == Some(b"ustar") {
        return other(
            "a tar archive",
            "unpack it, and give one of its files: tar xf FILE",
        );
    }
    let is_qlog = |key: &str| begins_as_object(bytes, &[key]);
    if bytes.first() == Some(&SEPARATOR) || is_qlog("qlog_version") || is_qlog("qlog_format") {
        return other("qlog of a QUIC connection", DIAGNOSE);
    }
    if let Some(problem) = of_json(bytes) {
        return Some(problem);
    }
    if is_route(bytes) {
        return other(
            "the route to a host (traceroute, tracert), with three round trips of each router",
            PING,
        );
    }
    let mut shown = lines(bytes).take(SNIFFED_LINES);
    let named = shown.find_map(|(_, line)| {
        let text = std::str::from_utf8(line).ok()?;
        LINES
            .iter()
            .find(|(words, ..)| words.iter().all(|word| text.contains(word)))
    });
    if let Some((_, what, remedy)) = named {
        return other(what, remedy);
    }
    is_bare_table(bytes).then_some(())?;
    other(
        "a table without a header",
        "name its columns in a first line: time_s,rtt_ms for round trips, time_s,mbps for rates",
    )
}

/// JSON that was cut, or of an unknown program.
fn of_json(bytes: &[u8]) -> Option<TraceProblem> {
    const SHOWN_KEYS: usize = 6;
    let begin = bytes.trim_ascii_start();
    if !(begin.starts_with(b"{") || begin.starts_with(b"[") && begin.contains(&b'{')) {
        return None;
    }
    let (what, remedy) = match serde_json::from_slice::<serde_json::Value>(bytes) {
        Err(error) if error.is_eof() => (
            format!("JSON that ends early, in line {}", error.line()),
            "copy the file again when its program has ended",
        ),
        Err(_) => return None,
        Ok(value) => {
            let first = value.as_array().and_then(|all| all.first());
            let object = first.unwrap_or(&value).as_object()?;
            let keys: Vec<String> = object
                .keys()
                .take(SHOWN_KEYS)
                .map(|key| key.chars().take(20).collect())
                .collect();
            (
                format!("JSON of no known program, with {}", keys.join(", ")),
                "give it as CSV with a column rtt_ms for round trips, or time_s,mbps for rates",
            )
        }
    };
    Some(TraceProblem::OtherKind {
        what,
        remedy: remedy.to_owned(),
    })
}

/// Whether lines are the hops of a route: numbers from 1, each with several times or stars.
fn is_route(bytes: &[u8]) -> bool {
    const FEWEST: u64 = 2;
    let mut next = 1;
    for (_, line) in lines(bytes).take(SNIFFED_LINES) {
        let text = String::from_utf8_lossy(line);
        let mut words = text.split_whitespace();
        let number = words.next().and_then(|word| word.parse::<u64>().ok());
        let times = words.filter(|word| *word == "ms" || *word == "*").count();
        if number == Some(next) && times >= 2 {
            next += 1;
        }
    }
    next > FEWEST
}

/// Whether the first rows have at least two fields, all of them numbers.
fn is_bare_table(bytes: &[u8]) -> bool {
    let rows = lines(bytes).filter(|(_, text)| !text.is_empty());
    let mut count = 0;
    for (_, row) in rows.take(ROWS) {
        let Ok(text) = std::str::from_utf8(row) else {
            return false;
        };
        let fields: Vec<&str> = text
            .split([',', ';', '\t', ' '])
            .filter(|field| !field.is_empty())
            .collect();
        if fields.len() < 2 || fields.iter().any(|field| field.parse::<f64>().is_err()) {
            return false;
        }
        count += 1;
    }
    count == ROWS
}
