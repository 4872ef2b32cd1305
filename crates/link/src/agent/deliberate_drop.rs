//! Deliberate drops: a share of the data is dropped before the link, so that duplicate
//! acknowledgments halve the sender's window before a needless timeout sets it to one segment.
//!
//! ```text
//!   sender  --- 1 2 3 4 5 --->  access point  --- 1 2 _ 4 5 --->  link
//!           <------------------ duplicates of 2 ----------------
//! ```
//!
//! Where round trips vary widely, throughput with 5 % of losses exceeds that without:
//! the window is halved by duplicate acknowledgments instead of being reset by timeouts, and
//! "duplicate ACKs could be triggered by dropping packets deliberately" (Miyim §V). The text does
//! not name them: here each segment with new data has the same chance.
//!
//! Where a drop would lead to a timeout, nothing is dropped: no retransmission, and no segment of a
//! connection with too few outstanding for three duplicates to follow. SYN, FIN and RST pass, too.

use std::collections::VecDeque;
use std::num::NonZeroUsize;

use airtcp_packet::{Flags, Segment, SequenceNumber};
use airtcp_units::{Instant, Probability};

use super::configuration::Configuration;
use super::flow_table::{DEFAULT_FLOW_LIMIT, FlowTable};
use super::parameter::ParameterError;
use super::{Agent, AgentEvent, Emission, FlowKey, Passage, Toward};
use crate::random::Stream;

/// The parameters of deliberate drops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DropConfig {
    /// Chance of a segment with new data.
    pub share: Probability,
    /// Number of other segments that must be outstanding.
    pub outstanding: u32,
    /// Maximum number of tracked connections; data of a forgotten one counts as new.
    pub flow_limit: NonZeroUsize,
}

/// Data of one direction of a connection.
#[derive(Clone, Copy, Debug, Default)]
struct Half {
    /// The end of the newest data that passed, and the highest acknowledgment of it; `None` before
    /// both.
    newest: Option<SequenceNumber>,
    acknowledged: Option<SequenceNumber>,
    /// Segments with new data that could have been dropped: the index of the next draw.
    candidates: u64,
}

impl Half {
    /// Takes a segment; returns whether it carries only new data.
    fn take(&mut self, segment: &Segment) -> bool {
        let is_new = self
            .newest
            .is_none_or(|newest| !newest.after(segment.sequence));
        let end = segment.sequence + segment.payload_bytes;
        if self.newest.is_none_or(|newest| end.after(newest)) {
            self.newest = Some(end);
        }
        is_new
    }

    /// Bytes from the highest acknowledgment to `sequence`; 0 before the first.
    fn outstanding_before(&self, sequence: SequenceNumber) -> u64 {
        let bytes = self
            .acknowledged
            .map_or(0, |acknowledged| sequence.distance(acknowledged));
        u64::try_from(bytes).unwrap_or(0)
    }
}

/// Both directions of a connection: data to the mobile, and data from it.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    to_mobile: Half,
    to_wired: Half,
}

impl Flow {
    const fn half(&mut self, toward: Toward) -> &mut Half {
        match toward {
            Toward::Mobile => &mut self.to_mobile,
            Toward::Wired => &mut self.to_wired,
        }
    }
}

/// The agent: drops data deliberately.
#[derive(Debug)]
pub struct DeliberateDrop<P> {
    config: DropConfig,
    draws: Stream,
    flows: FlowTable<Flow>,
    ready: VecDeque<Emission<P>>,
}

impl DropConfig {
    /// Drops of `share` of the new data, for a connection with `outstanding` more segments.
    #[must_use]
    pub const fn new(share: Probability, outstanding: u32) -> Self {
        Self {
            share,
            outstanding,
            flow_limit: DEFAULT_FLOW_LIMIT,
        }
    }
}

impl<P> DeliberateDrop<P> {
    /// An agent in its initial state; its draws come from `draws`. All parameters are valid.
    #[must_use]
    pub fn new(config: DropConfig, draws: Stream) -> Self {
        Self {
            config,
            draws,
            flows: FlowTable::new(config.flow_limit),
            ready: VecDeque::new(),
        }
    }

    /// Whether to drop a segment, which is noted in any case.
    fn drops(&mut self, flow: FlowKey, toward: Toward, segment: &Segment) -> bool {
        let state = self.flows.entry(flow, Flow::default);
        if segment.flags.contains(Flags::ACK) {
            let back = state.half(toward.opposite());
            let known = back.acknowledged;
            if known.is_none_or(|known| segment.acknowledgment.after(known)) {
                back.acknowledged = Some(segment.acknowledgment);
            }
        }
        if segment.payload_bytes == 0 {
            return false;
        }
        let half = state.half(toward);
        let needed = u64::from(self.config.outstanding) * u64::from(segment.payload_bytes);
        let is_candidate = half.take(segment)
            && half.outstanding_before(segment.sequence) >= needed
            && !segment.flags.contains(Flags::FIN);
        if !is_candidate {
            return false;
        }
        let draw = self.draws.substream(flow).draw(half.candidates);
        half.candidates += 1;
        self.config.share.happens(draw)
    }
}

