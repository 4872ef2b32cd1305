//! The agents and their decisions about passing packets: without sockets and clocks.
//!
//! ```text
//!   packet ─▶ control group? ──yes──▶ pass
//!                │ no
//!                ▼
//!   agents, in sequence ──▶ pass · changed · drop · repeat
//!                │ nothing said: held
//!                ▼
//!   released by the agent, or by the bounds of a hold, whichever is first
//! ```
//!
//! Each packet is decided about once. An agent's action on a packet that the bounds have already
//! released is ignored, and the held packets of a connection leave in order of arrival.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::num::NonZeroUsize;

use airtcp_host::packet_store::{Store, Ticket};
use airtcp_link::agent::{
    Agent, AgentEvent, AnyAgent, Emission, FlowKey, LinkEvent, Passage, Toward,
};
use airtcp_network::Content;
use airtcp_packet::Segment;
use airtcp_units::Instant;
use lru::LruCache;

use super::Chain;
use super::counts::Counts;
use super::echo::write_echo;
use super::hold_limit::{Allowance, Bound, HoldLimits, RoundTrip};
use super::virtual_delivery::VirtualDelivery;

/// Number of packet copies kept, if an agent repeats packets: 12 MB of 1500 bytes.
const COPIES: usize = 1 << 13;
/// Maximum number of packets held, over all connections.
const MAX_HELD: usize = 1 << 13;

/// A passing packet.
#[derive(Clone, Copy, Debug)]
pub struct PassingPacket<'a, H> {
    /// Its connection.
    pub flow: FlowKey,
    /// Its direction.
    pub toward: Toward,
    /// Its headers.
    pub segment: Segment,
    /// Its bytes, if agents keep copies.
    pub bytes: &'a [u8],
    /// Its external handle.
    pub packet: H,
    /// Its connection's round trip, if it is known.
    pub round_trip: Option<RoundTrip>,
}

/// The decision on a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision<H> {
    /// It passes unchanged.
    Pass(H),
    /// It passes with this priority.
    PassWithPriority(H, u32),
    /// It passes with replaced bytes.
    PassChanged(H, Vec<u8>),
    /// It is dropped.
    Drop(H),
    /// This earlier packet is retransmitted to the mobile.
    Repeat(Vec<u8>),
}

/// An agent's reference to a packet.
#[derive(Clone, Copy, Debug, Default)]
struct Handle {
    /// Its internal number, from 1; 0 for packets that are only reported (see [`VirtualDelivery`]).
    number: u64,
    /// Its bytes.
    copy: Ticket,
}

/// A held packet.
#[derive(Clone, Copy, Debug)]
struct HeldPacket<H> {
    packet: H,
    flow: FlowKey,
    since: Instant,
    until: Instant,
    bound: Bound,
    echo: Option<u32>,
}

/// The state of a connection.
#[derive(Clone, Debug)]
struct Flow {
    delivery: VirtualDelivery,
    allowance: Allowance,
    /// Its held packets, in order.
    held: VecDeque<u64>,
}

/// The agents and the packets that pass through them.
#[derive(Debug)]
pub struct Engine<H> {
    chain: Chain,
    agents: Vec<AnyAgent<Handle>>,
    limits: HoldLimits,
    flows: LruCache<FlowKey, Flow>,
    held: BTreeMap<u64, HeldPacket<H>>,
    deadlines: BTreeSet<(Instant, u64)>,
    copies: Option<Store>,
    decisions: VecDeque<Decision<H>>,
    last: u64,
    /// Whether an agent has suppressed the packet it was last given.
    suppressed: bool,
    counts: Counts,
}

