//! A link that serves a burst after a pause otherwise than a saturating flow, as CellReplay replays
//! recordings of cellular networks.
//!
//! W. Sentosa et al., NSDI 2025, section 4: a packet that finds the link idle begins a train, whose
//! bytes take the light opportunities recorded at that time, one after the other; after the last
//! of them packets take the heavy opportunities. The link is idle again when its last packet has
//! arrived, a base delay after its opportunity. Their program releases the first packet after a
//! train by that packet's time of arrival; this follows the text.

use super::opportunities::Opportunities;
use crate::trace::light::{LightTrace, Train};
use crate::trace::mahimahi::MahimahiTrace;
use airtcp_units::{Duration, Instant};
use std::sync::Arc;

/// A link with light and heavy opportunities.
#[derive(Clone, Debug)]
pub(crate) struct LoadDependent {
    light: Arc<LightTrace>,
    heavy: Opportunities,
    /// When the current train began.
    since: Instant,
    phase: Phase,
    /// When the last packet has arrived.
    idle_from: Instant,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    /// In a train: its current opportunity, and the bytes of it that are not taken.
    Light { position: usize, left: u32 },
    /// After its last.
    Heavy,
}

impl LoadDependent {
    pub(super) fn new(heavy: Arc<MahimahiTrace>, light: Arc<LightTrace>) -> Self {
        Self {
            light,
            heavy: Opportunities::new(heavy),
            since: Instant::ZERO,
            phase: Phase::Heavy,
            idle_from: Instant::ZERO,
        }
    }

    pub(super) fn next_start(&mut self, now: Instant) -> Instant {
        if self.idle_from <= now {
            self.since = now;
            self.phase = Phase::at(0);
        }
        match self.phase {
            Phase::Light { .. } => self.next_start_behind(now).max(now),
            Phase::Heavy => self.heavy.next_start(now),
        }
    }

    /// An already queued packet takes the rest of the current opportunity, or else the next; a
    /// heavy one after `start`, from which the packet before it was served.
    pub(super) fn next_start_behind(&mut self, start: Instant) -> Instant {
        if let Phase::Light { left: 0, .. } = self.phase {
            self.advance(start);
        }
        match self.phase {
            Phase::Light { position, .. } => self.due(position),
            Phase::Heavy => self.heavy.next_start_behind(),
        }
    }

    /// Serves from the current opportunity on, not before `start`.
    pub(super) fn serve(&mut self, start: Instant, bytes: u32) -> Instant {
        let mut remaining = bytes;
        let end = loop {
            let Phase::Light { position, left } = &mut self.phase else {
                break self.heavy.serve(remaining);
            };
            if remaining <= *left {
                *left -= remaining;
                let position = *position;
                break self.due(position).max(start);
            }
            remaining -= *left;
            self.advance(start);
        };
        let base = self.train().map_or(Duration::ZERO, |train| train.base);
        self.idle_from = end + base;
        end
    }

    fn train(&self) -> Option<&Train> {
        self.light.train(self.since)
    }

    fn offset(&self, position: usize) -> Option<Duration> {
        self.train()?.offsets.get(position).copied()
    }

    /// Time of an opportunity of the train.
    fn due(&self, position: usize) -> Instant {
        self.since + self.offset(position).unwrap_or_default()
    }

    /// Moves on to the next opportunity of the train, or to the first heavy one after both its last
    /// and `start`.
    fn advance(&mut self, start: Instant) {
        let Phase::Light { position, .. } = self.phase else {
            return;
        };
        if self.offset(position + 1).is_some() {
            self.phase = Phase::at(position + 1);
        } else {
            self.phase = Phase::Heavy;
            let end = self.due(position);
            self.heavy.next_start(end.max(start));
        }
    }
}

impl Phase {
    const fn at(position: usize) -> Self {
        Self::Light {
            position,
            left: LightTrace::OPPORTUNITY_BYTES,
        }
    }
}
