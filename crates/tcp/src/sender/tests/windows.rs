//! The two windows: growth (RFC 5681 §3.1, RFC 3465, RFC 7661 §4.1), and the peer's (RFC 9293
//! §3.8.6).

use super::*;

/// RFC 5681 §3.1 with byte counting: one segment for each acknowledged, at most two for one
/// acknowledgment (RFC 3465 §2.3, L = 2).
#[test]
fn slow_start_doubles_the_window_each_round_trip() {
    let config = Config {
        initial_window: 2,
        initial_ssthresh: None,
        ..plain()
    };
    let mut trace = Trace::new(config);
    trace.write(100);
    assert_eq!(trace.poll(), "0 1");
    assert_eq!(trace.ack(1), "2 3");
    assert_eq!(trace.ack(2), "4 5");
    assert_eq!(trace.ack(6), "6 7 8 9 10 11");
    assert_eq!(trace.cwnd(), 6 * MSS);
}

#[test]
fn congestion_avoidance_adds_one_segment_a_window() {
    let mut trace = Trace::new(plain());
    trace.write(100).poll();
    for segment in 1..=9 {
        assert_eq!(trace.ack(segment), (segment + 9).to_string());
    }
    assert_eq!(trace.ack(10), "19 20");
    assert_eq!(trace.cwnd(), 11 * MSS);
}

/// RFC 3465 §2.3: one segment per acknowledgment during the recovery from a timeout.
#[test]
fn slow_start_after_a_timeout_counts_one_segment_an_acknowledgment() {
    let mut trace = Trace::new(plain());
    trace.write(100).poll();
    trace.at(300).wake();
    trace.poll();
    assert_eq!(trace.ack(4), "4* 5*");
    assert_eq!(trace.ack(10), "10 11 12");
    assert_eq!(trace.ack(12), "13 14 15 16", "and two again afterwards");
}

/// RFC 7661 §4.1: an unused window has not been tested.
#[test]
fn a_window_that_was_not_filled_does_not_grow() {
    let config = Config {
        initial_ssthresh: None,
        ..plain()
    };
    let mut trace = Trace::new(config);
    trace.write(9);
    assert_eq!(trace.poll(), "0 1 2 3 4 5 6 7 8");
    trace.ack(2);
    trace.ack(9);
    assert_eq!(trace.cwnd(), 10 * MSS, "nine of ten were in flight");
    trace.sender.write(9 * MSS + 1);
    assert_eq!(trace.poll(), "9 10 11 12 13 14 15 16 17 18(1)");
    trace.ack(10);
    assert_eq!(
        trace.cwnd(),
        11 * MSS,
        "not room for a segment more was left"
    );
}

#[test]
fn the_window_can_be_capped() {
    let config = Config {
        max_window: Some(4),
        ..plain()
    };
    let mut trace = Trace::new(config);
    trace.write(100);
    assert_eq!(trace.poll(), "0 1 2 3");
    assert_eq!(trace.ack(4), "4 5 6 7");
}

/// RFC 9293 §3.8.6.2.1: not less than a segment because the peer's window has no more room, whether
/// or not anything is in flight.
#[test]
fn does_not_fill_a_silly_window() {
    let mut trace = Trace::new(plain());
    trace.window(2 * MSS + 400).write(5);
    assert_eq!(trace.poll(), "0 1");
    trace.at(100);
    assert_eq!(trace.ack(1), "", "400 bytes of window");
    trace.right_edge += MSS - 401;
    assert_eq!(trace.ack(1), "", "999");
    trace.right_edge += 1;
    assert_eq!(trace.ack(1), "2");
    trace.right_edge += 10;
    assert_eq!(trace.ack(3), "", "nothing is on its way");
    trace.window(100 * MSS);
    assert_eq!(trace.poll(), "3 4");
}

/// RFC 9293 §3.8.6.1: probes after one RTO, then with backoff, for as long as the window is closed.
#[test]
fn a_closed_window_is_probed() {
    let mut trace = Trace::new(plain());
    trace.window(2 * MSS).write(5);
    assert_eq!(trace.poll(), "0 1");
    trace.at(100);
    assert_eq!(trace.ack(1), "");
    assert_eq!(
        trace.next_ms(),
        Some(100 + trace.rto_ms()),
        "data is out: its timer is enough"
    );
    assert_eq!(trace.ack(2), "");
    let rto = trace.sender.rto();
    for doublings in 0..12 {
        let (waited, is_probe) = trace.wake_when_due();
        assert_eq!(
            waited,
            (rto * (1 << doublings)).min(Duration::from_secs(60))
        );
        assert!(is_probe);
        assert_eq!(trace.poll(), "");
        // Its answer: the window is still closed.
        trace.ack(2);
    }
    assert_eq!(trace.sender.counters().window_probes, 12);
    assert_eq!(trace.sender.counters().timeouts, 0);
    assert_eq!(trace.take_events().last(), Some(&Event::WindowProbe));
    trace.window(4 * MSS);
    assert_eq!(trace.poll(), "2 3");
    assert_eq!(trace.cwnd(), 10 * MSS, "a closed window is no congestion");
    // The next time it starts over.
    trace.ack(4);
    let rto = trace.sender.rto();
    assert_eq!(trace.wake_when_due(), (rto, true));
}

