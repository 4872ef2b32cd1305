//! Segments as a packet capture, as `tcpdump` at the data sender's interface would have taken it.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use airtcp_packet::Segment;
use airtcp_packet::pcapng::{
    Captured, Interface, LINK_RAW, Note, append_interface, append_packet, append_section,
};
use airtcp_packet::wire::{Addresses, emit};
use airtcp_units::Instant;

use super::{RecordError, create};
use crate::engine::Direction;

/// Packets are kept whole: no IPv4 packet is longer.
const SNAP_LENGTH: u32 = 65_535;

/// Writes a pcapng file. Simulated time 0 is the start of 1970.
pub struct PcapWriter {
    path: PathBuf,
    file: BufWriter<File>,
    packet: Vec<u8>,
    block: Vec<u8>,
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
        let mut file = create(path)?;
        let mut block = Vec::new();
        append_section(&mut block, "airtcp");
        let interface = Interface {
            link: LINK_RAW,
            snap_length: SNAP_LENGTH,
            name: "sender",
            description: "the data sender's interface, simulated",
        };
        append_interface(&mut block, &interface);
        file.write_all(&block)
            .map_err(|error| RecordError::new(path, error))?;
        Ok(Self {
            path: path.to_path_buf(),
            file,
            packet: Vec::new(),
            block,
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
        let note = match direction {
            Direction::Data => Note::Outbound,
            Direction::Acknowledgments => Note::Inbound,
        };
        let identification = number as u16;
        self.packet.clear();
        emit(segment, addresses, identification, &[], &mut self.packet).map_err(|error| {
            RecordError::new(
                &self.path,
                io::Error::new(io::ErrorKind::InvalidInput, error),
            )
        })?;
        let captured = Captured {
            interface: 0,
            nanos: time.as_nanos(),
            wire_bytes: self.packet.len() as u32,
            bytes: &self.packet,
        };
        self.block.clear();
        append_packet(&mut self.block, &captured, Some(note));
        self.file
            .write_all(&self.block)
            .map_err(|error| RecordError::new(&self.path, error))
    }

    /// Flushes the buffer. Without it the end of the file may be missing.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(self) -> Result<(), RecordError> {
        let Self { path, mut file, .. } = self;
        file.flush().map_err(|error| RecordError::new(&path, error))
    }
}
