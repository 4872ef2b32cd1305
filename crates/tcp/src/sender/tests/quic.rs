//! QUIC's loss recovery (RFC 9002) over TCP.

use super::*;
use crate::config::ReductionBase;

/// Windows that are easy to count, with QUIC's recovery and its constants: the timeout is
/// 100 + 4 × 50 + 25 ms.
fn quic() -> Config {
    Config {
        sack: true,
        timestamps: false,
        loss_detection: LossDetection::Quic,
        recovery: Recovery::RecoveryPeriod,
        retransmission: Retransmission::Probe,
        reduction_base: ReductionBase::Window,
        quirks: QuirksConfig {
            growth_credit: GrowthCredit::Delivered,
            ..QuirksConfig::default()
        },
        limited_transmit: true,
        timeout: TimeoutConfig {
            min: milliseconds(1),
            ack_delay: milliseconds(25),
            ..TimeoutConfig::default()
        },
        ..plain()
    }
}

/// §6.2.1: smoothed_rtt + 4 rttvar + max_ack_delay; §6.2.4: two probes, of new data if any,
/// whatever the window; §7.5: the window stays, the probes are in flight; §6.2.1: the period is
/// doubled.
#[test]
fn a_timeout_sends_probes_and_keeps_the_window() {
    let mut trace = Trace::new(quic());
    trace.write(12).poll();
    assert_eq!(trace.cwnd(), 10 * MSS);
    assert_eq!(trace.wake_when_due(), (milliseconds(325), false));
    assert_eq!(trace.poll(), "10 11");
    assert_eq!(trace.cwnd(), 10 * MSS);
    assert_eq!(trace.sender.in_flight(), 12 * MSS);
    assert!(trace.is_open());
    // Without new data the segments sent longest ago.
    assert_eq!(trace.wake_when_due(), (milliseconds(650), false));
    assert_eq!(trace.poll(), "0* 1*");
    assert_eq!(trace.cwnd(), 10 * MSS);
    assert_eq!(trace.sender.counters().timeouts, 2);
}

/// §7.3.2: one reduction for all that was sent before it; another for a loss of later data;
/// the window grows by what was sent since, while losses are still being repaired.
#[test]
fn a_recovery_period_ends_with_data_sent_since() {
    let mut trace = Trace::new(quic());
    trace.write(100).poll();
    trace.at(100);
    // 0 is three before 3; the window is five, and one segment leaves before the reduction.
    assert_eq!(trace.sack(0, std::slice::from_ref(&(1..4))), "0*");
    assert_eq!(trace.cwnd(), 5 * MSS);
    // 4 is lost as well, with the same reduction.
    assert_eq!(trace.sack(0, &[5..8, 1..4]), "4* 10");
    assert_eq!(trace.cwnd(), 5 * MSS);
    assert_eq!(trace.sack(0, &[5..10, 1..4]), "11 12");
    // 0 and 4 arrive: everything sent before is repaired, and the period ends.
    trace.at(200);
    assert_eq!(trace.ack(10), "13 14");
    assert!(trace.is_open());
    assert_eq!(trace.cwnd(), 5 * MSS, "9 of 10 were sent before");
}

/// The retransmission of 0 is lost: a loss of what was sent since the reduction.
#[test]
fn a_lost_retransmission_reduces_the_window_again() {
    let mut trace = Trace::new(quic());
    trace.write(100).poll();
    trace.at(100);
    assert_eq!(
        trace.sack(0, std::slice::from_ref(&(1..10))),
        "0* 10 11 12 13"
    );
    assert_eq!(trace.cwnd(), 5 * MSS);
    trace.at(200).sack(0, std::slice::from_ref(&(1..13)));
    assert_eq!(trace.cwnd(), 2 * MSS, "half of five, in whole segments");
    assert!(!trace.is_open());
}

/// §7.6: losses of over three timeouts reduce the window to two segments; by the pseudocode of
/// §B.8 and §B.5 the acknowledged segment opens it by one.
#[test]
fn persistent_congestion_is_two_segments() {
    let mut trace = Trace::new(quic());
    trace.write(4).poll();
    trace.at(100);
    assert_eq!(trace.ack(4), "");
    let pto = trace.rto_ms();
    trace.write(20);
    trace.poll();
    assert!(trace.cwnd() >= 10 * MSS);
    let mut probes = Vec::new();
    for _ in 0..4 {
        trace.wake_when_due();
        probes.push(trace.poll());
    }
    assert!(trace.cwnd() >= 10 * MSS, "nothing is lost before an answer");
    assert_eq!(trace.sender.counters().timeouts, 4);
    // 1, 2, 4 and 8 timeouts after the last transmission; the first of the last pair arrives.
    assert!(trace.now > Instant::ZERO + milliseconds(100 + 14 * pto));
    let first: u64 = probes[3].split(['*', ' ']).next().unwrap().parse().unwrap();
    let now = trace.now + milliseconds(100);
    trace.now = now;
    trace.sack_quietly(4, std::slice::from_ref(&(first..first + 1)));
    assert_eq!(trace.cwnd(), 3 * MSS);
}

/// §6.1.2: 9/8 of the round trip, by a timer that takes the place of the timeout's.
#[test]
fn two_segments_later_wait_for_nine_eighths_of_a_round_trip() {
    let mut trace = Trace::new(quic());
    trace.write(100).poll();
    trace.at(100);
    trace.sack(0, std::slice::from_ref(&(2..3)));
    assert!(trace.is_open());
    let (wait, _) = trace.wake_when_due();
    assert_eq!(wait, Duration::from_micros(12_500));
    assert!(!trace.is_open());
}

/// Without SACK losses cannot be found by the order of transmissions: NewReno, and a timeout.
#[test]
fn without_sack_it_is_newreno() {
    let mut trace = Trace::new(Config {
        sack: false,
        ..quic()
    });
    trace.write(100).poll();
    trace.wake_when_due();
    assert_eq!(trace.poll(), "0*");
    assert_eq!(trace.cwnd(), MSS);
}
