//! The registry: one row a format, one file a format.

mod csv;
mod flent;
mod fping;
mod fping_json;
mod iperf3;
mod irtt;
mod irtt_json;
mod json;
mod mahimahi;
mod milliseconds;
mod mtr;
mod nping;
mod ping;
mod routeros;
mod stamp;
mod tcpdump_text;

use crate::fault::{TraceError, TraceProblem};
use crate::probes::ProbeLog;
use crate::source::{Source, lines};

/// A kind of fact about a link that a recording may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fact {
    /// When each probe was sent, by the file itself or by numbers and an interval.
    SendingTimes,
    /// Round trips of probes.
    RoundTrips,
    /// Probes without an answer.
    UnansweredProbes,
    /// The rate of a link or of a transfer over it, without round trips.
    Rate,
}

/// Contents of a recording. Each part is present if the file has it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recording {
    /// The name of the format, as in [`FORMATS`].
    pub format: &'static str,
    /// Probes of the link, such as a ping's.
    pub probes: Option<ProbeLog>,
}

impl Recording {
    /// A recording with probes only.
    #[must_use]
    pub const fn of_probes(format: &'static str, probes: ProbeLog) -> Self {
        Self {
            format,
            probes: Some(probes),
        }
    }
}

/// A format of recordings.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// A short name: `ping`, `csv`.
    pub name: &'static str,
    /// Description of its files, as a noun phrase for errors and documents.
    pub title: &'static str,
    /// Facts that such a file can hold about the link.
    pub knows: &'static [Fact],
    /// Whether a file is of this format, by its beginning; it is not empty.
    pub sniff: fn(&[u8]) -> bool,
    /// Reads a file that `sniff` recognized.
    pub read: fn(&[u8], Source<'_>) -> Result<Recording, TraceError>,
}

/// All formats, in the order in which they are asked; the first that recognizes a file reads it.
pub const FORMATS: [Format; 13] = [
    flent::FORMAT,
    irtt_json::FORMAT,
    iperf3::FORMAT,
    mtr::FORMAT,
    fping_json::FORMAT,
    mahimahi::FORMAT,
    csv::FORMAT,
    irtt::FORMAT,
    nping::FORMAT,
    routeros::FORMAT,
    tcpdump_text::FORMAT,
    fping::FORMAT,
    ping::FORMAT,
];

/// Formats expected of a recording, for errors.
const EXPECTED: &str = "the output of \"ping\" or \"ping -D\", CSV with a column rtt_ms (or rtt, \
                        time_ms), or one number of milliseconds a line";

/// The format of `bytes`, decoded text; None where no format recognizes them.
#[must_use]
pub fn sniffed(bytes: &[u8]) -> Option<&'static Format> {
    FORMATS.iter().find(|format| (format.sniff)(bytes))
}

/// Reads decoded bytes in the format that recognizes them.
pub(crate) fn read(bytes: &[u8], source: Source<'_>) -> Result<Recording, TraceError> {
    if first_line(bytes).is_none() {
        return Err(source.error(None, TraceProblem::Empty { expected: EXPECTED }));
    }
    // A file in no known format is read as the most tolerant one, which names the line.
    let format = sniffed(bytes).unwrap_or(&ping::FORMAT);
    (format.read)(bytes, source)
}

/// The first line that is not blank.
fn first_line(bytes: &[u8]) -> Option<&[u8]> {
    lines(bytes)
        .find(|(_, text)| !text.is_empty())
        .map(|(_, text)| text)
}
