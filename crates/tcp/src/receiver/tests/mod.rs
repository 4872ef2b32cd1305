//! Arrivals, and the resulting acknowledgments, SACK blocks and windows.

mod model;
mod reports;

use airtcp_units::Duration;

use super::*;
use crate::config::{DelayedAckConfig, ReceiveWindow};

fn at(milliseconds: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(milliseconds)
}

fn config() -> Config {
    Config {
        mss: 500,
        sack: true,
        receive_buffer: 20_000,
        ..Config::default()
    }
}

fn receiver() -> Receiver {
    Receiver::new(&config(), 500)
}

/// Every second byte of the window, from the last to the first: the worst a peer can do.
#[test]
fn islands_of_a_byte_are_bounded_and_lose_nothing() {
    const BYTES: u64 = 160_001;
    let config = Config {
        receive_buffer: BYTES,
        ..config()
    };
    let mut receiver = Receiver::new(&config, 500);
    for byte in (1..BYTES).step_by(2).collect::<Vec<_>>().into_iter().rev() {
        receiver.on_data(at(0), byte..byte + 1, false);
    }
    let kept = (0..BYTES).filter(|&byte| receiver.holds(byte)).count() as u64;
    assert_eq!(kept, BYTES / BUFFER_BYTES_A_RANGE);
    // From the lowest: each hole that fills advances the stream by two bytes.
    for hole in 0..kept {
        assert_eq!(receiver.next_expected(), 2 * hole);
        receiver.on_data(at(0), 2 * hole..2 * hole + 1, false);
    }
    assert_eq!(receiver.next_expected(), 2 * kept);
    receiver.on_data(at(0), 2 * kept..BYTES, false);
    assert_eq!(receiver.received(), BYTES);
}

/// One island more than are kept, the highest of all, is forgotten at once, and counts for nothing.
#[test]
fn an_island_too_many_is_forgotten() {
    for receive_window in [ReceiveWindow::Fixed, ReceiveWindow::Autotuned] {
        let config = Config {
            receive_window,
            receive_buffer: 65_536,
            ..config()
        };
        let mut receiver = Receiver::new(&config, 500);
        let kept = 65_536 / BUFFER_BYTES_A_RANGE;
        for island in 0..kept {
            let byte = 2 * island + 1;
            receiver.on_data(at(0), byte..byte + 1, false);
        }
        receiver.on_data(at(0), 5000..6448, false);
        assert!(
            !receiver.holds(5000) && receiver.holds(1),
            "{receive_window:?}"
        );
    }
}

/// A segment after a gap grows the window before its memory counts (Linux, `tcp_data_queue_ofo`):
/// after four in order 75 672 bytes are offered, the first two after a gap add 2896 and 1904, and
/// 80 472 are offered once all is read. With its memory counted the second would have added 456.
#[test]
fn a_segment_behind_a_gap_counts_from_the_next_one_on() {
    const MSS: u64 = 1448;
    let config = Config {
        mss: 1448,
        receive_window: ReceiveWindow::Autotuned,
        receive_buffer: 8 << 20,
        ..config()
    };
    let mut receiver = Receiver::new(&config, 1448);
    for segment in [0, 1, 2, 3, 5, 6, 4] {
        receiver.on_data(at(segment), segment * MSS..(segment + 1) * MSS, false);
        receiver.read(u64::MAX);
    }
    assert_eq!(receiver.window(), 80_472);
}

/// Takes one segment; returns the acknowledgment sent, if any: the next expected byte and the
/// ranges reported.
fn answer(receiver: &mut Receiver, range: Range<u64>) -> Option<(u64, Vec<Range<u64>>)> {
    if range.end <= receiver.next_expected() {
        receiver.on_old_duplicate(range);
    } else {
        receiver.on_data(at(0), range, false);
    }
    if !receiver.ack_due() {
        return None;
    }
    let mut ranges: [Range<u64>; MAX_REPORTED] = std::array::from_fn(|_| 0..0);
    let count = receiver.take_report(&mut ranges);
    receiver.window();
    receiver.on_ack_sent();
    Some((receiver.next_expected(), ranges[..count].to_vec()))
}

#[test]
fn a_new_receiver_expects_the_first_byte() {
    let mut receiver = receiver();
    assert_eq!(receiver.next_expected(), 0);
    assert_eq!(receiver.acceptable(), 0..20_000);
    assert_eq!(receiver.window(), 20_000);
    assert!(!receiver.ack_due() && !receiver.is_finished() && !receiver.holds(0));
    assert_eq!(receiver.next_wakeup(), Instant::FAR_FUTURE);
    assert_eq!(
        (
            receiver.received(),
            receiver.duplicates(),
            receiver.read(100)
        ),
        (0, 0, 0)
    );
}

