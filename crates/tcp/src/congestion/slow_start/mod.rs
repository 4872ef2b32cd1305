//! Slow start (RFC 5681 §3.1) with a limit on what one acknowledgment adds (RFC 3465 §2.2), and the
//! ways to end it before a loss does.

mod hystart;
mod hystart_plus_plus;

use airtcp_units::{Duration, Instant};

use crate::config;
use hystart::HyStart;
use hystart_plus_plus::HyStartPlusPlus;

/// How many bytes the window grows by for `credit` bytes acknowledged: at most `limit`, and not
/// beyond the `room` left below the slow-start threshold.
#[inline]
pub fn increase(credit: u64, limit: u64, room: u64) -> u64 {
    credit.min(limit).min(room)
}

/// What an acknowledgment in slow start shows.
#[derive(Clone, Copy, Debug)]
pub struct RoundTrip {
    /// When it arrived.
    pub now: Instant,
    /// The round trip it measured.
    pub rtt: Duration,
    /// First byte not acknowledged.
    pub una: u64,
    /// First byte never sent.
    pub nxt: u64,
    /// The window in segments.
    pub cwnd_segments: u64,
    /// Whether segments are paced.
    pub paced: bool,
}

/// How slow start ends, with its state.
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
    /// The way `choice` names.
    pub fn new(choice: config::SlowStart) -> Self {
        match choice {
            config::SlowStart::Standard => Self::Standard,
            config::SlowStart::HyStart => Self::HyStart(Box::default()),
            config::SlowStart::HyStartPlusPlus => Self::HyStartPlusPlus(Box::default()),
        }
    }

    /// Takes a round trip measured in slow start. Returns whether slow start is to end here.
    pub fn on_round_trip(&mut self, round_trip: &RoundTrip) -> bool {
        match self {
            Self::Standard => false,
            Self::HyStart(hystart) => hystart.on_round_trip(round_trip),
            Self::HyStartPlusPlus(hystart) => hystart.on_round_trip(round_trip),
        }
    }

    /// By how much slower than slow start the window grows now (RFC 9406 §4.2, CSS_GROWTH_DIVISOR).
    #[inline]
    pub fn divisor(&self) -> u64 {
        match self {
            Self::HyStartPlusPlus(hystart) => hystart.divisor(),
            _ => 1,
        }
    }

    /// A timeout: the next slow start looks afresh. HyStart++ is for the first only (RFC 9406
    /// §4.3).
    pub fn on_timeout(&mut self) {
        match self {
            Self::HyStart(hystart) => **hystart = HyStart::default(),
            Self::HyStartPlusPlus(_) => *self = Self::Standard,
            Self::Standard => {}
        }
    }
}

#[cfg(test)]
mod tests;
