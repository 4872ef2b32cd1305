//! LTE: TS 36.213 §7.1.7 and §8.6.

use super::Scheme;
use super::lte_sizes::{COLUMNS, SIZES};

const fn scheme(modulation_bits: u32, i_tbs: u32) -> Scheme {
    Scheme {
        modulation_bits,
        rate: i_tbs,
    }
}

/// Schemes from I_MCS = 0: `first` of QPSK, `second` of 16QAM, the others of 64QAM. The last scheme
/// of a modulation has the I_TBS of the next one's first.
const fn consecutive(first: usize, second: usize) -> [Scheme; 29] {
    let mut schemes = [scheme(2, 0); 29];
    let mut mcs = 0;
    while mcs < 29 {
        let (bits, repeated) = if mcs < first {
            (2, 0)
        } else if mcs < first + second {
            (4, 1)
        } else {
            (6, 2)
        };
        schemes[mcs] = scheme(bits, mcs as u32 - repeated);
        mcs += 1;
    }
    schemes
}

/// TS 36.213 table 7.1.7.1-1.
pub(super) const DOWN_64QAM: [Scheme; 29] = consecutive(10, 7);

/// TS 36.213 table 8.6.1-1.
pub(super) const UP: [Scheme; 29] = consecutive(11, 10);

/// TS 36.213 table 7.1.7.1-1A.
pub(super) const DOWN_256QAM: [Scheme; 28] = {
    let i_tbs = [
        0, 2, 4, 6, 8, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 27, 28, 29,
        30, 31, 32, 33,
    ];
    let mut schemes = [scheme(2, 0); 28];
    let mut mcs = 0;
    while mcs < 28 {
        let bits = match mcs {
            0..5 => 2,
            5..11 => 4,
            11..20 => 6,
            _ => 8,
        };
        schemes[mcs] = scheme(bits, i_tbs[mcs]);
        mcs += 1;
    }
    schemes
};

/// Bits of a block on one layer by `i_tbs` and the number of pairs of resource blocks (TS 36.213
/// §7.1.7.2.1); 0 outside the table.
#[must_use]
pub fn bits(i_tbs: u32, blocks: u32) -> u32 {
    let column = (blocks as usize).wrapping_sub(1);
    match SIZES.get(i_tbs as usize) {
        Some(row) if column < COLUMNS => row[column],
        _ => 0,
    }
}
