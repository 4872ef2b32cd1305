//! Durations of PPDUs of 802.11n, ac and ax.
//!
//! ```text
//!   HT mixed   L-STF 8  L-LTF 8  L-SIG 4  HT-SIG 8    HT-STF 4   HT-LTF 4 each
//!   VHT        L-STF 8  L-LTF 8  L-SIG 4  VHT-SIG-A 8 VHT-STF 4  VHT-LTF 4 each  VHT-SIG-B 4
//!   HE SU      L-STF 8  L-LTF 8  L-SIG 4  RL-SIG 4  HE-SIG-A 8  HE-STF 4  HE-LTF 7.2, 8 or 16 each
//!                                                                                      (in µs)
//! ```
//!
//! Then follow the symbols of the data field, and for HE the packet extension.

use airtcp_units::Duration;

use super::family::{Family, GuardInterval};
use super::mode::Mode;

mod airtime;

pub use airtime::Airtime;

/// Longest PPDU of 802.11n (mixed format), ac and ax: `aPPDUMaxTime` (IEEE 802.11-2020 tables 19-25
/// and 21-29, 802.11ax-2021 table 27-54).
pub const MAX_TIME: Duration = Duration::from_micros(5_484);

/// Bits of the service field in front of a PSDU (IEEE 802.11-2020 §17.3.5.2).
const SERVICE_BITS: u64 = 16;
/// Bits with which each convolutional encoder is flushed.
const TAIL_BITS: u64 = 6;
/// L-STF, L-LTF and L-SIG.
const LEGACY_PREAMBLE_NANOS: u64 = 20_000;

/// The time that a receiver of HE needs after a frame, to decode its end: the nominal packet
/// padding (IEEE 802.11ax-2021 §26.12).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PacketPadding {
    /// No padding.
    #[default]
    None,
    /// Up to 8 µs.
    Micros8,
    /// Up to 16 µs.
    Micros16,
}

impl PacketPadding {
    /// Duration of the packet extension when `segments` quarters of the last symbol have data
    /// (IEEE 802.11ax-2021 table 27-46).
    const fn extension_micros(self, segments: u64) -> u64 {
        match (self, segments) {
            (Self::None, _) | (Self::Micros8, 0..=2) => 0,
            (Self::Micros8, _) => 4 * (segments - 2),
            (Self::Micros16, _) => 4 * segments,
        }
    }
}

/// The data field of a PPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataField {
    /// OFDM symbols.
    pub symbols: u64,
    /// Quarters of the last symbol in front of the padding that needs no decoding: the pre-FEC
    /// padding factor of HE; 4 elsewhere.
    pub segments: u64,
}

impl Mode {
    /// The data field for a PSDU of this many bytes, in a mode of 802.11n, ac or ax.
    #[must_use]
    pub fn data_field(self, bytes: u32) -> DataField {
        Airtime::new(self, PacketPadding::None).data_field(bytes)
    }

    /// Coded bits of a segment, a quarter of a symbol: `N_CBPS,short` (802.11ax-2021 table 27-33).
    fn coded_bits_per_segment(self) -> u64 {
        let subcarriers = match self.width().mhz() {
            20 => 60,
            40 => 120,
            80 => 240,
            _ => 492,
        };
        // Bits a subcarrier over all streams.
        let whole = match self.width().mhz() {
            20 => 234,
            40 => 468,
            80 => 980,
            _ => 1960,
        };
        self.coded_bits_per_symbol() / whole * subcarriers
    }

    /// Duration of the preamble.
    #[must_use]
    pub fn preamble_time(self) -> Duration {
        let fields: u64 = match self.streams() {
            1 => 1,
            2 => 2,
            _ => 4,
        };
        Duration::from_nanos(
            LEGACY_PREAMBLE_NANOS
                + match self.family() {
                    Family::Dsss | Family::Ofdm => 0,
                    Family::Ht => 12_000 + fields * 4_000,
                    Family::Vht => 16_000 + fields * 4_000,
                    Family::He => 16_000 + fields * self.training_nanos(),
                },
        )
    }

    /// An HE-LTF with its guard interval: twice compressed for 0.8 and 1.6 µs, whole for 3.2 µs,
    /// the combinations that every station has (IEEE 802.11ax-2021 §27.3.11.10, tables 27-12 and
    /// 27-1).
    fn training_nanos(self) -> u64 {
        let guard = self.guard_interval();
        let useful = match guard {
            GuardInterval::Ns3200 => 12_800,
            GuardInterval::Ns400 | GuardInterval::Ns800 | GuardInterval::Ns1600 => 6_400,
        };
        useful + guard.nanos()
    }

    /// TXTIME of a PSDU of this many bytes in a mode of 802.11n, ac or ax, without the signal
    /// extension of 2.4 GHz: IEEE 802.11-2020 §19.4.3 and §21.4.3, 802.11ax-2021 §27.4.3.
    #[must_use]
    pub fn ppdu_time(self, bytes: u32, padding: PacketPadding) -> Duration {
        Airtime::new(self, padding).time(bytes)
    }
}

#[cfg(test)]
mod tests;
