//! RFC 9293 §3.10.7.4 and RFC 5961, once both sides know each other.

use super::*;

/// RFC 5961 §3.2: only the exact next byte resets.
#[test]
fn a_reset_must_be_exact() {
    let mut script = Script::established(&plain());
    assert_eq!(
        script.take(peer(Flags::RST, 2, 0)),
        ["A 1:1 ack 1"],
        "in the window: challenged"
    );
    assert_eq!(script.take(peer(Flags::RST, 0, 0)), NOTHING, "below it");
    assert_eq!(
        script.take(peer(Flags::RST, 10_002, 0)),
        NOTHING,
        "above it"
    );
    assert_eq!(
        (script.state(), script.take_events()),
        (State::Established, vec![])
    );
    assert_eq!(script.take(peer(Flags::RST, 1, 0)), NOTHING);
    assert_eq!(
        (script.state(), script.take_events()),
        (State::Closed, vec![Event::Reset])
    );
    assert_eq!((script.next_ms(), script.say().len()), (None, 0));
}

/// Linux, `tcp_validate_incoming`: a peer with lost segments resets from the end of the data it has
/// sent. At our side that is the highest byte SACKed; any other is challenged, and so is this one
/// if ranges are not reported.
#[test]
fn a_reset_from_the_end_of_what_was_reported_resets() {
    for (sack, at, resets) in [
        (true, 301, true),
        (true, 201, false),
        (true, 302, false),
        (false, 301, false),
    ] {
        let mut script = Script::listen(&Config { sack, ..plain() });
        script.take(Segment {
            sack_permitted: sack,
            ..syn(Flags::SYN, 0)
        });
        script.take(peer(Flags::ACK, 1, 1));
        script.take(data(101, 100, 1));
        script.take(data(201, 100, 1));
        script.take(peer(Flags::RST, at, 0));
        assert_eq!(script.state() == State::Closed, resets, "{sack} {at}");
    }
}

/// Linux, `tcp_reset_check`: some peers do not count their FIN when they reset.
#[test]
fn a_reset_from_the_peers_fin_resets() {
    let mut script = Script::established(&plain());
    script.take(peer(Flags::RST, 0, 0));
    assert_eq!(script.state(), State::Established, "below the next byte");
    script.take(peer(Flags::FIN | Flags::ACK, 1, 1));
    assert_eq!(script.state(), State::CloseWait);
    script.take(peer(Flags::RST, 1, 0));
    assert_eq!(script.state(), State::Closed);
}

/// RFC 9293 §3.5.1: a peer that crashed and comes back discovers it, and resets.
#[test]
fn a_half_open_connection_is_found() {
    let mut script = Script::established(&plain());
    let again = Segment {
        sequence: PEERS + 50_000,
        ..syn(Flags::SYN, 0)
    };
    assert_eq!(script.take(again), ["A 1:1 ack 1"], "RFC 5961 §4.2");
    assert_eq!(script.state(), State::Established);
    // The peer, in SYN-SENT, resets the connection acknowledged by that.
    script.take(peer(Flags::RST, 1, 0));
    assert_eq!(script.state(), State::Closed);
    // A reset with a SYN is a reset.
    let mut script = Script::established(&plain());
    script.take(peer(Flags::RST | Flags::SYN, 1, 0));
    assert_eq!(script.state(), State::Closed);
}

/// First check: a segment outside the window is answered and not accepted.
#[test]
fn data_outside_the_window_is_answered() {
    let mut script = Script::established(&plain());
    assert_eq!(script.take(data(1, 500, 1)), ["A 1:1 ack 501"]);
    assert_eq!(
        script.take(data(1, 500, 1)),
        ["A 1:1 ack 501"],
        "received before"
    );
    assert_eq!(script.connection.receiver().duplicates(), 1);
    assert_eq!(
        script.take(data(10_002, 500, 1)),
        ["A 1:1 ack 501"],
        "behind the window"
    );
    assert_eq!(
        script.take(peer(Flags::ACK, 500, 1)),
        ["A 1:1 ack 501"],
        "a window probe"
    );
    assert_eq!(
        script.connection.receiver().duplicates(),
        1,
        "no data, no duplicate"
    );
    assert_eq!(script.connection.read(u64::MAX), 500);
}