impl<H: Copy> Engine<H> {
    /// Creates agents without state, which track at most `most` connections.
    ///
    /// # Errors
    /// A parameter of an agent is out of its range.
    pub fn new(
        chain: &Chain,
        limits: HoldLimits,
        most: NonZeroUsize,
        seed: u64,
    ) -> airtcp_host::error::Result<Self> {
        Ok(Self {
            agents: chain.agents(most, seed)?,
            copies: chain.repeats().then(|| Store::new(COPIES)),
            chain: chain.clone(),
            limits,
            flows: LruCache::new(most),
            held: BTreeMap::new(),
            deadlines: BTreeSet::new(),
            decisions: VecDeque::new(),
            last: 0,
            suppressed: false,
            counts: Counts::default(),
        })
    }

    /// Processes a packet of a treated connection. Call [`poll`](Self::poll) afterwards.
    pub fn pass(&mut self, now: Instant, passing: &PassingPacket<'_, H>) {
        self.wake(now);
        self.counts.seen(passing.toward);
        self.tell(now, passing);
        self.last += 1;
        let number = self.last;
        let copy = self.copies.as_mut().map_or(Ticket::default(), |copies| {
            copies.keep(passing.bytes, &Content::Segment(passing.segment))
        });
        let (until, bound) = self.until(now, passing);
        // Held until the agents decide otherwise, for most packets immediately.
        let held = HeldPacket {
            packet: passing.packet,
            flow: passing.flow,
            since: now,
            until,
            bound,
            echo: passing.segment.timestamps.map(|stamps| stamps.echo),
        };
        self.held.insert(number, held);
        self.flow(now, passing.flow).held.push_back(number);
        let passage = Passage {
            flow: passing.flow,
            toward: passing.toward,
            segment: passing.segment,
            packet: Handle { number, copy },
        };
        self.suppressed = false;
        let first = self.first(passing.toward);
        self.hand(now, first, passage);
        if std::mem::take(&mut self.suppressed) && self.held.contains_key(&number) {
            self.take_out(now, number);
            self.counts.dropped += 1;
            self.decisions.push_back(Decision::Drop(passing.packet));
        }
        if self.held.contains_key(&number) {
            self.deadlines.insert((until, number));
            self.counts.held += 1;
        }
        // This includes packets that must not be held at all.
        self.release_due(now);
        if self.held.len() > MAX_HELD {
            self.release_all(now);
        }
    }

    /// Processes a report from the radio about a connection's latest data in flight to its mobile.
    /// Call [`poll`](Self::poll) afterwards.
    pub fn hear(&mut self, now: Instant, flow: FlowKey, data: &Segment, event: LinkEvent) {
        for place in 0..self.agents.len() {
            let Self { agents, counts, .. } = self;
            agents[place].on_link_event(now, flow, data, event, &mut |_, event| {
                counts.event(&event);
            });
            self.drain(now, place);
        }
    }

    /// Time at which to call [`wake`](Self::wake); [`Instant::FAR_FUTURE`] for never.
    pub fn next_wakeup(&self) -> Instant {
        let agents = self.agents.iter().map(Agent::next_wakeup).min();
        let release = self.deadlines.first().map(|&(until, _)| until);
        agents
            .into_iter()
            .chain(release)
            .min()
            .unwrap_or(Instant::FAR_FUTURE)
    }

    /// Handles everything due by `now`. Call [`poll`](Self::poll) afterwards.
    pub fn wake(&mut self, now: Instant) {
        for place in 0..self.agents.len() {
            if self.agents[place].next_wakeup() <= now {
                let Self { agents, counts, .. } = self;
                agents[place].on_wakeup(now, &mut |_, event| counts.event(&event));
                self.drain(now, place);
            }
        }
        self.release_due(now);
    }

    /// Releases all held packets.
    pub fn release_all(&mut self, now: Instant) {
        while let Some((&number, _)) = self.held.first_key_value() {
            self.counts.released_early += 1;
            self.release(now, number, Decision::Pass);
        }
    }

    /// The next decision.
    pub fn poll(&mut self) -> Option<Decision<H>> {
        self.decisions.pop_front()
    }

    /// Latest time at which the first held packet must leave.
    pub fn oldest_deadline(&self) -> Option<Instant> {
        self.deadlines.first().map(|&(until, _)| until)
    }

