//! The probe of a silent tail (RFC 8985 §7): its departure, and the meaning of its answer.

use super::*;
use crate::config::DuplicateReports;
use crate::observer::Event;

/// Tails are probed, and an acknowledgment is delayed by 50 ms at most.
fn probing(initial_window: u32) -> Trace {
    Trace::new(with_probes(initial_window))
}

fn with_probes(initial_window: u32) -> Config {
    let mut config = Config {
        initial_window,
        sack: true,
        tail_loss_probe: true,
        ..plain()
    };
    config.timeout.min = milliseconds(50);
    config
}

/// Segments 0 and 1 left at zero, no acknowledgment arrived, and the second was retransmitted at
/// 202 ms.
fn probed() -> Trace {
    probed_with(with_probes(10))
}

fn probed_with(config: Config) -> Trace {
    let mut trace = Trace::new(config);
    assert_eq!(trace.write(2).poll(), "0 1");
    trace.at(202).wake();
    assert_eq!(trace.poll(), "1*");
    trace
}

impl Trace {
    fn losses_repaired(&self) -> u64 {
        self.sender.counters().losses_repaired_by_probes
    }

    /// Sends another segment, and acknowledges `segment` of them.
    fn another(&mut self, segment: u64) -> &mut Self {
        self.write(1).poll();
        self.ack_bytes(segment * MSS)
    }
}

/// §7.2: PTO is 2·SRTT, plus the longest delay of an acknowledgment if one segment is outstanding;
/// Linux adds 2 ms if there are more.
#[test]
fn a_probe_leaves_after_two_round_trips() {
    for (segments, due) in [(1, 250), (2, 202), (5, 202)] {
        let mut trace = probing(10);
        trace.write(segments).poll();
        assert_eq!(trace.next_ms(), Some(due), "{segments} segments");
    }
}

/// §7.3: one probe per tail. When the next one would be due, the retransmission timer resumes.
#[test]
fn a_tail_is_probed_once() {
    let mut trace = probed();
    assert_eq!(trace.at(210).write(1).poll(), "2");
    assert_eq!(trace.next_ms(), Some(300));
    trace.at(300).wake();
    assert_eq!(trace.poll(), "");
    assert_eq!(trace.next_ms(), Some(301));
    let probes = trace.take_events();
    let probes = probes
        .iter()
        .filter(|event| matches!(event, Event::TailProbe { .. }));
    assert_eq!(probes.count(), 1);
}

/// §7.4.2: an acknowledgment beyond the probe, with no earlier sign of a second copy, shows that
/// one copy was needed. That is a loss, which counts once.
#[test]
fn a_probe_of_which_one_copy_arrived_has_repaired_a_loss() {
    let mut trace = probed();
    trace.at(290).ack(2);
    assert_eq!((trace.losses_repaired(), trace.cwnd()), (0, 10 * MSS));
    trace.another(3);
    assert_eq!((trace.losses_repaired(), trace.cwnd()), (1, 2 * MSS));
    trace.another(4);
    assert_eq!(trace.losses_repaired(), 1);
}

/// §7.4.2: a reported duplicate, or an acknowledgment that brings nothing at all, shows that both
/// copies arrived.
#[test]
fn a_probe_of_which_both_copies_arrived_costs_nothing() {
    for reports in [false, true] {
        let mut trace = probed();
        trace.at(290).ack(2);
        let duplicate = 1..2;
        let blocks = if reports { &[duplicate][..] } else { &[] };
        trace.sack(2, blocks);
        trace.another(3);
        assert_eq!(trace.losses_repaired(), 0, "reported: {reports}");
    }
}

/// §7.4.2: new data in a probe repairs nothing.
#[test]
fn a_probe_of_new_data_repairs_nothing() {
    let mut trace = probing(2);
    assert_eq!(trace.write(3).poll(), "0 1");
    trace.at(202).wake();
    assert_eq!(trace.poll(), "2");
    trace.at(290).ack(3);
    trace.another(4);
    assert_eq!(trace.losses_repaired(), 0);
}

/// Linux, `tcp_process_tlp_ack` before and after 63f367d9de77 (5.15): an acknowledgment beyond the
/// probe also reports a duplicate of the first segment, which the probe did not send.
#[test]
fn the_report_of_another_duplicate_says_nothing_of_a_probe() {
    for (duplicate_reports, repaired) in [(DuplicateReports::Told, 1), (DuplicateReports::All, 0)] {
        let mut trace = probed_with(Config {
            quirks: QuirksConfig {
                duplicate_reports,
                ..QuirksConfig::default()
            },
            ..with_probes(10)
        });
        trace.at(290).ack(2);
        trace.write(1).poll();
        let first = 0..1;
        trace.sack(3, &[first]);
        assert_eq!(trace.losses_repaired(), repaired, "{duplicate_reports:?}");
    }
}

/// Linux, `tcp_dsack_seen` before and after a657db0350bb (5.15): the copy of a probe is reported
/// while no reordering was seen. Of three segments sent at 300 ms the last is SACKed at 400 ms: the
/// others are lost after a quarter of a round trip, or after two, and the 2 ms of any timer.
#[test]
fn a_probes_copy_widens_the_reordering_window_up_to_5_14() {
    for (duplicate_reports, due) in [(DuplicateReports::Told, 427), (DuplicateReports::All, 452)] {
        let mut trace = probed_with(Config {
            quirks: QuirksConfig {
                duplicate_reports,
                ..QuirksConfig::default()
            },
            loss_detection: LossDetection::Rack,
            ..with_probes(10)
        });
        trace.at(290).ack(2);
        let (copy, last) = (1..2, 4..5);
        trace.sack(2, &[copy]);
        assert_eq!(trace.at(300).write(3).poll(), "2 3 4");
        trace.at(400).sack(2, &[last]);
        assert_eq!(trace.next_ms(), Some(due), "{duplicate_reports:?}");
    }
}
