//! The model's rules one by one, at their edges, by hand from draft-ietf-ccwg-bbr.

use super::*;

const START: Instant = Instant::from_nanos(1_000_000_000);

fn after(milliseconds: u64) -> Instant {
    START + Duration::from_millis(milliseconds)
}

/// A model past start-up that knows a bandwidth of 1 MB/s and a round trip of 100 ms, a hundred
/// segments, with a window of 80.
fn model(state: State) -> (BbrV3, Windows) {
    let windows = Windows {
        mss: MSS,
        cwnd: 80 * MSS,
        ssthresh: u64::MAX,
        max: u64::MAX,
    };
    let mut bbr = BbrV3::new(&windows);
    bbr.state = state;
    bbr.full = true;
    bbr.bandwidth.reset(0, BANDWIDTH);
    bbr.minimum_rtt = Some(RTT);
    bbr.minimum_rtt_at = START;
    bbr.probe_rtt_least = Some(RTT);
    bbr.probe_rtt_at = START;
    bbr.cycle_began = START;
    bbr.pace = BANDWIDTH;
    bbr.paced_by_rtt = true;
    (bbr, windows)
}

/// An acknowledgment at `now` that leaves `in_flight` segments.
fn plain(now: Instant, in_flight: u64) -> Ack {
    Ack {
        now,
        delivered: 0,
        lost: 0,
        rtt: None,
        minimum_rtt: RTT,
        srtt: RTT,
        una: 0,
        nxt: 0,
        in_flight_before: in_flight * MSS,
        in_flight: in_flight * MSS,
        next_departure: now,
        delivered_in_all: 700 * MSS,
        lost_in_all: 0,
        rate: None,
        repairing: Repairing::Nothing,
    }
}

fn sample(lost: u64, in_flight: u64, application_limited: bool) -> RateSample {
    RateSample {
        delivered: BANDWIDTH / 10,
        interval: RTT,
        prior_delivered: 0,
        lost,
        in_flight_at_send: in_flight * MSS,
        application_limited,
    }
}

/// Draft §5.5.10.2, `BBRLossThresh`: more than 2 % of what was in flight.
#[test]
fn two_per_cent_are_not_too_much() {
    assert!(!is_too_much(&sample(2000, 100, false)));
    assert!(is_too_much(&sample(2001, 100, false)));
}

/// Draft §5.6.4.2: the product, three quanta (of a millisecond's pace, at least two segments) and
/// four segments at least; two more while probing upwards.
#[test]
fn the_window_has_room_for_three_quanta() {
    let segments = |state, bandwidth, pace, gain| {
        let (mut bbr, windows) = model(state);
        bbr.bandwidth.reset(0, bandwidth);
        bbr.pace = pace;
        bbr.in_flight_at(gain, &windows) / MSS
    };
    assert_eq!(segments(State::Cruise, BANDWIDTH, BANDWIDTH, 1.0), 100);
    assert_eq!(segments(State::Up, BANDWIDTH, BANDWIDTH, 1.25), 127);
    assert_eq!(segments(State::Cruise, 10_000, 10_000, 1.0), 6);
    assert_eq!(segments(State::Cruise, 10_000, 5_000_000, 1.0), 15);
}

/// Draft §5.5.6: the bound less 15 %, at least a segment, and never below four.
#[test]
fn headroom_is_left_below_the_bound() {
    let headroom = |bound| {
        let (mut bbr, windows) = model(State::Cruise);
        bbr.long_term = bound;
        bbr.with_headroom(&windows)
    };
    assert_eq!(headroom(100 * MSS), 85 * MSS);
    assert_eq!(headroom(6 * MSS), 5 * MSS);
    assert_eq!(headroom(3 * MSS), 4 * MSS);
    assert_eq!(headroom(u64::MAX), u64::MAX);
}

