//! The modes in which IEEE 802.11 b, g and a send: a modulation and a rate.

use airtcp_units::BitRate;

/// How bits become a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Modulation {
    /// Direct sequence spread spectrum and complementary code keying: IEEE 802.11-2016 §15 and §16.
    Dsss,
    /// Orthogonal frequency division multiplexing: IEEE 802.11-2016 §17 (5 GHz) and §18 (2.4 GHz).
    Ofdm,
}

/// A mode: slowest first within a modulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// DBPSK with an 11-chip Barker code, 1 Mbit/s.
    Dsss1,
    /// DQPSK with an 11-chip Barker code, 2 Mbit/s.
    Dsss2,
    /// CCK, 5.5 Mbit/s.
    Cck5_5,
    /// CCK, 11 Mbit/s.
    Cck11,
    /// BPSK, rate 1/2.
    Ofdm6,
    /// BPSK, rate 3/4.
    Ofdm9,
    /// QPSK, rate 1/2.
    Ofdm12,
    /// QPSK, rate 3/4.
    Ofdm18,
    /// 16-QAM, rate 1/2.
    Ofdm24,
    /// 16-QAM, rate 3/4.
    Ofdm36,
    /// 64-QAM, rate 2/3.
    Ofdm48,
    /// 64-QAM, rate 3/4.
    Ofdm54,
}

impl Mode {
    /// All modes of 802.11b.
    pub const DSSS: [Self; 4] = [Self::Dsss1, Self::Dsss2, Self::Cck5_5, Self::Cck11];
    /// All modes of 802.11a, and those that 802.11g adds.
    pub const OFDM: [Self; 8] = [
        Self::Ofdm6,
        Self::Ofdm9,
        Self::Ofdm12,
        Self::Ofdm18,
        Self::Ofdm24,
        Self::Ofdm36,
        Self::Ofdm48,
        Self::Ofdm54,
    ];

    /// How fast it sends the bits of a frame.
    #[must_use]
    pub const fn bit_rate(self) -> BitRate {
        BitRate::from_bps(match self {
            Self::Dsss1 => 1_000_000,
            Self::Dsss2 => 2_000_000,
            Self::Cck5_5 => 5_500_000,
            Self::Cck11 => 11_000_000,
            Self::Ofdm6 => 6_000_000,
            Self::Ofdm9 => 9_000_000,
            Self::Ofdm12 => 12_000_000,
            Self::Ofdm18 => 18_000_000,
            Self::Ofdm24 => 24_000_000,
            Self::Ofdm36 => 36_000_000,
            Self::Ofdm48 => 48_000_000,
            Self::Ofdm54 => 54_000_000,
        })
    }

    /// How it makes a signal of them.
    #[must_use]
    pub const fn modulation(self) -> Modulation {
        match self {
            Self::Dsss1 | Self::Dsss2 | Self::Cck5_5 | Self::Cck11 => Modulation::Dsss,
            _ => Modulation::Ofdm,
        }
    }

    /// The mode with this rate among those of `modulation`.
    #[must_use]
    pub fn with_rate(modulation: Modulation, rate: BitRate) -> Option<Self> {
        let modes: &[Self] = match modulation {
            Modulation::Dsss => &Self::DSSS,
            Modulation::Ofdm => &Self::OFDM,
        };
        modes.iter().copied().find(|mode| mode.bit_rate() == rate)
    }
}