/// RFC 1122 §4.2.3.2: every second segment, or after a while.
#[test]
fn acknowledges_every_second_segment_or_after_the_timeout() {
    let mut receiver = receiver();
    receiver.on_data(at(0), 0..500, false);
    assert!(!receiver.ack_due());
    assert_eq!(receiver.next_wakeup(), at(40));
    receiver.on_data(at(10), 500..1000, false);
    assert!(receiver.ack_due());
    receiver.on_ack_sent();
    assert_eq!(receiver.next_wakeup(), Instant::FAR_FUTURE);
    receiver.on_data(at(20), 1000..1500, false);
    receiver.on_wakeup(at(59));
    assert!(!receiver.ack_due());
    receiver.on_wakeup(at(60));
    assert!(receiver.ack_due());
    assert_eq!(receiver.received(), 1500);
}

/// RFC 5681 §4.2: at once when out of order, when a duplicate arrives, and when a gap is filled, in
/// whole or in part.
#[test]
fn acknowledges_at_once_what_is_not_ordinary() {
    let delayed_ack = DelayedAckConfig {
        segments: 4,
        ..DelayedAckConfig::default()
    };
    let mut receiver = Receiver::new(
        &Config {
            delayed_ack,
            ..config()
        },
        500,
    );
    assert_eq!(answer(&mut receiver, 0..500), None);
    assert!(answer(&mut receiver, 1000..1500).is_some(), "out of order");
    assert!(answer(&mut receiver, 2000..2500).is_some(), "out of order");
    assert!(
        answer(&mut receiver, 500..1000).is_some(),
        "fills the first gap"
    );
    assert!(
        answer(&mut receiver, 1500..2000).is_some(),
        "fills the last gap"
    );
    assert_eq!(answer(&mut receiver, 2500..3000), None, "in order again");
    assert!(answer(&mut receiver, 0..500).is_some(), "a duplicate");
    assert!(
        answer(&mut receiver, 2500..3500).is_some(),
        "in part a duplicate"
    );
    assert_eq!(receiver.duplicates(), 1);
    receiver.demand_acknowledgment();
    assert!(receiver.ack_due(), "RFC 9293 §3.10.7.4, first check");
}

#[test]
fn holds_what_arrived() {
    let mut receiver = receiver();
    answer(&mut receiver, 0..500);
    answer(&mut receiver, 1000..1500);
    let held = [0, 499, 500, 999, 1000, 1499, 1500].map(|offset| receiver.holds(offset));
    assert_eq!(held, [true, true, false, false, true, true, false]);
    // The same out-of-order segment repeated is a duplicate.
    answer(&mut receiver, 1000..1500);
    assert_eq!(receiver.duplicates(), 1);
}

/// A FIN takes the offset after the last byte, is acknowledged at once, and is not read.
#[test]
fn a_fin_ends_the_stream() {
    let mut receiver = receiver();
    receiver.on_data(at(0), 0..500, true);
    assert!(receiver.ack_due());
    assert!(receiver.is_finished());
    assert_eq!((receiver.next_expected(), receiver.received()), (501, 500));
    assert_eq!((receiver.read(u64::MAX), receiver.read(u64::MAX)), (500, 0));
    assert_eq!(receiver.acceptable(), 501..20_000);
}

#[test]
fn a_fin_may_come_before_the_bytes_in_front_of_it() {
    let mut receiver = receiver();
    receiver.on_data(at(0), 500..500, true);
    assert!(!receiver.is_finished());
    assert_eq!((receiver.next_expected(), receiver.received()), (0, 0));
    receiver.on_data(at(0), 0..500, false);
    assert!(receiver.is_finished());
    assert_eq!((receiver.next_expected(), receiver.received()), (501, 500));
}

/// The first FIN counts, and no data follows it.
#[test]
fn nothing_follows_a_fin() {
    let mut receiver = receiver();
    receiver.on_data(at(0), 500..1000, true);
    receiver.on_data(at(0), 500..1500, true);
    receiver.on_data(at(0), 1100..1500, false);
    assert!(!receiver.holds(1001));
    receiver.on_data(at(0), 0..500, true);
    assert!(receiver.is_finished());
    assert_eq!(
        (receiver.next_expected(), receiver.received()),
        (1001, 1000)
    );
    // The same FIN repeated is the same FIN.
    receiver.on_data(at(0), 500..1000, true);
    assert_eq!(
        (receiver.next_expected(), receiver.received()),
        (1001, 1000)
    );
}

#[test]
fn nothing_is_nothing() {
    let mut receiver = receiver();
    receiver.on_data(at(0), 0..0, false);
    assert!(!receiver.ack_due());
    assert_eq!(
        (receiver.next_wakeup(), receiver.next_expected()),
        (Instant::FAR_FUTURE, 0)
    );
}

