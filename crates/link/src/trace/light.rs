//! Opportunities of an idle link, as CellReplay records them: a line a train of packets, with the
//! time at which each arrived after the first.
//!
//! W. Sentosa et al., "CellReplay: Towards Accurate Record-and-Replay for Cellular Networks",
//! NSDI 2025. The base delays in the same lines show here only when the link is idle; they are
//! added to packets by the link's delay (`link.recorded`).

use super::{Source, TraceError, TraceProblem};
use airtcp_units::{Duration, Instant};
use std::io::Read;

/// A train of packets that found the link idle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Train {
    /// Time at which it was sent, since the start.
    sent: Duration,
    /// One-way delay of its first packet.
    pub(crate) base: Duration,
    /// Times of its opportunities, since it was sent; the first is 0, and they never decrease.
    pub(crate) offsets: Vec<Duration>,
}

/// The opportunities of a link that was idle. Never empty, never of period zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LightTrace {
    trains: Vec<Train>,
}

const EXPECTED: &str = "CellReplay's trace of delays and light opportunities";

impl LightTrace {
    /// Bytes of an opportunity, the four of a TUN device among them.
    pub const OPPORTUNITY_BYTES: u32 = airtcp_recording::HEAVY_BYTES;

    /// Reads a trace of at most [`super::MAX_BYTES`]; `name` identifies it in errors.
    ///
    /// # Errors
    /// Unreadable, too large, or another format.
    pub fn read(reader: impl Read, name: &str) -> Result<Self, TraceError> {
        let bytes = Source::new(name).read_all(reader)?;
        Self::parse(&bytes, name)
    }

    /// Reads a trace that is in memory; otherwise as [`Self::read`].
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn parse(bytes: &[u8], name: &str) -> Result<Self, TraceError> {
        let recording = airtcp_recording::parse(bytes, name)?;
        let trains = recording.trains.ok_or_else(|| {
            let problem = TraceProblem::OtherKind {
                what: format!("{}, which has no trains of packets", recording.summary),
                remedy: format!("name {EXPECTED}"),
            };
            Source::new(name).error(None, problem)
        })?;
        let trains = trains.trains.into_iter().map(|train| Train {
            sent: train.sent,
            base: train.base,
            offsets: train.offsets,
        });
        Ok(Self {
            trains: trains.collect(),
        })
    }

    /// The train of a packet that finds the link idle at `now`. The trace repeats after the time of
    /// its last line.
    pub(crate) fn train(&self, now: Instant) -> Option<&Train> {
        let period = self.trains.last().map_or(0, |last| last.sent.as_nanos());
        let within = Duration::from_nanos(now.as_nanos() % period.max(1));
        let after = self.trains.partition_point(|train| train.sent <= within);
        // Before the first line the first one holds.
        self.trains.get(after.saturating_sub(1))
    }
}
