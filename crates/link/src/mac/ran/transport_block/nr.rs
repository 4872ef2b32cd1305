//! NR: TS 38.214 §5.1.3, in integers.

use super::{CRC_BITS, Scheme};

/// Most resource elements of a resource block that count (TS 38.214 §5.1.3.2, step 1).
const MAX_ELEMENTS: u32 = 156;
/// Unit of code rates: 1/2048, since two rates of table 5.1.3.1-2 are odd multiples of it.
const RATE_UNIT: u64 = 2_048;
/// N_info up to which a size is taken from a table.
const MAX_TABLED: u64 = 3_824;
/// Bits of a code block with its CRC: of base graph 1, and of base graph 2.
const CODE_BLOCK: u64 = 8_424;
const SMALL_CODE_BLOCK: u64 = 3_816;

/// Resources of a block in each resource block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resources {
    /// OFDM symbols of the shared channel in a slot.
    pub symbols: u32,
    /// Resource elements of its demodulation reference signals.
    pub dmrs: u32,
    /// Overhead of other signals (`xOverhead`).
    pub overhead: u32,
    /// Spatial layers.
    pub layers: u32,
}

impl Resources {
    /// Resource elements that carry data, on one layer.
    #[must_use]
    pub const fn elements(&self) -> u32 {
        let elements = (12 * self.symbols).saturating_sub(self.dmrs + self.overhead);
        if elements < MAX_ELEMENTS {
            elements
        } else {
            MAX_ELEMENTS
        }
    }
}

/// Schemes of a modulation and 1024 times the code rate; 0.5 more where `half`.
const fn scheme(modulation_bits: u32, rate: u32, half: bool) -> Scheme {
    Scheme {
        modulation_bits,
        rate: 2 * rate + half as u32,
    }
}

/// Schemes of QPSK, then of 16QAM, then of 64QAM, then of 256QAM, by 1024 times their code rates.
macro_rules! schemes {
    ($($bits:literal: [$($rate:literal $(+ $half:ident)?),+];)+) => {
        [$($(scheme($bits, $rate, schemes!(@half $($half)?))),+),+]
    };
    (@half half) => { true };
    (@half) => { false };
}

/// TS 38.214 table 5.1.3.1-1.
pub(super) const QAM64: [Scheme; 29] = schemes! {
    2: [120, 157, 193, 251, 308, 379, 449, 526, 602, 679];
    4: [340, 378, 434, 490, 553, 616, 658];
    6: [438, 466, 517, 567, 616, 666, 719, 772, 822, 873, 910, 948];
};

/// TS 38.214 table 5.1.3.1-2.
pub(super) const QAM256: [Scheme; 28] = schemes! {
    2: [120, 193, 308, 449, 602];
    4: [378, 434, 490, 553, 616, 658];
    6: [466, 517, 567, 616, 666, 719, 772, 822, 873];
    8: [682 + half, 711, 754, 797, 841, 885, 916 + half, 948];
};

/// TS 38.214 table 5.1.3.2-1.
const SMALL_SIZES: [u32; 93] = [
    24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120, 128, 136, 144, 152, 160, 168, 176, 184,
    192, 208, 224, 240, 256, 272, 288, 304, 320, 336, 352, 368, 384, 408, 432, 456, 480, 504, 528,
    552, 576, 608, 640, 672, 704, 736, 768, 808, 848, 888, 928, 984, 1032, 1064, 1128, 1160, 1192,
    1224, 1256, 1288, 1320, 1352, 1416, 1480, 1544, 1608, 1672, 1736, 1800, 1864, 1928, 2024, 2088,
    2152, 2216, 2280, 2408, 2472, 2536, 2600, 2664, 2728, 2792, 2856, 2976, 3104, 3240, 3368, 3496,
    3624, 3752, 3824,
];

/// Bits of a block in `blocks` resource blocks (TS 38.214 §5.1.3.2), with a code rate of
/// `rate`/2048; 0 where there is no resource.
#[must_use]
pub fn bits(resources: Resources, modulation_bits: u32, rate: u32, blocks: u32) -> u32 {
    let elements = u64::from(resources.elements()) * u64::from(blocks);
    // N_info in units of 1/2048 bit.
    let info =
        elements * u64::from(rate) * u64::from(modulation_bits) * u64::from(resources.layers);
    if info == 0 {
        return 0;
    }
    if info <= MAX_TABLED * RATE_UNIT {
        return tabled(info);
    }
    // Step 4.
    let above = info - u64::from(CRC_BITS) * RATE_UNIT;
    let step = 1_u64 << (log2(above / RATE_UNIT) - 5);
    // Ties are rounded up.
    let quantised = step * ((2 * above + step * RATE_UNIT) / (2 * step * RATE_UNIT));
    let with_crc = quantised.max(3_840) + u64::from(CRC_BITS);
    let code_blocks = if 4 * u64::from(rate) <= RATE_UNIT {
        with_crc.div_ceil(SMALL_CODE_BLOCK)
    } else if quantised > CODE_BLOCK {
        with_crc.div_ceil(CODE_BLOCK)
    } else {
        1
    };
    let bytes = with_crc.div_ceil(8 * code_blocks);
    u32::try_from(8 * code_blocks * bytes).unwrap_or(u32::MAX) - CRC_BITS
}

/// Step 3: the smallest tabled size that is not below the quantised N_info.
fn tabled(info: u64) -> u32 {
    let step = 1_u64 << log2(info / RATE_UNIT).saturating_sub(6).max(3);
    let quantised = (step * (info / (step * RATE_UNIT))).max(24);
    let place = SMALL_SIZES.partition_point(|size| u64::from(*size) < quantised);
    SMALL_SIZES[place.min(SMALL_SIZES.len() - 1)]
}

/// ⌊log2⌋, and 0 of 0.
const fn log2(number: u64) -> u32 {
    63 - (number | 1).leading_zeros()
}
