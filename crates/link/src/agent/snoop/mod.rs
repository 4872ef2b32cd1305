//! Snoop (Balakrishnan, Seshan, Amir & Katz, Improving TCP/IP performance over wireless networks,
//! MOBICOM 1995): the base station keeps copies of data on its way to the mobile, retransmits data
//! lost on the radio, and suppresses the resulting duplicate acknowledgments.
//!
//! ```text
//!   sender ── 1 2 3 4 ──▶ ┌───────┐ ── 1 (2) 3 4 ──▶ mobile
//!                         │ 1 2 3 │ ◀── 2  2  2 ────
//!          ◀──── 2 ────── │   4   │ ── 2 ──────────▶
//!          ◀──── 5 ────── └───────┘ ◀── 5 ──────────
//! ```
//!
//! - *Data* that is new and in order is copied and passed. Data that its sender retransmits is
//!   passed, and the copy is marked: duplicates that ask for it reach the sender, which has found a
//!   separate loss.
//! - *A new acknowledgment* frees the copies, measures the local round trip and passes.
//! - *A duplicate* that requests a copy triggers its retransmission, ahead of everything. As many
//!   duplicates as packets in flight are expected to follow; one more means that the repeat is lost
//!   too. They do not pass, nor does their SACK option: the sender learns of a hole only if it is
//!   to repair it.
//! - *A local timer* on the oldest copy, mean plus four deviations of the local round trip, repeats
//!   copies that no duplicate requests.
//!
//! The bounds of the cache let packets pass uncopied; packets are never held back, so nothing is
//! lost or reordered here. Where the paper has the base station acknowledge old data after a lost
//! acknowledgment, the data passes and the mobile acknowledges it. Data *from* the mobile passes
//! untouched: the paper's negative acknowledgments need a change of the mobile.

use std::num::{NonZeroU32, NonZeroUsize};

use airtcp_packet::{Flags, Segment};
use airtcp_units::Instant;

use super::configuration::{Configuration, Needs};
use super::flow_table::{DEFAULT_FLOW_LIMIT, FlowTable};
use super::local_repair::{Acknowledged, Duplicate, Flow, LocalTimeout, Repairs, StoredPacket};
use super::parameter::ParameterError;
use super::{Agent, AgentEvent, Emission, FlowKey, Passage, Toward};
use crate::random::Stream;

/// Options of Snoop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnoopConfig {
    /// Duplicate acknowledgments until a copy is repeated; earlier ones pass to the sender. By
    /// default 1: over one hop nothing is reordered.
    pub threshold: NonZeroU32,
    /// Maximum number of repetitions of a copy; after them the sender must repair the loss. By
    /// default 10.
    pub most_repeats: u32,
    /// Bounds of the local timer.
    pub timeout: LocalTimeout,
    /// Copies kept for a connection. By default 100.
    pub packets: NonZeroUsize,
    /// Connections known; the idlest is forgotten first. By default 4096.
    pub flow_limit: NonZeroUsize,
}

impl Default for SnoopConfig {
    fn default() -> Self {
        Self {
            threshold: NonZeroU32::MIN,
            most_repeats: 10,
            timeout: LocalTimeout::default(),
            packets: NonZeroUsize::MIN.saturating_add(99),
            flow_limit: DEFAULT_FLOW_LIMIT,
        }
    }
}

/// The agent.
#[derive(Debug)]
pub struct Snoop<P> {
    config: SnoopConfig,
    flows: FlowTable<Flow<P>>,
    repairs: Repairs<P>,
}

impl<P: Copy> Snoop<P> {
    /// An agent that has seen nothing.
    #[must_use]
    pub fn new(config: SnoopConfig) -> Self {
        Self {
            config,
            flows: FlowTable::new(config.flow_limit),
            repairs: Repairs::default(),
        }
    }

    fn forget(&mut self, key: FlowKey) {
        if let Some(flow) = self.flows.remove(key) {
            self.repairs.forget(key, &flow);
        }
    }

