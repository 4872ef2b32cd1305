//! The rules of the controls that have few tests each.

use super::*;

/// RFC 9438 §4.2, eq. 1 and 2, with a window of 100 at the loss: W(t) = 0.4 (t − K)³ + 100 and K =
/// ³√(30/0.4) = 4.217 s: 70 at the start, 100 after K, 100 + 0.4 × 2³ two seconds later. Each 100
/// ms brings a window of acknowledgments; the curve is followed one round trip ahead and in whole
/// segments.
#[test]
fn cubic_follows_its_curve() {
    let mut congestion = with_control(CongestionControl::Cubic, 100);
    congestion.observe(&ack(0, 100, 100));
    congestion.on_loss(100 * MSS, None);
    assert_eq!(congestion.cwnd(), 70 * MSS);
    let mut at = std::collections::BTreeMap::new();
    for round in 0..80_u64 {
        let window = congestion.cwnd() / MSS;
        for index in 0..window {
            let now = 1000 + 100 * round + 100 * index / window;
            congestion.observe(&ack(now, 100, 100));
            congestion.on_acknowledged(MSS, false);
        }
        at.insert(100 * (round + 1), congestion.cwnd() / MSS);
    }
    let curve = |milliseconds: u64| {
        let t = milliseconds as f64 / 1000.0 + 0.1;
        0.4 * (t - (30.0_f64 / 0.4).cbrt()).powi(3) + 100.0
    };
    for milliseconds in [500, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000] {
        let (window, expected) = (at[&milliseconds] as f64, curve(milliseconds));
        assert!(
            (window - expected).abs() <= 0.04 * expected + 1.5,
            "after {milliseconds} ms: {window}, the curve {expected:.1}"
        );
    }
}

/// RFC 9438 §4.7: a flow that loses before returning to its mark of 100 sets the next mark at 80 ×
/// (1 + 0.7)/2 = 68.
#[test]
fn cubic_makes_room_for_others() {
    let mut congestion = with_control(CongestionControl::Cubic, 100);
    congestion.on_loss(100 * MSS, None);
    congestion.set_cwnd(80 * MSS);
    congestion.on_loss(80 * MSS, None);
    assert_eq!(congestion.cwnd(), 56 * MSS);
    let Control::WindowBased(WindowBased {
        rule: control::AnyRule::Cubic(cubic),
        ..
    }) = &congestion.control
    else {
        panic!("it is CUBIC");
    };
    assert!(format!("{cubic:?}").contains("mark: 68.0"), "{cubic:?}");
}

/// Westwood+ after three seconds of 1 MB/s, acknowledged by two segments at a time: round trips of
/// 200 ms, but for one of 50 ms. `duplicates`: every second acknowledgment is a duplicate.
fn westwood(duplicates: bool) -> Congestion {
    let mut congestion = with_control(CongestionControl::Westwood, 200);
    for pair in 1..1500 {
        let mut seen = ack(2 * pair, if pair == 2 { 50 } else { 200 }, 50);
        seen.una = 2 * MSS * if duplicates { pair / 2 * 2 } else { pair };
        congestion.observe(&seen);
    }
    congestion
}

/// Grieco & Mascolo with Linux's order: a steady 1 MB/s is estimated correctly; a loss halves the
/// window, and its repair leaves BWE × RTTmin, 50 segments at 50 ms, whatever the window was.
#[test]
fn westwood_leaves_what_the_bandwidth_fills() {
    let mut congestion = westwood(false);
    congestion.on_loss(200 * MSS, None);
    assert_eq!(congestion.cwnd(), 100 * MSS);
    congestion.on_reduction_over();
    let segments = congestion.cwnd() / MSS;
    assert!((48..=51).contains(&segments), "{segments}");
    assert_eq!(congestion.ssthresh(), congestion.cwnd());
}

/// A timeout leaves it as the threshold, and the minimum round trip is measured again.
#[test]
fn westwood_forgets_the_minimum_round_trip_at_a_timeout() {
    let mut congestion = westwood(false);
    congestion.on_timeout(120 * MSS, true);
    assert_eq!(congestion.cwnd(), MSS);
    let segments = congestion.ssthresh() / MSS;
    assert!((48..=51).contains(&segments), "{segments}");
    let mut seen = ack(3000, 200, 50);
    seen.una = 3000 * MSS;
    congestion.observe(&seen);
    congestion.on_reduction_over();
    let segments = congestion.cwnd() / MSS;
    assert!((195..=205).contains(&segments), "{segments}");
}

/// Without fast recovery no repair ends: the threshold is the estimate's at once.
#[test]
fn westwood_opens_to_the_estimate_in_tahoe() {
    let mut congestion = westwood(false);
    congestion.on_loss(200 * MSS, None);
    congestion.restart();
    assert_eq!(congestion.cwnd(), MSS);
    let segments = congestion.ssthresh() / MSS;
    assert!((48..=51).contains(&segments), "{segments}");
}

