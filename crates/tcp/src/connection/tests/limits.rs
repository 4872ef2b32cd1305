//! The limits of a connection's patience, and the errors when it ends.

use super::*;

impl Script {
    fn release(&mut self) {
        self.connection.release(self.now);
    }
}

/// Wakes the connection whenever it asks, until it no longer does; returns the times, in
/// milliseconds.
fn wake_until_silent(script: &mut Script) -> Vec<u64> {
    let mut times = Vec::new();
    while let Some(next) = script.next_ms() {
        script.at(next).wake();
        times.push(next);
    }
    times
}

/// Linux: gives up after 127 s, or slightly earlier where the RTO is bounded by 60 s.
#[test]
fn a_syn_is_given_up_after_six_retransmissions() {
    let mut script = Script::connect(&plain());
    assert_eq!(script.say(), ["S 0:1"]);
    assert_eq!(
        wake_until_silent(&mut script),
        [1000, 3000, 7000, 15_000, 31_000, 63_000, 123_000]
    );
    assert_eq!(script.connection.end(), Some(End::TimedOut));
    assert_eq!(
        (script.state(), script.take_events()),
        (State::Closed, vec![Event::TimedOut])
    );
}

/// Linux: five, and 63 s.
#[test]
fn a_syn_ack_is_given_up_after_63_seconds() {
    let mut script = Script::listen(&plain());
    assert_eq!(script.take(syn(Flags::SYN, 0)), ["SA 0:1 ack 1"]);
    assert_eq!(
        wake_until_silent(&mut script),
        [1000, 3000, 7000, 15_000, 31_000, 63_000]
    );
    assert_eq!(script.connection.end(), Some(End::TimedOut));
    assert_eq!(script.take(peer(Flags::ACK, 1, 1)), ["R 1:1"]);
}

/// Linux, `tcp_fin_timeout`; only for a connection that nobody holds any more.
#[test]
fn an_orphan_waits_a_minute_for_the_peers_fin() {
    let mut script = Script::established(&plain());
    script.at(1000).release();
    assert_eq!(script.say(), ["FA 1:2 ack 1"]);
    script.take(peer(Flags::ACK, 1, 2));
    assert_eq!(
        (script.state(), script.next_ms()),
        (State::FinWait2, Some(61_000))
    );
    script.at(61_000).wake();
    assert_eq!(
        (script.state(), script.connection.end()),
        (State::Closed, Some(End::TimedOut))
    );
    // Released only after its FIN was acknowledged.
    let mut script = Script::established(&plain());
    script.connection.close();
    script.say();
    script.take(peer(Flags::ACK, 1, 2));
    assert_eq!((script.state(), script.next_ms()), (State::FinWait2, None));
    script.at(500_000).release();
    assert_eq!(script.next_ms(), Some(560_000));
    // The peer's FIN in time.
    script.at(559_999).take(peer(Flags::FIN | Flags::ACK, 1, 2));
    assert_eq!(
        (script.state(), script.connection.end()),
        (State::TimeWait, Some(End::Orderly))
    );
}

/// Linux, `tcp_fin_time`: not before a lost FIN can have been retransmitted.
#[test]
fn an_orphan_waits_for_three_and_a_half_timeouts() {
    let mut config = plain();
    config.limits.fin_timeout = Duration::ZERO;
    let mut script = Script::established(&config);
    script.release();
    script.say();
    script.at(100).take(peer(Flags::ACK, 1, 2));
    let rto = script.connection.sender().rto().as_nanos() / 1_000_000;
    assert_eq!(script.next_ms(), Some(100 + rto * 7 / 2));
}

/// RFC 9293 §3.6.1 and RFC 2525 §2.17.
#[test]
fn letting_go_of_unread_bytes_resets() {
    let mut script = Script::established(&plain());
    script.take(data(1, 100, 1));
    script.connection.read(99);
    script.release();
    assert_eq!(script.say(), ["RA 1:1 ack 101"]);
    assert_eq!(script.connection.end(), Some(End::Aborted));
}

