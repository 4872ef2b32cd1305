//! RFC 9293 §3.6 and §3.10.4 to §3.10.8: closing, in every order.

use super::*;

const FIN: Flags = Flags::FIN;
const ACK: Flags = Flags::ACK;

/// Figure 12, the left side.
#[test]
fn we_close_first() {
    let mut script = Script::established(&plain());
    script.connection.close();
    assert_eq!(script.state(), State::FinWait1);
    assert_eq!(script.say(), ["FA 1:2 ack 1"]);
    assert_eq!(script.take(peer(ACK, 1, 2)), NOTHING);
    assert_eq!((script.state(), script.next_ms()), (State::FinWait2, None));
    // The peer may still send.
    assert_eq!(script.take(data(1, 100, 2)), ["A 2:2 ack 101"]);
    assert_eq!(script.connection.read(u64::MAX), 100);
    script.at(5000);
    assert_eq!(script.take(peer(FIN | ACK, 101, 2)), ["A 2:2 ack 102"]);
    assert_eq!(
        (script.state(), script.next_ms()),
        (State::TimeWait, Some(65_000))
    );
    assert_eq!(script.take_turns(), [Event::Closed]);
    assert_eq!(script.at(64_999).wake(), NOTHING);
    assert_eq!(script.state(), State::TimeWait);
    script.at(65_000).wake();
    assert_eq!((script.state(), script.next_ms()), (State::Closed, None));
    assert_eq!(script.take_turns(), [], "once");
}

/// The right side.
#[test]
fn the_peer_closes_first() {
    let mut script = Script::established(&plain());
    assert_eq!(script.take(peer(FIN | ACK, 1, 1)), ["A 1:1 ack 2"]);
    assert_eq!(script.state(), State::CloseWait);
    // We may still send.
    script.connection.write(100);
    assert_eq!(script.say(), ["PA 1:101 ack 2"]);
    assert_eq!(script.take(peer(ACK, 2, 101)), NOTHING);
    script.connection.close();
    assert_eq!(script.state(), State::LastAck);
    assert_eq!(script.say(), ["FA 101:102 ack 2"]);
    assert_eq!(script.take(peer(ACK, 2, 101)), NOTHING);
    assert_eq!(script.state(), State::LastAck, "not the FIN");
    // A retransmission of the peer's FIN is acknowledged as well.
    assert_eq!(script.take(peer(FIN | ACK, 1, 101)), ["A 102:102 ack 2"]);
    assert_eq!(script.take(peer(ACK, 2, 102)), NOTHING);
    assert_eq!(
        (script.state(), script.take_turns()),
        (State::Closed, vec![Event::Closed])
    );
}

/// Figure 13.
#[test]
fn both_close_at_the_same_time() {
    let mut script = Script::established(&plain());
    script.connection.close();
    assert_eq!(script.say(), ["FA 1:2 ack 1"]);
    assert_eq!(script.take(peer(FIN | ACK, 1, 1)), ["A 2:2 ack 2"]);
    assert_eq!(
        (script.state(), script.take_turns()),
        (State::Closing, vec![])
    );
    assert_eq!(script.take(peer(ACK, 2, 2)), NOTHING);
    assert_eq!(
        (script.state(), script.take_turns()),
        (State::TimeWait, vec![Event::Closed])
    );
}

/// The acknowledgment of our FIN may come with the peer's.
#[test]
fn a_fin_that_acknowledges_ours() {
    let mut script = Script::established(&plain());
    script.connection.close();
    script.say();
    assert_eq!(script.take(peer(FIN | ACK, 1, 2)), ["A 2:2 ack 2"]);
    assert_eq!(
        (script.state(), script.take_turns()),
        (State::TimeWait, vec![Event::Closed])
    );
}

