//! Medium access: stations that share a channel, and what is retransmitted when a frame is damaged.
//!
//! A medium is handed packets and the time; it says when it wants to be woken, and what became of
//! each packet. All media speak in the types of this file.

pub mod arq;
pub mod cellular;
pub mod damage;
pub mod dcf;
pub mod selective_repeat;
pub mod transmit_queue;

use airtcp_units::{Duration, Instant};
use std::num::NonZeroU32;

/// Facts about a packet that a medium needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Size of the IP packet, headers included; the medium adds its own.
    pub bytes: u32,
    /// Whose packet it is; flows are numbered from zero without gaps.
    pub flow: u32,
    /// Its content: error models may spare one or the other.
    pub class: PacketClass,
    /// Its urgency, where an access point knows.
    pub urgency: Option<Urgency>,
}

/// The content of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketClass {
    /// Data of a connection, its SYN and its FIN.
    Data,
    /// Acknowledgments alone.
    Acknowledgment,
}

/// An access point's estimate of the retransmission timer of a packet's sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Urgency {
    /// When the timer expires.
    pub expires: Instant,
    /// The round-trip time of the connection.
    pub round_trip: Duration,
}

/// Most transmissions of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryLimit {
    /// Until it arrives.
    Unlimited,
    /// The most attempts, the first included: the standard's `dot11ShortRetryLimit`
    /// (IEEE 802.11-2016 §10.3.4.4).
    Attempts(NonZeroU32),
}

impl RetryLimit {
    /// Whether a frame that was sent `attempts` times may not be retransmitted.
    #[inline]
    #[must_use]
    pub const fn is_reached(self, attempts: u32) -> bool {
        match self {
            Self::Unlimited => false,
            Self::Attempts(limit) => attempts >= limit.get(),
        }
    }
}

/// The outcome of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome<P> {
    /// It arrived at station `to`. Told once for a packet, also if its acknowledgment was lost and
    /// it is retransmitted.
    Delivered {
        /// The packet.
        packet: P,
        /// The station it came from.
        from: u32,
        /// The station it arrived at.
        to: u32,
        /// Transmissions until then, all its fragments together less their number, plus 1:
        /// 1 when nothing had to be retransmitted.
        attempts: u32,
    },
    /// Its sender has the link's acknowledgment. Only told by links on which that takes its time,
    /// after [`Delivered`](Self::Delivered) or, with a reordering buffer, before it; on the others
    /// the sender knows as the packet arrives, or at once after.
    Acknowledged {
        /// The packet.
        packet: P,
        /// The station that sent it.
        from: u32,
        /// The station it was meant for.
        to: u32,
        /// Transmissions, counted as above.
        attempts: u32,
    },
    /// An attempt failed, and the packet will be retransmitted.
    Retried {
        /// The packet.
        packet: P,
        /// The station that sends it.
        from: u32,
        /// The station it is meant for.
        to: u32,
        /// Transmissions so far, counted as above.
        attempts: u32,
    },
    /// Its sender gave it up.
    Discarded {
        /// The packet.
        packet: P,
        /// The station that sent it.
        from: u32,
        /// The station it was meant for.
        to: u32,
        /// Transmissions, counted as above; 0 if it never was.
        attempts: u32,
        /// Whether it had arrived all the same: only acknowledgments were lost.
        arrived: bool,
    },
}

/// A time in which a station occupies the channel, for timelines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Who sends.
    pub station: u32,
    /// First bit.
    pub start: Instant,
    /// Last bit.
    pub end: Instant,
    /// The frame sent.
    pub frame: FrameKind,
    /// The flow whose packet the exchange is about.
    pub flow: u32,
    /// Attempt number for its packet, from 1.
    pub attempt: u32,
    /// Outcome of the frame.
    pub fate: Fate,
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
    /// A station occupies the channel from `occupancy.start` on; told then.
    #[inline]
    fn occupied(&mut self, _occupancy: &Occupancy) {}
}

impl ChannelObserver for () {}