/// The first probe is sent one RTO after the window closed, however often the sender is polled in
/// vain.
#[test]
fn asking_does_not_put_a_probe_off() {
    let mut trace = Trace::new(plain());
    trace.window(0).write(1).poll();
    assert_eq!(trace.next_ms(), Some(300));
    trace.at(200).poll();
    assert_eq!(trace.next_ms(), Some(300));
}

/// A FIN takes a byte of the window (RFC 9293 §3.4), and waits for it like data.
#[test]
fn a_fin_waits_for_the_window() {
    let mut trace = Trace::new(plain());
    trace.window(MSS).write(1);
    trace.sender.close();
    assert_eq!(trace.poll(), "0");
    trace.at(100).ack(1);
    assert_eq!(trace.poll(), "");
    let due = trace.next_ms().expect("a probe");
    assert!(trace.at(due).wake());
    trace.window(MSS + 1);
    assert_eq!(trace.poll(), "1(0)F");
    trace.ack_bytes(MSS + 1);
    assert!(trace.sender.is_finished());
    assert_eq!(trace.next_ms(), None);
}

/// A window that shrinks revokes nothing already sent, and allows nothing new.
#[test]
fn a_window_may_shrink() {
    let mut trace = Trace::new(plain());
    trace.write(20);
    assert_eq!(trace.poll(), "0 1 2 3 4 5 6 7 8 9");
    trace.right_edge = 3 * MSS;
    trace.at(100);
    assert_eq!(trace.ack(5), "");
    assert_eq!(trace.sender.right_edge(), 3 * MSS);
    trace.right_edge = 12 * MSS;
    assert_eq!(trace.ack(6), "10 11");
}

/// An acknowledgment of data acknowledged before changes nothing.
#[test]
fn an_old_acknowledgment_is_not_taken() {
    let mut trace = Trace::new(Config {
        sack: true,
        ..plain()
    });
    trace.write(20).poll();
    trace.at(100).ack(5);
    let in_flight = trace.sender.in_flight();
    trace.sack(3, std::slice::from_ref(&(7..9)));
    assert_eq!(
        (trace.sender.una(), trace.sender.in_flight()),
        (5 * MSS, in_flight)
    );
}

/// Linux, `tcp_check_probe_timer`: corked bytes leave when the probe's timer expires, an RTO (300
/// ms) after the last outstanding data was acknowledged.
#[test]
fn a_cork_holds_for_an_rto_and_not_longer() {
    let mut trace = Trace::new(plain());
    trace.sender.set_corked(true);
    trace.write(1).sender.write(500);
    assert_eq!(trace.poll(), "0");
    assert_eq!(trace.next_ms(), Some(300), "the retransmission timer");
    assert_eq!(trace.at(100).ack(1), "");
    let rto = trace.rto_ms();
    assert_eq!(trace.next_ms(), Some(100 + rto));
    // More bytes do not restart it.
    trace.at(200).sender.write(100);
    assert_eq!(trace.poll(), "");
    assert_eq!(trace.next_ms(), Some(100 + rto));
    let (_, probes) = trace.wake_when_due();
    assert!(!probes);
    assert_eq!(trace.poll(), "1(600)");
    // The next is corked as well.
    trace.sender.write(100);
    assert_eq!(trace.poll(), "");
}

/// RFC 9293 §3.8.6.2.1: with a largest window of four segments, room for less than a segment is
/// filled only if it is two of them; ten bytes wait until there is more, at most an RTO.
#[test]
fn a_small_window_is_not_filled_at_once() {
    let mut trace = Trace::new(plain());
    trace.sender = Sender::new(&plain(), 1000);
    trace
        .sender
        .on_established(4 * MSS, Some(milliseconds(100)), None);
    trace.write(10);
    assert_eq!(trace.poll(), "0 1 2 3");
    trace.at(100);
    trace.right_edge = 4 * MSS + 10;
    assert_eq!(trace.ack(4), "");
    let rto = trace.rto_ms();
    assert_eq!(trace.next_ms(), Some(100 + rto));
    // Room for a segment: it leaves at once, and the remainder waits.
    trace.at(200).window(5 * MSS + 500);
    assert_eq!(trace.poll(), "4");
    trace.at(300);
    assert_eq!(trace.ack(5), "");
    // The window stays as small: the segment leaves after an RTO.
    trace.wake_when_due();
    assert_eq!(trace.poll(), "5(500)");
}

