//! pcap (draft-ietf-opsawg-pcap): one header, then records.

use super::source::Source;
use super::{Fields, MAX_CAPTURED, ReadError, Step, u32_at};

/// Length of the file's header.
pub const HEADER_BYTES: usize = 24;
/// Length of a record's header.
const RECORD_BYTES: usize = 16;
/// Length of a record's header written by a patched libpcap of the 1990s, which also has interface,
/// protocol and packet type.
const LONG_RECORD_BYTES: usize = 24;

/// Times in microseconds.
const MICROSECONDS: u32 = 0xa1b2_c3d4;
/// Times in nanoseconds.
const NANOSECONDS: u32 = 0xa1b2_3c4d;
/// Times in microseconds, long record headers.
const PATCHED: u32 = 0xa1b2_cd34;

/// Layout of a file's records.
pub struct Pcap {
    is_big: bool,
    nanos_per_tick: u64,
    record_bytes: usize,
    link: u16,
}

impl Pcap {
    /// Reads the file's header; `None`, and nothing consumed, if it has another format.
    pub fn of(source: &mut Source) -> Result<Option<Self>, ReadError> {
        let window = source.window();
        let both = [true, false].map(|is_big| (is_big, u32_at(window, 0, is_big)));
        let known = both.into_iter().find_map(|(is_big, magic)| {
            let (nanos_per_tick, record_bytes) = match magic {
                MICROSECONDS => (1_000, RECORD_BYTES),
                NANOSECONDS => (1, RECORD_BYTES),
                PATCHED => (1_000, LONG_RECORD_BYTES),
                _ => return None,
            };
            Some((is_big, nanos_per_tick, record_bytes))
        });
        let Some((is_big, nanos_per_tick, record_bytes)) = known else {
            return Ok(None);
        };
        if window.len() < HEADER_BYTES {
            return Err(ReadError::Damaged {
                offset: 0,
                field: "length of the file",
                value: window.len() as u64,
                expected: "at least the 24 bytes of a header",
            });
        }
        // The upper bits are the length of a frame check sequence and reserved bits.
        let link = u32_at(window, 20, is_big) as u16;
        source.consume(HEADER_BYTES);
        Ok(Some(Self {
            is_big,
            nanos_per_tick,
            record_bytes,
            link,
        }))
    }

    /// Reads the next record.
    #[inline]
    pub fn step(&mut self, source: &mut Source) -> Result<Step, ReadError> {
        if !source.fill(self.record_bytes)? {
            let whole = source.window().is_empty();
            return Ok(Step::End { whole });
        }
        let header = source.window();
        let field = |at| u32_at(header, at, self.is_big);
        let (seconds, ticks, captured, wire) = (field(0), field(4), field(8), field(12));
        if captured > MAX_CAPTURED {
            return Err(ReadError::Damaged {
                offset: source.offset(),
                field: "captured length of a packet",
                value: u64::from(captured),
                expected: "at most 262144",
            });
        }
        let whole = self.record_bytes + captured as usize;
        if !source.fill(whole)? {
            return Ok(Step::End { whole: false });
        }
        let nanos = u64::from(seconds) * 1_000_000_000 + u64::from(ticks) * self.nanos_per_tick;
        Ok(Step::Record(Fields {
            time: Some(nanos),
            interface: 0,
            link: self.link,
            wire_bytes: wire.max(captured),
            dropped_before: 0,
            start: self.record_bytes,
            captured: captured as usize,
            whole,
        }))
    }
}
