use std::fs;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::Path;

use airtcp_packet::wire::{Addresses, parse};
use airtcp_packet::{Flags, SackBlock, SackBlocks, Segment, SequenceNumber};
use airtcp_units::{Duration, Instant};
use pcap_file::pcapng::{Block, PcapNgReader};
use serde_json::{Value, json};

use super::*;
use crate::engine::Direction;

const ADDRESSES: Addresses = Addresses {
    source: SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 1), 40_000),
    destination: SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 2), 5001),
};

/// Near the end of the sequence space, so that it wraps within a few segments.
const SYN: SequenceNumber = SequenceNumber(u32::MAX - 1500);

fn data(position: u32) -> Segment {
    Segment {
        sequence: SYN + (1 + position * 1000),
        payload_bytes: 1000,
        flags: Flags::ACK,
        ..Segment::default()
    }
}

fn acknowledgment(position: u32, sack: &[(u32, u32)]) -> Segment {
    let mut blocks = SackBlocks::default();
    for (start, end) in sack {
        let (start, end) = (SYN + (1 + start * 1000), SYN + (1 + end * 1000));
        assert!(blocks.push(SackBlock { start, end }));
    }
    Segment {
        acknowledgment: SYN + (1 + position * 1000),
        flags: Flags::ACK,
        tail: blocks.into(),
        ..Segment::default()
    }
}

#[test]
fn a_capture_holds_what_was_sent() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.pcapng");
    let mut writer = PcapWriter::create(&path).unwrap();
    let back = Addresses {
        source: ADDRESSES.destination,
        destination: ADDRESSES.source,
    };
    let first = Instant::from_nanos(1_234_567_891);
    writer
        .write(first, &data(0), 0, &ADDRESSES, Direction::Data)
        .unwrap();
    let ack = acknowledgment(1, &[]);
    writer
        .write(
            Instant::from_nanos(9_000_000_007),
            &ack,
            65_539,
            &back,
            Direction::Acknowledgments,
        )
        .unwrap();
    writer.finish().unwrap();

    let mut reader = PcapNgReader::new(fs::File::open(&path).unwrap()).unwrap();
    let (mut packets, mut identifications) = (Vec::new(), Vec::new());
    while let Some(block) = reader.next_block() {
        if let Block::EnhancedPacket(packet) = block.unwrap() {
            identifications.push(u16::from_be_bytes([packet.data[4], packet.data[5]]));
            packets.push((packet.timestamp.as_nanos(), parse(&packet.data).unwrap()));
        }
    }
    assert_eq!(packets.len(), 2);
    assert_eq!(packets[0].0, 1_234_567_891, "to the nanosecond");
    assert_eq!(packets[0].1.segment, data(0));
    assert_eq!(packets[0].1.addresses, ADDRESSES);
    assert_eq!(packets[1].0, 9_000_000_007);
    assert_eq!(packets[1].1.segment, ack);
    assert_eq!(packets[1].1.addresses, back);
    assert_eq!(identifications, [0, 3], "of 16 bits");
    let interface = &reader.interfaces()[0];
    assert_eq!(interface.linktype, pcap_file::DataLink::RAW);
}

/// The records of a JSON text sequence.
fn records(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.starts_with('\u{1e}') && text.ends_with('\n'));
    text.split_terminator('\u{1e}')
        .skip(1)
        .map(|record| serde_json::from_str(record).unwrap())
        .collect()
}

#[test]
fn a_qlog_numbers_packets_and_what_is_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.sqlog");
    let mut log = QlogWriter::create(&path, "a run", false).unwrap();
    let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
    let syn = Segment {
        sequence: SYN,
        flags: Flags::SYN,
        ..Segment::default()
    };
    log.segment(at(0), &syn, Direction::Data).unwrap();
    for position in 0..4 {
        log.segment(at(50), &data(position), Direction::Data)
            .unwrap();
    }
    // Position 0 is packet 1 and was lost; 1 and 3 arrived; then all, after packet 5 retransmits
    // it.
    log.segment(
        at(100),
        &acknowledgment(0, &[(3, 4), (1, 2)]),
        Direction::Acknowledgments,
    )
    .unwrap();
    log.segment(at(101), &data(0), Direction::Data).unwrap();
    log.segment(at(150), &acknowledgment(4, &[]), Direction::Acknowledgments)
        .unwrap();
    let metrics = Metrics {
        congestion_window: Some(14_480),
        smoothed_rtt: Some(Duration::from_micros(50_500)),
        ..Metrics::default()
    };
    log.metrics(at(150), &metrics).unwrap();
    log.finish().unwrap();

    let records = records(&path);
    assert_eq!(records[0]["title"], "a run");
    let sent = &records[4];
    assert_eq!(sent["name"], "quic:packet_sent");
    assert_eq!(sent["time"], 50.0);
    assert_eq!(sent["data"]["header"]["packet_number"], 3);
    // Beyond the wrap of the sequence numbers.
    assert_eq!(sent["data"]["frames"][0]["offset"], 2000);
    assert_eq!(sent["data"]["frames"][0]["raw"]["length"], 1000);
    assert_eq!(sent["data"].get("trigger"), None);
    let ranges = |record: &Value| record["data"]["frames"][0]["acked_ranges"].clone();
    assert_eq!(ranges(&records[6]), json!([[0], [2], [4]]));
    assert_eq!(records[7]["name"], "quic:packet_lost");
    assert_eq!(
        records[7]["data"],
        json!({
            "header": { "packet_type": "1RTT", "packet_number": 1 },
            "trigger": "reordering_threshold",
        })
    );
    assert_eq!(records[8]["data"]["frames"][0]["offset"], 0);
    assert_eq!(records[8]["data"]["trigger"], "retransmit_reordered");
    // Packet 5 brought the data of packet 1.
    assert_eq!(ranges(&records[9]), json!([[3], [5]]));
    assert_eq!(
        records[10]["data"],
        json!({ "congestion_window": 14_480, "smoothed_rtt": 50.5 })
    );
}

#[test]
fn errors_name_the_file() {
    let path = Path::new("/nonexistent-folder/run.pcapng");
    let error = PcapWriter::create(path).unwrap_err();
    assert_eq!(error.path(), path);
    assert!(
        error
            .to_string()
            .starts_with("cannot write \"/nonexistent-folder/run.pcapng\": ")
    );
    assert!(
        error.to_string().ends_with("; expected an existing folder"),
        "{error}"
    );
    assert!(QlogWriter::create(path, "", false).is_err());
}

/// A full disk is reported at the latest when the recording is finished.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported() {
    let path = Path::new("/dev/full");
    if !path.exists() {
        return;
    }
    let mut writer = PcapWriter::create(path).unwrap();
    let written = writer.write(Instant::ZERO, &data(0), 0, &ADDRESSES, Direction::Data);
    let error = written.and_then(|()| writer.finish()).unwrap_err();
    assert!(error.to_string().contains("free some space"), "{error}");
    let log = QlogWriter::create(path, "a run", false).unwrap();
    assert!(log.finish().is_err());
}
