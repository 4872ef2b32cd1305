//! Control frames, and their rates.

use super::family::Family;
use super::mode::Mode;
use super::signal::{CodeRate, Constellation, Signal};

/// A control frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ControlFrame {
    /// An acknowledgment of one frame.
    Ack,
    /// A request to send.
    Rts,
    /// A clearance to send.
    Cts,
    /// A compressed block ACK for a window of this many MPDUs: a bitmap of 8 bytes up to 64, of 32
    /// bytes above.
    BlockAck {
        /// MPDUs of the window, 1 to 256.
        window: u16,
    },
    /// A request for a block ACK.
    BlockAckRequest,
}

impl ControlFrame {
    /// Its bytes, FCS included (IEEE 802.11-2020 §9.3.1.2 to §9.3.1.8).
    #[must_use]
    pub const fn bytes(self) -> u32 {
        match self {
            Self::Ack | Self::Cts => 14,
            Self::Rts => 20,
            Self::BlockAck { window: 0..=64 } => 32,
            Self::BlockAck { .. } => 56,
            Self::BlockAckRequest => 24,
        }
    }
}

/// The basic rates of a network: the rates of control frames. A set of modes of 802.11b, g and a.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BasicRates(u16);

impl BasicRates {
    /// 6, 12 and 24 Mbit/s: the mandatory rates of OFDM (IEEE 802.11-2020 §17.2.3.4).
    pub const OFDM: Self = Self::of(&[Mode::OFDM_6, Mode::OFDM_12, Mode::OFDM_24]);

    /// A set of modes; modes of 802.11n, ac and ax do not count.
    #[must_use]
    pub const fn of(modes: &[Mode]) -> Self {
        let mut set = 0;
        let mut rest = modes;
        while let [mode, others @ ..] = rest {
            set |= mode.legacy_bit();
            rest = others;
        }
        Self(set)
    }

    fn modes(self) -> impl DoubleEndedIterator<Item = Mode> {
        let contains = move |mode: &Mode| self.0 & mode.legacy_bit() != 0;
        Mode::LEGACY.iter().copied().filter(contains)
    }

    /// The slowest.
    #[must_use]
    pub fn lowest(self) -> Option<Mode> {
        self.modes().min_by_key(|mode| mode.bit_rate())
    }

    /// The mode in which a frame sent in `data` is answered: the fastest basic rate that is not
    /// above its rate or, for 802.11n, ac and ax, above that of 802.11a with its constellation and
    /// code rate (IEEE 802.11-2020 §10.6.6.5.2, §10.6.11). Direct sequence is answered by direct
    /// sequence. The slowest when all are above.
    #[must_use]
    pub fn answer_to(self, data: Mode) -> Mode {
        let limit = data.reference().bit_rate();
        let is_heard = |mode: &Mode| data.family() != Family::Dsss || mode.family() == Family::Dsss;
        let allowed = self
            .modes()
            .filter(|mode| mode.bit_rate() <= limit && is_heard(mode));
        allowed
            .max_by_key(|mode| mode.bit_rate())
            .or_else(|| self.lowest())
            .unwrap_or(Mode::OFDM_6)
    }
}

impl Mode {
    /// A mode's bit in a set; 0 for 802.11n, ac and ax.
    const fn legacy_bit(self) -> u16 {
        if self.aggregates() {
            0
        } else {
            1 << self.index()
        }
    }

    /// The mode itself or, for 802.11n, ac and ax, that of 802.11a with its constellation and code
    /// rate: its non-HT reference rate (IEEE 802.11-2020 table 10-10).
    #[must_use]
    pub const fn reference(self) -> Self {
        if !self.aggregates() {
            return self;
        }
        match self.signal() {
            Signal::Ofdm(Constellation::Bpsk, CodeRate::Half) => Self::OFDM_6,
            Signal::Ofdm(Constellation::Bpsk, _) => Self::OFDM_9,
            Signal::Ofdm(Constellation::Qpsk, CodeRate::Half) => Self::OFDM_12,
            Signal::Ofdm(Constellation::Qpsk, _) => Self::OFDM_18,
            Signal::Ofdm(Constellation::Qam16, CodeRate::Half) => Self::OFDM_24,
            Signal::Ofdm(Constellation::Qam16, _) => Self::OFDM_36,
            Signal::Ofdm(Constellation::Qam64, CodeRate::Half | CodeRate::TwoThirds) => {
                Self::OFDM_48
            }
            _ => Self::OFDM_54,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::family::{GuardInterval, Width};

    fn ht(index: u8) -> Mode {
        Mode::new(Family::Ht, index, Width::Mhz20, 1, GuardInterval::Ns800).unwrap()
    }

    /// BPSK 1/2 is answered at 6 Mbit/s, QPSK at 12, all above at 24.
    #[test]
    fn answers_are_no_faster_than_what_they_answer() {
        let answers: Vec<_> = (0..8)
            .map(|index| BasicRates::OFDM.answer_to(ht(index)))
            .collect();
        let (six, twelve, most) = (Mode::OFDM_6, Mode::OFDM_12, Mode::OFDM_24);
        assert_eq!(answers, [six, twelve, twelve, most, most, most, most, most]);
        assert_eq!(BasicRates::OFDM.answer_to(Mode::OFDM_9), six);
        assert_eq!(BasicRates::OFDM.answer_to(Mode::OFDM_54), most);
        let fast = BasicRates::of(&[Mode::OFDM_24]);
        assert_eq!(fast.answer_to(ht(0)), most, "the slowest there is");
        let old = BasicRates::of(&[Mode::DSSS_1, Mode::CCK_5_5, Mode::OFDM_6]);
        assert_eq!(old.answer_to(Mode::CCK_11), Mode::CCK_5_5);
        assert_eq!(old.lowest(), Some(Mode::DSSS_1));
        assert_eq!(BasicRates::of(&[ht(3)]).lowest(), None);
    }

    /// IEEE 802.11-2020 table 10-10.
    #[test]
    fn references_are_those_of_the_table() {
        let he =
            |index| Mode::new(Family::He, index, Width::Mhz20, 1, GuardInterval::Ns800).unwrap();
        let megabits: Vec<_> = (0..12)
            .map(|index| he(index).reference().bit_rate().as_bps() / 1_000_000)
            .collect();
        assert_eq!(megabits, [6, 12, 18, 24, 36, 48, 54, 54, 54, 54, 54, 54]);
        assert_eq!(Mode::CCK_11.reference(), Mode::CCK_11);
    }
}
