//! The modes in which IEEE 802.11 b, g and a send: a signal and a rate. A mode is one row of
//! [the table](Mode::ALL).

use airtcp_units::BitRate;

/// Modulation of bits into a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Modulation {
    /// Direct sequence spread spectrum and complementary code keying: IEEE 802.11-2016 §15 and §16.
    Dsss,
    /// Orthogonal frequency division multiplexing: IEEE 802.11-2016 §17 (5 GHz) and §18 (2.4 GHz).
    Ofdm,
}

/// A signal, as far as noise is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    /// Differential BPSK with an 11-chip Barker code.
    Dbpsk,
    /// Differential QPSK with an 11-chip Barker code.
    Dqpsk,
    /// Complementary code keying: this number of symbols of 16 side by side.
    Cck { symbols: u8 },
    /// OFDM with a constellation on each subcarrier, and a convolutional code.
    Ofdm(Constellation, CodeRate),
}

/// A constellation of an OFDM subcarrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Constellation {
    Bpsk,
    Qpsk,
    Qam16,
    Qam64,
}

/// The share of the coded bits that is information.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CodeRate {
    Half,
    TwoThirds,
    ThreeQuarters,
}

/// A row of the table of modes.
#[derive(Clone, Copy, Debug)]
struct Row {
    bits_per_second: u64,
    signal: Signal,
}

/// Declares each mode once: its name, its rate in kbit/s, its signal.
macro_rules! modes {
    ($($(#[$doc:meta])* $Name:ident: $kilobits:literal, $signal:expr;)+) => {
        /// A mode: slowest first within a modulation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Mode {
            $($(#[$doc])* $Name,)+
        }

        impl Mode {
            /// All modes, in the order of their declaration.
            pub const ALL: &[Self] = &[$(Self::$Name),+];

            const fn row(self) -> Row {
                match self {
                    $(Self::$Name => Row { bits_per_second: $kilobits * 1000, signal: $signal },)+
                }
            }
        }
    };
}

use CodeRate::{Half, ThreeQuarters, TwoThirds};
use Constellation::{Bpsk, Qam16, Qam64, Qpsk};
use Signal::{Cck, Dbpsk, Dqpsk, Ofdm};

modes! {
    /// DBPSK with an 11-chip Barker code, 1 Mbit/s.
    Dsss1: 1_000, Dbpsk;
    /// DQPSK with an 11-chip Barker code, 2 Mbit/s.
    Dsss2: 2_000, Dqpsk;
    /// CCK, 5.5 Mbit/s.
    Cck5_5: 5_500, Cck { symbols: 1 };
    /// CCK, 11 Mbit/s.
    Cck11: 11_000, Cck { symbols: 2 };
    /// BPSK, rate 1/2.
    Ofdm6: 6_000, Ofdm(Bpsk, Half);
    /// BPSK, rate 3/4.
    Ofdm9: 9_000, Ofdm(Bpsk, ThreeQuarters);
    /// QPSK, rate 1/2.
    Ofdm12: 12_000, Ofdm(Qpsk, Half);
    /// QPSK, rate 3/4.
    Ofdm18: 18_000, Ofdm(Qpsk, ThreeQuarters);
    /// 16-QAM, rate 1/2.
    Ofdm24: 24_000, Ofdm(Qam16, Half);
    /// 16-QAM, rate 3/4.
    Ofdm36: 36_000, Ofdm(Qam16, ThreeQuarters);
    /// 64-QAM, rate 2/3.
    Ofdm48: 48_000, Ofdm(Qam64, TwoThirds);
    /// 64-QAM, rate 3/4.
    Ofdm54: 54_000, Ofdm(Qam64, ThreeQuarters);
}

impl Mode {
    /// Rate of a frame's bits.
    #[must_use]
    pub const fn bit_rate(self) -> BitRate {
        BitRate::from_bps(self.row().bits_per_second)
    }

    /// Its modulation.
    #[must_use]
    pub const fn modulation(self) -> Modulation {
        match self.signal() {
            Signal::Dbpsk | Signal::Dqpsk | Signal::Cck { .. } => Modulation::Dsss,
            Signal::Ofdm(..) => Modulation::Ofdm,
        }
    }

    /// The modes of a modulation, slowest first.
    pub fn of(modulation: Modulation) -> impl Iterator<Item = Self> {
        let is_one = move |mode: &Self| mode.modulation() == modulation;
        Self::ALL.iter().copied().filter(is_one)
    }

    /// The mode with this rate among those of `modulation`.
    #[must_use]
    pub fn with_rate(modulation: Modulation, rate: BitRate) -> Option<Self> {
        Self::of(modulation).find(|mode| mode.bit_rate() == rate)
    }

    pub(super) const fn signal(self) -> Signal {
        self.row().signal
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// IEEE 802.11-2016 table 17-4: a symbol of 4 µs has 48 subcarriers of 1, 2, 4 or 6 coded bits,
    /// of which the code leaves its rate.
    #[test]
    fn rates_of_ofdm_follow_from_the_signal() {
        for mode in Mode::of(Modulation::Ofdm) {
            let Signal::Ofdm(constellation, code) = mode.signal() else {
                panic!("{mode:?}");
            };
            let coded = 48
                * match constellation {
                    Bpsk => 1,
                    Qpsk => 2,
                    Qam16 => 4,
                    Qam64 => 6,
                };
            let bits = match code {
                Half => coded / 2,
                TwoThirds => coded * 2 / 3,
                ThreeQuarters => coded * 3 / 4,
            };
            assert_eq!(mode.bit_rate().as_bps(), bits * 250_000, "{mode:?}");
        }
        assert_eq!(Mode::of(Modulation::Ofdm).count(), 8);
        assert_eq!(Mode::of(Modulation::Dsss).count(), 4);
        assert!(Mode::of(Modulation::Ofdm).is_sorted_by_key(Mode::bit_rate));
    }
}
