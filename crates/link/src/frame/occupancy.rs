//! Occupancy of a channel, for timelines.

use airtcp_units::Instant;

/// A time in which a station occupies the channel, for timelines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// The sender.
    pub station: u32,
    /// First bit.
    pub start: Instant,
    /// Last bit.
    pub end: Instant,
    /// The frame sent.
    pub frame: FrameKind,
    /// The flow of the packet that the exchange is about.
    pub flow: u32,
    /// Attempt number for its packet, from 1.
    pub attempt: u32,
    /// Outcome of the frame; of an aggregate, damaged if all of it is.
    pub fate: Fate,
    /// MPDUs in it: more than 1 in an aggregate.
    pub mpdus: u32,
    /// Number of MPDUs in it that were damaged.
    pub damaged: u32,
}

/// The frame sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// A data frame, or a fragment of one.
    Data,
    /// A link acknowledgment.
    Ack,
    /// A request to send.
    Rts,
    /// A clearance to send.
    Cts,
    /// A block ACK.
    BlockAck,
    /// A request for a block ACK.
    BlockAckRequest,
}

/// Outcome of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is received.
    Received,
    /// Another station sent at the same time.
    Collided,
    /// The radio damaged it.
    Damaged,
}

/// Watches a channel; `()` watches nothing and costs nothing.
pub trait ChannelObserver {
    /// A station occupies the channel from `occupancy.start`; called at that time.
    #[inline]
    fn occupied(&mut self, _occupancy: &Occupancy) {}
}

impl ChannelObserver for () {}
