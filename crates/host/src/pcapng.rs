//! The packets of one end as a pcapng file, with an interface for each line.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use airtcp_packet::pcapng::{
    Captured, Interface, LINK_RAW, Note, append_interface, append_packet, append_section,
};

/// Packets are stored whole.
const SNAP_LENGTH: u32 = 65_536;

/// A capture being written.
pub struct Capture {
    file: BufWriter<File>,
    block: Vec<u8>,
}

impl Capture {
    /// Creates a capture at `path`, replacing an old file, by `program`, of these interfaces.
    pub fn create(path: &Path, program: &'static str, interfaces: &[String]) -> io::Result<Self> {
        let mut file = BufWriter::with_capacity(1 << 16, File::create(path)?);
        let mut block = Vec::new();
        append_section(&mut block, program);
        for name in interfaces {
            let interface = Interface {
                link: LINK_RAW,
                snap_length: SNAP_LENGTH,
                name,
                description: "",
            };
            append_interface(&mut block, &interface);
        }
        file.write_all(&block)?;
        Ok(Self { file, block })
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
        let packet = Captured {
            interface,
            nanos,
            wire_bytes: u32::try_from(bytes.len()).unwrap_or(u32::MAX),
            bytes,
        };
        let note = if is_out {
            Note::Outbound
        } else {
            Note::Inbound
        };
        self.block.clear();
        append_packet(&mut self.block, &packet, Some(note));
        self.file.write_all(&self.block)
    }

    /// Writes out buffered packets.
    pub fn finish(mut self) -> io::Result<()> {
        self.file.flush()
    }
}
