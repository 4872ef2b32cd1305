//! The radiotap header (radiotap.org) that a monitor prepends to an 802.11 frame: its modulation,
//! and its aggregate. Its fields are little-endian.

use airtcp_link::phy::{Family, GuardInterval, Mode, Width};
use airtcp_units::BitRate;

use super::Other;

/// Fields of a radiotap header: size and alignment, indexed by their bits.
const FIELDS: [(usize, usize); 24] = [
    (8, 8),  // TSFT
    (1, 1),  // flags
    (1, 1),  // rate
    (4, 2),  // channel
    (2, 2),  // FHSS
    (1, 1),  // antenna signal, dBm
    (1, 1),  // antenna noise, dBm
    (2, 2),  // lock quality
    (2, 2),  // transmit attenuation
    (2, 2),  // the same in dB
    (1, 1),  // transmit power, dBm
    (1, 1),  // antenna
    (1, 1),  // antenna signal, dB
    (1, 1),  // antenna noise, dB
    (2, 2),  // receive flags
    (2, 2),  // transmit flags
    (1, 1),  // RTS retries
    (1, 1),  // data retries
    (8, 4),  // extended channel
    (3, 1),  // MCS
    (8, 4),  // A-MPDU status
    (12, 2), // VHT
    (12, 8), // timestamp
    (12, 2), // HE
];
/// Bits of the fields that are read.
mod bit {
    pub const FLAGS: usize = 1;
    pub const RATE: usize = 2;
    pub const SIGNAL: usize = 5;
    pub const MCS: usize = 19;
    pub const AMPDU: usize = 20;
    pub const VHT: usize = 21;
    pub const HE: usize = 23;
}
/// Flags: the frame ends with its FCS; the header is padded to a multiple of four bytes; the FCS is
/// wrong.
const FLAG_FCS: u8 = 0x10;
const FLAG_PADDED: u8 = 0x20;
const FLAG_BAD_FCS: u8 = 0x40;
/// Another word of presence bits follows.
const MORE_PRESENT: u32 = 1 << 31;

/// A monitor's annotations on a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Radiotap {
    /// Bytes of the header.
    pub bytes: usize,
    /// Whether the 802.11 header is padded to a multiple of four bytes.
    pub is_padded: bool,
    /// Whether the frame's last four bytes are its FCS.
    pub has_fcs: bool,
    /// Whether the frame is damaged and must be ignored.
    pub is_damaged: bool,
    /// Its mode, if given completely.
    pub mode: Option<Mode>,
    /// A legacy rate in units of 100 kbit/s; zero if absent.
    legacy_100kbps: u16,
    /// The number of its aggregate.
    pub aggregate: Option<u32>,
    /// Power at the antenna, in dBm.
    pub signal_dbm: Option<i8>,
}

impl Radiotap {
    /// Parses the header at the start of a record.
    ///
    /// # Errors
    /// The record is truncated within it, or it is inconsistent.
    pub fn of(bytes: &[u8]) -> Result<Self, Other> {
        let head: &[u8; 8] = bytes.first_chunk().ok_or(Other::Cut)?;
        let length = usize::from(u16::from_le_bytes([head[2], head[3]]));
        let present = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
        if length < head.len() {
            return Err(Other::Malformed);
        }
        let header = bytes.get(..length).ok_or(Other::Cut)?;
        let mut at = 4;
        loop {
            let word = header.get(at..).and_then(<[u8]>::first_chunk::<4>);
            let word = u32::from_le_bytes(*word.ok_or(Other::Malformed)?);
            at += 4;
            if word & MORE_PRESENT == 0 {
                break;
            }
        }
        let mut found = Self {
            bytes: length,
            ..Self::default()
        };
        for (bit, (size, alignment)) in FIELDS.into_iter().enumerate() {
            if present >> bit & 1 == 0 {
                continue;
            }
            at = at.next_multiple_of(alignment);
            let Some(field) = header.get(at..at + size) else {
                break;
            };
            found.take(bit, field);
            at += size;
        }
        Ok(found)
    }

