//! The model's rules one by one, at their edges, by hand from `tcp_bbr.c`.

use super::*;

/// A model that knows a bandwidth of 1 MB/s and a round trip of 100 ms, a hundred segments.
fn model(mode: Mode) -> (Bbr, Windows) {
    let windows = windows(10);
    let mut bbr = Bbr::new(&windows, 10);
    bbr.mode = mode;
    bbr.bandwidth.reset(0, BANDWIDTH);
    bbr.minimum_rtt.rtt = Some(RTT);
    bbr.minimum_rtt.at = START;
    bbr.pace.rate = BANDWIDTH;
    bbr.pace.by_rtt = true;
    (bbr, windows)
}

/// The cycle at `phase`, which began at the start.
const fn cycle(phase: usize) -> Mode {
    Mode::ProbeBandwidth(Cycle {
        phase,
        began: START,
    })
}

/// The phase of the cycle.
fn phase(bbr: &Bbr) -> usize {
    let Mode::ProbeBandwidth(cycle) = bbr.mode else {
        panic!("{:?} is no cycle", bbr.mode)
    };
    cycle.phase
}

/// The probe of the round trip at its start.
fn probing_rtt() -> Mode {
    Mode::ProbeRtt(RttProbe::default())
}

fn sample(rate: u64, application_limited: bool) -> RateSample {
    RateSample {
        application_limited,
        ..testbed::sample_of(rate)
    }
}

/// `bbr_quantization_budget`: three bursts, even, and two more while probing upwards; a burst is
/// 2^-10 s of the pace, at least two segments from 1.2 Mbit/s on.
#[test]
fn the_window_has_room_for_three_bursts() {
    let segments = |mode, pace, bytes| {
        let (mut bbr, windows) = model(mode);
        bbr.pace.rate = pace;
        bbr.with_quantum(bytes, &windows) / MSS
    };
    assert_eq!(segments(Mode::Startup, BANDWIDTH, 10_000), 16);
    assert_eq!(segments(Mode::Startup, BANDWIDTH, 10_001), 18);
    assert_eq!(segments(cycle(0), BANDWIDTH, 10_000), 18);
    assert_eq!(segments(cycle(1), BANDWIDTH, 10_000), 16);
    assert_eq!(segments(Mode::Startup, 5_000_000, 10_000), 22);
    assert_eq!(segments(Mode::Startup, 100_000, 10_000), 14);
}

/// `bbr_packets_in_net_at_edt`: data that leaves until the next departure is gone, and the burst
/// that leaves then counts while probing upwards.
#[test]
fn the_network_drains_until_the_next_departure() {
    let in_network = |mode| {
        let (bbr, windows) = model(mode);
        let mut ack = plain(START, 50);
        ack.next_departure = after(10);
        bbr.in_network(&ack, 50 * MSS, &windows) / MSS
    };
    assert_eq!(in_network(probing_rtt()), 50 - 10);
    assert_eq!(in_network(Mode::Startup), 50 + 2 - 10);
}

/// `bbr_init_pacing_rate_from_rtt` without a round trip: the window in a nominal millisecond.
#[test]
fn the_first_pace_is_a_window_in_a_millisecond() {
    let pace = Bbr::new(&windows(10), 10).pacing_rate().as_bps() as f64 / 8.0;
    let expected = 10_000_000.0 * 2.885 * 0.99;
    assert!((pace / expected - 1.0).abs() < 2e-3, "{pace}");
}

/// `bbr_update_bw`: the largest of ten round trips; samples that the application limited count only
/// if they are as large, and do not age the others.
#[test]
fn the_bandwidth_is_the_largest_of_ten_round_trips() {
    let after_rounds = |rounds: u64, rate, limited| {
        let (mut bbr, _) = model(Mode::Startup);
        for round in 1..=rounds {
            let mut ack = plain(after(100 * round), 50);
            ack.delivered_in_all = round * 1000;
            bbr.rounds.next = 0;
            bbr.update_bandwidth(&ack, &sample(rate, limited));
        }
        bbr.bandwidth.get()
    };
    assert_eq!(after_rounds(10, BANDWIDTH / 2, false), BANDWIDTH);
    assert_eq!(after_rounds(11, BANDWIDTH / 2, false), BANDWIDTH / 2);
    assert_eq!(after_rounds(12, BANDWIDTH / 2, true), BANDWIDTH);
    assert_eq!(after_rounds(1, 2 * BANDWIDTH, true), 2 * BANDWIDTH);
}

