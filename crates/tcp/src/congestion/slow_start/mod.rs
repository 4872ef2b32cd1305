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

/// The way slow start ends: at the threshold, unless a search ends it before; boxed, as only some
/// stacks have one.
#[derive(Clone, Debug)]
pub struct SlowStart(Option<Box<Search>>);

/// A search for the end of slow start.
#[derive(Clone, Debug)]
enum Search {
    HyStart(HyStart),
    HyStartPlusPlus(HyStartPlusPlus),
}

impl SlowStart {
    /// Creates the state for `choice`.
    pub fn new(choice: config::SlowStart) -> Self {
        let search = match choice {
            config::SlowStart::Standard => return Self(None),
            config::SlowStart::HyStart => Search::HyStart(HyStart::new(false)),
            config::SlowStart::HyStart510 => Search::HyStart(HyStart::new(true)),
            config::SlowStart::HyStartPlusPlus => {
                Search::HyStartPlusPlus(HyStartPlusPlus::default())
            }
        };
        Self(Some(Box::new(search)))
    }

    /// Whether it ends at the threshold.
    #[inline]
    pub const fn is_standard(&self) -> bool {
        self.0.is_none()
    }

    /// Takes a round trip measured in slow start. Returns whether slow start should end here.
    pub fn on_round_trip(&mut self, round_trip: &RoundTrip) -> bool {
        match self.0.as_deref_mut() {
            None => false,
            Some(Search::HyStart(hystart)) => hystart.on_round_trip(round_trip),
            Some(Search::HyStartPlusPlus(hystart)) => hystart.on_round_trip(round_trip),
        }
    }

    /// The factor by which the window grows more slowly than in slow start (RFC 9406 §4.2,
    /// CSS_GROWTH_DIVISOR).
    #[inline]
    pub fn divisor(&self) -> u64 {
        match self.0.as_deref() {
            Some(Search::HyStartPlusPlus(hystart)) => hystart.divisor(),
            _ => 1,
        }
    }

    /// Resets the state at a timeout. HyStart++ applies only to the first slow start (RFC 9406
    /// §4.3).
    pub fn on_timeout(&mut self) {
        match self.0.as_deref_mut() {
            Some(Search::HyStart(hystart)) => hystart.reset(),
            Some(Search::HyStartPlusPlus(_)) => self.0 = None,
            None => {}
        }
    }
}

#[cfg(test)]
mod tests;
