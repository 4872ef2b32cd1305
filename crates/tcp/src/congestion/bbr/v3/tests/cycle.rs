//! The cycle of probing, at its edges, by hand from draft-ietf-ccwg-bbr.

use super::*;

fn next_state(state: State, now: Instant, in_flight: u64, change: impl Fn(&mut BbrV3)) -> State {
    let (mut bbr, windows) = model(state);
    change(&mut bbr);
    bbr.update_cycle(
        &plain(now, in_flight),
        &sample(0, in_flight, false),
        &windows,
    );
    bbr.state
}

/// Draft §5.3.3: draining and going down end at the product, the latter below the bound's headroom
/// too; refilling lasts a round trip; probing upwards lasts one, and until a quarter more is in
/// flight.
#[test]
fn the_cycle_turns_at_its_edges() {
    let none = |_: &mut BbrV3| {};
    let soon = after(50);
    assert_eq!(next_state(State::Drain, soon, 101, none), State::Drain);
    assert_eq!(next_state(State::Drain, soon, 100, none), State::Down);
    assert_eq!(next_state(State::Down, soon, 101, none), State::Down);
    assert_eq!(next_state(State::Down, soon, 100, none), State::Cruise);
    let bounded = |bbr: &mut BbrV3| bbr.bounds.long_term = 100 * MSS;
    assert_eq!(next_state(State::Down, soon, 86, bounded), State::Down);
    assert_eq!(next_state(State::Down, soon, 85, bounded), State::Cruise);
    assert_eq!(next_state(State::Refill, soon, 90, none), State::Refill);
    let round = |bbr: &mut BbrV3| bbr.rounds.start = true;
    assert_eq!(next_state(State::Refill, soon, 90, round), State::Up);
    let late = after(100) + Duration::from_nanos(1);
    assert_eq!(next_state(State::Up, after(100), 128, none), State::Up);
    assert_eq!(next_state(State::Up, late, 127, none), State::Up);
    assert_eq!(next_state(State::Up, late, 128, none), State::Down);
    let starting = |bbr: &mut BbrV3| bbr.full.reached = false;
    assert_eq!(next_state(State::Up, late, 128, starting), State::Up);
}

/// Draft §5.3.3.8: after two to three seconds, or as many round trips as Reno takes for the window,
/// 63 at most.
#[test]
fn probing_waits_for_seconds_or_renos_rounds() {
    let probes = |now, rounds, bandwidth, cwnd| {
        let (mut bbr, mut windows) = model(State::Cruise);
        (bbr.cycle.wait, bbr.cycle.rounds_since_probe) = (Duration::from_secs(2), rounds);
        (
            bbr.bounds.short_term,
            bbr.cycle.up_rounds,
            bbr.cycle.up_acked,
        ) = (None, 3, 5);
        bbr.bandwidth.reset(0, bandwidth);
        windows.cwnd = cwnd * MSS;
        let probes = bbr.is_time_to_probe(&plain(now, 50), &windows);
        let reset =
            (bbr.cycle.up_rounds, bbr.cycle.up_acked) == (0, 0) && bbr.rounds.next == 700 * MSS;
        assert_eq!((bbr.state == State::Refill, reset), (probes, probes));
        probes
    };
    assert!(!probes(after(2000), 0, BANDWIDTH, 80));
    assert!(probes(after(2001), 0, BANDWIDTH, 80));
    assert!(!probes(START, 62, BANDWIDTH, 80));
    assert!(probes(START, 63, BANDWIDTH, 80));
    assert!(!probes(START, 29, BANDWIDTH, 30));
    assert!(probes(START, 30, BANDWIDTH, 30));
    assert!(!probes(START, 19, BANDWIDTH / 5, 80));
    assert!(probes(START, 20, BANDWIDTH / 5, 80));
}

/// Draft §5.3.3.8: the wait is two seconds and a part of a third, other for every microsecond.
#[test]
fn going_down_draws_the_next_wait() {
    let (mut bbr, _) = model(State::Up);
    (bbr.bounds.short_term, bbr.cycle.rounds_since_probe) = (Some((1, 1)), 9);
    (bbr.cycle.samples_of_probe, bbr.cycle.up_per_segment) = (true, 5);
    bbr.go_down(&plain(Instant::from_nanos(5_250_000_000), 50));
    assert_eq!(bbr.cycle.wait, Duration::from_millis(2250));
    assert_eq!((bbr.state, bbr.bounds.short_term), (State::Down, None));
    assert_eq!((bbr.cycle.rounds_since_probe, bbr.cycle.count), (0, 1));
    assert_eq!(
        (bbr.cycle.up_per_segment, bbr.cycle.samples_of_probe),
        (u64::MAX, false)
    );
    assert_eq!(
        (bbr.cycle.began, bbr.rounds.next),
        (Instant::from_nanos(5_250_000_000), 700 * MSS)
    );
}