    /// Number of packets currently held.
    pub fn held(&self) -> usize {
        self.held.len()
    }

    /// Counters so far.
    pub const fn counts(&self) -> &Counts {
        &self.counts
    }

    /// The time until which a packet may be held.
    fn until(&mut self, now: Instant, passing: &PassingPacket<'_, H>) -> (Instant, Bound) {
        if passing.segment.payload_bytes > 0 {
            return (now + self.limits.longest_data, Bound::Limit);
        }
        let limits = self.limits;
        let flow = self.flow(now, passing.flow);
        flow.allowance.until(&limits, now, passing.round_trip)
    }

    /// Informs the agents of data that they do not see.
    fn tell(&mut self, now: Instant, passing: &PassingPacket<'_, H>) {
        if passing.toward != Toward::Mobile || passing.segment.payload_bytes > 0 {
            return;
        }
        let flow = self.flow(now, passing.flow);
        let between = flow.delivery.take(now, &passing.segment);
        for place in 0..self.agents.len() {
            if !self.chain.counts_data(place) {
                continue;
            }
            if between.is_another {
                self.tell_of(now, place, passing, Toward::Mobile, reset());
            }
            if let Some(segment) = between.up {
                self.tell_of(now, place, passing, Toward::Wired, segment);
            }
            if let Some(segment) = between.down
                && !self.chain.sees_data()
            {
                self.tell_of(now, place, passing, Toward::Mobile, segment);
            }
        }
    }

    fn tell_of(
        &mut self,
        now: Instant,
        place: usize,
        passing: &PassingPacket<'_, H>,
        toward: Toward,
        segment: Segment,
    ) {
        let passage = Passage {
            flow: passing.flow,
            toward,
            segment,
            packet: Handle::default(),
        };
        self.hand(now, place, passage);
    }

    /// The agent that a packet meets first.
    const fn first(&self, toward: Toward) -> usize {
        match toward {
            Toward::Wired => 0,
            Toward::Mobile => self.agents.len().saturating_sub(1),
        }
    }

    fn hand(&mut self, now: Instant, place: usize, passage: Passage<Handle>) {
        let Self {
            agents,
            counts,
            suppressed,
            ..
        } = self;
        if let Some(agent) = agents.get_mut(place) {
            agent.handle(now, passage, &mut |_, event| {
                *suppressed |= matches!(event, AgentEvent::AckSuppressed);
                counts.event(&event);
            });
        }
        self.drain(now, place);
    }

    /// Passes an agent's output to the next one, or out.
    fn drain(&mut self, now: Instant, place: usize) {
        while let Some(emission) = self.agents.get_mut(place).and_then(|agent| agent.poll(now)) {
            let (passage, is_repeat) = match emission {
                Emission::Pass(passage) => (passage, false),
                Emission::Repeat(passage) => (passage, true),
                // No agent of a gateway drops data. No sender understands feedback, which is only
                // counted as an event.
                Emission::Discard(_) | Emission::Feedback { .. } => continue,
            };
            if passage.packet.number == 0 {
                continue;
            }
            let next = match passage.toward {
                Toward::Wired => place
                    .checked_add(1)
                    .filter(|&next| next < self.agents.len()),
                Toward::Mobile => place.checked_sub(1),
            };
            match next {
                Some(next) if !is_repeat => self.hand(now, next, passage),
                _ => self.send(now, &passage, is_repeat),
            }
        }
    }

