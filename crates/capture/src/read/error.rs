//! Errors of a file as a capture.

use std::fmt;
use std::io;

/// Maximum expansion of a compressed byte. Deflate's limit is 1032; packets with an all-zero
/// payload stay below a hundred.
pub const MAX_EXPANSION: u64 = 400;

/// A capture cannot be read, or not any further. The message gives the expectation and the remedy.
#[derive(Debug)]
pub enum ReadError {
    /// The operating system, or the decompressor, failed.
    Io(io::Error),
    /// The input is empty.
    Empty,
    /// The first bytes match no supported capture format.
    Format {
        /// The first bytes of the input.
        magic: [u8; 4],
        /// A known format, with the command that converts it.
        known: Option<&'static str>,
    },
    /// The file is inconsistent.
    Damaged {
        /// Offset in the (decompressed) file, in bytes.
        offset: u64,
        /// Name of the field.
        field: &'static str,
        /// The value found.
        value: u64,
        /// The expectation.
        expected: &'static str,
    },
    /// The compressed data is damaged, or ends before its first decompressed byte.
    Gzip(String),
    /// A decompression ratio impossible for packets.
    Bomb {
        /// Compressed bytes read before the error.
        compressed: u64,
        /// Decompressed bytes.
        expanded: u64,
    },
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "cannot read the capture: {error}"),
            Self::Empty => f.write_str(
                "the capture is empty: expected pcap or pcapng; end tcpdump with Ctrl-C, or give \
                 it -U, so that it writes what it has",
            ),
            Self::Format { magic, known } => {
                let [a, b, c, d] = magic;
                write!(f, "the file begins with {a:02x} {b:02x} {c:02x} {d:02x}: ")?;
                match known {
                    Some(known) => f.write_str(known),
                    None => f.write_str(
                        "expected pcap, pcapng, or one of them in gzip; convert other formats \
                         with editcap -F pcapng",
                    ),
                }
            }
            Self::Damaged {
                offset,
                field,
                value,
                expected,
            } => write!(
                f,
                "byte {offset}: {field} = {value}: expected {expected}; the file is damaged \
                 from there on"
            ),
            Self::Gzip(reason) => write!(
                f,
                "the gzip file is damaged ({reason}): expected a whole one; copy it again, and try \
                 gzip --test on it"
            ),
            Self::Bomb {
                compressed,
                expanded,
            } => write!(
                f,
                "{compressed} compressed bytes expand to {expanded} and more: expected at most \
                 {} for each; if these are packets, decompress the file first",
                MAX_EXPANSION
            ),
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
