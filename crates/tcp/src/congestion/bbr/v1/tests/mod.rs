use super::super::testbed::{self, BANDWIDTH, MSS, RTT, START, after, plain, windows};
use super::*;

mod by_hand;

fn path() -> testbed::Path<Bbr> {
    testbed::Path::new(|windows| Bbr::new(windows, 10))
}

/// Cardwell et al.: a gain of 2/ln 2 doubles the rate each round trip; three round trips without
/// growth end start-up, and draining takes the inverse gain until at most the product is in flight.
#[test]
fn start_up_doubles_and_ends_at_the_bandwidth() {
    let mut path = path();
    assert!((path.bbr.pacing_gain() - 2.885).abs() < 2e-3);
    let mut rounds = 0;
    while path.bbr.mode.is_startup() {
        path.round(300 * MSS, 0);
        rounds += 1;
        assert!(rounds < 12, "start-up does not end");
    }
    assert!(matches!(path.bbr.mode, Mode::Drain));
    assert!((path.bbr.pacing_gain() - 1.0 / 2.885).abs() < 4e-3);
    assert_eq!(path.bbr.bandwidth.get(), BANDWIDTH);
    path.round(90 * MSS, 0);
    assert!(path.bbr.mode.is_cycling());
}

/// Eight phases of a round trip each: 1.25, 0.75 and six of 1, around two products in the window.
#[test]
fn the_probe_cycle_goes_up_once_and_down_once_in_eight() {
    let mut path = path();
    for _ in 0..12 {
        path.round(300 * MSS, 0);
    }
    path.round(50 * MSS, 0);
    let mut gains = Vec::new();
    for _ in 0..32 {
        // Enough in flight to end a phase of probing, little enough to end one of draining.
        let in_flight = if path.bbr.pacing_gain() > 1.0 {
            140 * MSS
        } else {
            90 * MSS
        };
        gains.push(path.bbr.pacing_gain());
        path.round(in_flight, 0);
    }
    let ups = gains.iter().filter(|&&gain| gain > 1.0).count();
    let downs = gains.iter().filter(|&&gain| gain < 1.0).count();
    assert!((2..=6).contains(&ups), "{gains:?}");
    assert!(downs <= ups + 1, "{gains:?}");
    let segments = path.windows.cwnd / MSS;
    // Two products of 100, the quantum, and the aggregation.
    assert!((200..=220).contains(&segments), "{segments}");
}

/// A minimum round trip ten seconds old is re-measured with four segments, for 200 ms.
#[test]
fn the_round_trip_is_probed_every_ten_seconds() {
    let mut path = path();
    for _ in 0..95 {
        path.round(90 * MSS, 0);
    }
    assert!(!path.bbr.is_probing_rtt());
    let mut probing = 0;
    for _ in 0..20 {
        path.round(4 * MSS, 0);
        if path.bbr.is_probing_rtt() {
            probing += 1;
            assert_eq!(path.windows.cwnd, 4 * MSS);
        }
    }
    assert!((2..=4).contains(&probing), "{probing} round trips");
    assert!(path.windows.cwnd > 100 * MSS, "the window comes back");
}

/// Linux, `bbr_init_pacing_rate_from_rtt`: the first round trip sets the pace to 2.885 windows in
/// it, less one per cent; later ones do not. Ten segments in 100 ms are 100 kB/s.
#[test]
fn the_first_round_trip_sets_the_pace_once() {
    let mut path = path();
    for srtt in [Duration::from_millis(100), Duration::from_millis(200)] {
        let mut ack = plain(path.now, 0);
        ack.srtt = srtt;
        path.bbr.set_pace(&ack, &path.windows);
        let pace = path.bbr.pacing_rate().as_bps() as f64 / 8.0;
        let share = pace / (100_000.0 * 2.885 * 0.99);
        assert!((share - 1.0).abs() < 2e-3, "{srtt}: {pace}");
    }
}

