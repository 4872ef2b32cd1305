//! Captures as a stream of records: pcap and pcapng, from a file, a pipe or gzip, in bounded
//! memory.
//!
//! The block parser is part of this crate, because the pcap library used for writing captures
//! rejects packets longer than the snap length, hence every capture of `tcpdump -s 128` (pcap-file
//! 2.0.0, `PcapPacket::try_from_raw_packet`).

mod error;
mod pcap;
mod pcapng;
mod source;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::Read;
use std::path::Path;

pub use error::ReadError;
use pcap::Pcap;
use pcapng::PcapNg;
use source::Source;

/// The maximum packet size of a capture, as in libpcap (`MAXIMUM_SNAPLEN`).
const MAX_CAPTURED: u32 = 262_144;

/// A packet of a capture.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// Packet number as in Wireshark: from 1, over all interfaces.
    pub number: u64,
    /// Its time, in nanoseconds since the start of 1970; `None` for a pcapng packet without a time
    /// (simple packet block).
    pub time: Option<u64>,
    /// The interface, from 0, numbered consecutively over sections.
    pub interface: u32,
    /// The interface's link type (tcpdump.org, "LINKTYPE_").
    pub link: u16,
    /// The packet's length on the wire, in bytes.
    pub wire_bytes: u32,
    /// The captured bytes.
    pub bytes: &'a [u8],
    /// Packets dropped by the capture just before this one, if the file records where.
    pub dropped_before: u32,
}

/// Result of parsing the next bytes in a file format.
enum Step {
    /// A record: its fields, and the position of its bytes in the window.
    Record(Fields),
    /// The end of the stream, in the middle of a record if not `whole`.
    End { whole: bool },
}

/// A record without its bytes, which are in the window.
struct Fields {
    time: Option<u64>,
    interface: u32,
    link: u16,
    wire_bytes: u32,
    dropped_before: u32,
    /// Position of the packet in the window.
    start: usize,
    captured: usize,
    /// Bytes to consume after processing.
    whole: usize,
}

enum Format {
    Pcap(Pcap),
    PcapNg(PcapNg),
}

/// Reads the records of a capture, one after the other.
pub struct Reader {
    source: Source,
    format: Format,
    number: u64,
    /// Bytes of the window used by the last record.
    taken: usize,
    is_cut: bool,
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader")
            .field("number", &self.number)
            .field("offset", &self.source.offset())
            .finish_non_exhaustive()
    }
}

