//! By hand, from the draft's formulas and the reference's steady state.

use super::*;
use crate::config::CongestionControl;
use crate::congestion::control::AnyRule;
use crate::congestion::window_based::WindowBased;
use crate::congestion::{Congestion, Control};

const MSS: u64 = 1000;

/// A path on which each acknowledgment covers a segment, marked or not.
struct Path {
    congestion: Congestion,
    now: Instant,
    rtt: Duration,
    una: u64,
    /// First byte never sent: a window above the acknowledged data.
    nxt: u64,
}

impl Path {
    /// A window of `segments` in congestion avoidance, to a peer that counts marks.
    fn new(rtt_ms: u64, segments: u32) -> Self {
        let mut congestion = Congestion::new(
            &Config {
                congestion: CongestionControl::Prague,
                initial_window: segments,
                initial_ssthresh: Some(u64::from(segments) * MSS),
                pacing: true,
                ..Config::default()
            },
            MSS,
        );
        assert!(congestion.heed_each_mark());
        Self {
            congestion,
            now: Instant::ZERO + Duration::from_secs(1),
            rtt: Duration::from_millis(rtt_ms),
            una: 0,
            nxt: u64::from(segments) * MSS,
        }
    }

    /// The acknowledgment of one segment more, with `marked` bytes of it marked.
    fn ack(&mut self, marked: u64, repairing: Repairing) {
        // As many acknowledgments as the pace sends in a round trip take one.
        let window = self.exact() / MSS as f64;
        let nanos = self.rtt.as_nanos() as f64 / window;
        self.now += Duration::from_nanos(nanos as u64);
        self.una += MSS;
        self.nxt = self.nxt.max(self.una + self.congestion.cwnd());
        let in_flight = self.congestion.cwnd();
        self.congestion.observe(&Ack {
            now: self.now,
            delivered: MSS,
            marked,
            lost: 0,
            rtt: Some(self.rtt),
            minimum_rtt: self.rtt,
            srtt: self.rtt,
            una: self.una,
            nxt: self.nxt,
            in_flight_before: in_flight,
            held_back: 0,
            in_flight: in_flight - MSS,
            next_departure: self.now,
            delivered_in_all: 0,
            lost_in_all: 0,
            rate: None,
            repairing,
        });
        if repairing == Repairing::Nothing {
            self.congestion.on_acknowledged(MSS, false);
        }
    }

    fn plain(&mut self, count: usize) {
        for _ in 0..count {
            self.ack(0, Repairing::Nothing);
        }
    }

    /// Until a round trip has passed, each `nth` segment marked.
    fn round(&mut self, nth: usize) {
        let end = self.nxt;
        let mut count = 0;
        while self.una < end {
            count += 1;
            self.ack(if count % nth == 0 { MSS } else { 0 }, Repairing::Nothing);
        }
    }

    fn rule(&self) -> &Prague {
        match &self.congestion.control {
            Control::WindowBased(WindowBased {
                rule: AnyRule::Prague(rule),
                ..
            }) => rule,
            other => panic!("{other:?}"),
        }
    }

    fn exact(&self) -> f64 {
        self.rule().exact
    }
}

fn assert_near(found: f64, expected: f64, relative: f64) {
    assert!(
        (found / expected - 1.0).abs() < relative,
        "{found}, not {expected}"
    );
}

/// §2.4.3: cwnd += acked · 1 SMSS / cwnd, so a segment in a window; marked data adds nothing.
#[test]
fn the_window_grows_by_what_is_not_marked() {
    let mut path = Path::new(50, 20);
    path.plain(20);
    // The sum of 1/w over a window that grows from 20 to 21.
    assert_near(path.exact(), 21.0 * MSS as f64, 0.002);
    assert_eq!(path.congestion.cwnd(), 21 * MSS);
    let before = path.exact();
    path.ack(MSS, Repairing::Nothing);
    assert_near(path.exact(), before / 2.0, 1e-9);
}

