//! Delays and losses of a recorded link, as both changed with time: CSV with the columns `time_ms`,
//! `delay_ms` and `loss`.
//!
//! A row holds from its time until that of the next; the first holds from the start on,
//! and the last for ever.

use super::columns::{Row, read_rows};
use super::repeat::Repeat;
use super::{Source, TraceError, TraceProblem};
use airtcp_units::{Duration, Instant, Probability};
use std::io::Read;
use std::sync::Arc;

use crate::random::Stream;

const EXPECTED: &str = "CSV with the columns time_ms, delay_ms (one way) and loss (0 to 1)";

/// Delay and loss of a link for a while.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition {
    /// Start of its validity.
    pub from: Instant,
    /// Delay of a packet, one way.
    pub delay: Duration,
    /// Chance that a packet is lost.
    pub loss: Probability,
}

/// Delay and loss of a link over time. Never empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Conditions {
    steps: Vec<Condition>,
    repeat: Option<Repeat>,
}

impl Conditions {
    /// Reads a recording of at most [`super::MAX_BYTES`]; `name` identifies it in errors.
    ///
    /// # Errors
    /// Unreadable, too large, empty, no such columns, a value that is out of range, or times that
    /// do not increase.
    pub fn read(reader: impl Read, name: &str) -> Result<Self, TraceError> {
        let bytes = Source::new(name).read_all(reader)?;
        Self::parse(&bytes, name)
    }

    /// Reads a recording that is in memory; otherwise as [`Self::read`].
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn parse(bytes: &[u8], name: &str) -> Result<Self, TraceError> {
        let mut steps: Vec<Condition> = Vec::new();
        let take = |row: &Row<'_>| {
            let from = Instant::ZERO + row.milliseconds(0)?.unwrap_or_default();
            if let Some(before) = steps.last()
                && from <= before.from
            {
                let found = format!("{from} after {}", before.from);
                return Err(row.refuse(&found, "times that increase", "sort the file by time_ms"));
            }
            let loss = row.probability(2)?.unwrap_or_default();
            steps.push(Condition {
                from,
                delay: row.milliseconds(1)?.unwrap_or_default(),
                loss: Probability::new(loss).unwrap_or(Probability::NEVER),
            });
            Ok(())
        };
        let source = Source::new(name);
        let columns: (&[_], &[_]) = (&["time_ms", "delay_ms", "loss"], &[]);
        read_rows(bytes, columns, EXPECTED, source, take)?;
        if steps.is_empty() {
            return Err(source.error(None, TraceProblem::Empty { expected: EXPECTED }));
        }
        Ok(Self {
            steps,
            repeat: None,
        })
    }

    /// The steps, in the order of time.
    #[must_use]
    pub fn as_slice(&self) -> &[Condition] {
        &self.steps
    }

    /// Whether any packet can be lost.
    #[must_use]
    pub fn loses(&self) -> bool {
        self.steps.iter().any(|step| step.loss > Probability::NEVER)
    }

    /// The same, repeated: rows after `repeat`'s time are not used.
    #[must_use]
    pub fn repeated(&self, repeat: Repeat) -> Self {
        Self {
            steps: self.steps.clone(),
            repeat: Some(repeat),
        }
    }

    /// Its repetition, if any.
    #[must_use]
    pub const fn repeat(&self) -> Option<&Repeat> {
        self.repeat.as_ref()
    }

    /// The same in a run with this stream, which a link's recordings share.
    pub(crate) fn begun(self: Arc<Self>, shared: Stream) -> Arc<Self> {
        match self.repeat {
            Some(repeat) => Arc::new(Self {
                steps: self.steps.clone(),
                repeat: Some(repeat.begun(shared)),
            }),
            None => self,
        }
    }

    /// Delay and loss at `at`.
    #[must_use]
    pub fn at(&self, at: Instant) -> &Condition {
        let at = self.repeat.map_or(at, |repeat| repeat.place(at));
        let begun = self.steps.partition_point(|step| step.from <= at);
        &self.steps[begun.saturating_sub(1)]
    }
}
