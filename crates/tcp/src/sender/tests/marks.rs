//! Reductions of the window for echoed marks (RFC 3168 §6.1.2).

use super::*;
use crate::config::{Reduction, ReductionBase};

impl Trace {
    /// An acknowledgment of the segments below `segment` that echoes a mark; returns the segments
    /// sent then.
    pub(super) fn marked(&mut self, segment: u64) -> String {
        let right_edge = self.right_edge;
        self.take(&Acknowledgment {
            offset: segment * MSS,
            right_edge,
            bare: true,
            sack: &[],
            echo: None,
            marked: true,
            brakes: false,
            counted: None,
        });
        self.poll()
    }
}

/// A window that moves by [`Reduction`], with the reduction computed from the window.
fn reducing(reduction: Reduction) -> Trace {
    let mut trace = Trace::new(Config {
        reduction,
        reduction_base: ReductionBase::Window,
        ..plain()
    });
    trace.sender.heed_marks(MarkFeedback::Echo);
    trace.write(100);
    assert_eq!(trace.poll(), "0 1 2 3 4 5 6 7 8 9");
    trace.at(100);
    trace
}

fn ssthresh(trace: &Trace) -> u64 {
    trace.sender.ssthresh().unwrap()
}

/// The window of ten is halved, and not a second time until all ten and one more are acknowledged.
/// Acknowledgments with an echoed mark do not open it.
#[test]
fn the_window_is_halved_once_a_round_trip() {
    let mut trace = reducing(Reduction::AtOnce);
    let said: Vec<_> = (1..=10).map(|segment| trace.marked(segment)).collect();
    assert_eq!(said, ["", "", "", "", "", "10", "11", "12", "13", "14"]);
    assert_eq!((trace.cwnd(), ssthresh(&trace)), (5 * MSS, 5 * MSS));
    assert_eq!(trace.sender.reductions_for_marks(), 1);
    let mut events = trace.take_events();
    events.retain(|event| !matches!(event, Event::RttSample { .. }));
    assert_eq!(events, [Event::ReducedForMark { offset: 10 * MSS }]);
    trace.marked(11);
    assert_eq!(trace.sender.reductions_for_marks(), 2);
    assert!(trace.cwnd() < 3 * MSS);
}

/// PRR (RFC 6937 §3.1): one segment leaves for every two delivered until five are in flight, then
/// one for one. The reduction ends after the data that was in flight, with the window at the
/// threshold.
#[test]
fn the_window_may_shrink_in_proportion() {
    let mut trace = reducing(Reduction::Proportional);
    let said: Vec<_> = (1..=10).map(|segment| trace.marked(segment)).collect();
    assert_eq!(said, ["10", "", "11", "", "12", "", "13", "", "", "14"]);
    assert_eq!(trace.ack(11), "15");
    assert_eq!((trace.cwnd(), ssthresh(&trace)), (5 * MSS, 5 * MSS));
    assert_eq!(trace.sender.reductions_for_marks(), 1);
    assert_eq!(trace.sender.counters().segments_retransmitted, 0);
}

/// A loss in the same round trip is repaired without another reduction; a later one reduces the
/// window.
#[test]
fn a_loss_with_a_mark_is_repaired_without_another_reduction() {
    for reduction in [Reduction::AtOnce, Reduction::Proportional] {
        let mut trace = reducing(reduction);
        trace.marked(1);
        let said: Vec<_> = (0..3).map(|_| trace.ack(1)).collect();
        assert!(said[2].starts_with("1*"), "{said:?}");
        assert_eq!(ssthresh(&trace), 5 * MSS);
        assert_eq!(trace.sender.counters().fast_retransmits, 1);
        // It is over; a loss now is a new one.
        let end = trace.sender.nxt() / MSS;
        trace.ack(end);
        trace.at(200);
        trace.ack(end + 1);
        (0..3).for_each(|_| {
            trace.ack(end + 1);
        });
        assert_eq!(trace.sender.counters().fast_retransmits, 2);
        assert!(ssthresh(&trace) < 5 * MSS);
    }
}

/// Linux, `tcp_enter_loss`: a window already reduced in this round trip is not the base of another
/// reduction.
#[test]
fn a_timeout_beside_a_mark_reduces_the_threshold_once() {
    let mut trace = reducing(Reduction::Proportional);
    trace.marked(1);
    let next = trace.next_ms().unwrap();
    trace.at(next).wake();
    assert_eq!(trace.sender.counters().timeouts, 1);
    assert_eq!((ssthresh(&trace), trace.cwnd()), (5 * MSS, MSS));
}

/// The next new data carries CWR, whatever the window was reduced for.
#[test]
fn every_reduction_is_told_once() {
    let mut trace = reducing(Reduction::AtOnce);
    assert!(!trace.sender.take_reduced());
    trace.marked(1);
    assert!(trace.sender.take_reduced() && !trace.sender.take_reduced());
    trace.ack(10);
    trace.at(200);
    trace.ack(11);
    assert!(!trace.sender.take_reduced());
    (0..3).for_each(|_| {
        trace.ack(11);
    });
    assert!(trace.sender.take_reduced() && !trace.sender.take_reduced());
}
