//! The standards, each a row of one table, and the bands they are used in.

use airtcp_units::BitRate;

use super::family::Family;
use super::mode::Mode;

/// A standard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standard {
    /// 2.4 GHz, direct sequence (IEEE 802.11-2020 §16).
    #[default]
    B,
    /// 2.4 GHz, OFDM (§18), in a network without older stations.
    G,
    /// 5 GHz, OFDM (§17).
    A,
    /// 2.4 or 5 GHz, high throughput (§19).
    N,
    /// 5 GHz, very high throughput (§21).
    Ac,
    /// 2.4 or 5 GHz (6 GHz is as 5), high efficiency (802.11ax-2021 §27).
    Ax,
}

/// A frequency band.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Band {
    /// 2.4 GHz.
    Ghz2_4,
    /// 5 GHz; 6 GHz has the same times.
    Ghz5,
}

/// A row of the table of standards.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    name: &'static str,
    pub family: Family,
    /// Bands it is used in, the usual one first.
    pub bands: &'static [Band],
    /// The lowest of the modes that every station understands.
    pub lowest: Mode,
    /// The fastest of the modes that are defined by a rate only.
    fastest: Mode,
}

impl Standard {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::B, Self::G, Self::A, Self::N, Self::Ac, Self::Ax];

    pub(super) const fn row(self) -> Row {
        let ofdm = Row {
            name: "802.11a",
            family: Family::Ofdm,
            bands: &[Band::Ghz5],
            lowest: Mode::OFDM_6,
            fastest: Mode::OFDM_54,
        };
        match self {
            Self::B => Row {
                name: "802.11b",
                family: Family::Dsss,
                bands: &[Band::Ghz2_4],
                lowest: Mode::DSSS_1,
                fastest: Mode::CCK_11,
            },
            Self::G => Row {
                name: "802.11g",
                bands: &[Band::Ghz2_4],
                ..ofdm
            },
            Self::A => ofdm,
            Self::N => Row {
                name: "802.11n",
                family: Family::Ht,
                bands: &[Band::Ghz5, Band::Ghz2_4],
                ..ofdm
            },
            Self::Ac => Row {
                name: "802.11ac",
                family: Family::Vht,
                ..ofdm
            },
            Self::Ax => Row {
                name: "802.11ax",
                family: Family::He,
                bands: &[Band::Ghz5, Band::Ghz2_4],
                ..ofdm
            },
        }
    }

    /// The name as users write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The family of its data frames.
    #[must_use]
    pub const fn family(self) -> Family {
        self.row().family
    }

    /// The bands it is used in, the usual one first.
    #[must_use]
    pub const fn bands(self) -> &'static [Band] {
        self.row().bands
    }

    /// Its modes by rate, slowest first; empty for 802.11n, ac and ax.
    pub fn modes(self) -> impl Iterator<Item = Mode> {
        Mode::of(self.family())
    }

    /// The fastest rate and the lowest that every station understands, of the modes that are
    /// defined by a rate only: with 802.11n, ac and ax the rates of its control frames.
    #[must_use]
    pub fn usual_rates(self) -> (BitRate, BitRate) {
        let row = self.row();
        (row.fastest.bit_rate(), row.lowest.bit_rate())
    }

    /// The carrier of a common channel in its usual band; see [`Band::carrier_mhz`].
    #[must_use]
    pub const fn carrier_mhz(self) -> f64 {
        self.row().bands[0].carrier_mhz()
    }
}

impl Band {
    /// The carrier of a common channel, in MHz: channel 6 at 2.4 GHz, 36 at 5 GHz.
    #[must_use]
    pub const fn carrier_mhz(self) -> f64 {
        match self {
            Self::Ghz2_4 => 2_437.0,
            Self::Ghz5 => 5_180.0,
        }
    }
}