impl Reader {
    /// Reads the file at `path`; `-` is standard input.
    ///
    /// # Errors
    /// The file cannot be opened, or is not a capture.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        if path.as_os_str() == "-" {
            return Self::new(Box::new(std::io::stdin()));
        }
        Self::new(Box::new(File::open(path)?))
    }

    /// Reads `input`.
    ///
    /// # Errors
    /// It cannot be read, or is not a capture.
    pub fn new(input: Box<dyn Read + Send>) -> Result<Self, ReadError> {
        let mut source = Source::new(input)?;
        source.fill(pcap::HEADER_BYTES)?;
        let Some(magic) = source.window().first_chunk::<4>().copied() else {
            let is_empty = source.window().is_empty();
            return Err(if source.is_cut() {
                ReadError::Gzip("it ends before the first packet".to_owned())
            } else if is_empty {
                ReadError::Empty
            } else {
                let mut magic = [0; 4];
                magic[..source.window().len()].copy_from_slice(source.window());
                ReadError::Format { magic, known: None }
            });
        };
        let format = if magic == pcapng::SECTION_HEADER.to_be_bytes() {
            Format::PcapNg(PcapNg::default())
        } else if let Some(pcap) = Pcap::of(&mut source)? {
            Format::Pcap(pcap)
        } else {
            let known = known_as(magic);
            return Err(ReadError::Format { magic, known });
        };
        Ok(Self {
            source,
            format,
            number: 0,
            taken: 0,
            is_cut: false,
        })
    }

    /// The next record; `None` at the end of the capture.
    ///
    /// # Errors
    /// The file cannot be read any further. Earlier records are valid.
    #[inline]
    pub fn next_record(&mut self) -> Result<Option<Record<'_>>, ReadError> {
        self.source.consume(self.taken);
        self.taken = 0;
        let step = match &mut self.format {
            Format::Pcap(pcap) => pcap.step(&mut self.source)?,
            Format::PcapNg(pcapng) => pcapng.step(&mut self.source)?,
        };
        let fields = match step {
            Step::Record(fields) => fields,
            Step::End { whole } => {
                self.is_cut = !whole || self.source.is_cut();
                return Ok(None);
            }
        };
        self.number += 1;
        self.taken = fields.whole;
        let window = self.source.window();
        let bytes = window
            .get(fields.start..fields.start + fields.captured)
            .unwrap_or(&[]);
        Ok(Some(Record {
            number: self.number,
            time: fields.time,
            interface: fields.interface,
            link: fields.link,
            wire_bytes: fields.wire_bytes,
            bytes,
            dropped_before: fields.dropped_before,
        }))
    }

    /// Passes each record to `take`.
    ///
    /// # Errors
    /// There is no record to read. A file damaged further on yields the part before the damage.
    pub(crate) fn for_each(mut self, mut take: impl FnMut(&Record<'_>)) -> Result<(), ReadError> {
        let mut is_first = true;
        loop {
            match self.next_record() {
                Ok(Some(record)) => take(&record),
                Err(error) if is_first => return Err(error),
                Ok(None) | Err(_) => return Ok(()),
            }
            is_first = false;
        }
    }

    /// Whether the file ended in the middle of a record, as after an interrupted writer.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Packets that the capture itself reports as dropped: pcapng's `isb_ifdrop` and `isb_osdrop`.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        match &self.format {
            Format::Pcap(_) => 0,
            Format::PcapNg(pcapng) => pcapng.dropped(),
        }
    }

    /// Bytes read of the file or pipe, for progress.
    #[must_use]
    pub fn bytes_read(&self) -> u64 {
        self.source.raw_bytes()
    }
}

/// Known but unsupported formats, with advice for each.
fn known_as(magic: [u8; 4]) -> Option<&'static str> {
    match magic {
        [0x28, 0xb5, 0x2f, 0xfd] => Some("Zstandard: unpack it first: unzstd FILE"),
        [0xfd, b'7', b'z', b'X'] => Some("xz: unpack it first: unxz -k FILE"),
        [0x04, 0x22, 0x4d, 0x18] => Some("LZ4: unpack it first: unlz4 FILE"),
        [b'B', b'Z', b'h', _] => Some("bzip2: unpack it first: bunzip2 -k FILE"),
        [0x1f, 0x8b, ..] => Some("gzip within gzip: unpack it once: gzip -dc FILE > UNPACKED"),
        [0x89, b'P', b'N', b'G'] | [0xff, 0xd8, 0xff, _] => {
            Some("a picture: give the recording behind it")
        }
        [0x7f, b'E', b'L', b'F'] => Some("a program: give the recording that it wrote"),
        [b'P', b'K', 3, 4] => Some("a ZIP archive: unpack it first"),
        [b's', b'n', b'o', b'o'] => Some("snoop: convert it with editcap -F pcapng"),
        [b'R', b'T', b'S', b'S'] | [b'X', b'C', b'P', 0] => {
            Some("a capture of another sniffer: convert it with editcap -F pcapng")
        }
        _ => None,
    }
}

/// The 16-bit number at `at` in `bytes`, zero if out of bounds.
#[inline]
fn u16_at(bytes: &[u8], at: usize, is_big: bool) -> u16 {
    let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk) else {
        return 0;
    };
    if is_big {
        u16::from_be_bytes(*chunk)
    } else {
        u16::from_le_bytes(*chunk)
    }
}

/// The 32-bit number at `at` in `bytes`, zero if out of bounds.
#[inline]
fn u32_at(bytes: &[u8], at: usize, is_big: bool) -> u32 {
    let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk) else {
        return 0;
    };
    if is_big {
        u32::from_be_bytes(*chunk)
    } else {
        u32::from_le_bytes(*chunk)
    }
}
