//! Delay injection: acknowledgments are held at the access point, so that the mobile sender's
//! timer learns of delays before they strike.
//!
//! Data goes up from the mobile over a radio that repeats each frame until it arrives. A burst of
//! errors then shows as a *delay spike*, which a sender with steady round trips mistakes for a
//! loss. Deliberately injected delays make its timer wide enough (Fotiadis & Siris, "Improving TCP
//! Throughput in 802.11 WLANs with High Delay Variability", COST TD(05)049).
//!
//! ```text
//!                          +----------------------- access point --+
//!   mobile  -- data --->   |  counted                              |  ---> receiver
//!           <-- ACK ----   |  sent <- [ held, first in first out ] |  <--- ACK
//!                          |           opened for D by the rule    |
//!                          +---------------------------------------+
//! ```
//!
//! One machine holds the acknowledgments, and one of three rules determines for how long:
//! [`AdaptiveDelay`], [`StaticDelay`], [`RandomDelay`].
//!
//! Downloads are the mirror image, an extension that the paper's §V wishes: the data goes down
//! over the radio, and acknowledgments are held on their way to the sender in the wired network,
//! which stamped the data ([`AdaptiveDelay::acks_toward`]). Below, the mobile is the sender.
//!
//! **Judged**: acknowledgments towards the mobile that carry neither data nor SYN, FIN or RST, and
//! that acknowledge new data, of connections with more data from the mobile than to it. The
//! adaptive rule also needs timestamps. Duplicate acknowledgments and window updates echo an old
//! timestamp (RFC 7323 §4.3), so they measure nothing and are not judged. A lost acknowledgment is
//! not missed: the next is judged. Data that the mobile had to retransmit carries the timestamp of
//! the newest copy, and is measured from there.
//!
//! **Not judged**: all other packets pass unchanged and undelayed, but never overtake held packets
//! of their connection. The end of a connection (RST; FIN towards the mobile) and its start (SYN)
//! release all its held packets, immediately and in order, and drop its state; so does eviction by
//! another connection.

mod adaptive;
mod distance;
mod hold_queue;
mod mobile_clock;
mod random_delay;
mod static_delay;
#[cfg(test)]
mod tests;

use std::num::NonZeroUsize;

use airtcp_packet::{Flags, Segment, SequenceNumber};
use airtcp_units::{Duration, Instant};

pub use adaptive::{AdaptiveDelay, Average};
pub use distance::Distance;
pub use mobile_clock::ClockOffset;
pub use random_delay::RandomDelay;
pub use static_delay::StaticDelay;

use super::configuration::Configuration;
use super::flow_table::{DEFAULT_FLOW_LIMIT, FlowTable};
use super::parameter::ParameterError;
use super::{Agent, AgentEvent, Emission, FlowKey, Passage, Toward};
use crate::random::Stream;
use adaptive::{Judge, Verdict};
use distance::Schedule;
use hold_queue::{HELD_LIMIT, HoldQueue, Lane};

/// Upper bound of every rule's holding time.
const MAX_HOLD: Duration = Duration::from_secs(60);
const UP_TO_MAX_HOLD: &str = "a duration of at most 60 s";

/// The choice of acknowledgments to hold, and for how long.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DelayRule {
    /// Learned from delay spikes.
    Adaptive(AdaptiveDelay),
    /// Constant.
    Static {
        /// Duration and distances.
        delay: StaticDelay,
        /// Source of its draws.
        draws: Stream,
    },
    /// Random.
    Random {
        /// Duration and distances.
        delay: RandomDelay,
        /// Source of its draws.
        draws: Stream,
    },
}

/// State of a rule for one connection.
#[derive(Clone, Debug)]
enum Memory {
    Adaptive(Judge),
    Scheduled(Schedule),
}

impl DelayRule {
    /// The direction of the acknowledgments held.
    const fn acks_toward(&self) -> Toward {
        match self {
            Self::Adaptive(rule) => rule.acks_toward,
            Self::Static { .. } | Self::Random { .. } => Toward::Mobile,
        }
    }

