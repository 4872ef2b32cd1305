//! The stops of a link as they were recorded: CSV with the columns `start_ms` and `length_ms`.

use super::columns::{Row, read_rows};
use super::repeat::Repeat;
use super::{Source, TraceError};
use airtcp_units::Instant;
use std::io::Read;
use std::sync::Arc;

use crate::random::Stream;

const EXPECTED: &str = "CSV with the columns start_ms and length_ms, a line for each stop";

/// A stop of a link: from `start`, included, to `end`, excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// Its first instant.
    pub start: Instant,
    /// The first instant after it.
    pub end: Instant,
}

/// Stops in the order of their starts, without overlaps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StopList {
    stops: Vec<Stop>,
    repeat: Option<Repeat>,
}

impl StopList {
    /// Reads a list of at most [`super::MAX_BYTES`]; `name` identifies it in errors. An empty list
    /// means a link that never stopped.
    ///
    /// # Errors
    /// Unreadable, too large, missing columns, an invalid time, or overlapping stops.
    pub fn read(reader: impl Read, name: &str) -> Result<Self, TraceError> {
        let bytes = Source::new(name).read_all(reader)?;
        Self::parse(&bytes, name)
    }

    /// Reads a list that is in memory; otherwise as [`Self::read`].
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn parse(bytes: &[u8], name: &str) -> Result<Self, TraceError> {
        let mut stops: Vec<Stop> = Vec::new();
        let take = |row: &Row<'_>| {
            let start = Instant::ZERO + row.milliseconds(0)?.unwrap_or_default();
            let end = start + row.milliseconds(1)?.unwrap_or_default();
            if let Some(before) = stops.last()
                && start < before.end
            {
                let found = format!("{start}, before {}", before.end);
                let remedy = "sort the file by start_ms, or join stops that overlap";
                return Err(row.refuse(
                    &found,
                    "a start no earlier than the end of the stop before",
                    remedy,
                ));
            }
            stops.push(Stop { start, end });
            Ok(())
        };
        let columns: (&[_], &[_]) = (&["start_ms", "length_ms"], &[]);
        read_rows(bytes, columns, EXPECTED, Source::new(name), take)?;
        Ok(Self::new(stops))
    }

    /// Stops in the order of their starts, which must not overlap.
    pub(crate) const fn new(stops: Vec<Stop>) -> Self {
        Self {
            stops,
            repeat: None,
        }
    }

    /// The same, repeated, without stops after `repeat`'s time.
    #[must_use]
    pub fn repeated(&self, repeat: Repeat) -> Self {
        let end = repeat.end();
        let before = self.stops.iter().filter(|stop| stop.start < end);
        let cut = before.map(|stop| Stop {
            end: stop.end.min(end),
            ..*stop
        });
        Self {
            stops: cut.collect(),
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
                stops: self.stops.clone(),
                repeat: Some(repeat.begun(shared)),
            }),
            None => self,
        }
    }

    /// Stop number `number` of a run, from 0 on, with later rounds included; `None` after the last.
    pub(crate) fn met(&self, number: usize) -> Option<Stop> {
        let Some(repeat) = &self.repeat else {
            return self.stops.get(number).copied();
        };
        let lap = number.checked_div(self.stops.len())? as u64;
        let stop = self.stops[number % self.stops.len()];
        Some(Stop {
            start: repeat.reached(stop.start, lap)?,
            end: repeat.reached(stop.end, lap)?,
        })
    }

    /// The list in the format that is read, to the nanosecond.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let milliseconds = |nanos: u64| format!("{}.{:06}", nanos / 1_000_000, nanos % 1_000_000);
        let rows = self.stops.iter().map(|stop| {
            let start = milliseconds(stop.start.as_nanos());
            let length = milliseconds((stop.end - stop.start).as_nanos());
            format!("{start},{length}\n")
        });
        "start_ms,length_ms\n".to_owned() + &rows.collect::<String>()
    }

    /// The stops, in their order.
    #[must_use]
    pub fn as_slice(&self) -> &[Stop] {
        &self.stops
    }
}