/// A sample as large as the largest renews it, though the application limited it.
#[test]
fn an_equal_sample_renews_the_bandwidth() {
    let (mut bbr, _) = model(Mode::Startup);
    for round in 1..=12 {
        let mut ack = plain(after(100 * round), 50);
        ack.delivered_in_all = round * 1000;
        bbr.rounds.next = 0;
        let equal = round == 5;
        let rate = if equal { BANDWIDTH } else { BANDWIDTH / 2 };
        bbr.update_bandwidth(&ack, &sample(rate, equal));
    }
    assert_eq!(bbr.bandwidth.get(), BANDWIDTH);
}

/// Linux, `bbr_lt_bw_max_rtts`: forgotten after 48 round trips of the cycle, and not in start-up.
#[test]
fn a_policers_rate_is_forgotten_in_the_cycle_alone() {
    for (mode, rate) in [(cycle(0), BANDWIDTH), (Mode::Startup, 200_000)] {
        let (mut bbr, _) = model(mode);
        let mut ack = plain(START, 50);
        ack.lost_in_all = 0;
        for round in 1..=8 + 48_u64 {
            ack.now = after(100 * round);
            ack.delivered_in_all += 20_000;
            ack.lost = if round > 8 { 0 } else { 5000 };
            ack.lost_in_all += ack.lost;
            bbr.rounds.next = 0;
            bbr.update_bandwidth(&ack, &sample(BANDWIDTH, false));
            if (8..56).contains(&round) {
                assert_eq!(bbr.rate(), 200_000, "{:?}, round {round}", bbr.mode);
            }
        }
        assert_eq!(bbr.rate(), rate, "{:?}", bbr.mode);
    }
}

/// An interval begins at the first loss; earlier data, twice as fast, does not count.
#[test]
fn what_comes_before_the_first_loss_is_no_policers_rate() {
    let (mut bbr, _) = model(cycle(0));
    let mut ack = plain(START, 50);
    ack.lost_in_all = 0;
    for round in 1..=11_u64 {
        let lossy = round > 3;
        ack.now = after(100 * round);
        ack.delivered_in_all += if lossy { 20_000 } else { 40_000 };
        ack.lost = if lossy { 5000 } else { 0 };
        ack.lost_in_all += ack.lost;
        bbr.rounds.next = 0;
        bbr.update_bandwidth(&ack, &sample(BANDWIDTH, false));
    }
    assert_eq!(bbr.rate(), 200_000);
}

/// Linux, `bbr_lt_bw_sampling`: 200 kB/s with a fifth lost, round by round, are a policer's rate
/// after eight of them, at a gain of one; forgotten when a loss was spurious.
#[test]
fn a_policer_sets_bandwidth_and_gain() {
    let (mut bbr, _) = model(cycle(0));
    for round in 1..=8_u64 {
        let mut ack = plain(after(100 * round), 50);
        (ack.delivered_in_all, ack.lost_in_all) = (20_000 * round, 5000 * round);
        ack.lost = 5000;
        bbr.rounds.next = 0;
        assert_eq!(bbr.rate(), BANDWIDTH, "round {round}");
        bbr.update_bandwidth(&ack, &sample(BANDWIDTH, false));
        bbr.told = (ack.delivered_in_all, ack.lost_in_all);
    }
    assert_eq!(bbr.rate(), 200_000);
    bbr.mode = cycle(0);
    assert!((bbr.pacing_gain() - 1.0).abs() < 1e-9);
    bbr.on_taken_back();
    assert_eq!(bbr.rate(), BANDWIDTH);
    assert!((bbr.pacing_gain() - 1.25).abs() < 1e-9);
}

/// Whether a phase ends at `milliseconds` after its start, with `in_flight` segments.
fn ends(before: usize, at: Instant, in_flight: u64, lost: u64) -> bool {
    let (mut bbr, windows) = model(cycle(before));
    let mut ack = plain(at, in_flight);
    ack.lost = lost;
    bbr.update_phase(&ack, &windows);
    phase(&bbr) != before
}

