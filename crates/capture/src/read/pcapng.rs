//! pcapng (draft-ietf-opsawg-pcapng): sections of blocks, each with its interfaces.

use super::source::{BUFFER_BYTES, Source};
use super::{Fields, MAX_CAPTURED, ReadError, Step, u16_at, u32_at};

/// Block types (§4).
pub const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const OLD_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;

/// The byte-order magic of a section header (§4.1).
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
/// Bytes of type and length in front, and of the trailing length.
const FRAME_BYTES: usize = 12;
/// Header of a packet's bytes in an enhanced or old packet block.
const PACKET_HEAD: usize = 28;
/// Maximum number of interfaces in a section.
const MAX_INTERFACES: usize = 1 << 16;

/// Options of an interface (§4.2), of a packet (§4.3) and of statistics (§4.6).
mod option {
    pub const END: u16 = 0;
    pub const IF_TSRESOL: u16 = 9;
    pub const IF_TSOFFSET: u16 = 14;
    pub const EPB_DROPCOUNT: u16 = 4;
    pub const ISB_IFDROP: u16 = 5;
    pub const ISB_OSDROP: u16 = 7;
}

/// Resolution and offset of an interface's clock.
#[derive(Clone, Copy)]
enum Ticks {
    /// Nanoseconds in a tick.
    Multiply(u64),
    /// Ticks in a nanosecond.
    Divide(u64),
    /// Ticks in a second, as a power of two.
    Binary(u32),
}

impl Ticks {
    /// Decodes an `if_tsresol` (§4.2): a power of ten, or of two with the highest bit set.
    fn of(resolution: u8) -> Self {
        let exponent = u32::from(resolution & 0x7f);
        if resolution & 0x80 != 0 {
            return Self::Binary(exponent);
        }
        match exponent {
            0..=9 => Self::Multiply(10_u64.pow(9 - exponent)),
            10..=28 => Self::Divide(10_u64.pow(exponent - 9)),
            _ => Self::Divide(u64::MAX),
        }
    }

    #[inline]
    fn nanos(self, ticks: u64) -> u64 {
        match self {
            Self::Multiply(factor) => ticks.saturating_mul(factor),
            Self::Divide(divisor) => ticks / divisor,
            Self::Binary(exponent) => {
                let nanos = (u128::from(ticks) * 1_000_000_000)
                    .checked_shr(exponent)
                    .unwrap_or(0);
                u64::try_from(nanos).unwrap_or(u64::MAX)
            }
        }
    }
}

#[derive(Clone, Copy)]
struct Interface {
    link: u16,
    snap_length: u32,
    ticks: Ticks,
    /// Seconds to add (`if_tsoffset`).
    offset: i64,
    /// The latest count of drops.
    dropped: u64,
}

/// The state between blocks.
#[derive(Default)]
pub struct PcapNg {
    is_big: bool,
    /// Interfaces of all sections read.
    interfaces: Vec<Interface>,
    /// Start of the current section's interfaces.
    section: usize,
    has_section: bool,
}

impl PcapNg {
    /// Packets dropped according to the interfaces' statistics.
    pub fn dropped(&self) -> u64 {
        self.interfaces
            .iter()
            .fold(0, |sum, interface| sum.saturating_add(interface.dropped))
    }