/// An out-of-order FIN closes nothing until the data in front of it has arrived.
#[test]
fn a_fin_waits_for_what_is_in_front_of_it() {
    let mut script = Script::established(&plain());
    assert_eq!(script.take(peer(FIN | ACK, 101, 1)), ["A 1:1 ack 1"]);
    assert_eq!(script.state(), State::Established);
    assert_eq!(script.take(data(1, 100, 1)), ["A 1:1 ack 102"]);
    assert_eq!(script.state(), State::CloseWait);
    // Nothing follows it.
    assert_eq!(script.take(data(102, 100, 1)), NOTHING);
    assert_eq!(script.connection.receiver().received(), 100);
}

/// A lost FIN is retransmitted.
#[test]
fn a_lost_fin_is_sent_again() {
    let mut script = Script::established(&plain());
    script.connection.close();
    script.say();
    let due = script.next_ms().expect("its timer");
    assert_eq!(script.at(due).wake(), ["FA 1:2 ack 1"]);
    assert!(matches!(
        script.take_turns()[..],
        [Event::Timeout { offset: 0, .. }]
    ));
    script.take(peer(ACK, 1, 2));
    assert_eq!(script.state(), State::FinWait2);
}

/// Our last acknowledgment was lost: the peer's retransmitted FIN is acknowledged, and TIME-WAIT
/// restarts.
#[test]
fn the_peers_fin_again_restarts_time_wait() {
    let mut script = Script::established(&plain());
    script.connection.close();
    script.say();
    script.take(peer(FIN | ACK, 1, 2));
    script.at(30_000);
    assert_eq!(script.take(peer(FIN | ACK, 1, 2)), ["A 2:2 ack 2"]);
    assert_eq!(script.next_ms(), Some(90_000));
    script.at(40_000);
    assert_eq!(script.take(peer(ACK, 1, 2)), ["A 2:2 ack 2"], "no FIN");
    assert_eq!(script.take(data(2, 100, 2)), NOTHING);
    assert_eq!(script.next_ms(), Some(90_000));
    // RFC 1337, RFC 5961 §3: the exact reset ends it, as anywhere.
    script.at(40_500);
    assert_eq!(script.take(syn(Flags::SYN, 0)), ["A 2:2 ack 2"]);
    assert_eq!(script.state(), State::TimeWait);
}

/// RFC 9293 §3.10.7.1.
#[test]
fn a_closed_connection_resets_what_comes() {
    let mut script = Script::listen(&plain());
    script.connection.close();
    assert_eq!(script.take(data(7, 100, 5)), ["R 5:5"]);
    // Without an acknowledgment to take it from, its number is zero: 256 from our first.
    assert_eq!(script.take(syn(Flags::SYN, 0)), ["RA 256:256 ack 1"]);
    let silent = Segment {
        payload_bytes: 10,
        ..peer(Flags::FIN, 100, 0)
    };
    assert_eq!(script.take(silent), ["RA 256:256 ack 111"]);
    assert_eq!(script.take(peer(Flags::RST, 7, 5)), NOTHING);
    assert_eq!(script.take(peer(Flags::RST | ACK, 7, 5)), NOTHING);
    assert_eq!((script.state(), script.next_ms()), (State::Closed, None));
    assert_eq!(script.wake(), NOTHING);
}

/// RFC 9293 §3.10.5: the peer is notified, if it knows of us.
#[test]
fn an_abort_resets() {
    type Prepare = fn(&mut Script);
    let told: [(Prepare, State); 5] = [
        (|_| (), State::Established),
        (|script| script.connection.close(), State::FinWait1),
        (
            |script| {
                script.connection.close();
                script.say();
                script.take(peer(ACK, 1, 2));
            },
            State::FinWait2,
        ),
        (
            |script| drop(script.take(peer(FIN | ACK, 1, 1))),
            State::CloseWait,
        ),
        (
            |script| {
                script.take(peer(FIN | ACK, 1, 1));
                script.connection.close();
            },
            State::LastAck,
        ),
    ];
    for (prepare, state) in told {
        let mut script = Script::established(&plain());
        prepare(&mut script);
        assert_eq!(script.state(), state);
        script.connection.abort(script.now);
        let said = script.say();
        assert_eq!(said.len(), 1, "{state:?}");
        assert!(said[0].starts_with("RA "), "{said:?}");
        assert_eq!((script.state(), script.next_ms()), (State::Closed, None));
    }
    let mut script = Script::listen(&plain());
    script.take(syn(Flags::SYN, 0));
    script.connection.abort(script.now);
    assert_eq!(script.say(), ["RA 1:1 ack 1"]);
}

