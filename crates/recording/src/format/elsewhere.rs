//! Files that are no recordings: the command that reads them, or the words that they lack.

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

/// The fault of a file that no format of recordings recognizes, if recognizable.
pub(super) fn fault(bytes: &[u8]) -> Option<TraceProblem> {
    let no_probes = |what: &str, remedy: &str| {
        Some(TraceProblem::OtherKind {
            what: what.to_owned(),
            remedy: remedy.to_owned(),
        })
    };
    if CAPTURES.iter().any(|magic| bytes.starts_with(magic)) {
        return no_probes(
            "a capture of packets",
            "`airtcp diagnose FILE` reads it, fits its link and tries remedies on it",
        );
    }
    let is_qlog = |key: &str| begins_as_object(bytes, &[key]);
    if bytes.first() == Some(&SEPARATOR) || is_qlog("qlog_version") || is_qlog("qlog_format") {
        return no_probes(
            "qlog of a QUIC connection",
            "`airtcp diagnose FILE` reads it, fits its link and tries remedies on it",
        );
    }
    is_bare_table(bytes).then_some(())?;
    no_probes(
        "a table without a header",
        "name its columns in a first line: time_s,rtt_ms for round trips, time_s,mbps for rates",
    )
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