/// A duplicate stands for a segment, which the next acknowledgment of four does not count again:
/// the estimate is the same.
#[test]
fn westwood_counts_a_duplicate_once() {
    let mut congestion = westwood(true);
    congestion.on_reduction_over();
    let segments = congestion.cwnd() / MSS;
    assert!((48..=51).contains(&segments), "{segments}");
}

/// Fu & Liew §II: N = 100 × (RTT − BaseRTT)/RTT. At 102 of 100 ms it is 1.96: a fifth goes; at 110
/// it is 9.1: half.
#[test]
fn veno_asks_for_the_backlog() {
    let left = |rtt| {
        let mut congestion = with_control(CongestionControl::Veno, 100);
        for millisecond in 0..3 {
            let mut seen = ack(millisecond, rtt, 100);
            (seen.una, seen.nxt) = (millisecond * 10 * MSS, (millisecond * 10 + 5) * MSS);
            congestion.observe(&seen);
        }
        congestion.on_loss(100 * MSS, None);
        congestion.cwnd() / MSS
    };
    assert_eq!(left(102), 80);
    assert_eq!(left(110), 50);
}

/// Four acknowledgments with this round trip; the last ends a round that the previous one began;
/// the first two calls only begin.
fn vegas_round(congestion: &mut Congestion, round: u64, rtt: u64) {
    for part in 1..=4 {
        let mut seen = ack(round * 100 + part, rtt, 100);
        (seen.una, seen.nxt) = ((round * 8 + part) * MSS, (round * 8 + 11) * MSS);
        congestion.observe(&seen);
        congestion.on_acknowledged(MSS, false);
    }
}

/// Brakmo & Peterson §III.B with Linux' bounds: of a window of 100 segments 100 x (RTT - base)/base
/// wait. Below two it opens by a segment a round, above four it closes by one, between them it
/// stays.
#[test]
fn vegas_keeps_two_to_four_segments_waiting() {
    let mut congestion = with_control(CongestionControl::Vegas, 100);
    vegas_round(&mut congestion, 0, 100);
    vegas_round(&mut congestion, 1, 100);
    let mut moved = |round, rtt| {
        let before = congestion.cwnd() / MSS;
        vegas_round(&mut congestion, round, rtt);
        (congestion.cwnd() / MSS).cast_signed() - before.cast_signed()
    };
    assert_eq!(moved(2, 101), 1);
    assert_eq!(moved(3, 103), 0);
    assert_eq!(moved(4, 106), -1);
}

/// More than one segment waits: the window is that of the actual rate, 100 x 100/105 and one, and
/// slow start is over.
#[test]
fn vegas_leaves_slow_start_before_the_queue_fills() {
    let mut congestion = with_control(CongestionControl::Vegas, 100);
    congestion.windows.ssthresh = u64::MAX;
    vegas_round(&mut congestion, 0, 100);
    vegas_round(&mut congestion, 1, 100);
    assert!(congestion.in_slow_start());
    let before = congestion.cwnd() / MSS;
    vegas_round(&mut congestion, 2, 105);
    assert!(!congestion.in_slow_start());
    let after = congestion.cwnd() / MSS;
    assert!(after < before, "{after} after {before}");
}

/// Two round trips may both include the delay of an acknowledgment: the window grows as Reno's.
#[test]
fn vegas_is_reno_where_it_sees_too_little() {
    let mut congestion = with_control(CongestionControl::Vegas, 4);
    for round in 0..8 {
        let mut seen = ack(round * 100, 900, 100);
        (seen.una, seen.nxt) = ((round * 4 + 4) * MSS, (round * 4 + 8) * MSS);
        congestion.observe(&seen);
        congestion.on_acknowledged(4 * MSS, false);
    }
    assert!(congestion.cwnd() > 4 * MSS, "it grows with 800 ms of queue");
}

/// An acknowledgment of both segments of a window of two empties the network each time: a pause,
/// after which Linux begins a round that the next acknowledgment ends (`tcp_vegas_init`).
#[test]
fn vegas_grows_from_a_window_that_is_acknowledged_at_once() {
    let mut congestion = with_control(CongestionControl::Vegas, 2);
    for round in 1..=4 {
        let now = Instant::ZERO + Duration::from_millis(100 * round);
        congestion.on_idle_over(now, Duration::ZERO, 0, false);
        let mut seen = ack(round * 100 + 100, 100, 2);
        (seen.una, seen.nxt) = (round * 2 * MSS, round * 2 * MSS);
        congestion.observe(&seen);
        congestion.on_acknowledged(2 * MSS, false);
    }
    assert!(congestion.cwnd() > 3 * MSS, "{}", congestion.cwnd() / MSS);
}

/// Xu, Tian & Ansari §III.B: a steady 1 MB/s with round trips of 100 ms is estimated within a few
/// per cent, and a loss leaves RTTmin × R.
#[test]
fn jersey_leaves_what_the_estimate_allows() {
    let mut congestion = with_control(CongestionControl::Jersey, 200);
    for millisecond in 0..3000 {
        congestion.observe(&ack(millisecond, 100, 60));
    }
    congestion.on_loss(200 * MSS, None);
    let segments = congestion.cwnd() / MSS;
    assert!((56..=64).contains(&segments), "{segments}");
}