    /// Reads blocks up to and including the next packet.
    #[inline]
    pub fn step(&mut self, source: &mut Source) -> Result<Step, ReadError> {
        loop {
            if !source.fill(FRAME_BYTES)? {
                let whole = source.window().is_empty();
                return Ok(Step::End { whole });
            }
            let kind = u32_at(source.window(), 0, self.is_big);
            if kind == SECTION_HEADER {
                self.begin_section(source)?;
            } else if !self.has_section {
                return Err(damaged(
                    source,
                    "type of the first block",
                    u64::from(kind),
                    "a section header",
                ));
            }
            let length = u32_at(source.window(), 4, self.is_big);
            // Every length is a multiple of four (§3.1).
            if (length as usize) < FRAME_BYTES || !length.is_multiple_of(4) {
                return Err(damaged(
                    source,
                    "length of a block",
                    u64::from(length),
                    "a multiple of 4, at least 12",
                ));
            }
            if length as usize > BUFFER_BYTES {
                if matches!(kind, ENHANCED_PACKET | OLD_PACKET | SIMPLE_PACKET) {
                    return Err(damaged(
                        source,
                        "length of a packet's block",
                        u64::from(length),
                        "at most 1048576",
                    ));
                }
                if !source.skip(u64::from(length))? {
                    return Ok(Step::End { whole: false });
                }
                continue;
            }
            let whole = length as usize;
            if !source.fill(whole)? {
                return Ok(Step::End { whole: false });
            }
            let behind = u32_at(source.window(), whole - 4, self.is_big);
            if behind != length {
                return Err(damaged(
                    source,
                    "length behind a block",
                    u64::from(behind),
                    "the length in front of it",
                ));
            }
            let step = match kind {
                ENHANCED_PACKET | OLD_PACKET => self.packet(source, whole, kind)?,
                SIMPLE_PACKET => self.simple_packet(source, whole)?,
                _ => {
                    self.note(&source.window()[..whole], kind);
                    None
                }
            };
            match step {
                Some(fields) => return Ok(Step::Record(fields)),
                None => source.consume(whole),
            }
        }
    }

    /// Reads a section header, which determines how the section is read (§4.1).
    fn begin_section(&mut self, source: &mut Source) -> Result<(), ReadError> {
        let is_big = match u32_at(source.window(), 8, true) {
            BYTE_ORDER => true,
            order if order == BYTE_ORDER.swap_bytes() => false,
            order => {
                return Err(damaged(
                    source,
                    "byte-order magic",
                    u64::from(order),
                    "1a2b3c4d in either order",
                ));
            }
        };
        self.is_big = is_big;
        self.has_section = true;
        self.section = self.interfaces.len();
        Ok(())
    }

    /// An enhanced packet (§4.3) or its predecessor (appendix A).
    #[inline]
    fn packet(
        &self,
        source: &Source,
        whole: usize,
        kind: u32,
    ) -> Result<Option<Fields>, ReadError> {
        let block = &source.window()[..whole];
        let is_big = self.is_big;
        if whole < PACKET_HEAD + 4 {
            return Err(damaged(
                source,
                "length of a packet's block",
                whole as u64,
                "at least 32",
            ));
        }
        let (id, mut dropped_before) = if kind == OLD_PACKET {
            let drops = u16_at(block, 10, is_big);
            // 65535 means an unknown count.
            let drops = if drops == u16::MAX { 0 } else { drops };
            (usize::from(u16_at(block, 8, is_big)), u32::from(drops))
        } else {
            (u32_at(block, 8, is_big) as usize, 0)
        };
        let captured = u32_at(block, 20, is_big) as usize;
        let wire_bytes = u32_at(block, 24, is_big);
        let options = PACKET_HEAD + captured.next_multiple_of(4);
        if captured > MAX_CAPTURED as usize || options > whole - 4 {
            return Err(damaged(
                source,
                "captured length of a packet",
                captured as u64,
                "at most 262144, and no more than its block holds",
            ));
        }
        let Some((number, interface)) = self.interface(id) else {
            return Err(damaged(
                source,
                "interface of a packet",
                id as u64,
                "one that the section describes",
            ));
        };
        if options + 8 <= whole - 4 && kind == ENHANCED_PACKET {
            for_options(&block[options..whole - 4], is_big, |code, value| {
                if code == option::EPB_DROPCOUNT {
                    let drops = u64_at(value, is_big);
                    dropped_before = u32::try_from(drops).unwrap_or(u32::MAX);
                }
            });
        }
        let (high, low) = (u32_at(block, 12, is_big), u32_at(block, 16, is_big));
        let ticks = u64::from(high) << 32 | u64::from(low);
        let seconds = interface.offset.saturating_mul(1_000_000_000);
        Ok(Some(Fields {
            time: Some(interface.ticks.nanos(ticks).saturating_add_signed(seconds)),
            interface: number,
            link: interface.link,
            wire_bytes: wire_bytes.max(captured as u32),
            dropped_before,
            start: PACKET_HEAD,
            captured,
            whole,
        }))
    }

