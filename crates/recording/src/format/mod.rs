//! The registry: one row a format, one file a format.

mod cake_autorate;
mod cellreplay;
mod cisco;
mod csv;
mod elsewhere;
mod fact;
mod flent;
mod fping;
mod fping_json;
mod goresponsiveness;
mod iperf2;
mod iperf3;
mod irtt;
mod irtt_json;
mod irtt_probes;
mod json;
mod lens;
mod mahimahi;
mod milliseconds;
mod mm_link;
mod mtr;
mod network_quality;
mod nping;
mod ookla;
mod ping;
mod powershell;
mod psping;
mod rate_unit;
mod rate_words;
mod routeros;
mod speed_test;
mod speed_words;
mod stamp;
mod table;
mod tc;
mod tcpdump_text;
mod throughput;

use crate::fault::{TraceError, TraceProblem};
use crate::recording::Recording;
use crate::source::{Source, lines};
pub use cellreplay::HEAVY_BYTES;
pub use fact::Fact;
use rate_words::in_words;

/// A format of recordings.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// A short name: `ping`, `csv`.
    pub name: &'static str,
    /// Description of its files, as a noun phrase for errors and documents.
    pub title: &'static str,
    /// Facts that such a file can hold about the link.
    pub knows: &'static [Fact],
    /// Whether the beginning of a file, cut at a line's end, is a file of it.
    pub by_lines: bool,
    /// Whether a file is of this format, by its beginning; it is not empty.
    pub sniff: fn(&[u8]) -> bool,
    /// Reads a file that `sniff` recognized.
    pub read: fn(&[u8], Source<'_>) -> Result<Recording, TraceError>,
}

impl Format {
    /// Facts that no file of it holds.
    #[must_use]
    pub fn lacks(&self) -> Vec<Fact> {
        let is_missing = |fact: &Fact| !self.knows.contains(fact);
        Fact::ALL.into_iter().filter(is_missing).collect()
    }
}

/// All formats, in the order in which they are asked; the first that recognizes a file reads it.
pub const FORMATS: &[Format] = &[
    flent::FORMAT,
    irtt_json::FORMAT,
    iperf2::FORMAT,
    iperf3::FORMAT,
    ookla::FORMAT,
    network_quality::FORMAT,
    goresponsiveness::FORMAT,
    speed_words::FAST,
    speed_words::FORMAT,
    mtr::FORMAT,
    fping_json::FORMAT,
    tc::FORMAT,
    tc::TABLE,
    cake_autorate::FORMAT,
    mahimahi::FORMAT,
    mm_link::FORMAT,
    cellreplay::FORMAT,
    powershell::FORMAT,
    psping::FORMAT,
    lens::FORMAT,
    throughput::RACA,
    throughput::FORMAT,
    csv::FORMAT,
    irtt::FORMAT,
    nping::FORMAT,
    cisco::FORMAT,
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
    let format = sniffed(bytes);
    // Many outputs hold lines that resemble a ping's.
    if format.is_none_or(|format| format.name == ping::FORMAT.name)
        && let Some(problem) = elsewhere::fault(bytes)
    {
        return Err(source.error(None, problem));
    }
    if let Some(format) = format {
        return (format.read)(bytes, source);
    }
    // A file in no known format is read as the most tolerant one, which names the line.
    (ping::FORMAT.read)(bytes, source)
}

/// The first line that is not blank.
fn first_line(bytes: &[u8]) -> Option<&[u8]> {
    lines(bytes)
        .find(|(_, text)| !text.is_empty())
        .map(|(_, text)| text)
}
