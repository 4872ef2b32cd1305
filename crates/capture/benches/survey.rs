//! Packets and bytes a second of a survey, and its memory: `cargo bench -p airtcp-capture`.
//!
//! The capture is written to a temporary file first: 852 MB of 100-byte records of 36 flows,
//! alternating data and ACKs, as captured by `tcpdump -s 128`. Time is processor time, unaffected
//! by other work on the machine. The best of several rounds counts. `cargo bench -p airtcp-capture
//! -- pipe` sends 10 GB of them through a pipe instead.

use std::fs::File;
use std::io::{BufWriter, Write};

use airtcp_capture::{Limits, ReadError, Reader, Survey};
use airtcp_packet::wire::{Addresses, emit};
use airtcp_packet::{Flags, Segment, SequenceNumber, Timestamps};

const RECORDS: u64 = 8_500_000;
const PIPED_RECORDS: u64 = 100_000_000;
const FLOWS: u64 = 36;
const ROUNDS: usize = 5;
const PAYLOAD_BYTES: u32 = 1448;
/// Captured bytes of each packet: Ethernet, IPv4, TCP with timestamps and a little of the payload.
const KEPT_BYTES: usize = 84;

fn main() {
    let (seconds, records) = if std::env::args().any(|word| word == "pipe") {
        (piped(PIPED_RECORDS), PIPED_RECORDS)
    } else {
        (best_of_file(), RECORDS)
    };
    println!(
        "{:.1} M packets/s, {:.2} GB/s of {:.1} GB, {:.0} MiB resident at most",
        records as f64 / seconds / 1e6,
        bytes_of(records) as f64 / seconds / 1e9,
        bytes_of(records) as f64 / 1e9,
        status("VmHWM").unwrap_or(f64::NAN) / 1024.0
    );
}

/// Seconds of the best round over a file.
fn best_of_file() -> f64 {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("headers.pcap");
    let file = File::create(&path).expect("a file");
    write_capture(BufWriter::with_capacity(1 << 20, file), RECORDS).expect("room for the capture");
    (0..ROUNDS)
        .map(|_| surveyed(Reader::open(&path), RECORDS))
        .fold(f64::INFINITY, f64::min)
}

/// Seconds over a pipe, which another thread fills.
fn piped(records: u64) -> f64 {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let filling = std::thread::spawn(move || {
        write_capture(BufWriter::with_capacity(1 << 16, writer), records)
    });
    let seconds = surveyed(Reader::new(Box::new(reader)), records);
    filling.join().expect("no panic").expect("a reader");
    seconds
}

/// Processor seconds of a survey of `records` packets.
fn surveyed(reader: Result<Reader, ReadError>, records: u64) -> f64 {
    let begun = processor_seconds();
    let reader = reader.expect("a capture");
    let survey = Survey::of(reader, &Limits::default(), None, &mut |_| true).expect("packets");
    let seconds = processor_seconds() - begun;
    assert_eq!(survey.flow_count(), FLOWS as u32);
    assert_eq!(survey.tcp_packets, records);
    seconds
}

/// Length of a capture.
const fn bytes_of(records: u64) -> u64 {
    24 + records * (16 + KEPT_BYTES as u64)
}

/// Writes a capture.
fn write_capture(mut file: impl Write, records: u64) -> std::io::Result<()> {
    let mut header = Vec::new();
    for word in [0xa1b2_3c4d_u32, 0x0004_0002, 0, 0, 128, 1] {
        header.extend(word.to_le_bytes());
    }
    file.write_all(&header)?;
    let mut packet = Vec::new();
    for number in 0..records {
        let (flow, step) = (number % FLOWS, number / FLOWS);
        let is_ack = step % 2 == 1;
        let sent = (step / 2) as u32 * PAYLOAD_BYTES;
        let segment = Segment {
            sequence: SequenceNumber(if is_ack { 1 } else { sent }),
            acknowledgment: SequenceNumber(if is_ack { sent + PAYLOAD_BYTES } else { 1 }),
            flags: Flags::ACK,
            window: 5000,
            timestamps: Some(Timestamps {
                value: step as u32,
                echo: step as u32,
            }),
            ..Segment::default()
        };
        let ends = [
            format!("10.0.0.1:{}", 40_000 + flow),
            "192.0.2.1:443".to_owned(),
        ]
        .map(|end| end.parse().expect("an address"));
        let [source, destination] = if is_ack { [ends[1], ends[0]] } else { ends };
        packet.clear();
        packet.extend([0; 12]);
        packet.extend(0x0800_u16.to_be_bytes());
        let addresses = Addresses {
            source,
            destination,
        };
        emit(&segment, &addresses, number as u16, &[], &mut packet).expect("a short packet");
        if !is_ack {
            // The original length, including the payload that is not captured.
            packet[16..18].copy_from_slice(&(PAYLOAD_BYTES as u16 + 52).to_be_bytes());
        }
        packet.resize(KEPT_BYTES, 0);
        let wire = 14 + 52 + if is_ack { 0 } else { PAYLOAD_BYTES };
        let nanos = number * 1_000;
        let seconds = nanos / 1_000_000_000;
        for word in [
            seconds as u32,
            (nanos % 1_000_000_000) as u32,
            KEPT_BYTES as u32,
            wire.max(KEPT_BYTES as u32),
        ] {
            file.write_all(&word.to_le_bytes())?;
        }
        file.write_all(&packet)?;
    }
    file.flush()
}

/// Processor seconds of the main thread, by the kernel's count of nanoseconds.
fn processor_seconds() -> f64 {
    std::fs::read_to_string("/proc/self/schedstat")
        .ok()
        .and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok())
        .map_or(f64::NAN, |nanos| nanos / 1e9)
}

/// A number of kB from /proc/self/status.
fn status(name: &str) -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
