//! Rate control: in which mode a station's next PPDU is sent.
//!
//! A rate control chooses a mode before each PPDU to its station ([`RateControl::choose`]) and
//! learns after it what was acknowledged ([`RateControl::report`]). It owns no clock and no timer.

mod ideal;
mod minstrel;

use airtcp_units::Instant;

pub use ideal::Ideal;
pub use minstrel::Minstrel;

use crate::phy::{Family, GuardInterval, Mode, Width};

/// The mode of a PPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The mode.
    pub mode: Mode,
    /// Whether it is a probe: drivers send it as one MPDU, not as an aggregate.
    pub is_probe: bool,
}

/// The outcome of a PPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// The mode it was sent in.
    pub mode: Mode,
    /// MPDUs in it.
    pub sent: u32,
    /// Of these, those that were acknowledged; none when no answer came.
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
    /// The mode of the next PPDU, sent at `now` after `failures` PPDUs in a row with the same first
    /// MPDU and no answer, over a channel of `snr_db` (20 MHz, one stream) where that is known.
    pub fn choose(&mut self, now: Instant, failures: u32, snr_db: Option<f64>) -> Choice {
        match self {
            Self::Fixed(mode) => Choice {
                mode: *mode,
                is_probe: false,
            },
            Self::Ideal(ideal) => ideal.choose(snr_db),
            Self::Minstrel(minstrel) => minstrel.choose(now, failures),
        }
    }

    /// Handles the outcome of a PPDU at `now`.
    pub fn report(&mut self, now: Instant, report: &Report) {
        match self {
            Self::Fixed(_) | Self::Ideal(_) => {}
            Self::Minstrel(minstrel) => minstrel.report(now, report),
        }
    }

    /// The mode that it considers best, without a probe: usually that of the next PPDU.
    #[must_use]
    pub fn best(&self) -> Mode {
        match self {
            Self::Fixed(mode) => *mode,
            Self::Ideal(ideal) => ideal.best(),
            Self::Minstrel(minstrel) => minstrel.best(),
        }
    }

    /// Its estimate that an MPDU in that mode is acknowledged; `None` if it makes none.
    #[must_use]
    pub fn success(&self) -> Option<f64> {
        match self {
            Self::Fixed(_) | Self::Ideal(_) => None,
            Self::Minstrel(minstrel) => Some(minstrel.success()),
        }
    }
}

/// The modes of a station: of one family, up to a width and a number of streams, with these guard
/// intervals. What the standard leaves out is not among them.
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
