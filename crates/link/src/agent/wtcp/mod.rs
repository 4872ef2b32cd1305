//! WTCP (Ratnam & Matta, WTCP: an efficient mechanism for improving TCP performance over wireless
//! links, ISCC 1998): the base station takes over the radio's reliability, with a separate window,
//! and hides the time that took from the source.
//!
//! ```text
//!   source ── data ──▶ ┌─────────────────┐ ── within the wireless window ──▶ mobile
//!                      │ buffer, timer   │
//!          ◀── ack ─── │ TSecr + time in │ ◀──────────── ack ──────────────
//!                      │ the buffer      │
//!                      └─────────────────┘
//! ```
//!
//! - *Data* is buffered in the order of the stream and passes within the wireless window; data
//!   beyond it waits. A full buffer drops, as any queue does. Data that the source retransmits
//!   replaces its copy: it passes undelayed if the copy has been sent, and waits in its place if
//!   not.
//! - *Acknowledgments* in order pass. Duplicates that ask for a copy are kept back, and the first
//!   repeats it; the window is not touched, since packets still arrive.
//! - *A local timeout* means that the radio is bad: the window falls to one packet, and grows by
//!   one with each new acknowledgment, up to its bound. (The thesis that underlies the paper may
//!   grow it differently after a while; this is the simple reading.) The end-to-end meaning of
//!   acknowledgments is kept: the source must repair data that the base station gives up.
//! - *The time in the buffer*, from a packet's arrival to its last departure, is added to the
//!   timestamp that its acknowledgment echoes, in whole ticks of the source's clock, and so
//!   excluded from the round trip that the source reads from its timestamps. A source that measures
//!   by its records instead sees the whole time.
//!
//! When a connection is forgotten, because the idlest must go, or with a SYN or RST, its waiting
//! packets are passed on first. Data from the mobile passes untouched.

use std::num::{NonZeroU32, NonZeroUsize};

use airtcp_packet::{Flags, Segment};
use airtcp_units::{Duration, Instant};

use super::configuration::{Configuration, Needs};
use super::flow_table::{DEFAULT_FLOW_LIMIT, FlowTable};
use super::local_repair::{Acknowledged, Duplicate, Flow, LocalTimeout, Repairs, StoredPacket};
use super::parameter::ParameterError;
use super::{Agent, AgentEvent, Emission, FlowKey, Passage, Toward};
use crate::random::Stream;

/// Options of WTCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WtcpConfig {
    /// Duplicate acknowledgments until a copy is repeated. By default 1.
    pub threshold: NonZeroU32,
    /// Maximum wireless window, in packets; it starts there. By default 32: packets beyond the
    /// capacity of a radio link's queue are lost there.
    pub window: NonZeroUsize,
    /// Packets buffered for a connection, in flight and waiting. By default 256.
    pub packets: NonZeroUsize,
    /// Maximum number of repetitions of a copy, counted from zero when its source retransmits it.
    /// By default 30: minutes, since the local timer doubles.
    pub most_repeats: u32,
    /// Duration of a tick of the source's timestamp clock. By default 1 ms; zero leaves the echo
    /// unchanged.
    pub tick: Duration,
    /// Bounds of the local timer.
    pub timeout: LocalTimeout,
    /// Connections known; the idlest is forgotten first. By default 4096.
    pub flow_limit: NonZeroUsize,
}

impl Default for WtcpConfig {
    fn default() -> Self {
        Self {
            threshold: NonZeroU32::MIN,
            window: NonZeroUsize::MIN.saturating_add(31),
            packets: NonZeroUsize::MIN.saturating_add(255),
            most_repeats: 30,
            tick: Duration::from_millis(1),
            timeout: LocalTimeout::default(),
            flow_limit: DEFAULT_FLOW_LIMIT,
        }
    }
}

/// A connection, and its limit on packets in flight to the mobile.
#[derive(Debug)]
struct Windowed<P> {
    flow: Flow<P>,
    window: usize,
}

/// The agent.
#[derive(Debug)]
pub struct Wtcp<P> {
    config: WtcpConfig,
    flows: FlowTable<Windowed<P>>,
    repairs: Repairs<P>,
}

impl<P: Copy> Wtcp<P> {
    /// An agent that has seen nothing.
    #[must_use]
    pub fn new(config: WtcpConfig) -> Self {
        Self {
            config,
            flows: FlowTable::new(config.flow_limit),
            repairs: Repairs::default(),
        }
    }

    /// A connection is forgotten: its waiting packets pass.
    fn release(&mut self, key: FlowKey, state: &Windowed<P>) {
        self.repairs.forget(key, &state.flow);
        let waiting = state.flow.kept.range(state.flow.sent..);
        for kept in waiting {
            self.repairs.pass(kept.passage);
        }
    }

    fn on_data(&mut self, now: Instant, passage: Passage<P>) {
        let key = passage.flow;
        if let Some((idlest, state)) = self.flows.make_room(key) {
            self.release(idlest, &state);
        }
        let window = self.config.window.get();
        let first = passage.segment.sequence;
        let state = self.flows.entry(key, || Windowed {
            flow: Flow::new(first),
            window,
        });
        let flow = &mut state.flow;
        let (start, end) = flow.place(&passage.segment);
        let index = flow.index_of(start);
        let is_full = flow.kept.len() >= self.config.packets.get();
        let kept = flow.kept.get_mut(index).filter(|kept| kept.start < end);
        match kept {
            // The mobile has it, and will acknowledge it once more.
            _ if end <= flow.una => self.repairs.pass(passage),
            Some(kept) if (kept.start, kept.end) == (start, end) => {
                (kept.passage, kept.arrived) = (passage, now);
                if index < flow.sent {
                    kept.sent_at = now;
                    // Not timed any more (Karn's rule), and repaired here like new data.
                    kept.repeats = 1;
                    self.repairs.pass(passage);
                }
            }
            // Resegmented by its sender: the copies keep their ranges.
            Some(_) => self.repairs.pass(passage),
            // A hole below waiting data: were it refused, that data would never leave.
            None if is_full && index <= flow.sent => self.repairs.pass(passage),
            None if is_full => return,
            None => {
                flow.kept
                    .insert(index, StoredPacket::new(now, start, end, passage));
                if index < flow.sent {
                    // A hole left by the wired side, below the data in flight.
                    flow.sent += 1;
                    self.repairs.pass(passage);
                }
            }
        }
        flow.on_seen(&passage.segment, end);
        self.send(now, key);
    }

