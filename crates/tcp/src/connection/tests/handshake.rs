//! RFC 9293 §3.5 and §3.10, opening.

use super::*;

fn options(segment: &Segment) -> (Option<u16>, Option<u8>, bool, Option<Timestamps>) {
    (
        segment.mss,
        segment.window_scale,
        segment.sack_permitted,
        segment.timestamps,
    )
}

/// RFC 9293 §3.5, figure 6, the left side.
#[test]
fn an_active_open() {
    let mut script = Script::connect(&plain());
    assert_eq!((script.state(), script.next_ms()), (State::SynSent, None));
    assert_eq!(script.say(), ["S 0:1"]);
    assert_eq!(script.say(), NOTHING);
    assert_eq!(script.next_ms(), Some(1000));
    script.at(80);
    assert_eq!(
        script.take(syn(Flags::SYN | Flags::ACK, 1)),
        ["A 1:1 ack 1"]
    );
    assert_eq!(
        (script.state(), script.next_ms()),
        (State::Established, None)
    );
    assert_eq!(script.take_events(), [Event::Established]);
    let sender = script.connection.sender();
    assert_eq!(
        sender.rtt().srtt(),
        Some(milliseconds(80)),
        "the SYN is a sample"
    );
    assert_eq!((sender.right_edge(), sender.mss()), (20_000, 1000));
}

/// The right side.
#[test]
fn a_passive_open() {
    let mut script = Script::listen(&plain());
    assert_eq!(
        (script.state(), script.next_ms(), script.say().len()),
        (State::Listen, None, 0)
    );
    assert_eq!(script.take(syn(Flags::SYN, 0)), ["SA 0:1 ack 1"]);
    assert_eq!(
        (script.state(), script.next_ms()),
        (State::SynReceived, Some(1000))
    );
    script.at(60);
    assert_eq!(script.take(peer(Flags::ACK, 1, 1)), NOTHING);
    assert_eq!(script.state(), State::Established);
    assert_eq!(script.take_events(), [Event::Established]);
    assert_eq!(
        script.connection.sender().rtt().srtt(),
        Some(milliseconds(60))
    );
    assert_eq!(script.connection.sender().right_edge(), 20_000);
}

/// An unacceptable segment is answered before the handshake is complete (RFC 9293 §3.10.7.4, first
/// check; Linux, `tcp_check_req`), here a probe by a peer that our SYN showed a closed window.
#[test]
fn a_probe_before_the_handshake_is_complete_is_answered() {
    let mut script = Script::listen(&plain());
    script.take(syn(Flags::SYN, 0));
    script.at(60);
    assert_eq!(script.take(peer(Flags::ACK, 0, 1)), ["A 1:1 ack 1"]);
    assert_eq!(script.state(), State::SynReceived);
    script.at(70);
    assert_eq!(script.take(peer(Flags::ACK, 1, 1)), NOTHING);
    assert_eq!(script.state(), State::Established);
}

/// Figure 8: both open at the same time, and each answers the other's SYN.
#[test]
fn a_simultaneous_open() {
    let mut script = Script::connect(&plain());
    script.say();
    script.at(50);
    assert_eq!(script.take(syn(Flags::SYN, 0)), ["SA 0:1 ack 1"]);
    assert_eq!(script.state(), State::SynReceived);
    script.at(100);
    assert_eq!(
        script.take(syn(Flags::SYN | Flags::ACK, 1)),
        ["A 1:1 ack 1"]
    );
    assert_eq!(
        (script.state(), script.take_events()),
        (State::Established, vec![Event::Established])
    );
    assert_eq!(
        script.connection.sender().rtt().srtt(),
        None,
        "which of the two was answered is unknown"
    );
    assert_eq!(script.connection.sender().right_edge(), 20_000);
    // Its answer to ours.
    assert_eq!(script.take(peer(Flags::ACK, 1, 1)), NOTHING);
}

/// Data sent before the handshake is complete waits for it.
#[test]
fn what_was_written_early_is_sent_when_established() {
    let mut script = Script::connect(&plain());
    script.connection.write(1500);
    assert_eq!(script.say(), ["S 0:1"]);
    assert_eq!(
        script.take(syn(Flags::SYN | Flags::ACK, 1)),
        ["A 1:1001 ack 1", "PA 1001:1501 ack 1"]
    );
    let mut script = Script::listen(&plain());
    script.connection.write(10);
    assert_eq!(script.take(syn(Flags::SYN, 0)), ["SA 0:1 ack 1"]);
    assert_eq!(
        script.take(data(1, 5, 1)),
        ["PA 1:11 ack 6"],
        "the third segment may carry data"
    );
}

