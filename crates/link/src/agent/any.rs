//! Any of the agents, chosen by data: dispatched by match, since a packet passes an agent often.

use airtcp_packet::Segment;
use airtcp_units::Instant;

use super::delay_injection::{AdaptiveDelay, DelayInjection, DelayRule, RandomDelay, StaticDelay};
use super::flow_table::DEFAULT_FLOW_LIMIT;
use super::information_box::InformationBoxConfig;
use super::informed::Informed;
use super::notification::{BadStateNotification, NotificationConfig};
use super::parameter::ParameterError;
use super::snoop::{Snoop, SnoopConfig};
use super::wtcp::{Wtcp, WtcpConfig};
use super::{Agent, AgentEvent, Emission, FlowKey, LinkEvent, Passage};
use crate::mac::Urgency;
use crate::random::Stream;

/// Which agent, with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AgentConfig {
    /// Adaptive delay injection (Fotiadis & Siris).
    AdaptiveDelay(AdaptiveDelay),
    /// Static delay injection (Klein et al.).
    StaticDelay(StaticDelay),
    /// Random delay injection (Klein et al.).
    RandomDelay(RandomDelay),
    /// Explicit bad-state notification (Bakshi et al.).
    Notification(NotificationConfig),
    /// The information box of dynamic ARQ (Mahmoodi et al.).
    Information(InformationBoxConfig),
    /// Snoop (Balakrishnan et al.).
    Snoop(SnoopConfig),
    /// WTCP (Ratnam & Matta).
    Wtcp(WtcpConfig),
}

impl AgentConfig {
    /// Whether it wants to hear of attempts that failed on the wireless link.
    #[must_use]
    pub const fn listens_to_link(&self) -> bool {
        matches!(self, Self::Notification(_))
    }

    /// Whether it sends packets again by itself.
    #[must_use]
    pub const fn repeats(&self) -> bool {
        matches!(self, Self::Snoop(_) | Self::Wtcp(_))
    }

    /// Whether it knows how urgent packets are.
    #[must_use]
    pub const fn knows_urgency(&self) -> bool {
        matches!(self, Self::Information(_))
    }
}

/// Any agent.
#[derive(Debug)]
pub enum AnyAgent<P> {
    /// One that holds acknowledgments.
    Delay(DelayInjection<P>),
    /// One that tells senders of a bad radio.
    Notification(BadStateNotification<P>),
    /// One that learns the timers of the connections that pass.
    Information(Informed<P>),
    /// One that repairs losses of the radio.
    Snoop(Snoop<P>),
    /// One that repairs them and hides the time it takes.
    Wtcp(Wtcp<P>),
}

impl<P: Copy> AnyAgent<P> {
    /// The agent of that configuration; what it draws comes from `stream`.
    ///
    /// # Errors
    /// A parameter out of its range.
    pub fn new(config: &AgentConfig, stream: Stream) -> Result<Self, ParameterError> {
        let delay = |rule| DelayInjection::new(rule, DEFAULT_FLOW_LIMIT).map(Self::Delay);
        match *config {
            AgentConfig::AdaptiveDelay(rule) => delay(DelayRule::Adaptive(rule)),
            AgentConfig::StaticDelay(rule) => delay(DelayRule::Static(rule)),
            AgentConfig::RandomDelay(rule) => delay(DelayRule::Random {
                delay: rule,
                draws: stream,
            }),
            AgentConfig::Notification(config) => {
                Ok(Self::Notification(BadStateNotification::new(config)))
            }
            AgentConfig::Information(config) => Informed::new(config).map(Self::Information),
            AgentConfig::Snoop(parameters) => Ok(Self::Snoop(Snoop::new(parameters))),
            AgentConfig::Wtcp(parameters) => Ok(Self::Wtcp(Wtcp::new(parameters))),
        }
    }

    /// How urgent a packet towards the mobile is, where the agent knows.
    #[must_use]
    pub fn urgency(&self, now: Instant, flow: FlowKey, segment: &Segment) -> Option<Urgency> {
        match self {
            Self::Information(agent) => agent.urgency(now, flow, segment),
            _ => None,
        }
    }
}

/// Calls a method of the agent inside.
macro_rules! inside {
    ($self:ident, $agent:ident => $call:expr) => {
        match $self {
            AnyAgent::Delay($agent) => $call,
            AnyAgent::Notification($agent) => $call,
            AnyAgent::Information($agent) => $call,
            AnyAgent::Snoop($agent) => $call,
            AnyAgent::Wtcp($agent) => $call,
        }
    };
}

impl<P: Copy> Agent<P> for AnyAgent<P> {
    fn handle(
        &mut self,
        now: Instant,
        passage: Passage<P>,
        observer: &mut impl FnMut(FlowKey, AgentEvent),
    ) {
        inside!(self, agent => agent.handle(now, passage, observer));
    }

    fn on_link_event(
        &mut self,
        now: Instant,
        flow: FlowKey,
        segment: &Segment,
        event: LinkEvent,
        observer: &mut impl FnMut(FlowKey, AgentEvent),
    ) {
        inside!(self, agent => agent.on_link_event(now, flow, segment, event, observer));
    }

    fn next_wakeup(&self) -> Instant {
        inside!(self, agent => agent.next_wakeup())
    }

    fn on_wakeup(&mut self, now: Instant, observer: &mut impl FnMut(FlowKey, AgentEvent)) {
        inside!(self, agent => agent.on_wakeup(now, observer));
    }

    fn poll(&mut self, now: Instant) -> Option<Emission<P>> {
        inside!(self, agent => agent.poll(now))
    }
}
