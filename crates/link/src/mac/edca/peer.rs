//! Capabilities of the station at the other end: older and newer ones share a channel.

use crate::frame::ACCESS_POINT;
use crate::mac::contention::SlotCount;
use crate::phy::aggregate::HT_AMSDU_IN_AMPDU;
use crate::phy::{Family, Mode};

use super::category::{AccessCategory, AccessParameters};
use super::config::EdcaConfig;

/// Bytes of QoS control, which frames of 802.11b, g and a do not have.
const QOS_CONTROL_BYTES: u32 = 2;
/// Block ACK windows of stations before 802.11ax (IEEE 802.11-2020 §9.4.1.14).
const WINDOW_BEFORE_HE: u16 = 64;

/// Limits of the frames between a mobile and the access point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameLimits {
    /// Maximum number of MPDUs in a PPDU.
    pub mpdus: u16,
    /// The block ACK window; 1 without an agreement, as with 802.11b, g and a.
    pub window: u16,
    /// Maximum bytes of an A-MSDU; 0 if it is not allowed.
    pub amsdu: u32,
    /// Overhead of MAC and LLC on an IP packet.
    pub overhead: u32,
}

impl EdcaConfig {
    /// The family of the frames to and from a mobile.
    pub(super) fn family(&self, mobile: u32) -> Family {
        self.data_mode(mobile).family()
    }

    /// Whether a mobile is of 802.11b, g or a.
    pub(super) fn is_legacy(&self, mobile: u32) -> bool {
        !self.data_mode(mobile).aggregates()
    }

    /// Limits of the frames to and from a mobile.
    pub(super) fn frame_limits(&self, mobile: u32) -> FrameLimits {
        let family = self.family(mobile);
        if self.is_legacy(mobile) {
            return FrameLimits {
                mpdus: 1,
                window: 1,
                amsdu: 0,
                overhead: self.overhead.saturating_sub(QOS_CONTROL_BYTES),
            };
        }
        let is_older = family < self.phy.standard().family();
        let window = match self.block_ack.window {
            window if is_older => window.min(WINDOW_BEFORE_HE),
            window => window,
        };
        let mpdus = self.ampdu.mpdus.min(window);
        FrameLimits {
            mpdus,
            window,
            amsdu: match family {
                Family::Ht if mpdus > 1 => self.ampdu.amsdu.min(HT_AMSDU_IN_AMPDU),
                _ => self.ampdu.amsdu,
            },
            overhead: self.overhead,
        }
    }

    /// The access parameters of a station in a category: for 802.11b, g and a as in DCF, with DIFS,
    /// the windows of its PHY (table 15-5, 17-21), and no TXOP.
    pub(super) fn access_of(
        &self,
        station: u32,
        category: AccessCategory,
    ) -> (AccessParameters, SlotCount) {
        if station == ACCESS_POINT || !self.is_legacy(station) {
            return (self.access[category as usize], SlotCount::AtStart);
        }
        let mut access = AccessParameters::usual(AccessCategory::BestEffort, (15, 1023));
        access.aifsn = 2;
        if self.family(station) == Family::Dsss {
            access.smallest_window = 31;
        }
        (access, SlotCount::AtEnd)
    }

    /// The oldest family among the stations.
    pub(super) fn oldest(&self) -> Family {
        let own = self.phy.data_mode();
        let modes = self.station_modes.iter().copied().chain([own]);
        modes.map(Mode::family).min().unwrap_or(own.family())
    }
}
