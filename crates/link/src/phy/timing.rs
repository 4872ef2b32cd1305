//! Durations of frames and pauses in IEEE 802.11 b, g and a.
//!
//! | | 802.11b | 802.11g | 802.11a |
//! |---|---|---|---|
//! | slot | 20 µs | 9 µs | 9 µs |
//! | SIFS | 10 µs | 10 µs | 16 µs |
//! | DIFS = SIFS + 2 slots | 50 µs | 28 µs | 34 µs |
//! | preamble and header | 192 µs, short 96 µs | 20 µs | 20 µs |
//! | signal extension | | 6 µs | |
//! | CWmin, CWmax | 31, 1023 | 15, 1023 | 15, 1023 |
//!
//! 802.11g is that of a network without older stations.

use airtcp_units::{BitRate, Duration};

use super::mode::{Mode, Modulation};
use super::standard::Standard;

/// The preamble in front of each frame of 802.11b.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preamble {
    /// 144 µs, and 48 µs of header.
    #[default]
    Long,
    /// 72 µs, and 24 µs of header. Frames of 1 Mbit/s have a long one all the same (§16.2.2.3).
    Short,
}

/// Bytes of an ACK or CTS frame (IEEE 802.11-2016 §9.3.1).
const ACK_BYTES: u32 = 14;
/// Bytes of an RTS frame.
const RTS_BYTES: u32 = 20;

/// A physical layer and the modes it is used in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phy {
    standard: Standard,
    preamble: Preamble,
    data: Mode,
    control: Mode,
}

/// A physical layer that there is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PhyError {
    /// No mode of the standard has the rate.
    #[error("{rate} is no rate of {}; it has {}", standard.name(), rates(*standard))]
    Rate {
        /// The rate.
        rate: BitRate,
        /// The standard.
        standard: Standard,
    },
    /// Control frames would be faster than data.
    #[error(
        "control frames at {control} are faster than data frames at {data}; choose a basic rate of at most that"
    )]
    Control {
        /// Rate of control frames.
        control: BitRate,
        /// Rate of data frames.
        data: BitRate,
    },
    /// There is no short preamble.
    #[error("{} has one preamble; only 802.11b has a short one", .0.name())]
    Preamble(Standard),
}

fn rates(standard: Standard) -> String {
    let rates = standard.modes().map(|mode| mode.bit_rate().to_string());
    rates.collect::<Vec<_>>().join(", ")
}

impl Phy {
    /// A physical layer that sends data frames at `data` and ACK, RTS and CTS at `control`.
    ///
    /// # Errors
    /// A rate that the standard does not have, control frames faster than data, a short preamble
    /// where there is none.
    pub fn new(
        standard: Standard,
        preamble: Preamble,
        data: BitRate,
        control: BitRate,
    ) -> Result<Self, PhyError> {
        let mode = |rate| {
            Mode::with_rate(standard.modulation(), rate).ok_or(PhyError::Rate { rate, standard })
        };
        if preamble == Preamble::Short && standard.row().short_header.is_none() {
            return Err(PhyError::Preamble(standard));
        }
        let phy = Self {
            standard,
            preamble,
            data: mode(data)?,
            control: mode(control)?,
        };
        if control > data {
            return Err(PhyError::Control { control, data });
        }
        Ok(phy)
    }

    /// The standard.
    #[must_use]
    pub const fn standard(&self) -> Standard {
        self.standard
    }

    /// The mode of data frames.
    #[must_use]
    pub const fn data_mode(&self) -> Mode {
        self.data
    }

    /// The mode of ACK, RTS and CTS frames.
    #[must_use]
    pub const fn control_mode(&self) -> Mode {
        self.control
    }

    /// A slot of the back-off.
    #[must_use]
    pub const fn slot(&self) -> Duration {
        Duration::from_micros(self.standard.row().slot)
    }

    /// The pause before an answer.
    #[must_use]
    pub const fn sifs(&self) -> Duration {
        Duration::from_micros(self.standard.row().sifs)
    }

    /// The pause before contention: SIFS and two slots (IEEE 802.11-2016 §10.3.7).
    #[must_use]
    pub fn difs(&self) -> Duration {
        self.sifs() + self.slot() * 2
    }

