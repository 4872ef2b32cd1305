//! Configuration of a channel on which frames are aggregated.

use airtcp_units::Duration;

use super::category::{AccessCategory, AccessParameters};
use super::protection::Protection;
use super::queueing::QueueingConfig;
use crate::frame::{ACCESS_POINT, RetryLimit};
use crate::mac::damage::DamageConfig;
use crate::mac::dcf::LLC_BYTES;
use crate::mac::own_retry_limits::StationRetryLimits;
use crate::mac::stations::{MAX_STATIONS, in_turn};
use crate::phy::aggregate::QOS_MAC_BYTES;
use crate::phy::{Mode, Phy};
use crate::random::Stream;
use crate::rate_control::{RateControl, RateControlConfig};

/// Bytes of QoS header, LLC, SNAP and FCS around an IP packet.
pub const QOS_OVERHEAD: u32 = QOS_MAC_BYTES + LLC_BYTES;

/// Limits of an A-MPDU, in addition to the PHY family's maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AmpduLimits {
    /// Maximum number of MPDUs: 1 for no aggregation.
    pub mpdus: u16,
    /// Maximum number of bytes.
    pub bytes: u32,
    /// Maximum duration of a PPDU.
    pub time: Duration,
    /// Maximum bytes of an A-MSDU, several packets in one MPDU; 0 for one packet in each.
    pub amsdu: u32,
}

/// Behaviour of sender and receiver of a block ACK agreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockAckConfig {
    /// Numbers from the oldest missing MPDU on that may be outstanding: 64, or 256 with 802.11ax.
    pub window: u16,
    /// Maximum time for which a receiver holds packets after a missing one. Linux gives up after
    /// 100 ms (net/mac80211/rx.c, `HT_RX_REORDER_BUF_TIMEOUT`).
    pub reorder_timeout: Duration,
    /// After a block ACK that was not received, a collision included, its sender requests it in a
    /// separate contention; otherwise all MPDUs are retransmitted.
    pub requests: bool,
    /// A receiver delivers each MPDU at its last bit; otherwise all at the PPDU's.
    pub hands_on_each: bool,
}

/// Configuration of the channel.
#[derive(Clone, Debug)]
pub struct EdcaConfig {
    /// The physical layer.
    pub phy: Phy,
    /// The modes of data frames to and from the mobiles, used cyclically; empty if all have the
    /// mode of `phy`. A mode of an older standard makes a mobile one of that standard.
    pub station_modes: Vec<Mode>,
    /// The rate control of these modes, for mobiles cyclically; empty for fixed modes.
    pub rate_control: Vec<RateControlConfig>,
    /// Mobile stations; they are numbered from 1, the access point is 0.
    pub stations: u32,
    /// The access category of each flow, used cyclically; at least one.
    pub categories: Vec<AccessCategory>,
    /// How each category contends, by [`AccessCategory::ALL`].
    pub access: [AccessParameters; 4],
    /// Maximum number of transmissions of a mobile's MPDU.
    pub mobile_retry_limit: RetryLimit,
    /// Maximum number of transmissions of an MPDU of the access point.
    pub access_point_retry_limit: RetryLimit,
    /// Retry limits of single mobiles, in place of these.
    pub station_retry_limits: StationRetryLimits,
    /// Limits of an A-MPDU.
    pub ampdu: AmpduLimits,
    /// Block ACK agreements.
    pub block_ack: BlockAckConfig,
    /// Larger PSDUs are preceded by RTS and CTS; `None` for never.
    pub rts_threshold: Option<u32>,
    /// Protection of frames that the oldest stations do not understand; `None` for no protection.
    pub protection: Option<Protection>,
    /// Whether a collision is sensed only as energy, after which stations wait for AIFS; otherwise
    /// as a frame that is not understood, after which they wait for EIFS (IEEE 802.11-2020
    /// §10.3.2.3.7).
    pub collisions_are_energy: bool,
    /// Time that a sender waits for an answer; by the standard when left out.
    pub answer_timeout: Option<Duration>,
    /// Overhead of MAC and LLC on an IP packet: 38 bytes by the standards.
    pub overhead: u32,
    /// The queues of each mobile.
    pub mobile: QueueingConfig,
    /// The queues of the access point.
    pub access_point: QueueingConfig,
    /// Errors that damage frames.
    pub damage: DamageConfig,
    /// Whether every failed attempt is reported.
    pub report_retries: bool,
}

