mod controls;

use super::*;
use crate::config::{CongestionControl, ReductionBase, WindowGrowth};

const MSS: u64 = 1000;

fn congestion(config: Config) -> Congestion {
    Congestion::new(&config, MSS)
}

#[test]
fn starts_with_the_initial_window_and_no_threshold() {
    let congestion = congestion(Config::default());
    assert_eq!(congestion.cwnd(), 10 * MSS);
    assert_eq!(congestion.ssthresh(), u64::MAX);
    assert!(congestion.in_slow_start());
}

#[test]
fn the_window_cap_holds_from_the_start() {
    let mut congestion = congestion(Config {
        max_window: Some(4),
        ..Config::default()
    });
    assert_eq!(congestion.cwnd(), 4 * MSS);
    congestion.on_acknowledged(2 * MSS, false);
    assert_eq!(congestion.cwnd(), 4 * MSS);
}

/// RFC 3465 §2.2 and §2.3: by bytes, at most L = 2 segments per ACK, one after a timeout.
#[test]
fn slow_start_counts_bytes_up_to_the_limit() {
    let mut congestion = congestion(Config::default());
    congestion.on_acknowledged(MSS / 2, false);
    assert_eq!(congestion.cwnd(), 10 * MSS + MSS / 2);
    congestion.on_acknowledged(5 * MSS, false);
    assert_eq!(congestion.cwnd(), 12 * MSS + MSS / 2);
    congestion.on_acknowledged(5 * MSS, true);
    assert_eq!(congestion.cwnd(), 13 * MSS + MSS / 2);
}

#[test]
fn slow_start_by_acknowledgments_ignores_what_they_cover() {
    let config = Config {
        window_growth: WindowGrowth::Acknowledgments,
        ..Config::default()
    };
    let mut congestion = congestion(config);
    congestion.on_acknowledged(2 * MSS, false);
    congestion.on_acknowledged(1, false);
    assert_eq!(congestion.cwnd(), 12 * MSS);
}

#[test]
fn slow_start_ends_at_the_threshold() {
    let config = Config {
        initial_ssthresh: Some(10 * MSS + MSS / 4),
        ..Config::default()
    };
    let mut congestion = congestion(config);
    congestion.on_acknowledged(2 * MSS, false);
    assert_eq!(congestion.cwnd(), 10 * MSS + MSS / 4);
    assert!(!congestion.in_slow_start());
    // 7/4 of a segment was left over and counts: 8.5 segments more make a window of 10.25.
    congestion.on_acknowledged(8 * MSS, false);
    assert_eq!(congestion.cwnd(), 10 * MSS + MSS / 4);
    congestion.on_acknowledged(MSS / 2, false);
    assert_eq!(congestion.cwnd(), 11 * MSS + MSS / 4);
}

/// RFC 3465 §2.1: one segment per full window acknowledged.
#[test]
fn congestion_avoidance_adds_a_segment_a_window() {
    let mut congestion = congestion(Config {
        initial_ssthresh: Some(MSS),
        ..Config::default()
    });
    for _ in 0..9 {
        congestion.on_acknowledged(MSS, false);
    }
    assert_eq!(congestion.cwnd(), 10 * MSS);
    congestion.on_acknowledged(MSS, false);
    assert_eq!(congestion.cwnd(), 11 * MSS);
    for _ in 0..11 {
        congestion.on_acknowledged(MSS, false);
    }
    assert_eq!(congestion.cwnd(), 12 * MSS);
}

/// RFC 5681 eq. 4: ssthresh = max(FlightSize / 2, 2 SMSS).
#[test]
fn a_loss_halves_the_flight_and_not_below_two_segments() {
    let mut congestion = congestion(Config::default());
    congestion.on_loss(20 * MSS, None);
    assert_eq!(
        (congestion.cwnd(), congestion.ssthresh()),
        (10 * MSS, 10 * MSS)
    );
    congestion.on_loss(3 * MSS, None);
    assert_eq!(
        (congestion.cwnd(), congestion.ssthresh()),
        (2 * MSS, 2 * MSS)
    );
}

#[test]
fn a_loss_forgets_what_was_counted() {
    let mut congestion = congestion(Config {
        initial_ssthresh: Some(MSS),
        ..Config::default()
    });
    congestion.on_acknowledged(9 * MSS, false);
    congestion.on_loss(20 * MSS, None);
    congestion.on_acknowledged(9 * MSS, false);
    assert_eq!(congestion.cwnd(), 10 * MSS);
    congestion.on_timeout(20 * MSS, true);
    congestion.on_acknowledged(MSS, true);
    assert_eq!(congestion.cwnd(), 2 * MSS);
}

/// RFC 5681 §3.1: ssthresh is unchanged when a segment times out repeatedly.
#[test]
fn a_timeout_restarts_from_one_segment() {
    let mut congestion = congestion(Config::default());
    congestion.on_timeout(20 * MSS, true);
    assert_eq!((congestion.cwnd(), congestion.ssthresh()), (MSS, 10 * MSS));
    congestion.on_timeout(MSS, false);
    assert_eq!((congestion.cwnd(), congestion.ssthresh()), (MSS, 10 * MSS));
}

#[test]
fn bounding_never_goes_below_one_segment() {
    let mut congestion = congestion(Config::default());
    congestion.bound(20 * MSS);
    assert_eq!(congestion.cwnd(), 10 * MSS);
    congestion.bound(4 * MSS);
    assert_eq!(congestion.cwnd(), 4 * MSS);
    congestion.bound(0);
    assert_eq!(congestion.cwnd(), MSS);
}

