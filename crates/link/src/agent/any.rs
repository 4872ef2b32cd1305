//! Any of the agents, chosen by data: dispatched by match, since a packet passes an agent often.
//!
//! An agent is a row of each table below. Its file has the [`Configuration`] with its needs: the
//! network reads those, and knows no agent by name.

use airtcp_packet::Segment;
use airtcp_units::Instant;

use super::configuration::{Configuration, Needs};
use super::delay_injection::{AdaptiveDelay, DelayInjection, RandomDelay, StaticDelay};
use super::deliberate_drop::{DeliberateDrop, DropConfig};
use super::information_box::InformationBoxConfig;
use super::informed::Informed;
use super::notification::{BadStateNotification, NotificationConfig};
use super::parameter::ParameterError;
use super::snoop::{Snoop, SnoopConfig};
use super::wtcp::{Wtcp, WtcpConfig};
use super::{Agent, AgentEvent, Emission, FlowKey, LinkEvent, Passage};
use crate::frame::Urgency;
use crate::random::Stream;

macro_rules! agents {
    (
        configurations { $($(#[$text:meta])+ $name:ident($config:ident),)+ }
        machines { $($(#[$about:meta])+ $kind:ident($machine:ident),)+ }
    ) => {
        /// The kind of agent, with its parameters.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum AgentConfig {
            $($(#[$text])+ $name($config),)+
        }

        impl AgentConfig {
            const fn needs(&self) -> Needs {
                match self {
                    $(Self::$name(_) => <$config as Configuration>::NEEDS,)+
                }
            }
        }

        $(impl From<$config> for AgentConfig {
            fn from(config: $config) -> Self {
                Self::$name(config)
            }
        })+

        /// Any agent.
        #[derive(Debug)]
        pub enum AnyAgent<P> {
            $($(#[$about])+ $kind($machine<P>),)+
        }

        $(impl<P> From<$machine<P>> for AnyAgent<P> {
            fn from(agent: $machine<P>) -> Self {
                Self::$kind(agent)
            }
        })+

        impl<P: Copy> AnyAgent<P> {
            /// Creates the agent for that configuration; its draws come from `stream`.
            ///
            /// # Errors
            /// A parameter out of its range.
            pub fn new(config: &AgentConfig, stream: Stream) -> Result<Self, ParameterError> {
                match *config {
                    $(AgentConfig::$name(config) => config.agent(stream).map(Self::from),)+
                }
            }
        }

        impl<P: Copy> Agent<P> for AnyAgent<P> {
            fn handle(
                &mut self,
                now: Instant,
                passage: Passage<P>,
                observer: &mut impl FnMut(FlowKey, AgentEvent),
            ) {
                match self {
                    $(Self::$kind(agent) => agent.handle(now, passage, observer),)+
                }
            }

            fn on_link_event(
                &mut self,
                now: Instant,
                flow: FlowKey,
                segment: &Segment,
                event: LinkEvent,
                observer: &mut impl FnMut(FlowKey, AgentEvent),
            ) {
                match self {
                    $(Self::$kind(agent) => {
                        agent.on_link_event(now, flow, segment, event, observer);
                    })+
                }
            }

            fn urgency(&self, now: Instant, flow: FlowKey, segment: &Segment) -> Option<Urgency> {
                match self {
                    $(Self::$kind(agent) => agent.urgency(now, flow, segment),)+
                }
            }

            fn next_wakeup(&self) -> Instant {
                match self {
                    $(Self::$kind(agent) => agent.next_wakeup(),)+
                }
            }

            fn on_wakeup(&mut self, now: Instant, observer: &mut impl FnMut(FlowKey, AgentEvent)) {
                match self {
                    $(Self::$kind(agent) => agent.on_wakeup(now, observer),)+
                }
            }

            fn poll(&mut self, now: Instant) -> Option<Emission<P>> {
                match self {
                    $(Self::$kind(agent) => agent.poll(now),)+
                }
            }
        }
    };
}

agents! {
    configurations {
        /// Adaptive delay injection (Fotiadis & Siris).
        AdaptiveDelay(AdaptiveDelay),
        /// Static delay injection (Klein et al.).
        StaticDelay(StaticDelay),
        /// Random delay injection (Klein et al.).
        RandomDelay(RandomDelay),
        /// Deliberate drops (Miyim).
        Drop(DropConfig),
        /// Explicit bad-state notification (Bakshi et al.).
        Notification(NotificationConfig),
        /// The information box of dynamic ARQ (Mahmoodi et al.).
        Information(InformationBoxConfig),
        /// Snoop (Balakrishnan et al.).
        Snoop(SnoopConfig),
        /// WTCP (Ratnam & Matta).
        Wtcp(WtcpConfig),
    }
    machines {
        /// Holds acknowledgments.
        Delay(DelayInjection),
        /// Drops data.
        Drop(DeliberateDrop),
        /// Notifies senders of a bad radio.
        Notification(BadStateNotification),
        /// Learns the timers of passing connections.
        Information(Informed),
        /// Repairs losses of the radio.
        Snoop(Snoop),
        /// Repairs losses of the radio and hides the time it takes.
        Wtcp(Wtcp),
    }
}

impl AgentConfig {
    /// Whether it needs reports of failed attempts on the wireless link.
    #[must_use]
    pub const fn listens_to_link(&self) -> bool {
        self.needs().link_events
    }

    /// Whether it retransmits packets.
    #[must_use]
    pub const fn repeats(&self) -> bool {
        self.needs().copies
    }

    /// Whether it knows how urgent packets are.
    #[must_use]
    pub const fn knows_urgency(&self) -> bool {
        self.needs().urgency
    }
}
