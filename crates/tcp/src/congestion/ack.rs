//! The arguments of a controller at each acknowledgment.

use airtcp_units::{Duration, Instant};

use crate::delivery_rate::RateSample;

/// The kind of repair in progress, as far as it concerns a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repairing {
    /// No repair.
    Nothing,
    /// The repair of a loss found by acknowledgments.
    FastRecovery,
    /// The repair of data that a timeout gave up.
    Timeout,
}

/// An acknowledgment, as a controller sees it.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// Its arrival time.
    pub now: Instant,
    /// Bytes newly acknowledged or SACKed.
    pub delivered: u64,
    /// Delivered bytes that carried a congestion mark, if the peer counts marks (RFC 9768), or a
    /// brake of ABC's.
    pub marked: u64,
    /// Bytes newly presumed lost.
    pub lost: u64,
    /// The round trip of the newest segment that it acknowledges, if known.
    pub rtt: Option<Duration>,
    /// The minimum round trip; zero before the first sample.
    pub minimum_rtt: Duration,
    /// The smoothed round trip; zero before the first sample.
    pub srtt: Duration,
    /// First unacknowledged byte.
    pub una: u64,
    /// First byte never sent.
    pub nxt: u64,
    /// Bytes in flight before this acknowledgment.
    pub in_flight_before: u64,
    /// Bytes that the windows allowed before it but that were held back.
    pub held_back: u64,
    /// Bytes in flight after it.
    pub in_flight: u64,
    /// The earliest time at which pacing lets the next segment leave; never before `now`.
    pub next_departure: Instant,
    /// Total bytes delivered.
    pub delivered_in_all: u64,
    /// Total bytes presumed lost.
    pub lost_in_all: u64,
    /// The measured delivery rate, if any.
    pub rate: Option<RateSample>,
    /// The repair in progress.
    pub repairing: Repairing,
}