/// Draft §5.5.10.3: in a round trip with losses the bounds fall to what was delivered, and to 0.7
/// of themselves at most; not while probing upwards.
#[test]
fn losses_bound_the_next_round_trips() {
    let bounds = |state, lost, latest: (u64, u64), earlier| {
        let (mut bbr, windows) = model(state);
        (bbr.round_start, bbr.lost_in_round) = (true, lost);
        (bbr.latest_bandwidth, bbr.latest_in_flight) = latest;
        bbr.short_term = earlier;
        bbr.update_bounds_of_now(&windows);
        assert!(!bbr.lost_in_round && bbr.latest_bandwidth == 0 && bbr.latest_in_flight == 0);
        bbr.short_term
    };
    let few = (600_000, 50_000);
    assert_eq!(
        bounds(State::Cruise, true, few, None),
        Some((700_000, 56_000))
    );
    assert_eq!(
        bounds(State::Cruise, true, (900_000, 70_000), None),
        Some((900_000, 70_000))
    );
    let earlier = Some((500_000, 40_000));
    assert_eq!(
        bounds(State::Down, true, (0, 0), earlier),
        Some((350_000, 28_000))
    );
    assert_eq!(bounds(State::Cruise, false, few, None), None);
    for probing in [State::Refill, State::Up, State::Startup] {
        assert_eq!(bounds(probing, true, few, None), None);
    }
}

/// Draft §5.3.1.2: three round trips without a quarter more; §5.3.1.3: six losses in one, in
/// recovery, and more than 2 %.
#[test]
fn start_up_ends_without_growth_or_with_many_losses() {
    let (mut bbr, _) = model(State::Startup);
    bbr.full = false;
    let round = |bbr: &mut BbrV3, rate, limited| {
        bbr.bandwidth.reset(0, rate);
        bbr.round_start = true;
        bbr.check_start_up(&plain(START, 50), &sample(0, 50, limited));
        (bbr.full_bandwidth, bbr.full_rounds, bbr.full)
    };
    assert_eq!(round(&mut bbr, 1000, false), (1000, 0, false));
    assert_eq!(round(&mut bbr, 1249, false), (1000, 1, false));
    assert_eq!(round(&mut bbr, 1249, true), (1000, 1, false));
    assert_eq!(round(&mut bbr, 1250, false), (1250, 0, false));
    assert_eq!(bbr.state, State::Startup);
    for rounds in 1..=3 {
        assert_eq!(round(&mut bbr, 1300, false), (1250, rounds, rounds == 3));
    }
    assert_eq!(bbr.state, State::Drain);
    let by_losses = |losses, repairing, lost| {
        let (mut bbr, _) = model(State::Startup);
        (bbr.full, bbr.losses_in_round, bbr.latest_in_flight) = (false, losses, 120 * MSS);
        let mut ack = plain(START, 50);
        ack.repairing = repairing;
        bbr.check_start_up(&ack, &sample(lost, 50, false));
        (bbr.full, bbr.long_term)
    };
    let fast = Repairing::FastRecovery;
    assert_eq!(by_losses(6, fast, 1001), (true, 120 * MSS));
    assert_eq!(by_losses(5, fast, 1001), (false, u64::MAX));
    assert_eq!(by_losses(6, Repairing::Nothing, 1001), (false, u64::MAX));
    assert_eq!(by_losses(6, fast, 1000), (false, u64::MAX));
}

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
    let bounded = |bbr: &mut BbrV3| bbr.long_term = 100 * MSS;
    assert_eq!(next_state(State::Down, soon, 86, bounded), State::Down);
    assert_eq!(next_state(State::Down, soon, 85, bounded), State::Cruise);
    assert_eq!(next_state(State::Refill, soon, 90, none), State::Refill);
    let round = |bbr: &mut BbrV3| bbr.round_start = true;
    assert_eq!(next_state(State::Refill, soon, 90, round), State::Up);
    let late = after(100) + Duration::from_nanos(1);
    assert_eq!(next_state(State::Up, after(100), 128, none), State::Up);
    assert_eq!(next_state(State::Up, late, 127, none), State::Up);
    assert_eq!(next_state(State::Up, late, 128, none), State::Down);
    let starting = |bbr: &mut BbrV3| bbr.full = false;
    assert_eq!(next_state(State::Up, late, 128, starting), State::Up);
}