/// The first mark halves the window (Linux 0.7), a segment less for each acknowledgment, and marks
/// of the same round trip do no more. §2.4.2: after that (1 − alpha/2), once a round trip.
#[test]
fn a_mark_takes_half_of_the_average_share() {
    let mut path = Path::new(50, 100);
    path.ack(MSS, Repairing::Nothing);
    assert_near(path.exact(), 50_000.0, 1e-9);
    assert_eq!(path.congestion.cwnd(), 99 * MSS, "a step");
    for _ in 0..49 {
        path.ack(MSS, Repairing::Nothing);
    }
    assert_eq!(path.congestion.cwnd(), 50 * MSS);
    assert_near(path.exact(), 50_000.0, 1e-9);
    assert_eq!(path.congestion.reductions_for_marks(), 1);
    path.round(usize::MAX);
    let alpha = path.rule().alpha;
    assert!(alpha > 0.0);
    let before = path.exact();
    path.ack(MSS, Repairing::Nothing);
    path.ack(MSS, Repairing::Nothing);
    assert_near(path.exact(), before * (1.0 - alpha / 2.0), 1e-9);
    assert_eq!(path.congestion.reductions_for_marks(), 2);
}

/// §2.4.4: a round trip of 21 ms waits for the reference's 25, and not for 42: the first mark after
/// both is answered, whatever was marked before (`prague_cc.cpp` of L4STeam/udp_prague). Each tenth
/// segment is marked, of some 18 in a round trip: one every 12 ms.
#[test]
fn a_mark_before_the_reference_does_not_put_off_the_next_answer() {
    let mut path = Path::new(21, 21);
    let (mut answered, mut waits_ms) = (path.now, Vec::new());
    for count in 1..2000 {
        let before = path.congestion.reductions_for_marks();
        path.ack(if count % 10 == 0 { MSS } else { 0 }, Repairing::Nothing);
        if path.congestion.reductions_for_marks() > before {
            waits_ms.push((path.now - answered).as_millis_f64());
            answered = path.now;
        }
    }
    let settled = &waits_ms[20..];
    assert!(settled.len() > 20);
    for waited_ms in settled {
        assert!((25.0..38.0).contains(waited_ms), "{waited_ms}");
    }
}

/// §2.3.2: alpha += (frac − alpha)/16 once a round: after n rounds of a share f it is
/// f·(1 − (15/16)^n).
#[test]
fn the_average_follows_the_share_of_marks() {
    let mut path = Path::new(50, 400);
    path.round(4);
    let start = path.rule().alpha;
    for rounds in 1..=40 {
        path.round(4);
        let expected = 0.25 + (start - 0.25) * libm::pow(15.0 / 16.0, f64::from(rounds));
        assert!((path.rule().alpha - expected).abs() < 0.02, "{rounds}");
    }
    // Nothing is marked: it decays by a sixteenth a round.
    path.round(usize::MAX);
    let before = path.rule().alpha;
    for _ in 0..16 {
        path.round(usize::MAX);
    }
    assert_near(
        path.rule().alpha,
        before * libm::pow(15.0 / 16.0, 16.0),
        1e-9,
    );
}

/// §2.4.4: after four rounds a round trip of 5 ms, a fifth of the reference, adds 1/25 of a
/// segment.
#[test]
fn a_short_round_trip_grows_as_the_reference_does() {
    let mut path = Path::new(5, 20);
    for _ in 0..=ROUNDS_BY_OWN_RTT {
        path.round(usize::MAX);
    }
    let before = path.exact() / MSS as f64;
    for _ in 0..25 {
        path.round(usize::MAX);
    }
    let grown = path.exact() / MSS as f64 - before;
    assert!((0.9..1.1).contains(&grown), "{grown}");
}

