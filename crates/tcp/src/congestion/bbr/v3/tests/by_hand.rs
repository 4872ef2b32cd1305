//! The model's rules one by one, at their edges, by hand from draft-ietf-ccwg-bbr.

use super::*;

/// Draft §5.5.10.2, `BBRLossThresh`: more than 2 % of the data in flight.
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
        bbr.pace.rate = pace;
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
        bbr.bounds.long_term = bound;
        bbr.bounds.with_headroom(&windows)
    };
    assert_eq!(headroom(100 * MSS), 85 * MSS);
    assert_eq!(headroom(6 * MSS), 5 * MSS);
    assert_eq!(headroom(3 * MSS), 4 * MSS);
    assert_eq!(headroom(u64::MAX), u64::MAX);
}

/// Draft §5.5.10.3: in a round trip with losses the bounds fall to the data delivered, and to 0.7
/// of themselves at most; not while probing upwards.
#[test]
fn losses_bound_the_next_round_trips() {
    let bounds = |state, lost, latest: (u64, u64), earlier| {
        let (mut bbr, windows) = model(state);
        (bbr.rounds.start, bbr.bounds.lost_in_round) = (true, lost);
        (bbr.bounds.latest_bandwidth, bbr.bounds.latest_in_flight) = latest;
        bbr.bounds.short_term = earlier;
        bbr.end_round(&windows);
        assert!(
            !bbr.bounds.lost_in_round
                && bbr.bounds.latest_bandwidth == 0
                && bbr.bounds.latest_in_flight == 0
        );
        bbr.bounds.short_term
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
    bbr.full.reached = false;
    let round = |bbr: &mut BbrV3, rate, limited| {
        bbr.bandwidth.reset(0, rate);
        bbr.rounds.start = true;
        bbr.check_start_up(&plain(START, 50), &sample(0, 50, limited));
        (bbr.full.bandwidth, bbr.full.rounds, bbr.full.reached)
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
        (
            bbr.full.reached,
            bbr.bounds.losses_in_round,
            bbr.bounds.latest_in_flight,
        ) = (false, losses, 120 * MSS);
        let mut ack = plain(START, 50);
        ack.repairing = repairing;
        bbr.check_start_up(&ack, &sample(lost, 50, false));
        (bbr.full.reached, bbr.bounds.long_term)
    };
    let fast = Repairing::FastRecovery;
    assert_eq!(by_losses(6, fast, 1001), (true, 120 * MSS));
    assert_eq!(by_losses(5, fast, 1001), (false, u64::MAX));
    assert_eq!(by_losses(6, Repairing::Nothing, 1001), (false, u64::MAX));
    assert_eq!(by_losses(6, fast, 1000), (false, u64::MAX));
}

/// Draft §5.3.4: the round trip is probed when no sample was as short for five seconds, and the
/// minimum is the least of the last ten.
#[test]
fn the_round_trip_is_probed_after_five_seconds() {
    let at = |now, rtt, idle| {
        let (mut bbr, mut windows) = model(State::Cruise);
        bbr.idle_restart = idle;
        let mut ack = plain(now, 50);
        ack.rtt = Some(rtt);
        bbr.update_minimum_rtt(&ack, &mut windows);
        (bbr.minimum_rtt.rtt, bbr.state == State::ProbeRtt)
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
        (bbr.full.reached, bbr.last_good.cwnd) = (full, 90 * MSS);
        let mut step = |now, in_flight, round_start| {
            bbr.rounds.start = round_start;
            bbr.probe_rtt(&plain(now, in_flight), &mut windows);
            (bbr.state == State::ProbeRtt, windows.cwnd / MSS)
        };
        assert_eq!(step(after(0), 51, true), (true, 80));
        assert_eq!(step(after(50), 50, true), (true, 80));
        assert_eq!(step(after(100), 50, true), (true, 80), "the round began");
        assert_eq!(step(after(250), 50, false), (true, 80), "200 ms");
        assert_eq!(step(after(251), 50, false), (false, 90));
        let expected = if full { State::Cruise } else { State::Startup };
        assert_eq!((bbr.state, bbr.recent_rtt.at), (expected, after(251)));
    }
}

/// Draft §5.5.3: the largest bandwidth, or the rate that the path sustains at present if that is
/// less.
#[test]
fn the_rate_is_bounded_by_the_present() {
    let (mut bbr, _) = model(State::Cruise);
    for (present, rate) in [(600_000, 600_000), (2_000_000, BANDWIDTH)] {
        bbr.bounds.short_term = Some((present, 1));
        assert_eq!(bbr.rate(), rate);
    }
}

/// Draft §5.6.2: the first pace is a window in a nominal millisecond.
#[test]
fn the_first_pace_is_a_window_in_a_millisecond() {
    let (_, windows) = model(State::Startup);
    let pace = BbrV3::new(&windows).pace.get().as_bps() / 8;
    assert_eq!(pace, 80 * MSS * 1000 * 277 / 100);
}

/// Draft §5.6.2: a hundredth below the rate; the first round trip sets it once; before the pipe is
/// full it only rises.
#[test]
fn the_pace_is_a_hundredth_below_the_rate() {
    let pace = |full, pace, known| {
        let (mut bbr, windows) = model(State::Cruise);
        (bbr.full.reached, bbr.pace.rate, bbr.pace.by_rtt) = (full, pace, known);
        bbr.bandwidth.reset(0, BANDWIDTH / 2);
        bbr.set_pace(&plain(START, 50), &windows);
        assert!(bbr.pace.by_rtt);
        bbr.pace.rate
    };
    assert_eq!(pace(true, 2 * BANDWIDTH, true), 495_000);
    assert_eq!(pace(false, 2 * BANDWIDTH, true), 2 * BANDWIDTH);
    assert_eq!(pace(false, BANDWIDTH / 4, true), 495_000);
    // 80 segments in 100 ms.
    assert_eq!(pace(false, 1, false), 800_000);
    let (mut bbr, windows) = model(State::Cruise);
    (bbr.full.reached, bbr.pace.rate, bbr.pace.by_rtt) = (false, 9 * BANDWIDTH, false);
    let mut ack = plain(START, 50);
    ack.srtt = Duration::ZERO;
    bbr.set_pace(&ack, &windows);
    assert_eq!((bbr.pace.rate, bbr.pace.by_rtt), (9 * BANDWIDTH, false));
}

/// Draft §5.6.4: two products, in steps of the data delivered until there and at once from above,
/// within the bounds of each state, and the earlier window when a recovery ends.
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
    let bounded = |bbr: &mut BbrV3| bbr.bounds.long_term = 100 * MSS;
    assert_eq!(window(State::Cruise, 150, 10, &bounded), 85);
    assert_eq!(window(State::Up, 150, 10, &bounded), 100);
    assert_eq!(window(State::Drain, 150, 10, &bounded), 160);
    let short = |bbr: &mut BbrV3| bbr.bounds.short_term = Some((BANDWIDTH, 60 * MSS));
    assert_eq!(window(State::Cruise, 150, 10, &short), 60);
    let tiny = |bbr: &mut BbrV3| bbr.bounds.short_term = Some((BANDWIDTH, MSS));
    assert_eq!(window(State::Cruise, 150, 10, &tiny), 4);
    let repaired = |bbr: &mut BbrV3| {
        (bbr.last_good.repairing, bbr.last_good.cwnd) = (Repairing::FastRecovery, 170 * MSS);
    };
    assert_eq!(window(State::Cruise, 50, 10, &repaired), 180);
    let before = |bbr: &mut BbrV3| bbr.last_good.cwnd = 170 * MSS;
    assert_eq!(
        window(State::Cruise, 50, 10, &before),
        60,
        "nothing was repaired"
    );
    let starting = |bbr: &mut BbrV3| bbr.full.reached = false;
    assert_eq!(window(State::Startup, 150, 10, &starting), 160);
    assert_eq!(window(State::Startup, 199, 10, &starting), 209);
    assert_eq!(window(State::Startup, 200, 10, &starting), 200);
}

