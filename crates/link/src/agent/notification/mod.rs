//! Explicit bad-state notification: the sender learns that the radio is retransmitting, so that
//! its timer does not expire during that time.
//!
//! ```text
//!   wired sender  --- data --->  access point  --- attempt fails --->  mobile
//!                 <-- BadState --
//! ```
//!
//! After every attempt that fails on the wireless link the access point sends the source of the
//! packet a notification, and the source restarts its timer and changes nothing else (B. Bakshi,
//! P. Krishna, N. Vaidya, D. Pradhan, "Improving Performance of TCP over Wireless Networks", ICDCS
//! 1997). Every packet passes unchanged and undelayed.

use std::collections::VecDeque;
use std::num::NonZeroUsize;

use airtcp_packet::{Flags, LinkFeedback, Segment};
use airtcp_units::{Duration, Instant};

use super::configuration::{Configuration, Needs};
use super::flow_table::{DEFAULT_FLOW_LIMIT, FlowTable};
use super::parameter::ParameterError;
use super::{Agent, AgentEvent, Emission, FlowKey, LinkEvent, Passage, Toward};
use crate::random::Stream;

/// The parameters of explicit bad-state notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotificationConfig {
    /// Minimum interval between notifications of a connection. Zero, as in the paper: after each
    /// failed attempt.
    pub interval: Duration,
    /// Maximum number of tracked connections; a forgotten one may be notified early.
    pub flow_limit: NonZeroUsize,
}

impl Default for NotificationConfig {
    fn default() -> Self {
        Self {
            interval: Duration::ZERO,
            flow_limit: DEFAULT_FLOW_LIMIT,
        }
    }
}

/// The agent: notifies the wired sender of each failed attempt.
#[derive(Debug)]
pub struct BadStateNotification<P> {
    interval: Duration,
    /// Time of the last notification of each connection. Empty without an interval.
    notified: FlowTable<Instant>,
    ready: VecDeque<Emission<P>>,
}

impl<P: Copy> BadStateNotification<P> {
    /// An agent in its initial state. All parameters are valid.
    #[must_use]
    pub fn new(config: NotificationConfig) -> Self {
        Self {
            interval: config.interval,
            notified: FlowTable::new(config.flow_limit),
            ready: VecDeque::new(),
        }
    }

    /// Whether `flow` may be notified at `now`; if so, it counts as notified.
    fn may_notify(&mut self, now: Instant, flow: FlowKey) -> bool {
        if self.interval == Duration::ZERO {
            return true;
        }
        if let Some(&last) = self.notified.get(flow)
            && now - last < self.interval
        {
            return false;
        }
        *self.notified.entry(flow, || now) = now;
        true
    }
}

impl Configuration for NotificationConfig {
    const NEEDS: Needs = Needs {
        link_events: true,
        ..Needs::NOTHING
    };

    type Machine<P: Copy> = BadStateNotification<P>;

    fn agent<P: Copy>(self, _draws: Stream) -> Result<BadStateNotification<P>, ParameterError> {
        Ok(BadStateNotification::new(self))
    }
}

impl<P: Copy> Agent<P> for BadStateNotification<P> {
    fn handle(
        &mut self,
        _now: Instant,
        passage: Passage<P>,
        _observer: &mut impl FnMut(FlowKey, AgentEvent),
    ) {
        // After a reset, and with a new connection of the same key, nothing was notified.
        let flags = passage.segment.flags;
        if flags.contains(Flags::RST) || flags.contains(Flags::SYN) {
            self.notified.remove(passage.flow);
        }
        self.ready.push_back(Emission::Pass(passage));
    }

    fn on_link_event(
        &mut self,
        now: Instant,
        flow: FlowKey,
        segment: &Segment,
        event: LinkEvent,
        observer: &mut impl FnMut(FlowKey, AgentEvent),
    ) {
        // Only data has a sender with a running timer for it.
        if event != LinkEvent::AttemptFailed || segment.payload_bytes == 0 {
            return;
        }
        if !self.may_notify(now, flow) {
            return;
        }
        self.ready.push_back(Emission::Feedback {
            flow,
            toward: Toward::Wired,
            feedback: LinkFeedback::BadState,
        });
        observer(flow, AgentEvent::Notified);
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
mod tests;
