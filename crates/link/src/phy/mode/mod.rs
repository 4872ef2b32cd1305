//! The modes of IEEE 802.11: modulation and coding of a frame's bits, and their rate.
//!
//! A mode of 802.11b, g or a is one row of [a table](Mode::LEGACY). A mode of 802.11n, ac and ax is
//! computed from its family, MCS index, channel width, streams and guard interval.

use airtcp_units::{BitRate, Duration};

use super::family::{Family, GuardInterval, Width};
use super::signal::{BY_MCS, CodeRate, Constellation, Signal};

/// Code against errors of an OFDM mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Coding {
    /// The binary convolutional code, which every station has.
    #[default]
    Bcc,
    /// Low-density parity check, an option of HT and VHT.
    Ldpc,
}

/// A mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mode {
    family: Family,
    /// Index in the table, or MCS index within a stream.
    index: u8,
    width: Width,
    streams: u8,
    guard: GuardInterval,
    coding: Coding,
}

/// An invalid combination of a mode's parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModeError {
    /// The family has no such MCS.
    #[error("MCS {index}: {family} has MCS 0 to {last} for each stream")]
    Index {
        /// The index.
        index: u8,
        /// The family.
        family: Family,
        /// Its last MCS.
        last: u8,
    },
    /// The family has no such width.
    #[error("a channel of {} MHz: {family} has {widths}", width.mhz())]
    Width {
        /// The width.
        width: Width,
        /// The family.
        family: Family,
        /// The widths that it has.
        widths: &'static str,
    },
    /// Too many streams, or zero.
    #[error("{0} spatial streams; expected 1 to 4")]
    Streams(u8),
    /// The family has no such guard interval.
    #[error("a guard interval of {} ns: {family} has {guards}", guard.nanos())]
    Guard {
        /// The guard interval.
        guard: GuardInterval,
        /// The family.
        family: Family,
        /// The guard intervals that it has.
        guards: &'static str,
    },
    /// The standard leaves this one out: its bits cannot be shared out among encoders.
    #[error(
        "MCS {index} with {streams} streams at {} MHz is no mode of 802.11ac (IEEE 802.11-2020 \
         §21.5); choose another MCS, width or number of streams",
        width.mhz()
    )]
    LeftOut {
        /// The MCS.
        index: u8,
        /// The streams.
        streams: u8,
        /// The width.
        width: Width,
    },
    /// HE needs LDPC here.
    #[error(
        "HE modes wider than 20 MHz and MCS 10 and 11 need LDPC (IEEE 802.11ax-2021 §27.3.12.5)"
    )]
    Coding,
    /// Direct sequence and the OFDM of 802.11a have rates, no MCS.
    #[error("{0} has rates, no MCS; choose a rate")]
    Legacy(Family),
}

/// A row of the table of modes of 802.11b, g and a.
#[derive(Clone, Copy, Debug)]
struct Row {
    kilobits_per_second: u64,
    signal: Signal,
}