/// RFC 9293 §3.8.6: an announced window stays announced.
#[test]
fn the_window_closes_as_bytes_come_and_its_edge_never_moves_back() {
    let mut receiver = Receiver::new(
        &Config {
            receive_buffer: 2000,
            ..config()
        },
        500,
    );
    let mut edge = 0;
    for segment in 0..4 {
        receiver.on_data(at(0), segment * 500..(segment + 1) * 500, false);
        let window = receiver.window();
        assert_eq!(window, 2000 - (segment + 1) * 500);
        let now = receiver.next_expected() + window;
        assert!(now >= edge);
        edge = now;
    }
    assert_eq!(receiver.acceptable(), 2000..2000);
    assert_eq!(receiver.read(100), 100);
    assert_eq!(receiver.window(), 0);
}

/// RFC 9293 §3.8.6.2.2: in steps of a segment, or of half the buffer if that is less.
#[test]
fn the_window_opens_in_steps() {
    let mut receiver = Receiver::new(
        &Config {
            receive_buffer: 2000,
            ..config()
        },
        500,
    );
    receiver.on_data(at(0), 0..2000, false);
    receiver.on_ack_sent();
    receiver.read(499);
    assert_eq!((receiver.window(), receiver.ack_due()), (0, false));
    receiver.read(1);
    assert!(receiver.ack_due(), "a closed window that opens is news");
    assert_eq!(
        (receiver.window(), receiver.acceptable()),
        (500, 2000..2500)
    );

    let mut receiver = Receiver::new(
        &Config {
            receive_buffer: 600,
            ..config()
        },
        500,
    );
    receiver.on_data(at(0), 0..600, false);
    receiver.on_ack_sent();
    receiver.read(299);
    assert_eq!((receiver.window(), receiver.ack_due()), (0, false));
    receiver.read(1);
    assert!(receiver.ack_due());
    assert_eq!(receiver.window(), 300);
}

/// A window with room for a full segment needs no separate update: the next acknowledgment carries
/// it.
#[test]
fn an_open_window_is_not_announced_for_its_own_sake() {
    let mut receiver = Receiver::new(
        &Config {
            receive_buffer: 2000,
            ..config()
        },
        500,
    );
    receiver.on_data(at(0), 0..1500, false);
    receiver.on_ack_sent();
    receiver.read(1500);
    assert!(!receiver.ack_due(), "500 are left");
    let mut receiver = Receiver::new(
        &Config {
            receive_buffer: 2000,
            ..config()
        },
        500,
    );
    receiver.on_data(at(0), 0..1501, false);
    receiver.on_ack_sent();
    receiver.read(499);
    assert!(!receiver.ack_due(), "and not a step more");
    receiver.read(1);
    assert!(receiver.ack_due());
}

/// A buffer too small to be useful still works, a byte at a time.
#[test]
fn a_buffer_of_one_byte_works() {
    let mut receiver = Receiver::new(
        &Config {
            receive_buffer: 1,
            ..config()
        },
        500,
    );
    for byte in 0..3 {
        assert_eq!(receiver.acceptable(), byte..byte + 1);
        receiver.on_data(at(0), byte..byte + 1, false);
        receiver.on_ack_sent();
        assert_eq!(receiver.read(10), 1);
        assert!(receiver.ack_due());
        assert_eq!(receiver.window(), 1);
    }
}

/// Full segments of 1000 bytes, read as they arrive and each the end of a train, each answered with
/// a segment by a receiver with Linux's window and these delayed acknowledgments.
fn acknowledged(delayed_ack: DelayedAckConfig) -> Vec<u64> {
    let profile = crate::config::Profile::Linux.config();
    let config = Config {
        mss: 1000,
        delayed_ack,
        ..profile
    };
    let mut receiver = Receiver::new(&config, 1000);
    let mut answered = Vec::new();
    for segment in 0..200 {
        receiver.on_pushed();
        receiver.on_data(at(segment), segment * 1000..(segment + 1) * 1000, false);
        receiver.read(u64::MAX);
        if receiver.ack_due() {
            receiver.window();
            receiver.on_ack_sent();
            answered.push(segment + 1);
        }
    }
    answered
}

/// A count of 16 is 16 segments for each acknowledgment, where neither reading, nor the growth of
/// the window, nor the quick acknowledgments of Linux come before it.
#[test]
fn a_count_of_segments_is_kept_whatever_else_would_acknowledge() {
    let rare = DelayedAckConfig {
        segments: 16,
        timeout: Duration::from_secs(1),
        on_growth: false,
        ..DelayedAckConfig::default()
    };
    let every_sixteenth: Vec<u64> = (1..=12).map(|count| 16 * count).collect();
    assert_eq!(acknowledged(rare), every_sixteenth);
    for other in [
        DelayedAckConfig {
            on_reading: true,
            ..rare
        },
        DelayedAckConfig {
            on_growth: true,
            ..rare
        },
        DelayedAckConfig { quick: 16, ..rare },
    ] {
        assert_ne!(acknowledged(other), every_sixteenth, "{other:?}");
    }
}