    /// Forwards waiting packets within the wireless window.
    fn send(&mut self, now: Instant, key: FlowKey) {
        let Some(Windowed { flow, window }) = self.flows.get_mut(key) else {
            return;
        };
        while flow.sent < *window
            && let Some(kept) = flow.kept.get_mut(flow.sent)
        {
            kept.sent_at = now;
            self.repairs.pass(kept.passage);
            flow.sent += 1;
        }
        if flow.sent > 0 {
            flow.start_timer(now, &self.config.timeout);
        }
        self.repairs.follow(key, flow);
    }

    fn on_acknowledgment(
        &mut self,
        now: Instant,
        mut passage: Passage<P>,
        observer: &mut impl FnMut(FlowKey, AgentEvent),
    ) {
        let key = passage.flow;
        let Some(state) = self.flows.get_mut(key) else {
            self.repairs.pass(passage);
            return;
        };
        let flow = &mut state.flow;
        let echo = passage.segment.timestamps.map(|stamps| stamps.echo);
        let mut residence = None;
        let kind = flow.on_acknowledgment(now, &passage.segment, |kept| {
            // The echo is of the earliest segment that it acknowledges (RFC 7323 §4.3).
            let stamp = kept.passage.segment.timestamps.map(|stamps| stamps.value);
            if residence.is_none() && echo.is_some() && stamp == echo {
                residence = Some(kept.sent_at - kept.arrived);
            }
        });
        match kind {
            Acknowledged::Old | Acknowledged::Update => {}
            Acknowledged::New => {
                hide(&mut passage.segment, residence, self.config.tick);
                state.window = (state.window + 1).min(self.config.window.get());
                flow.restart_timer(now, &self.config.timeout);
                let is_over = flow.is_over();
                self.repairs.pass(passage);
                self.send(now, key);
                if is_over && let Some(state) = self.flows.remove(key) {
                    self.release(key, &state);
                }
                return;
            }
            Acknowledged::Duplicate => {
                let threshold = self.config.threshold.get();
                let told = flow.on_duplicate(threshold, self.config.most_repeats);
                if told != Duplicate::Foreign {
                    if told == Duplicate::Repeat {
                        let timeout = &self.config.timeout;
                        self.repairs.repeat(now, key, flow, timeout, observer);
                    }
                    observer(key, AgentEvent::AckSuppressed);
                    return;
                }
            }
        }
        self.repairs.pass(passage);
    }
}

/// Adds the time in the buffer to the echo, in whole ticks, rounded down.
fn hide(segment: &mut Segment, residence: Option<Duration>, tick: Duration) {
    let (Some(stamps), Some(residence)) = (&mut segment.timestamps, residence) else {
        return;
    };
    let ticks = residence.as_nanos().checked_div(tick.as_nanos());
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the clock wraps (RFC 7323 §5.4)"
    )]
    let ticks = ticks.unwrap_or(0) as u32;
    stamps.echo = stamps.echo.wrapping_add(ticks);
}

impl Configuration for WtcpConfig {
    const NEEDS: Needs = Needs {
        copies: true,
        ..Needs::NOTHING
    };

    type Machine<P: Copy> = Wtcp<P>;

    fn agent<P: Copy>(self, _draws: Stream) -> Result<Wtcp<P>, ParameterError> {
        Ok(Wtcp::new(self))
    }
}

impl<P: Copy> Agent<P> for Wtcp<P> {
    fn handle(
        &mut self,
        now: Instant,
        passage: Passage<P>,
        observer: &mut impl FnMut(FlowKey, AgentEvent),
    ) {
        let segment = &passage.segment;
        if segment.flags.contains(Flags::SYN) || segment.flags.contains(Flags::RST) {
            if let Some(state) = self.flows.remove(passage.flow) {
                self.release(passage.flow, &state);
            }
        } else if passage.toward == Toward::Mobile {
            if segment.sequence_length() > 0 {
                self.on_data(now, passage);
                return;
            }
        } else if segment.flags.contains(Flags::ACK) {
            self.on_acknowledgment(now, passage, observer);
            return;
        }
        self.repairs.pass(passage);
    }

    fn next_wakeup(&self) -> Instant {
        self.repairs.next_wakeup()
    }

    fn on_wakeup(&mut self, now: Instant, observer: &mut impl FnMut(FlowKey, AgentEvent)) {
        while let Some(key) = self.repairs.next_due(now) {
            let Some(Windowed { flow, window }) = self.flows.get_mut(key) else {
                continue;
            };
            let limits = (&self.config.timeout, self.config.most_repeats);
            if self.repairs.on_due(now, key, flow, limits, observer) {
                *window = 1;
            }
        }
    }

    fn poll(&mut self, _now: Instant) -> Option<Emission<P>> {
        self.repairs.poll()
    }
}

#[cfg(test)]
mod tests;
