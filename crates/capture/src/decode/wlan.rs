//! IEEE 802.11 data frames in clear.

use super::radiotap::Radiotap;
use super::{Frame, Other, Tcp, link};

/// Frame control, first byte: type and subtype (IEEE 802.11 §9.2.4.1).
const TYPE_MASK: u8 = 0x0c;
const TYPE_DATA: u8 = 0x08;
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

/// A frame with a radiotap header.
pub fn radiotap(mut frame: Frame<'_>) -> Result<Tcp, Other> {
    let header = Radiotap::of(frame.bytes)?;
    frame.radio.rate_100kbps = header.rate_100kbps();
    data(frame.skip(header.bytes)?, header.is_padded)
}

/// A frame that begins with its 802.11 header.
pub fn decode(frame: Frame<'_>) -> Result<Tcp, Other> {
    data(frame, false)
}

fn data(mut frame: Frame<'_>, is_padded: bool) -> Result<Tcp, Other> {
    let (kind, flags) = (frame.byte(0)?, frame.byte(1)?);
    if kind & TYPE_MASK != TYPE_DATA || kind & SUBTYPE_NO_DATA != 0 {
        return Err(Other::RadioControl);
    }
    frame.radio.is_retry = flags & RETRY != 0;
    if flags & PROTECTED != 0 {
        return Err(Other::EncryptedRadio);
    }
    let mut header_bytes = 24;
    if flags & TO_AND_FROM_DS == TO_AND_FROM_DS {
        // A fourth address.
        header_bytes += 6;
    }
    if kind & SUBTYPE_QOS != 0 {
        if frame.byte(header_bytes)? & AMSDU != 0 {
            return Err(Other::Aggregate);
        }
        header_bytes += 2;
        if flags & HT_CONTROL != 0 {
            header_bytes += 4;
        }
    }
    if is_padded {
        header_bytes = header_bytes.next_multiple_of(4);
    }
    link::llc(frame.skip(header_bytes)?)
}
