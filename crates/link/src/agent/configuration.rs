//! The trait of an agent's configuration: its needs, and how the agent is created.

use super::Agent;
use super::parameter::ParameterError;
use crate::random::Stream;

/// Needs of an agent, and its effects on the network around it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Needs {
    /// It needs reports of failed attempts on the wireless link.
    pub link_events: bool,
    /// It retransmits packets: a copy is another transmission.
    pub copies: bool,
    /// It estimates the urgency of packets, for the medium to query.
    pub urgency: bool,
}

impl Needs {
    /// Needs of most agents.
    pub const NOTHING: Self = Self {
        link_events: false,
        copies: false,
        urgency: false,
    };
}

/// A configuration of an agent.
pub(super) trait Configuration: Copy {
    /// Needs of the agent.
    const NEEDS: Needs = Needs::NOTHING;

    /// The agent that it configures.
    type Machine<P: Copy>: Agent<P>;

    /// Creates the agent; its random draws come from `draws`.
    ///
    /// # Errors
    /// A parameter out of its range.
    fn agent<P: Copy>(self, draws: Stream) -> Result<Self::Machine<P>, ParameterError>;
}
