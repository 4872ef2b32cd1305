//! Transfers written by hand, whose truth is known line by line.

mod hosts;
mod paths;
mod retransmissions;

use airtcp_packet::wire::{Addresses, emit};
use airtcp_packet::{Flags, SackBlock, Segment, SequenceNumber, Timestamps};

use super::*;
use crate::read::Reader;
use crate::survey::Limits;

const MSS: u32 = 1000;
/// Round trip of the transfers below, in microseconds.
const RTT: u64 = 50_000;

/// A segment of one 1500-byte packet, sent at the beginning and never acknowledged.
pub(in crate::analysis) fn transmission() -> Sent {
    Sent {
        time: Instant::ZERO,
        number: 0,
        index: 0,
        start: 0,
        end: 1448,
        ip_bytes: 1500,
        attempt: 0,
        in_flight: 0,
        acknowledged: Instant::FAR_FUTURE,
        is_measured: false,
        is_lost: false,
        lost_to: None,
        radio_retry: false,
        is_marked: false,
        is_short: false,
        is_refused: false,
        meets_full_queue: false,
        timestamp: None,
        identification: None,
        previous: None,
        repeat: None,
    }
}

/// A transfer whose client sends. Times are microseconds.
struct Script {
    packets: Vec<(u64, Way, Segment)>,
    has_timestamps: bool,
}

impl Script {
    /// With a handshake as seen at the client. Its clock is milliseconds, as TSval.
    fn new(has_timestamps: bool) -> Self {
        let mut script = Self {
            packets: Vec::new(),
            has_timestamps,
        };
        let syn = Segment {
            sequence: SequenceNumber(999),
            flags: Flags::SYN,
            mss: Some(MSS as u16 + 12),
            window_scale: Some(4),
            sack_permitted: true,
            window: 60_000,
            ..Segment::default()
        };
        script.push(0, Way::FromClient, syn, 0);
        let answer = Segment {
            sequence: SequenceNumber(4999),
            acknowledgment: SequenceNumber(1000),
            flags: Flags::SYN | Flags::ACK,
            ..syn
        };
        script.push(RTT, Way::FromServer, answer, 0);
        let last = Segment {
            sequence: SequenceNumber(1000),
            acknowledgment: SequenceNumber(5000),
            flags: Flags::ACK,
            window: 1000,
            ..Segment::default()
        };
        script.push(RTT + 20, Way::FromClient, last, RTT);
        script
    }

    fn push(&mut self, time: u64, way: Way, mut segment: Segment, echo_of: u64) {
        segment.timestamps = self.has_timestamps.then_some(Timestamps {
            value: (time / 1000) as u32 + 1,
            echo: (echo_of / 1000) as u32 + 1,
        });
        self.packets.push((time, way, segment));
    }

    /// Segment number `place` leaves at `time`.
    fn data(&mut self, time: u64, place: u32) -> &mut Self {
        let segment = Segment {
            sequence: SequenceNumber(1000 + place * MSS),
            acknowledgment: SequenceNumber(5000),
            payload_bytes: MSS,
            flags: Flags::ACK,
            window: 1000,
            ..Segment::default()
        };
        self.push(time, Way::FromClient, segment, 0);
        self
    }

    /// All segments before `next` are acknowledged at `time`, echoing the segment sent at
    /// `echo_of`, and the ranges of segments in `sack`.
    fn ack(&mut self, time: u64, next: u32, echo_of: u64, sack: &[(u32, u32)]) -> &mut Self {
        let place = |segment: u32| SequenceNumber(1000 + segment * MSS);
        let mut segment = Segment {
            sequence: SequenceNumber(5000),
            acknowledgment: place(next),
            flags: Flags::ACK,
            window: 60_000,
            ..Segment::default()
        };
        for (start, end) in sack {
            segment.tail.push(SackBlock {
                start: place(*start),
                end: place(*end),
            });
        }
        self.push(time, Way::FromServer, segment, echo_of);
        self
    }

