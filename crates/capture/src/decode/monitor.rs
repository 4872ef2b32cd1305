//! Headers that a system's capture facility prepends to a frame: PPI, PKTAP, Prism and AVS.

use super::{Carried, Frame, Other, Tcp, decode_carried, wlan};

/// A little-endian word.
fn little(frame: &Frame<'_>, at: usize) -> Result<u32, Other> {
    Ok(u32::from_le_bytes(*frame.array::<4>(at)?))
}

/// Decodes the frame after a header of `bytes`, with the link type from the header.
fn named(frame: Frame<'_>, bytes: usize, link: u32) -> Result<Tcp, Other> {
    let link = u16::try_from(link).map_err(|_| Other::UnknownLink)?;
    decode_carried(Carried::Link(link), frame.skip(bytes)?.inner()?)
}

/// Per-packet information (CACE's PPI, §3.1): version, flags, the header's length, the link type.
pub fn ppi(frame: Frame<'_>) -> Result<Tcp, Other> {
    const MIN: usize = 8;
    let bytes = usize::from(u16::from_le_bytes(*frame.array::<2>(2)?));
    if bytes < MIN {
        return Err(Other::Malformed);
    }
    named(frame, bytes, little(&frame, 4)?)
}

/// The header of macOS's interface `pktap`: the header's length, the kind of record, the link type
/// of the frame, and the sending process.
pub fn pktap(frame: Frame<'_>) -> Result<Tcp, Other> {
    const MIN: u32 = 12;
    const IS_PACKET: u32 = 1;
    let bytes = little(&frame, 0)?;
    if bytes < MIN {
        return Err(Other::Malformed);
    }
    if little(&frame, 4)? != IS_PACKET {
        return Err(Other::NotIp);
    }
    named(frame, bytes as usize, little(&frame, 8)?)
}

/// A Prism header, or an AVS header instead: then the first word has AVS's version.
pub fn prism(frame: Frame<'_>) -> Result<Tcp, Other> {
    /// Two versions, which differ in their last digit.
    const AVS: [u8; 3] = [0x80, 0x21, 0x10];
    /// For wlan-ng: a message of twelve values, in the machine's byte order.
    const PRISM_BYTES: u32 = 144;
    if frame.array::<3>(0)? == &AVS {
        return avs(frame);
    }
    let length = frame.array::<4>(4)?;
    match (u32::from_le_bytes(*length), u32::from_be_bytes(*length)) {
        (PRISM_BYTES, _) | (_, PRISM_BYTES) => {
            wlan::decode(frame.skip(PRISM_BYTES as usize)?.inner()?)
        }
        _ => Err(Other::Malformed),
    }
}

/// The header of AVS's drivers: version and length, both big-endian, then a radio's values.
pub fn avs(frame: Frame<'_>) -> Result<Tcp, Other> {
    const MIN: u32 = 8;
    const MAX: u32 = 1024;
    let bytes = u32::from_be_bytes(*frame.array::<4>(4)?);
    if !(MIN..=MAX).contains(&bytes) {
        return Err(Other::Malformed);
    }
    wlan::decode(frame.skip(bytes as usize)?.inner()?)
}
