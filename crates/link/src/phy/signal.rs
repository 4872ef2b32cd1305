//! The properties of a mode's signal that determine its errors under noise.

/// A signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    /// Differential BPSK with an 11-chip Barker code.
    Dbpsk,
    /// Differential QPSK with an 11-chip Barker code.
    Dqpsk,
    /// Complementary code keying: this number of parallel symbols of 16.
    Cck { symbols: u8 },
    /// OFDM with a constellation on each subcarrier, and a code.
    Ofdm(Constellation, CodeRate),
}

/// A constellation of an OFDM subcarrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Constellation {
    Bpsk,
    Qpsk,
    Qam16,
    Qam64,
    Qam256,
    Qam1024,
}

impl Constellation {
    /// Coded bits of a symbol: `N_BPSCS` of IEEE 802.11-2020 table 19-26.
    pub(super) const fn bits(self) -> u64 {
        match self {
            Self::Bpsk => 1,
            Self::Qpsk => 2,
            Self::Qam16 => 4,
            Self::Qam64 => 6,
            Self::Qam256 => 8,
            Self::Qam1024 => 10,
        }
    }
}

/// The share of the coded bits that is information.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CodeRate {
    Half,
    TwoThirds,
    ThreeQuarters,
    FiveSixths,
}

impl CodeRate {
    /// Numerator and denominator.
    pub(super) const fn fraction(self) -> (u64, u64) {
        match self {
            Self::Half => (1, 2),
            Self::TwoThirds => (2, 3),
            Self::ThreeQuarters => (3, 4),
            Self::FiveSixths => (5, 6),
        }
    }
}

use CodeRate::{FiveSixths, Half, ThreeQuarters, TwoThirds};
use Constellation::{Bpsk, Qam16, Qam64, Qam256, Qam1024, Qpsk};

/// Constellations and code rates by MCS index within a stream: HT has the first 8 of them (IEEE
/// 802.11-2020 table 19-27), VHT the first 10 (table 21-30), HE all (802.11ax-2021 table 27-59).
pub(super) const BY_MCS: [(Constellation, CodeRate); 12] = [
    (Bpsk, Half),
    (Qpsk, Half),
    (Qpsk, ThreeQuarters),
    (Qam16, Half),
    (Qam16, ThreeQuarters),
    (Qam64, TwoThirds),
    (Qam64, ThreeQuarters),
    (Qam64, FiveSixths),
    (Qam256, ThreeQuarters),
    (Qam256, FiveSixths),
    (Qam1024, ThreeQuarters),
    (Qam1024, FiveSixths),
];
