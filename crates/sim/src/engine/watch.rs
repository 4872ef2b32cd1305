//! Observation, separate from the model: the events that a run reports to its observer.

use airtcp_link::agent::AgentEvent;
use airtcp_link::frame::Occupancy;
use airtcp_packet::Segment;
use airtcp_tcp::Event;
use airtcp_tcp::Sender;
use airtcp_units::Instant;

/// The direction of a segment, seen from the host that sends the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Towards the receiver of the data.
    Data,
    /// Towards its sender.
    Acknowledgments,
}

/// An event of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FlowEvent {
    /// An event of the sending endpoint.
    Sender(Event),
    /// The timeout of the segment at this offset was spurious: an acknowledgment of a copy sent
    /// before it arrived later. The simulator knows.
    TimeoutSpurious {
        /// First byte of the segment.
        offset: u64,
        /// Time of the expiry.
        expired_at: Instant,
    },
    /// A queue had no room for a segment.
    QueueDrop {
        /// Its direction.
        direction: Direction,
        /// First byte of the segment, or the offset it acknowledged.
        offset: u64,
    },
    /// The link lost a segment.
    LinkLoss {
        /// Its direction.
        direction: Direction,
        /// First byte of the segment, or the offset it acknowledged.
        offset: u64,
        /// Its number among the packets of its host, from 0.
        packet: u64,
    },
    /// The last byte of a transfer arrived.
    Completed,
}

/// An event of a ping, which the time of its sending names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PingEvent {
    /// Its request left.
    Sent,
    /// Its request arrived.
    Arrived,
    /// Its answer is back.
    Answered,
    /// Its request was lost, or found a queue full.
    RequestLost,
    /// Its answer was lost, or found a queue full.
    AnswerLost,
}

/// Observes a run, or parts of it. `()` observes nothing and costs nothing.
pub trait Watch {
    /// An event of flow `flow`.
    #[inline]
    fn event(&mut self, _now: Instant, _flow: u32, _event: FlowEvent) {}

    /// A segment left or reached the host that sends the data, as a capture there sees it;
    /// `number` is its number among the packets of the host that sent it, from 0.
    #[inline]
    fn segment(
        &mut self,
        _now: Instant,
        _flow: u32,
        _direction: Direction,
        _number: u64,
        _segment: &Segment,
    ) {
    }

    /// An event of the ping that flow `flow` sent at `sent`.
    #[inline]
    fn ping(&mut self, _now: Instant, _flow: u32, _sent: Instant, _event: PingEvent) {}

    /// A station occupies a medium.
    #[inline]
    fn occupied(&mut self, _medium: u16, _occupancy: &Occupancy) {}

    /// An agent at the access point has acted on flow `flow`.
    #[inline]
    fn agent(&mut self, _now: Instant, _flow: u32, _event: AgentEvent) {}

    /// The host that sends the data has processed an arrival or a timer, and has sent all it could:
    /// its state is unchanged until the next.
    #[inline]
    fn settled(&mut self, _now: Instant, _flow: u32, _sender: &Sender) {}
}

impl Watch for () {}

/// Any observer: the engine is compiled once for all of them, and once for none.
impl Watch for &mut dyn Watch {
    fn event(&mut self, now: Instant, flow: u32, event: FlowEvent) {
        (**self).event(now, flow, event);
    }

    fn segment(
        &mut self,
        now: Instant,
        flow: u32,
        direction: Direction,
        number: u64,
        segment: &Segment,
    ) {
        (**self).segment(now, flow, direction, number, segment);
    }

    fn ping(&mut self, now: Instant, flow: u32, sent: Instant, event: PingEvent) {
        (**self).ping(now, flow, sent, event);
    }

    fn occupied(&mut self, medium: u16, occupancy: &Occupancy) {
        (**self).occupied(medium, occupancy);
    }

    fn agent(&mut self, now: Instant, flow: u32, event: AgentEvent) {
        (**self).agent(now, flow, event);
    }

    fn settled(&mut self, now: Instant, flow: u32, sender: &Sender) {
        (**self).settled(now, flow, sender);
    }
}
