//! Hand-made packets, numbers worked out.

use airtcp_packet::{SequenceNumber, Timestamps};

use super::super::*;

const FLOW: FlowKey = 3;

pub(super) fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

pub(super) fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Passing packets with their times: the box under test sees them.
struct Bench {
    information: InformationBox,
}

impl Bench {
    fn new(method: PassiveMethod) -> Self {
        let information = InformationBox::new(InformationBoxConfig {
            method,
            timeout_floor: ms(200),
            ..InformationBoxConfig::default()
        })
        .unwrap();
        Self { information }
    }

    fn pass(&mut self, now: u64, toward: Toward, segment: Segment) {
        self.information.observe(at(now), FLOW, toward, &segment);
    }

    /// `bytes` of data for the mobile from `sequence` on; stamps as (value, echo).
    fn data(&mut self, now: u64, sequence: u32, bytes: u32, stamps: (u32, u32)) {
        let segment = data(sequence, bytes, stamps);
        self.pass(now, Toward::Mobile, segment);
    }

    fn ack(&mut self, now: u64, number: u32, stamps: (u32, u32)) {
        self.pass(now, Toward::Wired, ack(number, stamps));
    }

    /// A handshake that the mobile begins: SYN at 0, SYN-ACK at 40, ACK at 50.
    fn handshake(&mut self) {
        let syn = Segment {
            sequence: SequenceNumber(5_000),
            flags: Flags::SYN,
            timestamps: stamps((900, 0)),
            ..Segment::default()
        };
        let syn_ack = Segment {
            sequence: SequenceNumber(0),
            acknowledgment: SequenceNumber(5_001),
            flags: Flags::SYN | Flags::ACK,
            timestamps: stamps((100, 900)),
            ..Segment::default()
        };
        self.pass(0, Toward::Wired, syn);
        self.pass(40, Toward::Mobile, syn_ack);
        self.ack(50, 1, (950, 100));
    }

    fn round_trip(&self) -> Option<Duration> {
        self.information.round_trip(FLOW)
    }

    fn urgency(&self, now: u64) -> Option<Urgency> {
        let segment = data(0, 1_000, (0, 0));
        self.information.urgency(at(now), FLOW, &segment)
    }
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "it is the value of an optional field"
)]
fn stamps((value, echo): (u32, u32)) -> Option<Timestamps> {
    Some(Timestamps { value, echo })
}

fn data(sequence: u32, payload_bytes: u32, values: (u32, u32)) -> Segment {
    Segment {
        sequence: SequenceNumber(sequence),
        payload_bytes,
        acknowledgment: SequenceNumber(5_001),
        flags: Flags::ACK,
        timestamps: stamps(values),
        ..Segment::default()
    }
}

fn ack(number: u32, values: (u32, u32)) -> Segment {
    Segment {
        acknowledgment: SequenceNumber(number),
        ..data(5_001, 0, values)
    }
}

const EXACT: PassiveMethod = PassiveMethod::Timestamps {
    tick: Duration::from_nanos(1),
};

/// The handshake: SYN to SYN-ACK 40 (wired half), SYN-ACK to ACK 10 (wireless half): 50 in all, so
/// SRTT 50, RTTVAR 25, RTO 150, lifted to the floor of 200. A segment that passes at 90 was sent
/// half a wired half, 20, ago: its timer expires at 90 - 20 + 200 = 270.
///
/// Then data stamped 140 passes at 90 and more at 91, the first one's acknowledgment stamped 1020
/// at 120 (wireless half 30), and the data it released, with echo 1020, at 164 (wired half 44). By
/// timestamps the sample is 74: RTTVAR = 3/4·25 + 1/4·24 = 24.75, SRTT = 53, RTO = 152. By
/// self-clocking it is taken at 120 with the smallest wired half, 40, so 70: RTTVAR = 3/4·25 +
/// 1/4·20 = 23.75, SRTT = 52.5.
#[test]
fn both_methods_on_a_handshake_and_one_round() {
    for (method, expected) in [(EXACT, 53_000), (PassiveMethod::SelfClocking, 52_500)] {
        let mut bench = Bench::new(method);
        assert_eq!((bench.round_trip(), bench.urgency(30)), (None, None));
        bench.handshake();
        assert_eq!(bench.round_trip(), Some(ms(50)), "{method:?}");
        let urgency = bench.urgency(90).unwrap();
        assert_eq!((urgency.expires, urgency.round_trip), (at(270), ms(50)));
        bench.data(90, 1, 1_000, (140, 950));
        bench.data(91, 1_001, 1_000, (141, 950));
        bench.ack(120, 1_001, (1_020, 140));
        bench.data(164, 2_001, 1_000, (210, 1_020));
        assert_eq!(
            bench.round_trip(),
            Some(Duration::from_micros(expected)),
            "{method:?}"
        );
        let acknowledgment = ack(1, (0, 0));
        assert_eq!(
            bench.information.urgency(at(200), FLOW, &acknowledgment),
            None
        );
    }
}