    fn take(&mut self, bit: usize, field: &[u8]) {
        match bit {
            bit::FLAGS => {
                let flags = field[0];
                self.has_fcs = flags & FLAG_FCS != 0;
                self.is_padded = flags & FLAG_PADDED != 0;
                self.is_damaged = flags & FLAG_BAD_FCS != 0;
            }
            bit::RATE => {
                // In units of 500 kbit/s.
                self.legacy_100kbps = u16::from(field[0]) * 5;
                let rate = BitRate::from_bps(u64::from(field[0]) * 500_000);
                self.mode = [Family::Dsss, Family::Ofdm]
                    .into_iter()
                    .find_map(|family| Mode::with_rate(family, rate));
            }
            bit::SIGNAL => self.signal_dbm = Some(field[0] as i8),
            bit::MCS => self.mode = ht(field).or(self.mode),
            bit::AMPDU => self.aggregate = field.first_chunk().copied().map(u32::from_le_bytes),
            bit::VHT => self.mode = vht(field).or(self.mode),
            bit::HE => self.mode = he(field).or(self.mode),
            _ => {}
        }
    }

    /// The bit rate in units of 100 kbit/s; zero if not given.
    #[must_use]
    pub fn rate_100kbps(&self) -> u16 {
        self.mode.map_or(self.legacy_100kbps, |mode| {
            u16::try_from(mode.bit_rate().as_bps() / 100_000).unwrap_or(u16::MAX)
        })
    }
}

fn guard(is_short: bool) -> GuardInterval {
    if is_short {
        GuardInterval::Ns400
    } else {
        GuardInterval::Ns800
    }
}

/// The mode of an MCS field. Missing values default to the slower: 20 MHz, the long guard interval.
fn ht(field: &[u8]) -> Option<Mode> {
    const WIDTH_KNOWN: u8 = 0x01;
    const INDEX_KNOWN: u8 = 0x02;
    const GUARD_KNOWN: u8 = 0x04;
    let [known, flags, index] = *field.first_chunk::<3>()?;
    if known & INDEX_KNOWN == 0 {
        return None;
    }
    let is_wide = known & WIDTH_KNOWN != 0 && flags & 0x03 == 1;
    let width = if is_wide { Width::Mhz40 } else { Width::Mhz20 };
    let is_short = known & GUARD_KNOWN != 0 && flags & 0x04 != 0;
    Mode::new(Family::Ht, index % 8, width, index / 8 + 1, guard(is_short)).ok()
}

/// The mode of a VHT field, of its first user.
fn vht(field: &[u8]) -> Option<Mode> {
    const GUARD_KNOWN: u16 = 0x0004;
    const WIDTH_KNOWN: u16 = 0x0040;
    let [low, high, flags, bandwidth, user, ..] = *field.first_chunk::<12>()?;
    let known = u16::from_le_bytes([low, high]);
    let width = match bandwidth & 0x1f {
        _ if known & WIDTH_KNOWN == 0 => Width::Mhz20,
        1 => Width::Mhz40,
        4 => Width::Mhz80,
        11 => Width::Mhz160,
        _ => Width::Mhz20,
    };
    let is_short = known & GUARD_KNOWN != 0 && flags & 0x04 != 0;
    Mode::new(Family::Vht, user >> 4, width, user & 0x0f, guard(is_short)).ok()
}

/// The mode of an HE field, for a single-user PPDU.
fn he(field: &[u8]) -> Option<Mode> {
    const MCS_KNOWN: u16 = 0x0020;
    const WIDTH_KNOWN: u16 = 0x4000;
    const GUARD_KNOWN: u16 = 0x0002;
    let words: &[u8; 12] = field.first_chunk()?;
    let word = |at: usize| u16::from_le_bytes([words[2 * at - 2], words[2 * at - 1]]);
    let is_for_many = word(1) & 0x0003 >= 2;
    if word(1) & MCS_KNOWN == 0 || is_for_many {
        return None;
    }
    let width = match word(5) & 0x000f {
        _ if word(1) & WIDTH_KNOWN == 0 => Width::Mhz20,
        1 => Width::Mhz40,
        2 => Width::Mhz80,
        3 => Width::Mhz160,
        // A part of the channel, of 26 subcarriers to all of them.
        4.. => return None,
        0 => Width::Mhz20,
    };
    let guard = match word(5) >> 4 & 0x03 {
        1 if word(2) & GUARD_KNOWN != 0 => GuardInterval::Ns1600,
        2 if word(2) & GUARD_KNOWN != 0 => GuardInterval::Ns3200,
        _ => GuardInterval::Ns800,
    };
    let index = (word(3) >> 8 & 0x0f) as u8;
    let streams = (word(6) & 0x000f) as u8;
    Mode::new(Family::He, index, width, streams, guard).ok()
}
