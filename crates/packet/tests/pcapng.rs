//! A capture is read by another library as it was written.

use std::time::Duration;

use airtcp_packet::pcapng::{
    Captured, Interface, LINK_RAW, Note, append_interface, append_packet, append_section,
};
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketOption;
use pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionOption;
use pcap_file::pcapng::blocks::section_header::SectionHeaderOption;
use pcap_file::pcapng::{Block, PcapNgReader};

/// Beyond 32 bits of nanoseconds.
const NANOS: u64 = 1_700_000_000_123_456_789;

#[test]
fn another_library_reads_every_field() {
    let mut file = Vec::new();
    append_section(&mut file, "a program");
    let interface = Interface {
        link: LINK_RAW,
        snap_length: 65_535,
        name: "sender",
        description: "",
    };
    append_interface(&mut file, &interface);
    let bytes = [7; 9];
    let notes = [
        None,
        Some(Note::Inbound),
        Some(Note::Outbound),
        Some(Note::Comment("fünf")),
    ];
    for (note, length) in notes.into_iter().zip(5..) {
        let packet = Captured {
            interface: 0,
            nanos: NANOS,
            wire_bytes: 1500,
            bytes: &bytes[..length],
        };
        append_packet(&mut file, &packet, note);
    }
    let mut reader = PcapNgReader::new(&file[..]).unwrap();
    let [SectionHeaderOption::UserApplication(program)] = &reader.section().options[..] else {
        panic!("{:?}", reader.section());
    };
    assert_eq!(program, "a program");
    let mut expected = [
        vec![],
        vec![EnhancedPacketOption::Flags(1)],
        vec![EnhancedPacketOption::Flags(2)],
        vec![EnhancedPacketOption::Comment("fünf".into())],
    ]
    .into_iter()
    .zip(5..);
    while let Some(block) = reader.next_block() {
        match block.unwrap() {
            Block::InterfaceDescription(read) => {
                assert_eq!(
                    (read.linktype, read.snaplen),
                    (pcap_file::DataLink::RAW, 65_535)
                );
                let options = [
                    InterfaceDescriptionOption::IfName("sender".into()),
                    InterfaceDescriptionOption::IfTsResol(9),
                ];
                assert_eq!(read.options, options);
            }
            Block::EnhancedPacket(read) => {
                let (options, length) = expected.next().unwrap();
                assert_eq!(read.timestamp, Duration::from_nanos(NANOS));
                assert_eq!(
                    (read.original_len, &read.data[..]),
                    (1500, &bytes[..length])
                );
                assert_eq!(read.options, options);
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(expected.next(), None);
}