/// Draft §5.3.3.8: after two to three seconds, or as many round trips as Reno takes for the window,
/// 63 at most.
#[test]
fn probing_waits_for_seconds_or_renos_rounds() {
    let probes = |now, rounds, bandwidth, cwnd| {
        let (mut bbr, mut windows) = model(State::Cruise);
        (bbr.wait, bbr.rounds_since_probe) = (Duration::from_secs(2), rounds);
        (bbr.short_term, bbr.up_rounds, bbr.up_acked) = (None, 3, 5);
        bbr.bandwidth.reset(0, bandwidth);
        windows.cwnd = cwnd * MSS;
        let probes = bbr.is_time_to_probe(&plain(now, 50), &windows);
        let reset = (bbr.up_rounds, bbr.up_acked) == (0, 0) && bbr.next_round == 700 * MSS;
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
    (bbr.short_term, bbr.rounds_since_probe) = (Some((1, 1)), 9);
    (bbr.samples_of_probe, bbr.up_per_segment) = (true, 5);
    bbr.go_down(&plain(Instant::from_nanos(5_250_000_000), 50));
    assert_eq!(bbr.wait, Duration::from_millis(2250));
    assert_eq!((bbr.state, bbr.short_term), (State::Down, None));
    assert_eq!((bbr.rounds_since_probe, bbr.cycles), (0, 1));
    assert_eq!(
        (bbr.up_per_segment, bbr.samples_of_probe),
        (u64::MAX, false)
    );
    assert_eq!(
        (bbr.cycle_began, bbr.next_round),
        (Instant::from_nanos(5_250_000_000), 700 * MSS)
    );
}

/// Draft §5.5.10.2: too many losses of a probe bound what is in flight by what was when the segment
/// was sent, or 0.7 of the target if that is more; without them the bound rises to what was in
/// flight.
#[test]
fn losses_of_a_probe_set_the_bound() {
    let bound = |state, probed, sample: RateSample, before| {
        let (mut bbr, windows) = model(state);
        (bbr.samples_of_probe, bbr.long_term) = (probed, before);
        bbr.adapt_long_term(&plain(START, 50), &sample, &windows);
        (bbr.long_term, bbr.state)
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
            bbr.raise_slope(&windows);
            bbr.up_per_segment / MSS
        })
        .collect();
    assert_eq!(slopes, [80, 40, 20, 10]);
    assert_eq!(bbr.up_rounds, 4);
    bbr.up_rounds = 29;
    bbr.raise_slope(&windows);
    assert_eq!((bbr.up_per_segment, bbr.up_rounds), (MSS, 30));
    bbr.raise_slope(&windows);
    assert_eq!(bbr.up_rounds, 30);
}

/// The bound rises only where the window is used, and is the bound.
#[test]
fn an_unused_window_raises_no_bound() {
    let bound = |in_flight, delivered, bound| {
        let (mut bbr, windows) = model(State::Up);
        (bbr.long_term, bbr.up_per_segment) = (bound * MSS, 2 * MSS);
        let mut ack = plain(START, in_flight);
        ack.delivered = delivered * MSS;
        bbr.probe_upward(&ack, &windows);
        (bbr.long_term / MSS, bbr.up_acked / MSS)
    };
    assert_eq!(bound(76, 3, 80), (80, 0), "a segment would fit");
    assert_eq!(bound(77, 3, 80), (81, 1));
    assert_eq!(bound(77, 3, 81), (81, 0), "the bound is above the window");
    assert_eq!(bound(76, 4, 60), (62, 0));
}

/// Draft §5.3.4: the round trip is probed when none as short was seen for five seconds, and the
/// minimum is the least of the last ten.
#[test]
fn the_round_trip_is_probed_after_five_seconds() {
    let at = |now, rtt, idle| {
        let (mut bbr, mut windows) = model(State::Cruise);
        bbr.idle_restart = idle;
        let mut ack = plain(now, 50);
        ack.rtt = Some(rtt);
        bbr.update_minimum_rtt(&ack, &mut windows);
        (bbr.minimum_rtt, bbr.state == State::ProbeRtt)
    };
    let longer = RTT + Duration::from_millis(1);
    let shorter = RTT - Duration::from_millis(1);
    let nanosecond = Duration::from_nanos(1);
    assert_eq!(at(after(5000), longer, false), (Some(RTT), false));
    assert_eq!(
        at(after(5000) + nanosecond, longer, false),
        (Some(RTT), true)
    );
    assert_eq!(
        at(after(5000) + nanosecond, longer, true),
        (Some(RTT), false)
    );
    assert_eq!(at(after(10_000), longer, true), (Some(RTT), false));
    assert_eq!(
        at(after(10_000) + nanosecond, longer, true),
        (Some(longer), false)
    );
    assert_eq!(at(after(100), shorter, false), (Some(shorter), false));
}

