//! A TCP packet of a flow, and its compact form during the pass.

use airtcp_packet::{
    Ecn, Flags, SackBlock, SackBlocks, Segment, SequenceNumber, TailOptions, Timestamps,
};
use airtcp_units::Instant;

use crate::decode::Radio;

/// Direction of a packet in a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Way {
    /// From the end that opened the connection.
    #[default]
    FromClient,
    /// From the end that accepted it.
    FromServer,
}

impl Way {
    /// The opposite direction.
    #[inline]
    #[must_use]
    pub const fn back(self) -> Self {
        match self {
            Self::FromClient => Self::FromServer,
            Self::FromServer => Self::FromClient,
        }
    }

    /// 0 from the client, 1 from the server: the index of counts per direction.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// A TCP packet of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// Time at the capture, since the capture's first packet.
    pub time: Instant,
    /// Packet number as in Wireshark, from 1.
    pub number: u64,
    /// Its direction.
    pub way: Way,
    /// The segment.
    pub segment: Segment,
    /// The IPv4 identification.
    pub identification: Option<u16>,
    /// Time to live, or hop limit.
    pub hops: u8,
    /// Annotations of the radio monitor.
    pub radio: Radio,
}

/// A packet in 48 bytes; SACK blocks, if any, are in a second slot.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Slot([u64; 6]);

const NUMBER_BITS: u32 = 40;
/// Bits of the fifth word above the four byte-sized fields.
mod bit {
    pub const FROM_SERVER: u64 = 1 << 48;
    pub const TIMESTAMPS: u64 = 1 << 49;
    pub const IDENTIFICATION: u64 = 1 << 50;
    pub const RETRY: u64 = 1 << 51;
    pub const ECN_SHIFT: u32 = 52;
    pub const SACK_SHIFT: u32 = 54;
    pub const MSS: u64 = 1 << 57;
    pub const WINDOW_SCALE: u64 = 1 << 58;
    pub const SACK_PERMITTED: u64 = 1 << 59;
}

#[inline]
const fn pair(high: u32, low: u32) -> u64 {
    (high as u64) << 32 | low as u64
}

#[inline]
const fn unpair(word: u64) -> (u32, u32) {
    ((word >> 32) as u32, word as u32)
}

#[inline]
const fn flag(is_set: bool, bit: u64) -> u64 {
    if is_set { bit } else { 0 }
}

impl Slot {
    /// The packet's compact form. A payload above 16 MiB and a number above 10^12 do not fit, and
    /// do not occur in captures.
    #[inline]
    pub fn of(packet: &Packet) -> Self {
        let segment = &packet.segment;
        let timestamps = segment.timestamps.unwrap_or_default();
        let bits = u64::from(segment.window)
            | u64::from(segment.flags.bits()) << 16
            | u64::from(packet.hops) << 24
            | u64::from(packet.identification.unwrap_or_default()) << 32
            | flag(packet.way == Way::FromServer, bit::FROM_SERVER)
            | flag(segment.timestamps.is_some(), bit::TIMESTAMPS)
            | flag(packet.identification.is_some(), bit::IDENTIFICATION)
            | flag(packet.radio.is_retry, bit::RETRY)
            | u64::from(segment.ecn.bits()) << bit::ECN_SHIFT
            | (segment.tail.blocks().len() as u64) << bit::SACK_SHIFT
            | flag(segment.mss.is_some(), bit::MSS)
            | flag(segment.window_scale.is_some(), bit::WINDOW_SCALE)
            | flag(segment.sack_permitted, bit::SACK_PERMITTED);
        Self([
            packet.time.as_nanos(),
            u64::from(segment.payload_bytes) << NUMBER_BITS
                | packet.number & ((1 << NUMBER_BITS) - 1),
            pair(segment.sequence.0, segment.acknowledgment.0),
            pair(timestamps.value, timestamps.echo),
            bits,
            u64::from(packet.radio.rate_100kbps)
                | u64::from(segment.mss.unwrap_or_default()) << 16
                | u64::from(segment.window_scale.unwrap_or_default()) << 32,
        ])
    }

