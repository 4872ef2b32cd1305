//! Expressions: the steps of a rule, each loading, comparing or deciding something.

use serde::{Deserialize, Serialize};

use super::number;
use crate::netlink::frame::{attribute, nested, text};

/// NFPROTO_UNSPEC.
const UNSPEC: u32 = 0;
/// NFT_REG_1, the register that passes values between expressions.
const REGISTER: u32 = 1;
/// NFT_REG_VERDICT.
const VERDICT: u32 = 0;
/// NF_ACCEPT.
const ACCEPT: u32 = 1;
/// NFT_QUEUE_FLAG_BYPASS, equal to NFQ_FLAG_BYPASS of the xtables target: packets pass if no
/// program serves the queue.
const BYPASS: u16 = 1;

/// A key of the expression `meta` (enum nft_meta_keys).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Meta {
    /// NFT_META_PROTOCOL: the EtherType, in the network's byte order.
    EtherType = 1,
    /// NFT_META_MARK: the packet's mark.
    Mark = 3,
    /// NFT_META_OIF: the index of the outgoing device.
    OutputDevice = 5,
    /// NFT_META_IIFNAME: the name of the incoming device.
    InputName = 6,
    /// NFT_META_OIFNAME: the name of the outgoing device.
    OutputName = 7,
    /// NFT_META_NFPROTO: NFPROTO_IPV4 or NFPROTO_IPV6, in tables of both.
    Version = 15,
    /// NFT_META_L4PROTO: the protocol above IP.
    Protocol = 16,
}

/// The part of the kernel that queues packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum QueueBy {
    /// nf_tables itself (NFT_QUEUE).
    NfTables,
    /// The target of xtables (NETFILTER_XT_TARGET_NFQUEUE), through NFT_COMPAT.
    Xtables,
}

impl QueueBy {
    /// Both, the more common one first.
    pub const ALL: [Self; 2] = [Self::NfTables, Self::Xtables];
}

/// One step of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression(pub(super) Vec<u8>);

impl Expression {
    /// Loads the value of `key`.
    pub fn load(key: Meta) -> Self {
        let key = key as u32;
        Self::of("meta", &[number(1, REGISTER), number(2, key)])
    }

    /// Stores the loaded value as `key`.
    pub fn store(key: Meta) -> Self {
        let key = key as u32;
        Self::of("meta", &[number(2, key), number(3, REGISTER)])
    }

    /// Loads this value.
    pub fn value(bytes: &[u8]) -> Self {
        let data = nested(2, &[attribute(1, bytes)]);
        Self::of("immediate", &[number(1, REGISTER), data])
    }

    /// Loads the packet's TCP or UDP destination port (NFT_PAYLOAD_TRANSPORT_HEADER).
    pub fn destination_port() -> Self {
        Self::payload(2, 2, 2)
    }

    /// Loads the TCP or UDP port that the packet comes from.
    pub fn source_port() -> Self {
        Self::payload(2, 0, 2)
    }

    /// Loads the type of an ICMP message (RFC 792, RFC 4443 §2.1).
    pub fn message_type() -> Self {
        Self::payload(2, 0, 1)
    }

    /// Loads the TCP flags in `mask` (RFC 9293 §3.1).
    pub fn flags(mask: u8) -> [Self; 2] {
        Self::transport_bits(13, mask)
    }

    /// Loads the bits in `mask` of byte `place` of the TCP header.
    pub fn transport_bits(place: u32, mask: u8) -> [Self; 2] {
        let value = |kind, byte| nested(kind, &[attribute(1, &[byte])]);
        let masked = [
            number(1, REGISTER),
            number(2, REGISTER),
            number(3, 1),
            value(4, mask),
            value(5, 0),
        ];
        [Self::payload(2, place, 1), Self::of("bitwise", &masked)]
    }

    /// Loads `length` bytes of the IP header, from offset `place` on.
    pub fn network(place: u32, length: u32) -> Self {
        Self::payload(1, place, length)
    }

