//! Recorded links: one file a format.
//!
//! A reader takes any byte source, reads no more than [`MAX_BYTES`] of it, and names file, line and
//! remedy when it cannot use what it finds.

mod columns;
pub mod conditions;
pub mod lost_packets;
pub mod mahimahi;
mod rtt_csv;
pub mod rtt_log;
mod rtt_ping;
mod rtt_reply;
mod rtt_value;
pub mod stop_list;
mod text;

use std::fmt;
use std::io::Read;

/// Most bytes that a recording may have: 64 MiB, twelve hours of a saturated LTE link.
pub const MAX_BYTES: u64 = 64 << 20;

/// Why a recording cannot be used. Its text names the file, the line, what was found there, what
/// was expected, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("trace {source_name:?}{}: {problem}", At(*line))]
pub struct TraceError {
    /// What the caller calls the recording: a path, mostly.
    pub source_name: String,
    /// Where, counted from 1; none when the whole recording is meant.
    pub line: Option<u64>,
    /// The fault.
    pub problem: TraceProblem,
}

/// A fault of a recording.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TraceProblem {
    /// The system refused to read it.
    #[error("cannot be read ({0}): check that the file exists and may be read")]
    Unreadable(String),
    /// It has more than [`MAX_BYTES`].
    #[error("larger than {} MiB: cut it to the part of interest", MAX_BYTES >> 20)]
    TooLarge,
    /// There is nothing in it.
    #[error("empty: expected {expected}; record it again")]
    Empty {
        /// Content of a recording of this kind.
        expected: &'static str,
    },
    /// A line does not hold what it should.
    #[error("found {found}: expected {expected}; {remedy}")]
    Malformed {
        /// The offending text, shortened.
        found: String,
        /// The expectation.
        expected: &'static str,
        /// A hint for the user.
        remedy: &'static str,
    },
    /// Timestamps go backwards.
    #[error(
        "timestamp {found} ms after {before} ms: expected timestamps that never decrease; sort the file, or cut it where the recording was restarted"
    )]
    Decreasing {
        /// The timestamp of this line.
        found: u32,
        /// The timestamp before it.
        before: u32,
    },
    /// Every timestamp is zero.
    #[error(
        "all timestamps are 0: expected a last timestamp above 0, since the trace repeats with it as its period; record for longer than a millisecond"
    )]
    NoPeriod,
    /// Nothing in it is a round-trip time.
    #[error(
        "no round-trip time in it: expected {expected}; check that the right file is named and that any probe was answered"
    )]
    NoRoundTrip {
        /// Content of a recording of this kind.
        expected: &'static str,
    },
}

struct At(Option<u64>);

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |line| write!(f, ", line {line}"))
    }
}

/// The recording as it is read: what [`TraceError`]s have to say about where they come from.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    name: &'a str,
}

impl<'a> Source<'a> {
    fn new(name: &'a str) -> Self {
        Self { name }
    }

    fn error(self, line: Option<u64>, problem: TraceProblem) -> TraceError {
        TraceError {
            source_name: self.name.to_owned(),
            line,
            problem,
        }
    }

    fn malformed(
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

    /// All of `reader`, but never more than [`MAX_BYTES`].
    fn read_all(self, reader: impl Read) -> Result<Vec<u8>, TraceError> {
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
fn lines(bytes: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    (1..).zip(bytes.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii))
}

/// Most bytes of an offending text that an error shows.
const SHOWN_BYTES: usize = 40;

/// `text` in quotes, cut to what fits on a terminal, with unprintable bytes escaped.
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

#[cfg(test)]
mod tests;
