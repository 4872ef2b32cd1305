//! Configuration of a basic service set.

use airtcp_units::Duration;

use crate::frame::RetryLimit;
use crate::mac::damage::DamageConfig;
use crate::mac::own_retry_limits::StationRetryLimits;
use crate::mac::stations::{MAX_STATIONS, in_turn};
use crate::phy::{Mode, Phy};
use crate::queue::QueueLimit;
use crate::scheduler::RetransmissionOrder;

/// Bytes of the MAC header and the FCS of every data frame (IEEE 802.11-2016 §9.2.3).
pub const MAC_BYTES: u32 = 28;
/// Bytes of LLC and SNAP in front of an IP packet (RFC 1042).
pub const LLC_BYTES: u32 = 8;
/// The smallest fragmentation threshold (§C.3, `dot11FragmentationThreshold`).
const MIN_FRAGMENT: u32 = 256;

/// Configuration of a single station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StationConfig {
    /// The queue.
    pub queue: QueueLimit,
    /// The order in which failed frames are retransmitted.
    pub order: RetransmissionOrder,
    /// Maximum number of transmissions of a frame up to the RTS threshold, and of an RTS. A
    /// retransmission order by deadline replaces this by its limit.
    pub short_retry_limit: RetryLimit,
    /// Maximum number of transmissions of a frame above the RTS threshold.
    pub long_retry_limit: RetryLimit,
}

/// Configuration of a basic service set.
#[derive(Clone, Debug)]
pub struct BssConfig {
    /// The physical layer.
    pub phy: Phy,
    /// The modes of data frames to and from the mobiles, used cyclically; empty if all have the
    /// mode of `phy`.
    pub station_modes: Vec<Mode>,
    /// Mobile stations; they are numbered from 1, the access point is 0.
    pub stations: u32,
    /// The mobiles.
    pub mobile: StationConfig,
    /// The access point.
    pub access_point: StationConfig,
    /// Retry limits of single mobiles, in place of both limits of the sender.
    pub station_retry_limits: StationRetryLimits,
    /// Larger frames are preceded by RTS and CTS, MAC header and FCS counted; `None` for never.
    pub rts_threshold: Option<u32>,
    /// Larger frames are cut, MAC header and FCS counted; `None` for never.
    pub fragmentation_threshold: Option<u32>,
    /// Smallest and largest contention window in slots; by the standard when left out.
    pub contention_window: Option<(u32, u32)>,
    /// Time that a sender waits for an ACK or CTS; by the standard when left out.
    pub answer_timeout: Option<Duration>,
    /// Overhead of MAC and LLC on an IP packet: 36 bytes by the standards.
    pub overhead: u32,
    /// Errors that damage frames.
    pub damage: DamageConfig,
    /// Whether every failed attempt is reported.
    pub report_retries: bool,
}

/// An invalid configuration of a basic service set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BssError {
    /// Not a power of two minus one.
    #[error(
        "a contention window of {0} slots; expected 2^k - 1, such as 15, 31 or 1023 \
         (IEEE 802.11-2016 §10.3.3)"
    )]
    ContentionWindow(u32),
    /// The smallest is above the largest.
    #[error("the smallest contention window, {0} slots, is above the largest, {1}")]
    ContentionWindows(u32, u32),
    /// The station count is out of range.
    #[error("{0} stations; expected 1 to {MAX_STATIONS}")]
    Stations(u32),
    /// Fragments are too small.
    #[error("a fragmentation threshold of {0} bytes; expected at least {MIN_FRAGMENT}")]
    Fragmentation(u32),
    /// More rates than stations.
    #[error("{rates} rates, and {stations} stations; expected a rate for each at most")]
    StationRates {
        /// Rates given.
        rates: usize,
        /// Number of stations.
        stations: u32,
    },
}

impl BssConfig {
    /// The mode of data frames to and from a mobile.
    #[inline]
    #[must_use]
    pub fn data_mode(&self, mobile: u32) -> Mode {
        let own = in_turn(&self.station_modes, mobile);
        own.copied().unwrap_or_else(|| self.phy.data_mode())
    }

    /// The contention windows.
    pub(super) fn windows(&self) -> (u32, u32) {
        self.contention_window
            .unwrap_or_else(|| self.phy.contention_window())
    }

    /// Validates the configuration.
    ///
    /// # Errors
    /// See [`BssError`].
    pub fn check(&self) -> Result<(), BssError> {
        let (smallest, largest) = self.windows();
        for window in [smallest, largest] {
            if !window.wrapping_add(1).is_power_of_two() {
                return Err(BssError::ContentionWindow(window));
            }
        }
        if smallest > largest {
            return Err(BssError::ContentionWindows(smallest, largest));
        }
        if !(1..=MAX_STATIONS).contains(&self.stations) {
            return Err(BssError::Stations(self.stations));
        }
        if self.station_modes.len() > self.stations as usize {
            return Err(BssError::StationRates {
                rates: self.station_modes.len(),
                stations: self.stations,
            });
        }
        match self.fragmentation_threshold {
            Some(bytes) if bytes < MIN_FRAGMENT => Err(BssError::Fragmentation(bytes)),
            _ => Ok(()),
        }
    }
}
