//! mtr: reports (`mtr -r`, `--json`, `--csv`, `--xml`, WinMTR's) with losses and means of each hop,
//! and the raw log (`--raw`) with every round trip.
//!
//! A report has no percentiles and no times. Losses at intermediate hops are mostly due to routers
//! that answer seldom: only the last hop counts.

mod hop;
mod raw;
mod report;
mod windows;

use super::json::begins_as_object;
use super::{Fact, Format, Recording};
use crate::fault::TraceError;
use crate::source::{Source, lines};

pub(super) const FORMAT: Format = Format {
    name: "mtr",
    title: "a report of mtr, as text, JSON, CSV or XML, its raw log, or a report of WinMTR",
    knows: &[Fact::RoundTrips, Fact::UnansweredProbes, Fact::Losses],
    by_lines: false,
    sniff,
    read,
};

const SNIFFED_LINES: usize = 10;

fn sniff(bytes: &[u8]) -> bool {
    begins_as_object(bytes, &["report", "mtr"])
        || raw::is_raw(bytes)
        || lines(bytes).take(SNIFFED_LINES).any(|(_, line)| {
            line.starts_with(b"Mtr_Version,")
                || windows::is_heading(line)
                || line.starts_with(b"<MTR SRC=")
                || std::str::from_utf8(line).is_ok_and(report::is_heading)
        })
}

fn read(bytes: &[u8], source: Source<'_>) -> Result<Recording, TraceError> {
    if raw::is_raw(bytes) {
        return raw::recording(bytes, source);
    }
    report::recording(bytes, source)
}
