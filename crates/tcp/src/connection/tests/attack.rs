//! RFC 5961: segments that an attacker sends in the peer's name. More are in the scripts of
//! `tests/scripts/attack`, which hold on Linux, too.

use super::*;
use crate::config::LimitsConfig;

/// Passes segments back and forth, each a millisecond later, while there are any; returns their
/// number, at most `most`.
fn exchanged(ends: &mut [Connection; 2], mut now: Instant, most: usize) -> usize {
    let mut count = 0;
    while count < most {
        let on_the_way = ends
            .each_mut()
            .map(|end| std::iter::from_fn(|| end.poll(now)).collect::<Vec<_>>());
        let sent = on_the_way.iter().map(Vec::len).sum::<usize>();
        if sent == 0 {
            break;
        }
        count += sent;
        now += milliseconds(1);
        for (end, segments) in ends.iter_mut().zip(on_the_way.iter().rev()) {
            segments
                .iter()
                .for_each(|segment| end.handle(now, segment, &mut ()));
        }
    }
    count
}

/// RFC 5961 §7: the endpoint that believed the forged data acknowledges bytes never sent, and
/// answers the answer, which is below its window.
#[test]
fn one_forged_segment_does_not_have_two_endpoints_talk_for_ever() {
    let config = plain();
    let mut ends = [
        Connection::connect(&config, OURS),
        Connection::listen(&config, PEERS),
    ];
    exchanged(&mut ends, Instant::ZERO, 100);
    assert_eq!(
        ends.each_ref().map(Connection::state),
        [State::Established; 2]
    );
    ends[0].handle(Instant::ZERO, &data(1, 100, 1), &mut ());
    assert_eq!(exchanged(&mut ends, Instant::ZERO, 1000), 3);
}

/// Linux, `tcp_invalid_ratelimit`: 500 ms, for all kinds of segments.
#[test]
fn all_kinds_of_challenges_share_a_limit() {
    let mut script = Script::established(&plain());
    let forged = [
        peer(Flags::RST, 2, 0),
        syn(Flags::SYN, 0),
        peer(Flags::ACK, 50_000, 1),
        peer(Flags::ACK, 1, 2),
        data(1, 100, 2),
    ];
    for first in forged {
        assert_eq!(script.take(first), ["A 1:1 ack 1"], "{first:?}");
        for segment in forged {
            assert_eq!(script.take(segment), NOTHING, "{first:?}, then {segment:?}");
        }
        script.now += milliseconds(499);
        assert_eq!(script.take(first), NOTHING, "{first:?}");
        script.now += milliseconds(1);
    }
    let unlimited = Config {
        limits: LimitsConfig {
            challenge_interval: Duration::ZERO,
            ..LimitsConfig::default()
        },
        ..plain()
    };
    let mut script = Script::established(&unlimited);
    for _ in 0..3 {
        assert_eq!(script.take(forged[0]), ["A 1:1 ack 1"]);
    }
}

/// RFC 5961 §5.2: the largest window counts, not the last.
#[test]
fn an_acknowledgment_may_be_as_old_as_the_largest_window() {
    let mut script = Script::established(&plain());
    let mut sent = 1;
    for _ in 0..30 {
        script.connection.write(1000);
        script.say();
        sent += 1000;
        script.take(Segment {
            window: 1000,
            ..peer(Flags::ACK, 1, sent)
        });
    }
    let old = |bytes: u32| data(1, 100, sent - bytes);
    assert_eq!(script.take(old(20_001)), ["A 30001:30001 ack 1"]);
    assert_eq!(script.take(old(20_000)), ["A 30001:30001 ack 101"]);
}

/// RFC 9293 §3.7.1; Linux, `tcp_min_snd_mss`: 48 bytes, options included.
#[test]
fn a_segment_carries_no_less_than_48_bytes() {
    for (timestamps, mss, expected) in [
        (false, 1, 48),
        (false, 47, 48),
        (false, 49, 49),
        (false, 0, 536),
        (true, 1, 36),
        (true, 100, 88),
    ] {
        let config = Config {
            timestamps,
            ..plain()
        };
        let mut script = Script::listen(&config);
        script.handle(Segment {
            mss: Some(mss),
            timestamps: timestamps.then_some(Timestamps { value: 1, echo: 0 }),
            ..syn(Flags::SYN, 0)
        });
        assert_eq!(script.connection.sender().mss(), expected, "{mss}");
    }
    // An endpoint configured to send less may do so.
    let mut script = Script::listen(&Config { mss: 5, ..plain() });
    script.handle(syn(Flags::SYN, 0));
    assert_eq!(script.connection.sender().mss(), 5);
}
