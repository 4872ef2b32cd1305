//! TCP Fast Open (RFC 7413), as Linux does it (net/ipv4/tcp_fastopen.c).

use airtcp_packet::FastOpen;

use super::*;

fn cookie() -> FastOpen {
    FastOpen::cookie(&[5; 8]).unwrap()
}

/// A client with a SYN that may carry 960 bytes, of `written`.
fn client(option: Option<FastOpen>, written: u64) -> Script {
    let mut script = Script::connect(&plain());
    script
        .connection
        .open_fast(FastOpenSyn { option, most: 960 });
    script.connection.write(written);
    script
}

/// The peer's SYN-ACK.
fn syn_ack(acknowledgment: u32) -> Segment {
    syn(Flags::SYN | Flags::ACK, acknowledgment)
}

/// A server that takes 100 bytes from a SYN.
fn server() -> Script {
    let mut script = Script::listen(&plain());
    script.connection.answer_fast_open(FastOpenAnswer {
        opens: true,
        grants: None,
    });
    let mut request = syn(Flags::SYN, 0);
    request.payload_bytes = 100;
    assert_eq!(script.take(request), ["SA 0:1 ack 101"]);
    script
}

#[test]
fn the_data_of_a_syn_is_acknowledged_with_it() {
    let mut script = client(Some(cookie()), 2500);
    let sent = script.segments();
    assert_eq!(sent.len(), 1);
    assert_eq!(
        (text(&sent[0]), sent[0].payload_bytes),
        ("S 0:961".into(), 960)
    );
    assert_eq!(sent[0].fast_open(), Some(cookie()));
    assert_eq!(script.connection.payload_of(&sent[0]), 0..960);
    let window = script.connection.sender().cwnd();
    script.at(80);
    assert_eq!(
        script.take(syn_ack(961)),
        ["A 961:1961 ack 1", "PA 1961:2501 ack 1"]
    );
    assert_eq!(script.connection.syn_data(), SynData::Accepted);
    let sender = script.connection.sender();
    assert_eq!(sender.cwnd(), window, "the window of any handshake");
    assert_eq!((sender.una(), sender.right_edge()), (960, 20_960));
    assert_eq!(sender.rtt().srtt(), Some(milliseconds(80)));
    assert_eq!(sender.counters().segments_retransmitted, 0);
    assert_eq!(script.take(peer(Flags::ACK, 1, 2501)), NOTHING);
    assert_eq!(script.next_ms(), None, "nothing is outstanding");
}

/// Linux, `tcp_rcv_fastopen_synack`: data that the SYN-ACK leaves out is retransmitted at once, and
/// without a smaller window.
#[test]
fn data_that_a_syn_ack_leaves_out_is_retransmitted_at_once() {
    for (acknowledged, expected) in [(1, "PA 1:961 ack 1"), (401, "PA 401:961 ack 1")] {
        let mut script = client(Some(cookie()), 960);
        script.say();
        let window = script.connection.sender().cwnd();
        script.at(80);
        assert_eq!(script.take(syn_ack(acknowledged)), [expected]);
        assert_eq!(script.connection.syn_data(), SynData::Refused);
        assert_eq!(script.connection.sender().cwnd(), window);
        assert_eq!(
            script.connection.sender().counters().segments_retransmitted,
            1
        );
        assert_eq!(script.take(peer(Flags::ACK, 1, 961)), NOTHING);
        assert_eq!(script.connection.acknowledged(), 960);
        assert_eq!(script.next_ms(), None);
    }
}

/// Larger than the peer's segments, it is cut.
#[test]
fn refused_data_is_cut_to_the_peers_segments() {
    let mut script = client(Some(cookie()), 960);
    script.say();
    let mut answer = syn_ack(1);
    answer.mss = Some(500);
    assert_eq!(script.take(answer), ["A 1:501 ack 1", "PA 501:961 ack 1"]);
}

