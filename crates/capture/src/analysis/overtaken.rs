//! Packets that came too late.

use airtcp_units::{Duration, Instant};

use super::findings::{Findings, Repeat};
use super::verdict::Verdict;

/// A packet that arrived after one sent later, without being retransmitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overtaken {
    /// Time at the capture.
    pub time: Instant,
    /// Packet number in the capture.
    pub number: u64,
    /// Time after the first packet that overtook it.
    pub late_by: Duration,
    /// Number of packets that overtook it.
    pub packets: u32,
}

impl Overtaken {
    /// The packet of a repeat that was no retransmission.
    pub(super) fn of(findings: &Findings, repeat: &Repeat, verdict: &Verdict) -> Self {
        let sent = &findings.sent[repeat.sent.get()];
        Self {
            time: sent.time,
            number: sent.number,
            late_by: verdict.late_by.unwrap_or_default(),
            packets: repeat
                .revealed_by
                .map_or(0, |at| (repeat.sent.get() - at.get()) as u32),
        }
    }
}
