//! Packets under way in a network.

use airtcp_link::EcnField;
use airtcp_link::frame::PacketClass;
use airtcp_packet::{Ecn, LinkFeedback, Segment};

/// Headers of a packet.
#[derive(Clone, Copy, Debug)]
pub enum Content {
    /// A TCP segment, which agents at access points understand.
    Segment(Segment),
    /// News of a link for a host.
    Feedback(LinkFeedback),
    /// Anything else, which every agent passes on: the size of the IP packet in bytes.
    Other(u32),
}

/// Size of a message about a link on the wire: as an ICMP error has it, with the headers of the
/// packet that it is about (RFC 792).
const FEEDBACK_BYTES: u32 = 56;

/// A packet on its way. `C` is what it carries beside what it says: nothing in a simulation, a
/// handle of its bytes where there are bytes.
#[derive(Clone, Copy, Debug)]
pub struct Packet<C = ()> {
    /// Its headers.
    pub content: Content,
    /// Whose it is: the number of its flow.
    pub flow: u32,
    /// Its next hop, an index into the routes.
    pub(crate) next: u32,
    /// Packets that its host had sent into the network before.
    pub index: u64,
    /// Its content.
    pub carried: C,
}

impl<C> Packet<C> {
    /// Size of the IP packet.
    #[inline]
    pub fn bytes(&self) -> u32 {
        match &self.content {
            Content::Segment(segment) => segment.ip_bytes(),
            Content::Feedback(_) => FEEDBACK_BYTES,
            Content::Other(bytes) => *bytes,
        }
    }

    /// The segment, if it is one.
    #[inline]
    pub const fn segment(&self) -> Option<&Segment> {
        match &self.content {
            Content::Segment(segment) => Some(segment),
            Content::Feedback(_) | Content::Other(_) => None,
        }
    }

    /// The kind of its content, by which error models and agents choose.
    #[inline]
    pub(crate) fn class(&self) -> PacketClass {
        match &self.content {
            Content::Segment(segment) if segment.sequence_length() > 0 => PacketClass::Data,
            Content::Other(_) => PacketClass::Data,
            _ => PacketClass::Acknowledgment,
        }
    }
}

/// Of what is no segment the network sees the size alone.
impl<C> EcnField for Packet<C> {
    fn ecn(&self) -> Ecn {
        self.segment()
            .map_or(Ecn::NotCapable, |segment| segment.ecn)
    }

    fn mark(&mut self) {
        if let Content::Segment(segment) = &mut self.content {
            segment.mark();
        }
    }
}

/// A host's way into the network: where its packets begin, and how many it has sent.
#[derive(Clone, Copy, Debug)]
pub struct Port {
    pub(crate) sent: u64,
    pub(crate) route: u32,
    pub(crate) flow: u32,
}

impl Port {
    /// The next packet of the host, to be handed to [`Network::send`](crate::Network::send) or
    /// [`Network::inject`](crate::Network::inject).
    #[inline]
    pub const fn packet<C>(&mut self, content: Content, carried: C) -> Packet<C> {
        let index = self.sent;
        self.sent += 1;
        Packet {
            content,
            flow: self.flow,
            next: self.route,
            index,
            carried,
        }
    }

    /// Number of packets created.
    #[must_use]
    pub const fn sent(&self) -> u64 {
        self.sent
    }

    /// Whether `packet` has not passed the first hop of this way.
    #[inline]
    #[must_use]
    pub const fn is_first_hop_of<C>(&self, packet: &Packet<C>) -> bool {
        packet.next == self.route
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets are copied at every hop: a kind of content that does not fit beside a segment would
    /// cost all.
    #[test]
    fn a_packet_is_small() {
        assert_eq!(size_of::<Content>(), size_of::<Segment>());
        assert!(size_of::<Packet>() <= 88, "{}", size_of::<Packet>());
    }
}