/// Draft §5.5.1: a round trip begins with the first segment sent after the last one began.
#[test]
fn a_round_trip_begins_with_what_was_sent_in_it() {
    let begins = |prior_delivered| {
        let (mut bbr, _) = model(State::Cruise);
        (bbr.rounds.next, bbr.cycle.rounds_since_probe) = (500 * MSS, 3);
        let mut sample = sample(0, 50, false);
        sample.prior_delivered = prior_delivered;
        bbr.update_round(&plain(START, 50), &sample);
        (
            bbr.rounds.start,
            bbr.cycle.rounds_since_probe,
            bbr.rounds.next / MSS,
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
            bbr.cycle.count = cycle;
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

/// The time of a probe of the round trip runs from the first acknowledgment with little in flight.
#[test]
fn a_probe_counts_its_time_while_it_lasts() {
    for (state, ends) in [(State::ProbeRtt, Some(after(200))), (State::Cruise, None)] {
        let (mut bbr, mut windows) = model(state);
        bbr.update_minimum_rtt(&plain(START, 10), &mut windows);
        assert_eq!(bbr.rtt_probe.ends, ends);
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
        (bbr.bounds.lost_in_round, bbr.bounds.losses_in_round)
    };
    assert_eq!(counted(0), (false, 0));
    assert_eq!(counted(1000), (true, 1));
    assert_eq!(counted(1001), (true, 2));
}

/// Draft §5.4.1: a pause that the application made ends at the estimate's pace.
#[test]
fn a_pause_ends_at_the_pace_of_the_estimate() {
    for (state, expected) in [
        (State::Up, BANDWIDTH * 99 / 100),
        (State::Startup, 3 * BANDWIDTH),
    ] {
        let (mut bbr, _) = model(state);
        bbr.pace.rate = 3 * BANDWIDTH;
        bbr.on_idle_over(START);
        assert_eq!((bbr.pace.rate, bbr.idle_restart), (expected, true));
    }
}