    /// The pause after a frame that was not understood: SIFS, an ACK at the lowest mandatory rate,
    /// DIFS (§10.3.7).
    #[must_use]
    pub fn eifs(&self) -> Duration {
        let lowest = self.standard.row().lowest;
        let answer = self.header(self.preamble) + self.body_time(lowest, ACK_BYTES);
        self.sifs() + answer + self.difs()
    }

    /// Smallest and largest contention window in slots.
    #[must_use]
    pub const fn contention_window(&self) -> (u32, u32) {
        self.standard.row().contention_window
    }

    /// Time that a sender waits for the start of an answer: SIFS, a slot and the time that a
    /// receiver needs to notice a preamble (§10.3.2.9, `aRxPHYStartDelay`).
    #[must_use]
    pub fn answer_timeout(&self) -> Duration {
        self.sifs() + self.slot() + self.header_time(self.control)
    }

    /// The same physical layer with data frames at another rate.
    ///
    /// # Errors
    /// A rate that the standard does not have, or below that of control frames.
    pub fn with_data_rate(&self, rate: BitRate) -> Result<Self, PhyError> {
        Self::new(self.standard, self.preamble, rate, self.control.bit_rate())
    }

    /// A data frame of this many bytes, MAC header and FCS included.
    #[must_use]
    pub fn data_time(&self, bytes: u32) -> Duration {
        self.frame_time(self.data, bytes)
    }

    /// The same in another mode than usual, of the same standard.
    #[must_use]
    pub fn data_time_in(&self, mode: Mode, bytes: u32) -> Duration {
        self.frame_time(mode, bytes)
    }

    /// An ACK frame.
    #[must_use]
    pub fn ack_time(&self) -> Duration {
        self.frame_time(self.control, ACK_BYTES)
    }

    /// An RTS frame.
    #[must_use]
    pub fn rts_time(&self) -> Duration {
        self.frame_time(self.control, RTS_BYTES)
    }

    /// A CTS frame.
    #[must_use]
    pub fn cts_time(&self) -> Duration {
        self.ack_time()
    }

    /// TXTIME: §16.3.4 for direct sequence, §17.4.3 and §18.5.3 for OFDM.
    fn frame_time(&self, mode: Mode, bytes: u32) -> Duration {
        self.header_time(mode) + self.body_time(mode, bytes)
    }

    /// The same without what precedes a frame.
    fn body_time(&self, mode: Mode, bytes: u32) -> Duration {
        let bits = 8 * u64::from(bytes);
        let rate = mode.bit_rate().as_bps();
        let micros = match mode.modulation() {
            Modulation::Dsss => (bits * 1_000_000).div_ceil(rate),
            Modulation::Ofdm => {
                // A symbol lasts 4 µs; 16 bits of service and 6 of tail surround the frame.
                let bits_a_symbol = rate * 4 / 1_000_000;
                4 * (16 + bits + 6).div_ceil(bits_a_symbol)
            }
        };
        Duration::from_micros(micros + self.standard.row().signal_extension)
    }

    /// The preamble of a frame of that mode.
    fn header_time(&self, mode: Mode) -> Duration {
        // Frames in the lowest mode can be understood by who knows no short preamble (§16.2.2.3).
        if mode == self.standard.row().lowest {
            self.header(Preamble::Long)
        } else {
            self.header(self.preamble)
        }
    }

