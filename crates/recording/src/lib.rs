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
//! Needs nothing but `units`. A ping log's link is made in [`played`], all others from recordings
//! elsewhere.

mod fault;
mod format;
pub mod played;
mod probes;
mod recording;
mod search;
mod source;
mod text;
mod trains;

use std::io::Read;

pub use fault::{MAX_BYTES, TraceError, TraceProblem};
pub use format::{FORMATS, Fact, Format, HEAVY_BYTES, sniffed};
pub use probes::{Clock, ProbeLog, ProbeLogBuilder, Reply, Stamp};
pub use recording::{
    Assumption, Bound, Delays, Direction, Figures, Hop, Layer, Load, Losses, Opportunities, Origin,
    RateStep, Rates, Recording, Shaping, Spread,
};
pub use source::{Source, lines};
pub use trains::{Train, Trains};

/// Reads a recording in any format of [`FORMATS`]; errors use `name`. Of a log of lines longer than
/// [`MAX_BYTES`] only the beginning is read and held, with a remark in the recording.
///
/// # Errors
/// Unreadable, too large to be read whole where it has to be, empty, in no known format, or a line
/// that cannot be meant.
pub fn read(reader: impl Read, name: &str) -> Result<Recording, TraceError> {
    let source = Source::new(name);
    let (mut bytes, is_cut) = source.beginning(reader)?;
    if !is_cut {
        return format::read(&text::decoded(&bytes), source);
    }
    let is_by_lines = sniffed(&bytes).is_some_and(|format| format.by_lines);
    let end = bytes.iter().rposition(|byte| *byte == b'\n');
    let (true, Some(end)) = (is_by_lines, end) else {
        return Err(source.error(None, TraceProblem::TooLarge));
    };
    bytes.truncate(end + 1);
    let mut recording = format::read(&text::decoded(&bytes), source)?;
    let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
    recording.remark(format!(
        "The file is longer than {} MiB: its first {lines} lines were read. Cut it to the part of \
         interest for another.",
        MAX_BYTES >> 20
    ));
    Ok(recording)
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