#[test]
fn a_retransmitted_syn_carries_neither_data_nor_cookie() {
    let mut script = client(Some(cookie()), 700);
    assert_eq!(script.say(), ["S 0:701"]);
    script.at(1000);
    script.handle_wakeup();
    let again = script.segments();
    assert_eq!(
        (text(&again[0]), again[0].fast_open()),
        ("S 0:1".into(), None)
    );
    // The first SYN may have arrived all the same.
    script.at(1050);
    assert_eq!(script.take(syn_ack(701)), ["A 701:701 ack 1"]);
    assert_eq!(script.connection.syn_data(), SynData::Accepted);
}

#[test]
fn a_syn_ack_of_what_the_syn_did_not_carry_is_reset() {
    let mut script = client(Some(cookie()), 700);
    script.say();
    assert_eq!(script.take(syn_ack(702)), ["R 702:702"]);
    assert_eq!(script.state(), State::SynSent);
    assert_eq!(script.take(syn_ack(701)), ["A 701:701 ack 1"]);
}

/// The request of a cookie carries no data; data without a cookie has no option.
#[test]
fn requests_and_cookies_are_as_asked_for() {
    let mut script = Script::connect(&plain());
    script.connection.open_fast(FastOpenSyn {
        option: Some(FastOpen::REQUEST),
        most: 0,
    });
    script.connection.write(700);
    let sent = script.segments();
    assert_eq!(sent[0].payload_bytes, 0);
    assert_eq!(sent[0].fast_open(), Some(FastOpen::REQUEST));
    assert_eq!(script.take(syn_ack(1)), ["PA 1:701 ack 1"]);
    assert_eq!(script.connection.syn_data(), SynData::None);

    let mut script = client(None, 700);
    let sent = script.segments();
    assert_eq!((sent[0].payload_bytes, sent[0].fast_open()), (700, None));
}

/// A server may answer with data and its end in the SYN-ACK; an ordinary client ignores both.
#[test]
fn a_syn_ack_may_carry_data() {
    let mut answer = syn_ack(701);
    answer.payload_bytes = 300;
    answer.flags |= Flags::FIN;
    let mut script = client(Some(cookie()), 700);
    script.say();
    assert_eq!(script.take(answer), ["A 701:701 ack 302"]);
    assert_eq!(script.state(), State::CloseWait);
    assert_eq!(script.connection.read(1000), 300);

    let mut script = Script::connect(&plain());
    script.say();
    answer.acknowledgment = OURS + 1;
    assert_eq!(script.take(answer), ["A 1:1 ack 1"]);
    assert_eq!(script.state(), State::Established);
}

/// Both open at once: the data is acknowledged by the peer's SYN-ACK, or retransmitted.
#[test]
fn syns_with_data_may_cross() {
    let mut script = client(Some(cookie()), 700);
    script.say();
    assert_eq!(script.take(syn(Flags::SYN, 0)), ["SA 0:1 ack 1"]);
    assert_eq!(script.take(syn_ack(701)), ["A 701:701 ack 1"]);
    assert_eq!(script.connection.syn_data(), SynData::Accepted);
    assert_eq!(
        (script.state(), script.next_ms()),
        (State::Established, None)
    );

    let mut script = client(Some(cookie()), 700);
    script.say();
    script.take(syn(Flags::SYN, 0));
    assert_eq!(script.take(syn_ack(1)), ["A 701:701 ack 1"]);
    let next = script.next_ms().unwrap();
    script.at(next);
    assert_eq!(script.wake(), ["PA 1:701 ack 1"]);
}

