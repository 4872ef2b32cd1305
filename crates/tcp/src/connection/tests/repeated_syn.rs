//! The round trip of a SYN or SYN-ACK that was sent more than once, from the echoed timestamp.

use super::*;

/// A connection that takes a repeated SYN as `by-echo` has it, and sends SYNs at 0, 1, and 3 s as
/// often as said; then an answer to the SYN of `answered` arrives at 3.2 s.
fn answered_late(expiries: usize, answered: Option<u64>) -> Script {
    let config = Config {
        timestamps: true,
        quirks: QuirksConfig {
            repeated_syn: RepeatedSyn::ByEcho,
            ..QuirksConfig::default()
        },
        ..plain()
    };
    let mut script = Script::connect(&config);
    script.say();
    for due in &[1000, 3000][..expiries] {
        script.at(*due).wake();
    }
    // Its clock has ticks of 1 ms and starts at one.
    let timestamps = answered.map(|at| Timestamps {
        value: 77,
        echo: u32::try_from(at).expect("is short") + 1,
    });
    script.at(3200).take(Segment {
        timestamps,
        ..syn(Flags::SYN | Flags::ACK, 1)
    });
    script
}

/// Linux, `tcp_ack_update_rtt`, `tcp_try_undo_spurious_syn` and `tcp_init_transfer`: the echoed
/// transmission is timed; the window is one segment if the SYN was sent three times and the first
/// was lost.
#[test]
fn an_echo_tells_which_syn_was_answered() {
    let found = |expiries, answered| {
        let script = answered_late(expiries, answered);
        let sender = script.connection.sender();
        (sender.rtt().srtt(), sender.cwnd() / sender.mss())
    };
    assert_eq!(found(2, Some(0)), (Some(milliseconds(3200)), 10));
    assert_eq!(found(2, Some(1000)), (Some(milliseconds(2200)), 1));
    assert_eq!(found(2, Some(3000)), (Some(milliseconds(200)), 1));
    assert_eq!(found(1, Some(1000)), (Some(milliseconds(2200)), 10));
    // Without timestamps of the peer there is no sample.
    assert_eq!(found(2, None), (None, 1));
    assert_eq!(found(1, None), (None, 10));
    let script = answered_late(1, None);
    assert_eq!(script.connection.sender().rto(), Duration::from_secs(3));
}

/// A SYN-ACK that was sent more than once is timed by the echo, too; an answer to a repeated SYN
/// counts towards the window of one segment, but only together with a timeout. Without a round trip
/// the timeout is 3 s (Linux, `tcp_check_req`, `inet_rtx_syn_ack`, `tcp_create_openreq_child`).
#[test]
fn an_echo_tells_which_syn_ack_was_answered() {
    let answered = |expires: bool, echo: Option<u32>| {
        let stamped = |flags, sequence, echo: Option<u32>| Segment {
            timestamps: echo.map(|echo| Timestamps { value: 77, echo }),
            ..peer(flags, sequence, u32::from(flags.contains(Flags::ACK)))
        };
        let config = Config {
            timestamps: true,
            quirks: QuirksConfig {
                repeated_syn: RepeatedSyn::ByEcho,
                ..QuirksConfig::default()
            },
            ..plain()
        };
        let mut script = Script::listen(&config);
        script.take(stamped(Flags::SYN, 0, echo.and(Some(0))));
        if expires {
            script.at(1000).wake();
        }
        script
            .at(1010)
            .take(stamped(Flags::SYN, 0, echo.and(Some(0))));
        script.at(1100).take(stamped(Flags::ACK, 1, echo));
        script
    };
    let found = |expires, echo| {
        let script = answered(expires, Some(echo));
        let sender = script.connection.sender();
        (sender.rtt().srtt(), sender.cwnd() / sender.mss())
    };
    assert_eq!(found(true, 1), (Some(milliseconds(1100)), 10));
    assert_eq!(found(true, 1001), (Some(milliseconds(100)), 1));
    assert_eq!(found(false, 1011), (Some(milliseconds(90)), 10));
    let script = answered(false, None);
    assert_eq!(script.connection.sender().rtt().srtt(), None);
    assert_eq!(script.connection.sender().rto(), Duration::from_secs(3));
}