    /// Segments one each `spacing` from `first` on, each acknowledged a round trip later.
    fn flow(&mut self, from: u64, first: u32, count: u32, spacing: u64) -> &mut Self {
        for place in 0..count {
            let time = from + u64::from(place) * spacing;
            self.data(time, first + place);
            self.ack(time + RTT, first + place + 1, time, &[]);
        }
        self
    }

    fn survey(&self) -> Survey {
        let mut packets = self.packets.clone();
        packets.sort_by_key(|packet| packet.0);
        survey_of(&(1..).zip(packets).collect::<Vec<_>>())
    }

    fn analysis(&self) -> Analysis {
        analysed(&self.survey())
    }

    /// Analyses a file with the packets as written, not sorted.
    fn analysis_as_written(&self) -> Analysis {
        let packets: Vec<_> = (1..).zip(self.packets.iter().copied()).collect();
        analysed(&survey_of(&packets))
    }
}

fn analysed(survey: &Survey) -> Analysis {
    let flow = survey.largest().unwrap();
    Analysis::of(survey, flow, None)
}

/// A capture of packets with their IPv4 identifications, times in microseconds.
fn survey_of(packets: &[(u16, (u64, Way, Segment))]) -> Survey {
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 96, 101] {
        file.extend(word.to_le_bytes());
    }
    let ends = ["10.0.0.1:50000", "10.0.0.2:5001"].map(|end| end.parse().unwrap());
    for (number, (time, way, segment)) in packets {
        let [source, destination] = match way {
            Way::FromClient => ends,
            Way::FromServer => [ends[1], ends[0]],
        };
        let addresses = Addresses {
            source,
            destination,
        };
        let mut packet = Vec::new();
        let payload = vec![0; segment.payload_bytes as usize];
        emit(segment, &addresses, *number, &payload, &mut packet).unwrap();
        let length = packet.len() as u32;
        packet.truncate(80);
        let (seconds, micros) = (time / 1_000_000, time % 1_000_000);
        for word in [seconds as u32, micros as u32, packet.len() as u32, length] {
            file.extend(word.to_le_bytes());
        }
        file.extend(packet);
    }
    let reader = Reader::new(Box::new(std::io::Cursor::new(file))).unwrap();
    Survey::of(reader, &Limits::default(), None, &mut |_| true).unwrap()
}

/// The only label of a transfer.
fn only(analysis: &Analysis) -> Label {
    assert_eq!(analysis.labels.len(), 1, "{:?}", analysis.labels);
    analysis.labels[0]
}

fn at(micros: u64) -> Instant {
    Instant::ZERO + Duration::from_micros(micros)
}

fn has(analysis: &Analysis, kind: RefusalKind) -> bool {
    analysis.refusals.iter().any(|refusal| refusal.kind == kind)
}

