//! Flows out of packets.

use airtcp_packet::{Flags, SackBlock, Segment, SequenceNumber};
use airtcp_units::{Duration, Instant};

use super::*;
use crate::decode::{Carrier, Endpoint, Radio, Tcp};

const CLIENT: Endpoint = Endpoint {
    address: 1,
    port: 50_000,
};
const SERVER: Endpoint = Endpoint {
    address: 2,
    port: 443,
};

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

/// A packet with a fresh identification.
fn packet(source: Endpoint, destination: Endpoint, number: u64, segment: Segment) -> Tcp {
    Tcp {
        source,
        destination,
        segment,
        are_options_cut: false,
        identification: Some(number as u16 | 1 << 15),
        hops: 64,
        radio: Radio::default(),
        carrier: Carrier::default(),
    }
}

fn data(sequence: u32, payload_bytes: u32) -> Segment {
    Segment {
        sequence: SequenceNumber(sequence),
        payload_bytes,
        flags: Flags::ACK,
        acknowledgment: SequenceNumber(1),
        window: 100,
        ..Segment::default()
    }
}

fn ack(acknowledgment: u32) -> Segment {
    Segment {
        sequence: SequenceNumber(1),
        ..Segment {
            acknowledgment: SequenceNumber(acknowledgment),
            flags: Flags::ACK,
            window: 100,
            ..Segment::default()
        }
    }
}

fn syn(sequence: u32) -> Segment {
    Segment {
        sequence: SequenceNumber(sequence),
        flags: Flags::SYN,
        mss: Some(1460),
        window_scale: Some(7),
        sack_permitted: true,
        ..Segment::default()
    }
}

fn table(packets: usize) -> Table {
    Table::new(1 << 10, packets, None)
}

/// Hands packets to a table, one each millisecond.
fn feed(table: &mut Table, packets: &[(Endpoint, Endpoint, Segment)]) {
    for (number, (source, destination, segment)) in (1..).zip(packets) {
        let tcp = packet(*source, *destination, number, *segment);
        table.take(&tcp, at(number), number, 0);
    }
}

#[test]
fn a_download_is_counted_each_way() {
    let mut answer = syn(900);
    answer.flags = Flags::SYN | Flags::ACK;
    answer.acknowledgment = SequenceNumber(101);
    let mut report = ack(901 + 300);
    // RFC 2883 §4.1.1: a full duplicate below the ACK.
    report.tail.push(SackBlock {
        start: SequenceNumber(901),
        end: SequenceNumber(1001),
    });
    let mut shut = ack(901 + 400);
    shut.window = 0;
    let mut table = table(1000);
    feed(
        &mut table,
        &[
            (CLIENT, SERVER, syn(100)),
            (SERVER, CLIENT, answer),
            (CLIENT, SERVER, ack(901)),
            (SERVER, CLIENT, data(901, 100)),
            (SERVER, CLIENT, data(1001, 100)),
            (SERVER, CLIENT, data(1101, 100)),
            (SERVER, CLIENT, data(901, 100)),
            (CLIENT, SERVER, report),
            (CLIENT, SERVER, shut),
        ],
    );
    let flow = table.flows().next().unwrap();
    assert_eq!((flow.client, flow.server), (CLIENT, SERVER));
    assert_eq!(flow.data_way(), Way::FromServer);
    let (sent, acks) = (flow.data(), flow.acks());
    assert_eq!((sent.packets, sent.data_packets, sent.bytes), (5, 4, 400));
    assert_eq!(
        (sent.repeats, sent.span),
        (1, 301),
        "the SYN has a number, too"
    );
    assert_eq!((sent.mss, sent.window_scale), (Some(1460), Some(7)));
    assert!(sent.sack_permitted && !sent.timestamps);
    assert_eq!(acks.duplicates_reported, 1);
    assert_eq!((acks.zero_windows, acks.acks_of_unseen), (1, 1));
    assert_eq!(flow.handshake(), Some(Duration::from_millis(1)));
    assert_eq!(flow.length(), Duration::from_millis(8));
    let kept: Vec<u64> = table.packets(flow).map(|packet| packet.number).collect();
    assert_eq!(kept, (1..=9).collect::<Vec<_>>());
}

