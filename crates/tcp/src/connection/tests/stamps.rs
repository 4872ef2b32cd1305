//! Timestamps: RFC 7323 §3 to §5.

use super::*;

const DAY_MS: u64 = 24 * 3600 * 1000;

fn stamped(value: u32, segment: Segment) -> Segment {
    Segment {
        timestamps: Some(Timestamps { value, echo: 0 }),
        ..segment
    }
}

/// A connection with timestamps; the peer's clock stood at 100.
fn script(delayed_ack: DelayedAckConfig) -> Script {
    let mut script = Script::listen(&Config {
        timestamps: true,
        delayed_ack,
        ..plain()
    });
    script.take(stamped(100, syn(Flags::SYN, 0)));
    script.take(stamped(100, peer(Flags::ACK, 1, 1)));
    assert_eq!(script.state(), State::Established);
    script
}

fn every_segment() -> Script {
    script(DelayedAckConfig {
        segments: 1,
        ..DelayedAckConfig::default()
    })
}

/// The echo in the only answer to a segment.
fn echo(script: &mut Script, segment: Segment) -> u32 {
    script.handle(segment);
    let answers = script.segments();
    assert_eq!(answers.len(), 1);
    answers[0].timestamps.expect("both offered it").echo
}

/// RFC 7323 §4.3: a delayed acknowledgment echoes the first segment it covers, so that the peer's
/// sample includes the delay; a duplicate echoes the segment that filled the last gap.
#[test]
fn the_echo_is_the_earliest_unacknowledged() {
    let mut script = script(DelayedAckConfig {
        segments: 3,
        ..DelayedAckConfig::default()
    });
    assert_eq!(script.take(stamped(101, data(1, 100, 1))), NOTHING);
    assert_eq!(script.take(stamped(102, data(101, 100, 1))), NOTHING);
    assert_eq!(echo(&mut script, stamped(103, data(201, 100, 1))), 101);
    // A gap: 301 is missing.
    assert_eq!(echo(&mut script, stamped(105, data(401, 100, 1))), 101);
    assert_eq!(echo(&mut script, stamped(106, data(501, 100, 1))), 101);
    // It is filled.
    assert_eq!(echo(&mut script, stamped(107, data(301, 100, 1))), 107);
    assert_eq!(script.connection.receiver().received(), 600);
}

/// Our clock has ticks of the length set, and starts at one.
#[test]
fn our_clock_ticks() {
    for (tick, expected) in [(1, 1235), (10, 124), (1000, 2)] {
        let mut script = Script::connect(&Config {
            timestamps: true,
            timestamp_tick: milliseconds(tick),
            ..plain()
        });
        let first = script.at(1234).segments()[0];
        assert_eq!(
            first.timestamps,
            Some(Timestamps {
                value: expected,
                echo: 0
            }),
            "{tick}"
        );
    }
}

/// An echo is measured in ticks; an invalid one gives no sample.
#[test]
fn an_echo_is_a_round_trip() {
    let clock = Clock::new(milliseconds(10));
    let now = Instant::ZERO + milliseconds(1234);
    let back = |echo| clock.echo(now, Timestamps { value: 0, echo });
    let echo = back(101).expect("sent at 1000");
    assert_eq!(echo.sent_at, Instant::ZERO + milliseconds(1000));
    assert_eq!(echo.rtt, milliseconds(230));
    assert_eq!(
        back(124).map(|echo| echo.rtt),
        Some(Duration::ZERO),
        "this very tick"
    );
    assert_eq!(back(125), None, "the future");
    assert_eq!(back(0), None, "RFC 7323 §3.2: no meaning");
    // Around the wrap of the clock, after 2^32 ticks.
    let late = Instant::from_nanos(((1 << 32) + 5) * 10_000_000);
    assert_eq!(clock.value(late), 6);
    let echo = clock.echo(
        late,
        Timestamps {
            value: 0,
            echo: u32::MAX,
        },
    );
    assert_eq!(echo.map(|echo| echo.rtt), Some(milliseconds(70)));
}

/// A tick of zero is a nanosecond.
#[test]
fn no_tick_is_shorter_than_the_clocks_own() {
    let clock = Clock::new(Duration::ZERO);
    assert_eq!(clock.value(Instant::from_nanos(41)), 42);
}

/// RFC 7323 §5.3, R1: a segment older than the last is answered and not accepted.
#[test]
fn an_old_timestamp_is_answered_and_not_taken() {
    let mut script = every_segment();
    assert_eq!(
        script.take(stamped(200, data(1, 100, 1))),
        ["A 1:1 ack 101"]
    );
    assert_eq!(
        script.take(stamped(199, data(101, 100, 1))),
        ["A 1:1 ack 101"]
    );
    assert_eq!(script.connection.receiver().received(), 100);
    assert_eq!(
        script.take(stamped(200, data(101, 100, 1))),
        ["A 1:1 ack 201"],
        "equal is not old"
    );
    // The clock may wrap.
    script.take(stamped(0x9000_0000 - 1, data(201, 100, 1)));
    assert_eq!(
        script.connection.receiver().received(),
        200,
        "half a cycle away is old"
    );
    script.take(stamped(0x7000_0000, data(201, 100, 1)));
    script.take(stamped(0xe000_0000, data(301, 100, 1)));
    script.take(stamped(5, data(401, 100, 1)));
    assert_eq!(script.connection.receiver().received(), 500);
}