/// Draft §5.3.4.3: 200 ms and a round trip, with half of the product in flight.
#[test]
fn the_probe_lasts_200_ms_and_a_round() {
    for full in [false, true] {
        let (mut bbr, mut windows) = model(State::ProbeRtt);
        (bbr.full, bbr.prior_cwnd) = (full, 90 * MSS);
        let mut step = |now, in_flight, round_start| {
            bbr.round_start = round_start;
            bbr.probe_rtt(&plain(now, in_flight), &mut windows);
            (bbr.state == State::ProbeRtt, windows.cwnd / MSS)
        };
        assert_eq!(step(after(0), 51, true), (true, 80));
        assert_eq!(step(after(50), 50, true), (true, 80));
        assert_eq!(step(after(100), 50, true), (true, 80), "the round began");
        assert_eq!(step(after(250), 50, false), (true, 80), "200 ms");
        assert_eq!(step(after(251), 50, false), (false, 90));
        let expected = if full { State::Cruise } else { State::Startup };
        assert_eq!((bbr.state, bbr.probe_rtt_at), (expected, after(251)));
    }
}

/// Draft §5.6.4.4: the window before a recovery or a probe, or the larger one during them.
#[test]
fn the_last_good_window_is_kept() {
    let kept = |state, repairing, cwnd| {
        let (mut bbr, mut windows) = model(state);
        (bbr.prior_cwnd, bbr.repairing, windows.cwnd) = (50 * MSS, repairing, cwnd * MSS);
        bbr.save_cwnd(&windows);
        bbr.prior_cwnd / MSS
    };
    let (none, fast) = (Repairing::Nothing, Repairing::FastRecovery);
    assert_eq!(kept(State::Cruise, none, 20), 20);
    assert_eq!(kept(State::Cruise, fast, 20), 50);
    assert_eq!(kept(State::Cruise, fast, 60), 60);
    assert_eq!(kept(State::ProbeRtt, none, 20), 50);
}

/// Draft §5.5.3: the largest bandwidth, or what the path bears at present if that is less.
#[test]
fn the_rate_is_bounded_by_the_present() {
    let (mut bbr, _) = model(State::Cruise);
    for (present, rate) in [(600_000, 600_000), (2_000_000, BANDWIDTH)] {
        bbr.short_term = Some((present, 1));
        assert_eq!(bbr.rate(), rate);
    }
}

/// Draft §5.6.2: the first pace is a window in a nominal millisecond.
#[test]
fn the_first_pace_is_a_window_in_a_millisecond() {
    let (_, windows) = model(State::Startup);
    let pace = BbrV3::new(&windows).pacing_rate().as_bps() / 8;
    assert_eq!(pace, 80 * MSS * 1000 * 277 / 100);
}

/// Draft §5.6.2: a hundredth below the rate; the first round trip sets it once; before the pipe is
/// full it only rises.
#[test]
fn the_pace_is_a_hundredth_below_the_rate() {
    let pace = |full, pace, known| {
        let (mut bbr, windows) = model(State::Cruise);
        (bbr.full, bbr.pace, bbr.paced_by_rtt) = (full, pace, known);
        bbr.bandwidth.reset(0, BANDWIDTH / 2);
        bbr.set_pace(&plain(START, 50), &windows);
        assert!(bbr.paced_by_rtt);
        bbr.pace
    };
    assert_eq!(pace(true, 2 * BANDWIDTH, true), 495_000);
    assert_eq!(pace(false, 2 * BANDWIDTH, true), 2 * BANDWIDTH);
    assert_eq!(pace(false, BANDWIDTH / 4, true), 495_000);
    // 80 segments in 100 ms.
    assert_eq!(pace(false, 1, false), 800_000);
    let (mut bbr, windows) = model(State::Cruise);
    (bbr.full, bbr.pace, bbr.paced_by_rtt) = (false, 9 * BANDWIDTH, false);
    let mut ack = plain(START, 50);
    ack.srtt = Duration::ZERO;
    bbr.set_pace(&ack, &windows);
    assert_eq!((bbr.pace, bbr.paced_by_rtt), (9 * BANDWIDTH, false));
}

