//! Packets in transit in a network.

use airtcp_link::frame::PacketClass;
use airtcp_link::{EcnField, Transmission};
use airtcp_packet::{Ecn, Flags, LinkFeedback, Segment};

/// Headers of a packet.
#[derive(Clone, Copy, Debug)]
pub enum Content {
    /// A TCP segment, which agents at access points understand.
    Segment(Segment),
    /// Link feedback for a host.
    Feedback(LinkFeedback),
    /// Anything else, which every agent passes on: the size of the IP packet in bytes.
    Other(u32),
}

/// Size of link feedback on the wire: that of an ICMP error with the headers of the packet that it
/// is about (RFC 792).
const FEEDBACK_BYTES: u32 = 56;

/// A packet in transit. `C` is its payload apart from the headers: empty in a simulation, a handle
/// of its bytes where there are bytes.
#[derive(Clone, Copy, Debug)]
pub struct Packet<C = ()> {
    /// Its headers.
    pub content: Content,
    /// The number of its flow.
    pub flow: u32,
    /// Its next hop, an index into the routes.
    pub(crate) next: u32,
    /// Packets that its host had sent into the network before; [`Transmission::UNNUMBERED`] of the
    /// acknowledgment that ends a handshake by itself.
    pub index: u64,
    /// Its payload.
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

/// For anything but a segment the network sees only the size.
impl<C> EcnField for Packet<C> {
    fn segment(&self) -> Option<&Segment> {
        Packet::segment(self)
    }

    fn ecn(&self) -> Ecn {
        self.segment()
            .map_or(Ecn::NotCapable, |segment| segment.ecn)
    }

    fn mark(&mut self) {
        if let Content::Segment(segment) = &mut self.content {
            segment.mark();
        }
    }

    fn brake(&mut self) {
        if let Content::Segment(segment) = &mut self.content {
            segment.brake();
        }
    }
}

/// A host's entry to the network: the start of its packets' path, and how many it has sent.
#[derive(Clone, Copy, Debug)]
pub struct Port {
    /// Packets created, except unnumbered ones, times two, and one more while a handshake may still
    /// be in progress: very many ports fit in memory.
    sent_and_opens: u64,
    pub(crate) route: u32,
    pub(crate) flow: u32,
}

impl Port {
    /// The start of `flow`'s path at `route`.
    pub(crate) const fn new(flow: u32, route: u32) -> Self {
        Self {
            sent_and_opens: 1,
            route,
            flow,
        }
    }

    /// The next packet of the host, to be handed to [`Network::send`](crate::Network::send) or
    /// [`Network::inject`](crate::Network::inject).
    ///
    /// A host completes the handshake that it has begun with its first data or, as kernels do, with
    /// a pure acknowledgment. The latter takes no number, so that a host's data have the same
    /// numbers, and meet the same draws, in either case.
    #[inline]
    pub fn packet<C>(&mut self, content: Content, carried: C) -> Packet<C> {
        let index = if self.opens() && self.ends_handshake(&content) {
            Transmission::UNNUMBERED
        } else {
            self.sent_and_opens += 2;
            self.sent() - 1
        };
        Packet {
            content,
            flow: self.flow,
            next: self.route,
            index,
            carried,
        }
    }

    /// Whether a handshake may still be in progress.
    #[inline]
    const fn opens(&self) -> bool {
        self.sent_and_opens & 1 != 0
    }

    fn set_opens(&mut self, opens: bool) {
        self.sent_and_opens = self.sent_and_opens & !1 | u64::from(opens);
    }

    /// Whether `content` is a pure acknowledgment that follows the host's SYN.
    #[cold]
    fn ends_handshake(&mut self, content: &Content) -> bool {
        let Content::Segment(segment) = content else {
            self.set_opens(false);
            return false;
        };
        let is_first = self.sent() == 0;
        self.set_opens(segment.flags.contains(Flags::SYN) && !segment.flags.contains(Flags::ACK));
        let is_bare = segment.sequence_length() == 0 && !segment.flags.contains(Flags::RST);
        !is_first && is_bare
    }

    /// Number of packets created, except unnumbered ones.
    #[inline]
    #[must_use]
    pub const fn sent(&self) -> u64 {
        self.sent_and_opens >> 1
    }

    /// Whether `packet` has not passed the first hop of this path.
    #[inline]
    #[must_use]
    pub const fn is_first_hop_of<C>(&self, packet: &Packet<C>) -> bool {
        packet.next == self.route
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets are copied at every hop: content larger than a segment would slow all of them.
    #[test]
    fn a_packet_is_small() {
        assert_eq!(size_of::<Content>(), size_of::<Segment>());
        assert!(size_of::<Packet>() <= 88, "{}", size_of::<Packet>());
    }

    fn numbers(flags: &[Flags], payload: &[u32]) -> Vec<Option<u64>> {
        let mut port = Port::new(0, 0);
        flags
            .iter()
            .zip(payload)
            .map(|(&flags, &payload_bytes)| {
                let segment = Segment {
                    flags,
                    payload_bytes,
                    ..Segment::default()
                };
                let index = port.packet(Content::Segment(segment), ()).index;
                (index != Transmission::UNNUMBERED).then_some(index)
            })
            .collect()
    }

    /// With or without a separate acknowledgment, data and their retransmission are packets 1 and
    /// 2, pure acknowledgments the next; repeated SYNs count on both sides.
    #[test]
    fn the_acknowledgment_that_ends_a_handshake_has_no_number() {
        let (syn, ack, fin) = (Flags::SYN, Flags::ACK, Flags::FIN | Flags::ACK);
        assert_eq!(
            numbers(&[syn, ack, ack, ack, ack, fin], &[0, 0, 9, 9, 0, 0]),
            [Some(0), None, Some(1), Some(2), Some(3), Some(4)]
        );
        assert_eq!(
            numbers(&[syn, ack, ack, ack, fin], &[0, 9, 9, 0, 0]),
            [Some(0), Some(1), Some(2), Some(3), Some(4)]
        );
        assert_eq!(
            numbers(&[syn, syn, ack, ack, ack], &[0, 0, 0, 0, 9]),
            [Some(0), Some(1), None, Some(2), Some(3)]
        );
    }

    /// A host that answers a SYN has ended no handshake with its first acknowledgment of data; nor
    /// has a refusal, nor packets of a connection that began before.
    #[test]
    fn other_acknowledgments_have_numbers() {
        let (syn, ack) = (Flags::SYN, Flags::ACK);
        assert_eq!(
            numbers(&[syn | ack, ack, ack], &[0, 0, 0]),
            [Some(0), Some(1), Some(2)]
        );
        assert_eq!(
            numbers(&[syn, Flags::RST, ack], &[0, 0, 0]),
            [Some(0), Some(1), Some(2)]
        );
        assert_eq!(numbers(&[ack, ack], &[0, 0]), [Some(0), Some(1)]);
    }
}