/// Linux answers a SYN-ACK before the program that called connect() can write.
#[test]
fn the_last_of_a_handshake_may_go_alone() {
    for (handshake_ack, expected) in [
        (HandshakeAck::WithData, vec!["PA 1:501 ack 1"]),
        (HandshakeAck::Alone, vec!["A 1:1 ack 1", "PA 1:501 ack 1"]),
    ] {
        let config = Config {
            quirks: QuirksConfig {
                handshake_ack,
                ..QuirksConfig::default()
            },
            ..plain()
        };
        let mut script = Script::connect(&config);
        script.connection.write(500);
        assert_eq!(script.say(), ["S 0:1"]);
        script.at(80);
        assert_eq!(script.take(syn(Flags::SYN | Flags::ACK, 1)), expected);
    }
}

/// RFC 7323 §2.2 and §3.2, RFC 2018 §2: an option is used if both offered it, and only then appears
/// in the answer.
#[test]
fn options_are_used_if_both_offer_them() {
    for bits in 0..16 {
        let [our_sack, our_stamps, their_sack, their_stamps] =
            [1, 2, 4, 8].map(|bit| bits & bit != 0);
        let config = Config {
            sack: our_sack,
            timestamps: our_stamps,
            ..plain()
        };
        let offer = Segment {
            sack_permitted: their_sack,
            timestamps: their_stamps.then_some(Timestamps { value: 77, echo: 0 }),
            window_scale: Some(3),
            mss: Some(700),
            ..syn(Flags::SYN, 0)
        };
        let (sack, stamps) = (our_sack && their_sack, our_stamps && their_stamps);

        let mut server = Script::listen(&config);
        server.handle(offer);
        let answer = server.segments()[0];
        let mss = Some(if our_stamps { 1012 } else { 1000 });
        let stamp = stamps.then_some(Timestamps { value: 1, echo: 77 });
        assert_eq!(options(&answer), (mss, Some(0), sack, stamp), "{bits:b}");

        let mut client = Script::connect(&config);
        let first = client.segments()[0];
        let stamp = our_stamps.then_some(Timestamps { value: 1, echo: 0 });
        assert_eq!(options(&first), (mss, Some(0), our_sack, stamp));
        client.handle(Segment {
            flags: Flags::SYN | Flags::ACK,
            acknowledgment: OURS + 1,
            ..offer
        });
        let last = client.segments()[0];
        let stamp = stamps.then_some(Timestamps { value: 1, echo: 77 });
        assert_eq!(options(&last), (None, None, false, stamp));
        // RFC 6691: the peer's MSS counts without its options.
        let mss = if stamps { 688 } else { 700 };
        assert_eq!(client.connection.sender().mss(), mss);
        assert_eq!(server.connection.sender().mss(), mss);
    }
}

/// RFC 9293 §3.7.1: 536 bytes if the peer's SYN has no MSS, and not more than ours.
#[test]
fn the_segment_size_is_the_smaller() {
    for (named, expected) in [
        (None, 536),
        (Some(400), 400),
        (Some(9000), 1000),
        (Some(0), 536),
    ] {
        let mut script = Script::listen(&plain());
        script.take(Segment {
            mss: named,
            ..syn(Flags::SYN, 0)
        });
        assert_eq!(script.connection.sender().mss(), expected, "{named:?}");
    }
    // A value that the field cannot hold is sent as the nearest that it can.
    let mut script = Script::connect(&Config {
        mss: 100_000,
        ..plain()
    });
    assert_eq!(script.segments()[0].mss, Some(u16::MAX));
}

/// RFC 7323 §2.2: the window in a SYN is not scaled; later ones are, if both offered it.
#[test]
fn windows_are_scaled_if_both_offer_it() {
    let config = Config {
        receive_buffer: 1 << 20,
        ..plain()
    };
    for (offered, our_shift, window) in [(Some(3), 5, 32_768), (None, 0, u16::MAX)] {
        let mut script = Script::connect(&config);
        let first = script.segments()[0];
        assert_eq!((first.window_scale, first.window), (Some(5), u16::MAX));
        script.handle(Segment {
            window_scale: offered,
            ..syn(Flags::SYN | Flags::ACK, 1)
        });
        assert_eq!(script.connection.sender().right_edge(), 20_000);
        let last = script.segments()[0];
        assert_eq!(last.window, window, "1 MiB >> {our_shift}");
        script.handle(peer(Flags::ACK, 1, 1));
        let scaled = 20_000 << offered.unwrap_or(0);
        assert_eq!(script.connection.sender().right_edge(), scaled);

        let mut script = Script::listen(&config);
        script.handle(Segment {
            window_scale: offered,
            ..syn(Flags::SYN, 0)
        });
        let answer = script.segments()[0];
        assert_eq!(
            (answer.window_scale, answer.window),
            (offered.map(|_| 5), u16::MAX)
        );
        script.handle(peer(Flags::ACK, 1, 1));
        assert_eq!(script.connection.sender().right_edge(), scaled);
    }
    // RFC 7323 §2.3: more than 14 is 14.
    let mut script = Script::connect(&config);
    script.say();
    script.take(Segment {
        window_scale: Some(15),
        ..syn(Flags::SYN | Flags::ACK, 1)
    });
    script.take(peer(Flags::ACK, 1, 1));
    assert_eq!(script.connection.sender().right_edge(), 20_000 << 14);
}