/// Draft §5.6.4: two products, in steps of what is delivered until there and at once from above,
/// within the bounds of each state, and the window of before when a recovery ends.
#[test]
fn the_window_is_two_products_within_its_bounds() {
    let window = |state, cwnd, delivered, change: &dyn Fn(&mut BbrV3)| {
        let (mut bbr, mut windows) = model(state);
        windows.cwnd = cwnd * MSS;
        change(&mut bbr);
        let mut ack = plain(START, 50);
        ack.delivered = delivered * MSS;
        bbr.set_cwnd(&ack, &mut windows);
        windows.cwnd / MSS
    };
    let none = |_: &mut BbrV3| {};
    assert_eq!(window(State::Cruise, 150, 10, &none), 160);
    assert_eq!(window(State::Cruise, 195, 10, &none), 200);
    assert_eq!(window(State::Cruise, 300, 10, &none), 200);
    assert_eq!(window(State::Up, 300, 10, &none), 225);
    assert_eq!(window(State::ProbeRtt, 300, 10, &none), 50);
    assert_eq!(window(State::ProbeRtt, 20, 10, &none), 30);
    let slow = |bbr: &mut BbrV3| bbr.bandwidth.reset(0, 10_000);
    assert_eq!(window(State::Cruise, 150, 10, &slow), 6, "three quanta");
    assert_eq!(window(State::ProbeRtt, 150, 10, &slow), 4);
    let aggregated = |bbr: &mut BbrV3| {
        bbr.aggregation
            .on_delivered(START, 30 * MSS, 0, u64::MAX, false);
    };
    assert_eq!(window(State::Cruise, 300, 10, &aggregated), 230);
    let bounded = |bbr: &mut BbrV3| bbr.long_term = 100 * MSS;
    assert_eq!(window(State::Cruise, 150, 10, &bounded), 85);
    assert_eq!(window(State::Up, 150, 10, &bounded), 100);
    assert_eq!(window(State::Drain, 150, 10, &bounded), 160);
    let short = |bbr: &mut BbrV3| bbr.short_term = Some((BANDWIDTH, 60 * MSS));
    assert_eq!(window(State::Cruise, 150, 10, &short), 60);
    let tiny = |bbr: &mut BbrV3| bbr.short_term = Some((BANDWIDTH, MSS));
    assert_eq!(window(State::Cruise, 150, 10, &tiny), 4);
    let repaired = |bbr: &mut BbrV3| {
        (bbr.repairing, bbr.prior_cwnd) = (Repairing::FastRecovery, 170 * MSS);
    };
    assert_eq!(window(State::Cruise, 50, 10, &repaired), 180);
    let before = |bbr: &mut BbrV3| bbr.prior_cwnd = 170 * MSS;
    assert_eq!(
        window(State::Cruise, 50, 10, &before),
        60,
        "nothing was repaired"
    );
    let starting = |bbr: &mut BbrV3| bbr.full = false;
    assert_eq!(window(State::Startup, 150, 10, &starting), 160);
    assert_eq!(window(State::Startup, 199, 10, &starting), 209);
    assert_eq!(window(State::Startup, 200, 10, &starting), 200);
}

/// Until an initial window, here of 80 segments, is delivered the window grows whatever the target.
#[test]
fn the_first_window_grows_by_what_is_delivered() {
    let window = |delivered_in_all| {
        let (mut bbr, mut windows) = model(State::Startup);
        (bbr.full, windows.cwnd) = (false, 300 * MSS);
        let mut ack = plain(START, 50);
        (ack.delivered, ack.delivered_in_all) = (2 * MSS, delivered_in_all);
        bbr.set_cwnd(&ack, &mut windows);
        windows.cwnd / MSS
    };
    assert_eq!(window(79_999), 302);
    assert_eq!(window(80_000), 300);
}

/// An equal sample leaves the times at which the minima were seen.
#[test]
fn an_equal_sample_renews_nothing() {
    let (mut bbr, mut windows) = model(State::Cruise);
    bbr.probe_rtt_at = after(1000);
    let mut ack = plain(after(4000), 50);
    ack.rtt = Some(RTT);
    bbr.update_minimum_rtt(&ack, &mut windows);
    assert_eq!((bbr.probe_rtt_at, bbr.minimum_rtt_at), (after(1000), START));
}

