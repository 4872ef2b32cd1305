//! From a signal-to-noise ratio to the rate of a slot.

use super::CellError;
use crate::fading::ratio;

/// Mapping from signal-to-noise ratio to rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RateLaw {
    /// The rates of CDMA2000 1xEV-DO and the ratios that they need (P. Bender, P. Black, M. Grob,
    /// R. Padovani, N. Sindhushayana & A. Viterbi, "CDMA/HDR: a bandwidth-efficient high-speed
    /// wireless data service for nomadic users", IEEE Communications Magazine 38(7), 2000, table
    /// 2).
    Evdo,
    /// Shannon's: bandwidth · log2(1 + SNR/gap).
    Shannon {
        /// Bandwidth in Hz.
        bandwidth_hz: f64,
        /// Distance from the limit, in dB.
        gap_db: f64,
    },
    /// In proportion to the signal-to-noise ratio: Shannon's law for weak signals.
    Proportional {
        /// Bits a second at a ratio of 1.
        bits_per_second: f64,
    },
}

/// The minimum ratio in dB, and the rate in bit/s.
const EVDO: [(f64, f64); 11] = [
    (9.5, 2_457_600.0),
    (7.2, 1_843_200.0),
    (3.0, 1_228_800.0),
    (1.3, 921_600.0),
    (-1.0, 614_400.0),
    (-4.0, 307_200.0),
    (-5.7, 204_800.0),
    (-6.5, 153_600.0),
    (-8.5, 102_600.0),
    (-9.5, 76_800.0),
    (-12.5, 38_400.0),
];

impl RateLaw {
    /// Validates the configuration.
    pub(super) fn check(&self) -> Result<(), CellError> {
        let bandwidth = match self {
            Self::Evdo => return Ok(()),
            Self::Shannon { bandwidth_hz, .. } => *bandwidth_hz,
            Self::Proportional { bits_per_second } => *bits_per_second,
        };
        if bandwidth > 0.0 && bandwidth.is_finite() {
            Ok(())
        } else {
            Err(CellError::Bandwidth(bandwidth))
        }
    }

    /// Bits a second at a signal-to-noise ratio; 0 where the signal is too weak for any.
    #[must_use]
    pub fn bits_per_second(&self, snr_db: f64) -> f64 {
        RateTable::new(*self).bits_per_second(ratio(snr_db))
    }
}

/// A [`RateLaw`] prepared for evaluation in every slot: power ratios instead of decibels.
#[derive(Clone, Debug)]
pub(super) enum RateTable {
    /// Minimum ratios and the rates, the highest first.
    Steps([(f64, f64); EVDO.len()]),
    /// Bandwidth, and the divisor of the ratio.
    Shannon {
        bandwidth_hz: f64,
        gap: f64,
    },
    Proportional {
        bits_per_second: f64,
    },
}

impl RateTable {
    pub(super) fn new(law: RateLaw) -> Self {
        match law {
            RateLaw::Evdo => Self::Steps(EVDO.map(|(least_db, rate)| (ratio(least_db), rate))),
            RateLaw::Shannon {
                bandwidth_hz,
                gap_db,
            } => Self::Shannon {
                bandwidth_hz,
                gap: ratio(gap_db),
            },
            RateLaw::Proportional { bits_per_second } => Self::Proportional { bits_per_second },
        }
    }

    /// Bits a second at a ratio of powers.
    pub(super) fn bits_per_second(&self, snr: f64) -> f64 {
        match self {
            Self::Steps(steps) => steps
                .iter()
                .find(|(least, _)| snr >= *least)
                .map_or(0.0, |(_, rate)| *rate),
            Self::Shannon { bandwidth_hz, gap } => bandwidth_hz * libm::log2(1.0 + snr / gap),
            Self::Proportional { bits_per_second } => bits_per_second * snr,
        }
    }
}
