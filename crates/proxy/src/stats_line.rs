//! The line printed once a second with `--stats`.

use std::time::{Duration, Instant};

use crate::counters::Counters;

/// Interval between lines.
const INTERVAL: Duration = Duration::from_secs(1);

/// The time of the last line, and its counters.
#[derive(Debug)]
pub struct StatsLine {
    last: Option<(Counters, Instant)>,
}

impl StatsLine {
    /// Schedules a line every second, if `is_asked`.
    pub fn new(is_asked: bool) -> Self {
        Self {
            last: is_asked.then(|| (Counters::default(), Instant::now())),
        }
    }

    /// Time until the next line, if there will be one.
    pub fn due_in(&self) -> Option<Duration> {
        let (_, at) = self.last.as_ref()?;
        Some(INTERVAL.saturating_sub(at.elapsed()))
    }

    /// Prints the current state, and the progress since the previous line.
    pub fn show(&mut self, now: Counters) {
        if let Some((before, at)) = &mut self.last {
            eprintln!("{}", now.line(before, at.elapsed().as_secs_f64()));
            (*before, *at) = (now, Instant::now());
        }
    }
}
