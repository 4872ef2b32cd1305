//! Link adaptation: the scheme of a block by the reported quality, and its outer loop.

use super::config::OuterLoopConfig;
use super::cqi::possible_efficiency;
use super::transport_block::BlockFormat;
use crate::fading::ratio;

/// A transport block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TransportBlock {
    /// Its size.
    pub bits: u32,
    /// Bits and CRC for each resource element.
    pub efficiency: f64,
}

/// The largest block in `blocks` resource blocks that is expected to be in error with at most 10 %
/// at a ratio of signal to noise, if any.
pub(super) fn largest_block(
    format: &BlockFormat,
    nominal: &[f64],
    blocks: u32,
    (snr, gap): (f64, f64),
) -> Option<TransportBlock> {
    let possible = possible_efficiency(snr, gap) * (1.0 + ROUNDING);
    // Rounding to a size moves a scheme's efficiency a little.
    let begin = nominal.partition_point(|efficiency| *efficiency <= possible * 1.1);
    (0..begin).rev().find_map(|mcs| {
        let efficiency = format.efficiency(mcs, blocks);
        (efficiency <= possible).then(|| TransportBlock {
            bits: format.bits(mcs, blocks),
            efficiency,
        })
    })
}

/// Of numbers of 53 bits: an index's efficiency is found again from its ratio of signal to noise.
const ROUNDING: f64 = 1e-9;

/// Efficiency of each scheme in many resource blocks, never falling.
pub(super) fn nominal(format: &BlockFormat, blocks: u32) -> Vec<f64> {
    let mut least = f64::INFINITY;
    let mut list: Vec<f64> = (0..format.schemes().len())
        .rev()
        .map(|mcs| {
            least = least.min(format.efficiency(mcs, blocks.max(1)));
            least
        })
        .collect();
    list.reverse();
    list
}

/// The offset of a user's reported quality.
#[derive(Clone, Copy, Debug)]
pub(super) struct OuterLoop {
    up_db: f64,
    down_db: f64,
    offset_db: f64,
    factor: f64,
}

/// Bounds of the offset: beyond them the reports mean nothing.
const MAX_OFFSET_DB: f64 = 20.0;

impl OuterLoop {
    pub(super) fn new(config: OuterLoopConfig) -> Self {
        let target = config.target.as_f64();
        Self {
            up_db: config.step_db,
            // In balance, (1 − target) · up = target · down.
            down_db: config.step_db * (1.0 - target) / target,
            offset_db: 0.0,
            factor: 1.0,
        }
    }

    /// The ratio by which the reported one is multiplied.
    pub(super) const fn factor(&self) -> f64 {
        self.factor
    }

    /// A block's first transmission was decoded or not.
    pub(super) fn on_first(&mut self, decoded: bool) {
        if self.up_db == 0.0 {
            return;
        }
        let step = if decoded { self.up_db } else { -self.down_db };
        self.offset_db = (self.offset_db + step).clamp(-MAX_OFFSET_DB, MAX_OFFSET_DB);
        self.factor = ratio(self.offset_db);
    }
}

/// Decoding of a block: its receiver adds up the energy of all transmissions (chase combining).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Decoding {
    /// Sum of the ratios of signal to noise that it needs.
    needed: f64,
    received: f64,
}

/// Exponent that makes the error rate fall from 90 % to 10 % over 1 dB: 0.1·ln(10)/(2·ln(9)).
const SLOPE: f64 = 0.052_397_611;

impl Decoding {
    /// A block that is in error with 10 % at `required`, with a uniform draw in (0, 1): its error
    /// rate is a logistic function of the ratio in dB, 1 dB wide.
    pub(super) fn new(required: f64, draw: f64) -> Self {
        let odds = (1.0 - draw) / (9.0 * draw.max(f64::MIN_POSITIVE));
        Self {
            needed: required * libm::pow(odds, SLOPE),
            received: 0.0,
        }
    }

    /// A transmission arrives; returns whether the block is decoded.
    pub(super) fn receive(&mut self, snr: f64) -> bool {
        self.received += snr;
        self.received >= self.needed
    }
}