#[test]
fn the_scale_is_the_smallest_that_fits() {
    let scales = [
        0,
        65_535,
        65_536,
        131_071,
        131_072,
        1 << 29,
        1 << 30,
        u64::MAX,
    ];
    assert_eq!(
        scales.map(crate::connection::handshake::window_scale),
        [0, 0, 1, 1, 2, 14, 14, 14]
    );
}

/// RFC 6298 §5.5 and §5.7: the SYN backs off too, and the RTO for data is cautious.
#[test]
fn a_lost_syn_is_sent_again() {
    let mut script = Script::connect(&plain());
    script.say();
    assert_eq!(script.at(999).wake(), NOTHING);
    for (due, next) in [(1000, 3000), (3000, 7000), (7000, 15_000)] {
        assert_eq!(script.next_ms(), Some(due));
        assert_eq!(script.at(due).wake(), ["S 0:1"]);
        assert_eq!(script.next_ms(), Some(next));
    }
    script.at(7100);
    assert_eq!(
        script.take(syn(Flags::SYN | Flags::ACK, 1)),
        ["A 1:1 ack 1"]
    );
    let sender = script.connection.sender();
    assert_eq!(
        (sender.rto(), sender.cwnd()),
        (Duration::from_secs(3), 1000)
    );
    assert_eq!(sender.rtt().srtt(), None, "Karn's rule");
    // The ceiling.
    let mut config = plain();
    config.limits.syn_retries = 40;
    let mut script = Script::connect(&config);
    script.say();
    for _ in 0..40 {
        let next = script.next_ms().expect("it goes on");
        assert_eq!(script.at(next).wake(), ["S 0:1"]);
        assert!(script.next_ms().expect("it goes on") <= next + 60_000);
    }
}

/// Linux, `tcp_retransmit_timer`: since ccce324dabfe (6.5) four timeouts of a SYN are not doubled,
/// and four more are allowed; a SYN-ACK's are as before.
#[test]
fn the_first_timeouts_of_a_syn_may_be_as_long_as_the_first() {
    let mut config = plain();
    config.limits.syn_linear_timeouts = 4;
    config.limits.syn_retries = 3;
    let mut script = Script::connect(&config);
    script.say();
    for due in [1000, 2000, 3000, 4000, 5000, 7000, 11_000] {
        assert_eq!(script.next_ms(), Some(due));
        assert_eq!(script.at(due).wake(), ["S 0:1"]);
    }
    assert_eq!(script.next_ms(), Some(19_000));
    script.at(19_000).wake();
    assert_eq!(script.next_ms(), None, "seven retransmissions");

    // The one retransmission allowed would end after three seconds if timeouts doubled.
    config.limits.syn_retries = 1;
    let mut script = Script::connect(&config);
    script.say();
    for due in [1000, 2000] {
        assert_eq!(script.at(due).wake(), ["S 0:1"]);
    }
    assert_eq!(script.next_ms(), Some(3000));
    script.at(3000).wake();
    assert_eq!(script.next_ms(), None);

    let mut script = Script::listen(&config);
    script.take(syn(Flags::SYN, 0));
    assert_eq!(script.at(1000).wake(), ["SA 0:1 ack 1"]);
    assert_eq!(script.next_ms(), Some(3000));
}

#[test]
fn a_lost_syn_ack_is_sent_again() {
    let mut script = Script::listen(&plain());
    script.take(syn(Flags::SYN, 0));
    assert_eq!(script.at(1000).wake(), ["SA 0:1 ack 1"]);
    assert_eq!(script.next_ms(), Some(3000));
    // The peer's retransmitted SYN is answered at once, and does not count as an expiry.
    script.at(1500);
    assert_eq!(script.take(syn(Flags::SYN, 0)), ["SA 0:1 ack 1"]);
    script.at(1600).take(peer(Flags::ACK, 1, 1));
    assert_eq!(script.connection.sender().rto(), Duration::from_secs(3));

    let mut script = Script::listen(&plain());
    script.take(syn(Flags::SYN, 0));
    script.at(500).take(syn(Flags::SYN, 0));
    script.at(510).take(peer(Flags::ACK, 1, 1));
    let sender = script.connection.sender();
    assert_eq!(
        (sender.rtt().srtt(), sender.cwnd()),
        (None, 10_000),
        "Karn's rule, but no loss"
    );
}

