//! Explicit congestion notification, step by step (RFC 3168 §6.1).

use airtcp_packet::Ecn;

use super::*;
use crate::config::{CongestionControl, DelayedAckConfig, EcnUse};

const SETUP: Flags = Flags::from_bits(0xc2);
const SETUP_ACK: Flags = Flags::from_bits(0x52);

fn with(ecn: EcnUse) -> Config {
    Config { ecn, ..plain() }
}

/// A segment's ECN flags and its code point.
fn marks(segment: &Segment) -> (bool, bool, Ecn) {
    let has = |flag| segment.flags.contains(flag);
    (has(Flags::ECE), has(Flags::CWR), segment.ecn)
}

const NONE: (bool, bool, Ecn) = (false, false, Ecn::NotCapable);
const ECHO: (bool, bool, Ecn) = (true, false, Ecn::NotCapable);
const DATA: (bool, bool, Ecn) = (false, false, Ecn::Capable0);

/// A server that has agreed to use ECN; the next bytes are 1 on both sides.
fn agreed(config: &Config) -> Script {
    let mut script = Script::listen(config);
    script.take(syn(SETUP, 0));
    script.take(peer(Flags::ACK, 1, 1));
    assert!(script.connection.has_ecn());
    script
}

fn marked(segment: Segment) -> Segment {
    Segment {
        ecn: Ecn::CongestionExperienced,
        ..segment
    }
}

/// RFC 3168 §6.1.1: a SYN with both flags requests it, and a SYN-ACK with only ECE agrees.
#[test]
fn a_server_agrees_where_it_may_and_is_asked() {
    let echo_alone = Flags::SYN | Flags::ECE;
    let table = [
        (EcnUse::Off, SETUP, Ecn::NotCapable, false),
        (EcnUse::Accept, SETUP, Ecn::NotCapable, true),
        (EcnUse::Request, SETUP, Ecn::NotCapable, true),
        (EcnUse::Request, Flags::SYN, Ecn::NotCapable, false),
        (EcnUse::Request, echo_alone, Ecn::NotCapable, false),
        // A SYN is never ECN-capable itself (Linux, `tcp_ecn_create_request`).
        (EcnUse::Accept, SETUP, Ecn::Capable0, false),
    ];
    for (wanted, flags, ecn, agrees) in table {
        let mut script = Script::listen(&with(wanted));
        let answer = script.connection_answer(Segment {
            ecn,
            ..syn(flags, 0)
        });
        assert_eq!(
            marks(&answer),
            if agrees { ECHO } else { NONE },
            "{wanted:?} {flags:?}"
        );
        assert_eq!(script.connection.has_ecn(), agrees);
    }
}

#[test]
fn a_client_asks_once_and_goes_by_the_answer() {
    for wanted in [EcnUse::Off, EcnUse::Accept] {
        let mut script = Script::connect(&with(wanted));
        assert_eq!(marks(&script.segments()[0]), NONE);
        script.take(syn(SETUP_ACK, 1));
        assert!(!script.connection.has_ecn(), "nobody asked");
    }
    let answers = [
        (SETUP_ACK, true),
        (Flags::SYN | Flags::ACK, false),
        // An answer that mirrors the SYN is from a broken stack (§6.1.1).
        (SETUP | Flags::ACK, false),
    ];
    for (flags, agrees) in answers {
        let mut script = Script::connect(&with(EcnUse::Request));
        assert_eq!(marks(&script.segments()[0]), (true, true, Ecn::NotCapable));
        // §6.1.1.1: the second SYN does not ask, in case the flags caused the loss of the first.
        let next = script.next_ms().unwrap();
        script.at(next);
        let (now, events) = (script.now, &mut script.events);
        script
            .connection
            .on_wakeup(now, &mut |_, event| events.push(event));
        assert_eq!(marks(&script.segments()[0]), NONE);
        script.take(syn(flags, 1));
        assert_eq!(script.connection.has_ecn(), agrees, "{flags:?}");
    }
}

/// §6.1.3: once a mark has arrived, every acknowledgment echoes it until data with CWR; a mark on
/// that very segment is a new one.
#[test]
fn a_mark_is_echoed_until_the_window_is_reduced() {
    let mut script = agreed(&with(EcnUse::Accept));
    let mut answer = |segment| marks(&script.connection_answer(segment));
    assert_eq!(answer(data(1, 1000, 1)), NONE);
    assert_eq!(answer(marked(data(1001, 1000, 1))), ECHO);
    assert_eq!(answer(data(2001, 1000, 1)), ECHO);
    let reduced = |segment: Segment| Segment {
        flags: segment.flags | Flags::CWR,
        ..segment
    };
    assert_eq!(answer(marked(reduced(data(3001, 1000, 1)))), ECHO);
    assert_eq!(answer(reduced(data(4001, 1000, 1))), NONE);
    assert_eq!(answer(data(5001, 1000, 1)), NONE);
}

#[test]
fn marks_mean_nothing_where_they_were_not_agreed_on() {
    let mut script = Script::established(&with(EcnUse::Accept));
    let answer = script.connection_answer(marked(data(1, 1000, 1)));
    assert_eq!(marks(&answer), NONE);
    script.connection.write(1000);
    assert_eq!(marks(&script.segments()[0]), NONE);
}

