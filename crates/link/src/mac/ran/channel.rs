//! A user's channel in one direction: quality as reported, and the signal that a block meets.

use airtcp_units::Duration;

use super::config::CqiConfig;
use super::cqi::{CqiTable, possible_efficiency};
use super::frame_structure::SlotDirection;
use super::grid::MAX_SUBBANDS;
use crate::fading::{Radio, SlottedRadio};

/// Resource blocks of a transmission in each subband.
pub(super) type SubbandBlocks = [u32; MAX_SUBBANDS];

/// A user's channel in one direction.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    /// The radio of each subband, for reports and for blocks: each remembers its last slots.
    measured: Vec<SlottedRadio>,
    actual: Vec<SlottedRadio>,
    /// Power over that of the base station.
    power: f64,
    config: CqiConfig,
    /// The slot measured last, and its report.
    report: Option<(u64, Report)>,
}

/// Quality in each subband as the base station knows it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Report {
    /// Ratio of signal to noise. In the downlink the least of the reported index; in the uplink the
    /// base station measures it on sounding reference signals.
    pub snr: [f64; MAX_SUBBANDS],
    /// Bits for each resource element; 0 where the signal is too weak for any.
    pub rates: [f64; MAX_SUBBANDS],
}

impl Channel {
    pub(super) fn new(radios: &[Radio], slot: Duration, power: f64, config: CqiConfig) -> Self {
        let sampled: Vec<_> = radios
            .iter()
            .map(|radio| SlottedRadio::new(radio, slot))
            .collect();
        Self {
            measured: sampled.clone(),
            actual: sampled,
            power,
            config,
            report: None,
        }
    }

    /// Quality as known in `slot`.
    pub(super) fn report(
        &mut self,
        slot: u64,
        direction: SlotDirection,
        table: &CqiTable,
    ) -> Report {
        let period = u64::from(self.config.period.get());
        let measured = slot.saturating_sub(u64::from(self.config.delay)) / period * period;
        if let Some((last, report)) = self.report
            && last == measured
        {
            return report;
        }
        let mut report = Report::default();
        for (subband, radio) in self.measured.iter_mut().enumerate() {
            let snr = radio.snr(measured) * self.power;
            let (snr, rate) = match direction {
                SlotDirection::Down => {
                    let index = table.index(snr);
                    (table.snr(index), table.efficiency(index))
                }
                SlotDirection::Up => {
                    let rate = possible_efficiency(snr, table.gap());
                    (snr, rate.min(table.most()))
                }
            };
            (report.snr[subband], report.rates[subband]) = (snr, rate);
        }
        self.report = Some((measured, report));
        report
    }

    /// Ratio of signal to noise that blocks in these resource blocks meet in `slot`.
    pub(super) fn snr(&mut self, slot: u64, blocks: &SubbandBlocks) -> f64 {
        let power = self.power;
        let used = self.actual.iter_mut().zip(blocks).filter(|(_, n)| **n > 0);
        effective_snr(used.map(|(radio, n)| (radio.snr(slot) * power, *n)))
    }
}

/// The ratio of signal to noise of a flat channel with the same capacity: each resource block adds
/// log2(1 + SNR) (capacity effective SINR mapping, one of those compared by K. Brueninghaus et al.,
/// "Link performance models for system level simulations of broadband radio access systems", PIMRC
/// 2005).
pub(super) fn effective_snr(parts: impl Iterator<Item = (f64, u32)>) -> f64 {
    let (mut bits, mut blocks, mut last, mut count) = (0.0, 0, 0.0, 0);
    for (snr, n) in parts {
        bits += f64::from(n) * libm::log2(1.0 + snr);
        blocks += n;
        last = snr;
        count += 1;
    }
    match count {
        0 => 0.0,
        1 => last,
        _ => libm::exp2(bits / f64::from(blocks)) - 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Equal subbands are as one; 0 and 15 in equal parts have the capacity of 3: (0 + 4)/2 bits.
    #[test]
    fn a_selective_channel_has_the_mean_capacity() {
        let of = |parts: &[(f64, u32)]| effective_snr(parts.iter().copied());
        assert_eq!(of(&[(7.0, 4)]), 7.0);
        assert!((of(&[(7.0, 4), (7.0, 9)]) - 7.0).abs() < 1e-9);
        assert!((of(&[(0.0, 5), (15.0, 5)]) - 3.0).abs() < 1e-9);
        assert_eq!(of(&[]), 0.0);
    }
}
