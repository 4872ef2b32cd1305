//! Payloads of UDP: tunnels that hold TCP, and protocols that hide it.

use super::{Carried, Frame, Other, Tcp, decode_carried, tunnel};

/// Bytes of a UDP header (RFC 768).
pub(super) const HEADER_BYTES: usize = 8;

/// Ports (IANA).
mod port {
    pub const HTTP: u16 = 80;
    pub const HTTPS: u16 = 443;
    pub const ISAKMP: u16 = 500;
    pub const L2TP: u16 = 1701;
    pub const GTP_U: u16 = 2152;
    pub const IPSEC_NAT: u16 = 4500;
    pub const VXLAN: u16 = 4789;
    pub const CAPWAP_DATA: u16 = 5247;
    pub const GENEVE: u16 = 6081;
    pub const TZSP: u16 = 37008;
    /// Linux's port before one was assigned.
    pub const LINUX_VXLAN: u16 = 8472;
}

/// A UDP datagram.
pub fn decode(frame: Frame<'_>) -> Result<Tcp, Other> {
    let ports = [frame.u16(0)?, frame.u16(2)?];
    let payload = frame.skip(HEADER_BYTES)?;
    match ports {
        [_, port::GTP_U] | [port::GTP_U, _] => gtp(payload),
        [_, port::VXLAN | port::LINUX_VXLAN] => vxlan(payload),
        [_, port::GENEVE] => tunnel::geneve(payload),
        [_, port::TZSP] | [port::TZSP, _] => tunnel::tzsp(payload),
        [_, port::CAPWAP_DATA] | [port::CAPWAP_DATA, _] => tunnel::capwap(payload),
        [_, port::L2TP] | [port::L2TP, _] => tunnel::l2tp(payload),
        [_, port::ISAKMP | port::IPSEC_NAT] | [port::ISAKMP | port::IPSEC_NAT, _] => {
            Err(Other::Ipsec)
        }
        _ if is_quic(payload.bytes, ports) => Err(Other::Quic),
        _ if is_wireguard(payload) => Err(Other::WireGuard),
        _ => Err(Other::Udp),
    }
}

/// A GTP-U tunnel (3GPP TS 29.281 §5.1): flags, message type, length, tunnel, and optional fields
/// with extension headers.
fn gtp(frame: Frame<'_>) -> Result<Tcp, Other> {
    const VERSION_1_AND_TYPE: u8 = 0x30;
    const OPTIONAL: u8 = 0x07;
    const EXTENSION: u8 = 0x04;
    const G_PDU: u8 = 255;
    let (flags, message) = (frame.byte(0)?, frame.byte(1)?);
    if flags & 0xf0 != VERSION_1_AND_TYPE || message != G_PDU {
        return Err(Other::Udp);
    }
    let mut inner = frame.skip(8)?.inner()?;
    if flags & OPTIONAL != 0 {
        let mut next = inner.byte(3)?;
        inner = inner.skip(4)?;
        // §5.2: each extension has its length in words of four bytes, and ends with the type of the
        // next.
        while flags & EXTENSION != 0 && next != 0 {
            let bytes = usize::from(inner.byte(0)?) * 4;
            if bytes == 0 {
                return Err(Other::Malformed);
            }
            next = inner.byte(bytes - 1)?;
            inner = inner.skip(bytes)?;
        }
    }
    inner.carrier.gtp = true;
    match inner.byte(0)? >> 4 {
        4 | 6 => decode_carried(Carried::Ip, inner),
        _ => Err(Other::Udp),
    }
}

/// A VXLAN tunnel (RFC 7348 §5): eight bytes, then an Ethernet frame.
fn vxlan(frame: Frame<'_>) -> Result<Tcp, Other> {
    const HAS_NETWORK: u8 = 0x08;
    if frame.byte(0)? & HAS_NETWORK == 0 {
        return Err(Other::Udp);
    }
    let mut inner = frame.skip(8)?.inner()?;
    inner.carrier.vxlan = true;
    decode_carried(Carried::Ethernet, inner)
}

/// A long header of version 1 or 2 on any port (RFC 9000 §17.2, RFC 9369 §3.1), or a possible short
/// header on the ports of the web (RFC 9000 §17.3).
fn is_quic(bytes: &[u8], ports: [u16; 2]) -> bool {
    const LONG: u8 = 0xc0;
    const SHORT: u8 = 0x40;
    let is_web = ports
        .iter()
        .any(|port| matches!(*port, port::HTTPS | port::HTTP));
    match bytes {
        // Version negotiation has no fixed bit (RFC 9000 §17.2.1).
        [0x80..=0xff, 0, 0, 0, 0, ..] => is_web,
        [first, version @ ..] if first & LONG == LONG => {
            is_web
                || version.starts_with(&[0, 0, 0, 1])
                || version.starts_with(&[0x6b, 0x33, 0x43, 0xcf])
        }
        [first, ..] => is_web && first & LONG == SHORT,
        [] => false,
    }
}

/// A message of WireGuard (its paper, §5.4): type, three zeros, and a fixed length for each type.
fn is_wireguard(frame: Frame<'_>) -> bool {
    let [kind @ 1..=4, 0, 0, 0, ..] = frame.bytes else {
        return false;
    };
    match kind {
        1 => frame.wire_bytes == 148,
        2 => frame.wire_bytes == 92,
        3 => frame.wire_bytes == 64,
        _ => frame.wire_bytes >= 32 && frame.wire_bytes.is_multiple_of(16),
    }
}