/// The last acknowledgment was lost: the server's SYN-ACK is retransmitted.
#[test]
fn a_syn_ack_again_is_acknowledged() {
    let mut script = Script::connect(&plain());
    script.say();
    script.take(syn(Flags::SYN | Flags::ACK, 1));
    assert_eq!(
        script.take(syn(Flags::SYN | Flags::ACK, 1)),
        ["A 1:1 ack 1"]
    );
    assert_eq!(script.state(), State::Established);
}

/// RFC 9293 §3.10.7.3.
#[test]
fn what_does_not_answer_our_syn() {
    let mut script = Script::connect(&plain());
    script.say();
    // First check: any other acknowledgment is reset with its number.
    assert_eq!(script.take(syn(Flags::SYN | Flags::ACK, 2)), ["R 2:2"]);
    assert_eq!(script.take(peer(Flags::ACK, 1, 0)), ["R 0:0"]);
    assert_eq!(script.take(peer(Flags::ACK | Flags::RST, 1, 2)), NOTHING);
    // Second: a reset counts only if it acknowledges our SYN.
    assert_eq!(script.take(peer(Flags::RST, 0, 0)), NOTHING);
    // Fifth: neither SYN nor RST.
    assert_eq!(script.take(peer(Flags::ACK, 1, 1)), NOTHING);
    assert_eq!(script.take(peer(Flags::FIN, 1, 1)), NOTHING);
    assert_eq!(
        (script.state(), script.take_events()),
        (State::SynSent, vec![])
    );
    assert_eq!(script.take(peer(Flags::ACK | Flags::RST, 1, 1)), NOTHING);
    assert_eq!(
        (script.state(), script.take_events()),
        (State::Closed, vec![Event::Reset])
    );
    assert_eq!(script.next_ms(), None);
}

/// RFC 9293 §3.10.7.2.
#[test]
fn what_does_not_open_a_listener() {
    let mut script = Script::listen(&plain());
    assert_eq!(script.take(peer(Flags::RST, 5, 0)), NOTHING);
    assert_eq!(script.take(peer(Flags::RST | Flags::SYN, 5, 0)), NOTHING);
    assert_eq!(script.take(peer(Flags::ACK, 5, 9)), ["R 9:9"]);
    assert_eq!(script.take(syn(Flags::SYN | Flags::ACK, 7)), ["R 7:7"]);
    assert_eq!(script.take(peer(Flags::FIN, 5, 9)), NOTHING);
    assert_eq!(script.state(), State::Listen);
}

/// RFC 9293 §3.10.7.4 in SYN-RECEIVED.
#[test]
fn what_does_not_complete_a_handshake() {
    let mut script = Script::listen(&plain());
    script.take(syn(Flags::SYN, 0));
    assert_eq!(
        script.take(peer(Flags::ACK, 1, 0)),
        ["R 0:0"],
        "not our SYN"
    );
    assert_eq!(script.take(peer(Flags::ACK, 1, 2)), ["R 2:2"], "never sent");
    assert_eq!(script.take(syn(Flags::SYN | Flags::ACK, 9)), ["R 9:9"]);
    assert_eq!(script.take(peer(Flags::FIN, 1, 1)), NOTHING, "no ACK");
    assert_eq!(
        script.take(Segment {
            sequence: PEERS + 70,
            ..syn(Flags::SYN, 0)
        }),
        ["A 1:1 ack 1"],
        "RFC 5961 §4.2"
    );
    assert_eq!(
        (script.state(), script.next_ms()),
        (State::SynReceived, Some(1000))
    );
    assert_eq!(script.take(peer(Flags::RST, 1, 0)), NOTHING);
    assert_eq!(
        (script.state(), script.take_events()),
        (State::Closed, vec![Event::Reset])
    );
}

/// RFC 9293 §3.10.4: CLOSE before the connection is established.
#[test]
fn a_close_before_the_handshake_is_complete() {
    let mut script = Script::listen(&plain());
    script.connection.close();
    assert_eq!(script.state(), State::Closed);
    let mut script = Script::connect(&plain());
    script.connection.close();
    assert_eq!((script.state(), script.say().len()), (State::Closed, 0));
    // Data already written is sent first.
    let mut script = Script::connect(&plain());
    script.connection.write(5);
    script.connection.close();
    assert_eq!(script.say(), ["S 0:1"]);
    assert_eq!(
        script.take(syn(Flags::SYN | Flags::ACK, 1)),
        ["FPA 1:7 ack 1"]
    );
    assert_eq!(script.state(), State::FinWait1);
    let mut script = Script::listen(&plain());
    script.take(syn(Flags::SYN, 0));
    script.connection.close();
    assert_eq!(script.state(), State::SynReceived);
    assert_eq!(script.take(peer(Flags::ACK, 1, 1)), ["FA 1:2 ack 1"]);
    assert_eq!(script.state(), State::FinWait1);
}
