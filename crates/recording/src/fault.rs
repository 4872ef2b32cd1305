//! Why a recording cannot be used.

use std::fmt;

/// Most bytes that a recording may have: 64 MiB, twelve hours of a saturated LTE link.
pub const MAX_BYTES: u64 = 64 << 20;

/// Reason for refusing a recording. Its text names the file, the line, the text found there, the
/// expectation and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("trace {source_name:?}{}: {problem}", At(*line))]
pub struct TraceError {
    /// The caller's name for the recording: a path, mostly.
    pub source_name: String,
    /// The line, counted from 1; `None` if the whole recording is meant.
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
    /// A line is malformed.
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
    /// It is in a format that is known, and lacks what was looked for.
    #[error("is {what}; {remedy}")]
    OtherKind {
        /// The format, and the facts about a link in the file.
        what: String,
        /// A hint for the user.
        remedy: String,
    },
    /// A compressed file ends early or is damaged.
    #[error("cannot be decompressed ({0}): expected all of gzip's output; copy it again")]
    Compressed(String),
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