    const fn memory(&self) -> Memory {
        match self {
            Self::Adaptive(_) => Memory::Adaptive(Judge::new()),
            Self::Static { .. } | Self::Random { .. } => Memory::Scheduled(Schedule::new()),
        }
    }

    /// Holding time of the acknowledgment `segment`, and the verdict if it was judged.
    fn judge(
        &self,
        memory: &mut Memory,
        now: Instant,
        flow: FlowKey,
        segment: &Segment,
    ) -> (Duration, Option<Verdict>) {
        match (self, memory) {
            (Self::Adaptive(rule), Memory::Adaptive(judge)) => {
                let verdict = segment
                    .timestamps
                    .map(|timestamps| judge.judge(rule, now, timestamps.echo));
                let hold = verdict.map_or(Duration::ZERO, |verdict| verdict.hold);
                (hold, verdict)
            }
            (Self::Static { delay, draws }, Memory::Scheduled(schedule)) => {
                let chosen = schedule.choose(delay.every, *draws, flow, now);
                (chosen.map_or(Duration::ZERO, |_| delay.delay), None)
            }
            (Self::Random { delay, draws }, Memory::Scheduled(schedule)) => {
                let chosen = schedule.choose(delay.every, *draws, flow, now);
                (
                    chosen.map_or(Duration::ZERO, |draw| delay.length(draw)),
                    None,
                )
            }
            // A rule creates its memory, and neither changes: no other combination exists.
            (Self::Adaptive(_) | Self::Static { .. } | Self::Random { .. }, _) => {
                (Duration::ZERO, None)
            }
        }
    }

    fn check(&self) -> Result<(), ParameterError> {
        match self {
            Self::Adaptive(rule) => rule.check(),
            Self::Static { delay, .. } => delay.check(),
            Self::Random { delay, .. } => delay.check(),
        }
    }
}

/// State of the agent for one connection.
#[derive(Clone, Debug)]
struct Flow {
    lane: Lane,
    memory: Memory,
    /// Bytes of data from the host that waits for the acknowledgments.
    sent_bytes: u64,
    /// Bytes of data to it.
    received_bytes: u64,
    /// The highest acknowledgment to it.
    acknowledged: Option<SequenceNumber>,
}

impl Flow {
    /// Whether `segment`, on its way to that host, acknowledges new data.
    fn acknowledges_more(&mut self, segment: &Segment) -> bool {
        if !segment.flags.contains(Flags::ACK) {
            return false;
        }
        let more = self
            .acknowledged
            .is_none_or(|before| segment.acknowledgment.after(before));
        if more {
            self.acknowledged = Some(segment.acknowledgment);
        }
        more
    }
}

/// The agent: holds acknowledgments on their way to a sender.
#[derive(Debug)]
pub struct DelayInjection<P> {
    rule: DelayRule,
    flows: FlowTable<Flow>,
    queue: HoldQueue<P>,
}

impl<P: Copy> DelayInjection<P> {
    /// An agent that holds by `rule` and tracks at most `flow_limit` connections
    /// ([`DEFAULT_FLOW_LIMIT`](super::flow_table::DEFAULT_FLOW_LIMIT)).
    pub fn new(rule: DelayRule, flow_limit: NonZeroUsize) -> Result<Self, ParameterError> {
        rule.check()?;
        Ok(Self {
            rule,
            flows: FlowTable::new(flow_limit),
            queue: HoldQueue::new(HELD_LIMIT),
        })
    }

    fn release_due(&mut self, now: Instant) {
        while let Some((leave, flow)) = self.queue.next_departure() {
            if leave > now {
                return;
            }
            // Held packets belong to a known connection: forgetting it releases them.
            let Some(state) = self.flows.get_mut(flow) else {
                return;
            };
            self.queue.release_due(now, &mut state.lane, flow);
        }
    }

    fn release_all(&mut self, flow: FlowKey, mut state: Flow) {
        self.queue.release_all(&mut state.lane, flow);
    }

