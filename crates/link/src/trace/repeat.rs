//! A recording that repeats at its end.

use airtcp_units::{Duration, Instant};

use crate::random::Stream;

/// The position in a recording at which a run begins is drawn from this part of the stream that all
/// of a link's recordings share: no flow has so high a number.
const BEGINNING: u64 = u64::MAX - 5;

/// The position in a recording at which a run begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordingStart {
    /// At its beginning: every seed meets the same conditions, as in paper 1.
    Beginning,
    /// At a position drawn from the random stream: each seed meets the recording from another point
    /// on, so that several runs of one recording are a sample.
    Random,
}

/// A recording that repeats after `every`, from the position at which a run began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeat {
    every: Duration,
    start: RecordingStart,
    begin: Duration,
}

impl Repeat {
    /// `None` if `every` is zero.
    #[must_use]
    pub fn new(every: Duration, start: RecordingStart) -> Option<Self> {
        (every > Duration::ZERO).then_some(Self {
            every,
            start,
            begin: Duration::ZERO,
        })
    }

    /// The same in a run with this stream: all recordings with the same stream begin together.
    #[must_use]
    pub fn begun(self, shared: Stream) -> Self {
        let draw = shared.substream(BEGINNING).draw(0);
        let begin = match self.start {
            RecordingStart::Beginning => Duration::ZERO,
            RecordingStart::Random => Duration::from_nanos(draw % self.every.as_nanos()),
        };
        Self { begin, ..self }
    }

    /// Whether runs with other seeds begin elsewhere.
    #[must_use]
    pub fn draws(&self) -> bool {
        self.start == RecordingStart::Random
    }

    /// The position in the recording that a run has reached at `at`.
    pub(super) fn place(&self, at: Instant) -> Instant {
        let since = at.as_nanos().wrapping_add(self.begin.as_nanos());
        Instant::from_nanos(since % self.every.as_nanos())
    }

    /// Time at which a run reaches `place` of round `lap`: its beginning if that was before, and
    /// `None` if no run lasts so long.
    pub(super) fn reached(&self, place: Instant, lap: u64) -> Option<Instant> {
        let at = self.every.as_nanos().checked_mul(lap)?;
        let at = at.checked_add(place.as_nanos())?;
        Some(Instant::from_nanos(
            at.saturating_sub(self.begin.as_nanos()),
        ))
    }

    /// The recording's last instant, excluded.
    pub(super) fn end(&self) -> Instant {
        Instant::ZERO + self.every
    }
}