/// The same transfer at its other end: nothing is repeated there, holes are filled.
#[test]
fn at_the_receiver_holes_are_filled() {
    let mut script = Script::new(true);
    script.packets.clear();
    let syn = Segment {
        sequence: SequenceNumber(999),
        flags: Flags::SYN,
        mss: Some(MSS as u16 + 12),
        window_scale: Some(4),
        sack_permitted: true,
        ..Segment::default()
    };
    // It left half a round trip before, at 0.
    script.push(RTT / 2, Way::FromClient, syn, 0);
    script.packets[0].2.timestamps = Some(Timestamps { value: 1, echo: 0 });
    let answer = Segment {
        sequence: SequenceNumber(4999),
        acknowledgment: SequenceNumber(1000),
        flags: Flags::SYN | Flags::ACK,
        ..syn
    };
    script.push(RTT / 2 + 10, Way::FromServer, answer, 0);
    let mut value_of = std::collections::BTreeMap::new();
    let mut arrive = |script: &mut Script, time: u64, place: u32, sent: u64, echo: u64| {
        script.data(time, place);
        let segment = &mut script.packets.last_mut().unwrap().2;
        segment.timestamps = Some(Timestamps {
            value: (sent / 1000) as u32 + 1,
            echo: (echo / 1000) as u32 + 1,
        });
        value_of.insert(place, sent);
    };
    // Each arrives half a round trip after it was sent, and echoes an ACK of a round trip ago.
    let order: Vec<(u64, u32, u64)> = (0..60_u32)
        .filter(|place| ![20, 40, 45, 46].contains(place))
        .map(|place| (100_000 + u64::from(place) * 5_000, place, 0))
        .chain([
            // 20 is overtaken by 21 and 22.
            (100_000 + 22 * 5_000 + 1_000, 20, 1),
            // 40 is lost, and repaired a round trip later.
            (100_000 + 43 * 5_000 + RTT, 40, 2),
            // 45 and 46 are lost together.
            (100_000 + 48 * 5_000 + RTT, 45, 2),
            (100_000 + 48 * 5_000 + RTT + 500, 46, 2),
            // 50 comes twice.
            (100_000 + 56 * 5_000 + 1_000, 50, 2),
        ])
        .collect();
    let mut order = order;
    order.sort_unstable();
    let mut arrived = [false; 60];
    for (time, place, kind) in order {
        let sent = match kind {
            2 => time - RTT / 2,
            _ => 100_000 + u64::from(place) * 5_000 - RTT / 2,
        };
        arrive(&mut script, time, place, sent, time.saturating_sub(RTT));
        arrived[place as usize] = true;
        let next = arrived.iter().position(|there| !there).unwrap_or(60) as u32;
        // RFC 2883 §4: the duplicate first, then the block that contains it.
        let reported: &[(u32, u32)] = match (place, kind) {
            (50, 2) => &[(50, 51), (47, 56)],
            _ => &[],
        };
        script.ack(time + 20, next, sent, reported);
    }
    let analysis = script.analysis();
    assert_eq!(
        analysis.vantage.place,
        Place::Receiver,
        "{:?}",
        analysis.vantage
    );
    let overtaken: Vec<_> = analysis
        .overtaken
        .iter()
        .map(|packet| packet.packets)
        .collect();
    assert_eq!(overtaken, [2]);
    assert_eq!(analysis.overtaken[0].late_by, Duration::from_micros(6_000));
    let seen: Vec<_> = analysis
        .labels
        .iter()
        .map(|label| {
            (
                label.start / 1000,
                label.need,
                label.evidence,
                label.is_upstream,
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            (40, Need::Needed, Evidence::SentLater, true),
            (50, Need::Needless, Evidence::Received, false),
            (45, Need::Needed, Evidence::SentLater, true),
            (46, Need::Needed, Evidence::SentLater, true),
        ]
    );
    // Lost packets were in flight at the sender, which has a clock of milliseconds.
    let moved = analysis.at_sender.as_deref().unwrap();
    let lost = moved.sent.iter().filter(|packet| packet.is_lost);
    let lost: Vec<u64> = lost.map(|packet| packet.start / 1000).collect();
    assert_eq!(lost, [40, 45, 46]);
    let base = moved.base_rtt.unwrap();
    assert!(
        base + Duration::from_millis(2) > Duration::from_micros(RTT)
            && base < Duration::from_micros(RTT + 2_000),
        "{base}"
    );
}

/// In the middle both delays are part of the round trip.
#[test]
fn a_capture_in_the_middle_is_known() {
    let mut script = Script::new(true);
    for place in 0..40 {
        let time = 100_000 + u64::from(place) * 5_000;
        script.data(time, place);
        let segment = &mut script.packets.last_mut().unwrap().2;
        // The segment that releases it passed 20 ms before.
        segment.timestamps = Some(Timestamps {
            value: (time / 1000) as u32,
            echo: ((time - 20_000) / 1000) as u32 + 1,
        });
        script.ack(time + 30_000, place + 1, time, &[]);
    }
    let vantage = script.analysis().vantage;
    assert_eq!(vantage.place, Place::Middle, "{vantage:?}");
}

#[test]
fn captures_that_say_nothing_are_refused() {
    // ACKs before the data that they acknowledge.
    let mut script = Script::new(true);
    for place in 0..200 {
        let time = 100_000 + u64::from(place) * 5_000;
        script.data(time + 2_000, place);
        script.ack(time, place + 1, time, &[]);
    }
    let analysis = script.analysis();
    assert!(
        has(&analysis, RefusalKind::Order),
        "{:?}",
        analysis.refusals
    );
    assert!(!analysis.is_sound());
    // One direction only.
    let mut script = Script::new(true);
    script.flow(100_000, 0, 100, 1_000);
    script.packets.retain(|packet| packet.1 == Way::FromClient);
    let analysis = script.analysis();
    assert!(has(&analysis, RefusalKind::OneWay) && analysis.sent.is_empty());
    // Short, and without losses.
    let mut script = Script::new(true);
    script.flow(100_000, 0, 100, 1_000);
    let analysis = script.analysis();
    assert!(has(&analysis, RefusalKind::Short) && has(&analysis, RefusalKind::FewLosses));
    assert!(!has(&analysis, RefusalKind::Order) && !has(&analysis, RefusalKind::Dropped));
    // The capture lost a tenth.
    script
        .packets
        .retain(|(time, way, _)| *way == Way::FromServer || time / 1000 % 10 != 7);
    let analysis = script.analysis();
    assert!(
        has(&analysis, RefusalKind::Dropped),
        "{:?}",
        analysis.refusals
    );
    // A handshake that something near answered.
    let mut script = Script::new(true);
    script.flow(100_000, 0, 20, 50_000);
    for (time, way, segment) in &mut script.packets {
        if *way == Way::FromServer && !segment.flags.contains(Flags::SYN) {
            *time += 600_000;
        }
    }
    let analysis = script.analysis();
    assert!(
        has(&analysis, RefusalKind::Proxy),
        "{:?}, {:?}",
        analysis.base_rtt,
        analysis.refusals
    );
}

/// Shares sum to one, and the limit is named.
#[test]
fn the_time_is_shared_out() {
    let whole = |analysis: &Analysis| {
        let sum: f64 = Limit::ALL
            .iter()
            .map(|limit| analysis.shares.share(*limit))
            .sum();
        assert!((sum - 1.0).abs() < 1e-9, "{sum}");
    };
    // One segment each 100 ms: half of the time nothing is in flight.
    let mut script = Script::new(true);
    script.flow(100_000, 0, 100, 100_000);
    let analysis = script.analysis();
    whole(&analysis);
    let idle = analysis.shares.share(Limit::Application);
    assert!((idle - 0.5).abs() < 0.01, "{idle}");
    // Acknowledgments of the last byte seen are no sign of data that the capture dropped.
    assert_eq!(analysis.shares.left_out, Duration::ZERO);
    // The receiver's window is two segments.
    let mut script = Script::new(true);
    script.flow(100_000, 0, 100, 25_000);
    for (_, way, segment) in &mut script.packets {
        if *way == Way::FromServer {
            segment.window = (2 * MSS / 16) as u16;
        }
    }
    let analysis = script.analysis();
    whole(&analysis);
    let window = analysis.shares.share(Limit::ReceiverWindow);
    assert!(window > 0.9, "{:?}", analysis.shares);
}

/// Without the SYNs no scale is known, but a closed window is closed at any.
#[test]
fn an_unscaled_window_shows_only_closed() {
    let mut script = Script::new(true);
    script.flow(100_000, 0, 100, 25_000);
    script.packets.retain(|(time, ..)| *time >= 100_000);
    for (time, way, segment) in &mut script.packets {
        let is_closed = (1_000_000..1_500_000).contains(time);
        if *way == Way::FromServer {
            segment.window = if is_closed { 0 } else { 100 };
        }
    }
    let analysis = script.analysis();
    assert!(has(&analysis, RefusalKind::NoSyn));
    assert!(!has(&analysis, RefusalKind::CutOptions));
    let window = analysis.shares.time(Limit::ReceiverWindow).as_secs_f64();
    assert!((window - 0.5).abs() < 0.05, "{window}");
}
