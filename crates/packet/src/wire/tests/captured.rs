//! Packets of the Linux kernel (6.18), and the fields that `tshark` reads in them.
//!
//! Captured between two network namespaces joined by a veth pair, transmit checksum offload
//! switched off at both ends (`ethtool -K v0 tx off`), with `net.ipv4.tcp_timestamps` 1 and then 0.
//! For the SACK blocks the receiving socket had a classic BPF filter that dropped every second
//! segment, and the sending socket one that dropped every ACK. Fields: `tshark -T fields -e
//! tcp.seq_raw -e tcp.ack_raw ...`; all checksums are good by `tcp.check_checksum:TRUE`.

use crate::{Flags, SackBlock, Segment, SequenceNumber, TailOptions, Timestamps};

/// One captured packet.
pub struct Captured {
    /// The IP packet in hexadecimal.
    pub hex: &'static str,
    pub source: &'static str,
    pub destination: &'static str,
    /// IPv4 identification or IPv6 flow label.
    pub identification: u32,
    pub segment: fn() -> Segment,
    /// The TCP header's length in bytes.
    pub header_bytes: u32,
    /// The IP packet's length in bytes.
    pub ip_bytes: u32,
    pub payload: &'static [u8],
}

fn sack(blocks: &[(u32, u32)]) -> TailOptions {
    let mut sack = TailOptions::default();
    for &(start, end) in blocks {
        assert!(sack.push(SackBlock {
            start: SequenceNumber(start),
            end: SequenceNumber(end)
        }));
    }
    sack
}

