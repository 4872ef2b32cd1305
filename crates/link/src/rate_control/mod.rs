//! Rate control: the choice of the mode of a station's next PPDU.
//!
//! A rate control chooses a mode before each PPDU to its station ([`RateControl::choose`]) and
//! learns the acknowledged MPDUs after it ([`RateControl::report`]). It owns no clock and no timer.

mod ideal;
mod minstrel;

use airtcp_units::Instant;

pub use ideal::Ideal;
pub use minstrel::Minstrel;

use crate::phy::{BasicRates, Family, GuardInterval, Mode, Width};
use crate::random::Stream;

/// The rule that chooses the modes of a station's frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RateControlConfig {
    /// Always the same mode.
    Fixed(Mode),
    /// Among these the best at the signal-to-noise ratio, for MPDUs of that many bytes and answers
    /// at these rates.
    Ideal(Vec<Mode>, u32, BasicRates),
    /// Minstrel-HT over these.
    Minstrel(Vec<Mode>),
}

impl RateControlConfig {
    /// All modes that it may choose.
    #[must_use]
    pub fn modes(&self) -> &[Mode] {
        match self {
            Self::Fixed(mode) => std::slice::from_ref(mode),
            Self::Ideal(modes, ..) | Self::Minstrel(modes) => modes,
        }
    }
}

/// The mode of a PPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The mode.
    pub mode: Mode,
    /// Whether it is a probe: drivers send it as one MPDU, not as an aggregate.
    pub is_probe: bool,
    /// Whether RTS and CTS precede it: Linux uses them for repetitions in another mode
    /// (`minstrel_ht_set_rate`).
    pub needs_rts: bool,
}

impl Choice {
    /// A mode for a usual PPDU.
    const fn of(mode: Mode) -> Self {
        Self {
            mode,
            is_probe: false,
            needs_rts: false,
        }
    }
}

/// The outcome of a PPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// The mode it was sent in.
    pub mode: Mode,
    /// MPDUs in it.
    pub sent: u32,
    /// Acknowledged MPDUs; 0 without an answer.
    pub acknowledged: u32,
}

/// The rate control of one station's frames in one direction.
#[derive(Clone, Debug)]
pub enum RateControl {
    /// Always the same mode.
    Fixed(Mode),
    /// The best mode at the signal-to-noise ratio, which is its input.
    Ideal(Ideal),
    /// Linux's Minstrel-HT.
    Minstrel(Box<Minstrel>),
}

impl RateControl {
    /// A rate control in its initial state; `None` without modes. Draws come from `stream`.
    #[must_use]
    pub fn new(config: &RateControlConfig, stream: Stream) -> Option<Self> {
        Some(match config {
            RateControlConfig::Fixed(mode) => Self::Fixed(*mode),
            RateControlConfig::Ideal(modes, bytes, basic) => {
                Self::Ideal(Ideal::new(modes.clone(), *bytes, *basic)?)
            }
            RateControlConfig::Minstrel(modes) => {
                Self::Minstrel(Box::new(Minstrel::new(modes, Instant::ZERO, stream)?))
            }
        })
    }

    /// The mode of the next PPDU, sent at `now` after `failures` consecutive PPDUs with the same
    /// first MPDU and no answer, over a channel of `snr_db` (20 MHz, one stream) if that is known.
    #[inline]
    pub fn choose(&mut self, now: Instant, failures: u32, snr_db: Option<f64>) -> Choice {
        match self {
            Self::Fixed(mode) => Choice::of(*mode),
            Self::Ideal(ideal) => ideal.choose(snr_db),
            Self::Minstrel(minstrel) => minstrel.choose(now, failures),
        }
    }

    /// Handles the outcome of a PPDU at `now`.
    #[inline]
    pub fn report(&mut self, now: Instant, report: &Report) {
        match self {
            Self::Fixed(_) | Self::Ideal(_) => {}
            Self::Minstrel(minstrel) => minstrel.report(now, report),
        }
    }

    /// The mode that it considers best, without a probe: usually that of the next PPDU.
    #[inline]
    #[must_use]
    pub fn best(&self) -> Mode {
        match self {
            Self::Fixed(mode) => *mode,
            Self::Ideal(ideal) => ideal.best(),
            Self::Minstrel(minstrel) => minstrel.best(),
        }
    }

    /// Whether some of its PPDUs request RTS and CTS.
    #[inline]
    #[must_use]
    pub const fn clears(&self) -> bool {
        matches!(self, Self::Minstrel(_))
    }

    /// Its estimate that an MPDU in that mode is acknowledged; `None` without an estimate.
    #[must_use]
    pub fn success(&self) -> Option<f64> {
        match self {
            Self::Fixed(_) | Self::Ideal(_) => None,
            Self::Minstrel(minstrel) => Some(minstrel.success()),
        }
    }
}

/// The modes of a station: of one family, up to a width and a number of streams, with these guard
/// intervals. Combinations excluded by the standard are left out.
#[must_use]
pub fn modes(family: Family, widest: Width, streams: u8, guards: &[GuardInterval]) -> Vec<Mode> {
    let mut modes = Vec::new();
    for width in Width::ALL.into_iter().filter(|width| *width <= widest) {
        for &guard in guards {
            for streams in 1..=streams {
                let of_index = |index| Mode::new(family, index, width, streams, guard).ok();
                modes.extend((0..12).filter_map(of_index));
            }
        }
    }
    modes
}

#[cfg(test)]
mod tests;