/// A segment across the window's edges is trimmed to it.
#[test]
fn data_across_an_edge_is_cut() {
    let mut script = Script::established(&Config {
        receive_buffer: 1000,
        ..plain()
    });
    assert_eq!(script.take(data(1, 600, 1)), ["A 1:1 ack 601"]);
    assert_eq!(script.take(data(301, 500, 1)), ["A 1:1 ack 801"]);
    // A FIN after bytes that do not fit does not count.
    let beyond = Segment {
        flags: Flags::ACK | Flags::FIN,
        ..data(801, 500, 1)
    };
    assert_eq!(script.take(beyond), ["A 1:1 ack 1001"]);
    assert_eq!(script.state(), State::Established);
    assert_eq!(script.connection.receiver().received(), 1000);
    // A FIN after bytes that just fit does.
    script.connection.read(1000);
    script.say();
    let fits = Segment {
        flags: Flags::ACK | Flags::FIN,
        ..data(1001, 1000, 1)
    };
    assert_eq!(script.take(fits), ["A 1:1 ack 2002"]);
    assert_eq!(script.state(), State::CloseWait);
}

/// While the window is closed only acknowledgments and a FIN are accepted.
#[test]
fn a_closed_window_takes_acknowledgments_and_a_fin() {
    let mut script = Script::established(&Config {
        receive_buffer: 1000,
        ..plain()
    });
    script.connection.write(300);
    assert_eq!(script.say(), ["PA 1:301 ack 1"]);
    assert_eq!(script.take(data(1, 1000, 1)), ["A 301:301 ack 1001"]);
    assert_eq!(script.take(data(1001, 1, 101)), ["A 301:301 ack 1001"]);
    assert_eq!(
        script.connection.sender().una(),
        100,
        "its acknowledgment counts"
    );
    assert_eq!(script.take(peer(Flags::ACK, 1001, 201)), NOTHING);
    assert_eq!(script.connection.sender().una(), 200);
    assert_eq!(
        script.take(peer(Flags::FIN | Flags::ACK, 1001, 301)),
        ["A 301:301 ack 1002"]
    );
    assert_eq!(
        (script.state(), script.connection.sender().una()),
        (State::CloseWait, 300)
    );
    assert_eq!(script.connection.read(u64::MAX), 1000);
}

/// A peer that has filled our window acknowledges from its edge.
#[test]
fn an_acknowledgment_from_the_right_edge_counts() {
    let mut script = Script::established(&Config {
        receive_buffer: 1000,
        ..plain()
    });
    script.connection.write(300);
    script.say();
    assert_eq!(script.take(peer(Flags::ACK, 1001, 301)), NOTHING);
    assert_eq!(script.connection.sender().una(), 300);
    script.connection.write(300);
    script.say();
    assert_eq!(
        script.take(peer(Flags::ACK, 1002, 601)),
        ["A 601:601 ack 1"],
        "and not beyond"
    );
    assert_eq!(script.connection.sender().una(), 300);
}

/// Fifth check: an acknowledgment of data never sent is answered, and the segment not accepted.
#[test]
fn an_acknowledgment_of_what_was_never_sent_is_answered() {
    let mut script = Script::established(&plain());
    assert_eq!(script.take(data(1, 100, 2)), ["A 1:1 ack 1"]);
    assert_eq!(script.connection.receiver().received(), 0);
    // Without ACK nothing is accepted.
    assert_eq!(
        script.take(Segment {
            flags: Flags::PSH,
            ..data(1, 100, 1)
        }),
        NOTHING
    );
    assert_eq!(script.connection.receiver().received(), 0);
}

