//! Segments as a packet capture, as `tcpdump` at the data sender's interface would have taken it.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use airtcp_packet::Segment;
use airtcp_packet::wire::{Addresses, emit};
use airtcp_units::Instant;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::pcapng::{PcapNgBlock, PcapNgWriter};
use pcap_file::{DataLink, Endianness, PcapError};

use super::{RecordError, create};
use crate::engine::Direction;

/// Packets begin with their IP header (LINKTYPE_RAW).
const LINK_TYPE: DataLink = DataLink::RAW;
/// Timestamps count 10^-9 s (if_tsresol, pcapng §4.2).
const NANOSECONDS: u8 = 9;
/// epb_flags, pcapng §4.3.1: the packet came in.
const INBOUND: u32 = 1;
/// epb_flags: the packet went out.
const OUTBOUND: u32 = 2;
/// Packets are kept whole: no IPv4 packet is longer.
const SNAP_LENGTH: u32 = 65_535;

/// Writes a pcapng file. Simulated time 0 is the start of 1970.
pub struct PcapWriter {
    path: PathBuf,
    writer: PcapNgWriter<BufWriter<File>>,
    packet: Vec<u8>,
}

impl std::fmt::Debug for PcapWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PcapWriter")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl PcapWriter {
    /// Creates a capture at `path`, replacing an old file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn create(path: &Path) -> Result<Self, RecordError> {
        let file = create(path)?;
        let section = SectionHeaderBlock {
            // Independent of the machine's byte order: the same run gives the same file everywhere.
            endianness: Endianness::Little,
            options: vec![SectionHeaderOption::UserApplication(Cow::Borrowed(
                "airtcp",
            ))],
            ..SectionHeaderBlock::default()
        };
        let interface = InterfaceDescriptionBlock {
            linktype: LINK_TYPE,
            snaplen: SNAP_LENGTH,
            options: vec![
                InterfaceDescriptionOption::IfName(Cow::Borrowed("sender")),
                InterfaceDescriptionOption::IfDescription(Cow::Borrowed(
                    "the data sender's interface, simulated",
                )),
                InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
            ],
        };
        let failed = |error| RecordError::new(path, io_error(error));
        let mut writer = PcapNgWriter::with_section_header(file, section).map_err(failed)?;
        writer
            .write_block(&interface.into_block())
            .map_err(failed)?;
        let path = path.to_path_buf();
        Ok(Self {
            path,
            writer,
            packet: Vec::new(),
        })
    }

    /// Adds a segment that passes the interface at `time`; its payload is zeros. `number` is its
    /// number among the packets of its host, its IPv4 identification as Linux counts it: lost
    /// packets leave gaps.
    ///
    /// # Errors
    /// The file cannot be written, or the segment is longer than an IPv4 packet can be.
    pub fn write(
        &mut self,
        time: Instant,
        segment: &Segment,
        number: u64,
        addresses: &Addresses,
        direction: Direction,
    ) -> Result<(), RecordError> {
        let flags = match direction {
            Direction::Data => OUTBOUND,
            Direction::Acknowledgments => INBOUND,
        };
        let identification = number as u16;
        self.packet.clear();
        emit(segment, addresses, identification, &[], &mut self.packet).map_err(|error| {
            RecordError::new(
                &self.path,
                io::Error::new(io::ErrorKind::InvalidInput, error),
            )
        })?;
        let block = EnhancedPacketBlock {
            interface_id: 0,
            timestamp: Duration::from_nanos(time.as_nanos()),
            original_len: self.packet.len() as u32,
            data: Cow::Borrowed(&self.packet),
            options: vec![EnhancedPacketOption::Flags(flags)],
        };
        self.writer
            .write_block(&block.into_block())
            .map_err(|error| RecordError::new(&self.path, io_error(error)))?;
        Ok(())
    }

    /// Flushes the buffer. Without it the end of the file may be missing.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(self) -> Result<(), RecordError> {
        let Self { path, writer, .. } = self;
        writer
            .into_inner()
            .flush()
            .map_err(|error| RecordError::new(&path, error))
    }
}

fn io_error(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::new(io::ErrorKind::InvalidData, other.to_string()),
    }
}