/// Declares each mode of 802.11b, g and a once: its name, its family, its rate in kbit/s, its
/// signal.
macro_rules! legacy_modes {
    ($($(#[$doc:meta])* $NAME:ident: $Family:ident, $kilobits:literal, $signal:expr;)+) => {
        impl Mode {
            $($(#[$doc])* pub const $NAME: Self =
                Self::legacy(Family::$Family, Place::$NAME as u8);)+

            /// The modes of 802.11b, g and a, slowest first within a family.
            pub const LEGACY: &[Self] = &[$(Self::$NAME),+];
        }

        /// A mode's index in the table.
        #[expect(non_camel_case_types, reason = "as the constants")]
        enum Place {
            $($NAME),+
        }

        const ROWS: &[Row] = &[
            $(Row { kilobits_per_second: $kilobits, signal: $signal }),+
        ];
    };
}

use CodeRate::{Half, ThreeQuarters, TwoThirds};
use Constellation::{Bpsk, Qam16, Qam64, Qpsk};
use Signal::{Cck, Dbpsk, Dqpsk, Ofdm};

legacy_modes! {
    /// DBPSK with an 11-chip Barker code, 1 Mbit/s.
    DSSS_1: Dsss, 1_000, Dbpsk;
    /// DQPSK with an 11-chip Barker code, 2 Mbit/s.
    DSSS_2: Dsss, 2_000, Dqpsk;
    /// CCK, 5.5 Mbit/s.
    CCK_5_5: Dsss, 5_500, Cck { symbols: 1 };
    /// CCK, 11 Mbit/s.
    CCK_11: Dsss, 11_000, Cck { symbols: 2 };
    /// BPSK, rate 1/2 (IEEE 802.11-2020 table 17-4).
    OFDM_6: Ofdm, 6_000, Ofdm(Bpsk, Half);
    /// BPSK, rate 3/4.
    OFDM_9: Ofdm, 9_000, Ofdm(Bpsk, ThreeQuarters);
    /// QPSK, rate 1/2.
    OFDM_12: Ofdm, 12_000, Ofdm(Qpsk, Half);
    /// QPSK, rate 3/4.
    OFDM_18: Ofdm, 18_000, Ofdm(Qpsk, ThreeQuarters);
    /// 16-QAM, rate 1/2.
    OFDM_24: Ofdm, 24_000, Ofdm(Qam16, Half);
    /// 16-QAM, rate 3/4.
    OFDM_36: Ofdm, 36_000, Ofdm(Qam16, ThreeQuarters);
    /// 64-QAM, rate 2/3.
    OFDM_48: Ofdm, 48_000, Ofdm(Qam64, TwoThirds);
    /// 64-QAM, rate 3/4.
    OFDM_54: Ofdm, 54_000, Ofdm(Qam64, ThreeQuarters);
}

/// Maximum number of spatial streams in the model.
pub const MAX_STREAMS: u8 = 4;

impl Mode {
    const fn legacy(family: Family, index: u8) -> Self {
        Self {
            family,
            index,
            width: Width::Mhz20,
            streams: 1,
            guard: GuardInterval::Ns800,
            coding: Coding::Bcc,
        }
    }

    /// A mode of 802.11n, ac or ax: HE with LDPC, which all of its stations except 20 MHz-only ones
    /// have, HT and VHT with the convolutional code, which every station has; see
    /// [`Self::with_coding`]. `index` counts within a stream: HT's MCS 8 is index 0 with two
    /// streams.
    ///
    /// # Errors
    /// An invalid combination; see [`ModeError`].
    pub fn new(
        family: Family,
        index: u8,
        width: Width,
        streams: u8,
        guard: GuardInterval,
    ) -> Result<Self, ModeError> {
        let (last, widths, guards): (u8, &[Width], &[GuardInterval]) = match family {
            Family::Dsss | Family::Ofdm => return Err(ModeError::Legacy(family)),
            Family::Ht => (7, &Width::ALL[..2], &GuardInterval::ALL[..2]),
            Family::Vht => (9, &Width::ALL, &GuardInterval::ALL[..2]),
            Family::He => (11, &Width::ALL, &GuardInterval::ALL[1..]),
        };
        if index > last {
            return Err(ModeError::Index {
                index,
                family,
                last,
            });
        }
        if !widths.contains(&width) {
            let widths = "20 and 40 MHz";
            return Err(ModeError::Width {
                width,
                family,
                widths,
            });
        }
        if !(1..=MAX_STREAMS).contains(&streams) {
            return Err(ModeError::Streams(streams));
        }
        if !guards.contains(&guard) {
            let guards = match family {
                Family::He => "800, 1600 and 3200 ns",
                _ => "400 and 800 ns",
            };
            return Err(ModeError::Guard {
                guard,
                family,
                guards,
            });
        }
        let mode = Self {
            family,
            index,
            width,
            streams,
            guard,
            coding: match family {
                Family::He => Coding::Ldpc,
                _ => Coding::Bcc,
            },
        };
        if family == Family::Vht && !mode.fills_encoders() {
            return Err(ModeError::LeftOut {
                index,
                streams,
                width,
            });
        }
        Ok(mode)
    }

    /// The same mode with another code.
    ///
    /// # Errors
    /// HE modes that need LDPC, and modes of 802.11b, g and a, which have one code.
    pub fn with_coding(self, coding: Coding) -> Result<Self, ModeError> {
        match self.family {
            Family::Dsss | Family::Ofdm => Err(ModeError::Legacy(self.family)),
            Family::He
                if coding == Coding::Bcc && (self.width > Width::Mhz20 || self.index > 9) =>
            {
                Err(ModeError::Coding)
            }
            Family::Ht | Family::Vht | Family::He => Ok(Self { coding, ..self }),
        }
    }

    /// Its family.
    #[inline]
    #[must_use]
    pub const fn family(self) -> Family {
        self.family
    }

    /// Its MCS index within a stream; its index in the table for 802.11b, g and a.
    #[must_use]
    pub const fn index(self) -> u8 {
        self.index
    }

    /// Width of its channel.
    #[must_use]
    pub const fn width(self) -> Width {
        self.width
    }

    /// Its spatial streams.
    #[must_use]
    pub const fn streams(self) -> u8 {
        self.streams
    }

    /// The pause between its symbols.
    #[must_use]
    pub const fn guard_interval(self) -> GuardInterval {
        self.guard
    }

    /// Its code.
    #[must_use]
    pub const fn coding(self) -> Coding {
        self.coding
    }

    /// The rate of a frame's bits, rounded to whole bits a second.
    #[must_use]
    pub fn bit_rate(self) -> BitRate {
        BitRate::from_bps(match self.family {
            Family::Dsss | Family::Ofdm => ROWS[self.index as usize].kilobits_per_second * 1000,
            Family::Ht | Family::Vht | Family::He => {
                let (numerator, denominator) = self.code_rate().fraction();
                let bits = self.coded_bits_per_symbol() * numerator * 1_000_000_000;
                let nanos = self.symbol_nanos() * denominator;
                (bits + nanos / 2) / nanos
            }
        })
    }

    /// Whether it carries several frames in one PPDU, which are acknowledged in a block.
    #[inline]
    #[must_use]
    pub const fn aggregates(self) -> bool {
        matches!(self.family, Family::Ht | Family::Vht | Family::He)
    }

    /// The modes of 802.11b or of 802.11a and g, slowest first; empty for the other families, where
    /// modes are computed.
    pub fn of(family: Family) -> impl Iterator<Item = Self> {
        let is_one = move |mode: &Self| mode.family == family;
        Self::LEGACY.iter().copied().filter(is_one)
    }

    /// The mode of 802.11b, g or a with this rate in `family`.
    #[must_use]
    pub fn with_rate(family: Family, rate: BitRate) -> Option<Self> {
        Self::of(family).find(|mode| mode.bit_rate() == rate)
    }

    pub(super) const fn signal(self) -> Signal {
        match self.family {
            Family::Dsss | Family::Ofdm => ROWS[self.index as usize].signal,
            Family::Ht | Family::Vht | Family::He => {
                let (constellation, rate) = BY_MCS[self.index as usize];
                Signal::Ofdm(constellation, rate)
            }
        }
    }

    /// Code rate of an OFDM mode.
    pub(super) const fn code_rate(self) -> CodeRate {
        match self.signal() {
            Signal::Ofdm(_, rate) => rate,
            Signal::Dbpsk | Signal::Dqpsk | Signal::Cck { .. } => CodeRate::Half,
        }
    }

    /// Subcarriers with data, `N_SD`: IEEE 802.11-2020 tables 17-5, 19-6 and 21-5, 802.11ax-2021
    /// table 27-15.
    const fn data_subcarriers(self) -> u64 {
        match (self.family, self.width) {
            (Family::Dsss, _) => 0,
            (Family::Ofdm, _) => 48,
            (Family::Ht | Family::Vht, Width::Mhz20) => 52,
            (Family::Ht | Family::Vht, Width::Mhz40) => 108,
            (Family::Ht | Family::Vht, Width::Mhz80) => 234,
            (Family::Ht | Family::Vht, Width::Mhz160) => 468,
            (Family::He, Width::Mhz20) => 234,
            (Family::He, Width::Mhz40) => 468,
            (Family::He, Width::Mhz80) => 980,
            (Family::He, Width::Mhz160) => 1960,
        }
    }

    /// Bits of a symbol before decoding, `N_CBPS`; 0 for direct sequence.
    pub(super) const fn coded_bits_per_symbol(self) -> u64 {
        match self.signal() {
            Signal::Ofdm(constellation, _) => {
                self.data_subcarriers() * self.streams as u64 * constellation.bits()
            }
            Signal::Dbpsk | Signal::Dqpsk | Signal::Cck { .. } => 0,
        }
    }

    /// Data bits of a symbol, `N_DBPS`; 0 for direct sequence. Rounded down where the code rate
    /// leaves a fraction (HE; IEEE 802.11-16/0620).
    #[must_use]
    pub const fn data_bits_per_symbol(self) -> u64 {
        let (numerator, denominator) = self.code_rate().fraction();
        self.coded_bits_per_symbol() * numerator / denominator
    }

    /// Duration of an OFDM symbol with its guard interval.
    #[must_use]
    pub const fn symbol_time(self) -> Duration {
        Duration::from_nanos(self.symbol_nanos())
    }

    pub(super) const fn symbol_nanos(self) -> u64 {
        let useful = match self.family {
            Family::Dsss | Family::Ofdm | Family::Ht | Family::Vht => 3_200,
            Family::He => 12_800,
        };
        useful + self.guard.nanos()
    }

    /// Parallel convolutional encoders, `N_ES`: HT needs two above 300 Mbit/s (IEEE 802.11-2020
    /// tables 19-27 to 19-41); VHT one for every 2160 data bits of a symbol, and in one mode one
    /// more, so that coded bits are shared out evenly (tables 21-30 to 21-61); HE one
    /// (802.11ax-2021 §27.3.12.5.1).
    pub(super) const fn encoders(self) -> u64 {
        let bits = self.data_bits_per_symbol();
        match (self.family, self.width, self.streams, self.index) {
            (Family::Dsss | Family::Ofdm | Family::He, ..) => 1,
            // 300 Mbit/s with the short guard interval.
            (Family::Ht, ..) => bits.div_ceil(1080),
            (Family::Vht, Width::Mhz160, 4, 7) => 6,
            (Family::Vht, ..) => bits.div_ceil(2160),
        }
    }

    /// Whether each encoder's part of a symbol is a whole number of bits, and of blocks of its
    /// puncturing (IEEE 802.11-2020 §21.5).
    const fn fills_encoders(self) -> bool {
        let (numerator, denominator) = self.code_rate().fraction();
        let blocks = self.encoders() * denominator;
        let coded = self.coded_bits_per_symbol();
        coded.is_multiple_of(blocks)
            && (coded * numerator).is_multiple_of(denominator * self.encoders())
    }
}

/// The user's name of a mode: "11 Mbit/s", or "MCS 7, 2 streams, 40 MHz, 400 ns".
impl std::fmt::Display for Mode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.aggregates() {
            return self.bit_rate().fmt(f);
        }
        let plural = if self.streams == 1 { "" } else { "s" };
        write!(
            f,
            "MCS {}, {} stream{plural}, {} MHz, {} ns",
            self.index,
            self.streams,
            self.width.mhz(),
            self.guard.nanos()
        )
    }
}

#[cfg(test)]
mod tests;