/// `bbr_is_next_cycle_phase`: 1.25 lasts a round trip, and until there is as much in flight, 125
/// segments, the quantum of six and two more, or a loss; with the burst of two that leaves next.
/// 0.75 lasts a round trip at most, and until there are 106. 1 lasts a round trip.
#[test]
fn phases_end_at_their_edges() {
    let long_enough = after(100) + Duration::from_nanos(1);
    assert!(!ends(0, after(100), 200, MSS));
    assert!(ends(0, long_enough, 200, 0));
    assert!(!ends(0, long_enough, 131, 0));
    assert!(ends(0, long_enough, 132, 0));
    assert!(ends(0, long_enough, 10, 1));
    assert!(!ends(0, long_enough, 10, 0));
    assert!(ends(1, START, 106, 0));
    assert!(!ends(1, after(100), 107, 0));
    assert!(ends(1, long_enough, 107, 0));
    assert!(!ends(2, after(100), 10, MSS));
    assert!(ends(2, long_enough, 300, 0));
}

/// `bbr_check_drain`: until no more than the product and the quantum is in the network.
#[test]
fn draining_ends_at_the_product() {
    let drains = |in_flight| {
        let (mut bbr, mut windows) = model(Mode::Drain);
        bbr.check_drain(&plain(START, in_flight), &mut windows);
        matches!(bbr.mode, Mode::Drain)
    };
    assert!(drains(107));
    assert!(!drains(106));
}

/// `bbr_reset_probe_bw_mode`: any phase but the draining one.
#[test]
fn the_cycle_begins_in_any_phase_but_the_second() {
    let phases: Vec<usize> = (0..8)
        .map(|micros| {
            let now = Instant::from_nanos(7_000_001 + 1000 * micros);
            Cycle::at(now).phase
        })
        .collect();
    assert_eq!(phases, [0, 2, 3, 4, 5, 6, 7, 0]);
}

/// `bbr_update_min_rtt`: ten seconds, and not before.
#[test]
fn a_minimum_is_ten_seconds_old_when_it_expires() {
    let at = |now, rtt, idle| {
        let (mut bbr, mut windows) = model(cycle(0));
        bbr.idle_restart = idle;
        let mut ack = plain(now, 50);
        ack.rtt = Some(rtt);
        bbr.update_minimum_rtt(&ack, &mut windows);
        (bbr.minimum_rtt.rtt, bbr.is_probing_rtt())
    };
    let longer = RTT + Duration::from_millis(1);
    let expired = after(10_000) + Duration::from_nanos(1);
    assert_eq!(at(after(10_000), longer, false), (Some(RTT), false));
    assert_eq!(at(expired, longer, false), (Some(longer), true));
    assert_eq!(at(expired, longer, true), (Some(longer), false));
    let shorter = RTT - Duration::from_nanos(1);
    assert_eq!(at(after(5000), shorter, false), (Some(shorter), false));
}

/// `bbr_init`: the handshake's round trip is the first minimum, ten seconds old ten seconds after
/// the handshake, however much longer data takes that a slow link has to send.
#[test]
fn the_handshakes_round_trip_is_the_first_minimum() {
    let (mut bbr, mut windows) = model(Mode::Startup);
    bbr.minimum_rtt.rtt = None;
    let data = RTT + Duration::from_millis(12);
    let mut ack = plain(after(112), 50);
    (ack.rtt, ack.minimum_rtt) = (Some(data), RTT);
    bbr.observe(&ack, &mut windows);
    assert_eq!(
        (bbr.minimum_rtt.rtt, bbr.minimum_rtt.at),
        (Some(RTT), START)
    );
    ack.now = after(10_000);
    bbr.observe(&ack, &mut windows);
    assert_eq!(bbr.minimum_rtt.rtt, Some(RTT));
    ack.now = after(10_001);
    bbr.observe(&ack, &mut windows);
    assert_eq!(bbr.minimum_rtt.rtt, Some(data));
}

/// `bbr_check_probe_rtt_done`: 200 ms with four segments, and a round trip that began in them; then
/// the window comes back, and start-up goes on where it was not over.
#[test]
fn the_round_trip_is_probed_for_200_ms_and_a_round() {
    for full in [false, true] {
        let (mut bbr, mut windows) = model(probing_rtt());
        (bbr.full.reached, bbr.last_good.cwnd) = (full, 70 * MSS);
        let mut step = |now, in_flight, round_start| {
            bbr.rounds.start = round_start;
            bbr.probe_rtt(&plain(now, in_flight), &mut windows);
            (bbr.is_probing_rtt(), windows.cwnd / MSS)
        };
        assert_eq!(step(after(0), 5, true), (true, 10));
        assert_eq!(step(after(50), 4, true), (true, 10));
        assert_eq!(step(after(100), 4, true), (true, 10), "the round began");
        assert_eq!(step(after(250), 4, false), (true, 10), "200 ms");
        assert_eq!(step(after(251), 4, false), (false, 70));
        assert_eq!(
            (bbr.mode.is_cycling(), bbr.mode.is_startup()),
            (full, !full)
        );
        assert_eq!(bbr.minimum_rtt.at, after(251));
    }
}