/// SND.WL1 and SND.WL2: only a newer segment sets the window.
#[test]
fn an_older_segment_does_not_set_the_window() {
    let mut script = Script::established(&plain());
    script.connection.write(3000);
    script.say();
    let window = |window, segment| Segment { window, ..segment };
    let edge = |script: &Script| script.connection.sender().right_edge();
    script.take(window(5000, data(1, 100, 1)));
    assert_eq!(edge(&script), 5000);
    script.take(window(7000, peer(Flags::ACK, 101, 1001)));
    assert_eq!(edge(&script), 8000);
    script.take(window(100, peer(Flags::ACK, 101, 1)));
    assert_eq!(edge(&script), 8000, "an older acknowledgment");
    script.take(window(100, data(51, 100, 2001)));
    assert_eq!(
        (edge(&script), script.connection.sender().una()),
        (8000, 2000),
        "an older sequence"
    );
    script.take(window(9000, data(151, 100, 2001)));
    assert_eq!(edge(&script), 11_000, "newer");
    script.take(window(9500, peer(Flags::ACK, 251, 2001)));
    script.take(window(9600, peer(Flags::ACK, 251, 2001)));
    assert_eq!(edge(&script), 11_600, "the same, and another window");
    // A newer sequence number with an outdated acknowledgment.
    script.take(window(100, peer(Flags::ACK, 261, 1001)));
    assert_eq!(edge(&script), 11_600);
}

/// RFC 9293 §3.8.6.1: the probe is below the window, so that it must be answered, and nothing else
/// in it is read.
#[test]
fn a_probe_neither_acknowledges_nor_offers_anything() {
    let delayed_ack = DelayedAckConfig {
        timeout: milliseconds(250),
        ..DelayedAckConfig::default()
    };
    let mut script = Script::established(&Config {
        delayed_ack,
        ..plain()
    });
    script.connection.write(10);
    script.take(Segment {
        window: 0,
        ..peer(Flags::ACK, 1, 1)
    });
    let closed = |segment| Segment {
        window: 0,
        ..segment
    };
    assert_eq!(script.take(peer(Flags::ACK, 1, 1)), ["PA 1:11 ack 1"]);
    script.connection.write(10);
    assert_eq!(script.take(closed(peer(Flags::ACK, 1, 11))), NOTHING);
    let due = script.next_ms().expect("a probe");
    script.at(due - 10).take(closed(data(1, 1000, 11)));
    let restarted = script.next_ms().expect("a probe");
    assert_eq!(
        restarted,
        due - 10 + 200,
        "the window is still closed, and the acknowledgment waits longer than the probe"
    );
    let due = restarted;
    assert_eq!(script.at(due).wake(), ["A 10:10 ack 1001"]);
    assert_eq!(script.next_ms(), Some(due + 50));
    assert_eq!(
        script.at(due + 50).wake(),
        ["A 11:11 ack 1001"],
        "it was not forgotten"
    );
    assert_eq!(script.take_events().last(), Some(&Event::WindowProbe));
    // Before the first byte the number below is the SYN's.
    let mut script = Script::established(&plain());
    script.take(closed(peer(Flags::ACK, 1, 1)));
    script.connection.write(10);
    script.say();
    let due = script.next_ms().expect("a probe");
    assert_eq!(script.at(due).wake(), ["A 0:0 ack 1"]);
}

/// The peer does not know a window that only the probe announced.
#[test]
fn a_window_that_opens_is_told_whatever_a_probe_said() {
    let mut script = Script::established(&Config {
        receive_buffer: 2000,
        ..plain()
    });
    script.connection.write(10);
    script.say();
    script.take(Segment {
        window: 0,
        ..data(1, 2000, 1)
    });
    let due = script.next_ms().expect("a timer");
    script.take(Segment {
        window: 0,
        ..peer(Flags::ACK, 2001, 11)
    });
    script.connection.write(10);
    script.say();
    let probe_due = script.next_ms().expect("a probe").max(due);
    script.connection.read(999);
    assert_eq!(script.at(probe_due).wake(), ["A 10:10 ack 2001"]);
    script.connection.read(1);
    assert_eq!(script.say(), ["A 11:11 ack 2001"]);
}