/// RFC 9293 §3.6.1: new data is reset, in order or not; data received before is acknowledged, and a
/// FIN without data is accepted.
#[test]
fn what_nobody_will_read_is_reset() {
    let released = || {
        let mut script = Script::established(&plain());
        script.take(data(1, 100, 1));
        script.connection.read(100);
        script.release();
        script.say();
        script
    };
    let mut script = released();
    assert_eq!(script.take(data(1, 100, 1)), ["A 2:2 ack 101"]);
    assert_eq!(script.take(data(1, 101, 1)), ["R 1:1"]);
    assert_eq!(
        (script.state(), script.connection.end()),
        (State::Closed, Some(End::Reset))
    );
    assert_eq!(released().take(data(150, 1, 2)), ["R 2:2"]);
    let mut script = released();
    script.take(peer(Flags::FIN | Flags::ACK, 101, 2));
    assert_eq!(script.state(), State::TimeWait);
    // Until our FIN has left, data is accepted.
    let mut script = Script::established(&plain());
    script.connection.shut_reading();
    assert_eq!(script.take(data(1, 100, 1)), ["A 1:1 ack 101"]);
}

#[test]
fn the_reason_of_the_end_is_told() {
    let end = |script: &Script| script.connection.end();
    let mut script = Script::connect(&plain());
    script.say();
    assert_eq!(end(&script), None);
    script.take(peer(Flags::RST | Flags::ACK, 0, 1));
    assert_eq!(end(&script), Some(End::Refused));
    let mut script = Script::established(&plain());
    script.take(peer(Flags::RST, 1, 0));
    assert_eq!(end(&script), Some(End::Reset));
    let mut script = Script::established(&plain());
    script.connection.abort(script.now);
    assert_eq!(end(&script), Some(End::Aborted));
    let mut script = Script::listen(&plain());
    script.connection.close();
    assert_eq!(end(&script), Some(End::Orderly));
    let mut script = Script::established(&plain());
    script.take(peer(Flags::FIN | Flags::ACK, 1, 1));
    script.connection.close();
    script.say();
    assert_eq!(end(&script), None);
    script.take(peer(Flags::ACK, 2, 2));
    assert_eq!(end(&script), Some(End::Orderly));
}

/// Linux, `tcp_retries2`: gives up at the first timeout at least 924.6 s after the first. With a
/// round trip of zero and an RTO of 200 ms that doubles to 60 s.
#[test]
fn data_is_given_up_after_924_seconds() {
    let mut script = Script::established(&plain());
    script.connection.write(100);
    assert_eq!(script.say(), ["PA 1:101 ack 1"]);
    let times = wake_until_silent(&mut script);
    let [first, .., before, last] = times[..] else {
        panic!("{times:?}");
    };
    assert!(
        before - first < 924_600 && last - first >= 924_600,
        "{times:?}"
    );
    assert_eq!(script.connection.end(), Some(End::TimedOut));
    assert_eq!(script.take_events().last(), Some(&Event::TimedOut));
    assert_eq!(
        script.take(peer(Flags::ACK, 1, 101)),
        ["R 101:101"],
        "nobody is there"
    );
    // An orphan loses patience earlier.
    let mut script = Script::established(&plain());
    script.connection.write(100);
    script.release();
    script.say();
    let times = wake_until_silent(&mut script);
    let [first, .., before, last] = times[..] else {
        panic!("{times:?}");
    };
    assert!(
        before - first < 102_200 && last - first >= 102_200,
        "{times:?}"
    );
}

/// The limit starts over with each new byte that is acknowledged.
#[test]
fn progress_renews_patience() {
    let mut script = Script::established(&plain());
    for acknowledged in [101, 201, 301] {
        script.connection.write(100);
        script.say();
        let begun = script.now;
        while script.now - begun < Duration::from_secs(800) {
            let next = script.next_ms().expect("a timer");
            script.at(next).wake();
        }
        script.take(peer(Flags::ACK, 1, acknowledged));
        assert_eq!(script.state(), State::Established);
    }
}

