//! Agents of an access point, which act on passing packets: one folder or file each.
//!
//! An agent is a sans-IO state machine. It is handed every TCP segment that passes, in both
//! directions, and returns the packets to send on, with their time, and additional packets. A
//! segment that it does not understand passes unchanged. It tracks a bounded number of flows and
//! forgets the idlest first.

mod any;
mod configuration;
pub mod delay_injection;
pub mod deliberate_drop;
pub mod flow_table;
pub mod information_box;
mod informed;
mod local_repair;
pub mod notification;
mod parameter;
pub mod snoop;
mod windowed_minimum;
pub mod wtcp;

pub use any::{AgentConfig, AnyAgent};
pub use delay_injection::DelayInjection;
pub use deliberate_drop::DeliberateDrop;
pub use information_box::InformationBox;
pub use informed::Informed;
pub use local_repair::LocalTimeout;
pub use notification::BadStateNotification;
pub use parameter::ParameterError;
pub use snoop::Snoop;
pub use wtcp::Wtcp;

use airtcp_packet::{LinkFeedback, Segment};
use airtcp_units::{Duration, Instant};

use crate::frame::Urgency;

/// Direction in which a packet passes the access point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Toward {
    /// From the wired network to the mobile host.
    Mobile,
    /// From the mobile host to the wired network.
    Wired,
}

impl Toward {
    /// The opposite direction.
    #[must_use]
    pub const fn opposite(self) -> Self {
        match self {
            Self::Mobile => Self::Wired,
            Self::Wired => Self::Mobile,
        }
    }
}

/// The access point's key of a connection: the simulator's number of the flow, or a hash of
/// addresses and ports.
pub type FlowKey = u64;

/// A packet that passes. `packet` is a handle to its bytes, which the agent returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage<P> {
    /// Its connection.
    pub flow: FlowKey,
    /// Its direction.
    pub toward: Toward,
    /// Its headers. An agent's changes to them are to be written back into the packet.
    pub segment: Segment,
    /// The packet.
    pub packet: P,
}

/// A packet from an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emission<P> {
    /// A packet that passed, now or delayed.
    Pass(Passage<P>),
    /// A copy of a packet that passed before: a local retransmission.
    Repeat(Passage<P>),
    /// A packet that is dropped on purpose, and goes no further.
    Discard(Passage<P>),
    /// Link feedback for the host on that side.
    Feedback {
        /// The connection it is about.
        flow: FlowKey,
        /// Its destination.
        toward: Toward,
        /// Its headers.
        feedback: LinkFeedback,
    },
}

/// A link's report about a packet towards the mobile host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkEvent {
    /// An attempt failed, and there will be another.
    AttemptFailed,
    /// It arrived.
    Delivered,
    /// It was discarded.
    Discarded,
}

/// Events of an agent, for figures and counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AgentEvent {
    /// An acknowledgment was judged by a delay injector (Fotiadis & Siris §III-B).
    AckJudged {
        /// Time since the sender stamped the data it acknowledges, clock offset removed.
        path_delay: Duration,
        /// Delays above this are spikes (`dthresh`).
        threshold: Duration,
        /// The delay D to inject, after this acknowledgment.
        delay: Duration,
        /// Whether it is a spike.
        spike: bool,
        /// Holding time of this acknowledgment.
        held: Duration,
    },
    /// A packet was retransmitted by the agent.
    LocalRetransmission {
        /// Whether its timer expired; otherwise duplicate acknowledgments indicated the loss.
        timeout: bool,
    },
    /// A duplicate acknowledgment was kept from the sender.
    AckSuppressed,
    /// Data was dropped on purpose.
    DataDropped,
    /// The sender was notified of a bad link.
    Notified,
}

/// A state machine at an access point.
pub trait Agent<P: Copy> {
    /// A packet passes at `now`. Call [`poll`](Self::poll) afterwards.
    fn handle(
        &mut self,
        now: Instant,
        passage: Passage<P>,
        observer: &mut impl FnMut(FlowKey, AgentEvent),
    );

    /// The link reports about a packet that the agent has sent towards the mobile host. Call
    /// [`poll`](Self::poll) afterwards.
    fn on_link_event(
        &mut self,
        _now: Instant,
        _flow: FlowKey,
        _segment: &Segment,
        _event: LinkEvent,
        _observer: &mut impl FnMut(FlowKey, AgentEvent),
    ) {
    }

    /// Urgency of a packet towards the mobile, where the agent knows.
    fn urgency(&self, _now: Instant, _flow: FlowKey, _segment: &Segment) -> Option<Urgency> {
        None
    }

    /// Time of the next call of [`on_wakeup`](Self::on_wakeup); [`Instant::FAR_FUTURE`] for never.
    fn next_wakeup(&self) -> Instant;

    /// Acts on the timers that have expired by `now`. Call [`poll`](Self::poll) afterwards.
    fn on_wakeup(&mut self, now: Instant, observer: &mut impl FnMut(FlowKey, AgentEvent));

    /// The next emission at `now`; call until it returns `None`.
    fn poll(&mut self, now: Instant) -> Option<Emission<P>>;
}
