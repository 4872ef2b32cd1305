//! The packets of one end as a pcapng file, with an interface for each line.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Duration;

use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::pcapng::{PcapNgBlock, PcapNgWriter};
use pcap_file::{DataLink, PcapError};

/// Timestamps count 10^-9 s (if_tsresol, pcapng §4.2).
const NANOSECONDS: u8 = 9;
/// epb_flags, pcapng §4.3.1: the packet came in, or went out.
const DIRECTION: [u32; 2] = [1, 2];
/// Packets are stored whole.
const SNAP_LENGTH: u32 = 65_536;

/// A capture being written.
pub struct Capture {
    writer: PcapNgWriter<BufWriter<File>>,
}

impl Capture {
    /// Creates a capture at `path`, replacing an old file, by `program`, of these interfaces.
    pub fn create(path: &Path, program: &'static str, interfaces: &[String]) -> io::Result<Self> {
        let section = SectionHeaderBlock {
            options: vec![SectionHeaderOption::UserApplication(Cow::Borrowed(program))],
            ..SectionHeaderBlock::default()
        };
        let file = BufWriter::with_capacity(1 << 16, File::create(path)?);
        let mut writer = PcapNgWriter::with_section_header(file, section).map_err(io_error)?;
        for name in interfaces {
            let interface = InterfaceDescriptionBlock {
                linktype: DataLink::RAW,
                snaplen: SNAP_LENGTH,
                options: vec![
                    InterfaceDescriptionOption::IfName(Cow::Borrowed(name)),
                    InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
                ],
            };
            writer
                .write_block(&interface.into_block())
                .map_err(io_error)?;
        }
        Ok(Self { writer })
    }

    /// Adds a packet that left or entered by interface number `interface`, at `nanos` since the
    /// start of 1970.
    pub fn write(
        &mut self,
        interface: u32,
        is_out: bool,
        nanos: u64,
        bytes: &[u8],
    ) -> io::Result<()> {
        let block = EnhancedPacketBlock {
            interface_id: interface,
            timestamp: Duration::from_nanos(nanos),
            original_len: u32::try_from(bytes.len()).unwrap_or(u32::MAX),
            data: Cow::Borrowed(bytes),
            options: vec![EnhancedPacketOption::Flags(DIRECTION[usize::from(is_out)])],
        };
        self.writer
            .write_block(&block.into_block())
            .map_err(io_error)?;
        Ok(())
    }

    /// Writes out buffered packets.
    pub fn finish(self) -> io::Result<()> {
        self.writer.into_inner().flush()
    }
}

fn io_error(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::new(io::ErrorKind::InvalidData, other.to_string()),
    }
}