impl Configuration for DropConfig {
    type Machine<P: Copy> = DeliberateDrop<P>;

    fn agent<P: Copy>(self, draws: Stream) -> Result<DeliberateDrop<P>, ParameterError> {
        Ok(DeliberateDrop::new(self, draws))
    }
}

impl<P: Copy> Agent<P> for DeliberateDrop<P> {
    fn handle(
        &mut self,
        _now: Instant,
        passage: Passage<P>,
        observer: &mut impl FnMut(FlowKey, AgentEvent),
    ) {
        let Passage {
            flow,
            toward,
            segment,
            ..
        } = passage;
        // A new connection has other sequence numbers.
        let flags = segment.flags;
        if flags.contains(Flags::RST) || flags.contains(Flags::SYN) {
            self.flows.remove(flow);
        } else if self.drops(flow, toward, &segment) {
            observer(flow, AgentEvent::DataDropped);
            return self.ready.push_back(Emission::Discard(passage));
        }
        self.ready.push_back(Emission::Pass(passage));
    }

    fn next_wakeup(&self) -> Instant {
        Instant::FAR_FUTURE
    }

    fn on_wakeup(&mut self, _now: Instant, _observer: &mut impl FnMut(FlowKey, AgentEvent)) {}

    fn poll(&mut self, _now: Instant) -> Option<Emission<P>> {
        self.ready.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEGMENT: u32 = 1000;

    fn agent(share: f64, outstanding: u32) -> DeliberateDrop<u32> {
        let share = Probability::new(share).unwrap();
        DeliberateDrop::new(DropConfig::new(share, outstanding), Stream::new(3, "agent"))
    }

    fn is_dropped(agent: &mut DeliberateDrop<u32>, toward: Toward, segment: Segment) -> bool {
        let passage = Passage {
            flow: 1,
            toward,
            segment,
            packet: 0,
        };
        let mut told = 0;
        agent.handle(Instant::ZERO, passage, &mut |_, event| {
            assert_eq!(event, AgentEvent::DataDropped);
            told += 1;
        });
        let emission = agent.poll(Instant::ZERO);
        assert_eq!(agent.poll(Instant::ZERO), None);
        let dropped = emission == Some(Emission::Discard(passage));
        assert!(dropped || emission == Some(Emission::Pass(passage)));
        assert_eq!(told, u32::from(dropped));
        dropped
    }

    /// Data with that number, from 0 on.
    fn data(number: u32) -> Segment {
        Segment {
            // Just before the numbers wrap.
            sequence: SequenceNumber(u32::MAX - 2 * SEGMENT) + number * SEGMENT,
            payload_bytes: SEGMENT,
            flags: Flags::ACK,
            ..Segment::default()
        }
    }

    /// All data before that number is acknowledged.
    fn ack(number: u32) -> Segment {
        Segment {
            acknowledgment: data(number).sequence,
            flags: Flags::ACK,
            ..Segment::default()
        }
    }

    /// With a chance of one all new data is dropped once three segments are outstanding;
    /// retransmissions pass.
    #[test]
    fn only_new_data_with_enough_before_it_is_dropped() {
        for toward in [Toward::Mobile, Toward::Wired] {
            let mut agent = agent(1.0, 3);
            assert!(!is_dropped(&mut agent, toward.opposite(), ack(0)));
            let all = [0, 1, 2, 3, 4, 3, 4, 5].map(|n| is_dropped(&mut agent, toward, data(n)));
            let expected = [false, false, false, true, true, false, false, true];
            assert_eq!(all, expected);
            assert!(!is_dropped(&mut agent, toward.opposite(), ack(4)));
            // Data 4 and 5 are outstanding.
            assert!(!is_dropped(&mut agent, toward, data(6)));
            assert!(is_dropped(&mut agent, toward, data(7)));
            let fin = Segment {
                flags: Flags::ACK | Flags::FIN,
                ..data(8)
            };
            assert!(!is_dropped(&mut agent, toward, fin));
        }
    }

    #[test]
    fn before_an_acknowledgment_and_after_a_syn_nothing_is_dropped() {
        let mut agent = agent(1.0, 1);
        assert!((0..5).all(|n| !is_dropped(&mut agent, Toward::Mobile, data(n))));
        is_dropped(&mut agent, Toward::Wired, ack(0));
        assert!(is_dropped(&mut agent, Toward::Mobile, data(5)));
        let syn = Segment {
            flags: Flags::SYN,
            ..Segment::default()
        };
        assert!(!is_dropped(&mut agent, Toward::Mobile, syn));
        assert!(!is_dropped(&mut agent, Toward::Mobile, data(6)));
    }

    /// Of 10 000 candidates a share of 0.05 is 500, with a standard deviation of 21.8.
    #[test]
    fn the_share_is_of_the_candidates() {
        let mut agent = agent(0.05, 0);
        is_dropped(&mut agent, Toward::Wired, ack(0));
        let all = (0..10_000).filter(|&n| is_dropped(&mut agent, Toward::Mobile, data(n)));
        let dropped = all.count();
        assert!((435..=565).contains(&dropped), "{dropped}");
    }
}