/// Without a SYN the end with the higher port is the client: servers have low ones.
#[test]
fn the_client_is_known_without_a_syn() {
    for first in [(SERVER, CLIENT), (CLIENT, SERVER)] {
        let mut table = table(10);
        feed(&mut table, &[(first.0, first.1, data(5, 1))]);
        assert_eq!(table.flows().next().unwrap().client, CLIENT);
    }
}

#[test]
fn sequence_numbers_wrap() {
    let mut table = table(1000);
    let start = u32::MAX - 150;
    feed(
        &mut table,
        &[
            (CLIENT, SERVER, data(start, 100)),
            (CLIENT, SERVER, data(start.wrapping_add(100), 100)),
            (CLIENT, SERVER, data(start.wrapping_add(200), 100)),
            (CLIENT, SERVER, data(start.wrapping_add(100), 100)),
            (SERVER, CLIENT, ack(start.wrapping_add(300))),
        ],
    );
    let flow = table.flows().next().unwrap();
    assert_eq!((flow.data().span, flow.data().repeats), (300, 1));
    assert_eq!(
        (flow.acks().acknowledged(), flow.acks().acks_of_unseen),
        (300, 0)
    );
}

#[test]
fn the_same_ports_may_be_another_flow() {
    let mut table = table(1000);
    feed(
        &mut table,
        &[
            (CLIENT, SERVER, syn(1)),
            // Repeated: the same connection.
            (CLIENT, SERVER, syn(1)),
            (CLIENT, SERVER, data(2, 9)),
            (CLIENT, SERVER, syn(700)),
        ],
    );
    assert_eq!(table.begun(), 2);
    let later = packet(CLIENT, SERVER, 9, data(701, 1));
    table.take(&later, at(299_000), 5, 0);
    assert_eq!(table.begun(), 2);
    table.take(&later, at(700_000), 6, 0);
    assert_eq!(table.begun(), 3, "silence of over five minutes");
}

/// Two single packets, and batches of ten that four layers hand on, one after another.
#[test]
fn batches_of_several_layers_count_once() {
    let mut table = table(1000);
    let mut number = 0;
    for batch in 0..22_u64 {
        let packets = if batch < 2 { 1 } else { 10 };
        for _layer in 0..4 {
            for place in 0..packets {
                number += 1;
                let own = batch * 10 + place;
                let tcp = packet(CLIENT, SERVER, own, data(1 + 100 * own as u32, 100));
                table.take(&tcp, at(batch), number, 0);
            }
        }
    }
    let flow = table.flows().next().unwrap();
    assert_eq!((flow.data().repeats, flow.copies), (0, 3 * 202));
}

/// A router sees a packet come in and go out; a radio's monitor sees each attempt.
#[test]
fn copies_count_once() {
    let mut table = table(1000);
    let first = packet(CLIENT, SERVER, 1, data(1, 100));
    let mut hop_further = first;
    hop_further.hops = 63;
    table.take(&first, at(1), 1, 0);
    table.take(&hop_further, at(1), 2, 1);
    table.take(&first, at(4), 3, 0);
    // A retransmission is another IP packet; and so is what comes much later.
    table.take(&packet(CLIENT, SERVER, 2, data(1, 100)), at(5), 4, 0);
    table.take(&first, at(100), 5, 0);
    let flow = table.flows().next().unwrap();
    assert_eq!((flow.copies, flow.data().repeats), (2, 2));
    // Without identification only another place tells.
    let mut bare = packet(CLIENT, SERVER, 0, data(500, 100));
    bare.identification = None;
    table.take(&bare, at(200), 6, 0);
    table.take(&bare, at(201), 7, 1);
    table.take(&bare, at(202), 8, 0);
    let flow = table.flows().next().unwrap();
    assert_eq!((flow.copies, flow.data().repeats), (3, 3));
}

