//! The rules one by one, at their edges, by hand from `tcp_illinois.c`.

use airtcp_units::{Duration, Instant};

use super::*;

const MSS: u64 = 1000;

fn windows(segments: u64) -> Windows {
    Windows {
        mss: MSS,
        cwnd: segments * MSS,
        ssthresh: MSS,
        max: u64::MAX,
    }
}

fn illinois() -> Illinois {
    Illinois::start(&Config::default(), &windows(10))
}

/// An acknowledgment of everything below `una` of the data sent below `nxt`.
fn ack(una: u64, nxt: u64, rtt_us: u64, repairing: Repairing) -> Ack {
    Ack {
        now: Instant::ZERO,
        marked: 0,
        delivered: MSS,
        lost: 0,
        rtt: Some(Duration::from_micros(rtt_us)),
        minimum_rtt: Duration::ZERO,
        srtt: Duration::ZERO,
        una,
        nxt,
        in_flight_before: 0,
        held_back: 0,
        in_flight: 0,
        next_departure: Instant::ZERO,
        delivered_in_all: 0,
        lost_in_all: 0,
        rate: None,
        repairing,
    }
}

/// `alpha`: 10 segments up to a hundredth of the longest delay, and 0.3 at it. In between, of 100
/// ms: 99 000 x 1280/(99 000 + 1 x 1242/38) and 99 000 x 1280/(99 000 + 49 000 x 1242/38).
#[test]
fn growth_is_convex_in_the_delay() {
    for (delay, expected) in [
        (0, 1280),
        (1000, 1280),
        (1001, 1279),
        (50_000, 74),
        (100_000, 38),
    ] {
        assert_eq!(illinois().growth(delay, 100_000), expected, "{delay}");
    }
}

/// `theta`: once the delay was above, the growth stays for four rounds of low delay, counted though
/// others come between them.
#[test]
fn five_low_rounds_bring_the_fastest_growth() {
    let mut rule = illinois();
    rule.alpha = rule.growth(50_000, 100_000);
    for round in 1..=2 {
        assert_eq!(rule.growth(0, 100_000), 74, "{round}");
    }
    rule.alpha = rule.growth(100_000, 100_000);
    for round in 3..=4 {
        assert_eq!(rule.growth(1000, 100_000), 38, "{round}");
    }
    assert_eq!(rule.growth(1000, 100_000), MAX_ALPHA);
    assert_eq!(rule.growth(1000, 100_000), MAX_ALPHA);
}

/// `beta`: an eighth up to a tenth of the longest delay, a half from eight tenths on. In between:
/// (8 x 80 + 24 x 45 - 32 x 10)/70 = 20 64ths.
#[test]
fn reduction_is_linear_in_the_delay() {
    for (delay, expected) in [
        (0, 8),
        (10_000, 8),
        (45_000, 20),
        (79_999, 31),
        (80_000, 32),
        (100_000, 32),
    ] {
        assert_eq!(reduction(delay, 100_000), expected, "{delay}");
    }
    assert_eq!((reduction(0, 0), reduction(1, 1)), (MIN_BETA, MAX_BETA));
}

/// `win_thresh`: below 15 segments it is Reno.
#[test]
fn a_small_window_is_renos() {
    for (segments, expected) in [(14, (128, 32)), (15, (1280, 8))] {
        let mut rule = illinois();
        rule.observe(
            &ack(1, 100, 50_000, Repairing::Nothing),
            &mut windows(segments),
        );
        assert_eq!((rule.alpha, rule.beta), expected, "{segments}");
    }
}