/// SACK blocks of data never sent, or empty ones, are ignored.
#[test]
fn impossible_reports_are_ignored() {
    let config = Config {
        sack: true,
        ..plain()
    };
    let mut script = Script::listen(&config);
    script.take(Segment {
        sack_permitted: true,
        ..syn(Flags::SYN, 0)
    });
    script.take(peer(Flags::ACK, 1, 1));
    script.connection.write(5000);
    assert_eq!(script.say().len(), 5);
    let report = |blocks: &[(u32, u32)]| {
        let mut tail = TailOptions::default();
        for &(start, end) in blocks {
            tail.push(SackBlock {
                start: OURS + start,
                end: OURS + end,
            });
        }
        Segment {
            tail,
            ..peer(Flags::ACK, 1, 1)
        }
    };
    script.take(report(&[
        (2001, 6001),
        (4001, 4001),
        (4001, 3001),
        (0x9000_0000, 1),
    ]));
    assert_eq!(script.connection.sender().in_flight(), 5000);
    script.take(report(&[(2001, 6001), (4001, 5001)]));
    assert_eq!(script.connection.sender().in_flight(), 4000);
}

/// SACK blocks go ahead of data, which has no room for them.
#[test]
fn reports_go_ahead_of_data() {
    let config = Config {
        sack: true,
        ..plain()
    };
    let mut script = Script::listen(&config);
    script.take(Segment {
        sack_permitted: true,
        ..syn(Flags::SYN, 0)
    });
    script.take(peer(Flags::ACK, 1, 1));
    script.connection.write(1500);
    script.say();
    script.connection.write(10);
    let answers = script.take(data(501, 500, 1501));
    assert_eq!(
        answers,
        ["A 1501:1501 ack 1 501-1001", "PA 1501:1511 ack 1"]
    );
    script.connection.write(10);
    let answers = script.take(data(1, 500, 1511));
    assert_eq!(
        answers,
        ["PA 1511:1521 ack 1001"],
        "nothing to report: data acknowledges"
    );
}

/// At most three ranges fit with timestamps, four without (RFC 2018 §3).
#[test]
fn ranges_are_as_many_as_fit() {
    for (timestamps, most) in [(true, 3), (false, 4)] {
        let config = Config {
            sack: true,
            timestamps,
            ..plain()
        };
        let stamps = timestamps.then_some(Timestamps { value: 9, echo: 1 });
        let stamped = |segment| Segment {
            timestamps: stamps,
            ..segment
        };
        let mut script = Script::listen(&config);
        script.take(stamped(Segment {
            sack_permitted: true,
            ..syn(Flags::SYN, 0)
        }));
        script.take(stamped(peer(Flags::ACK, 1, 1)));
        let mut last = Segment::default();
        for number in 1..6 {
            script.handle(stamped(data(1 + number * 1000, 500, 1)));
            last = script.segments()[0];
        }
        assert_eq!(
            (last.tail.blocks().len(), last.sack_blocks_on_wire()),
            (most, most)
        );
    }
}

/// A window smaller than the field's unit is zero to the peer, so its opening must be announced.
#[test]
fn a_window_that_the_field_cannot_tell_is_closed() {
    let config = Config {
        mss: 10,
        receive_buffer: 1 << 20,
        ..plain()
    };
    let mut script = Script::listen(&config);
    script.take(Segment {
        window_scale: Some(0),
        ..syn(Flags::SYN, 0)
    });
    script.take(peer(Flags::ACK, 1, 1));
    script.handle(data(1, (1 << 20) - 31, 1));
    assert_eq!(script.segments()[0].window, 0, "31 bytes in units of 32");
    script.connection.read(31);
    assert_eq!(script.segments(), []);
    script.connection.read(1);
    assert_eq!(script.segments()[0].window, 1, "63 bytes");
}
