//! A recording that starts again at its end.

use airtcp_units::{Duration, Instant};

use crate::random::Stream;

/// The place in a recording at which a run begins is drawn from this part of the stream that all
/// of a link's recordings share: no flow has so high a number.
const BEGINNING: u64 = u64::MAX - 5;

/// Where in a recording a run begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordingStart {
    /// At its beginning: every seed meets the same, as in paper 1.
    Beginning,
    /// At a place drawn from the random stream: each seed meets the recording from another point
    /// on, which is what makes several runs of one recording a sample.
    Random,
}

/// A recording that starts again after `every`, from the place on at which a run began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeat {
    every: Duration,
    start: RecordingStart,
    begin: Duration,
}

impl Repeat {
    /// None where `every` is no time.
    #[must_use]
    pub fn new(every: Duration, start: RecordingStart) -> Option<Self> {
        (every > Duration::ZERO).then_some(Self {
            every,
            start,
            begin: Duration::ZERO,
        })
    }

    /// The same in a run with this stream: all that is given the same one begins together.
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

    /// The place in the recording that a run has reached at `at`.
    pub(super) fn place(&self, at: Instant) -> Instant {
        let since = at.as_nanos().wrapping_add(self.begin.as_nanos());
        Instant::from_nanos(since % self.every.as_nanos())
    }

    /// When a run reaches `place` of round `lap`: its beginning where that was before, and `None`
    /// where no run lasts so long.
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