/// RFC 7323 §5.5: after 24 idle days the last value proves nothing.
#[test]
fn an_outdated_timestamp_protects_no_longer() {
    let mut script = every_segment();
    script.at(1000).take(stamped(200, data(1, 100, 1)));
    script
        .at(1000 + 24 * DAY_MS - 1)
        .take(stamped(199, data(101, 100, 1)));
    assert_eq!(script.connection.receiver().received(), 100);
    script
        .at(1000 + 24 * DAY_MS)
        .take(stamped(199, data(101, 100, 1)));
    assert_eq!(script.connection.receiver().received(), 200);
}

/// R2 before R3: the timestamp of an unacceptable segment is not the peer's.
#[test]
fn only_what_is_in_the_window_sets_the_clock() {
    let mut script = every_segment();
    script.take(stamped(200, data(1, 100, 1)));
    // Below the window, and above.
    script.take(stamped(5000, data(1, 100, 1)));
    script.take(stamped(5000, data(60_000, 100, 1)));
    script.take(stamped(5000, peer(Flags::ACK, 50, 1)));
    // In the window, but not the next.
    script.take(stamped(5000, data(201, 100, 1)));
    assert_eq!(echo(&mut script, stamped(201, data(101, 100, 1))), 201);
}

/// RFC 7323 §3.2: once agreed on, a segment without the option is dropped, except for a reset.
#[test]
fn a_segment_without_the_option_is_dropped() {
    let mut script = every_segment();
    assert_eq!(script.take(data(1, 100, 1)), NOTHING);
    assert_eq!(script.connection.receiver().received(), 0);
    script.take(peer(Flags::RST, 1, 0));
    assert_eq!(script.state(), State::Closed);
    // And a reset may carry an old one.
    let mut script = every_segment();
    script.take(stamped(1, peer(Flags::RST, 1, 0)));
    assert_eq!(script.state(), State::Closed);
    // A SYN is always challenged, or a half-open connection would never be discovered.
    let mut script = every_segment();
    assert_eq!(script.take(syn(Flags::SYN, 0)), ["A 1:1 ack 1"]);
}

/// If not agreed on, the option is neither checked nor sent.
#[test]
fn the_option_means_nothing_if_it_was_not_agreed_on() {
    let mut script = Script::established(&plain());
    script.take(stamped(500, data(1, 100, 1)));
    script.handle(stamped(1, data(101, 100, 1)));
    let answer = script.segments()[0];
    assert_eq!(
        (answer.timestamps, answer.acknowledgment),
        (None, PEERS + 201)
    );
}

/// A retransmitted SYN has a new timestamp, and the answer echoes it.
#[test]
fn a_second_syn_is_echoed_by_its_own_stamp() {
    let mut script = Script::listen(&Config {
        timestamps: true,
        ..plain()
    });
    script.take(stamped(100, syn(Flags::SYN, 0)));
    assert_eq!(echo(&mut script, stamped(1100, syn(Flags::SYN, 0))), 1100);
}

/// A probe acknowledges nothing, for timestamps either: the byte after a gap does not become the
/// next to be echoed.
#[test]
fn a_probe_does_not_move_the_echo() {
    let mut script = script(DelayedAckConfig {
        timeout: Duration::from_millis(900),
        ..DelayedAckConfig::default()
    });
    let closed = |segment| Segment {
        window: 0,
        ..segment
    };
    script.connection.write(10);
    script.say();
    script.take(stamped(102, closed(peer(Flags::ACK, 1, 11))));
    script.connection.write(10);
    script.say();
    let due = script.next_ms().expect("a probe");
    assert_eq!(
        script
            .at(due - 5)
            .take(stamped(110, closed(data(1, 100, 11)))),
        NOTHING
    );
    let due = script.next_ms().expect("a probe");
    assert_eq!(script.at(due).wake(), ["A 10:10 ack 101"]);
    assert_eq!(
        echo(&mut script, stamped(120, closed(data(101, 100, 11)))),
        110
    );
}

/// The sender measures a retransmission only by its echo (RFC 7323 §4.1).
#[test]
fn the_sender_is_told_of_the_echo() {
    let mut script = every_segment();
    script.connection.write(100);
    script.at(1000).say();
    script.at(5000).wake();
    script.take_events();
    let timestamps = Some(Timestamps {
        value: 300,
        echo: 5001,
    });
    script.at(5070).take(Segment {
        timestamps,
        ..peer(Flags::ACK, 1, 101)
    });
    assert_eq!(
        script.take_events(),
        [
            Event::RttSample {
                rtt: milliseconds(70)
            },
            Event::RecoveryExit
        ]
    );
}
