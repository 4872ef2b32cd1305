use airtcp_link::agent::Toward;
use airtcp_packet::{Segment, SequenceNumber};

use super::*;
use crate::packets::packet_view::Ends;

fn packet(port: u16, toward: Toward, segment: Segment) -> PacketView {
    PacketView {
        ends: Ends {
            mobile: ([10, 0, 0, (port % 3) as u8], port).into(),
            wired: ([10, 0, 1, 2], 80).into(),
        },
        toward,
        segment,
    }
}

fn data(sequence: u32) -> Segment {
    Segment {
        sequence: SequenceNumber(sequence),
        flags: Flags::ACK,
        payload_bytes: 1000,
        ..Segment::default()
    }
}

fn ack(acknowledgment: u32) -> Segment {
    Segment {
        acknowledgment: SequenceNumber(acknowledgment),
        payload_bytes: 0,
        ..data(0)
    }
}

fn assigned(is_treated: bool) -> Assignment {
    Assignment {
        is_treated,
        chance: 0.5,
        is_by_station: false,
    }
}

fn ms(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

/// Round number `round` of an upload: 1000 bytes and their acknowledgment.
fn round(meter: &mut Meter, flow: FlowKey, round: u32, is_treated: bool) {
    let (port, now) = (1000 + flow as u16, ms(u64::from(round) * 40));
    for (toward, segment) in [
        (Toward::Wired, data(round * 1000)),
        (Toward::Mobile, ack(round * 1000 + 1000)),
    ] {
        meter.see(now, flow, &packet(port, toward, segment), 1, || {
            assigned(is_treated)
        });
    }
}

/// Nine connections, with thousands of forged packets between their rounds, in either direction,
/// some of them answered by resets: the comparison covers only the nine.
#[test]
fn forged_packets_leave_the_comparison_to_the_real_ones() {
    let most = NonZeroUsize::new(100).unwrap();
    let new = || Meter::new(most, Duration::from_millis(200));
    let (mut quiet, mut attacked) = (new(), new());
    let mut forged = 1_000_u64;
    for number in 0..20 {
        for flow in 0..9_u64 {
            round(&mut quiet, flow, number, flow % 2 == 0);
            round(&mut attacked, flow, number, flow % 2 == 0);
        }
        for _ in 0..2_500 {
            forged += 1;
            let toward = if forged.is_multiple_of(2) {
                Toward::Wired
            } else {
                Toward::Mobile
            };
            let back = if forged.is_multiple_of(2) {
                Toward::Mobile
            } else {
                Toward::Wired
            };
            let (now, port) = (ms(u64::from(number) * 40 + 1), forged as u16);
            let of = |toward, segment| packet(port, toward, segment);
            meter_see(&mut attacked, now, forged, &of(toward, data(forged as u32)));
            if forged.is_multiple_of(5) {
                let reset = Segment {
                    flags: Flags::RST | Flags::ACK,
                    ..ack(forged as u32 + 1000)
                };
                meter_see(&mut attacked, now, forged, &of(back, reset));
            }
        }
    }
    let compared = |meter: &Meter| format!("{:?}", meter.compare());
    assert_eq!(compared(&attacked), compared(&quiet));
    let found = attacked.compare();
    assert_eq!(
        (found.control.connections, found.treated.connections),
        (4, 5)
    );
    assert_eq!(attacked.connections(), 9);
    assert!(attacked.candidates() <= 100);
}

fn meter_see(meter: &mut Meter, now: Instant, flow: FlowKey, packet: &PacketView) {
    meter.see(now, flow, packet, 1, || assigned(true));
}

/// A SYN flood takes no room; more connections than fit count nevertheless, in their groups.
#[test]
fn tables_are_bounded() {
    let most = NonZeroUsize::new(100).unwrap();
    let mut meter = Meter::new(most, Duration::from_millis(200));
    let syn = Segment {
        flags: Flags::SYN,
        payload_bytes: 0,
        ..data(0)
    };
    for flow in 1..100_000_u64 {
        meter_see(&mut meter, ms(0), flow, &packet(2, Toward::Mobile, syn));
    }
    assert_eq!((meter.connections(), meter.candidates()), (0, 0));
    for flow in 0..1000 {
        round(&mut meter, flow, 0, true);
    }
    assert_eq!(meter.connections(), 100);
    assert_eq!(meter.compare().treated.connections, 1000);
}

/// Connections that end, and ones that go on for a minute, are judged by once each.
#[test]
fn each_connection_is_judged_by_once() {
    let most = NonZeroUsize::new(100).unwrap();
    let mut meter = Meter::new(most, Duration::from_millis(200));
    // 1600 rounds of 40 ms are more than a minute.
    for number in 0..1600 {
        for flow in 0..6 {
            round(&mut meter, flow, number, flow % 2 == 0);
        }
    }
    // The first four only establish the usual level.
    assert_eq!(meter.evidence().bets, 2);
    for flow in 0..6 {
        meter.end(flow);
    }
    assert_eq!(meter.evidence().bets, 2);
    assert_eq!(meter.connections(), 0);
}
