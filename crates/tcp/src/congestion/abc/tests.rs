//! The windows by hand: §3 and §4.1.

use airtcp_units::Duration;

use super::*;

const MSS: u64 = 1000;

fn windows(segments: u64) -> Windows {
    Windows {
        mss: MSS,
        cwnd: segments * MSS,
        ssthresh: u64::MAX,
        max: u64::MAX,
    }
}

/// An acknowledgment of `delivered` segments, `braking` of them brakes, with the window in flight.
fn ack(delivered: u64, braking: u64, windows: &Windows) -> Ack {
    let rtt = Duration::from_millis(100);
    let now = Instant::ZERO + rtt;
    Ack {
        now,
        delivered: delivered * MSS,
        marked: braking * MSS,
        lost: 0,
        rtt: Some(rtt),
        minimum_rtt: rtt,
        srtt: rtt,
        una: 0,
        nxt: 1,
        in_flight_before: windows.cwnd,
        held_back: 0,
        in_flight: windows.cwnd.saturating_sub(delivered * MSS),
        next_departure: now,
        delivered_in_all: 0,
        lost_in_all: 0,
        rate: None,
        repairing: Repairing::Nothing,
    }
}

fn start(windows: &Windows) -> Abc {
    Abc::start(&Config::default(), windows)
}

/// §3: a window of accelerates doubles it, one of brakes leaves the least, and one of half each
/// keeps it but for the additive increase, which is more the smaller the window is on the way.
#[test]
fn a_packet_more_or_less_for_each() {
    for (braking, expected) in [(0, 20.7), (5, 11.3), (10, 2.0)] {
        let mut windows = windows(10);
        let mut abc = start(&windows);
        for number in 0..10 {
            let ack = ack(1, u64::from(number < braking), &windows);
            abc.observe(&ack, &mut windows);
        }
        let found = abc.exact / MSS as f64;
        assert!((found - expected).abs() < 0.1, "{braking} brakes: {found}");
    }
    // Twice the window in a round trip.
    let bits = {
        let mut windows = windows(10);
        let mut abc = start(&windows);
        abc.observe(&ack(1, 0, &windows), &mut windows);
        let expected = 2 * 8 * 10 * windows.cwnd;
        let found = abc.demands().pacing_rate.as_bps();
        found.abs_diff(expected)
    };
    assert!(bits <= 1, "{bits}");
}

/// §4.1: CUBIC's window holds after a loss or a mark (RFC 9438 §4.6: 0.7), whatever accelerates.
#[test]
fn a_loss_or_a_mark_leaves_cubics_window() {
    for by_mark in [false, true] {
        let mut windows = windows(100);
        let mut abc = start(&windows);
        if by_mark {
            assert!(abc.on_mark(&mut windows));
        } else {
            abc.on_loss(&windows);
        }
        abc.observe(&ack(1, 0, &windows), &mut windows);
        assert_eq!(windows.cwnd / MSS, 70, "{by_mark}");
        // It grows as CUBIC does from then on, not by a packet for each.
        for _ in 0..70 {
            abc.observe(&ack(1, 0, &windows), &mut windows);
        }
        assert!(
            (70..=75).contains(&(windows.cwnd / MSS)),
            "{}",
            windows.cwnd
        );
    }
}

/// §4.1: neither window exceeds twice the data in flight, so that the one that does not hold is
/// close when it is needed.
#[test]
fn the_data_in_flight_bounds_both_windows() {
    let mut windows = windows(100);
    let mut abc = start(&windows);
    let mut unused = ack(1, 0, &windows);
    unused.in_flight_before = 10 * MSS;
    abc.observe(&unused, &mut windows);
    assert_eq!((windows.cwnd, abc.of_cubic.cwnd), (20 * MSS, 20 * MSS));
}

/// A repair that was needless takes CUBIC's reduction back.
#[test]
fn a_needless_reduction_is_taken_back() {
    let mut windows = windows(100);
    let mut abc = start(&windows);
    abc.on_loss(&windows);
    abc.observe(&ack(1, 0, &windows), &mut windows);
    assert_eq!(windows.cwnd / MSS, 70);
    abc.on_taken_back();
    let mut full = ack(1, 0, &windows);
    full.in_flight_before = 100 * MSS;
    abc.observe(&full, &mut windows);
    assert!(windows.cwnd >= 100 * MSS, "{}", windows.cwnd);
}