/// An invalid configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EdcaError {
    /// Not a power of two minus one, or the smallest above the largest.
    #[error(
        "contention windows of {0} to {1} slots; expected 2^k - 1, such as 15 and 1023, the \
         smaller first (IEEE 802.11-2020 §10.3.3)"
    )]
    ContentionWindow(u32, u32),
    /// The station count is out of range.
    #[error("{0} stations; expected 1 to {MAX_STATIONS}")]
    Stations(u32),
    /// More modes than stations.
    #[error("{modes} modes, and {stations} stations; expected a mode for each at most")]
    StationModes {
        /// Modes given.
        modes: usize,
        /// Number of stations.
        stations: u32,
    },
    /// Rate control chooses among modes of 802.11n, ac and ax.
    #[error("a mode of {0} does not aggregate; choose one of 802.11n, ac or ax")]
    Mode(crate::phy::Family),
    /// No category.
    #[error("no access category; expected one at least")]
    Categories,
    /// A rate control without a mode.
    #[error("a rate control without a mode; expected one at least")]
    NoModes,
    /// The block ACK window is out of range.
    #[error("a block ACK window of {0}; expected 1 to 256")]
    Window(u16),
}

impl EdcaConfig {
    /// The mode of data frames to and from a mobile.
    #[inline]
    #[must_use]
    pub fn data_mode(&self, mobile: u32) -> Mode {
        let own = in_turn(&self.station_modes, mobile);
        own.copied().unwrap_or_else(|| self.phy.data_mode())
    }

    /// The rate control of one direction to or from a mobile, of a validated configuration.
    pub(super) fn rate_control(&self, mobile: u32, stream: Stream) -> RateControl {
        in_turn(&self.rate_control, mobile)
            .and_then(|config| RateControl::new(config, stream))
            .unwrap_or_else(|| RateControl::Fixed(self.data_mode(mobile)))
    }

    /// The retry limit of a station, with which its count of failed exchanges is compared (QSRC,
    /// IEEE 802.11-2020 §10.23.2.12): an access point counts exchanges with all mobiles together.
    pub(super) fn retry_limit(&self, station: u32) -> RetryLimit {
        if station == ACCESS_POINT {
            self.access_point_retry_limit
        } else {
            let own = self.station_retry_limits.from_mobile.of(station);
            own.unwrap_or(self.mobile_retry_limit)
        }
    }

    /// Maximum number of transmissions of an MPDU between these stations.
    pub(super) fn mpdu_limit(&self, from: u32, to: u32) -> RetryLimit {
        let own = self.station_retry_limits.of(from, to);
        own.unwrap_or_else(|| self.retry_limit(from))
    }

    /// Validates the configuration.
    ///
    /// # Errors
    /// See [`EdcaError`].
    pub fn check(&self) -> Result<(), EdcaError> {
        for access in self.access {
            let (smallest, largest) = (access.smallest_window, access.largest_window);
            let is_window = |window: u32| window.wrapping_add(1).is_power_of_two();
            if !is_window(smallest) || !is_window(largest) || smallest > largest {
                return Err(EdcaError::ContentionWindow(smallest, largest));
            }
        }
        if !(1..=MAX_STATIONS).contains(&self.stations) {
            return Err(EdcaError::Stations(self.stations));
        }
        if self.station_modes.len() > self.stations as usize {
            return Err(EdcaError::StationModes {
                modes: self.station_modes.len(),
                stations: self.stations,
            });
        }
        if self.rate_control.iter().any(|own| own.modes().is_empty()) {
            return Err(EdcaError::NoModes);
        }
        let is_adapted = |own: &&RateControlConfig| !matches!(own, RateControlConfig::Fixed(_));
        let adapted = self.rate_control.iter().filter(is_adapted);
        let modes = adapted.flat_map(|own| own.modes()).copied();
        for mode in modes.chain([self.phy.data_mode()]) {
            if !mode.aggregates() {
                return Err(EdcaError::Mode(mode.family()));
            }
        }
        if self.categories.is_empty() {
            return Err(EdcaError::Categories);
        }
        if !(1..=256).contains(&self.block_ack.window) {
            return Err(EdcaError::Window(self.block_ack.window));
        }
        Ok(())
    }
}