/// Half of the largest window is enough, even if it is less than a segment and others are in
/// flight.
#[test]
fn half_of_a_window_below_a_segment_is_filled() {
    let mut trace = Trace::new(plain());
    trace.sender = Sender::new(&plain(), 1000);
    trace
        .sender
        .on_established(1200, Some(milliseconds(100)), None);
    trace.write(10);
    assert_eq!(trace.poll(), "0");
    trace.right_edge = 1700;
    assert_eq!(trace.at(100).ack_bytes(500).poll(), "1(700)");
}

/// Linux, `tcp_tso_should_defer`: one segment waits for a second one, if something was sent within
/// a millisecond and the next acknowledgment is due; not after a pause, not where it is a third of
/// the window, not if the acknowledgment is far, and not for the last one.
#[test]
fn a_short_train_waits_for_an_acknowledgment_that_is_due() {
    let deferring = |window| {
        let mut trace = Trace::new(Config {
            quirks: QuirksConfig {
                short_trains: ShortTrains::Deferred,
                ..QuirksConfig::default()
            },
            initial_window: window,
            ..plain()
        });
        trace.write(30).poll();
        trace
    };
    let mut trace = deferring(10);
    trace.at(100);
    assert_eq!(trace.ack(1), "10", "nothing was sent for 100 ms");
    trace.at(101);
    assert_eq!(trace.ack(2), "", "sent 1 ms ago");
    assert_eq!(
        trace.ack(3),
        "11 12",
        "as long as a train gets at this rate"
    );
    trace.at(103);
    assert_eq!(trace.ack(4), "13", "sent 2 ms ago");
    let mut trace = deferring(10);
    trace.at(98);
    assert_eq!(trace.ack(1), "10");
    assert_eq!(trace.ack(2), "11", "the first is expected in 2 ms");
    let mut trace = deferring(3);
    trace.at(100);
    assert_eq!(trace.ack(1), "3 4", "slow start");
    assert_eq!(trace.ack(2), "5 6");
    let mut trace = Trace::new(Config {
        quirks: QuirksConfig {
            short_trains: ShortTrains::Deferred,
            ..QuirksConfig::default()
        },
        initial_window: 10,
        ..plain()
    });
    trace.write(14).poll();
    trace.sender.close();
    trace.at(100);
    assert_eq!(trace.ack(1), "10");
    assert_eq!(trace.ack(2), "", "three are left, with room for one");
    assert_eq!(trace.ack(5), "11 12 13F", "room for all that is left");
    assert_eq!(trace.ack(6), "", "nothing is left");
}

/// A send buffer bounds the data in flight like a window; the application refills it once a third
/// is free, and the FIN follows the last byte that had to wait.
#[test]
fn a_send_buffer_bounds_the_data_in_flight() {
    let config = Config {
        send_buffer: Some(6 * MSS),
        ..plain()
    };
    let mut trace = Trace::new(config);
    trace.write(10);
    trace.sender.close();
    assert!(trace.sender.is_closed());
    assert_eq!(trace.sender.written(), 6 * MSS);
    assert_eq!(trace.sender.offered(), 10 * MSS);
    assert_eq!(trace.poll(), "0 1 2 3 4 5");
    assert_eq!(trace.ack(1), "", "a sixth is free");
    assert_eq!(trace.ack(2), "6 7", "a third is");
    assert_eq!(trace.ack(6), "8 9F", "and the rest");
    assert!(!trace.sender.is_finished());
    trace.ack_bytes(10 * MSS + 1);
    assert!(trace.sender.is_finished());
}

/// Data that no buffer has room for is not forgotten when everything else is acknowledged.
#[test]
fn a_sender_with_a_full_send_buffer_is_not_silent() {
    let config = Config {
        send_buffer: Some(1),
        ..plain()
    };
    let mut trace = Trace::new(config);
    trace.write(3);
    assert_eq!(trace.poll(), "0");
    assert_eq!(trace.ack(1), "1");
    assert_eq!(trace.ack(2), "2");
    trace.ack(3);
    assert!(trace.sender.is_silent());
}