/// The sender's timer expires: the same segment is retransmitted a second after the last sign of
/// life, with no duplicate acknowledgments; RTO doubles with each. Retransmissions triggered by
/// three duplicates, or closely following a partial acknowledgment, are no expiry.
#[test]
fn only_an_expired_timer_backs_off() {
    for method in [EXACT, PassiveMethod::SelfClocking] {
        let mut bench = Bench::new(method);
        bench.handshake();
        let timeout = |bench: &Bench, now: u64| bench.urgency(now).unwrap().expires - at(now);
        // 200 - 20, as above.
        assert_eq!(timeout(&bench, 0), ms(180));
        bench.data(90, 1, 1_000, (140, 950));
        bench.data(91, 1_001, 1_000, (141, 950));
        bench.data(1_090, 1, 1_000, (1_140, 950));
        assert_eq!(timeout(&bench, 0), ms(380), "{method:?}");
        bench.data(3_090, 1, 1_000, (3_140, 950));
        assert_eq!(timeout(&bench, 0), ms(780), "{method:?}");
        // A reset forgets; then a fast retransmission and a repair.
        bench.pass(
            4_000,
            Toward::Wired,
            Segment {
                flags: Flags::RST,
                ..Segment::default()
            },
        );
        assert_eq!(bench.round_trip(), None);
        let mut bench = Bench::new(method);
        bench.handshake();
        for k in 0..6_u32 {
            bench.data(90 + u64::from(k), 1 + 1_000 * k, 1_000, (140 + k, 950));
        }
        for now in [100, 101, 102] {
            bench.ack(now, 1, (900 + now as u32, 100));
        }
        // 92 after the last sign of life, more than a round trip.
        bench.data(142, 1, 1_000, (192, 1_002));
        assert_eq!(timeout(&bench, 0), ms(180), "{method:?}");
        // A partial acknowledgment; the repair follows 40 later, less than a round trip.
        bench.ack(152, 2_001, (1_052, 192));
        bench.data(192, 2_001, 1_000, (242, 1_052));
        assert_eq!(timeout(&bench, 0), ms(180), "{method:?}");
    }
}

/// Karn: the wireless half of a retransmitted segment is unknown without timestamps, and so is that
/// of segments that waited for it. With timestamps the newer copy has a distinct stamp.
#[test]
fn what_was_sent_again_measures_nothing_without_timestamps() {
    for (method, samples) in [(EXACT, true), (PassiveMethod::SelfClocking, false)] {
        let mut bench = Bench::new(method);
        bench.handshake();
        bench.data(90, 1, 1_000, (140, 950));
        bench.data(91, 1_001, 1_000, (141, 950));
        bench.data(92, 2_001, 1_000, (142, 950));
        bench.data(400, 1, 1_000, (440, 950));
        bench.ack(430, 2_001, (1_330, 440));
        bench.data(472, 3_001, 1_000, (512, 1_330));
        // 30 and 42: 50·7/8 + 72/8 = 52.75.
        let expected = if samples { 52_750 } else { 50_000 };
        assert_eq!(bench.round_trip(), Some(Duration::from_micros(expected)));
        bench.ack(473, 3_001, (1_373, 440));
        bench.ack(492, 4_001, (1_392, 512));
        // 20 and, by self-clocking, 40: 50·7/8 + 60/8 = 51.25.
        if !samples {
            assert_eq!(bench.round_trip(), Some(Duration::from_micros(51_250)));
        }
    }
}

/// A host that thinks for 3 s before it sends is no slow path: its RTO of 200 has run out.
#[test]
fn waiting_hosts_are_not_slow_paths() {
    for method in [EXACT, PassiveMethod::SelfClocking] {
        let mut bench = Bench::new(method);
        bench.handshake();
        bench.data(3_050, 1, 1_000, (3_100, 950));
        assert_eq!(bench.round_trip(), Some(ms(50)), "{method:?}");
        // Below the timer, but after silence: not believed when it is longer.
        bench.ack(3_060, 1_001, (3_960, 3_100));
        bench.data(3_210, 1_001, 1_000, (3_260, 3_960));
        assert!(bench.round_trip().unwrap() <= ms(50), "{method:?}");
    }
}

/// The handshake was not observed: a flight of three begins in silence at 1000, spaced by 2; its
/// first acknowledgment passes at 1020, and the sender continues at 1065: wired half 45. A second
/// flight, with its first acknowledgment no later than its packets, gives no sample.
#[test]
fn a_flight_after_silence_tells_the_wired_half() {
    let mut bench = Bench::new(PassiveMethod::SelfClocking);
    for k in 0..3_u32 {
        bench.data(1_000 + 2 * u64::from(k), 1 + 1_000 * k, 1_000, (0, 0));
    }
    bench.ack(1_020, 1_001, (0, 0));
    bench.ack(1_022, 2_001, (0, 0));
    bench.ack(1_024, 3_001, (0, 0));
    assert_eq!(bench.round_trip(), None);
    bench.data(1_065, 3_001, 1_000, (0, 0));
    bench.ack(1_085, 4_001, (0, 0));
    assert_eq!(bench.round_trip(), Some(ms(65)));

    let mut bench = Bench::new(PassiveMethod::SelfClocking);
    bench.data(1_000, 1, 1_000, (0, 0));
    bench.data(1_010, 1_001, 1_000, (0, 0));
    bench.ack(1_015, 1_001, (0, 0));
    bench.data(1_020, 2_001, 1_000, (0, 0));
    bench.ack(1_030, 3_001, (0, 0));
    assert_eq!(bench.round_trip(), None);
}

#[test]
fn parameters_out_of_range_are_named() {
    let text = |config| InformationBox::new(config).unwrap_err().to_string();
    let good = InformationBoxConfig::default();
    let method = PassiveMethod::Timestamps {
        tick: Duration::ZERO,
    };
    assert!(text(InformationBoxConfig { method, ..good }).starts_with("tick = 0 s: expected"));
    let timeout_floor = Duration::from_secs(61);
    let floor = InformationBoxConfig {
        timeout_floor,
        ..good
    };
    assert_eq!(
        text(floor),
        "timeout_floor = 61 s: expected a duration not above timeout_ceiling; lower the floor or \
         raise the ceiling"
    );
}
