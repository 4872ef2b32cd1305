//! The bytes of a recording, and errors that name where they come from.

use std::borrow::Cow;
use std::io::{ErrorKind, Read};

use crate::fault::{MAX_BYTES, TraceError, TraceProblem};

/// The first bytes of gzip's output.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// A recording that is being read: the name that [`TraceError`]s give.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    name: &'a str,
}

impl<'a> Source<'a> {
    /// The recording that a caller calls `name`: a path, mostly.
    #[must_use]
    pub const fn new(name: &'a str) -> Self {
        Self { name }
    }

    /// The name.
    #[must_use]
    pub const fn name(self) -> &'a str {
        self.name
    }

    /// A fault on `line`, counted from 1, or of the whole recording.
    #[must_use]
    pub fn error(self, line: Option<u64>, problem: TraceProblem) -> TraceError {
        TraceError {
            source_name: self.name.to_owned(),
            line,
            problem,
        }
    }

    /// A malformed line; `found` is shortened.
    #[must_use]
    pub fn malformed(
        self,
        line: u64,
        found: &[u8],
        expected: &'static str,
        remedy: &'static str,
    ) -> TraceError {
        let found = shortened(found);
        self.error(
            Some(line),
            TraceProblem::Malformed {
                found,
                expected,
                remedy,
            },
        )
    }

    /// The bytes, decompressed where they are gzip's; never more than [`MAX_BYTES`].
    ///
    /// # Errors
    /// A compressed file is damaged, or larger than that.
    pub fn unpacked(self, bytes: &[u8]) -> Result<Cow<'_, [u8]>, TraceError> {
        if !bytes.starts_with(&GZIP) {
            return Ok(Cow::Borrowed(bytes));
        }
        let unpacked = self.decompressed(bytes)?;
        if unpacked.len() as u64 > MAX_BYTES {
            return Err(self.error(None, TraceProblem::TooLarge));
        }
        Ok(Cow::Owned(unpacked))
    }

    /// The first [`MAX_BYTES`] of `reader`, decompressed where they are gzip's, and whether there
    /// are more.
    pub(crate) fn beginning(self, mut reader: impl Read) -> Result<(Vec<u8>, bool), TraceError> {
        let unreadable =
            |error: std::io::Error| self.error(None, TraceProblem::Unreadable(error.to_string()));
        let mut first = Vec::new();
        let magic = GZIP.len() as u64;
        reader
            .by_ref()
            .take(magic)
            .read_to_end(&mut first)
            .map_err(unreadable)?;
        let whole = first.as_slice().chain(reader);
        let mut bytes = Vec::new();
        if first == GZIP {
            bytes = self.decompressed(whole)?;
        } else {
            whole
                .take(MAX_BYTES + 1)
                .read_to_end(&mut bytes)
                .map_err(unreadable)?;
        }
        let is_cut = bytes.len() as u64 > MAX_BYTES;
        Ok((bytes, is_cut))
    }

    /// Up to [`MAX_BYTES`] and one of gzip's output; of a file that was cut, the part before that.
    fn decompressed(self, packed: impl Read) -> Result<Vec<u8>, TraceError> {
        let mut bytes = Vec::new();
        let read = flate2::read::MultiGzDecoder::new(packed)
            .take(MAX_BYTES + 1)
            .read_to_end(&mut bytes);
        match read {
            Err(error) if error.kind() != ErrorKind::UnexpectedEof || bytes.is_empty() => {
                Err(self.error(None, TraceProblem::Compressed(error.to_string())))
            }
            _ => Ok(bytes),
        }
    }

    /// All of `reader`, but never more than [`MAX_BYTES`].
    ///
    /// # Errors
    /// Unreadable, or larger than that.
    pub fn read_all(self, reader: impl Read) -> Result<Vec<u8>, TraceError> {
        let mut bytes = Vec::new();
        reader
            .take(MAX_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| self.error(None, TraceProblem::Unreadable(error.to_string())))?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(self.error(None, TraceProblem::TooLarge));
        }
        Ok(bytes)
    }
}

/// The lines of `bytes` with their numbers from 1, without line ends and surrounding blanks.
pub fn lines(bytes: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let mut rest = Some(bytes);
    let split = std::iter::from_fn(move || {
        let bytes = rest?;
        let end = memchr::memchr(b'\n', bytes);
        rest = end.map(|end| &bytes[end + 1..]);
        Some(&bytes[..end.unwrap_or(bytes.len())])
    });
    (1..).zip(split.map(<[u8]>::trim_ascii))
}

/// Most bytes of an offending text that an error shows.
const SHOWN_BYTES: usize = 40;

/// `text` in quotes, cut to fit on a terminal, with unprintable bytes escaped.
fn shortened(text: &[u8]) -> String {
    if text.len() <= SHOWN_BYTES {
        return format!("\"{}\"", text.escape_ascii());
    }
    format!(
        "\"{}...\" ({} bytes)",
        text[..SHOWN_BYTES].escape_ascii(),
        text.len()
    )
}
