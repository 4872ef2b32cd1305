//! Channel quality indicators (TS 36.213 tables 7.2.3-1 and 7.2.3-2, TS 38.214 tables 5.2.2.1-2 and
//! 5.2.2.1-3).

use super::transport_block::McsTable;
use crate::fading::ratio;

/// Indices of a table; 0 is out of range.
pub(super) const INDICES: usize = 16;

/// Modulation bits and 1024 times the code rate, from index 1.
const UP_TO_64QAM: [(u32, u32); INDICES - 1] = [
    (2, 78),
    (2, 120),
    (2, 193),
    (2, 308),
    (2, 449),
    (2, 602),
    (4, 378),
    (4, 490),
    (4, 616),
    (6, 466),
    (6, 567),
    (6, 666),
    (6, 772),
    (6, 873),
    (6, 948),
];
const UP_TO_256QAM: [(u32, u32); INDICES - 1] = [
    (2, 78),
    (2, 193),
    (2, 449),
    (4, 378),
    (4, 490),
    (4, 616),
    (6, 466),
    (6, 567),
    (6, 666),
    (6, 772),
    (6, 873),
    (8, 711),
    (8, 797),
    (8, 885),
    (8, 948),
];

/// A table of indices at a distance from Shannon's limit. An index is the highest with which a
/// block would be in error with at most 10 % (TS 36.213 §7.2.3).
#[derive(Clone, Copy, Debug)]
pub(super) struct CqiTable {
    /// Bits for each resource element; 0 of index 0.
    efficiency: [f64; INDICES],
    /// Least ratio of signal to noise; 0 of index 0.
    snr: [f64; INDICES],
    gap: f64,
}

impl CqiTable {
    pub(super) fn new(table: McsTable, gap_db: f64) -> Self {
        let rows = match table {
            McsTable::Qam64 => &UP_TO_64QAM,
            McsTable::Qam256 => &UP_TO_256QAM,
        };
        let gap = ratio(gap_db);
        let (mut efficiency, mut snr) = ([0.0; INDICES], [0.0; INDICES]);
        for (place, (bits, rate)) in rows.iter().enumerate() {
            efficiency[place + 1] = f64::from(bits * rate) / 1024.0;
            snr[place + 1] = required_snr(efficiency[place + 1], gap);
        }
        Self {
            efficiency,
            snr,
            gap,
        }
    }

    /// The index reported at a ratio of signal to noise.
    pub(super) fn index(&self, snr: f64) -> u8 {
        self.snr[1..].partition_point(|least| *least <= snr) as u8
    }

    /// Bits for each resource element of an index.
    pub(super) const fn efficiency(&self, index: u8) -> f64 {
        self.efficiency[index as usize]
    }

    /// Most bits for a resource element.
    pub(super) const fn most(&self) -> f64 {
        self.efficiency[INDICES - 1]
    }

    /// Least ratio of signal to noise of an index.
    pub(super) const fn snr(&self, index: u8) -> f64 {
        self.snr[index as usize]
    }

    /// Distance from Shannon's limit, as a ratio.
    pub(super) const fn gap(&self) -> f64 {
        self.gap
    }
}

/// Ratio of signal to noise at which a block of this many bits for each resource element is in
/// error with 10 %.
pub(super) fn required_snr(efficiency: f64, gap: f64) -> f64 {
    gap * (libm::exp2(efficiency) - 1.0)
}

/// Bits for each resource element of a block in error with 10 % at a ratio of signal to noise.
pub(super) fn possible_efficiency(snr: f64, gap: f64) -> f64 {
    libm::log2(1.0 + snr / gap)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fading::decibels;

    /// The printed efficiencies, to four digits.
    #[test]
    fn efficiencies_are_the_tables() {
        let printed = [
            0.1523, 0.2344, 0.3770, 0.6016, 0.8770, 1.1758, 1.4766, 1.9141, 2.4063, 2.7305, 3.3223,
            3.9023, 4.5234, 5.1152, 5.5547,
        ];
        let table = CqiTable::new(McsTable::Qam64, 3.0);
        for (index, printed) in (1..).zip(printed) {
            assert!((table.efficiency(index) - printed).abs() < 6e-5, "{index}");
        }
        let wide = CqiTable::new(McsTable::Qam256, 3.0);
        for (index, printed) in [(12, 5.5547), (13, 6.2266), (14, 6.9141), (15, 7.4063)] {
            assert!((wide.efficiency(index) - printed).abs() < 6e-5, "{index}");
        }
    }

    /// Thresholds are within 1.5 dB of the results of link-level simulations at 10 % (C.
    /// Mehlführer, J. C. Ikuno, M. Šimko et al., "The Vienna LTE simulators", EURASIP J. Adv.
    /// Signal Process. 2011:29, figure 4: −6.9 dB to 19.8 dB).
    #[test]
    fn thresholds_are_near_those_of_simulations() {
        let simulated = [
            -6.9, -5.1, -3.2, -1.3, 0.8, 2.7, 4.7, 6.5, 8.6, 10.4, 12.3, 14.2, 15.9, 17.8, 19.8,
        ];
        let table = CqiTable::new(McsTable::Qam64, 3.0);
        for (index, simulated) in (1..).zip(simulated) {
            let ours = decibels(table.snr(index));
            assert!((ours - simulated).abs() < 1.5, "{index}: {ours}");
        }
    }

    #[test]
    fn an_index_is_the_highest_that_the_signal_allows() {
        let table = CqiTable::new(McsTable::Qam64, 3.0);
        for index in 1..16 {
            let least = table.snr(index);
            assert_eq!(table.index(least), index);
            assert_eq!(table.index(least * 0.999), index - 1);
            let efficiency = possible_efficiency(least, table.gap());
            assert!((efficiency - table.efficiency(index)).abs() < 1e-12);
        }
        assert_eq!((table.index(0.0), table.index(1e9)), (0, 15));
    }
}
