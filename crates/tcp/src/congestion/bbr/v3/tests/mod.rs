use super::*;

mod by_hand;

const MSS: u64 = 1000;
const BANDWIDTH: u64 = 1_000_000;
const RTT: Duration = Duration::from_millis(100);

struct Path {
    bbr: BbrV3,
    windows: Windows,
    now: Instant,
    delivered: u64,
}

impl Path {
    fn new() -> Self {
        let windows = Windows {
            mss: MSS,
            cwnd: 10 * MSS,
            ssthresh: u64::MAX,
            max: u64::MAX,
        };
        Self {
            bbr: BbrV3::new(&windows),
            windows,
            now: Instant::ZERO + Duration::from_secs(1),
            delivered: 0,
        }
    }

    /// A round trip in ten acknowledgments, with this many bytes in flight and a share of them
    /// lost.
    fn round(&mut self, in_flight: u64, lost_share: u64) {
        let rate = (self.bbr.pacing_rate().as_bps() / 8).min(BANDWIDTH);
        let start = self.delivered;
        for _ in 0..10 {
            let bytes = rate / 100;
            self.now += Duration::from_millis(10);
            self.delivered += bytes;
            let lost = in_flight * lost_share / 1000;
            self.bbr.observe(
                &Ack {
                    now: self.now,
                    delivered: bytes,
                    lost,
                    rtt: Some(RTT),
                    minimum_rtt: RTT,
                    srtt: RTT,
                    una: 0,
                    nxt: 0,
                    in_flight_before: in_flight,
                    in_flight,
                    next_departure: self.now,
                    delivered_in_all: self.delivered,
                    lost_in_all: 0,
                    rate: Some(RateSample {
                        delivered: bytes * 10,
                        interval: RTT,
                        prior_delivered: start,
                        lost,
                        in_flight_at_send: in_flight,
                        application_limited: false,
                    }),
                    repairing: Repairing::Nothing,
                },
                &mut self.windows,
            );
        }
    }
}

/// Draft §5.3.1: start-up ends at the bandwidth, drains, and cruises below the product.
#[test]
fn start_up_finds_the_bandwidth_and_probing_begins() {
    let mut path = Path::new();
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

/// Draft §5.3.3: refill, then up, two to three seconds after the last time; then down again.
#[test]
fn bandwidth_is_probed_after_a_wait() {
    let mut path = Path::new();
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
        let mut path = Path::new();
        for _ in 0..12 {
            path.round(300 * MSS, 0);
        }
        for _ in 0..45 {
            let probing = path.bbr.state == State::Up;
            let in_flight = if probing { 130 * MSS } else { 90 * MSS };
            path.round(in_flight, if probing { share } else { 0 });
        }
        path.bbr.long_term
    };
    assert_eq!(bound(10), u64::MAX);
    assert!(bound(50) <= 140 * MSS, "{}", bound(50));
}

/// Draft §5.3.3: up until a quarter more than the product is in flight, however long it takes.
#[test]
fn probing_goes_up_until_a_quarter_more_is_in_flight() {
    let mut path = Path::new();
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

/// Draft §5.3.4.3, `BBRCheckProbeRTTDone`: probing of the round trip ends after its deadline has
/// passed, not exactly at it.
#[test]
fn probing_the_round_trip_outlasts_its_end() {
    let mut path = Path::new();
    let ends = path.now;
    path.bbr.state = State::ProbeRtt;
    path.bbr.probe_rtt_ends = Some(ends);
    path.bbr.probe_rtt_round_done = true;
    for (later, state) in [(0, State::ProbeRtt), (1, State::Startup)] {
        let now = ends + Duration::from_nanos(later);
        let ack = Ack {
            now,
            delivered: 0,
            lost: 0,
            rtt: None,
            minimum_rtt: RTT,
            srtt: RTT,
            una: 0,
            nxt: 0,
            in_flight_before: 0,
            in_flight: 0,
            next_departure: now,
            delivered_in_all: 0,
            lost_in_all: 0,
            rate: None,
            repairing: Repairing::Nothing,
        };
        path.bbr.probe_rtt(&ack, &mut path.windows);
        assert_eq!(path.bbr.state, state, "{later} ns");
    }
}

/// Draft §5.3.3.6, `BBRProbeInflightLongtermUpward`: the bound grows only by what is delivered
/// while the window is used, within a segment, and while the bound is what limits it.
#[test]
fn the_bound_grows_by_what_a_used_window_delivers() {
    let mut path = Path::new();
    let bbr = &mut path.bbr;
    path.windows.cwnd = 100 * MSS;
    bbr.long_term = 100 * MSS;
    bbr.up_per_segment = 4 * MSS;
    bbr.round_start = false;
    let mut deliver = |in_flight: u64, cwnd: u64| {
        path.windows.cwnd = cwnd * MSS;
        let ack = Ack {
            now: path.now,
            delivered: 2 * MSS,
            lost: 0,
            rtt: None,
            minimum_rtt: RTT,
            srtt: RTT,
            una: 0,
            nxt: 0,
            in_flight_before: 0,
            in_flight: in_flight * MSS,
            next_departure: path.now,
            delivered_in_all: 0,
            lost_in_all: 0,
            rate: None,
            repairing: Repairing::Nothing,
        };
        bbr.probe_upward(&ack, &path.windows);
        (bbr.up_acked / MSS, bbr.long_term / MSS)
    };
    assert_eq!(deliver(97, 100), (0, 100), "a segment more would fit");
    assert_eq!(deliver(98, 100), (2, 100));
    assert_eq!(deliver(98, 100), (0, 101), "four for one");
    assert_eq!(deliver(98, 100), (0, 101), "the window is the limit");
    assert_eq!(deliver(99, 101), (2, 101));
}