/// Linux, `bbr_set_cwnd`: until the bandwidth is known the window grows by the data delivered. Ten
/// segments become 110 when a hundred have arrived.
#[test]
fn start_up_opens_the_window_by_what_is_delivered() {
    let mut path = path();
    path.round(10 * MSS, 0);
    assert_eq!((path.delivered, path.windows.cwnd), (100 * MSS, 110 * MSS));
}

/// An acknowledgment of `delivered` bytes, of `lost` more found lost, with `in_flight` left.
fn in_recovery(delivered: u64, lost: u64, in_flight: u64, repairing: Repairing) -> Ack {
    Ack {
        delivered,
        lost,
        in_flight,
        repairing,
        ..plain(START, 0)
    }
}

/// Linux, `bbr_set_cwnd_to_recover_or_restore`: a recovery begins with the data in flight and the
/// data just delivered; for a round trip data delivered is replaced, and lost data is not; the end
/// restores the earlier window.
#[test]
fn a_recovery_conserves_packets_for_a_round_trip() {
    let mut path = path();
    path.windows.cwnd = 200 * MSS;
    path.bbr.on_loss(&path.windows);
    let mut steps = |segments: [u64; 3], repairing| {
        let [delivered, lost, in_flight] = segments.map(|segments| segments * MSS);
        let ack = in_recovery(delivered, lost, in_flight, repairing);
        let sets = path.bbr.recover(&ack, &mut path.windows);
        (sets, path.windows.cwnd / MSS, path.bbr.rounds.next / MSS)
    };
    let fast = Repairing::FastRecovery;
    assert_eq!(steps([2, 1, 60], fast), (true, 62, 700));
    assert_eq!(steps([3, 0, 60], fast), (true, 63, 700));
    assert_eq!(steps([1, 0, 50], fast), (true, 63, 700), "not less");
    assert_eq!(steps([1, 5, 50], fast), (true, 58, 700));
    assert_eq!(steps([1, 0, 50], Repairing::Nothing), (false, 200, 700));
    // Into an empty network one segment leaves.
    assert_eq!(steps([0, 0, 0], fast), (true, 1, 700));
}

/// The gains of pace and window, and how long each lasts, in acknowledgments 10 ms apart: a phase
/// of 1 outlasts a round trip of 100 ms; probing lasts as long, with enough in flight; and draining
/// ends as soon as no more than the product is in flight (Cardwell et al.; Linux,
/// `bbr_is_next_cycle_phase`).
#[test]
fn each_phase_of_the_cycle_lasts_a_round_trip() {
    let mut path = path();
    for _ in 0..12 {
        path.round(300 * MSS, 0);
    }
    path.round(50 * MSS, 0);
    let mut phases: Vec<(f64, u32)> = Vec::new();
    for _ in 0..250 {
        let gain = path.bbr.pacing_gain();
        match phases.last_mut() {
            Some((last, count)) if (*last - gain).abs() < 1e-9 => *count += 1,
            _ => phases.push((gain, 1)),
        }
        assert!((path.bbr.mode.cwnd_gain() - 2.0).abs() < 1e-9);
        let in_flight = if gain > 1.0 { 140 } else { 90 };
        path.acknowledge(in_flight * MSS);
    }
    // The first may have begun before, the last goes on.
    let whole = &phases[1..phases.len() - 1];
    assert!(whole.len() >= 6, "{phases:?}");
    for (gain, count) in whole {
        let expected = if *gain > 1.0 {
            11
        } else if *gain < 1.0 {
            1
        } else {
            66
        };
        assert_eq!(*count, expected, "gain {gain}: {phases:?}");
    }
    let gains: Vec<f64> = whole.iter().map(|phase| phase.0).collect();
    assert!(
        gains
            .windows(3)
            .all(|three| three.contains(&0.75) && three.contains(&1.25)),
        "{gains:?}"
    );
}
