//! A rate control that knows the channel: a bound for all others.

use super::Choice;
use crate::phy::control::ControlFrame;
use crate::phy::error_rate::frame_error_rate;
use crate::phy::{BasicRates, Mode};

/// Chooses the mode with the highest expected rate of frames that arrive and are answered.
#[derive(Clone, Debug)]
pub struct Ideal {
    modes: Vec<Mode>,
    /// Size of the MPDUs for which errors are computed.
    bytes: u32,
    /// The basic rates of answers: an MPDU without an answer does not count.
    basic: BasicRates,
    best: Mode,
    /// The signal-to-noise ratio for which `best` was found.
    at_db: f64,
}

/// Channels that differ by less are considered to have the same best mode.
const SAME_DB: f64 = 0.05;

impl Ideal {
    /// A rate control over `modes` for MPDUs of `bytes`, answered at `basic` rates; `None` without
    /// modes. It begins with the slowest.
    #[must_use]
    pub fn new(modes: Vec<Mode>, bytes: u32, basic: BasicRates) -> Option<Self> {
        let best = modes.iter().copied().min_by_key(|mode| mode.bit_rate())?;
        Some(Self {
            modes,
            bytes,
            basic,
            best,
            at_db: f64::NEG_INFINITY,
        })
    }

    pub(super) fn choose(&mut self, snr_db: Option<f64>) -> Choice {
        if let Some(snr_db) = snr_db
            && (snr_db - self.at_db).abs() > SAME_DB
        {
            self.at_db = snr_db;
            let expected = |mode: &Mode| {
                let arrives = |mode, bytes| 1.0 - frame_error_rate(mode, snr_db, bytes).as_f64();
                let answer = ControlFrame::BlockAck { window: 64 };
                mode.bit_rate().as_bps() as f64
                    * arrives(*mode, self.bytes)
                    * arrives(self.basic.answer_to(*mode), answer.bytes())
            };
            // If no mode gets through, the slowest one stays.
            let slowest = self
                .modes
                .iter()
                .copied()
                .min_by_key(|mode| mode.bit_rate());
            let best = self
                .modes
                .iter()
                .copied()
                .max_by(|a, b| expected(a).total_cmp(&expected(b)))
                .filter(|mode| expected(mode) > 1.0);
            self.best = best.or(slowest).unwrap_or(self.best);
        }
        Choice::of(self.best)
    }

    pub(super) const fn best(&self) -> Mode {
        self.best
    }
}
