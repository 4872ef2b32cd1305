//! Sessions of saturated users: one has something to receive for an exponential time, then nothing
//! for another, so that the others' share of the cell changes from second to second.

use airtcp_units::{Duration, Instant};

use crate::random::Stream;

/// Mean times of saturated users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionConfig {
    /// Of a session, in which the user is backlogged.
    pub on: Duration,
    /// Between two sessions.
    pub off: Duration,
}

/// A saturated user's sessions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sessions {
    config: SessionConfig,
    draws: Stream,
    /// Number of draws made.
    drawn: u64,
    /// Whether the current time is one of a session, and its end.
    is_on: bool,
    until: Instant,
}

impl Sessions {
    /// Begins at a random time of an endless sequence: exponential times have no memory.
    pub(super) fn new(config: SessionConfig, draws: Stream) -> Self {
        let (on, off) = (config.on.as_secs_f64(), config.off.as_secs_f64());
        let mut sessions = Self {
            config,
            draws,
            drawn: 1,
            is_on: draws.uniform(0) * (on + off) <= on,
            until: Instant::ZERO,
        };
        sessions.until = Instant::ZERO + sessions.draw();
        sessions
    }

    /// Length of the current time.
    fn draw(&mut self) -> Duration {
        let mean = if self.is_on {
            self.config.on
        } else {
            self.config.off
        };
        let seconds = mean.as_secs_f64() * self.draws.exponential(self.drawn);
        self.drawn += 1;
        Duration::from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }

    /// Whether a session is on at `now`, which never goes back.
    pub(super) fn is_on(&mut self, now: Instant) -> bool {
        while self.until <= now {
            self.is_on = !self.is_on;
            let length = self.draw();
            self.until += length;
        }
        self.is_on
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 20 000 s, and of 2000 users at time zero, 3/8 are in sessions of 3 s with pauses of 5 s;
    /// a session ends each 8 s.
    #[test]
    fn sessions_have_their_means() {
        let config = SessionConfig {
            on: Duration::from_secs(3),
            off: Duration::from_secs(5),
        };
        let mut one = Sessions::new(config, Stream::new(1, "sessions"));
        let (mut on, mut ends, mut before) = (0, 0, false);
        for tenth in 0..200_000_u64 {
            let is_on = one.is_on(Instant::ZERO + Duration::from_millis(100) * tenth);
            on += u64::from(is_on);
            ends += u64::from(before && !is_on);
            before = is_on;
        }
        assert!((on as f64 / 200_000.0 - 0.375).abs() < 0.02, "{on}");
        // Pauses of less than a tenth are not seen.
        assert!((ends as f64 / 2500.0 - 0.97).abs() < 0.04, "{ends}");
        let first = (0..2000).filter(|&user| {
            Sessions::new(config, Stream::new(1, "users").substream(user)).is_on(Instant::ZERO)
        });
        assert!((first.count() as f64 / 2000.0 - 0.375).abs() < 0.033);
    }
}