/// A delayed acknowledgment leaves at once when a mark arrives, and so does that of data with CWR
/// (Linux, `__tcp_ecn_check_ce`, `tcp_ecn_accept_cwr`).
#[test]
fn a_mark_is_echoed_at_once() {
    let config = Config {
        delayed_ack: DelayedAckConfig::default(),
        ..with(EcnUse::Accept)
    };
    let mut script = agreed(&config);
    let capable = |sequence| Segment {
        ecn: Ecn::Capable0,
        ..data(sequence, 1000, 1)
    };
    assert_eq!(script.take(capable(1)), NOTHING);
    assert_eq!(script.take(capable(1001)).len(), 1);
    assert_eq!(script.take(marked(capable(2001))).len(), 1);
    assert_eq!(script.take(capable(3001)).len(), 1, "the second of two");
    assert_eq!(script.take(capable(4001)), NOTHING);
    assert_eq!(script.take(capable(5001)).len(), 1);
    let mut reduced = capable(6001);
    reduced.flags |= Flags::CWR;
    assert_eq!(script.take(reduced).len(), 1);
    assert_eq!(script.take(capable(7001)), NOTHING);
    // A segment that is not capable where others are is a retransmission.
    assert_eq!(script.take(data(8001, 1000, 1)).len(), 1);
    assert_eq!(script.take(capable(9001)).len(), 1);
}

/// §6.1.4 and §6.1.5: new data is capable, pure acknowledgments and retransmissions are not;
/// §6.1.2: only the first new data after a reduction carries CWR.
#[test]
fn new_data_is_capable_and_says_that_the_window_is_reduced() {
    let mut script = agreed(&with(EcnUse::Accept));
    script.connection.write(10_000);
    let first = script.segments();
    assert_eq!(first.len(), 10);
    assert!(first.iter().all(|segment| marks(segment) == DATA));

    // Half of ten: five stay in flight before more data leaves.
    script.connection.write(10_000);
    for end in 1..=5 {
        assert!(
            script
                .take(peer(Flags::ACK | Flags::ECE, 1, end * 1000 + 1))
                .is_empty()
        );
    }
    script.handle(peer(Flags::ACK | Flags::ECE, 1, 6001));
    let next = script.segments();
    assert_eq!(next.len(), 1);
    assert_eq!(marks(&next[0]), (false, true, Ecn::Capable0));
    script.handle(peer(Flags::ACK, 1, 7001));
    let next = script.segments();
    assert_eq!(marks(&next[0]), DATA);
    assert_eq!(script.connection.sender().reductions_for_marks(), 1);

    // Three duplicates: the retransmission is not capable, and one segment of new data carries CWR.
    let mut sent = Vec::new();
    for _ in 0..3 {
        script.handle(peer(Flags::ACK, 1, 7001));
        sent.extend(script.segments());
    }
    script.handle(peer(Flags::ACK, 1, 12_001));
    sent.extend(script.segments());
    let again = |segment: &&Segment| segment.sequence == OURS + 7001;
    assert_eq!(
        sent.iter().filter(again).map(marks).collect::<Vec<_>>(),
        [NONE]
    );
    let says = |segment: &&Segment| marks(segment) == (false, true, Ecn::Capable0);
    assert_eq!(sent.iter().filter(says).count(), 1);
}

impl Script {
    /// The one answer to a segment.
    fn connection_answer(&mut self, segment: Segment) -> Segment {
        self.handle(segment);
        let answers = self.segments();
        assert_eq!(answers.len(), 1, "{answers:?}");
        answers[0]
    }
}

/// RFC 8257 §3.2: the echo follows the marks. Where it changes, segments held back are acknowledged
/// first, with the old echo; the segment that changed it at once.
#[test]
fn dctcp_echoes_each_mark() {
    let config = Config {
        congestion: CongestionControl::Dctcp,
        delayed_ack: DelayedAckConfig {
            segments: 2,
            ..DelayedAckConfig::default()
        },
        ..with(EcnUse::Accept)
    };
    let mut script = agreed(&config);
    let mut answers = |segment| {
        script.handle(segment);
        let answers = script.segments();
        let told = |answer: &Segment| {
            let acknowledged = answer.acknowledgment.0.wrapping_sub(PEERS.0);
            (acknowledged, marks(answer).0)
        };
        answers.iter().map(told).collect::<Vec<_>>()
    };
    let capable = |sequence| Segment {
        ecn: Ecn::Capable0,
        ..data(sequence, 1000, 1)
    };
    assert_eq!(answers(capable(1)), [], "held back");
    let first = answers(marked(data(1001, 1000, 1)));
    assert_eq!(first, [(1001, false), (2001, true)]);
    assert_eq!(answers(marked(data(2001, 1000, 1))), []);
    assert_eq!(answers(marked(data(3001, 1000, 1))), [(4001, true)]);
    assert_eq!(answers(marked(data(4001, 1000, 1))), []);
    assert_eq!(answers(capable(5001)), [(5001, true), (6001, false)]);
}
