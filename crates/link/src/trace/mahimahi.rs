//! Delivery opportunities in the format of mahimahi's `mm-link`, plain or compressed by gzip.
//!
//! One line an opportunity: the time in whole milliseconds from the start at which one packet of
//! 1500 bytes may cross the link. A time may be repeated, times may not decrease, and the last is
//! the period after which the trace repeats. Other programs count other bytes a line: CellReplay
//! 1400.

use super::{Source, TraceError, TraceProblem, lines};
use std::io::Read;
use std::num::NonZeroU32;

/// A recorded link: when it could have delivered a packet. Never empty, never of period zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MahimahiTrace {
    opportunities_ms: Vec<u32>,
    opportunity: NonZeroU32,
}

const EXPECTED: &str = "one timestamp a line, in whole milliseconds below 2^32 (49 days)";

impl MahimahiTrace {
    /// Bytes of an opportunity of mahimahi's: one packet.
    const PACKET: NonZeroU32 = NonZeroU32::new(1500).expect("not zero");

    /// Reads a trace of at most [`super::MAX_BYTES`]; `name` identifies it in errors.
    ///
    /// Errors: any [`TraceProblem`] except [`TraceProblem::NoRoundTrip`]. Blank lines are
    /// accepted at the end only, as an empty line elsewhere is a sign of a damaged file.
    pub fn read(reader: impl Read, name: &str) -> Result<Self, TraceError> {
        let bytes = Source::new(name).read_all(reader)?;
        Self::parse(&bytes, name)
    }

    /// Reads a trace that is in memory; otherwise as [`Self::read`].
    pub fn parse(bytes: &[u8], name: &str) -> Result<Self, TraceError> {
        let source = Source::new(name);
        let unpacked = source.unpacked(bytes)?;
        let bytes = unpacked.trim_ascii_end();
        if bytes.is_empty() {
            return Err(source.error(None, TraceProblem::Empty { expected: EXPECTED }));
        }
        let mut opportunities_ms = Vec::new();
        let mut before = 0;
        for (line, text) in lines(bytes) {
            let found: u32 = std::str::from_utf8(text)
                .ok()
                .and_then(|text| text.parse().ok())
                .ok_or_else(|| {
                    source.malformed(line, text, EXPECTED, "check that this is an mm-link trace")
                })?;
            if found < before {
                return Err(source.error(Some(line), TraceProblem::Decreasing { found, before }));
            }
            opportunities_ms.push(found);
            before = found;
        }
        if before == 0 {
            return Err(source.error(None, TraceProblem::NoPeriod));
        }
        Ok(Self {
            opportunities_ms,
            opportunity: Self::PACKET,
        })
    }

    /// The same trace with other bytes an opportunity.
    #[must_use]
    pub fn with_opportunity(&self, bytes: NonZeroU32) -> Self {
        Self {
            opportunities_ms: self.opportunities_ms.clone(),
            opportunity: bytes,
        }
    }

    /// Bytes of packets that may cross at an opportunity.
    #[must_use]
    pub const fn opportunity_bytes(&self) -> u32 {
        self.opportunity.get()
    }

    /// The times of the opportunities, in milliseconds from the start, never decreasing.
    pub fn opportunities_ms(&self) -> &[u32] {
        &self.opportunities_ms
    }

    /// Period after which the trace repeats, in milliseconds: its last timestamp, above zero.
    pub fn period_ms(&self) -> u64 {
        self.opportunities_ms.last().copied().map_or(1, u64::from)
    }
}