    /// A segment in the direction of the acknowledgments, of an established connection.
    fn pass_back(
        &mut self,
        now: Instant,
        passage: Passage<P>,
        observer: &mut impl FnMut(FlowKey, AgentEvent),
    ) {
        let Passage { flow, segment, .. } = passage;
        let Self { rule, flows, queue } = self;
        let state = flows.entry(flow, || new_flow(rule));
        state.received_bytes = state
            .received_bytes
            .saturating_add(u64::from(segment.payload_bytes));
        let more = state.acknowledges_more(&segment);
        let judged =
            more && segment.sequence_length() == 0 && state.sent_bytes > state.received_bytes;
        if !judged {
            queue.push(now, &mut state.lane, now, passage);
            return;
        }
        let (hold, verdict) = rule.judge(&mut state.memory, now, flow, &segment);
        // inject_delay (Fotiadis & Siris §III-B): the first opens a hold, and acknowledgments
        // within it leave immediately after it. The other rules decide for each acknowledgment
        // separately.
        let opens = verdict.is_none() || state.lane.is_empty();
        let hold = if opens { hold } else { Duration::ZERO };
        let held = queue.push(now, &mut state.lane, now + hold, passage);
        if let Some(verdict) = verdict {
            observer(flow, verdict.event(held));
        }
    }
}

fn new_flow(rule: &DelayRule) -> Flow {
    Flow {
        lane: Lane::EMPTY,
        memory: rule.memory(),
        sent_bytes: 0,
        received_bytes: 0,
        acknowledged: None,
    }
}

/// Whether a connection begins or ends with this segment, which passes in the direction of the
/// acknowledgments or not.
fn begins_or_ends(is_back: bool, segment: &Segment) -> bool {
    let flags = segment.flags;
    flags.contains(Flags::SYN)
        || flags.contains(Flags::RST)
        || (flags.contains(Flags::FIN) && is_back)
}

impl Configuration for AdaptiveDelay {
    type Machine<P: Copy> = DelayInjection<P>;

    fn agent<P: Copy>(self, _draws: Stream) -> Result<DelayInjection<P>, ParameterError> {
        under(DelayRule::Adaptive(self))
    }
}

impl Configuration for StaticDelay {
    type Machine<P: Copy> = DelayInjection<P>;

    fn agent<P: Copy>(self, draws: Stream) -> Result<DelayInjection<P>, ParameterError> {
        under(DelayRule::Static { delay: self, draws })
    }
}

impl Configuration for RandomDelay {
    type Machine<P: Copy> = DelayInjection<P>;

    fn agent<P: Copy>(self, draws: Stream) -> Result<DelayInjection<P>, ParameterError> {
        under(DelayRule::Random { delay: self, draws })
    }
}

/// An agent that holds by that rule.
fn under<P: Copy>(rule: DelayRule) -> Result<DelayInjection<P>, ParameterError> {
    DelayInjection::new(rule, DEFAULT_FLOW_LIMIT)
}

impl<P: Copy> Agent<P> for DelayInjection<P> {
    fn handle(
        &mut self,
        now: Instant,
        passage: Passage<P>,
        observer: &mut impl FnMut(FlowKey, AgentEvent),
    ) {
        self.release_due(now);
        let Passage {
            flow,
            toward,
            segment,
            ..
        } = passage;
        let is_back = toward == self.rule.acks_toward();
        if begins_or_ends(is_back, &segment) {
            if let Some(state) = self.flows.remove(flow) {
                self.release_all(flow, state);
            }
            self.queue.send(passage);
            return;
        }
        if let Some((idlest, state)) = self.flows.make_room(flow) {
            self.release_all(idlest, state);
        }
        if is_back {
            return self.pass_back(now, passage, observer);
        }
        let rule = &self.rule;
        let state = self.flows.entry(flow, || new_flow(rule));
        state.sent_bytes = state
            .sent_bytes
            .saturating_add(u64::from(segment.payload_bytes));
        self.queue.send(passage);
    }

    fn next_wakeup(&self) -> Instant {
        self.queue
            .next_departure()
            .map_or(Instant::FAR_FUTURE, |(leave, _)| leave)
    }

    fn on_wakeup(&mut self, now: Instant, _observer: &mut impl FnMut(FlowKey, AgentEvent)) {
        self.release_due(now);
    }

    fn poll(&mut self, now: Instant) -> Option<Emission<P>> {
        self.release_due(now);
        self.queue.pop_ready().map(Emission::Pass)
    }
}
