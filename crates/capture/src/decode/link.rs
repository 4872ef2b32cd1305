//! Link layers, by the numbers assigned by tcpdump.org ("LINKTYPE_").

use super::{Frame, Other, Tcp, ip, monitor, wlan};

/// Link types.
mod link_type {
    pub const NULL: u16 = 0;
    pub const ETHERNET: u16 = 1;
    pub const PPP: u16 = 9;
    /// Raw IP, as numbered by some systems in files.
    pub const RAW_12: u16 = 12;
    pub const RAW_14: u16 = 14;
    pub const PPP_HDLC: u16 = 50;
    pub const PPP_ETHER: u16 = 51;
    pub const RAW: u16 = 101;
    pub const IEEE802_11: u16 = 105;
    pub const LOOP: u16 = 108;
    pub const LINUX_SLL: u16 = 113;
    pub const PRISM: u16 = 119;
    pub const IEEE802_11_RADIOTAP: u16 = 127;
    /// PKTAP in files of macOS before it had a number (DLT_USER2).
    pub const PKTAP_149: u16 = 149;
    pub const AVS: u16 = 163;
    pub const PPI: u16 = 192;
    pub const PPP_WITH_DIR: u16 = 204;
    pub const IPV4: u16 = 228;
    pub const IPV6: u16 = 229;
    pub const PKTAP: u16 = 258;
    pub const LINUX_SLL2: u16 = 276;
}

/// EtherTypes (IANA, "IEEE 802 Numbers").
mod ether_type {
    pub const IPV4: u16 = 0x0800;
    pub const VLAN: u16 = 0x8100;
    pub const IPV6: u16 = 0x86dd;
    pub const MPLS: u16 = 0x8847;
    pub const PPPOE_SESSION: u16 = 0x8864;
    pub const PROVIDER_VLAN: u16 = 0x88a8;
    /// 802.1ad before it had an assigned number.
    pub const OLD_PROVIDER_VLAN: u16 = 0x9100;
}

/// Bytes of an Ethernet header.
const ETHERNET_BYTES: usize = 14;
/// Below this, the field is a length (IEEE 802.3 §3.2.6).
const MIN_ETHER_TYPE: u16 = 0x0600;

/// PPP protocol numbers (IANA).
const PPP_IPV4: u16 = 0x0021;
const PPP_IPV6: u16 = 0x0057;

/// Decodes a frame of link type `link`.
#[inline]
pub fn decode(link: u16, frame: Frame<'_>) -> Result<Tcp, Other> {
    match link {
        link_type::ETHERNET => ethernet(frame),
        link_type::RAW
        | link_type::RAW_12
        | link_type::RAW_14
        | link_type::IPV4
        | link_type::IPV6 => ip::decode(frame),
        // Bytes 14 and 15 of a cooked header are the protocol; in the second version the first two.
        link_type::LINUX_SLL => cooked(frame.u16(14)?, frame.skip(16)?),
        link_type::LINUX_SLL2 => cooked(frame.u16(0)?, frame.skip(20)?),
        link_type::NULL | link_type::LOOP => loopback(frame),
        link_type::IEEE802_11 => wlan::decode(frame),
        link_type::IEEE802_11_RADIOTAP => wlan::radiotap(frame),
        link_type::PRISM => monitor::prism(frame),
        link_type::AVS => monitor::avs(frame),
        link_type::PPI => monitor::ppi(frame),
        link_type::PKTAP | link_type::PKTAP_149 => monitor::pktap(frame),
        link_type::PPP | link_type::PPP_HDLC => ppp(frame),
        // One byte gives the direction.
        link_type::PPP_WITH_DIR => ppp(frame.skip(1)?),
        link_type::PPP_ETHER => pppoe(frame),
        _ => Err(Other::UnknownLink),
    }
}

/// An Ethernet frame.
#[inline]
pub fn ethernet(frame: Frame<'_>) -> Result<Tcp, Other> {
    let (kind, inner) = (frame.u16(12)?, frame.skip(ETHERNET_BYTES)?);
    if kind == ether_type::IPV4 {
        return ip::decode(inner);
    }
    ether_type(kind, inner)
}

/// Decodes the payload of an EtherType.
pub fn ether_type(mut kind: u16, mut frame: Frame<'_>) -> Result<Tcp, Other> {
    loop {
        match kind {
            ether_type::IPV4 | ether_type::IPV6 => return ip::decode(frame),
            ether_type::VLAN | ether_type::PROVIDER_VLAN | ether_type::OLD_PROVIDER_VLAN => {
                kind = frame.u16(2)?;
                frame = frame.skip(4)?.inner()?;
            }
            ether_type::MPLS => return mpls(frame),
            ether_type::PPPOE_SESSION => return pppoe(frame),
            0..MIN_ETHER_TYPE => return llc(frame),
            _ => return Err(Other::NotIp),
        }
    }
}

/// A label stack (RFC 3032 §2.1); the first nibble of its content gives the IP version.
fn mpls(mut frame: Frame<'_>) -> Result<Tcp, Other> {
    loop {
        let is_last = frame.byte(2)? & 1 != 0;
        frame = frame.skip(4)?.inner()?;
        if is_last {
            return match frame.byte(0)? >> 4 {
                4 | 6 => ip::decode(frame),
                _ => Err(Other::NotIp),
            };
        }
    }
}

/// An 802.2 header with a protocol by RFC 1042.
pub fn llc(frame: Frame<'_>) -> Result<Tcp, Other> {
    match frame.array::<8>(0)? {
        [0xaa, 0xaa, 0x03, 0, 0, 0, high, low] => {
            let kind = u16::from_be_bytes([*high, *low]);
            if kind < MIN_ETHER_TYPE {
                return Err(Other::NotIp);
            }
            ether_type(kind, frame.skip(8)?)
        }
        _ => Err(Other::NotIp),
    }
}

/// Linux's cooked header: the protocol is an EtherType.
fn cooked(protocol: u16, frame: Frame<'_>) -> Result<Tcp, Other> {
    if protocol < MIN_ETHER_TYPE {
        return Err(Other::NotIp);
    }
    ether_type(protocol, frame)
}

/// BSD's loopback: four bytes of an address family in the byte order of the writing machine. IPv4
/// is 2 everywhere; IPv6 has many numbers, and the packet itself contains its version.
fn loopback(frame: Frame<'_>) -> Result<Tcp, Other> {
    ip::decode(frame.skip(4)?)
}

/// PPP, with or without HDLC's address and control bytes and with or without a protocol number
/// compressed to one byte (RFC 1661 §6.5, RFC 1662 §3.1).
pub fn ppp(mut frame: Frame<'_>) -> Result<Tcp, Other> {
    if frame.bytes.starts_with(&[0xff, 0x03]) {
        frame = frame.skip(2)?;
    }
    let first = u16::from(frame.byte(0)?);
    let (protocol, bytes) = if first & 1 != 0 {
        (first, 1)
    } else {
        (frame.u16(0)?, 2)
    };
    match protocol {
        PPP_IPV4 | PPP_IPV6 => ip::decode(frame.skip(bytes)?),
        _ => Err(Other::NotIp),
    }
}

/// PPP over Ethernet (RFC 2516 §4): six bytes, then PPP.
fn pppoe(frame: Frame<'_>) -> Result<Tcp, Other> {
    ppp(frame.skip(6)?)
}