    /// The SACK blocks of a packet.
    #[inline]
    pub fn of_sack(blocks: &[SackBlock]) -> Self {
        let mut words = [0; 6];
        for (word, block) in words.iter_mut().zip(blocks) {
            *word = pair(block.start.0, block.end.0);
        }
        Self(words)
    }

    /// Number of SACK blocks in the next slot.
    #[inline]
    pub fn sack_blocks(&self) -> usize {
        (self.0[4] >> bit::SACK_SHIFT) as usize & 7
    }

    /// The packet, without its SACK blocks.
    #[inline]
    pub fn packet(&self) -> Packet {
        let [nanos, number, numbers, timestamps, bits, rare] = self.0;
        let is = |bit: u64| bits & bit != 0;
        let (sequence, acknowledgment) = unpair(numbers);
        let (value, echo) = unpair(timestamps);
        Packet {
            time: Instant::from_nanos(nanos),
            number: number & ((1 << NUMBER_BITS) - 1),
            way: if is(bit::FROM_SERVER) {
                Way::FromServer
            } else {
                Way::FromClient
            },
            segment: Segment {
                sequence: SequenceNumber(sequence),
                acknowledgment: SequenceNumber(acknowledgment),
                payload_bytes: (number >> NUMBER_BITS) as u32,
                window: bits as u16,
                flags: Flags::from_bits((bits >> 16) as u8),
                ecn: Ecn::from_bits((bits >> bit::ECN_SHIFT) as u8),
                timestamps: is(bit::TIMESTAMPS).then_some(Timestamps { value, echo }),
                tail: TailOptions::default(),
                mss: is(bit::MSS).then_some((rare >> 16) as u16),
                window_scale: is(bit::WINDOW_SCALE).then_some((rare >> 32) as u8),
                sack_permitted: is(bit::SACK_PERMITTED),
            },
            identification: is(bit::IDENTIFICATION).then_some((bits >> 32) as u16),
            hops: (bits >> 24) as u8,
            radio: Radio {
                is_retry: is(bit::RETRY),
                rate_100kbps: rare as u16,
            },
        }
    }

    /// The `count` blocks in a slot of SACK blocks.
    #[inline]
    pub fn sack(&self, count: usize) -> SackBlocks {
        let mut blocks = SackBlocks::new();
        for word in self.0.iter().take(count) {
            let (start, end) = unpair(*word);
            blocks.push(SackBlock {
                start: SequenceNumber(start),
                end: SequenceNumber(end),
            });
        }
        blocks
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    prop_compose! {
        fn packets()(
            nanos: u64, number in 0..1_u64 << 40, is_back: bool, numbers: [u32; 2],
            payload in 0..1_u32 << 24, window: u16, flags: u8, ecn in 0..4_u8,
            timestamps: Option<(u32, u32)>,
            sack in prop::collection::vec(any::<(u32, u32)>(), 0..5),
            mss: Option<u16>, scale: Option<u8>, sack_permitted: bool,
            rest: (Option<u16>, u8, bool, u16),
        ) -> Packet {
            let mut blocks = SackBlocks::new();
            for (start, end) in sack {
                blocks.push(SackBlock { start: SequenceNumber(start), end: SequenceNumber(end) });
            }
            Packet {
                time: Instant::from_nanos(nanos),
                number,
                way: if is_back { Way::FromServer } else { Way::FromClient },
                segment: Segment {
                    sequence: SequenceNumber(numbers[0]),
                    acknowledgment: SequenceNumber(numbers[1]),
                    payload_bytes: payload,
                    window,
                    flags: Flags::from_bits(flags),
                    ecn: Ecn::from_bits(ecn),
                    timestamps: timestamps.map(|(value, echo)| Timestamps { value, echo }),
                    tail: blocks.into(),
                    mss,
                    window_scale: scale,
                    sack_permitted,
                },
                identification: rest.0,
                hops: rest.1,
                radio: Radio { is_retry: rest.2, rate_100kbps: rest.3 },
            }
        }
    }

    proptest! {
        #[test]
        fn the_compact_form_keeps_everything(packet in packets()) {
            let slot = Slot::of(&packet);
            let mut back = slot.packet();
            let sack = Slot::of_sack(packet.segment.tail.blocks()).sack(slot.sack_blocks());
            back.segment.tail = sack.into();
            prop_assert_eq!(back, packet);
        }
    }
}