/// Of a million flows the largest is listed with all its packets, and memory is bounded.
#[test]
fn a_million_flows() {
    let mut table = Table::new(1 << 10, 1 << 12, None);
    let mut number = 0;
    for flow in 0..1_000_000_u32 {
        number += 1;
        let source = Endpoint {
            address: u128::from(flow / 60_000) + 10,
            port: (flow % 60_000) as u16,
        };
        let now = Instant::from_nanos(number * 1_000);
        table.take(&packet(source, SERVER, number, data(1, 10)), now, number, 0);
        if flow % 1000 == 0 {
            number += 1;
            let sequence = 1 + flow / 1000 * 500;
            let big = packet(CLIENT, SERVER, number, data(sequence, 500));
            table.take(&big, now, number, 0);
        }
    }
    assert_eq!(table.begun(), 1_000_001);
    let listed = table.flows().count() as u64;
    assert!(listed <= 1 << 10);
    assert_eq!(listed + table.unlisted().flows, 1_000_001);
    let big = table.flows().find(|flow| flow.client == CLIENT).unwrap();
    assert_eq!((big.data().packets, big.data().span), (1000, 500_000));
    assert_eq!(big.completeness(), Completeness::Whole);
    assert_eq!(table.packets(big).count(), 1000);
    let bytes: u64 = table.flows().map(Flow::bytes).sum();
    assert_eq!(bytes + table.unlisted().bytes, 10_000_000 + 500_000);
}

/// When the store is full the largest flow's packets stay, and it ends where the room does.
#[test]
fn packets_of_smaller_flows_give_way() {
    let mut table = table(160);
    let other = Endpoint {
        address: 3,
        port: 60_000,
    };
    let mut number = 0;
    let mut take = |table: &mut Table, source, sequence| {
        number += 1;
        table.take(
            &packet(source, SERVER, number, data(sequence, 10)),
            at(number),
            number,
            0,
        );
    };
    for step in 0..60 {
        take(&mut table, other, 1 + step * 10);
    }
    for step in 0..200 {
        take(&mut table, CLIENT, 1 + step * 10);
    }
    let flows: Vec<&Flow> = table.flows().collect();
    assert_eq!(flows[0].completeness(), Completeness::None);
    assert_eq!(flows[1].completeness(), Completeness::Beginning);
    assert_eq!(table.packets(flows[1]).count(), 160);
    assert_eq!(flows[1].data().packets, 200);
}

#[test]
fn only_one_flow_may_be_kept() {
    let mut table = Table::new(10, 100, Some((SERVER, CLIENT)));
    let other = Endpoint {
        address: 3,
        port: 60_000,
    };
    feed(
        &mut table,
        &[(other, SERVER, data(1, 900)), (CLIENT, SERVER, data(1, 10))],
    );
    let flows: Vec<&Flow> = table.flows().collect();
    assert_eq!(flows[0].completeness(), Completeness::None);
    assert_eq!(flows[1].completeness(), Completeness::Whole);
    assert_eq!(table.packets(flows[1]).count(), 1);
}

#[test]
fn verdicts_name_what_is_the_matter() {
    let verdict = |packets: &[(Endpoint, Endpoint, Segment)]| {
        let mut table = table(1000);
        feed(&mut table, packets);
        table.flows().next().unwrap().verdict().to_string()
    };
    let whole = (CLIENT, SERVER, data(1, 100_000));
    let answer = (SERVER, CLIENT, ack(100_001));
    assert!(verdict(&[whole]).contains("one direction"));
    assert!(verdict(&[(CLIENT, SERVER, data(1, 5)), answer]).contains("too little"));
    assert_eq!(verdict(&[whole, answer]), "nothing repeated");
    let unseen = (SERVER, CLIENT, ack(200_000));
    assert!(verdict(&[whole, answer, unseen]).starts_with("50 % of the ACKs"));
    let repeated = verdict(&[whole, (CLIENT, SERVER, data(1, 10)), answer]);
    assert_eq!(repeated, "50.00 % repeated");
}
