use super::*;
use crate::syntax::{Marking, Options};
use airtcp_packet::{Ecn, Flags};
use airtcp_units::Duration;

fn milliseconds(value: u64) -> Duration {
    Duration::from_millis(value)
}

fn events(text: &str) -> Vec<Event> {
    parse("test.pkt", text)
        .expect("it is of the language")
        .events
}

#[test]
fn a_script_without_events_is_no_script() {
    for text in ["", "\n\n", "// a comment alone\n", "--mss=1000\n"] {
        let error = parse("empty.pkt", text).expect_err("nothing is in it");
        assert!(error.message.contains("no event"), "{text:?}: {error}");
    }
}

#[test]
fn events_and_errors_know_their_line() {
    let text = "0 a()\n\n/* two\nlines */ +1 b()\n+2 c()\n";
    let lines: Vec<_> = events(text).into_iter().map(|event| event.line).collect();
    assert_eq!(lines, [1, 4, 5]);
    let error = parse("test.pkt", &format!("{text}\nnonsense\n")).expect_err("no event");
    assert_eq!(error.line, 7);
}

/// The forms of the reference's grammar (`parser.y`).
#[test]
fn times() {
    let times: Vec<_> =
        events("0 a()\n+.5 a()\n1.25 a()\n+.1~+.2 a()\n1 ~ 2 a()\n* a()\n+0...0.2 a()")
            .into_iter()
            .map(|event| (event.time, event.ends))
            .collect();
    assert_eq!(
        times,
        [
            (Time::Absolute(milliseconds(0)), None),
            (Time::Relative(milliseconds(500)), None),
            (Time::Absolute(milliseconds(1250)), None),
            (
                Time::RelativeRange(milliseconds(100), milliseconds(200)),
                None
            ),
            (
                Time::AbsoluteRange(milliseconds(1000), milliseconds(2000)),
                None
            ),
            (Time::Any, None),
            (Time::Relative(milliseconds(0)), Some(milliseconds(200))),
        ]
    );
}

#[test]
fn packets() {
    let mut found = events(
        "+0 > P. 1:1001(1000) ack 7 win 257 <nop,nop,TS val 5 ecr 6>\n+0 < S 0:0(0) win 9 <mss 1000,sackOK,nop,wscale 8>",
    );
    let Action::Arrives(syn) = found.remove(1).action else {
        panic!("a segment that arrives");
    };
    assert_eq!(syn.flags, Flags::SYN);
    assert_eq!(syn.window, Some(9));
    assert_eq!(
        syn.options,
        Some(Options {
            mss: Some(1000),
            sack_permitted: true,
            window_scale: Some(8),
            ..Options::default()
        })
    );
    let Action::Leaves(data) = found.remove(0).action else {
        panic!("a segment that leaves");
    };
    assert_eq!(data.flags, Flags::PSH | Flags::ACK);
    assert_eq!((data.start, data.payload, data.ack), (1, 1000, Some(7)));
    assert_eq!(
        data.options.and_then(|options| options.timestamps),
        Some((5, 6))
    );
}

#[test]
fn marks_and_their_echoes() {
    let text = "0 < SEW 0:0(0) win 9\n\
                0 > [noecn] SE. 0:0(0) ack 1\n\
                0 < [ect1] W. 1:1(0) ack 1 win 9\n\
                0 > [ect01] P. 1:2(1) ack 1\n\
                0 < [ce] . 1:1(0) ack 1 win 9\n\
                0 > [ect0] E. 2:2(0) ack 1";
    let read: Vec<_> = events(text)
        .into_iter()
        .map(|event| match event.action {
            Action::Arrives(packet) | Action::Leaves(packet) => (packet.flags, packet.marking),
            action => panic!("{action:?}"),
        })
        .collect();
    let (ece, cwr) = (Flags::ECE, Flags::CWR);
    let expected = [
        (Flags::SYN | ece | cwr, None),
        (
            Flags::SYN | ece | Flags::ACK,
            Some(Marking::Is(Ecn::NotCapable)),
        ),
        (cwr | Flags::ACK, Some(Marking::Is(Ecn::Capable1))),
        (Flags::PSH | Flags::ACK, Some(Marking::Capable)),
        (Flags::ACK, Some(Marking::Is(Ecn::CongestionExperienced))),
        (ece | Flags::ACK, Some(Marking::Is(Ecn::Capable0))),
    ];
    assert_eq!(read, expected);
    for unsupported in [
        "0 > SA. 0:0(0) ack 1",
        "0 > U. 1:2(1)",
        "0 > [tos 0x2] . 1:1(0) ack 1",
    ] {
        let action = events(unsupported).remove(0).action;
        assert!(matches!(action, Action::Unsupported(_)), "{action:?}");
    }
}

#[test]
fn calls_commands_and_code() {
    let found = events(
        "`sysctl -q a=b`\n0 setsockopt(3, SOL_SOCKET, SO_LINGER, {onoff=1, linger=0}, 8) = 0\n+0 read(4, ..., 10) = -1 EAGAIN (Resource temporarily unavailable)\n+0 %{ assert a == 1\nassert b }%",
    );
    assert_eq!(found[0].action, Action::Command("sysctl -q a=b".to_owned()));
    let Action::Call(call) = &found[1].action else {
        panic!("a call");
    };
    assert_eq!(call.arguments[3], "{onoff=1, linger=0}");
    let Action::Call(call) = &found[2].action else {
        panic!("a call");
    };
    assert_eq!(
        (call.returns, call.error.as_deref()),
        (Some(-1), Some("EAGAIN"))
    );
    assert_eq!(
        found[3].action,
        Action::Code(" assert a == 1\nassert b ".to_owned())
    );
}

#[test]
fn comments_and_options() {
    let script = parse(
        "a.pkt",
        "// one\n--tolerance_usecs=500\n/* two\n lines */ # three\n0 a()",
    );
    let script = script.expect("it is of the language");
    assert_eq!(
        script.options,
        [("tolerance_usecs".to_owned(), "500".to_owned(), 2)]
    );
    assert_eq!(script.events[0].line, 5);
}

#[test]
fn errors_name_the_line_and_what_was_expected() {
    for (text, expected) in [
        (
            "0 a()\nnow b()",
            "a.pkt:2: \"now\": expected a time in seconds",
        ),
        ("0 > Q 1:2(1)", "a.pkt:1: \"Q\": expected flags"),
        ("0 < [ect01] . 1:1(0) ack 1", "a.pkt:1: [ect01]: expected"),
        ("0 > . 1-2", "a.pkt:1: \"1-2\": expected a range"),
        ("0 > . 1:2(1) ack x", "a.pkt:1: \"ack\": expected"),
        (
            "0 < . 1:2(1) ack 1 <sack 5>",
            "a.pkt:1: \"5\": expected a block",
        ),
        ("0 a(1, 2", "a.pkt:1: expected \")\""),
        ("0 %{ assert", "a.pkt:1: expected \"}%\""),
        ("0 ???", "a.pkt:1: \"???\": expected a packet"),
    ] {
        let error = parse("a.pkt", text).expect_err(text).to_string();
        assert!(error.starts_with(expected), "{text}: {error}");
    }
}