    const fn header(&self, preamble: Preamble) -> Duration {
        let row = self.standard.row();
        Duration::from_micros(match (preamble, row.short_header) {
            (Preamble::Short, Some(short)) => short,
            (Preamble::Short | Preamble::Long, _) => row.header,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phy(standard: Standard, preamble: Preamble, data: u64, control: u64) -> Phy {
        let rate = |kilobits: u64| BitRate::from_bps(kilobits * 1000);
        Phy::new(standard, preamble, rate(data), rate(control)).unwrap()
    }

    fn micros(duration: Duration) -> u64 {
        assert_eq!(duration.as_nanos() % 1000, 0);
        duration.as_nanos() / 1000
    }

    /// 1536 bytes at 11 Mbit/s are 1117.09 µs: 1118 behind 192. An ACK of 14 bytes: 112, 56 or
    /// 10.2 µs at 1, 2 and 11 Mbit/s.
    #[test]
    fn frames_of_802_11b() {
        let long = phy(Standard::B, Preamble::Long, 11_000, 1_000);
        assert_eq!(micros(long.data_time(1536)), 1310);
        assert_eq!(
            (micros(long.ack_time()), micros(long.rts_time())),
            (304, 352)
        );
        assert_eq!((micros(long.difs()), micros(long.eifs())), (50, 364));
        assert_eq!(micros(long.answer_timeout()), 10 + 20 + 192);
        let short = phy(Standard::B, Preamble::Short, 11_000, 11_000);
        assert_eq!(micros(short.data_time(1536)), 96 + 1118);
        assert_eq!(
            (micros(short.ack_time()), micros(short.eifs())),
            (96 + 11, 268)
        );
        // Frames of 1 Mbit/s have the long preamble.
        let mixed = phy(Standard::B, Preamble::Short, 11_000, 1_000);
        assert_eq!(micros(mixed.ack_time()), 304);
    }

    /// 1536 bytes at 6 Mbit/s are 12310 bits with service and tail, 513 symbols of 24; at 54, 57
    /// symbols of 216. An ACK at 6 Mbit/s: 134 bits, 6 symbols (notes: 44 µs, EIFS 94).
    #[test]
    fn frames_of_802_11a_and_g() {
        let a = phy(Standard::A, Preamble::Long, 6_000, 6_000);
        assert_eq!(micros(a.data_time(1536)), 20 + 513 * 4);
        assert_eq!(
            (micros(a.ack_time()), micros(a.difs()), micros(a.eifs())),
            (44, 34, 94)
        );
        assert_eq!(micros(a.answer_timeout()), 16 + 9 + 20);
        let fast = phy(Standard::A, Preamble::Long, 54_000, 24_000);
        assert_eq!(micros(fast.data_time(1536)), 20 + 57 * 4);
        assert_eq!(micros(fast.ack_time()), 20 + 2 * 4);
        let g = phy(Standard::G, Preamble::Long, 54_000, 24_000);
        assert_eq!(micros(g.data_time(1536)), 20 + 57 * 4 + 6);
        assert_eq!((micros(g.difs()), micros(g.ack_time())), (28, 34));
    }

    /// 1536 bytes are 12288 bits behind 192 µs, or 12310 in symbols of 24 to 216 bits behind 20 µs:
    /// 12310 / 36 = 341.9, / 48 = 256.5, / 72 = 170.97, / 96 = 128.2, / 144 = 85.5, / 192 = 64.1,
    /// / 216 = 56.99.
    #[test]
    fn data_frames_of_every_mode() {
        for (rate, bits_time) in [
            (1_000, 12_288),
            (2_000, 6_144),
            (5_500, 2_235),
            (11_000, 1_118),
        ] {
            let long = phy(Standard::B, Preamble::Long, rate, 1_000);
            assert_eq!(micros(long.data_time(1536)), 192 + bits_time);
        }
        for (megabits, symbols) in [
            (6, 513),
            (9, 342),
            (12, 257),
            (18, 171),
            (24, 129),
            (36, 86),
            (48, 65),
            (54, 57),
        ] {
            let a = phy(Standard::A, Preamble::Long, megabits * 1000, 6_000);
            let g = phy(Standard::G, Preamble::Long, megabits * 1000, 6_000);
            assert_eq!(micros(a.data_time(1536)), 20 + 4 * symbols);
            assert_eq!(micros(g.data_time(1536)), 20 + 4 * symbols + 6);
        }
    }

    #[test]
    fn what_is_no_physical_layer_is_refused() {
        let rate = |kilobits: u64| BitRate::from_bps(kilobits * 1000);
        let refused = |standard, preamble, data, control| {
            Phy::new(standard, preamble, rate(data), rate(control))
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            refused(Standard::B, Preamble::Long, 6_000, 1_000),
            "6 Mbit/s is no rate of 802.11b; it has 1 Mbit/s, 2 Mbit/s, 5.5 Mbit/s, 11 Mbit/s"
        );
        assert_eq!(
            refused(Standard::B, Preamble::Long, 2_000, 11_000),
            "control frames at 11 Mbit/s are faster than data frames at 2 Mbit/s; choose a basic \
             rate of at most that"
        );
        assert_eq!(
            refused(Standard::A, Preamble::Short, 6_000, 6_000),
            "802.11a has one preamble; only 802.11b has a short one"
        );
    }
}
