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
    /// Bits and CRC for each bit of its modulation symbols.
    pub code_rate: f64,
}

impl TransportBlock {
    /// A block of scheme `mcs` in `blocks` resource blocks.
    pub(super) fn new(format: &BlockFormat, mcs: usize, blocks: u32) -> Self {
        let efficiency = format.efficiency(mcs, blocks);
        let modulation = format.schemes().get(mcs).map_or(1, |s| s.modulation_bits);
        Self {
            bits: format.bits(mcs, blocks),
            efficiency,
            code_rate: efficiency / f64::from(modulation),
        }
    }
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
        let block = TransportBlock::new(format, mcs, blocks);
        (block.efficiency <= possible).then_some(block)
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

    /// A block's first transmission was decoded or not. If the signal, with this offset, was too
    /// weak for any scheme anyway, an error does not lower the offset, which would only have to
    /// rise again after a fade.
    pub(super) fn on_first(&mut self, decoded: bool, is_below_all: bool) {
        if self.up_db == 0.0 || is_below_all && !decoded {
            return;
        }
        let step = if decoded { self.up_db } else { -self.down_db };
        self.offset_db = (self.offset_db + step).clamp(-MAX_OFFSET_DB, MAX_OFFSET_DB);
        self.factor = ratio(self.offset_db);
    }
}

/// Transmissions that fill the buffer of coded bits at the highest code rate.
const MAX_PARTS: usize = 3;

/// Coded bits for each bit of a block: the rate of the turbo code and of LDPC's first base graph
/// (TS 36.212 §5.1.3.2, TS 38.212 §5.3.2).
const BUFFER: f64 = 3.0;

/// Decoding of a block. Its transmissions are redundancy versions: they read on in a circular
/// buffer of coded bits (TS 36.212 §5.1.4.1.2, TS 38.212 §5.4.2.1). At a high code rate a
/// retransmission brings other bits, and information adds up (incremental redundancy); when the
/// buffer has been read, bits come again, and their energy adds up (chase combining).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Decoding {
    /// What `received` has to reach: 2 to the power of the bits for each resource element.
    needed: f64,
    gap: f64,
    /// Ratio of signal to noise of each part of the buffer: the sum of its transmissions.
    received: [f64; MAX_PARTS],
    parts: usize,
    next: usize,
}

/// Exponent that makes the error rate fall from 90 % to 10 % over 1 dB: 0.1·ln(10)/(2·ln(9)).
const SLOPE: f64 = 0.052_397_611;

impl Decoding {
    /// A block that is in error with 10 % at `required`, with a uniform draw in (0, 1): its error
    /// rate is a logistic function of the ratio in dB, 1 dB wide. `gap` is the distance from
    /// Shannon's limit, as a ratio.
    pub(super) fn new((required, gap): (f64, f64), code_rate: f64, draw: f64) -> Self {
        let odds = (1.0 - draw) / (9.0 * draw.max(f64::MIN_POSITIVE));
        // A transmission has 1/rate coded bits of a bit. Parts overlap where that is no divisor of
        // the buffer: the nearest number of them.
        let parts = libm::round(BUFFER * code_rate).clamp(1.0, MAX_PARTS as f64);
        Self {
            needed: 1.0 + required * libm::pow(odds, SLOPE) / gap,
            gap,
            received: [0.0; MAX_PARTS],
            parts: parts as usize,
            next: 0,
        }
    }