#[test]
fn a_restart_is_one_segment_and_keeps_the_threshold() {
    let mut congestion = congestion(Config::default());
    congestion.on_loss(20 * MSS, None);
    congestion.restart();
    assert_eq!((congestion.cwnd(), congestion.ssthresh()), (MSS, 10 * MSS));
}

/// RFC 5681 eq. 3: SMSS² / cwnd for each acknowledgment, here 1000² / 10 000 and / 10 100.
#[test]
fn congestion_avoidance_by_acknowledgments_adds_a_fraction_each() {
    let mut congestion = congestion(Config {
        initial_ssthresh: Some(MSS),
        window_growth: WindowGrowth::Acknowledgments,
        ..Config::default()
    });
    congestion.on_acknowledged(2 * MSS, false);
    assert_eq!(congestion.cwnd(), 10 * MSS + 100);
    congestion.on_acknowledged(1, false);
    assert_eq!(congestion.cwnd(), 10 * MSS + 199);
    for _ in 0..2_000_000 {
        congestion.on_acknowledged(MSS, false);
    }
    // Equation 3's note: never less than a byte.
    let before = congestion.cwnd();
    assert!(before > MSS * MSS);
    congestion.on_acknowledged(MSS, false);
    assert_eq!(congestion.cwnd(), before + 1);
}

/// A fraction of a segment sends nothing: 9 in flight halve to 4.
#[test]
fn a_loss_leaves_whole_segments() {
    let mut congestion = congestion(Config::default());
    congestion.on_loss(9 * MSS, None);
    assert_eq!(congestion.cwnd(), 4 * MSS);
}

#[test]
fn a_threshold_is_whole_segments() {
    let mut congestion = congestion(Config::default());
    congestion.on_loss(11 * MSS + MSS / 2, None);
    assert_eq!(congestion.ssthresh(), 5 * MSS);
}

/// A window of zero would never send, and the floor of a halved window is not above the cap.
#[test]
fn every_window_has_at_least_one_segment_and_at_most_the_cap() {
    let none = Config {
        initial_window: 0,
        max_window: Some(0),
        ..Config::default()
    };
    let mut congestion = congestion(none);
    assert_eq!(congestion.cwnd(), MSS);
    congestion.on_loss(MSS, None);
    assert_eq!((congestion.cwnd(), congestion.ssthresh()), (MSS, 2 * MSS));
}

/// An acknowledgment of one segment at `now` ms.
fn ack(now: u64, rtt: u64, minimum_rtt: u64) -> Ack {
    let milliseconds = airtcp_units::Duration::from_millis;
    Ack {
        now: airtcp_units::Instant::ZERO + milliseconds(now),
        delivered: MSS,
        marked: 0,
        lost: 0,
        rtt: Some(milliseconds(rtt)),
        minimum_rtt: milliseconds(minimum_rtt),
        srtt: milliseconds(rtt),
        una: 0,
        nxt: 0,
        in_flight_before: 0,
        held_back: 0,
        in_flight: 0,
        next_departure: airtcp_units::Instant::ZERO + milliseconds(now),
        delivered_in_all: 0,
        lost_in_all: 0,
        rate: None,
        repairing: Repairing::Nothing,
    }
}

fn with_control(control: CongestionControl, window: u64) -> Congestion {
    let config = Config {
        congestion: control,
        reduction_base: ReductionBase::Window,
        initial_ssthresh: Some(2 * MSS),
        initial_window: u32::try_from(window).expect("a few segments"),
        ..Config::default()
    };
    Congestion::new(&config, MSS)
}

/// Lien et al. §II-B: 4/5 of the window after a radio loss, half after a congestion loss.
#[test]
fn a_loss_of_the_radios_costs_a_fifth() {
    for (cause, left) in [(Cause::Radio, 80), (Cause::Congestion, 50)] {
        let mut congestion = with_control(CongestionControl::Reno, 100);
        congestion.on_loss(100 * MSS, Some(cause));
        assert_eq!(congestion.cwnd(), left * MSS, "{cause:?}");
    }
}

/// A needless reduction is undone, and nothing more.
#[test]
fn a_reduction_can_be_taken_back() {
    let mut congestion = with_control(CongestionControl::Cubic, 100);
    let saved = congestion.save(100 * MSS);
    congestion.on_loss(100 * MSS, None);
    congestion.restore(saved);
    assert_eq!(congestion.cwnd(), 100 * MSS);
}

/// RFC 4015 §3: cwnd becomes FlightSize + min(bytes_acked, IW), and ssthresh `pipe_prev`, the
/// larger of FlightSize and ssthresh before the timeout: not the window, with only 30 of its 100
/// segments used, and unbounded if it was before.
#[test]
fn a_needless_timeout_is_resumed_from_by_slow_start() {
    for (ssthresh, outstanding, resumed) in [
        (Some(60), 100, 100 * MSS),
        (Some(60), 30, 60 * MSS),
        (Some(20), 30, 30 * MSS),
        (None, 30, u64::MAX),
    ] {
        let mut congestion = Congestion::new(
            &Config {
                initial_window: 100,
                initial_ssthresh: ssthresh.map(|segments| segments * MSS),
                ..Config::default()
            },
            MSS,
        );
        let saved = congestion.save(outstanding * MSS);
        congestion.on_timeout(outstanding * MSS, true);
        congestion.resume(saved, 20 * MSS, 5 * MSS);
        assert_eq!(congestion.cwnd(), 25 * MSS);
        assert_eq!(
            congestion.ssthresh(),
            resumed,
            "{ssthresh:?}, {outstanding}"
        );
    }
}