    /// A packet of the first interface, without a time (§4.4).
    fn simple_packet(&self, source: &Source, whole: usize) -> Result<Option<Fields>, ReadError> {
        let block = &source.window()[..whole];
        if whole < FRAME_BYTES + 4 {
            return Err(damaged(
                source,
                "length of a packet's block",
                whole as u64,
                "at least 16",
            ));
        }
        let Some((number, interface)) = self.interface(0) else {
            return Err(damaged(
                source,
                "interfaces of the section",
                0,
                "at least one before a packet",
            ));
        };
        let wire_bytes = u32_at(block, 8, self.is_big);
        let room = whole - FRAME_BYTES - 4;
        let snapped = match interface.snap_length {
            0 => wire_bytes,
            snap_length => wire_bytes.min(snap_length),
        };
        Ok(Some(Fields {
            time: None,
            interface: number,
            link: interface.link,
            wire_bytes,
            dropped_before: 0,
            start: FRAME_BYTES,
            captured: (snapped as usize).min(room),
            whole,
        }))
    }

    /// Interface `id` of this section, with its number in the file.
    #[inline]
    fn interface(&self, id: usize) -> Option<(u32, &Interface)> {
        let number = self.section.checked_add(id)?;
        let interface = self.interfaces.get(number)?;
        Some((number as u32, interface))
    }

    /// Reads a block other than a packet.
    fn note(&mut self, block: &[u8], kind: u32) {
        let is_big = self.is_big;
        let body = &block[8..block.len() - 4];
        match kind {
            INTERFACE if body.len() >= 8 && self.interfaces.len() < MAX_INTERFACES => {
                let mut interface = Interface {
                    link: u16_at(body, 0, is_big),
                    snap_length: u32_at(body, 4, is_big),
                    // Microseconds by default (§4.2).
                    ticks: Ticks::of(6),
                    offset: 0,
                    dropped: 0,
                };
                for_options(&body[8..], is_big, |code, value| match (code, value) {
                    (option::IF_TSRESOL, [resolution, ..]) => {
                        interface.ticks = Ticks::of(*resolution);
                    }
                    (option::IF_TSOFFSET, _) => {
                        interface.offset = u64_at(value, is_big).cast_signed();
                    }
                    _ => {}
                });
                self.interfaces.push(interface);
            }
            STATISTICS if body.len() >= 12 => {
                let number = self.section.checked_add(u32_at(body, 0, is_big) as usize);
                let interface = number.and_then(|number| self.interfaces.get_mut(number));
                let Some(interface) = interface else { return };
                let mut dropped: u64 = 0;
                for_options(&body[12..], is_big, |code, value| {
                    if matches!(code, option::ISB_IFDROP | option::ISB_OSDROP) {
                        dropped = dropped.saturating_add(u64_at(value, is_big));
                    }
                });
                // Each block counts from the start of the capture (§4.6).
                interface.dropped = interface.dropped.max(dropped);
            }
            _ => {}
        }
    }
}

/// Passes each option of `bytes` to `take`, up to the first that does not fit (§3.5).
fn for_options(mut bytes: &[u8], is_big: bool, mut take: impl FnMut(u16, &[u8])) {
    while bytes.len() >= 4 {
        let code = u16_at(bytes, 0, is_big);
        let length = usize::from(u16_at(bytes, 2, is_big));
        let Some(value) = bytes.get(4..4 + length) else {
            return;
        };
        if code == option::END {
            return;
        }
        take(code, value);
        bytes = bytes.get(4 + length.next_multiple_of(4)..).unwrap_or(&[]);
    }
}

fn u64_at(bytes: &[u8], is_big: bool) -> u64 {
    let Some(chunk) = bytes.first_chunk() else {
        return 0;
    };
    if is_big {
        u64::from_be_bytes(*chunk)
    } else {
        u64::from_le_bytes(*chunk)
    }
}

fn damaged(source: &Source, field: &'static str, value: u64, expected: &'static str) -> ReadError {
    ReadError::Damaged {
        offset: source.offset(),
        field,
        value,
        expected,
    }
}
