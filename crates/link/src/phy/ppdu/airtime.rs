//! Durations of PPDUs in one mode, with the numbers of the mode computed once.

use airtcp_units::Duration;

use super::{DataField, PacketPadding, SERVICE_BITS, TAIL_BITS};
use crate::phy::family::Family;
use crate::phy::ldpc;
use crate::phy::mode::{Coding, Mode};
use crate::phy::signal::CodeRate;

/// Durations of PPDUs in a mode of 802.11n, ac or ax, as [`Mode::ppdu_time`] returns them. Faster
/// where many are asked for, as for each MPDU of an aggregate.
#[derive(Clone, Copy, Debug)]
pub struct Airtime {
    mode: Mode,
    padding: PacketPadding,
    rate: CodeRate,
    /// Bits of the service field and of all encoders' tails.
    around_bits: u64,
    /// Data bits and coded bits of a symbol, and of a segment of an HE symbol.
    data_bits: u64,
    coded_bits: u64,
    segment_data_bits: u64,
    segment_coded_bits: u64,
    preamble: Duration,
    symbol_nanos: u64,
}

impl Airtime {
    /// PPDUs in this mode, with this padding if it is of HE.
    #[must_use]
    pub fn new(mode: Mode, padding: PacketPadding) -> Self {
        let rate = mode.code_rate();
        let (numerator, denominator) = rate.fraction();
        let tail = match mode.coding() {
            Coding::Bcc => TAIL_BITS * mode.encoders(),
            Coding::Ldpc => 0,
        };
        let segment_coded_bits = match mode.family() {
            Family::He => mode.coded_bits_per_segment(),
            _ => 0,
        };
        Self {
            mode,
            padding,
            rate,
            around_bits: SERVICE_BITS + tail,
            data_bits: mode.data_bits_per_symbol().max(1),
            coded_bits: mode.coded_bits_per_symbol(),
            segment_data_bits: (segment_coded_bits * numerator / denominator).max(1),
            segment_coded_bits,
            preamble: mode.preamble_time(),
            symbol_nanos: mode.symbol_nanos(),
        }
    }

    /// The mode.
    #[inline]
    #[must_use]
    pub const fn mode(&self) -> Mode {
        self.mode
    }

    /// TXTIME of a PSDU of this many bytes: [`Mode::ppdu_time`].
    #[must_use]
    pub fn time(&self, bytes: u32) -> Duration {
        let field = self.data_field(bytes);
        let nanos = field.symbols * self.symbol_nanos;
        let body = match self.mode.family() {
            // Short symbols end with a long one.
            Family::Ht | Family::Vht => nanos.next_multiple_of(4_000),
            Family::He => nanos + 1_000 * self.padding.extension_micros(field.segments),
            Family::Dsss | Family::Ofdm => nanos,
        };
        self.preamble + Duration::from_nanos(body)
    }

    /// The data field for a PSDU of this many bytes.
    pub(super) fn data_field(&self, bytes: u32) -> DataField {
        let bits = self.around_bits + 8 * u64::from(bytes);
        let initial = bits.div_ceil(self.data_bits);
        match self.mode.family() {
            Family::He => self.he_data_field(bits, initial),
            // IEEE 802.11-2020 eq. 19-32 and 19-36 (HT), 21-62 (VHT with LDPC), 21-64 (with BCC).
            _ => DataField {
                symbols: initial + u64::from(self.needs_extra_symbol(bits, initial)),
                segments: 4,
            },
        }
    }

    /// Whether LDPC takes a symbol more than the bits need (§19.3.11.7.5, §21.3.10.5.4).
    fn needs_extra_symbol(&self, bits: u64, initial: u64) -> bool {
        // VHT fills its symbols before it encodes.
        let payload = match self.mode.family() {
            Family::Vht => initial * self.data_bits,
            _ => bits,
        };
        self.mode.coding() == Coding::Ldpc
            && ldpc::punctures_too_much(payload, initial * self.coded_bits, self.rate)
    }

    /// IEEE 802.11ax-2021 §27.3.12.5, eq. 27-61 to 27-74.
    fn he_data_field(&self, bits: u64, initial: u64) -> DataField {
        let segments = match bits % self.data_bits {
            0 => 4,
            excess => excess.div_ceil(self.segment_data_bits).min(4),
        };
        let field = DataField {
            symbols: initial,
            segments,
        };
        if self.mode.coding() == Coding::Bcc {
            return field;
        }
        let in_last = |whole, part| if segments < 4 { segments * part } else { whole };
        let payload =
            (initial - 1) * self.data_bits + in_last(self.data_bits, self.segment_data_bits);
        let available =
            (initial - 1) * self.coded_bits + in_last(self.coded_bits, self.segment_coded_bits);
        if !ldpc::punctures_too_much(payload, available, self.rate) {
            field
        } else if segments == 4 {
            DataField {
                symbols: initial + 1,
                segments: 1,
            }
        } else {
            DataField {
                symbols: initial,
                segments: segments + 1,
            }
        }
    }
}