/// Draft §5.5.10.2: too many losses of a probe bound the data in flight by its amount when the
/// segment was sent, or 0.7 of the target if that is more; without them the bound rises to the data
/// that was in flight.
#[test]
fn losses_of_a_probe_set_the_bound() {
    let bound = |state, probed, sample: RateSample, before| {
        let (mut bbr, windows) = model(state);
        (bbr.cycle.samples_of_probe, bbr.bounds.long_term) = (probed, before);
        bbr.adapt_long_term(&plain(START, 50), &sample, &windows);
        (bbr.bounds.long_term, bbr.state)
    };
    let none = u64::MAX;
    let (up, down) = (State::Up, State::Down);
    assert_eq!(
        bound(up, true, sample(5000, 90, false), none),
        (90 * MSS, down)
    );
    // 0.7 of the window of 80, which is less than the product.
    assert_eq!(
        bound(up, true, sample(5000, 20, false), none),
        (56 * MSS, down)
    );
    assert_eq!(bound(up, true, sample(5000, 90, true), none), (none, down));
    assert_eq!(bound(up, false, sample(5000, 90, false), none), (none, up));
    let cruise = State::Cruise;
    assert_eq!(
        bound(cruise, true, sample(5000, 90, false), none),
        (90 * MSS, cruise)
    );
    assert_eq!(
        bound(cruise, false, sample(0, 90, false), 60 * MSS),
        (90 * MSS, cruise)
    );
    assert_eq!(
        bound(cruise, false, sample(0, 50, false), 60 * MSS),
        (60 * MSS, cruise)
    );
    assert_eq!(
        bound(cruise, false, sample(0, 50, false), none),
        (none, cruise)
    );
}

/// Draft §5.3.3.6: the bound's slope doubles each round trip, from a segment for each window.
#[test]
fn the_slope_doubles() {
    let (mut bbr, windows) = model(State::Up);
    let slopes: Vec<u64> = (0..4)
        .map(|_| {
            bbr.cycle.raise_slope(&windows);
            bbr.cycle.up_per_segment / MSS
        })
        .collect();
    assert_eq!(slopes, [80, 40, 20, 10]);
    assert_eq!(bbr.cycle.up_rounds, 4);
    bbr.cycle.up_rounds = 29;
    bbr.cycle.raise_slope(&windows);
    assert_eq!((bbr.cycle.up_per_segment, bbr.cycle.up_rounds), (MSS, 30));
    bbr.cycle.raise_slope(&windows);
    assert_eq!(bbr.cycle.up_rounds, 30);
}

/// The bound rises only where the window is used, and is the bound.
#[test]
fn an_unused_window_raises_no_bound() {
    let bound = |in_flight, delivered, bound| {
        let (mut bbr, windows) = model(State::Up);
        (bbr.bounds.long_term, bbr.cycle.up_per_segment) = (bound * MSS, 2 * MSS);
        let mut ack = plain(START, in_flight);
        ack.delivered = delivered * MSS;
        bbr.probe_upward(&ack, &windows);
        (bbr.bounds.long_term / MSS, bbr.cycle.up_acked / MSS)
    };
    assert_eq!(bound(76, 3, 80), (80, 0), "a segment would fit");
    assert_eq!(bound(77, 3, 80), (81, 1));
    assert_eq!(bound(77, 3, 81), (81, 0), "the bound is above the window");
    assert_eq!(bound(76, 4, 60), (62, 0));
}

/// A bound grows by use only in the probing phase.
#[test]
fn cruising_raises_no_bound_by_use() {
    let bound = |state| {
        let (mut bbr, windows) = model(state);
        (bbr.bounds.long_term, bbr.cycle.up_per_segment) = (80 * MSS, 2 * MSS);
        let mut ack = plain(START, 77);
        ack.delivered = 3 * MSS;
        bbr.adapt_long_term(&ack, &sample(0, 50, false), &windows);
        bbr.bounds.long_term / MSS
    };
    assert_eq!((bound(State::Up), bound(State::Cruise)), (81, 80));
}
