//! IEEE 802.11 data frames in clear, and the radiotap header in front of them.

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

/// Fields of a radiotap header: size and alignment, each at the place of its bit (radiotap.org).
const FIELDS: [(usize, usize); 20] = [
    (8, 8), // TSFT
    (1, 1), // flags
    (1, 1), // rate
    (4, 2), // channel
    (2, 2), // FHSS
    (1, 1), // antenna signal, dBm
    (1, 1), // antenna noise, dBm
    (2, 2), // lock quality
    (2, 2), // transmit attenuation
    (2, 2), // the same in dB
    (1, 1), // transmit power, dBm
    (1, 1), // antenna
    (1, 1), // antenna signal, dB
    (1, 1), // antenna noise, dB
    (2, 2), // receive flags
    (2, 2), // transmit flags
    (1, 1), // RTS retries
    (1, 1), // data retries
    (8, 4), // extended channel
    (3, 1), // MCS
];
const FLAGS_BIT: usize = 1;
const RATE_BIT: usize = 2;
const MCS_BIT: usize = 19;
/// Flags: the header is padded to a multiple of four bytes.
const FLAG_PADDED: u8 = 0x20;
/// Another word of presence bits follows.
const MORE_PRESENT: u32 = 1 << 31;

/// Bit rates of the modulation and coding schemes 0 to 7 of 802.11n, one stream of 20 MHz with the
/// long guard interval, in 100 kbit/s (IEEE 802.11 table 19-27).
const HT_20_RATES: [u32; 8] = [65, 130, 195, 260, 390, 520, 585, 650];

/// A frame with a radiotap header, whose fields are little-endian.
pub fn radiotap(mut frame: Frame<'_>) -> Result<Tcp, Other> {
    let head = frame.array::<8>(0)?;
    let length = usize::from(u16::from_le_bytes([head[2], head[3]]));
    let present = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
    if length < head.len() {
        return Err(Other::Malformed);
    }
    let header = frame.bytes.get(..length).ok_or(Other::Cut)?;
    let mut at = 4;
    loop {
        let word = header.get(at..).and_then(<[u8]>::first_chunk::<4>);
        let word = u32::from_le_bytes(*word.ok_or(Other::Malformed)?);
        at += 4;
        if word & MORE_PRESENT == 0 {
            break;
        }
    }
    let mut is_padded = false;
    for (bit, (size, alignment)) in FIELDS.into_iter().enumerate() {
        if present >> bit & 1 == 0 {
            continue;
        }
        at = at.next_multiple_of(alignment);
        let Some(field) = header.get(at..at + size) else {
            break;
        };
        match bit {
            FLAGS_BIT => is_padded = field[0] & FLAG_PADDED != 0,
            // In units of 500 kbit/s.
            RATE_BIT => frame.radio.rate_100kbps = u16::from(field[0]) * 5,
            MCS_BIT => {
                if let Some(rate) = ht_rate(field) {
                    frame.radio.rate_100kbps = rate;
                }
            }
            _ => {}
        }
        at += size;
    }
    data(frame.skip(length)?, is_padded)
}

/// The rate that radiotap's MCS field stands for, in 100 kbit/s.
fn ht_rate(field: &[u8]) -> Option<u16> {
    let [known, flags, index] = field.first_chunk::<3>()?;
    if known & 0x02 == 0 {
        return None;
    }
    let streams = u32::from(index / 8) + 1;
    let mut rate = HT_20_RATES[usize::from(index % 8)] * streams;
    // 40 MHz has 108 data subcarriers where 20 MHz has 52.
    if known & 0x01 != 0 && flags & 0x03 == 1 {
        rate = rate * 108 / 52;
    }
    // Symbols of 3.6 µs in place of 4.
    if known & 0x04 != 0 && flags & 0x04 != 0 {
        rate = rate * 10 / 9;
    }
    u16::try_from(rate).ok()
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