    /// A transmission arrives; returns whether the block is decoded.
    pub(super) fn receive(&mut self, snr: f64) -> bool {
        self.received[self.next] += snr;
        self.next = (self.next + 1) % self.parts;
        // The sum of log2(1 + SNR/gap) without its logarithms.
        let found: f64 = self
            .received
            .iter()
            .map(|snr| 1.0 + snr / self.gap)
            .product();
        found >= self.needed
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

    /// The share of blocks in error that need a ratio of 10 at a gap of 2.
    fn errors(rate: f64, snr: f64, transmissions: u32) -> f64 {
        let stream = Stream::new(1, "draws");
        let count = 40_000;
        let failed = (0..count).filter(|block| {
            let mut decoding = Decoding::new((10.0, 2.0), rate, stream.uniform(*block));
            !(0..transmissions).any(|_| decoding.receive(snr))
        });
        failed.count() as f64 / f64::from(count as u32)
    }

    /// 10 % at the required ratio, 90 % at 1 dB below it, 0.14 % (1/730) 1 dB above.
    #[test]
    fn errors_fall_with_the_signal() {
        for rate in [0.3, 0.6, 0.9] {
            for (snr_db, expected) in [(0.0, 0.1), (-1.0, 0.9), (1.0, 1.0 / 730.0)] {
                let found = errors(rate, 10.0 * ratio(snr_db), 1);
                let error = (expected * (1.0 - expected) / 40_000_f64).sqrt();
                assert!(
                    (found - expected).abs() < 4.0 * error,
                    "{rate} {snr_db}: {found}"
                );
            }
        }
    }

    /// Half of the blocks are in error at a ratio of 10·9^−SLOPE, with b = 1 + 5·9^−SLOPE. At
    /// a low code rate n transmissions add up: 1 + n·x/2 = b. At higher ones two or three
    /// of them bring two or three times the bits: (1 + x/2)ⁿ = b. Then bits come again:
    /// (1 + x)(1 + x/2)² = b.
    #[test]
    fn retransmissions_add_bits_and_then_energy() {
        let base = 1.0 + 5.0 * 9_f64.powf(-SLOPE);
        let energy = |n: f64| 2.0 * (base - 1.0) / n;
        let bits = |n: f64| 2.0 * (base.powf(1.0 / n) - 1.0);
        for (rate, snr, transmissions) in [
            (0.3, energy(2.0), 2),
            (0.3, energy(3.0), 3),
            (0.6, bits(2.0), 2),
            (0.9, bits(2.0), 2),
            (0.9, bits(3.0), 3),
        ] {
            let found = errors(rate, snr, transmissions);
            assert!(
                (found - 0.5).abs() < 0.01,
                "{rate} {transmissions}: {found}"
            );
        }
        let (mut low, mut high) = (0.0, 10.0);
        while high - low > 1e-9 {
            let x = f64::midpoint(low, high);
            let is_enough = (1.0 + x) * (1.0 + x / 2.0).powi(2) > base;
            *(if is_enough { &mut high } else { &mut low }) = x;
        }
        assert!((errors(0.9, low, 4) - 0.5).abs() < 0.01);
    }

    /// What a second transmission gains, in dB, of four schemes in six resource blocks, against
    /// ns-3.37's error model (`LteMiErrorModel`, effective code rate and mutual information): 3 dB
    /// where bits come again, three times as much at the highest code rate.
    #[test]
    fn a_second_transmission_gains_more_at_a_high_code_rate() {
        for (efficiency, rate, in_ns3) in [
            (0.60, 0.30, 3.03),
            (1.20, 0.30, 3.00),
            (3.00, 0.50, 6.46),
            (5.52, 0.92, 9.39),
        ] {
            let required = 2.0 * (libm::exp2(efficiency) - 1.0);
            let decodes = |loss_db: f64| {
                let mut decoding = Decoding::new((required, 2.0), rate, 0.1);
                let snr = required / ratio(loss_db);
                (0..2).any(|_| decoding.receive(snr))
            };
            let gained = (0..2_000).map(|step| 0.01 * f64::from(step));
            let gained = gained.take_while(|loss| decodes(*loss)).last().unwrap();
            assert!(
                (gained - in_ns3).abs() < 1.0,
                "{efficiency}: {gained}, {in_ns3}"
            );
        }
    }

    /// Blocks in a fade too deep for any scheme leave the offset where it was.
    #[test]
    fn a_deep_fade_does_not_wind_up_the_outer_loop() {
        let mut outer = OuterLoop::new(OuterLoopConfig {
            target: Probability::new(0.1).unwrap(),
            step_db: 0.01,
        });
        outer.on_first(false, false);
        let before = outer.factor();
        assert!((decibels(before) + 0.09).abs() < 1e-9);
        for _ in 0..100 {
            outer.on_first(false, true);
        }
        assert_eq!(outer.factor(), before);
        outer.on_first(true, true);
        assert!((decibels(outer.factor()) + 0.08).abs() < 1e-9);
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
                let mut decoding = Decoding::new((chosen, 2.0), 0.5, stream.uniform(block));
                let decoded = decoding.receive(10.0);
                outer.on_first(decoded, false);
                if block >= 10_000 && !decoded {
                    failed += 1.0 / 50_000.0;
                }
            }
            assert!((failed - 0.1).abs() < 0.006, "{wrong_db}: {failed}");
        }
    }
}