/// `tcp_illinois_cong_avoid`: a round ends when more is acknowledged than was sent at its start,
/// and not in a repair; its samples do not count for the next.
#[test]
fn a_round_has_its_own_samples() {
    let mut windows = windows(100);
    let mut rule = illinois();
    rule.observe(&ack(1, 100, 20_000, Repairing::Nothing), &mut windows);
    assert_eq!((rule.round_ends, rule.samples), (100, 0));
    rule.observe(&ack(100, 150, 120_000, Repairing::Nothing), &mut windows);
    rule.observe(
        &ack(101, 160, 20_000, Repairing::FastRecovery),
        &mut windows,
    );
    assert_eq!((rule.round_ends, rule.samples, rule.beta), (100, 2, 8));
    rule.observe(&ack(102, 170, 70_000, Repairing::Nothing), &mut windows);
    // (8 x 80 + 24 x 50 - 32 x 10)/70: the average of 120, 20 and 70 ms is 50 above the least.
    assert_eq!((rule.round_ends, rule.samples, rule.beta), (170, 0, 21));
    assert_eq!(rule.alpha, 74);
}

/// `RTT_MAX`: 2^32 - 1 divided by 1280, in microseconds.
#[test]
fn a_round_trip_of_ten_seconds_counts_as_three() {
    let mut rule = illinois();
    rule.observe(
        &ack(0, 0, 10_000_000, Repairing::Nothing),
        &mut windows(100),
    );
    assert_eq!((rule.longest, rule.base), (3_355_443, 3_355_443));
}

/// `tcp_illinois_cong_avoid`: with one segment a round trip a window of ten grows at the tenth
/// acknowledgment; with ten, one of 30 segments adds three to a window of 100.
#[test]
fn growth_is_counted_in_whole_segments() {
    let mut rule = illinois();
    rule.alpha = ALPHA_UNIT;
    rule.covered = MSS;
    let grown: Vec<u64> = (0..20).map(|_| rule.grow(MSS, &windows(10))).collect();
    assert_eq!(grown.iter().sum::<u64>(), 2 * MSS);
    assert_eq!((grown[8], grown[9], grown[19]), (0, MSS, MSS));
    rule.alpha = MAX_ALPHA;
    rule.covered = 30 * MSS;
    assert_eq!(rule.grow(30 * MSS, &windows(100)), 3 * MSS);
}

/// `pkts_acked` of `struct ack_sample`: what an acknowledgment covers, though all but one segment
/// were SACKed before.
#[test]
fn growth_counts_what_an_acknowledgment_covers() {
    let mut rule = illinois();
    let mut covered = 0;
    for una in [1, 2, 32] {
        rule.observe(
            &ack(una * MSS, 100 * MSS, 1000, Repairing::FastRecovery),
            &mut windows(100),
        );
        covered += rule.covered / MSS;
    }
    assert_eq!((covered, rule.covered), (32, 30 * MSS));
    rule.alpha = MAX_ALPHA;
    assert_eq!(rule.grow(MSS, &windows(100)), 3 * MSS);
}

/// `tcp_illinois_ssthresh`: in whole segments, two at least, and the data acknowledged since the
/// last growth is forgotten.
#[test]
fn a_loss_takes_its_share() {
    let mut rule = illinois();
    let mut left = |beta, segments: u64| {
        rule.beta = beta;
        rule.acked = 5;
        let left = rule.threshold(segments * MSS, &windows(segments)) / MSS;
        assert_eq!(rule.acked, 0);
        left
    };
    assert_eq!(left(MIN_BETA, 100), 88);
    assert_eq!(left(MAX_BETA, 101), 51);
    assert_eq!(left(MAX_BETA, 3), 2);
}

/// `tcp_illinois_state`.
#[test]
fn a_timeout_forgets_the_delay() {
    let mut rule = illinois();
    (rule.alpha, rule.beta) = (MAX_ALPHA, MIN_BETA);
    (rule.was_above, rule.low_rounds, rule.acked) = (true, 3, 7);
    (rule.sum, rule.samples, rule.nxt) = (90, 2, 77);
    rule.on_timeout();
    assert_eq!((rule.alpha, rule.beta), (ALPHA_UNIT, MAX_BETA));
    assert_eq!((rule.was_above, rule.low_rounds, rule.acked), (false, 0, 0));
    assert_eq!((rule.sum, rule.samples, rule.round_ends), (0, 0, 77));
}