/// Over IPv4.
pub const IPV4: &[Captured] = &[
    Captured {
        // SYN
        hex: "4500003c9b26400040068b930a0000010a000002ddc6145118c76f9500000000a002faf08b300000\
              020405b40402080a90d5a28f000000000103030a",
        source: "10.0.0.1:56774",
        destination: "10.0.0.2:5201",
        identification: 0x9b26,
        segment: || Segment {
            sequence: SequenceNumber(415723413),
            acknowledgment: SequenceNumber(0),
            payload_bytes: 0,
            window: 64240,
            flags: Flags::SYN,
            timestamps: Some(Timestamps {
                value: 2429919887,
                echo: 0,
            }),
            mss: Some(1460),
            window_scale: Some(10),
            sack_permitted: true,
            ..Segment::default()
        },
        header_bytes: 40,
        ip_bytes: 60,
        payload: b"",
    },
    Captured {
        // SYN ACK
        hex: "4500003c00004000400626ba0a0000020a0000011451ddc6a915487f18c76f96a012fe883cf50000\
              020405b40402080a99b9bf4390d5a28f0103030a",
        source: "10.0.0.2:5201",
        destination: "10.0.0.1:56774",
        identification: 0x0,
        segment: || Segment {
            sequence: SequenceNumber(2836744319),
            acknowledgment: SequenceNumber(415723414),
            payload_bytes: 0,
            window: 65160,
            flags: Flags::SYN | Flags::ACK,
            timestamps: Some(Timestamps {
                value: 2579087171,
                echo: 2429919887,
            }),
            mss: Some(1460),
            window_scale: Some(10),
            sack_permitted: true,
            ..Segment::default()
        },
        header_bytes: 40,
        ip_bytes: 60,
        payload: b"",
    },
    Captured {
        // DATA
        hex: "4500003a9b28400040068b930a0000010a000002ddc6145118c76f96a91548808018003f32b20000\
              0101080a90d5a28f99b9bf43616972746370",
        source: "10.0.0.1:56774",
        destination: "10.0.0.2:5201",
        identification: 0x9b28,
        segment: || Segment {
            sequence: SequenceNumber(415723414),
            acknowledgment: SequenceNumber(2836744320),
            payload_bytes: 6,
            window: 63,
            flags: Flags::PSH | Flags::ACK,
            timestamps: Some(Timestamps {
                value: 2429919887,
                echo: 2579087171,
            }),
            ..Segment::default()
        },
        header_bytes: 32,
        ip_bytes: 58,
        payload: b"airtcp",
    },
    Captured {
        // ONE SACK BLOCK
        hex: "45000040d1b54000400655000a0000020a0000011451ddc6a915488018c76f9cb010004022800000\
              0101080a99b9bfdc90d5a28f0101050a18c76fa118c76fa7",
        source: "10.0.0.2:5201",
        destination: "10.0.0.1:56774",
        identification: 0xd1b5,
        segment: || Segment {
            sequence: SequenceNumber(2836744320),
            acknowledgment: SequenceNumber(415723420),
            payload_bytes: 0,
            window: 64,
            flags: Flags::ACK,
            timestamps: Some(Timestamps {
                value: 2579087324,
                echo: 2429919887,
            }),
            tail: sack(&[(415723425, 415723431)]),
            ..Segment::default()
        },
        header_bytes: 44,
        ip_bytes: 64,
        payload: b"",
    },
    Captured {
        // THREE SACK BLOCKS
        hex: "45000050d1b74000400654ee0a0000020a0000011451ddc6a915488018c76f9cf0100040c05f0000\
              0101080a99b9bfe490d5a28f0101051a18c76fb918c76fc018c76fae18c76fb318c76fa118c76fa7",
        source: "10.0.0.2:5201",
        destination: "10.0.0.1:56774",
        identification: 0xd1b7,
        segment: || Segment {
            sequence: SequenceNumber(2836744320),
            acknowledgment: SequenceNumber(415723420),
            payload_bytes: 0,
            window: 64,
            flags: Flags::ACK,
            timestamps: Some(Timestamps {
                value: 2579087332,
                echo: 2429919887,
            }),
            tail: sack(&[
                (415723449, 415723456),
                (415723438, 415723443),
                (415723425, 415723431),
            ]),
            ..Segment::default()
        },
        header_bytes: 60,
        ip_bytes: 80,
        payload: b"",
    },
    Captured {
        // FIN
        hex: "450000349b3e400040068b830a0000010a000002ddc6145118c76ffba91548808011003f5abc0000\
              0101080a90d5ab1899b9c5a6",
        source: "10.0.0.1:56774",
        destination: "10.0.0.2:5201",
        identification: 0x9b3e,
        segment: || Segment {
            sequence: SequenceNumber(415723515),
            acknowledgment: SequenceNumber(2836744320),
            payload_bytes: 0,
            window: 63,
            flags: Flags::FIN | Flags::ACK,
            timestamps: Some(Timestamps {
                value: 2429922072,
                echo: 2579088806,
            }),
            ..Segment::default()
        },
        header_bytes: 32,
        ip_bytes: 52,
        payload: b"",
    },
    Captured {
        // RST
        hex: "4500002800004000400626ce0a0000020a000001176fc07a0000000070eb9c8c50140000b66c0000",
        source: "10.0.0.2:5999",
        destination: "10.0.0.1:49274",
        identification: 0x0,
        segment: || Segment {
            sequence: SequenceNumber(0),
            acknowledgment: SequenceNumber(1894489228),
            payload_bytes: 0,
            window: 0,
            flags: Flags::RST | Flags::ACK,
            ..Segment::default()
        },
        header_bytes: 20,
        ip_bytes: 40,
        payload: b"",
    },
    Captured {
        // SYN WITHOUT TIMESTAMPS
        hex: "450000343ff740004006e6ca0a0000010a000002968e145176bb754c000000008002faf0c9330000\
              020405b4010104020103030a",
        source: "10.0.0.1:38542",
        destination: "10.0.0.2:5201",
        identification: 0x3ff7,
        segment: || Segment {
            sequence: SequenceNumber(1991996748),
            acknowledgment: SequenceNumber(0),
            payload_bytes: 0,
            window: 64240,
            flags: Flags::SYN,
            mss: Some(1460),
            window_scale: Some(10),
            sack_permitted: true,
            ..Segment::default()
        },
        header_bytes: 32,
        ip_bytes: 52,
        payload: b"",
    },
    Captured {
        // ODD DATA WITHOUT TIMESTAMPS
        hex: "4500002d3ffa40004006e6ce0a0000010a000002968e145176bb755308cf72695018003fc5dc0000\
              4141414141",
        source: "10.0.0.1:38542",
        destination: "10.0.0.2:5201",
        identification: 0x3ffa,
        segment: || Segment {
            sequence: SequenceNumber(1991996755),
            acknowledgment: SequenceNumber(147812969),
            payload_bytes: 5,
            window: 63,
            flags: Flags::PSH | Flags::ACK,
            ..Segment::default()
        },
        header_bytes: 20,
        ip_bytes: 45,
        payload: b"AAAAA",
    },
    Captured {
        // FOUR SACK BLOCKS
        hex: "4500004c32bf40004006f3ea0a0000020a0000011451968e08cf726976bb7553e010003f91db0000\
              0101052276bb757c76bb758276bb757076bb757776bb756576bb756a76bb755876bb755e",
        source: "10.0.0.2:5201",
        destination: "10.0.0.1:38542",
        identification: 0x32bf,
        segment: || Segment {
            sequence: SequenceNumber(147812969),
            acknowledgment: SequenceNumber(1991996755),
            payload_bytes: 0,
            window: 63,
            flags: Flags::ACK,
            tail: sack(&[
                (1991996796, 1991996802),
                (1991996784, 1991996791),
                (1991996773, 1991996778),
                (1991996760, 1991996766),
            ]),
            ..Segment::default()
        },
        header_bytes: 56,
        ip_bytes: 76,
        payload: b"",
    },
];

