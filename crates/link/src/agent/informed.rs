//! The information box on the packets' path: it observes packets and forwards them undelayed.

use std::collections::VecDeque;

use airtcp_packet::Segment;
use airtcp_units::Instant;

use super::configuration::{Configuration, Needs};
use super::information_box::{InformationBox, InformationBoxConfig};
use super::parameter::ParameterError;
use super::{Agent, AgentEvent, Emission, FlowKey, Passage};
use crate::frame::Urgency;
use crate::random::Stream;

/// An access point that learns the timers of the connections that pass, for the order in which its
/// link retransmits (Mahmoodi et al. §III-B, "cross-layer information box").
#[derive(Debug)]
pub struct Informed<P> {
    information: InformationBox,
    passing: VecDeque<Passage<P>>,
}

impl<P: Copy> Informed<P> {
    /// An access point that has seen nothing.
    ///
    /// # Errors
    /// A parameter out of its range.
    pub fn new(config: InformationBoxConfig) -> Result<Self, ParameterError> {
        Ok(Self {
            information: InformationBox::new(config)?,
            passing: VecDeque::new(),
        })
    }
}

impl Configuration for InformationBoxConfig {
    const NEEDS: Needs = Needs {
        urgency: true,
        ..Needs::NOTHING
    };

    type Machine<P: Copy> = Informed<P>;

    fn agent<P: Copy>(self, _draws: Stream) -> Result<Informed<P>, ParameterError> {
        Informed::new(self)
    }
}

impl<P: Copy> Agent<P> for Informed<P> {
    fn handle(
        &mut self,
        now: Instant,
        passage: Passage<P>,
        _observer: &mut impl FnMut(FlowKey, AgentEvent),
    ) {
        let Passage {
            flow,
            toward,
            segment,
            ..
        } = &passage;
        self.information.observe(now, *flow, *toward, segment);
        self.passing.push_back(passage);
    }

    fn urgency(&self, now: Instant, flow: FlowKey, segment: &Segment) -> Option<Urgency> {
        self.information.urgency(now, flow, segment)
    }

    fn next_wakeup(&self) -> Instant {
        Instant::FAR_FUTURE
    }

    fn on_wakeup(&mut self, _now: Instant, _observer: &mut impl FnMut(FlowKey, AgentEvent)) {}

    fn poll(&mut self, _now: Instant) -> Option<Emission<P>> {
        self.passing.pop_front().map(Emission::Pass)
    }
}
