//! The four access categories and the parameters with which they contend.

use airtcp_units::Duration;

/// An access category, least urgent first (IEEE 802.11-2020 §10.2.3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessCategory {
    /// AC_BK.
    Background,
    /// AC_BE.
    #[default]
    BestEffort,
    /// AC_VI.
    Video,
    /// AC_VO.
    Voice,
}

impl AccessCategory {
    /// All of them, least urgent first.
    pub const ALL: [Self; 4] = [Self::Background, Self::BestEffort, Self::Video, Self::Voice];

    /// The category of packets with this code point, as RFC 8325 §4.3 maps them: telephony to
    /// voice, the other real-time classes to video, lower effort to background, the rest to best
    /// effort.
    #[must_use]
    pub const fn of_dscp(dscp: u8) -> Self {
        match dscp {
            // VA and EF.
            44 | 46 => Self::Voice,
            // CS5; AF4x, CS4; AF3x, CS3.
            40 | 34 | 36 | 38 | 32 | 26 | 28 | 30 | 24 => Self::Video,
            // LE (RFC 8622) and CS1.
            1 | 8 => Self::Background,
            _ => Self::BestEffort,
        }
    }
}

/// How a category contends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessParameters {
    /// Slots of its interframe space after SIFS.
    pub aifsn: u8,
    /// Smallest contention window in slots: 2^k - 1.
    pub smallest_window: u32,
    /// Largest contention window in slots: 2^k - 1.
    pub largest_window: u32,
    /// Maximum duration of a TXOP; zero for one exchange.
    pub txop_limit: Duration,
}

impl AccessParameters {
    /// The usual parameters at a physical layer with these contention windows: AIFSN and windows by
    /// IEEE 802.11-2020 table 9-155, TXOP limits from WMM, as access points announce them (94 and
    /// 47 times 32 µs for OFDM).
    #[must_use]
    pub const fn usual(category: AccessCategory, (smallest, largest): (u32, u32)) -> Self {
        let (aifsn, window, txop) = match category {
            AccessCategory::Background => (7, (smallest, largest), 0),
            AccessCategory::BestEffort => (3, (smallest, largest), 0),
            AccessCategory::Video => (2, (smallest.div_ceil(2) - 1, smallest), 94 * 32),
            AccessCategory::Voice => (
                2,
                (smallest.div_ceil(4) - 1, smallest.div_ceil(2) - 1),
                47 * 32,
            ),
        };
        Self {
            aifsn,
            smallest_window: window.0,
            largest_window: window.1,
            txop_limit: Duration::from_micros(txop),
        }
    }

    /// Smallest and largest contention window.
    pub(super) const fn windows(&self) -> (u32, u32) {
        (self.smallest_window, self.largest_window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table 9-155 at aCWmin = 15 and aCWmax = 1023.
    #[test]
    fn windows_are_those_of_the_table() {
        let rows = AccessCategory::ALL.map(|category| {
            let usual = AccessParameters::usual(category, (15, 1023));
            (usual.aifsn, usual.smallest_window, usual.largest_window)
        });
        assert_eq!(rows, [(7, 15, 1023), (3, 15, 1023), (2, 7, 15), (2, 3, 7)]);
    }
}