#[cfg(test)]
mod tests {
    use super::super::transport_block::{McsTable, SharedChannel};
    use super::*;
    use crate::fading::decibels;
    use crate::mac::ran::cqi::required_snr;
    use crate::random::Stream;
    use airtcp_units::Probability;

    const FORMAT: BlockFormat = BlockFormat {
        channel: SharedChannel::LtePdsch { elements: 120 },
        table: McsTable::Qam64,
    };

    #[test]
    fn the_slope_is_that_of_its_formula() {
        let slope = 0.1 * 10_f64.ln() / (2.0 * 9_f64.ln());
        assert!((slope - SLOPE).abs() < 1e-6, "{slope}");
    }

    /// The largest of all schemes that the signal allows, for every number of resource blocks.
    #[test]
    fn a_block_is_the_largest_that_the_signal_allows() {
        let nominal = nominal(&FORMAT, 100);
        for blocks in 1..=100 {
            for snr_db in -10..30 {
                let snr = ratio(f64::from(snr_db));
                let possible = possible_efficiency(snr, 2.0) * (1.0 + ROUNDING);
                let best = (0..29)
                    .filter(|mcs| FORMAT.efficiency(*mcs, blocks) <= possible)
                    .map(|mcs| FORMAT.bits(mcs, blocks))
                    .max();
                let block = largest_block(&FORMAT, &nominal, blocks, (snr, 2.0));
                // The exception of the table, 328 bits in one resource block, is no scheme for a
                // weak signal.
                if blocks > 1 {
                    assert_eq!(block.map(|block| block.bits), best, "{blocks} {snr_db}");
                }
                if let Some(block) = block {
                    assert!(required_snr(block.efficiency, 2.0) <= snr * (1.0 + 1e-6));
                }
            }
        }
    }

    /// 10 % at the required ratio, 90 % at 1 dB below it, 0.14 % (1/730) 1 dB above; twice the
    /// energy is 3 dB more.
    #[test]
    fn errors_fall_with_the_signal_and_with_each_transmission() {
        let stream = Stream::new(1, "draws");
        let count = 40_000;
        let errors = |snr_db: f64, transmissions: u32| {
            let failed = (0..count).filter(|block| {
                let mut decoding = Decoding::new(10.0, stream.uniform(*block));
                let snr = ratio(decibels(10.0) + snr_db);
                !(0..transmissions).any(|_| decoding.receive(snr))
            });
            failed.count() as f64 / f64::from(count as u32)
        };
        for (snr_db, transmissions, expected) in [
            (0.0, 1, 0.1),
            (-1.0, 1, 0.9),
            (1.0, 1, 1.0 / 730.0),
            (-3.0103, 2, 0.1),
            (-4.7712, 3, 0.1),
        ] {
            let found = errors(snr_db, transmissions);
            let error = (expected * (1.0 - expected) / f64::from(count as u32)).sqrt();
            assert!((found - expected).abs() < 4.0 * error, "{snr_db}: {found}");
        }
    }

    /// On a channel whose reports are 3 dB too good or too bad, 10 % of first transmissions fail.
    #[test]
    fn the_outer_loop_reaches_its_target() {
        let stream = Stream::new(1, "draws");
        for wrong_db in [-3.0, 0.0, 3.0] {
            let mut outer = OuterLoop::new(OuterLoopConfig {
                target: Probability::new(0.1).unwrap(),
                step_db: 0.02,
            });
            let mut failed = 0.0_f64;
            for block in 0..60_000 {
                // Every efficiency is possible.
                let chosen = 10.0 * ratio(wrong_db) * outer.factor();
                let mut decoding = Decoding::new(chosen, stream.uniform(block));
                let decoded = decoding.receive(10.0);
                outer.on_first(decoded);
                if block >= 10_000 && !decoded {
                    failed += 1.0 / 50_000.0;
                }
            }
            assert!((failed - 0.1).abs() < 0.006, "{wrong_db}: {failed}");
        }
    }
}
