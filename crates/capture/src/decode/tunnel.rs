//! Tunnels that carry frames or packets over UDP, GRE or IP: mirror ports, controllers of access
//! points, data centres, and access lines.

use super::{Carried, Frame, Other, Tcp, decode_carried, monitor, wlan};

/// EtherTypes that GRE and GENEVE carry (IANA, "IEEE 802 Numbers").
mod carried {
    pub const ETHERNET: u16 = 0x6558;
    pub const PPP: u16 = 0x880b;
    pub const ERSPAN_2: u16 = 0x88be;
    pub const ERSPAN_3: u16 = 0x22eb;
}

/// The inner frame, counted as a layer and marked as tunnelled.
fn inside(frame: Frame<'_>, header_bytes: usize) -> Result<Frame<'_>, Other> {
    let mut inner = frame.skip(header_bytes)?.inner()?;
    inner.carrier.tunnel = true;
    Ok(inner)
}

/// Generic routing encapsulation (RFC 2784, RFC 2890), and the version 1 of PPTP (RFC 2637 §4.1).
pub fn gre(frame: Frame<'_>) -> Result<Tcp, Other> {
    const CHECKSUM: u16 = 0x8000;
    const KEY: u16 = 0x2000;
    const SEQUENCE: u16 = 0x1000;
    const ACKNOWLEDGMENT: u16 = 0x0080;
    const VERSION: u16 = 0x0007;
    let (flags, kind) = (frame.u16(0)?, frame.u16(2)?);
    let words = |bits: &[u16]| bits.iter().filter(|bit| flags & **bit != 0).count();
    match (flags & VERSION, kind) {
        // The key is always present: the payload's length and the call.
        (1, carried::PPP) => decode_carried(
            Carried::Ppp,
            inside(frame, 8 + 4 * words(&[SEQUENCE, ACKNOWLEDGMENT]))?,
        ),
        (0, _) => {
            let header_bytes = 4 + 4 * words(&[CHECKSUM, KEY, SEQUENCE]);
            let mut inner = inside(frame, header_bytes)?;
            match kind {
                carried::ETHERNET => decode_carried(Carried::Ethernet, inner),
                // Without a sequence number it is ERSPAN type I, which has no header at all
                // (draft-foschiano-erspan-03 §4.1).
                carried::ERSPAN_2 if flags & SEQUENCE == 0 => {
                    decode_carried(Carried::Ethernet, inner)
                }
                carried::ERSPAN_2 => decode_carried(Carried::Ethernet, inner.skip(8)?),
                carried::ERSPAN_3 => erspan_3(inner),
                _ => {
                    inner.carrier.ip_in_ip = true;
                    decode_carried(Carried::EtherType(kind), inner).map_err(|other| match other {
                        Other::NotIp => Other::Ip,
                        other => other,
                    })
                }
            }
        }
        _ => Err(Other::Ip),
    }
}

/// ERSPAN type III (draft-foschiano-erspan-03 §4.3): twelve bytes, and eight more if flagged; its
/// frames are Ethernet or IP.
fn erspan_3(frame: Frame<'_>) -> Result<Tcp, Other> {
    const FRAME_TYPE: u16 = 0x7c00;
    const IP: u16 = 0x0800;
    const SUBHEADER: u16 = 0x0001;
    let flags = frame.u16(10)?;
    let inner = frame.skip(if flags & SUBHEADER == 0 { 12 } else { 20 })?;
    match flags & FRAME_TYPE {
        0 => decode_carried(Carried::Ethernet, inner),
        IP => decode_carried(Carried::Ip, inner),
        _ => Err(Other::Tunnel),
    }
}

/// GENEVE (RFC 8926 §3.4): eight bytes, options in words of four bytes, and the payload of an
/// EtherType.
pub fn geneve(frame: Frame<'_>) -> Result<Tcp, Other> {
    const VERSION: u8 = 0xc0;
    const OPTION_WORDS: u8 = 0x3f;
    let (first, kind) = (frame.byte(0)?, frame.u16(2)?);
    if first & VERSION != 0 {
        return Err(Other::Udp);
    }
    let inner = inside(frame, 8 + 4 * usize::from(first & OPTION_WORDS))?;
    match kind {
        carried::ETHERNET => decode_carried(Carried::Ethernet, inner),
        _ => decode_carried(Carried::EtherType(kind), inner),
    }
}

/// TaZmen Sniffer Protocol, used by MikroTik's routers to stream captures: version, type, the
/// encapsulated protocol, and tags up to an end tag.
pub fn tzsp(frame: Frame<'_>) -> Result<Tcp, Other> {
    const PADDING: u8 = 0;
    const END: u8 = 1;
    /// A received packet, or one to transmit; other types are keep-alives and settings.
    const MAX_PACKET_TYPE: u8 = 1;
    if frame.byte(0)? != 1 || frame.byte(1)? > MAX_PACKET_TYPE {
        return Err(Other::Udp);
    }
    let kind = frame.u16(2)?;
    let mut inner = inside(frame, 4)?;
    loop {
        match inner.byte(0)? {
            PADDING => inner = inner.skip(1)?,
            END => break,
            _ => inner = inner.skip(2 + usize::from(inner.byte(1)?))?,
        }
    }
    let inner = inner.skip(1)?;
    match kind {
        1 => decode_carried(Carried::Ethernet, inner),
        18 => wlan::decode(inner),
        119 | 127 => monitor::prism(inner),
        _ => Err(Other::Tunnel),
    }
}

/// CAPWAP's data channel (RFC 5415 §4.3), between an access point and its controller. The header's
/// length is in words of four bytes, its preamble included.
pub fn capwap(frame: Frame<'_>) -> Result<Tcp, Other> {
    const VERSION: u8 = 0xf0;
    const IN_DTLS: u8 = 1;
    const IS_802_11: u8 = 0x01;
    const FRAGMENT: u8 = 0x80;
    const KEEP_ALIVE: u8 = 0x08;
    let preamble = frame.byte(0)?;
    if preamble & VERSION != 0 {
        return Err(Other::Udp);
    }
    if preamble & !VERSION == IN_DTLS {
        return Err(Other::Encrypted);
    }
    let (third, flags) = (frame.byte(2)?, frame.byte(3)?);
    if flags & KEEP_ALIVE != 0 {
        return Err(Other::Udp);
    }
    if flags & FRAGMENT != 0 {
        return Err(Other::Fragment);
    }
    let inner = inside(frame, 4 * usize::from(frame.byte(1)? >> 3))?;
    if third & IS_802_11 == 0 {
        return decode_carried(Carried::Ethernet, inner);
    }
    wlan::decode_either_order(inner)
}

/// The Layer Two Tunneling Protocol over UDP: version 2 carries PPP (RFC 2661 §3.1), version 3 a
/// negotiated payload (RFC 3931 §4.1.2.1).
pub fn l2tp(frame: Frame<'_>) -> Result<Tcp, Other> {
    const CONTROL: u16 = 0x8000;
    const LENGTH: u16 = 0x4000;
    const SEQUENCE: u16 = 0x0800;
    const OFFSET: u16 = 0x0200;
    const VERSION: u16 = 0x000f;
    let flags = frame.u16(0)?;
    if flags & CONTROL != 0 {
        return Err(Other::Udp);
    }
    match flags & VERSION {
        2 => {
            let mut bytes = 6;
            bytes += if flags & LENGTH == 0 { 0 } else { 2 };
            bytes += if flags & SEQUENCE == 0 { 0 } else { 4 };
            if flags & OFFSET != 0 {
                bytes += 2 + usize::from(frame.u16(bytes)?);
            }
            decode_carried(Carried::Ppp, inside(frame, bytes)?)
        }
        3 => pseudowire(frame.skip(4)?),
        _ => Err(Other::Udp),
    }
}

/// A session of L2TP version 3 that carries Ethernet (RFC 4719): after its number a cookie of 0, 4
/// or 8 bytes and possibly a sublayer of 4, negotiated out of band. Takes the first offset at which
/// an Ethernet header and an IP header agree.
pub fn pseudowire(frame: Frame<'_>) -> Result<Tcp, Other> {
    const SESSION_BYTES: usize = 4;
    let session = inside(frame, SESSION_BYTES)?;
    for unseen in [0, 4, 8, 12] {
        let agrees = match session.u16(unseen + 12)? {
            0x0800 => session.byte(unseen + 14)? >> 4 == 4,
            0x86dd => session.byte(unseen + 14)? >> 4 == 6,
            0x8100 | 0x88a8 => true,
            _ => false,
        };
        if agrees {
            return decode_carried(Carried::Ethernet, session.skip(unseen)?);
        }
    }
    Err(Other::Tunnel)
}

/// Ethernet within IP (RFC 3378 §2): two bytes, then the frame.
pub fn ether_ip(frame: Frame<'_>) -> Result<Tcp, Other> {
    decode_carried(Carried::Ethernet, inside(frame, 2)?)
}
