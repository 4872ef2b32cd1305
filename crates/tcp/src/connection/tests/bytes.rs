//! The bytes reported as accepted, and the demands of a real network on a connection.

use std::sync::Arc;

use super::*;
use crate::observer::{Accepted, Insight, Observer};

/// Records the bytes accepted.
#[derive(Default)]
struct Notes(Vec<Accepted>);

impl Insight for Notes {}

impl Observer for Notes {
    fn event(&mut self, _now: Instant, _event: Event) {}

    fn accepted(&mut self, accepted: Accepted) {
        self.0.push(accepted);
    }
}

/// The parts of `segments` that a server accepts: offsets, and their places in the segment.
fn accepted(config: &Config, segments: &[Segment]) -> Vec<(std::ops::Range<u64>, usize)> {
    let mut connection = Script::established(config).connection;
    let mut notes = Notes::default();
    for segment in segments {
        connection.handle(Instant::ZERO, segment, &mut notes);
    }
    let told = notes.0.into_iter();
    told.map(|accepted| (accepted.range, accepted.skipped))
        .collect()
}

/// RFC 9293 §3.10.7.4: data is trimmed to the window, and data already received in order is not
/// accepted twice.
#[test]
fn what_is_accepted_is_what_is_new_and_fits() {
    let config = plain();
    // The buffer takes 10 000 bytes.
    let cases = [
        (vec![data(1, 100, 1)], vec![(0..100, 0)]),
        (
            vec![data(1, 100, 1), data(51, 100, 1)],
            vec![(0..100, 0), (100..150, 50)],
        ),
        (vec![data(1, 100, 1), data(1, 100, 1)], vec![(0..100, 0)]),
        (
            vec![data(301, 100, 1), data(1, 400, 1)],
            vec![(300..400, 0), (0..400, 0)],
        ),
        (vec![data(9901, 200, 1)], vec![(9900..10_000, 0)]),
        (vec![data(20_001, 100, 1)], vec![]),
        // An acknowledgment of data never sent: the segment is not accepted.
        (vec![data(1, 100, 5000)], vec![]),
    ];
    for (segments, expected) in cases {
        assert_eq!(accepted(&config, &segments), expected, "{segments:?}");
    }
}

/// After a FIN nothing counts.
#[test]
fn nothing_is_accepted_behind_a_fin() {
    let fin = Segment {
        flags: Flags::ACK | Flags::FIN,
        ..data(101, 100, 1)
    };
    let told = accepted(&plain(), &[fin, data(151, 100, 1), data(1, 300, 1)]);
    assert_eq!(told, [(100..200, 0), (150..200, 0), (0..200, 0)]);
}

/// A polled segment carries the bytes that its sequence number denotes.
#[test]
fn a_polled_segment_says_which_bytes_it_carries() {
    let mut script = Script::established(&plain());
    script.connection.write(2500);
    let mut ranges = Vec::new();
    while let Some(segment) = script.connection.poll(Instant::ZERO) {
        ranges.push(script.connection.payload_of(&segment));
    }
    assert_eq!(ranges, [0..1000, 1000..2000, 2000..2500]);
}

/// A SYN-ACK sent without keeping state: the acknowledgment opens the connection as usual, and
/// gives no sample.
#[test]
fn an_answer_that_was_not_remembered_opens_the_connection() {
    let now = Instant::ZERO + milliseconds(5000);
    let config = Arc::new(plain());
    let mut connection = Connection::answered(config, OURS, now, &syn(Flags::SYN, 0));
    assert_eq!(connection.poll(now), None, "it was sent");
    assert_eq!(connection.next_wakeup(), Instant::FAR_FUTURE);
    connection.handle(now, &data(1, 10, 1), &mut ());
    assert_eq!(connection.state(), State::Established);
    assert_eq!(connection.receiver().received(), 10);
    assert_eq!(connection.sender().rtt().srtt(), None);
    assert_eq!(connection.sender().mss(), 1000);
}

/// RFC 1191: segments that were too large are cut and retransmitted, the FIN after them, and the
/// windows stay.
#[test]
fn segments_are_cut_to_what_the_path_takes() {
    let mut script = Script::established(&plain());
    script.connection.write(2500);
    script.connection.close();
    let now = Instant::ZERO + milliseconds(10);
    let mut sent = Vec::new();
    while let Some(segment) = script.connection.poll(now) {
        sent.push(text(&segment));
    }
    assert_eq!(
        sent,
        ["A 1:1001 ack 1", "A 1001:2001 ack 1", "FPA 2001:2502 ack 1"]
    );
    let cwnd = script.connection.sender().cwnd();
    // Concerning data never sent, and data that was.
    assert!(!script.connection.on_packet_too_big(OURS + 9000, 620));
    assert!(script.connection.on_packet_too_big(OURS + 1, 620));
    assert_eq!(script.connection.sender().mss(), 600);
    let mut again = Vec::new();
    while let Some(segment) = script.connection.poll(now) {
        again.push(text(&segment));
    }
    let expected = [
        "A 1:601 ack 1",
        "A 601:1001 ack 1",
        "A 1001:1601 ack 1",
        "A 1601:2001 ack 1",
    ];
    assert_eq!(again, expected, "what fits is still on its way");
    assert_eq!(script.connection.sender().cwnd(), cwnd);
    assert_eq!(script.connection.sender().ssthresh(), None);
}

/// RFC 5927 §5.2: a hard error ends only a connection that is being opened, and only with its
/// sequence number.
#[test]
fn unreachable_ends_only_what_is_being_opened() {
    let mut connection = Connection::connect(&plain(), OURS);
    let _ = connection.poll(Instant::ZERO);
    connection.on_unreachable(OURS + 1);
    assert_eq!(connection.state(), State::SynSent);
    connection.on_unreachable(OURS);
    assert_eq!(connection.end(), Some(End::Refused));
    let mut script = Script::established(&plain());
    script.connection.on_unreachable(OURS);
    assert_eq!(script.connection.state(), State::Established);
}

/// RFC 9293 §3.8.4: a keep-alive probe carries the number before the next, so that the peer
/// answers.
#[test]
fn a_keep_alive_probe_stands_below_the_window() {
    let mut script = Script::established(&plain());
    script.connection.probe();
    let probe = script.connection.poll(Instant::ZERO).unwrap();
    assert_eq!(text(&probe), "A 0:0 ack 1");
    assert_eq!(script.connection.poll(Instant::ZERO), None);
    script.connection.give_up(Instant::ZERO);
    assert_eq!(script.connection.end(), Some(End::TimedOut));
    let reset = script.connection.poll(Instant::ZERO).unwrap();
    assert_eq!(text(&reset), "RA 1:1 ack 1");
}