    /// Sends a packet that leaves the last agent.
    fn send(&mut self, now: Instant, passage: &Passage<Handle>, is_repeat: bool) {
        let number = passage.packet.number;
        if is_repeat {
            let kept = self
                .copies
                .as_mut()
                .and_then(|copies| copies.get(passage.packet.copy));
            if let Some(kept) = kept {
                self.counts.repeated += 1;
                self.decisions
                    .push_back(Decision::Repeat(kept.bytes.clone()));
            }
            return;
        }
        let Some(held) = self.held.get(&number).copied() else {
            return;
        };
        debug_assert_eq!(held.flow, passage.flow);
        let echo = passage.segment.timestamps.map(|stamps| stamps.echo);
        if let Some(echo) = echo
            && held.echo != Some(echo)
        {
            let copies = self.copies.as_mut();
            let kept = copies.and_then(|copies| copies.get(passage.packet.copy));
            let mut bytes = kept.map(|kept| kept.bytes.clone()).unwrap_or_default();
            if write_echo(&mut bytes, echo) {
                self.counts.changed += 1;
                self.release(now, number, |packet| Decision::PassChanged(packet, bytes));
                return;
            }
        }
        match self.urgency(now, passage) {
            Some(priority) => {
                self.counts.prioritised += 1;
                self.release(now, number, |packet| {
                    Decision::PassWithPriority(packet, priority)
                });
            }
            None => self.release(now, number, Decision::Pass),
        }
    }

    /// The priority of a packet that an agent knows to be urgent.
    fn urgency(&self, now: Instant, passage: &Passage<Handle>) -> Option<u32> {
        if passage.toward != Toward::Mobile || !self.chain.knows_urgency() {
            return None;
        }
        let mut known = self.agents.iter();
        let urgency = known.find_map(|agent| agent.urgency(now, passage.flow, &passage.segment))?;
        let left = urgency.expires - now;
        // The kernel's 802.11 takes 256 to 263 for user priorities 0 to 7 (cfg80211_classify8021d):
        // 5 is video, 6 is voice.
        if left < urgency.round_trip {
            Some(256 + 6)
        } else if left < urgency.round_trip * 2 {
            Some(256 + 5)
        } else {
            None
        }
    }

    fn release_due(&mut self, now: Instant) {
        while let Some(&(until, number)) = self.deadlines.first() {
            if until > now {
                return;
            }
            let Some(held) = self.held.get(&number).copied() else {
                self.deadlines.remove(&(until, number));
                continue;
            };
            self.counts.cut(held.bound);
            // Earlier packets of its connection leave before it.
            while let Some(earlier) = self.earlier(held.flow, number) {
                self.release(now, earlier, Decision::Pass);
            }
            self.release(now, number, Decision::Pass);
        }
    }

    /// The first held packet of a connection, if it arrived before packet `number`.
    fn earlier(&mut self, flow: FlowKey, number: u64) -> Option<u64> {
        let first = *self.flows.peek(&flow)?.held.front()?;
        (first < number && self.held.contains_key(&first)).then_some(first)
    }

    fn release(&mut self, now: Instant, number: u64, decision: impl FnOnce(H) -> Decision<H>) {
        if let Some(held) = self.take_out(now, number) {
            self.counts.passed(now - held.since);
            self.decisions.push_back(decision(held.packet));
        }
    }

    /// Removes a held packet.
    fn take_out(&mut self, now: Instant, number: u64) -> Option<HeldPacket<H>> {
        let held = self.held.remove(&number)?;
        self.deadlines.remove(&(held.until, number));
        let limits = self.limits;
        if let Some(flow) = self.flows.peek_mut(&held.flow) {
            if let Some(place) = flow.held.iter().position(|&one| one == number) {
                flow.held.remove(place);
            }
            flow.allowance.charge(&limits, held.since, now);
            flow.allowance.on_released(now);
        }
        Some(held)
    }

    fn flow(&mut self, now: Instant, key: FlowKey) -> &mut Flow {
        let Self { flows, limits, .. } = self;
        flows.get_or_insert_mut(key, || Flow {
            delivery: VirtualDelivery::default(),
            allowance: Allowance::new(limits, now),
            held: VecDeque::new(),
        })
    }
}

/// A segment that makes agents forget a connection.
fn reset() -> Segment {
    Segment {
        flags: airtcp_packet::Flags::RST,
        ..Segment::default()
    }
}

#[cfg(test)]
mod tests;