    fn on_data(&mut self, now: Instant, passage: Passage<P>) {
        let key = passage.flow;
        if let Some((key, flow)) = self.flows.make_room(key) {
            self.repairs.forget(key, &flow);
        }
        let flow = self
            .flows
            .entry(key, || Flow::new(passage.segment.sequence));
        let (start, end) = flow.place(&passage.segment);
        if end <= flow.una {
            // The mobile has it, and will acknowledge it once more.
        } else if start < flow.edge {
            let first = flow.index_of(start);
            let again = flow.kept.range_mut(first..);
            for kept in again.take_while(|kept| kept.start < end) {
                kept.by_sender = true;
                kept.sent_at = now;
                if (kept.start, kept.end) == (start, end) {
                    kept.passage = passage;
                }
            }
        } else if flow.kept.len() < self.config.packets.get() {
            flow.kept
                .push_back(StoredPacket::new(now, start, end, passage));
            flow.sent += 1;
            flow.start_timer(now, &self.config.timeout);
            self.repairs.follow(key, flow);
        }
        flow.on_seen(&passage.segment, end);
    }

    /// Whether an acknowledgment is to pass.
    fn on_acknowledgment(
        &mut self,
        now: Instant,
        key: FlowKey,
        segment: &Segment,
        observer: &mut impl FnMut(FlowKey, AgentEvent),
    ) -> bool {
        let Some(flow) = self.flows.get_mut(key) else {
            return true;
        };
        match flow.on_acknowledgment(now, segment, |_| {}) {
            Acknowledged::Old | Acknowledged::Update => return true,
            Acknowledged::New => {
                flow.restart_timer(now, &self.config.timeout);
                self.repairs.follow(key, flow);
                if flow.is_over() {
                    self.forget(key);
                }
                return true;
            }
            Acknowledged::Duplicate => {}
        }
        let threshold = self.config.threshold.get();
        match flow.on_duplicate(threshold, self.config.most_repeats) {
            Duplicate::Foreign | Duplicate::Early => return true,
            Duplicate::Expected => {}
            Duplicate::Repeat => {
                let timeout = &self.config.timeout;
                self.repairs.repeat(now, key, flow, timeout, observer);
            }
        }
        observer(key, AgentEvent::AckSuppressed);
        false
    }
}

impl Configuration for SnoopConfig {
    const NEEDS: Needs = Needs {
        copies: true,
        ..Needs::NOTHING
    };

    type Machine<P: Copy> = Snoop<P>;

    fn agent<P: Copy>(self, _draws: Stream) -> Result<Snoop<P>, ParameterError> {
        Ok(Snoop::new(self))
    }
}

impl<P: Copy> Agent<P> for Snoop<P> {
    fn handle(
        &mut self,
        now: Instant,
        passage: Passage<P>,
        observer: &mut impl FnMut(FlowKey, AgentEvent),
    ) {
        let segment = &passage.segment;
        let passes = if segment.flags.contains(Flags::SYN) || segment.flags.contains(Flags::RST) {
            self.forget(passage.flow);
            true
        } else if passage.toward == Toward::Mobile {
            if segment.sequence_length() > 0 {
                self.on_data(now, passage);
            }
            true
        } else if segment.flags.contains(Flags::ACK) {
            self.on_acknowledgment(now, passage.flow, segment, observer)
        } else {
            true
        };
        if passes {
            self.repairs.pass(passage);
        }
    }

    fn next_wakeup(&self) -> Instant {
        self.repairs.next_wakeup()
    }

    fn on_wakeup(&mut self, now: Instant, observer: &mut impl FnMut(FlowKey, AgentEvent)) {
        while let Some(key) = self.repairs.next_due(now) {
            let Some(flow) = self.flows.get_mut(key) else {
                continue;
            };
            let limits = (&self.config.timeout, self.config.most_repeats);
            self.repairs.on_due(now, key, flow, limits, observer);
        }
    }

    fn poll(&mut self, _now: Instant) -> Option<Emission<P>> {
        self.repairs.poll()
    }
}

#[cfg(test)]
mod tests;
