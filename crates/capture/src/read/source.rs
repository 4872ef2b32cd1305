//! Bytes of a file or a pipe, decompressed if needed, through one buffer of fixed size.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::read::MultiGzDecoder;

use super::ReadError;
use super::error::MAX_EXPANSION;

/// Size of the buffer. It must hold the longest record read as a whole.
pub const BUFFER_BYTES: usize = 1 << 20;
/// The first bytes of a gzip member (RFC 1952 §2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// Minimum size for a decompression bomb: less costs below a second.
const HARMLESS_BYTES: u64 = 1 << 26;

/// A stream with a window of its next bytes.
pub struct Source {
    input: Box<dyn Read + Send>,
    buffer: Box<[u8]>,
    /// Start of the unconsumed bytes.
    start: usize,
    end: usize,
    is_ended: bool,
    /// Bytes consumed.
    offset: u64,
    /// Bytes read from the file or pipe itself.
    raw: Arc<AtomicU64>,
    is_compressed: bool,
    /// Whether the compressed data was truncated.
    is_cut: bool,
}

/// Counts the bytes read.
struct CountingReader<R> {
    input: R,
    bytes: Arc<AtomicU64>,
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.input.read(buffer)?;
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        Ok(bytes)
    }
}

impl Source {
    /// The bytes of `input`, decompressed if it is gzip.
    pub fn new(input: Box<dyn Read + Send>) -> Result<Self, ReadError> {
        let raw = Arc::new(AtomicU64::new(0));
        let counted = CountingReader {
            input,
            bytes: Arc::clone(&raw),
        };
        let mut source = Self {
            input: Box::new(counted),
            buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
            start: 0,
            end: 0,
            is_ended: false,
            offset: 0,
            raw,
            is_compressed: false,
            is_cut: false,
        };
        source.fill(GZIP.len())?;
        if source.window().starts_with(&GZIP) {
            // Bytes in the buffer are read once more, before the rest.
            let head = io::Cursor::new(source.window().to_vec());
            let rest = std::mem::replace(&mut source.input, Box::new(io::empty()));
            source.input = Box::new(MultiGzDecoder::new(head.chain(rest)));
            (source.start, source.end) = (0, 0);
            source.is_ended = false;
            source.is_compressed = true;
        }
        Ok(source)
    }

    /// The unconsumed bytes.
    #[inline]
    pub fn window(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Makes the window at least `bytes` long, at most [`BUFFER_BYTES`]; `false` if the stream ends
    /// before that.
    #[inline]
    pub fn fill(&mut self, bytes: usize) -> Result<bool, ReadError> {
        if self.end - self.start >= bytes {
            return Ok(true);
        }
        self.fill_slowly(bytes)
    }

    #[cold]
    fn fill_slowly(&mut self, bytes: usize) -> Result<bool, ReadError> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        while self.end < bytes && !self.is_ended {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.is_ended = true,
                Ok(read) => self.end += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // A truncated compressed file ends at the truncation.
                Err(error)
                    if self.is_compressed && error.kind() == io::ErrorKind::UnexpectedEof =>
                {
                    self.is_ended = true;
                    self.is_cut = true;
                }
                // The decompressor's errors; file errors have other kinds.
                Err(error)
                    if self.is_compressed
                        && matches!(
                            error.kind(),
                            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData
                        ) =>
                {
                    return Err(ReadError::Gzip(error.to_string()));
                }
                Err(error) => return Err(error.into()),
            }
            self.check_expansion()?;
        }
        Ok(self.end >= bytes)
    }

    fn check_expansion(&self) -> Result<(), ReadError> {
        let expanded = self.offset + self.end as u64;
        let compressed = self.raw.load(Ordering::Relaxed);
        if self.is_compressed && expanded > HARMLESS_BYTES && expanded / MAX_EXPANSION > compressed
        {
            return Err(ReadError::Bomb {
                compressed,
                expanded,
            });
        }
        Ok(())
    }

    /// Consumes `bytes` of the window.
    #[inline]
    pub fn consume(&mut self, bytes: usize) {
        self.start = (self.start + bytes).min(self.end);
        self.offset += bytes as u64;
    }

    /// Consumes `bytes` that need not be in the window; `false` if the stream ends before.
    pub fn skip(&mut self, mut bytes: u64) -> Result<bool, ReadError> {
        while bytes > 0 {
            let step = bytes.min(BUFFER_BYTES as u64) as usize;
            let is_there = self.fill(step)?;
            let step = step.min(self.window().len());
            self.consume(step);
            bytes -= step as u64;
            if !is_there {
                return Ok(bytes == 0);
            }
        }
        Ok(true)
    }

    /// Whether the compressed data was truncated, as in an incomplete copy.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Bytes consumed, after decompression.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Bytes read from the file or pipe, before decompression.
    pub fn raw_bytes(&self) -> u64 {
        self.raw.load(Ordering::Relaxed)
    }
}