#[test]
fn a_server_delivers_the_data_of_a_syn_and_answers_before_the_handshake_is_complete() {
    let mut script = server();
    assert!(script.connection.is_open_early());
    assert_eq!(script.connection.syn_data(), SynData::Accepted);
    assert_eq!(script.connection.read(1000), 100);
    script.connection.write(1500);
    assert_eq!(script.say(), ["A 1:1001 ack 101", "PA 1001:1501 ack 101"]);
    assert_eq!(script.state(), State::SynReceived);
    // Nothing but the SYN-ACK is retransmitted; a copy of the SYN brings it too.
    assert_eq!(script.next_ms(), Some(1000));
    script.at(1000);
    assert_eq!(script.wake(), ["SA 0:1 ack 101"]);
    script.at(1400);
    assert_eq!(script.take(syn(Flags::SYN, 0)), ["SA 0:1 ack 101"]);
    script.at(1500);
    assert_eq!(script.take(peer(Flags::ACK, 101, 1501)), NOTHING);
    assert_eq!(
        (script.state(), script.next_ms()),
        (State::Established, None)
    );
    assert_eq!(script.take(data(101, 50, 1501)), ["A 1501:1501 ack 151"]);
}

#[test]
fn a_server_ends_before_the_handshake_is_complete() {
    // Closed with everything read: a FIN.
    let mut script = server();
    script.connection.read(100);
    script.connection.release(script.now);
    assert_eq!(script.say(), ["FA 1:2 ack 101"]);
    assert_eq!(script.take(peer(Flags::ACK, 101, 2)), NOTHING);
    assert_eq!(script.state(), State::FinWait2);
    // With data unread: a reset (RFC 2525 §2.17).
    let mut script = server();
    script.connection.release(script.now);
    assert_eq!(script.say(), ["RA 1:1 ack 101"]);
    // Reset by the peer: no refusal, since data has flowed.
    let mut script = server();
    assert_eq!(script.take(peer(Flags::RST | Flags::ACK, 101, 0)), NOTHING);
    assert_eq!(script.connection.end(), Some(End::Reset));
    assert_eq!(script.connection.read(1000), 100);
}

/// One more SYN-ACK than for others (Linux, `tcp_fastopen_synack_timer`).
#[test]
fn a_server_gives_up_after_one_more_retransmission() {
    let sent = |mut script: Script| {
        let mut count = 0;
        while let Some(next) = script.next_ms() {
            script.at(next);
            count += script.wake().len();
        }
        assert_eq!(script.connection.end(), Some(End::TimedOut));
        count
    };
    let mut ordinary = Script::listen(&plain());
    ordinary.take(syn(Flags::SYN, 0));
    assert_eq!(sent(server()), sent(ordinary) + 1);
}

/// Without a valid cookie the data is left to be retransmitted, and a cookie is granted once.
#[test]
fn a_server_grants_a_cookie_and_leaves_the_data() {
    let mut script = Script::listen(&plain());
    script.connection.answer_fast_open(FastOpenAnswer {
        opens: false,
        grants: Some(cookie()),
    });
    let mut request = syn(Flags::SYN, 0);
    request.payload_bytes = 100;
    script.handle(request);
    let sent = script.segments();
    assert_eq!(
        (text(&sent[0]), sent[0].fast_open()),
        ("SA 0:1 ack 1".into(), Some(cookie()))
    );
    assert!(!script.connection.is_open_early());
    script.at(1000);
    script.handle_wakeup();
    assert_eq!(script.segments()[0].fast_open(), None);
    assert_eq!(script.take(data(1, 100, 1)), ["A 1:1 ack 101"]);
    assert_eq!(script.connection.syn_data(), SynData::None);
}

/// Linux, `tcp_rcv_synsent_state_process`: an echo from no SYN of ours belongs to another
/// connection.
#[test]
fn a_syn_ack_with_a_foreign_echo_is_reset() {
    let config = Config {
        timestamps: true,
        ..plain()
    };
    let mut script = Script::connect(&config);
    script.at(1000);
    let sent = script.segments()[0].timestamps.unwrap().value;
    script.at(1080);
    let answer = |echo| Segment {
        timestamps: Some(Timestamps { value: 9, echo }),
        ..syn_ack(1)
    };
    for echo in [sent - 1, sent + 81] {
        assert_eq!(script.take(answer(echo)), ["R 1:1"], "{echo}");
        assert_eq!(script.state(), State::SynSent);
    }
    assert_eq!(script.take(answer(sent)), ["A 1:1 ack 1"]);
}
