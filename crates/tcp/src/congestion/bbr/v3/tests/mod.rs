use super::super::testbed::{self, BANDWIDTH, MSS, RTT, START, after, plain, windows};
use super::*;

mod by_hand;
mod cycle;

fn path() -> testbed::Path<BbrV3> {
    testbed::Path::new(BbrV3::new)
}

/// A model past start-up that knows a bandwidth of 1 MB/s and a round trip of 100 ms, a hundred
/// segments, with a window of 80.
fn model(state: State) -> (BbrV3, Windows) {
    let windows = windows(80);
    let mut bbr = BbrV3::new(&windows);
    bbr.state = state;
    bbr.full.reached = true;
    bbr.bandwidth.reset(0, BANDWIDTH);
    bbr.minimum_rtt.rtt = Some(RTT);
    bbr.minimum_rtt.at = START;
    bbr.recent_rtt.rtt = Some(RTT);
    bbr.recent_rtt.at = START;
    bbr.cycle.began = START;
    bbr.pace.rate = BANDWIDTH;
    bbr.pace.by_rtt = true;
    (bbr, windows)
}

fn sample(lost: u64, in_flight: u64, application_limited: bool) -> RateSample {
    RateSample {
        lost,
        in_flight_at_send: in_flight * MSS,
        application_limited,
        ..testbed::sample_of(BANDWIDTH)
    }
}

/// Draft §5.3.1: start-up ends at the bandwidth, drains, and cruises below the product.
#[test]
fn start_up_finds_the_bandwidth_and_probing_begins() {
    let mut path = path();
    for _ in 0..12 {
        path.round(300 * MSS, 0);
    }
    assert_eq!(path.bbr.bandwidth.get(), BANDWIDTH);
    assert_eq!(path.bbr.state, State::Drain);
    path.round(90 * MSS, 0);
    assert!(
        matches!(path.bbr.state, State::Down | State::Cruise),
        "{:?}",
        path.bbr.state
    );
}

/// Draft §5.3.3: refill, then up, two to three seconds after the last time; then down.
#[test]
fn bandwidth_is_probed_after_a_wait() {
    let mut path = path();
    for _ in 0..12 {
        path.round(300 * MSS, 0);
    }
    let mut seen = Vec::new();
    for _ in 0..45 {
        let in_flight = if path.bbr.state == State::Up {
            140 * MSS
        } else {
            90 * MSS
        };
        path.round(in_flight, 0);
        if seen.last() != Some(&path.bbr.state) {
            seen.push(path.bbr.state);
        }
    }
    for state in [State::Refill, State::Up, State::Cruise] {
        assert!(seen.contains(&state), "{seen:?}");
    }
}

/// Draft §5.5.10.2: more than 2 % lost while probing bounds the data in flight; 1 % does not.
#[test]
fn losses_above_two_per_cent_bound_what_is_in_flight() {
    let bound = |share| {
        let mut path = path();
        for _ in 0..12 {
            path.round(300 * MSS, 0);
        }
        for _ in 0..45 {
            let probing = path.bbr.state == State::Up;
            let in_flight = if probing { 130 * MSS } else { 90 * MSS };
            let lost = if probing { in_flight * share / 1000 } else { 0 };
            path.round(in_flight, lost);
        }
        path.bbr.bounds.long_term
    };
    assert_eq!(bound(10), u64::MAX);
    assert!(bound(50) <= 140 * MSS, "{}", bound(50));
}

/// Draft §5.3.3: up until a quarter more than the product is in flight, however long it takes.
#[test]
fn probing_goes_up_until_a_quarter_more_is_in_flight() {
    let mut path = path();
    for _ in 0..12 {
        path.round(300 * MSS, 0);
    }
    let mut rounds = 0;
    while path.bbr.state != State::Up {
        path.round(90 * MSS, 0);
        rounds += 1;
        assert!(rounds < 60, "{:?}", path.bbr.state);
    }
    for _ in 0..5 {
        path.round(110 * MSS, 0);
        assert_eq!(path.bbr.state, State::Up);
    }
    path.round(140 * MSS, 0);
    assert_ne!(path.bbr.state, State::Up);
}

/// Draft §5.3.3.6, `BBRProbeInflightLongtermUpward`: the bound grows only by the data delivered
/// while the window is used, within a segment, and while the bound is the limit.
#[test]
fn the_bound_grows_by_what_a_used_window_delivers() {
    let mut path = path();
    let bbr = &mut path.bbr;
    path.windows.cwnd = 100 * MSS;
    bbr.bounds.long_term = 100 * MSS;
    bbr.cycle.up_per_segment = 4 * MSS;
    bbr.rounds.start = false;
    let mut deliver = |in_flight: u64, cwnd: u64| {
        path.windows.cwnd = cwnd * MSS;
        let mut ack = plain(path.now, in_flight);
        ack.delivered = 2 * MSS;
        bbr.probe_upward(&ack, &path.windows);
        (bbr.cycle.up_acked / MSS, bbr.bounds.long_term / MSS)
    };
    assert_eq!(deliver(97, 100), (0, 100), "a segment more would fit");
    assert_eq!(deliver(98, 100), (2, 100));
    assert_eq!(deliver(98, 100), (0, 101), "four for one");
    assert_eq!(deliver(98, 100), (0, 101), "the window is the limit");
    assert_eq!(deliver(99, 101), (2, 101));
}