/// RFC 9293 §3.8.6.1: a peer that answers may keep its window closed; a silent one may not.
#[test]
fn a_shut_window_is_probed_for_as_long_as_it_answers() {
    let shut = Segment {
        window: 0,
        ..peer(Flags::ACK, 1, 1)
    };
    let shut_up = || {
        let mut script = Script::established(&plain());
        script.take(shut);
        script.connection.write(100);
        script.say();
        script
    };
    let mut script = shut_up();
    for _ in 0..100 {
        let next = script.next_ms().expect("a probe");
        assert_eq!(script.at(next).wake(), ["A 0:0 ack 1"]);
        script.take(shut);
    }
    let mut script = shut_up();
    let times = wake_until_silent(&mut script);
    let [first, .., before, last] = times[..] else {
        panic!("{times:?}");
    };
    assert!(
        before - first < 924_600 && last - first >= 924_600,
        "{times:?}"
    );
    assert_eq!(script.connection.end(), Some(End::TimedOut));
    // However often they are sent: answers to bare probes are rate-limited.
    let mut config = plain();
    config.timeout.back_off = false;
    config.timeout.min = milliseconds(1);
    let mut script = Script::established(&config);
    script.take(shut);
    script.connection.write(100);
    script.say();
    for _ in 0..100 {
        let next = script.next_ms().expect("a probe");
        script.at(next).wake();
    }
    assert_eq!(script.state(), State::Established);
}

/// Attempts made before the window closed do not count once it has reopened, however little: in
/// between nothing was retransmitted.
#[test]
fn a_window_that_was_shut_renews_patience() {
    for opened in [50, 1000] {
        let mut script = Script::established(&plain());
        script.connection.write(100);
        script.say();
        let next = script.next_ms().expect("a retransmission");
        assert_eq!(script.at(next).wake(), ["PA 1:101 ack 1"]);
        let window = |window| Segment {
            window,
            ..peer(Flags::ACK, 1, 1)
        };
        script.take(window(0));
        let begun = script.now;
        while script.now - begun < Duration::from_secs(1000) {
            let next = script.next_ms().expect("a probe");
            script.at(next).wake();
            script.take(window(0));
        }
        script.take(window(opened));
        let opened_at = script.now;
        let times = wake_until_silent(&mut script);
        let last = times.last().copied().unwrap_or(0);
        assert_eq!(script.connection.end(), Some(End::TimedOut));
        let patience = Instant::ZERO + milliseconds(last) - opened_at;
        assert!(patience >= milliseconds(924_600), "{patience:?}");
    }
}

/// TCP_USER_TIMEOUT: to the nanosecond, for data sent and for data that the window holds back.
#[test]
fn the_application_may_have_less_patience() {
    let mut script = Script::established(&plain());
    script
        .connection
        .set_user_timeout(Some(Duration::from_secs(3)));
    assert_eq!(script.next_ms(), None, "nothing is waited for");
    script.connection.write(100);
    script.say();
    let first = script.next_ms().expect("a timeout");
    script.at(first).wake();
    wake_until_silent(&mut script);
    assert_eq!(script.now, Instant::ZERO + milliseconds(first + 3000));
    assert_eq!(script.connection.end(), Some(End::TimedOut));

    let shut = Segment {
        window: 0,
        ..peer(Flags::ACK, 1, 1)
    };
    let mut script = Script::established(&plain());
    script
        .connection
        .set_user_timeout(Some(Duration::from_secs(3)));
    script.take(shut);
    script.connection.write(100);
    script.say();
    let first = script.next_ms().expect("a probe");
    let mut now = first;
    while script.state() == State::Established {
        script.at(now).wake();
        // The answers are not progress.
        script.take(shut);
        now = script.next_ms().unwrap_or(now);
    }
    assert_eq!(script.now, Instant::ZERO + milliseconds(first + 3000));
}
