//! Freeze-TCP on the wire: windows and copies; messages from the link.

use airtcp_packet::LinkFeedback;

use super::*;

/// Segments sent now, with their windows.
fn windows(script: &mut Script) -> Vec<(String, u16)> {
    let segments = script.segments();
    segments
        .iter()
        .map(|segment| (text(segment), segment.window))
        .collect()
}

fn ack(number: u32, window: u16) -> (String, u16) {
    (format!("A 1:1 ack {number}"), window)
}

/// Goff et al. §3: window 0 at once; arriving data is accepted and acknowledged with window 0;
/// three copies with the true window, 10 000 less the 1500 unread bytes.
#[test]
fn a_frozen_receiver_announces_nothing_and_takes_what_comes() {
    let mut script = Script::established(&plain());
    script.take(data(1, 1000, 1));
    script.connection.freeze(script.now);
    assert!(script.connection.is_frozen());
    assert_eq!(windows(&mut script), [ack(1001, 0)]);
    script.connection.freeze(script.now);
    assert_eq!(windows(&mut script), [], "once is enough");
    script.handle(data(1001, 500, 1));
    assert_eq!(windows(&mut script), [ack(1501, 0)]);
    // A probe just below the expected byte.
    script.handle(peer(Flags::ACK, 1500, 1));
    assert_eq!(windows(&mut script), [ack(1501, 0)]);
    script.connection.thaw(script.now);
    assert!(!script.connection.is_frozen());
    assert_eq!(
        windows(&mut script),
        [8500; 3].map(|window| ack(1501, window))
    );
    script.connection.thaw(script.now);
    assert_eq!(windows(&mut script), []);
}

/// A read during the freeze shows only after it.
#[test]
fn reading_does_not_thaw() {
    let mut script = Script::established(&plain());
    script.take(data(1, 9500, 1));
    script.connection.freeze(script.now);
    script.segments();
    assert_eq!(script.connection.read(u64::MAX), 9500);
    assert!(windows(&mut script).iter().all(|(_, window)| *window == 0));
    script.connection.thaw(script.now);
    assert_eq!(
        windows(&mut script),
        [10_000; 3].map(|window| ack(9501, window))
    );
}

/// Opening a closed window asks for one acknowledgment, not for one for each read.
#[test]
fn a_frozen_receiver_does_not_repeat_itself() {
    let mut script = Script::established(&plain());
    script.connection.freeze(script.now);
    script.take(data(1, 10_000, 1));
    script.connection.read(u64::MAX);
    assert_eq!(windows(&mut script), [ack(10_001, 0)]);
    script.connection.read(u64::MAX);
    assert_eq!(windows(&mut script), []);
}

/// A freeze that begins before the copies have left cancels them; our data announces a zero window
/// too; the copies go ahead of data.
#[test]
fn data_of_ours_says_the_same() {
    let mut script = Script::established(&plain());
    script.connection.freeze(script.now);
    script.segments();
    script.connection.thaw(script.now);
    script.connection.freeze(script.now);
    script.connection.write(10);
    assert_eq!(windows(&mut script), [("PA 1:11 ack 1".to_owned(), 0)]);
    script.connection.thaw(script.now);
    script.connection.write(10);
    let said: Vec<_> = windows(&mut script)
        .into_iter()
        .map(|(said, _)| said)
        .collect();
    assert_eq!(
        said,
        [
            "A 11:11 ack 1",
            "A 11:11 ack 1",
            "A 11:11 ack 1",
            "PA 11:21 ack 1"
        ]
    );
}

/// The SYN of a frozen endpoint announces no window; before it there is nobody to send copies to.
#[test]
fn a_freeze_may_come_before_the_handshake() {
    let mut script = Script::connect(&plain());
    script.connection.freeze(script.now);
    assert_eq!(windows(&mut script), [("S 0:1".to_owned(), 0)]);
    assert_eq!(
        script.take(syn(Flags::SYN | Flags::ACK, 1)),
        ["A 1:1 ack 1"]
    );
    script.connection.thaw(script.now);
    assert_eq!(
        windows(&mut script),
        [10_000; 3].map(|window| ack(1, window))
    );
    script.connection.abort(script.now);
    script.segments();
    script.connection.freeze(script.now);
    script.connection.thaw(script.now);
    assert_eq!(windows(&mut script), [], "nobody is left to tell");
}

/// The copies SACK the data after a gap, as the last acknowledgment did.
#[test]
fn the_copies_report_gaps() {
    let mut script = Script::listen(&Config {
        sack: true,
        ..plain()
    });
    script.take(Segment {
        sack_permitted: true,
        ..syn(Flags::SYN, 0)
    });
    script.take(peer(Flags::ACK, 1, 1));
    assert_eq!(script.take(data(501, 500, 1)), ["A 1:1 ack 1 501-1001"]);
    script.connection.freeze(script.now);
    assert_eq!(script.say(), ["A 1:1 ack 1 501-1001"]);
    script.connection.thaw(script.now);
    assert_eq!(script.say(), ["A 1:1 ack 1 501-1001"; 3]);
}

/// RFC 9293 §3.8.6: a window that shrinks to zero is probed. The probe is below the first
/// unacknowledged byte: at 1500 of 1001..3001 sent it would be inside the window of a peer that
/// lacks all of it, and get no answer.
#[test]
fn a_probe_asks_below_what_is_outstanding() {
    let mut script = Script::established(&plain());
    script.connection.write(3000);
    script.segments();
    script.at(100);
    script.take(Segment {
        window: 0,
        ..peer(Flags::ACK, 1, 1001)
    });
    let due = script.next_ms().expect("a timer runs");
    assert_eq!(script.at(due).wake(), ["A 1000:1000 ack 1"]);
    assert_eq!(script.connection.sender().counters().timeouts, 0);
}

/// Bakshi et al. 1997 §5: only the timer restarts. The handshake measured 0 ms: the RTO is the
/// floor.
#[test]
fn a_message_of_a_bad_link_moves_the_timer_alone() {
    let mut script = Script::established(&plain());
    let tell = |script: &mut Script, feedback| {
        script
            .connection
            .on_feedback(script.now, &feedback, &mut ());
    };
    tell(&mut script, LinkFeedback::BadState);
    assert_eq!(script.next_ms(), None);
    script.connection.write(10);
    script.segments();
    assert_eq!(script.next_ms(), Some(200));
    script.at(150);
    let before = format!("{:?}", script.connection.sender().rtt());
    let delivered = LinkFeedback::Delivered {
        sequence: OURS + 1,
        retransmissions: 2,
    };
    tell(&mut script, delivered);
    assert_eq!(script.next_ms(), Some(200));
    tell(&mut script, LinkFeedback::BadState);
    assert_eq!(script.next_ms(), Some(350));
    assert_eq!(format!("{:?}", script.connection.sender().rtt()), before);
    assert_eq!(script.say(), NOTHING);
}

/// 1360 bytes on a 64-bit machine, including 16 that switch off duplicate counting and window
/// tuning: a freeze's two bytes fit into the padding.
#[test]
fn a_freeze_costs_no_memory() {
    assert!(
        size_of::<Connection>() <= 1360,
        "{}",
        size_of::<Connection>()
    );
}
