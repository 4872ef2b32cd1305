//! Copies a capture to pcapng, with the labels of each retransmission as a packet comment, which
//! Wireshark shows.

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use airtcp_packet::pcapng::{
    Captured, Interface, Note, append_interface, append_packet, append_section,
};

use crate::analysis::{Analysis, Label, Need};
use crate::read::{ReadError, Reader};

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
    let mut file = BufWriter::with_capacity(1 << 16, File::create(to)?);
    let mut block = Vec::new();
    append_section(&mut block, "airtcp");
    let mut labels = analysis.labels.iter().peekable();
    // The interfaces of the copy: index in the source, and link type.
    let mut interfaces: Vec<(u32, u16)> = Vec::new();
    while let Ok(Some(record)) = reader.next_record() {
        let interface = (record.interface, record.link);
        let number = match interfaces.iter().position(|known| *known == interface) {
            Some(number) => number,
            None => {
                let described = Interface {
                    link: interface.1,
                    snap_length: 0,
                    name: "",
                    description: "",
                };
                append_interface(&mut block, &described);
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
        let comment = comments.join("\n");
        let note = (!comment.is_empty()).then_some(Note::Comment(&comment));
        let packet = Captured {
            interface: number as u32,
            nanos: record.time.unwrap_or_default(),
            wire_bytes: record.wire_bytes,
            bytes: record.bytes,
        };
        append_packet(&mut block, &packet, note);
        file.write_all(&block)?;
        block.clear();
    }
    // The header of a capture without packets.
    file.write_all(&block)?;
    file.flush()?;
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
