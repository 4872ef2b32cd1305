//! The line of `--stats`, once a second.

use std::time::{Duration, Instant};

use super::counters::Counters;

/// Time between two lines.
const INTERVAL: Duration = Duration::from_secs(1);

/// When the last line was written, and what it told.
#[derive(Debug)]
pub struct Line {
    last: Option<(Counters, Instant)>,
}

impl Line {
    /// A line is due every second from now on, if `is_asked`.
    pub fn new(is_asked: bool) -> Self {
        Self {
            last: is_asked.then(|| (Counters::default(), Instant::now())),
        }
    }

    /// How long it takes until the next line is due, if there is to be one.
    pub fn due_in(&self) -> Option<Duration> {
        let (_, at) = self.last.as_ref()?;
        Some(INTERVAL.saturating_sub(at.elapsed()))
    }

    /// Writes it: what is now, and what has passed since the line before.
    pub fn show(&mut self, now: Counters) {
        if let Some((before, at)) = &mut self.last {
            eprintln!("{}", now.line(before, at.elapsed().as_secs_f64()));
            (*before, *at) = (now, Instant::now());
        }
    }
}