#[test]
fn an_abort_is_silent_where_nobody_listens() {
    let mut time_wait = Script::established(&plain());
    time_wait.connection.close();
    time_wait.say();
    time_wait.take(peer(FIN | ACK, 1, 2));
    let mut syn_sent = Script::connect(&plain());
    syn_sent.say();
    let listen = Script::listen(&plain());
    for mut script in [time_wait, syn_sent, listen] {
        script.connection.abort(script.now);
        assert_eq!((script.say().len(), script.state()), (0, State::Closed));
        script.connection.abort(script.now);
        assert_eq!((script.say().len(), script.state()), (0, State::Closed));
    }
}

/// The reset's number is after everything sent, so that the peer accepts it.
#[test]
fn an_abort_is_believed() {
    let mut script = Script::established(&plain());
    script.connection.write(100);
    script.say();
    script.connection.abort(script.now);
    assert_eq!(script.say(), ["RA 101:101 ack 1"]);
}

/// Data written to a closed connection is not sent.
#[test]
fn a_closed_connection_takes_nothing() {
    let mut script = Script::established(&plain());
    script.connection.close();
    script.connection.write(100);
    script.connection.close();
    assert_eq!(
        (script.say(), script.state()),
        (vec!["FA 1:2 ack 1".to_owned()], State::FinWait1)
    );
    script.take(peer(Flags::RST, 1, 0));
    script.connection.write(100);
    script.connection.close();
    assert_eq!((script.say().len(), script.state()), (0, State::Closed));
    assert_eq!(script.connection.read(10), 0);
}

/// A connection that ends with data in flight, or with an acknowledgment delayed, has no timers.
#[test]
fn an_end_stops_all_timers() {
    let ends: [fn(&mut Script); 2] = [
        |script| drop(script.take(peer(Flags::RST, 101, 0))),
        |script| script.connection.abort(script.now),
    ];
    for end in ends {
        let delayed_ack = DelayedAckConfig::default();
        let mut script = Script::established(&Config {
            delayed_ack,
            ..plain()
        });
        script.connection.write(100);
        script.say();
        assert_eq!(script.take(data(1, 100, 1)), NOTHING);
        assert_eq!(script.next_ms(), Some(40));
        end(&mut script);
        script.say();
        assert_eq!(script.next_ms(), None);
        assert_eq!(script.at(60_000).wake(), NOTHING);
        assert_eq!(script.connection.sender().counters().timeouts, 0);
    }
}

/// RFC 9293 §3.6.1; Linux, `tcp_rcv_state_process`: with no reader left, new data resets; data that
/// has arrived before is a retransmission, and is acknowledged.
#[test]
fn a_retransmission_after_a_full_close_is_no_new_data() {
    let mut script = Script::established(&plain());
    assert_eq!(script.take(data(1, 100, 1)), ["A 1:1 ack 101"]);
    script.connection.read(u64::MAX);
    script.connection.shut_reading();
    script.connection.close();
    assert_eq!(script.say(), ["FA 1:2 ack 101"]);
    assert_eq!(script.take(data(1, 100, 1)), ["A 2:2 ack 101"]);
    assert_eq!(script.state(), State::FinWait1);
    script.take(data(100, 2, 1));
    assert_eq!(script.state(), State::Closed);
}
