//! Recordings that are cut, reversed, damaged or too large.

use std::io::Write as _;

use airtcp_recording::parse;

use crate::kin::{gzip, kin};
use crate::series::*;
use crate::summaries::OUTPUTS;
use crate::windows::{WINDOWS, windows};
use crate::windows_tools::tools;
use crate::{traces, transfers};

/// Cut anywhere, backwards, or with a byte another, each form is read or refused in one short line.
#[test]
fn damaged_recordings_end_well() {
    let all = kin();
    let windows = windows(WINDOWS[8].1, true, " TTL=57");
    let (mahimahi, mm_link, cake) = (
        traces::mahimahi(),
        traces::mm_link(),
        traces::cake_autorate(),
    );
    let (table, flent) = (traces::table(), transfers::flent_with_load(4, 80.0));
    let iperf3 = transfers::iperf3_json();
    let others = [
        ("Windows", windows.as_str()),
        ("mahimahi", mahimahi.as_str()),
        ("mm-link", mm_link.as_str()),
        ("cake-autorate", cake.as_str()),
        ("table", table.as_str()),
        ("flent", flent.as_str()),
        ("iperf3", iperf3.as_str()),
        ("iperf3 text", transfers::IPERF3_TEXT),
        ("Ookla", transfers::OOKLA),
        ("networkQuality", transfers::NETWORK_QUALITY),
        ("goresponsiveness", transfers::GO),
        ("CellReplay", traces::CELLREPLAY),
        ("Raca", traces::RACA),
        ("tc", traces::TC_JSON),
    ];
    let tools = tools();
    let tools = tools.iter().map(|(name, text, _)| (*name, text.as_str()));
    for (name, text) in all
        .iter()
        .map(|(name, text)| (*name, text.as_str()))
        .chain(others)
        .chain(tools)
        .chain(OUTPUTS.map(|text| ("statistics", text)))
    {
        let bytes = text.as_bytes();
        let mut backwards: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        backwards.reverse();
        let wide = "\u{feff}".encode_utf16().chain(text.encode_utf16());
        let twice = bytes
            .split(|byte| *byte == b'\n')
            .flat_map(|line| [line, line]);
        let mut variants = vec![
            backwards.join(&b'\n'),
            wide.flat_map(u16::to_be_bytes).collect(),
            twice.collect::<Vec<_>>().join(&b'\n'),
            text.replace('.', ",").into_bytes(),
            text.replace('\n', "\r\n").into_bytes(),
        ];
        let packed = gzip(bytes);
        for step in 1..20 {
            let at = bytes.len() * step / 20;
            variants.push(bytes[..at].to_vec());
            variants.push(bytes[at..].to_vec());
            for value in [0, b'9', b'-', b'"', 0xff] {
                let mut damaged = bytes.to_vec();
                damaged[at] = value;
                variants.push(damaged);
            }
            variants.push(packed[..packed.len() * step / 20].to_vec());
        }
        for variant in variants {
            match parse(&variant, name) {
                Ok(found) => {
                    assert!(found.summary.len() < 700, "{}", found.summary);
                    let log = found.probes.as_ref();
                    let is_sane = log.is_none_or(|log| {
                        let answered = log.replies().len() as u64;
                        answered > 0 && answered + log.lost() == log.numbered() + log.unplaced()
                    });
                    assert!(is_sane, "{name}: {}", found.summary);
                    let shares = found.figures.losses.iter().map(|(_, share)| *share);
                    assert!(shares.into_iter().all(|share| (0.0..=1.0).contains(&share)));
                }
                Err(error) => {
                    let said = error.to_string();
                    assert!(said.len() < 700 && !said.contains('\n'), "{said}");
                }
            }
        }
    }
}

/// Neither a reply nor nothing: a form that nobody has described is refused by its first line.
#[test]
fn replies_in_no_known_form_are_refused_by_their_line() {
    let body: String = (0..30).fold(String::new(), |text, number| {
        let reply = format!("64 bytes from a: icmp_seq={number} ttl=57 time=20.1 ms\n");
        format!("{text}{reply}pong {number} after 23 ms!\n")
    });
    let said = parse(format!("PING a (a) x\n{body}").as_bytes(), "x")
        .unwrap_err()
        .to_string();
    assert!(
        said.contains("line 3") && said.contains("pong 0 after 23 ms!"),
        "{said}"
    );
    // A few such lines are someone's notes.
    let few = "64 bytes from a: icmp_seq=0 ttl=57 time=20.1 ms\nwalked off, 23 ms before\n";
    assert_eq!(read(few.as_bytes(), "few").numbered(), 1);
}

#[test]
fn what_decompresses_to_more_than_fits_is_refused() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let block = [b'1'; 1 << 20];
    for _ in 0..80 {
        encoder.write_all(&block).unwrap();
    }
    let said = parse(&encoder.finish().unwrap(), "big.gz")
        .unwrap_err()
        .to_string();
    assert!(said.contains("larger than 64 MiB"), "{said}");
}

/// Of a log of lines longer than the limit the beginning is read, with a remark.
#[test]
fn the_beginning_of_a_long_log_is_read() {
    // Wide lines, since a million of them would be read for a minute without optimisation.
    let line = format!(
        "{:4095}\n",
        "64 bytes from 192.0.2.9: icmp_seq=1 ttl=57 time=20.1 ms"
    );
    let long = line.repeat((65 << 20) / line.len());
    let found = airtcp_recording::read(long.as_bytes(), "long.ping").unwrap();
    let lines = (64 << 20) / line.len();
    let remark = found
        .remarks
        .iter()
        .find(|line| line.contains("longer than 64 MiB"));
    assert!(remark.is_some_and(|remark| remark.contains(&format!("first {lines} lines"))));
    let row = format!("{:4095}\n", "{\"seqno\": 1},");
    let long = format!("{{\"round_trips\": [\n{}", row.repeat(65 << 8));
    let said = airtcp_recording::read(long.as_bytes(), "long.json")
        .unwrap_err()
        .to_string();
    assert!(said.contains("larger than 64 MiB"), "{said}");
}
