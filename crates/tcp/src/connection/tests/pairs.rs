//! Two connections with nothing between them: each receives the segments of the other.

use super::*;

/// Passes segments in both directions until both are silent.
fn exchange(ends: &mut [Connection; 2], now: Instant, bytes: &mut u64) {
    loop {
        let mut silent = true;
        for from in 0..2 {
            while let Some(segment) = ends[from].poll(now) {
                silent = false;
                ends[1 - from].handle(now, &segment, &mut ());
            }
        }
        *bytes += ends[1].read(u64::MAX);
        if silent {
            return;
        }
    }
}

/// Offsets have 64 bits: the sequence numbers wrap, more than once, wherever they start.
#[test]
fn more_than_four_gibibytes_pass_wherever_the_numbers_start() {
    const BYTES: u64 = 9 << 30;
    // Segments as large as the field allows: the test is about sequence numbers.
    let config = Config {
        mss: 65_000,
        initial_window: 100,
        sack: true,
        receive_buffer: 64 << 20,
        ..Config::default()
    };
    for numbers in [
        [0, u32::MAX],
        [u32::MAX - 10, 0x7fff_ffff],
        [0x8000_0000, 1],
    ] {
        let mut ends = [
            Connection::connect(&config, SequenceNumber(numbers[0])),
            Connection::listen(&config, SequenceNumber(numbers[1])),
        ];
        ends[0].write(BYTES);
        ends[0].close();
        let mut received = 0;
        let mut now = Instant::ZERO;
        for _ in 0..100 {
            exchange(&mut ends, now, &mut received);
            now += milliseconds(50);
            ends.iter_mut().for_each(|end| end.on_wakeup(now, &mut ()));
        }
        assert_eq!(received, BYTES);
        assert_eq!(ends[0].sender().una(), BYTES + 1);
        assert_eq!(ends[0].sender().counters().segments_retransmitted, 0);
        assert_eq!(
            ends.each_ref().map(Connection::state),
            [State::FinWait2, State::CloseWait]
        );
        ends[1].close();
        exchange(&mut ends, now, &mut received);
        assert_eq!(
            ends.each_ref().map(Connection::state),
            [State::TimeWait, State::Closed]
        );
    }
}

/// RFC 9293 §3.5, figure 8: both endpoints open, and each is established by the other's answer.
#[test]
fn two_that_open_at_the_same_time_meet() {
    let config = Config {
        sack: true,
        ..Config::default()
    };
    let mut ends = [5, 9].map(|number| Connection::connect(&config, SequenceNumber(number)));
    let now = Instant::ZERO;
    let first = ends.each_mut().map(|end| end.poll(now).expect("a SYN"));
    for (end, segment) in ends.iter_mut().zip(first.iter().rev()) {
        end.handle(now, segment, &mut ());
    }
    let second = ends.each_mut().map(|end| end.poll(now).expect("a SYN-ACK"));
    for (end, segment) in ends.iter_mut().zip(second.iter().rev()) {
        end.handle(now, segment, &mut ());
    }
    assert_eq!(
        ends.each_ref().map(Connection::state),
        [State::Established; 2]
    );
    ends[0].write(100_000);
    let mut received = 0;
    exchange(&mut ends, now, &mut received);
    assert_eq!(received, 100_000);
}

/// Both close at once, with data in flight in both directions.
#[test]
fn two_that_close_at_the_same_time_part() {
    let config = Config::default();
    let mut ends = [
        Connection::connect(&config, OURS),
        Connection::listen(&config, PEERS),
    ];
    let now = Instant::ZERO;
    let mut received = 0;
    exchange(&mut ends, now, &mut received);
    for end in &mut ends {
        end.write(5000);
        end.close();
    }
    let flights = ends
        .each_mut()
        .map(|end| std::iter::from_fn(|| end.poll(now)).collect::<Vec<_>>());
    for (end, flight) in ends.iter_mut().zip(flights.iter().rev()) {
        flight
            .iter()
            .for_each(|segment| end.handle(now, segment, &mut ()));
    }
    assert_eq!(ends.each_ref().map(Connection::state), [State::Closing; 2]);
    exchange(&mut ends, now, &mut received);
    assert_eq!(ends.each_ref().map(Connection::state), [State::TimeWait; 2]);
    assert_eq!((received, ends[0].read(u64::MAX)), (5000, 5000));
}

/// RFC 2018 §8: a receiver that has no room for all the ranges it was sent drops some that it has
/// SACKed, and the sender retransmits them. Every second segment of the first flight is lost, and
/// the others arrive in reverse order, so that each takes the place of one that was SACKed.
#[test]
fn what_the_receiver_reported_and_forgot_is_sent_again() {
    for profile in [Profile::Sack, Profile::Linux] {
        let mut config = Config {
            mss: 100,
            initial_window: 400,
            receive_buffer: 40_000,
            ..profile.config()
        };
        // Each arrival is reported, though all come in one instant.
        config.delayed_ack.compressed = false;
        let mut ends = [
            Connection::connect(&config, OURS),
            Connection::listen(&config, PEERS),
        ];
        let (mut now, mut received, mut lost, mut reported) = (Instant::ZERO, 0, 0, 0);
        exchange(&mut ends, now, &mut received);
        ends[0].write(200_000);
        while received < 200_000 && now < Instant::ZERO + Duration::from_secs(60) {
            now += milliseconds(10);
            let mut flight: Vec<_> = std::iter::from_fn(|| ends[0].poll(now)).collect();
            if lost == 0 {
                flight.reverse();
            }
            now += milliseconds(10);
            for (index, segment) in flight.iter().enumerate() {
                if lost < 200 && index % 2 == 0 {
                    lost += 1;
                } else {
                    ends[1].handle(now, segment, &mut ());
                }
                while let Some(answer) = ends[1].poll(now) {
                    reported = reported.max(ends[0].sender().scoreboard().sacked());
                    ends[0].handle(now, &answer, &mut ());
                }
            }
            received += ends[1].read(u64::MAX);
            for end in &mut ends {
                if end.next_wakeup() <= now {
                    end.on_wakeup(now, &mut ());
                }
            }
        }
        assert_eq!((lost, received), (200, 200_000), "{profile:?}");
        assert!(
            reported > 64 * 100,
            "{profile:?}: {reported} bytes reported"
        );
    }
}
