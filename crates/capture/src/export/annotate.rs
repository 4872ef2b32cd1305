//! Copies a capture to pcapng, with the labels of each retransmission as a packet comment, which
//! Wireshark shows.

use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Duration;

use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::PcapNgBlock;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::{DataLink, Endianness, PcapError};

use crate::analysis::{Analysis, Label, Need};
use crate::read::{ReadError, Reader, Record};

/// Times in nanoseconds (if_tsresol, pcapng §4.2).
const NANOSECONDS: u8 = 9;

/// An annotated capture could not be written.
#[derive(Debug)]
pub enum AnnotateError {
    /// The source capture cannot be read.
    Read(ReadError),
    /// It cannot be written.
    Write(io::Error),
}

impl fmt::Display for AnnotateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) => error.fmt(f),
            Self::Write(error) => write!(f, "cannot write the annotated capture: {error}"),
        }
    }
}

impl std::error::Error for AnnotateError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read(error) => Some(error),
            Self::Write(error) => Some(error),
        }
    }
}

impl From<ReadError> for AnnotateError {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

impl From<PcapError> for AnnotateError {
    fn from(error: PcapError) -> Self {
        Self::Write(match error {
            PcapError::IoError(error) => error,
            other => io::Error::new(io::ErrorKind::InvalidData, other.to_string()),
        })
    }
}

impl From<io::Error> for AnnotateError {
    fn from(error: io::Error) -> Self {
        Self::Write(error)
    }
}

/// Copies the capture at `from` to `to` as pcapng, with a comment on every packet labelled by
/// `analysis`. A damaged capture is copied up to the damage.
///
/// # Errors
/// `from` cannot be read at all, or `to` cannot be written.
pub fn annotate(from: &Path, to: &Path, analysis: &Analysis) -> Result<(), AnnotateError> {
    let mut reader = Reader::open(from)?;
    let section = SectionHeaderBlock {
        endianness: Endianness::Little,
        options: vec![SectionHeaderOption::UserApplication(Cow::Borrowed(
            "airtcp",
        ))],
        ..SectionHeaderBlock::default()
    };
    let file = BufWriter::with_capacity(1 << 16, File::create(to)?);
    let mut writer = PcapNgWriter::with_section_header(file, section)?;
    let mut labels = analysis.labels.iter().peekable();
    // The interfaces of the copy: index in the source, and link type.
    let mut interfaces: Vec<(u32, u16)> = Vec::new();
    while let Ok(Some(record)) = reader.next_record() {
        let interface = (record.interface, record.link);
        let number = match interfaces.iter().position(|known| *known == interface) {
            Some(number) => number,
            None => {
                describe(&mut writer, interface.1)?;
                interfaces.push(interface);
                interfaces.len() - 1
            }
        };
        while labels
            .next_if(|label| label.number < record.number)
            .is_some()
        {}
        // A packet aggregated by offload may hold several.
        let mut comments: Vec<String> = Vec::new();
        while let Some(label) = labels.next_if(|label| label.number == record.number) {
            comments.push(comment(label));
        }
        let comment = (!comments.is_empty()).then(|| comments.join("\n"));
        write(&mut writer, &record, number as u32, comment)?;
    }
    writer.into_inner().flush()?;
    Ok(())
}

fn describe<W: Write>(writer: &mut PcapNgWriter<W>, link: u16) -> Result<(), AnnotateError> {
    let interface = InterfaceDescriptionBlock {
        linktype: DataLink::from(u32::from(link)),
        // Without limit.
        snaplen: 0,
        options: vec![InterfaceDescriptionOption::IfTsResol(NANOSECONDS)],
    };
    writer.write_block(&interface.into_block())?;
    Ok(())
}

fn write<W: Write>(
    writer: &mut PcapNgWriter<W>,
    record: &Record<'_>,
    interface: u32,
    comment: Option<String>,
) -> Result<(), AnnotateError> {
    let options = comment.map(|text| EnhancedPacketOption::Comment(Cow::Owned(text)));
    let block = EnhancedPacketBlock {
        interface_id: interface,
        timestamp: Duration::from_nanos(record.time.unwrap_or_default()),
        original_len: record.wire_bytes,
        data: Cow::Borrowed(record.bytes),
        options: options.into_iter().collect(),
    };
    writer.write_block(&block.into_block())?;
    Ok(())
}

/// A retransmission's verdict, in one line.
fn comment(label: &Label) -> String {
    let mut text = format!(
        "airtcp: retransmission {} of bytes {} to {}, by {}",
        label.attempt,
        label.start,
        label.end,
        label.trigger.name()
    );
    if label.backoff > 0 {
        text.push_str(&format!(" (backoff {})", label.backoff));
    }
    text.push_str(&format!(
        "; {} ({}: {}); {}",
        label.need.name(),
        label.evidence.sureness(),
        label.evidence.name(),
        label.cause.name()
    ));
    if let Some(late) = label.late_by.filter(|_| label.need == Need::Needless) {
        text.push_str(&format!("; the answer came {late} after it"));
    }
    if let Some(original) = label.original {
        text.push_str(&format!("; the transmission before is packet {original}"));
    }
    text
}
