//! A BPF program in the sender: it sees the socket, and moves its windows.

#![expect(
    clippy::single_range_in_vec_init,
    reason = "a report of one block is a slice of one range"
)]

use std::path::Path;
use std::process::Command;

use super::*;
use crate::config::CongestionControl;
use crate::external::{BpfProgram, ExternalControl};

/// A trace with one of the repository's controls. `None`, and a line with the reason, without
/// clang.
fn with(control: &str) -> Option<Trace> {
    if !airtcp_needs::are_met(&["clang"]) {
        return None;
    }
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bpf");
    let compiled = Command::new("clang")
        .args(["-O2", "-g", "-target", "bpf", "-D__TARGET_ARCH_x86"])
        .arg(format!("-I{}", sources.join("include").display()))
        .arg("-c")
        .arg(sources.join(control))
        .args(["-o", "-"])
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{compiled:?}");
    let options = airtcp_bpf::Options::default();
    let program = airtcp_bpf::Program::load(&compiled.stdout, &options).unwrap();
    let control = ExternalControl::keep(Box::new(BpfProgram::new(program)));
    let mut trace = Trace::new(Config {
        congestion: CongestionControl::External(control),
        mss: 1000,
        timestamps: false,
        tail_loss_probe: false,
        ..Profile::Linux.config()
    });
    trace.at(0).write(1000).poll();
    Some(trace)
}

fn fault(trace: &Trace) -> Option<&str> {
    trace.sender.external().unwrap().fault()
}

#[test]
fn veno_grows_by_slow_start_and_keeps_four_fifths_without_a_backlog() {
    let Some(mut trace) = with("veno.bpf.c") else {
        return;
    };
    trace.at(100).ack(2);
    assert_eq!(trace.sender.cwnd(), 12 * MSS);
    trace.sack(2, &[3..7]);
    assert_eq!(fault(&trace), None);
    // Fu & Liew §II.A: four fifths of 12 segments, in whole ones.
    assert_eq!(trace.sender.ssthresh(), Some(9 * MSS));
}

#[test]
fn newzag_counts_a_timeout_as_congestion_and_halves() {
    let Some(mut trace) = with("newzag.bpf.c") else {
        return;
    };
    trace.wake_when_due();
    assert_eq!(fault(&trace), None);
    assert_eq!(trace.sender.ssthresh(), Some(5 * MSS));
    let counters = trace.sender.external().unwrap().operations().counters();
    let counted: Vec<_> = counters.into_iter().filter(|(_, n)| *n != 0).collect();
    assert_eq!(counted, [("verdicts[0].congestion".to_owned(), 1)]);
}

#[test]
fn the_paced_example_paces_at_the_rate_that_it_measures() {
    let Some(mut trace) = with("examples/paced.bpf.c") else {
        return;
    };
    trace.at(100).ack(10);
    assert_eq!(fault(&trace), None);
    // Ten segments in a round trip of 100 ms; the start doubles rate and window, twice over.
    let (rate, _) = trace.sender.congestion.pace(None, 0).unwrap();
    assert_eq!(rate.as_bps(), 2 * 10 * MSS * 8 * 10);
    assert_eq!(trace.sender.cwnd(), 40 * MSS);
}
