//! Unencrypted IEEE 802.11 data frames.

use super::radiotap::Radiotap;
use super::{Carried, Carrier, Frame, Other, Radio, Tcp, decode_carried};

/// Frame control, first byte: type and subtype (IEEE 802.11 §9.2.4.1).
const TYPE_MASK: u8 = 0x0c;
const TYPE_DATA: u8 = 0x08;
const VERSION_MASK: u8 = 0x03;
/// Subtype bits of data frames.
const SUBTYPE_NO_DATA: u8 = 0x40;
const SUBTYPE_QOS: u8 = 0x80;
/// Frame control, second byte.
const TO_AND_FROM_DS: u8 = 0x03;
const RETRY: u8 = 0x08;
const PROTECTED: u8 = 0x40;
const HT_CONTROL: u8 = 0x80;
/// QoS control: an A-MSDU is present.
const AMSDU: u8 = 0x80;
/// Header length of each MSDU in an A-MSDU.
const SUBFRAME_BYTES: usize = 14;
/// The frame check sequence, at the end of the frames of some captures.
const FCS_BYTES: usize = 4;

/// Position and context of the MSDUs of an aggregate.
#[derive(Clone, Copy)]
pub struct Aggregated {
    /// Remaining bytes of the record: every layer ends with the record.
    bytes: usize,
    layers: u32,
    radio: Radio,
    carrier: Carrier,
}

/// A frame with a radiotap header.
pub fn radiotap(mut frame: Frame<'_>) -> Result<Tcp, Other> {
    let header = Radiotap::of(frame.bytes)?;
    frame.radio.rate_100kbps = header.rate_100kbps();
    data(frame.skip(header.bytes)?, header.is_padded)
}

/// Decodes a frame that begins with its 802.11 header.
pub fn decode(frame: Frame<'_>) -> Result<Tcp, Other> {
    data(frame, false)
}

/// Decodes a frame tunnelled by a controller. Some swap the two bytes of the frame control (RFC
/// 5416 §2.2 does not).
pub fn decode_either_order(frame: Frame<'_>) -> Result<Tcp, Other> {
    let (first, second) = (frame.byte(0)?, frame.byte(1)?);
    let is_data = |control: u8| control & (TYPE_MASK | VERSION_MASK) == TYPE_DATA;
    if is_data(second) && !is_data(first) {
        return content(frame, second, first, false);
    }
    content(frame, first, second, false)
}

fn data(frame: Frame<'_>, is_padded: bool) -> Result<Tcp, Other> {
    content(frame, frame.byte(0)?, frame.byte(1)?, is_padded)
}

/// The MSDU of a frame by the two bytes of its frame control.
fn content(mut frame: Frame<'_>, kind: u8, flags: u8, is_padded: bool) -> Result<Tcp, Other> {
    if kind & TYPE_MASK != TYPE_DATA || kind & SUBTYPE_NO_DATA != 0 {
        return Err(Other::RadioControl);
    }
    frame.radio.is_retry = flags & RETRY != 0;
    if flags & PROTECTED != 0 {
        return Err(Other::EncryptedRadio);
    }
    let mut is_aggregate = false;
    let mut header_bytes = 24;
    if flags & TO_AND_FROM_DS == TO_AND_FROM_DS {
        // A fourth address.
        header_bytes += 6;
    }
    if kind & SUBTYPE_QOS != 0 {
        is_aggregate = frame.byte(header_bytes)? & AMSDU != 0;
        header_bytes += 2;
        if flags & HT_CONTROL != 0 {
            header_bytes += 4;
        }
    }
    if is_padded {
        header_bytes = header_bytes.next_multiple_of(4);
    }
    let body = frame.skip(header_bytes)?;
    if is_aggregate {
        if let Some(left) = frame.aggregate {
            left.set(Some(Aggregated {
                bytes: body.bytes.len(),
                layers: body.layers,
                radio: body.radio,
                carrier: body.carrier,
            }));
        }
        return Err(Other::Aggregate);
    }
    decode_carried(Carried::Llc, body)
}

/// The MSDUs of an aggregate, each with its bytes on the air (IEEE 802.11-2020 §9.3.2.2.2): two
/// addresses, a length, an LLC header with its packet, and padding to a multiple of four bytes.
pub fn each_msdu(
    record: Frame<'_>,
    content: Aggregated,
    each: &mut dyn FnMut(Result<Tcp, Other>, u32),
) {
    let begin = record.bytes.len().saturating_sub(content.bytes);
    let Ok(skipped) = record.skip(begin) else {
        return;
    };
    let mut left = Frame {
        layers: content.layers,
        radio: content.radio,
        carrier: content.carrier,
        ..skipped
    };
    while left.wire_bytes as usize > SUBFRAME_BYTES + FCS_BYTES {
        let Ok(length) = left.u16(SUBFRAME_BYTES - 2) else {
            return each(Err(Other::Cut), left.wire_bytes);
        };
        let msdu = left.skip(SUBFRAME_BYTES).map(|frame| Frame {
            wire_bytes: u32::from(length),
            ..frame
        });
        if length == 0 {
            return each(Err(Other::Malformed), left.wire_bytes);
        }
        each(
            msdu.and_then(|frame| decode_carried(Carried::Llc, frame)),
            u32::from(length),
        );
        match left.skip((SUBFRAME_BYTES + usize::from(length)).next_multiple_of(4)) {
            Ok(next) => left = next,
            Err(_) => return,
        }
    }
}