/// Growth by the acknowledgments of a full window, in segments.
fn grown_in_a_window(congestion: &mut Congestion) -> u64 {
    let before = congestion.cwnd() / MSS;
    for _ in 0..before {
        congestion.on_acknowledged(MSS, false);
    }
    congestion.cwnd() / MSS - before
}

/// No delay yet: ten segments a round trip, and a loss takes an eighth (`ALPHA_MAX`, `BETA_MIN`).
#[test]
fn illinois_grows_fast_while_no_queue_is_seen() {
    let mut congestion = with_control(CongestionControl::Illinois, 100);
    for round in 0..3 {
        vegas_round(&mut congestion, round, 100);
    }
    congestion.windows.cwnd = 100 * MSS;
    assert!((9..=10).contains(&grown_in_a_window(&mut congestion)));
    congestion.windows.cwnd = 100 * MSS;
    congestion.on_loss(100 * MSS, None);
    assert_eq!(congestion.cwnd() / MSS, 88);
}

/// Round trips of 100 to 200 ms, 150 in this round. Growth: 99 x 1280/(99 + 49 x 1242/38) = 74
/// 128ths of a segment. Reduction: (8 x 80 + 24 x 50 - 32 x 10)/(80 - 10) = 21 64ths of the window.
/// At the longest delay they are 38/128 (0.3) and a half.
#[test]
fn illinois_follows_the_delay() {
    let mut congestion = with_control(CongestionControl::Illinois, 100);
    for (round, rtt) in [(0, 100), (1, 100), (2, 200), (3, 150)] {
        vegas_round(&mut congestion, round, rtt);
    }
    congestion.windows.cwnd = 1280 * MSS;
    assert_eq!(grown_in_a_window(&mut congestion), 0);
    congestion.windows.cwnd = 100 * MSS;
    congestion.on_loss(100 * MSS, None);
    assert_eq!(congestion.cwnd() / MSS, 68);
    congestion.windows.cwnd = 100 * MSS;
    vegas_round(&mut congestion, 4, 200);
    congestion.windows.cwnd = 100 * MSS;
    congestion.on_loss(100 * MSS, None);
    assert_eq!(congestion.cwnd() / MSS, 50);
}

/// Below 15 segments it is Reno, and after a timeout until it has seen another round.
#[test]
fn illinois_is_reno_where_it_sees_too_little() {
    let mut small = with_control(CongestionControl::Illinois, 10);
    for round in 0..3 {
        vegas_round(&mut small, round, 100);
    }
    small.windows.cwnd = 10 * MSS;
    assert!(grown_in_a_window(&mut small) <= 1);
    small.windows.cwnd = 10 * MSS;
    small.on_loss(10 * MSS, None);
    assert_eq!(small.cwnd() / MSS, 5);
    let mut late = with_control(CongestionControl::Illinois, 100);
    for round in 0..3 {
        vegas_round(&mut late, round, 100);
    }
    late.on_timeout(100 * MSS, true);
    late.windows.cwnd = 100 * MSS;
    late.on_loss(100 * MSS, None);
    assert_eq!(late.cwnd() / MSS, 50);
}

/// Round trips of 150 ms, the target is 100: the first reduction an interval after the first of
/// them, then after 100/1, 100/root of 2, of 3 and of 4 ms more, each counted from an
/// acknowledgment, with one acknowledgment each millisecond.
#[test]
fn c2tcp_reduces_by_codels_law() {
    let mut congestion = with_control(CongestionControl::C2Tcp, 100);
    let mut times = Vec::new();
    for now in 0..400 {
        congestion.windows.cwnd = 100 * MSS;
        congestion.observe(&ack(now, 150, 50));
        if congestion.cwnd() == MSS {
            assert_eq!(congestion.ssthresh(), 70 * MSS);
            times.push(now);
        }
    }
    assert_eq!(times, [101, 202, 273, 331, 382]);
    // One short round trip, and the interval restarts.
    congestion.windows.cwnd = 100 * MSS;
    congestion.observe(&ack(400, 90, 50));
    for now in 401..=501 {
        congestion.observe(&ack(now, 150, 50));
        assert!(congestion.cwnd() > MSS, "at {now}");
    }
    congestion.observe(&ack(502, 150, 50));
    assert_eq!(congestion.cwnd(), MSS);
}

/// A round trip of 50 ms fits twice into the target: each acknowledgment counts for two, and 50 of
/// them add a segment to a window of 100.
#[test]
fn c2tcp_opens_the_window_while_round_trips_are_short() {
    let mut congestion = with_control(CongestionControl::C2Tcp, 100);
    for now in 0..49 {
        congestion.observe(&ack(now, 50, 50));
    }
    assert_eq!(congestion.cwnd(), 100 * MSS);
    congestion.observe(&ack(49, 50, 50));
    assert_eq!(congestion.cwnd(), 101 * MSS);
}
