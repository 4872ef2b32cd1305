//! Slow start (RFC 5681 §3.1) with a limit on the growth per acknowledgment (RFC 3465 §2.2), and
//! the ways to end it before a loss.

use alloc::boxed::Box;

mod hystart;
mod hystart_plus_plus;

use airtcp_units::{Duration, Instant};

use crate::config;
use hystart::HyStart;
use hystart_plus_plus::HyStartPlusPlus;

/// Returns by how many bytes the window grows for `credit` bytes acknowledged: at most `limit`, and
/// no further than the `room` left below the slow-start threshold.
#[inline]
pub fn increase(credit: u64, limit: u64, room: u64) -> u64 {
    credit.min(limit).min(room)
}

/// A round-trip sample taken in slow start.
#[derive(Clone, Copy, Debug)]
pub struct RoundTrip {
    /// Its arrival time.
    pub now: Instant,
    /// The round trip.
    pub rtt: Duration,
    /// First unacknowledged byte.
    pub una: u64,
    /// First byte never sent.
    pub nxt: u64,
    /// The window in segments.
    pub cwnd_segments: u64,
    /// Whether segments are paced.
    pub paced: bool,
}

/// The way slow start ends, with its state.
#[derive(Clone, Debug)]
pub enum SlowStart {
    /// At the threshold.
    Standard,
    /// HyStart.
    HyStart(Box<HyStart>),
    /// HyStart++.
    HyStartPlusPlus(Box<HyStartPlusPlus>),
}

impl SlowStart {
    /// Creates the state for `choice`.
    pub fn new(choice: config::SlowStart) -> Self {
        match choice {
            config::SlowStart::Standard => Self::Standard,
            config::SlowStart::HyStart => Self::HyStart(Box::new(HyStart::new(false))),
            config::SlowStart::HyStart510 => Self::HyStart(Box::new(HyStart::new(true))),
            config::SlowStart::HyStartPlusPlus => Self::HyStartPlusPlus(Box::default()),
        }
    }

    /// Takes a round trip measured in slow start. Returns whether slow start should end here.
    pub fn on_round_trip(&mut self, round_trip: &RoundTrip) -> bool {
        match self {
            Self::Standard => false,
            Self::HyStart(hystart) => hystart.on_round_trip(round_trip),
            Self::HyStartPlusPlus(hystart) => hystart.on_round_trip(round_trip),
        }
    }

    /// The factor by which the window grows more slowly than in slow start (RFC 9406 §4.2,
    /// CSS_GROWTH_DIVISOR).
    #[inline]
    pub fn divisor(&self) -> u64 {
        match self {
            Self::HyStartPlusPlus(hystart) => hystart.divisor(),
            _ => 1,
        }
    }

    /// Resets the state at a timeout. HyStart++ applies only to the first slow start (RFC 9406
    /// §4.3).
    pub fn on_timeout(&mut self) {
        match self {
            Self::HyStart(hystart) => hystart.reset(),
            Self::HyStartPlusPlus(_) => *self = Self::Standard,
            Self::Standard => {}
        }
    }
}

#[cfg(test)]
mod tests;