/// Over IPv6.
pub const IPV6: &[Captured] = &[
    Captured {
        // SYN
        hex: "600c0df000280640fd000000000000000000000000000001fd000000000000000000000000000002\
              e9fe145180a3cf7700000000a002fd2044890000020405a00402080ab70306f4000000000103030a",
        source: "[fd00::1]:59902",
        destination: "[fd00::2]:5201",
        identification: 0xc0df0,
        segment: || Segment {
            sequence: SequenceNumber(2158219127),
            acknowledgment: SequenceNumber(0),
            payload_bytes: 0,
            window: 64800,
            flags: Flags::SYN,
            timestamps: Some(Timestamps {
                value: 3070428916,
                echo: 0,
            }),
            mss: Some(1440),
            window_scale: Some(10),
            sack_permitted: true,
            ..Segment::default()
        },
        header_bytes: 40,
        ip_bytes: 80,
        payload: b"",
    },
    Captured {
        // DATA
        hex: "600c0df000260640fd000000000000000000000000000001fd000000000000000000000000000002\
              e9fe145180a3cf7879c36b9880180040450a00000101080ab70306f5d1373d1a616972746370",
        source: "[fd00::1]:59902",
        destination: "[fd00::2]:5201",
        identification: 0xc0df0,
        segment: || Segment {
            sequence: SequenceNumber(2158219128),
            acknowledgment: SequenceNumber(2042850200),
            payload_bytes: 6,
            window: 64,
            flags: Flags::PSH | Flags::ACK,
            timestamps: Some(Timestamps {
                value: 3070428917,
                echo: 3510058266,
            }),
            ..Segment::default()
        },
        header_bytes: 32,
        ip_bytes: 78,
        payload: b"airtcp",
    },
    Captured {
        // TWO SACK BLOCKS
        hex: "6005e8fa00280640fd000000000000000000000000000002fd000000000000000000000000000001\
              1451db14338a1c9baec3ebf1a01000401a19000001010512aec3ec03aec3ec08aec3ebf6aec3ebfc",
        source: "[fd00::2]:5201",
        destination: "[fd00::1]:56084",
        identification: 0x5e8fa,
        segment: || Segment {
            sequence: SequenceNumber(864689307),
            acknowledgment: SequenceNumber(2932075505),
            payload_bytes: 0,
            window: 64,
            flags: Flags::ACK,
            tail: sack(&[(2932075523, 2932075528), (2932075510, 2932075516)]),
            ..Segment::default()
        },
        header_bytes: 40,
        ip_bytes: 80,
        payload: b"",
    },
];
