//! Captures built by hand in every form, and damaged in every way.

use std::io::{Cursor, Write};

use proptest::prelude::*;

use super::*;

/// Output of a reader: number, time, interface, link type, wire length, bytes, drops before.
type Seen = (u64, Option<u64>, u32, u16, u32, Vec<u8>, u32);

/// Everything up to the end or an error.
fn read(bytes: &[u8]) -> (Vec<Seen>, Option<ReadError>, bool, u64) {
    let mut reader = match Reader::new(Box::new(Cursor::new(bytes.to_vec()))) {
        Ok(reader) => reader,
        Err(error) => return (Vec::new(), Some(error), false, 0),
    };
    let mut seen = Vec::new();
    let error = loop {
        match reader.next_record() {
            Ok(Some(record)) => seen.push((
                record.number,
                record.time,
                record.interface,
                record.link,
                record.wire_bytes,
                record.bytes.to_vec(),
                record.dropped_before,
            )),
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    (seen, error, reader.is_cut(), reader.dropped())
}

/// Numbers in either byte order.
#[derive(Clone, Copy)]
struct Order {
    is_big: bool,
}

impl Order {
    fn words(self, words: &[u32]) -> Vec<u8> {
        let bytes = |word: &u32| {
            if self.is_big {
                word.to_be_bytes()
            } else {
                word.to_le_bytes()
            }
        };
        words.iter().flat_map(bytes).collect()
    }

    fn short(self, number: u16) -> [u8; 2] {
        if self.is_big {
            number.to_be_bytes()
        } else {
            number.to_le_bytes()
        }
    }

    fn block(self, kind: u32, body: &[u8]) -> Vec<u8> {
        let mut body = body.to_vec();
        body.resize(body.len().next_multiple_of(4), 0);
        let length = body.len() as u32 + 12;
        let mut block = self.words(&[kind, length]);
        block.extend(body);
        block.extend(self.words(&[length]));
        block
    }

    fn option(self, code: u16, value: &[u8]) -> Vec<u8> {
        let mut option = Vec::new();
        option.extend(self.short(code));
        option.extend(self.short(value.len() as u16));
        option.extend(value);
        option.resize(option.len().next_multiple_of(4), 0);
        option
    }

    fn section(self) -> Vec<u8> {
        let mut body = self.words(&[BYTE_ORDER]);
        body.extend([self.short(1), self.short(0)].concat());
        body.extend([0xff; 8]);
        self.block(pcapng::SECTION_HEADER, &body)
    }

    fn interface(self, link: u16, snap_length: u32, options: &[u8]) -> Vec<u8> {
        let mut body = self.short(link).to_vec();
        body.extend([0, 0]);
        body.extend(self.words(&[snap_length]));
        body.extend(options);
        self.block(1, &body)
    }

    fn packet(self, interface: u32, ticks: u64, wire: u32, data: &[u8], tail: &[u8]) -> Vec<u8> {
        let (high, low) = ((ticks >> 32) as u32, ticks as u32);
        let mut body = self.words(&[interface, high, low, data.len() as u32, wire]);
        body.extend(data);
        body.resize(body.len().next_multiple_of(4), 0);
        body.extend(tail);
        self.block(6, &body)
    }

    fn u64(self, number: u64) -> Vec<u8> {
        if self.is_big {
            number.to_be_bytes().to_vec()
        } else {
            number.to_le_bytes().to_vec()
        }
    }
}

const BYTE_ORDER: u32 = 0x1a2b_3c4d;
const BIG: Order = Order { is_big: true };
const LITTLE: Order = Order { is_big: false };

fn pcap(order: Order, magic: u32, link: u32, records: &[(u32, u32, u32, &[u8])]) -> Vec<u8> {
    let mut file = order.words(&[magic, 0x0002_0004, 0, 0, 96, link]);
    for (seconds, ticks, wire, data) in records {
        file.extend(order.words(&[*seconds, *ticks, data.len() as u32, *wire]));
        if magic == 0xa1b2_cd34 {
            file.extend([0; 8]);
        }
        file.extend(*data);
    }
    file
}

const RECORDS: &[(u32, u32, u32, &[u8])] = &[(7, 250, 3, b"one"), (8, 999_999, 1500, b"second")];

/// A packet longer than the snap length is what `tcpdump -s` gives.
#[test]
fn pcap_in_both_orders_and_resolutions() {
    for order in [BIG, LITTLE] {
        for (magic, nanos_per_tick) in [(0xa1b2_c3d4, 1000), (0xa1b2_3c4d, 1), (0xa1b2_cd34, 1000)]
        {
            let (seen, error, is_cut, _) = read(&pcap(order, magic, 113, RECORDS));
            assert!(error.is_none() && !is_cut);
            let time =
                |seconds: u64, ticks: u64| Some(seconds * 1_000_000_000 + ticks * nanos_per_tick);
            let (one, two) = (b"one".to_vec(), b"second".to_vec());
            let expected = [
                (1, time(7, 250), 0, 113, 3, one, 0),
                (2, time(8, 999_999), 0, 113, 1500, two, 0),
            ];
            assert_eq!(seen, expected, "{magic:x}");
        }
    }
}

/// Above the link type pcap keeps the length of the frame check sequence.
#[test]
fn the_link_type_has_16_bits() {
    let (seen, ..) = read(&pcap(LITTLE, 0xa1b2_c3d4, 0x5400_0001, RECORDS));
    assert_eq!(seen[0].3, 1);
}

#[test]
fn pcapng_with_interfaces_of_their_own_clocks() {
    for order in [BIG, LITTLE] {
        let offset = order.option(14, &order.u64(100));
        let nanos = order.option(9, &[9]);
        let binary = [order.option(9, &[0x80 | 10]), offset].concat();
        let picos = [order.option(2, b"name"), order.option(9, &[12])].concat();
        let drop_count = [
            order.option(2, &[0; 4]),
            order.option(4, &order.u64(5)),
            order.option(0, &[]),
        ]
        .concat();
        let old = {
            let mut body = order.short(1).to_vec();
            body.extend(order.short(3));
            body.extend(order.words(&[0, 17, 2, 2]));
            body.extend(b"ab");
            order.block(2, &body)
        };
        let simple = [order.words(&[9]), b"simple".to_vec()].concat();
        let drops = |interface: u32, count: u64| {
            let mut body = order.words(&[interface, 0, 0]);
            body.extend(order.option(5, &order.u64(count)));
            order.block(5, &body)
        };
        let file = [
            order.section(),
            order.interface(1, 6, &[]),
            order.interface(101, 0, &nanos),
            order.interface(276, 0, &binary),
            order.interface(276, 0, &picos),
            order.packet(0, 1_000_001, 9000, b"mic", &[]),
            drops(0, 2),
            order.block(0x0bad, b"unknown"),
            order.packet(1, 5, 4, b"nano", &drop_count),
            order.packet(2, 512, 1, b"b", &[]),
            order.packet(3, 7_999, 1, b"p", &[]),
            old,
            order.block(3, &simple),
            drops(0, 3),
            drops(1, 4),
            // Another section, with interfaces of its own.
            order.section(),
            order.interface(9, 0, &[]),
            order.packet(0, 2, 1, b"z", &[]),
        ]
        .concat();
        let (seen, error, is_cut, dropped) = read(&file);
        assert!(error.is_none() && !is_cut, "{error:?}");
        let expected: [Seen; 7] = [
            (1, Some(1_000_001_000), 0, 1, 9000, b"mic".to_vec(), 0),
            (2, Some(5), 1, 101, 4, b"nano".to_vec(), 5),
            (3, Some(100_500_000_000), 2, 276, 1, b"b".to_vec(), 0),
            (4, Some(7), 3, 276, 1, b"p".to_vec(), 0),
            (5, Some(17), 1, 101, 2, b"ab".to_vec(), 3),
            (6, None, 0, 1, 9, b"simple".to_vec(), 0),
            (7, Some(2000), 4, 9, 1, b"z".to_vec(), 0),
        ];
        assert_eq!(seen, expected);
        assert_eq!(dropped, 7, "the latest count of each interface");
    }
}

/// Skipped bytes may be longer than the buffer.
#[test]
fn a_long_block_that_is_no_packet_is_skipped() {
    let file = [
        LITTLE.section(),
        LITTLE.interface(1, 0, &[]),
        LITTLE.block(10, &vec![7; 3 << 20]),
        LITTLE.packet(0, 1, 1, b"a", &[]),
    ]
    .concat();
    let (seen, error, ..) = read(&file);
    assert!(error.is_none(), "{error:?}");
    assert_eq!(seen.len(), 1);
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

#[test]
fn gzip_is_seen_through_also_in_several_members() {
    let plain = pcap(BIG, 0xa1b2_3c4d, 1, RECORDS);
    assert_eq!(read(&gzip(&plain)).0, read(&plain).0);
    let members = [gzip(&plain[..30]), gzip(&plain[30..])].concat();
    assert_eq!(read(&members).0, read(&plain).0);
    let whole = gzip(&plain);
    let (seen, error, is_cut, _) = read(&whole[..whole.len() - 12]);
    assert!(error.is_none() && is_cut && seen.len() < 2, "{error:?}");
}

#[test]
fn a_damaged_gzip_is_said_to_be_one() {
    let whole = gzip(&pcap(LITTLE, 0xa1b2_c3d4, 1, RECORDS));
    let text = |bytes: &[u8]| read(bytes).1.map(|error| error.to_string());
    // Cut in its header, and before the first byte of content.
    for length in [3, 10, 12] {
        let said = text(&whole[..length]).unwrap();
        assert!(
            said.starts_with("the gzip file is damaged"),
            "{length}: {said}"
        );
    }
    // The method of compression, the content, and its checksum (RFC 1952 section 2.3).
    for (at, flipped) in [(2, 1), (12, 0xff), (whole.len() - 5, 1)] {
        let mut damaged = whole.clone();
        damaged[at] ^= flipped;
        let said = text(&damaged).unwrap();
        assert!(said.starts_with("the gzip file is damaged"), "{at}: {said}");
    }
}

/// Deflate makes a thousand bytes of one. Records of no bytes would otherwise go on for ever.
#[test]
fn a_gzip_bomb_is_refused() {
    let mut bomb = gzip(&pcap(LITTLE, 0xa1b2_c3d4, 1, &[]));
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    writer.write_all(&vec![0; 16 << 20]).unwrap();
    let member = writer.finish().unwrap();
    for _ in 0..6 {
        bomb.extend(&member);
    }
    let mut reader = Reader::new(Box::new(Cursor::new(bomb))).unwrap();
    let error = loop {
        match reader.next_record() {
            Ok(Some(_)) => {}
            Ok(None) => panic!("the bomb was taken for packets"),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, ReadError::Bomb { .. }), "{error}");
    assert!(error.to_string().contains("decompress the file first"));
}

#[test]
fn what_is_no_capture_is_named() {
    let text = |bytes: &[u8]| read(bytes).1.unwrap().to_string();
    assert!(text(b"").contains("empty"));
    assert!(text(b"ab").contains("expected pcap"));
    assert!(text(b"GIF89a, which has no packets").contains("47 49 46 38: expected pcap"));
    assert!(text(&[0x28, 0xb5, 0x2f, 0xfd, 0]).contains("unzstd FILE"));
    assert!(text(&gzip(b"")).contains("empty"));
    assert!(text(&0xa1b2_c3d4_u32.to_be_bytes()).contains("24 bytes of a header"));
    let no_order = LITTLE.block(pcapng::SECTION_HEADER, &[0; 16]);
    assert!(text(&no_order).contains("byte-order magic"));
}

#[test]
fn damage_is_placed_and_what_stands_before_it_counts() {
    let mut file = pcap(LITTLE, 0xa1b2_c3d4, 1, RECORDS);
    let at = file.len() as u64;
    file.extend(LITTLE.words(&[9, 9, 300_000, 300_000]));
    let (seen, error, ..) = read(&file);
    assert_eq!(seen.len(), 2);
    let text = error.unwrap().to_string();
    assert!(
        text.starts_with(&format!("byte {at}: captured length")),
        "{text}"
    );
    assert!(text.contains("300000") && text.contains("at most 262144"));

    let good = [LITTLE.section(), LITTLE.interface(1, 0, &[])].concat();
    let mut unequal = LITTLE.packet(0, 1, 1, b"a", &[]);
    *unequal.last_mut().unwrap() = 1;
    let cases = [
        (unequal, "length behind a block"),
        (LITTLE.packet(3, 1, 1, b"a", &[]), "interface of a packet"),
        (LITTLE.words(&[6, 10, 0, 0]), "length of a block"),
        (LITTLE.block(6, &[0; 8]), "at least 32"),
        (LITTLE.words(&[6, 1 << 22, 0]), "length of a packet's block"),
        (
            LITTLE.block(6, &LITTLE.words(&[0, 0, 0, 500, 500, 0])),
            "captured length of a packet",
        ),
    ];
    for (block, field) in cases {
        let (seen, error, ..) = read(&[good.clone(), block].concat());
        assert!(seen.is_empty());
        let text = error.map(|error| error.to_string()).unwrap_or_default();
        assert!(text.contains(field), "{field}: {text}");
    }
}

fn samples() -> [Vec<u8>; 2] {
    let pcapng = [
        BIG.section(),
        BIG.interface(1, 0, &BIG.option(9, &[9])),
        BIG.packet(0, 1, 3, b"abc", &BIG.option(4, &BIG.u64(1))),
        BIG.packet(0, 2, 4, b"defg", &[]),
    ];
    [pcap(LITTLE, 0xa1b2_c3d4, 1, RECORDS), pcapng.concat()]
}

/// A capture whose writer was stopped: every whole record is there, and the cut is told.
#[test]
fn a_cut_anywhere_leaves_the_records_before_it() {
    for file in samples() {
        let whole = read(&file).0;
        let mut counts = Vec::new();
        for end in 24..file.len() {
            let (seen, error, is_cut, _) = read(&file[..end]);
            assert!(error.is_none(), "cut at {end}: {error:?}");
            assert_eq!(seen, whole[..seen.len()]);
            counts.push((seen.len(), is_cut));
        }
        // A cut between two records is not seen; any other is.
        assert!(counts.iter().filter(|(_, is_cut)| !is_cut).count() <= 3);
        assert!(counts.is_sorted_by_key(|(count, _)| *count));
    }
}

proptest! {
    #[test]
    fn any_bytes_end_well(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        read(&bytes);
    }

    #[test]
    fn any_change_ends_well(
        which in 0..2_usize,
        changes in prop::collection::vec((0..200_usize, any::<u8>()), 1..6),
    ) {
        let mut file = samples()[which].clone();
        for (at, byte) in changes {
            if let Some(place) = file.get_mut(at) {
                *place = byte;
            }
        }
        let (seen, error, ..) = read(&file);
        prop_assert!(seen.iter().all(|record| record.5.len() <= 1 << 18));
        if let Some(error) = error {
            prop_assert!(error.to_string().len() < 300);
        }
    }
}