/// `bbr_set_cwnd`: two products of a hundred segments and the quantum of six, plus the data
/// acknowledged in excess of the bandwidth, at most 100 ms of it; in steps of the data delivered
/// until there, and at once from above.
#[test]
fn the_window_is_two_products() {
    let window = |full, cwnd, delivered, aggregated| {
        let (mut bbr, mut windows) = model(cycle(2));
        (bbr.full.reached, windows.cwnd) = (full, cwnd * MSS);
        bbr.aggregation
            .on_delivered(START, aggregated * MSS, 0, u64::MAX, false);
        let ack = in_recovery(delivered * MSS, 0, 50 * MSS, Repairing::Nothing);
        bbr.set_cwnd(&ack, &mut windows);
        windows.cwnd / MSS
    };
    assert_eq!(window(true, 150, 10, 0), 160);
    assert_eq!(window(true, 200, 10, 0), 206);
    assert_eq!(window(true, 300, 10, 0), 206);
    assert_eq!(window(true, 300, 10, 30), 236);
    assert_eq!(
        window(true, 400, 10, 150),
        306,
        "100 ms are a hundred segments"
    );
    assert_eq!(window(false, 150, 10, 30), 160);
    assert_eq!(window(false, 205, 10, 30), 215, "the target is 206");
    assert_eq!(window(false, 206, 10, 0), 206);
    assert_eq!(window(true, 300, 0, 0), 300, "nothing is delivered");
    assert_eq!(window(true, 1, 1, 0), 4, "four at least");
    let (mut bbr, mut windows) = model(probing_rtt());
    windows.cwnd = 50 * MSS;
    bbr.set_cwnd(&plain(START, 50), &mut windows);
    assert_eq!(windows.cwnd, 4 * MSS);
}

/// Until an initial window is delivered the window grows whatever the target (`bbr_set_cwnd`). The
/// SYN is one of its ten packets (`tp->delivered`).
#[test]
fn the_first_window_grows_by_what_is_delivered() {
    let window = |delivered_in_all| {
        let (mut bbr, mut windows) = model(Mode::Startup);
        bbr.bandwidth.reset(0, 1000);
        let mut ack = in_recovery(2 * MSS, 0, 5 * MSS, Repairing::Nothing);
        ack.delivered_in_all = delivered_in_all;
        bbr.set_cwnd(&ack, &mut windows);
        windows.cwnd / MSS
    };
    assert_eq!(window(8999), 12);
    // 0.3 segments and the quantum of three: four.
    assert_eq!(window(9000), 10);
}

/// `bbr_cwnd_event`: a pause that the application made ends at the estimate's pace.
#[test]
fn a_pause_ends_at_the_pace_of_the_estimate() {
    for (mode, expected) in [
        (cycle(0), BANDWIDTH * 99 / 100),
        (Mode::Startup, 3 * BANDWIDTH),
    ] {
        let (mut bbr, _) = model(mode);
        bbr.pace.rate = 3 * BANDWIDTH;
        bbr.on_idle_over(START);
        assert_eq!((bbr.pace.rate, bbr.idle_restart), (expected, true));
    }
}

/// The aggregation counts samples that deliver, and no others (`bbr_update_ack_aggregation`).
#[test]
fn only_samples_that_deliver_are_aggregated() {
    let most = |delivered, rate| {
        let (mut bbr, mut windows) = model(cycle(0));
        windows.cwnd = 300 * MSS;
        let mut ack = plain(START, 50);
        (ack.delivered, ack.rate) = (delivered * MSS, rate);
        bbr.observe(&ack, &mut windows);
        bbr.aggregation.most() / MSS
    };
    let some = Some(sample(BANDWIDTH, false));
    assert_eq!(most(20, some), 20);
    assert_eq!(most(20, None), 0);
    assert_eq!(most(0, some), 0);
}