/// Draft §5.5.1: a round trip begins with the first segment sent after the last one began.
#[test]
fn a_round_trip_begins_with_what_was_sent_in_it() {
    let begins = |prior_delivered| {
        let (mut bbr, _) = model(State::Cruise);
        (bbr.next_round, bbr.rounds_since_probe) = (500 * MSS, 3);
        let mut sample = sample(0, 50, false);
        sample.prior_delivered = prior_delivered;
        bbr.update_round(&plain(START, 50), &sample);
        (
            bbr.round_start,
            bbr.rounds_since_probe,
            bbr.next_round / MSS,
        )
    };
    assert_eq!(begins(500 * MSS - 1), (false, 3, 500));
    assert_eq!(begins(500 * MSS), (true, 4, 700));
}

/// Draft §5.5.5: the largest of two cycles; samples that the application limited count only if they
/// are as large, and then renew it.
#[test]
fn the_bandwidth_is_the_largest_of_two_cycles() {
    let after_cycles = |samples: &[(u64, u64, bool)]| {
        let (mut bbr, mut windows) = model(State::Cruise);
        for &(cycle, rate, limited) in samples {
            bbr.cycles = cycle;
            let mut ack = plain(START, 50);
            let mut sample = sample(0, 50, limited);
            sample.delivered = rate / 10;
            ack.rate = Some(sample);
            bbr.observe(&ack, &mut windows);
        }
        bbr.bandwidth.get()
    };
    let half = BANDWIDTH / 2;
    assert_eq!(after_cycles(&[(1, half, false)]), BANDWIDTH);
    assert_eq!(after_cycles(&[(2, half, false)]), half);
    assert_eq!(after_cycles(&[(2, half, true)]), BANDWIDTH);
    assert_eq!(
        after_cycles(&[(1, BANDWIDTH, true), (2, half, false)]),
        BANDWIDTH
    );
}

/// A bound grows by use in the probing phase alone.
#[test]
fn cruising_raises_no_bound_by_use() {
    let bound = |state| {
        let (mut bbr, windows) = model(state);
        (bbr.long_term, bbr.up_per_segment) = (80 * MSS, 2 * MSS);
        let mut ack = plain(START, 77);
        ack.delivered = 3 * MSS;
        bbr.adapt_long_term(&ack, &sample(0, 50, false), &windows);
        bbr.long_term / MSS
    };
    assert_eq!((bound(State::Up), bound(State::Cruise)), (81, 80));
}

/// The time of a probe of the round trip runs from the first acknowledgment with little in flight.
#[test]
fn a_probe_counts_its_time_while_it_lasts() {
    for (state, ends) in [(State::ProbeRtt, Some(after(200))), (State::Cruise, None)] {
        let (mut bbr, mut windows) = model(state);
        bbr.update_minimum_rtt(&plain(START, 10), &mut windows);
        assert_eq!(bbr.probe_rtt_ends, ends);
    }
}

/// Losses count in segments, begun ones too, and without any nothing is noted.
#[test]
fn losses_of_a_round_trip_are_counted() {
    let counted = |lost| {
        let (mut bbr, mut windows) = model(State::Cruise);
        let mut ack = plain(START, 50);
        ack.lost = lost;
        bbr.observe(&ack, &mut windows);
        (bbr.lost_in_round, bbr.losses_in_round)
    };
    assert_eq!(counted(0), (false, 0));
    assert_eq!(counted(1000), (true, 1));
    assert_eq!(counted(1001), (true, 2));
}

/// A probe waits for a round trip that began in it.
#[test]
fn a_probe_waits_for_a_round() {
    let (mut bbr, mut windows) = model(State::ProbeRtt);
    for (now, round_start, probes) in [
        (after(50), true, true),
        (after(300), false, true),
        (after(310), true, false),
    ] {
        bbr.round_start = round_start;
        bbr.probe_rtt(&plain(now, 50), &mut windows);
        assert_eq!(bbr.state == State::ProbeRtt, probes, "{now:?}");
    }
}

/// Draft §5.4.1: a pause that the application made ends at the estimate's pace.
#[test]
fn a_pause_ends_at_the_pace_of_the_estimate() {
    for (state, expected) in [
        (State::Up, BANDWIDTH * 99 / 100),
        (State::Startup, 3 * BANDWIDTH),
    ] {
        let (mut bbr, _) = model(state);
        bbr.pace = 3 * BANDWIDTH;
        bbr.on_idle_over(START, Duration::from_secs(1));
        assert_eq!((bbr.pace, bbr.idle_restart), (expected, true));
    }
}
