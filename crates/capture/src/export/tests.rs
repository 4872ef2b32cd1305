//! An annotated capture is the capture, with comments.

use std::fs;
use std::path::Path;

use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketOption;
use pcap_file::pcapng::{Block, PcapNgReader};

use super::{Summary, annotate};
use crate::capture::{Capture, CaptureError};
use crate::read::Reader;
use crate::survey::Limits;

/// A transfer with a loss and a needless timeout, which the fuzzer begins with, too.
const SEEDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds/capture");
const FORMS: [&str; 8] = [
    "raw.pcap",
    "raw.pcapng",
    "raw.pcap.gz",
    "ethernet.pcap",
    "vlan.pcap",
    "cooked.pcap",
    "gtp.pcap",
    "wlan.pcap",
];

fn read(path: &Path) -> Capture {
    Capture::read(path, None, None, &Limits::default(), &mut |_| true).unwrap()
}

type Records = Vec<(Option<u64>, u16, u32, Vec<u8>)>;

fn records(path: &Path) -> Records {
    let mut reader = Reader::open(path).unwrap();
    let mut records = Vec::new();
    while let Some(record) = reader.next_record().unwrap() {
        records.push((
            record.time,
            record.link,
            record.wire_bytes,
            record.bytes.to_vec(),
        ));
    }
    records
}

#[test]
fn every_form_says_the_same_and_is_annotated_alike() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("annotated.pcapng");
    let mut said = Vec::new();
    for form in FORMS {
        let path = Path::new(SEEDS).join(form);
        let capture = read(&path);
        let analysis = capture.analysis.as_ref().unwrap();
        said.push(analysis.labels.clone());
        annotate(&path, &out, analysis).unwrap();
        assert_eq!(records(&out), records(&path), "{form}");
        // Read by a library.
        let mut reader = PcapNgReader::new(fs::File::open(&out).unwrap()).unwrap();
        let mut comments = Vec::new();
        let mut number = 0;
        while let Some(block) = reader.next_block() {
            let Block::EnhancedPacket(packet) = block.unwrap() else {
                continue;
            };
            number += 1;
            for option in &packet.options {
                if let EnhancedPacketOption::Comment(text) = option {
                    comments.push((number, text.to_string()));
                }
            }
        }
        let labels: Vec<u64> = analysis.labels.iter().map(|label| label.number).collect();
        let commented: Vec<u64> = comments.iter().map(|(number, _)| *number).collect();
        assert_eq!(commented, labels, "{form}");
        assert!(
            comments
                .iter()
                .all(|(_, text)| text.starts_with("airtcp: "))
        );
    }
    assert_eq!(said[0].len(), 2);
    for other in &said[1..] {
        for (one, other) in said[0].iter().zip(other) {
            assert_eq!((one.trigger, one.need), (other.trigger, other.need));
            assert_eq!((one.cause, one.number), (other.cause, other.number));
        }
    }
}

#[test]
fn the_summary_adds_up() {
    let capture = read(&Path::new(SEEDS).join("gtp.pcap"));
    let summary = Summary::of(&capture);
    let flow = summary.flow.unwrap();
    assert_eq!(flow.carrier, ["GTP-U"]);
    assert_eq!((flow.needed, flow.needless, flow.retransmitted), (1, 1, 2));
    assert_eq!((flow.timeouts, flow.timeouts_spurious), (1, 1));
    assert!((flow.shares.values().sum::<f64>() - 1.0).abs() < 1e-9);
    assert_eq!(summary.capture.packets, summary.capture.tcp_packets);
    assert!(!summary.is_sound, "it is short");
    assert!(
        summary
            .refusals
            .iter()
            .any(|refused| refused.kind == "short")
    );
}

#[test]
fn a_flow_that_is_not_there_is_an_error() {
    let path = Path::new(SEEDS).join("raw.pcap");
    let error = Capture::read(&path, Some(7), None, &Limits::default(), &mut |_| true).unwrap_err();
    assert!(matches!(
        error,
        CaptureError::NoSuchFlow { flow: 7, flows: 1 }
    ));
    assert!(error.to_string().contains("flow = 7"));
    let error = Capture::read(&path, None, None, &Limits::default(), &mut |_| false).unwrap_err();
    assert_eq!(error.to_string(), "interrupted");
}

/// A flow whose packets gave way is read for again.
#[test]
fn a_named_flow_is_read_for_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("two.pcap");
    let mut file = fs::read(Path::new(SEEDS).join("raw.pcap")).unwrap();
    // The same transfer of another client, ten times, makes the first give way.
    let body = file[24..].to_vec();
    for client in 1..=10_u8 {
        let mut copy = body.clone();
        let mut at = 0;
        while at < copy.len() {
            copy[at] += client * 10; // seconds
            let length = u32::from_le_bytes(copy[at + 8..at + 12].try_into().unwrap()) as usize;
            let packet = &mut copy[at + 16..at + 16 + length];
            // The last byte of the client's address, 10.0.0.1.
            let place = if packet[15] == 1 { 15 } else { 19 };
            packet[place] = 100 + client;
            at += 16 + length;
        }
        file.extend(copy);
    }
    fs::write(&path, file).unwrap();
    let limits = Limits {
        flows: 100,
        packets: 64,
        packets_of_one: 64,
    };
    let first = Capture::read(&path, Some(1), None, &limits, &mut |_| true).unwrap();
    let analysis = first.analysis.unwrap();
    assert_eq!(analysis.labels.len(), 2, "{:?}", analysis.refusals);
    assert_eq!(analysis.cut_after, None);
}

/// One pass stores the packets of all flows; a pass for one has room for more of that.
#[test]
fn a_flow_that_was_cut_is_read_again_with_more_room() {
    let path = Path::new(SEEDS).join("raw.pcap");
    let read = |packets, packets_of_one| {
        let limits = Limits {
            flows: 100,
            packets,
            packets_of_one,
        };
        let read = Capture::read(&path, None, None, &limits, &mut |_| true).unwrap();
        read.analysis.unwrap()
    };
    let whole = read(1000, 1000);
    assert_eq!(whole.cut_after, None);
    let again = read(16, 1000);
    assert_eq!(again.cut_after, None);
    assert_eq!(again.sent, whole.sent);
    let cut = read(16, 16);
    let last = cut.sent.last().unwrap().time;
    assert_eq!(cut.cut_after, Some(last));
    assert!(last < whole.sent.last().unwrap().time);
}
