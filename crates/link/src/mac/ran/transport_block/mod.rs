//! Transport blocks: modulation and coding schemes, and the bits that a block carries in a number
//! of resource blocks.

mod lte;
mod lte_sizes;
mod nr;
#[cfg(test)]
mod tests;

pub use lte::bits as lte_bits;
pub use nr::{Resources, bits as nr_bits};

/// Bits of the CRC that a transport block has on the air (TS 36.212 §5.1.1, TS 38.212 §5.1).
const CRC_BITS: u32 = 24;

/// Largest code rate: a receiver need not decode a block above it (TS 36.213 §7.1.7).
const LTE_MAX_CODE_RATE: f64 = 0.93;
/// The same of NR (TS 38.214 §5.1.3).
const NR_MAX_CODE_RATE: f64 = 0.95;

/// A table of modulation and coding schemes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum McsTable {
    /// Up to 64QAM: TS 36.213 tables 7.1.7.1-1 and 8.6.1-1, TS 38.214 table 5.1.3.1-1.
    #[default]
    Qam64,
    /// Up to 256QAM: TS 36.213 table 7.1.7.1-1A, TS 38.214 table 5.1.3.1-2.
    Qam256,
}

/// The shared channel that carries a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedChannel {
    /// LTE, from the base station.
    LtePdsch {
        /// Resource elements of data in a pair of resource blocks.
        elements: u32,
    },
    /// LTE, to the base station.
    LtePusch {
        /// Resource elements of data in a pair of resource blocks.
        elements: u32,
    },
    /// NR, in either direction.
    Nr(Resources),
}

/// A modulation and coding scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheme {
    /// Bits of a modulation symbol, Q_m.
    pub modulation_bits: u32,
    /// I_TBS of LTE; 2048 times the code rate in NR.
    pub(self) rate: u32,
}

/// Sizes of the transport blocks of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockFormat {
    /// The channel.
    pub channel: SharedChannel,
    /// The table of schemes.
    pub table: McsTable,
}

impl BlockFormat {
    /// The schemes, by I_MCS.
    #[must_use]
    pub fn schemes(&self) -> &'static [Scheme] {
        match (self.channel, self.table) {
            (SharedChannel::LtePdsch { .. }, McsTable::Qam64) => &lte::DOWN_64QAM,
            (SharedChannel::LtePdsch { .. }, McsTable::Qam256) => &lte::DOWN_256QAM,
            (SharedChannel::LtePusch { .. }, _) => &lte::UP,
            (SharedChannel::Nr(_), McsTable::Qam64) => &nr::QAM64,
            (SharedChannel::Nr(_), McsTable::Qam256) => &nr::QAM256,
        }
    }

    /// Bits of a block of scheme `mcs` in `blocks` resource blocks.
    #[must_use]
    pub fn bits(&self, mcs: usize, blocks: u32) -> u32 {
        let Some(scheme) = self.schemes().get(mcs) else {
            return 0;
        };
        match self.channel {
            SharedChannel::Nr(resources) => {
                nr::bits(resources, scheme.modulation_bits, scheme.rate, blocks)
            }
            _ => lte::bits(scheme.rate, blocks),
        }
    }

    /// Resource elements of data in a resource block (a pair of them in LTE), of all layers.
    #[must_use]
    pub const fn elements(&self) -> u32 {
        match self.channel {
            SharedChannel::LtePdsch { elements } | SharedChannel::LtePusch { elements } => elements,
            SharedChannel::Nr(resources) => resources.elements() * resources.layers,
        }
    }

    /// Spatial layers.
    #[must_use]
    pub const fn layers(&self) -> u32 {
        match self.channel {
            SharedChannel::LtePdsch { .. } | SharedChannel::LtePusch { .. } => 1,
            SharedChannel::Nr(resources) => resources.layers,
        }
    }

    /// Bits and CRC for each resource element of a block; infinite above the largest code rate.
    #[must_use]
    pub fn efficiency(&self, mcs: usize, blocks: u32) -> f64 {
        let elements = f64::from(self.elements() * blocks);
        let efficiency = f64::from(self.bits(mcs, blocks) + CRC_BITS) / elements;
        let modulation = self.schemes().get(mcs).map_or(0, |s| s.modulation_bits);
        let limit = match self.channel {
            SharedChannel::Nr(_) => NR_MAX_CODE_RATE,
            _ => LTE_MAX_CODE_RATE,
        };
        if efficiency > limit * f64::from(modulation) {
            return f64::INFINITY;
        }
        efficiency
    }
}
