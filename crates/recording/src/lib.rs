//! Users' recordings of a link, read into one form.
//!
//! [`FORMATS`] is the registry: a row a format, a file a format in `format/`. A format recognizes
//! its files by their beginning, reads them into a [`Recording`], and lists the facts that such a
//! file can hold ([`Fact`]); everything else has to be asked for or is left open in the answer.
//!
//! To add one: a file in `format/` with a `pub(super) const FORMAT: Format`, and its row in
//! [`FORMATS`], before less specific ones. Its `read` gets UTF-8 if the file was text in any
//! encoding that systems write, and makes a [`ProbeLog`] with [`ProbeLogBuilder`].
//!
//! Needs nothing but `units`; links and scenarios are made from recordings elsewhere.

mod fault;
mod format;
mod probes;
mod source;
mod text;

use std::io::Read;

pub use fault::{MAX_BYTES, TraceError, TraceProblem};
pub use format::{FORMATS, Fact, Format, Recording, sniffed};
pub use probes::{Clock, ProbeLog, ProbeLogBuilder, Reply, Stamp};
pub use source::{Source, lines};

/// Reads a recording of at most [`MAX_BYTES`] in any format of [`FORMATS`]; errors use `name`.
///
/// # Errors
/// Unreadable, too large, empty, in no known format, or a line that cannot be meant.
pub fn read(reader: impl Read, name: &str) -> Result<Recording, TraceError> {
    let bytes = Source::new(name).read_all(reader)?;
    parse(&bytes, name)
}

/// Reads a recording that is in memory; otherwise as [`read`].
///
/// # Errors
/// As [`read`].
pub fn parse(bytes: &[u8], name: &str) -> Result<Recording, TraceError> {
    let source = Source::new(name);
    let unpacked = source.unpacked(bytes)?;
    format::read(&text::decoded(&unpacked), source)
}

#[cfg(test)]
mod tests;