    /// Loads the packet's IPv4 source address (NFT_PAYLOAD_NETWORK_HEADER).
    pub fn source_v4() -> Self {
        Self::payload(1, 12, 4)
    }

    /// Loads `length` bytes of a header, from offset `place` on.
    fn payload(header: u32, place: u32, length: u32) -> Self {
        let what = [
            number(1, REGISTER),
            number(2, header),
            number(3, place),
            number(4, length),
        ];
        Self::of("payload", &what)
    }

    /// Loads 1 if the packet's socket, of a connection or a listener here, is a transparent one,
    /// or 0 (NFT_SOCKET_TRANSPARENT). A packet without a socket ends the rule.
    pub fn is_transparent() -> Self {
        Self::of("socket", &[number(1, 0), number(2, REGISTER)])
    }

    /// Loads the kind of the destination address, an RTN_ of `linux/rtnetlink.h`
    /// (NFT_FIB_RESULT_ADDRTYPE of NFTA_FIB_F_DADDR).
    pub fn destination_kind() -> Self {
        Self::of("fib", &[number(1, REGISTER), number(2, 3), number(3, 2)])
    }

    /// Loads the name of the outgoing device for the packet's destination (NFT_FIB_RESULT_OIFNAME
    /// of NFTA_FIB_F_DADDR); no name for this machine's addresses.
    pub fn device_to_destination() -> Self {
        Self::of("fib", &[number(1, REGISTER), number(2, 2), number(3, 2)])
    }

    /// Ends the rule unless the loaded value equals this one (NFT_CMP_EQ).
    pub fn is(bytes: &[u8]) -> Self {
        Self::compare(0, bytes)
    }

    /// Ends the rule if the loaded value equals this one (NFT_CMP_NEQ).
    pub fn is_not(bytes: &[u8]) -> Self {
        Self::compare(1, bytes)
    }

    /// Ends the rule unless the loaded value is larger than this one, in the network's byte order
    /// (NFT_CMP_GT).
    pub fn is_more_than(bytes: &[u8]) -> Self {
        Self::compare(4, bytes)
    }

    fn compare(operation: u32, bytes: &[u8]) -> Self {
        let data = nested(3, &[attribute(1, bytes)]);
        Self::of("cmp", &[number(1, REGISTER), number(2, operation), data])
    }

    /// Assigns the packet to the transparent listener at the loaded port. Without one the rule
    /// ends.
    pub fn to_listener() -> Self {
        Self::of("tproxy", &[number(1, UNSPEC), number(3, REGISTER)])
    }

    /// Sends the packet to the queue with this number; it passes if no program serves the queue.
    pub fn queue(by: QueueBy, queue: u16) -> Self {
        match by {
            QueueBy::NfTables => Self::of(
                "queue",
                &[
                    attribute(1, &queue.to_be_bytes()),
                    attribute(2, &1_u16.to_be_bytes()),
                    attribute(3, &BYPASS.to_be_bytes()),
                ],
            ),
            QueueBy::Xtables => {
                // struct xt_NFQ_info_v3: the queue, the number of queues, flags; aligned to eight
                // bytes.
                let words = [queue, 1, BYPASS, 0].map(u16::to_ne_bytes);
                Self::of(
                    "target",
                    &[
                        text(1, "NFQUEUE"),
                        number(2, 3),
                        attribute(3, &words.concat()),
                    ],
                )
            }
        }
    }

    /// Gives the packet the address of the outgoing device.
    pub fn masquerade() -> Self {
        Self::of("masq", &[])
    }

    /// Ends the chain: the packet continues.
    pub fn accept() -> Self {
        let verdict = nested(2, &[nested(2, &[number(1, ACCEPT)])]);
        Self::of("immediate", &[number(1, VERDICT), verdict])
    }

    fn of(name: &str, data: &[Vec<u8>]) -> Self {
        Self(nested(1, &[text(1, name), nested(2, data)]))
    }
}