/// The reference's equation: up to 25 ms a share p of marks lets 1/p − 1 Mbit/s through, in packets
/// of 1500 bytes, whatever the round trip (`tcp_prague.c`): that is 80·(1/p − 1) packets a second,
/// two of them marked in 25 ms. Above, it is as much less as the round trip is longer.
///
/// It counts a reduction in each round trip, which in truth waits for the first mark after one.
/// With marks at equal distances, x in a round trip, that is the ⌈x⌉th, and the growth until then
/// equals the reduction if ⌈x⌉/x = x/2: x = 2, as it is counted, or √6.
#[test]
fn the_rate_follows_from_the_share_of_marks_and_not_from_the_round_trip() {
    for (rtt_ms, nth) in [
        (5, 20),
        (5, 50),
        (10, 20),
        (10, 50),
        (21, 50),
        (25, 20),
        (25, 50),
        (50, 20),
    ] {
        let mut path = Path::new(rtt_ms, 30);
        let mut count = 0;
        let (mut sum, mut samples) = (0.0, 0.0);
        while path.now < Instant::ZERO + Duration::from_secs(60) {
            count += 1;
            path.ack(if count % nth == 0 { MSS } else { 0 }, Repairing::Nothing);
            if path.now > Instant::ZERO + Duration::from_secs(20) {
                // Each sample represents the time between two acknowledgments.
                sum += 1.0;
                samples += path.rtt.as_secs_f64() / (path.exact() / MSS as f64);
            }
        }
        let rate = sum / samples;
        let share = 1.0 / nth as f64;
        let reference = 25.0_f64.max(rtt_ms as f64) / 25.0;
        let counted = 80.0 * (1.0 / share - 1.0) / reference;
        let either = [counted, counted * libm::sqrt(6.0) / 2.0];
        assert!(
            either.iter().any(|one| (rate / one - 1.0).abs() < 0.03),
            "{rtt_ms} ms, one of {nth}: {rate}, not of {either:?}"
        );
    }
}

/// §2.4.1: a loss halves the window as Reno does, and nothing grows until it is repaired; a
/// spurious loss is undone.
#[test]
fn a_loss_is_answered_as_reno_does() {
    let mut path = Path::new(50, 20);
    let saved = path.congestion.save(20 * MSS);
    assert_eq!(path.congestion.on_loss(20 * MSS, None), 10 * MSS);
    path.ack(0, Repairing::FastRecovery);
    assert_near(path.exact(), 10_000.0, 1e-9);
    path.congestion.restore(saved);
    assert_near(path.exact(), 20_000.0, 1e-9);
    assert_eq!(path.congestion.cwnd(), 20 * MSS);
}

/// §2.4.7: the pace is the window with its fraction in a round trip, without a margin; slow start
/// has twice that.
#[test]
fn the_pace_has_no_margin() {
    let mut path = Path::new(50, 20);
    path.plain(7);
    let (rate, least_burst) = path.congestion.rate(path.rtt, 0);
    let expected = path.exact() * 8.0 / 0.05;
    assert_near(rate.as_bps() as f64, expected, 0.001);
    assert_eq!(least_burst, 1);
    path.congestion.on_timeout(20 * MSS, true);
    path.ack(0, Repairing::Nothing);
    let (rate, _) = path.congestion.rate(path.rtt, 0);
    let window = path.congestion.cwnd() as f64;
    assert_near(rate.as_bps() as f64, 2.0 * window * 8.0 / 0.05, 0.5);
}

/// §2.3.1: a peer that does not count marks has to do with Reno.
#[test]
fn without_a_count_it_is_reno() {
    let with = |congestion| {
        let config = Config {
            congestion,
            initial_ssthresh: Some(4 * MSS),
            pacing: true,
            ..Config::default()
        };
        Congestion::new(&config, MSS)
    };
    let mut prague = with(CongestionControl::Prague);
    let mut reno = with(CongestionControl::Reno);
    let rtt = Duration::from_millis(5);
    for step in 0..200_u64 {
        for congestion in [&mut prague, &mut reno] {
            match step % 50 {
                49 => drop(congestion.on_loss(congestion.cwnd(), None)),
                _ => congestion.on_acknowledged(2 * MSS, false),
            }
        }
        assert_eq!(prague.cwnd(), reno.cwnd());
        assert_eq!(prague.rate(rtt, 0), reno.rate(rtt, 0));
    }
}
