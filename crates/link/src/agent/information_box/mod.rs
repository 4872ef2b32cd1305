//! The cross-layer information box: the link learns TCP's timers by passive observation.
//!
//! A link that knows when a packet's sender will time out can send the most urgent first (Mahmoodi,
//! Friderikos, Holland & Aghvami, "Cross-Layer Design to Improve Wireless TCP Performance with
//! Link-Layer Adaptation", §III). The box watches data on its way to the mobile and the
//! acknowledgments for it, and never touches a packet.
//!
//! ```text
//!   sender --- wired half / 2 ---> access point --- wireless half ---> mobile
//!          <-- wired half / 2 ---      [box]    <--                ---
//!
//!   round trip = wired half + wireless half        RTO = RTT + 4 D, by RFC 6298
//! ```
//!
//! The halves are read from timestamps or by self-clocking: see [`PassiveMethod`].

mod estimator;
mod flow;
mod self_clocking;
#[cfg(test)]
mod tests;
mod timestamps;

use std::num::NonZeroUsize;

use airtcp_packet::{Flags, Segment};
use airtcp_units::{Duration, Instant};

use super::flow_table::{DEFAULT_FLOW_LIMIT, FlowTable};
use super::parameter::{ParameterError, check_duration};
use super::{FlowKey, Toward};
use crate::frame::Urgency;
use flow::Flow;

/// Reading of the halves of the round trip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PassiveMethod {
    /// From the timestamps option. Connections without it are not measured.
    Timestamps {
        /// Granularity of the access point's clock, so that readings are multiples of this: 1 ns to
        /// 1 s. The paper's simulator has one clock of 500 ms for all; an access point of today
        /// reads 1 ns, independent of the granularity of the hosts' clocks.
        tick: Duration,
    },
    /// From data and acknowledgments only, so for every connection.
    #[default]
    SelfClocking,
}

/// The parameters of the information box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InformationBoxConfig {
    /// Reading of the halves of the round trip.
    pub method: PassiveMethod,
    /// Lower bound of the sender's timer. RFC 6298 §2.4 has 1 s, Linux 200 ms; the default is the
    /// 500 ms of the paper's simulator.
    pub timeout_floor: Duration,
    /// Upper bound of the sender's timer (RFC 6298 §2.5: at least 60 s).
    pub timeout_ceiling: Duration,
    /// Maximum number of tracked connections.
    pub flow_limit: NonZeroUsize,
}

impl Default for InformationBoxConfig {
    fn default() -> Self {
        Self {
            method: PassiveMethod::SelfClocking,
            timeout_floor: Duration::from_millis(500),
            timeout_ceiling: Duration::from_secs(60),
            flow_limit: DEFAULT_FLOW_LIMIT,
        }
    }
}

/// The box: round-trip times and timers of the connections that pass.
#[derive(Debug)]
pub struct InformationBox {
    config: InformationBoxConfig,
    flows: FlowTable<Flow>,
}

impl InformationBox {
    /// A box that has seen nothing.
    pub fn new(config: InformationBoxConfig) -> Result<Self, ParameterError> {
        if let PassiveMethod::Timestamps { tick } = config.method {
            check_duration(
                "tick",
                tick,
                (Duration::from_nanos(1), Duration::from_secs(1)),
                "a duration from 1 ns to 1 s",
                "give 1 ns for the access point's own clock, 500 ms for the paper's",
            )?;
        }
        check_duration(
            "timeout_floor",
            config.timeout_floor,
            (Duration::ZERO, config.timeout_ceiling),
            "a duration not above timeout_ceiling",
            "lower the floor or raise the ceiling",
        )?;
        Ok(Self {
            config,
            flows: FlowTable::new(config.flow_limit),
        })
    }

    /// Handles a segment that passes at `now`. To be called once for every segment in both
    /// directions, in the order of passage; not for retransmissions by the link.
    pub fn observe(&mut self, now: Instant, flow: FlowKey, toward: Toward, segment: &Segment) {
        let flags = segment.flags;
        if flags.contains(Flags::RST) {
            self.flows.remove(flow);
            return;
        }
        let begins = flags.contains(Flags::SYN) && !flags.contains(Flags::ACK);
        if begins
            && self
                .flows
                .get(flow)
                .is_some_and(|known| known.is_of_another(segment.sequence))
        {
            self.flows.remove(flow);
        }
        let state = self.flows.entry(flow, || Flow::new(self.config.method));
        if begins {
            state.begin(segment.sequence);
        }
        state.observe(&self.config, now, toward, segment);
    }

    /// How urgent `segment` is, which passes towards the mobile at `now` and was
    /// [observed](Self::observe): when its sender's timer for it expires, and the round-trip time.
    ///
    /// The sender has sent it half of the wired half ago, on a path that takes as long either way;
    /// its timer then began to run for one RTO, doubled if it is seen to have expired before. (A
    /// sender restarts its one timer with each acknowledgment, so a segment after others has
    /// longer: this is the earliest possible expiry.) `None` for acknowledgments, and until there
    /// is a sample.
    #[must_use]
    pub fn urgency(&self, now: Instant, flow: FlowKey, segment: &Segment) -> Option<Urgency> {
        if segment.sequence_length() == 0 {
            return None;
        }
        self.flows.get(flow)?.urgency(&self.config, now)
    }

    /// The smoothed round-trip time of `flow`, once there is a sample.
    #[must_use]
    pub fn round_trip(&self, flow: FlowKey) -> Option<Duration> {
        self.flows.get(flow)?.round_trip()
    }
}
