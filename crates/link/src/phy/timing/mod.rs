//! Durations of frames and pauses in IEEE 802.11.
//!
//! | | 802.11b | 2.4 GHz, OFDM | 5 GHz |
//! |---|---|---|---|
//! | slot | 20 µs | 9 µs | 9 µs |
//! | SIFS | 10 µs | 10 µs | 16 µs |
//! | DIFS = SIFS + 2 slots | 50 µs | 28 µs | 34 µs |
//! | preamble and header of a control frame | 192 µs, short 96 µs | 20 µs | 20 µs |
//! | signal extension | | 6 µs | |
//! | CWmin, CWmax | 31, 1023 | 15, 1023 | 15, 1023 |
//!
//! 2.4 GHz is without older stations: the slot is short, and no frame is sent for 802.11b.

use airtcp_units::{BitRate, Duration};

use super::control::{BasicRates, ControlFrame};
use super::family::Family;
use super::mode::Mode;
use super::ppdu::{self, Airtime, PacketPadding};
use super::standard::{Band, Standard};

/// The preamble in front of each frame of 802.11b.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preamble {
    /// 144 µs, and 48 µs of header.
    #[default]
    Long,
    /// 72 µs, and 24 µs of header. Frames of 1 Mbit/s have a long one all the same (§16.2.2.3).
    Short,
}

/// A physical layer and the modes it is used in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phy {
    standard: Standard,
    band: Band,
    preamble: Preamble,
    data: Mode,
    basic: BasicRates,
    padding: PacketPadding,
}

/// An invalid physical layer.
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
    /// The standard has no short preamble.
    #[error("{} has one preamble; only 802.11b has a short one", .0.name())]
    Preamble(Standard),
    /// The mode is another standard's.
    #[error("{mode} is no mode of {}", standard.name())]
    Mode {
        /// The mode.
        mode: Mode,
        /// The standard.
        standard: Standard,
    },
    /// The standard is not used in the band.
    #[error("{} is not used at {}", standard.name(), match band {
        Band::Ghz2_4 => "2.4 GHz",
        Band::Ghz5 => "5 GHz",
    })]
    Band {
        /// The band.
        band: Band,
        /// The standard.
        standard: Standard,
    },
}

fn rates(standard: Standard) -> String {
    let rates = standard.modes().map(|mode| mode.bit_rate().to_string());
    let listed = rates.collect::<Vec<_>>().join(", ");
    if listed.is_empty() {
        "modes, by MCS, channel width, streams and guard interval".to_owned()
    } else {
        listed
    }
}

impl Phy {
    /// A physical layer of 802.11b, g or a that sends data frames at `data` and ACK, RTS and CTS at
    /// `control`.
    ///
    /// A rate that the standard does not have, control frames faster than data, or a short preamble
    /// in a standard without one.
    pub fn new(
        standard: Standard,
        preamble: Preamble,
        data: BitRate,
        control: BitRate,
    ) -> Result<Self, PhyError> {
        let mode = |rate| {
            Mode::with_rate(standard.family(), rate).ok_or(PhyError::Rate { rate, standard })
        };
        if preamble == Preamble::Short && standard != Standard::B {
            return Err(PhyError::Preamble(standard));
        }
        Self::in_modes(standard, mode(data)?, BasicRates::of(&[mode(control)?]))
            .map(|phy| Self { preamble, ..phy })
    }

    /// A physical layer that sends data frames in `data` and answers at the basic rates, in its
    /// usual band: that of 802.11n, ac and ax.
    ///
    /// # Errors
    /// A mode of another standard, basic rates that are all faster than data.
    pub fn in_modes(standard: Standard, data: Mode, basic: BasicRates) -> Result<Self, PhyError> {
        if data.family() != standard.family() {
            return Err(PhyError::Mode {
                mode: data,
                standard,
            });
        }
        let limit = data.reference().bit_rate();
        match basic.lowest().map(Mode::bit_rate) {
            Some(control) if control > limit => {
                return Err(PhyError::Control {
                    control,
                    data: limit,
                });
            }
            _ => {}
        }
        Ok(Self {
            standard,
            band: standard.bands()[0],
            preamble: Preamble::Long,
            data,
            basic,
            padding: PacketPadding::None,
        })
    }

    /// The same in another band.
    ///
    /// # Errors
    /// A band that the standard is not used in.
    pub fn in_band(self, band: Band) -> Result<Self, PhyError> {
        if self.standard.bands().contains(&band) {
            Ok(Self { band, ..self })
        } else {
            Err(PhyError::Band {
                band,
                standard: self.standard,
            })
        }
    }

    /// The same with receivers of 802.11ax that ask for a packet extension.
    #[must_use]
    pub const fn with_packet_padding(self, padding: PacketPadding) -> Self {
        Self { padding, ..self }
    }

    /// The standard.
    #[must_use]
    pub const fn standard(&self) -> Standard {
        self.standard
    }

    /// The band.
    #[must_use]
    pub const fn band(&self) -> Band {
        self.band
    }

    /// The usual mode of data frames.
    #[must_use]
    pub const fn data_mode(&self) -> Mode {
        self.data
    }

    /// The packet extension that receivers ask for.
    #[must_use]
    pub const fn packet_padding(&self) -> PacketPadding {
        self.padding
    }

    /// The mode of ACK, RTS and CTS frames for data frames in their usual mode.
    #[must_use]
    pub fn control_mode(&self) -> Mode {
        self.basic.answer_to(self.data)
    }

    /// The mode in which a frame sent in `data` is answered; see [`BasicRates::answer_to`].
    #[must_use]
    pub fn answer_mode(&self, data: Mode) -> Mode {
        self.basic.answer_to(data)
    }

    /// A slot of the back-off.
    #[must_use]
    pub fn slot(&self) -> Duration {
        Duration::from_micros(if self.has_direct_sequence() { 20 } else { 9 })
    }

    /// Whether there are stations of 802.11b: their slots are long (§18.4.4), and their rates are
    /// basic rates.
    #[must_use]
    pub fn has_direct_sequence(&self) -> bool {
        let is_basic = |mode: Mode| mode.family() == Family::Dsss;
        self.standard == Standard::B || self.basic.lowest().is_some_and(is_basic)
    }

    /// The pause before an answer.
    #[must_use]
    pub const fn sifs(&self) -> Duration {
        Duration::from_micros(match self.band {
            Band::Ghz2_4 => 10,
            Band::Ghz5 => 16,
        })
    }

    /// The pause before contention: SIFS and two slots (IEEE 802.11-2020 §10.3.7).
    #[must_use]
    pub fn difs(&self) -> Duration {
        self.aifs(2)
    }

    /// The pause before contention of an access category: SIFS and `number` slots, its AIFSN
    /// (§10.23.2.4).
    #[must_use]
    pub fn aifs(&self, number: u8) -> Duration {
        self.sifs() + self.slot() * u64::from(number)
    }

    /// The pause after a frame that was not understood: SIFS, an ACK at the lowest mandatory rate,
    /// DIFS (§10.3.7).
    #[must_use]
    pub fn eifs(&self) -> Duration {
        self.sifs() + self.lowest_ack_time() + self.difs()
    }

    /// An ACK at the lowest mandatory rate, a part of EIFS.
    #[must_use]
    pub fn lowest_ack_time(&self) -> Duration {
        let lowest = if self.has_direct_sequence() {
            Mode::DSSS_1
        } else {
            self.standard.row().lowest
        };
        self.legacy_header(lowest, self.preamble)
            + self.legacy_body(lowest, ControlFrame::Ack.bytes())
    }

    /// Smallest and largest contention window in slots (`aCWmin`, `aCWmax`).
    #[must_use]
    pub const fn contention_window(&self) -> (u32, u32) {
        match self.standard {
            Standard::B => (31, 1023),
            _ => (15, 1023),
        }
    }

    /// Time that a sender waits for the start of an answer: SIFS, a slot and the time that a
    /// receiver needs to notice a preamble (§10.3.2.11, `aRxPHYStartDelay`).
    #[must_use]
    pub fn answer_timeout(&self) -> Duration {
        let slowest = self.basic.lowest().unwrap_or(self.control_mode());
        self.sifs() + self.slot() + self.header_time(slowest)
    }

    /// The same physical layer with data frames at another rate.
    ///
    /// # Errors
    /// A rate that the standard does not have, or below that of control frames.
    pub fn with_data_rate(&self, rate: BitRate) -> Result<Self, PhyError> {
        let control = self.control_mode().bit_rate();
        Self::new(self.standard, self.preamble, rate, control)
    }

    /// Duration of a data frame of this many bytes, MAC header and FCS included; for 802.11n, ac
    /// and ax a PPDU with a PSDU of this many bytes.
    #[must_use]
    pub fn data_time(&self, bytes: u32) -> Duration {
        self.frame_time(self.data, bytes)
    }

    /// The same in another mode than usual.
    #[must_use]
    pub fn data_time_in(&self, mode: Mode, bytes: u32) -> Duration {
        self.frame_time(mode, bytes)
    }

    /// Durations of data frames of one mode of 802.11n, ac or ax, without the signal extension:
    /// differences between them are those between [`Self::data_time_in`].
    #[must_use]
    pub fn airtime(&self, mode: Mode) -> Airtime {
        Airtime::new(mode, self.padding)
    }

    /// Duration of a control frame, in a mode of [`Self::answer_mode`].
    #[must_use]
    pub fn control_time(&self, frame: ControlFrame, mode: Mode) -> Duration {
        self.frame_time(mode, frame.bytes())
    }

    /// Duration of an ACK frame for data frames in their usual mode.
    #[must_use]
    pub fn ack_time(&self) -> Duration {
        self.control_time(ControlFrame::Ack, self.control_mode())
    }

    /// Duration of an RTS frame for data frames in their usual mode.
    #[must_use]
    pub fn rts_time(&self) -> Duration {
        self.control_time(ControlFrame::Rts, self.control_mode())
    }

    /// Duration of a CTS frame for data frames in their usual mode.
    #[must_use]
    pub fn cts_time(&self) -> Duration {
        self.ack_time()
    }

    /// Silence that belongs to a frame of OFDM at 2.4 GHz (§18.3.2.4).
    #[must_use]
    pub const fn signal_extension(&self, mode: Mode) -> Duration {
        Duration::from_micros(match (mode.family(), self.band) {
            (Family::Dsss, _) | (_, Band::Ghz5) => 0,
            (_, Band::Ghz2_4) => 6,
        })
    }

    /// Longest PPDU of 802.11n, ac and ax, its signal extension included.
    #[must_use]
    pub const fn longest_ppdu(&self) -> Duration {
        ppdu::MAX_TIME
    }

    /// TXTIME: §16.3.4 for direct sequence, §17.4.3 and §18.5.3 for OFDM; see
    /// [`Mode::ppdu_time`] for the others.
    fn frame_time(&self, mode: Mode, bytes: u32) -> Duration {
        if mode.aggregates() {
            mode.ppdu_time(bytes, self.padding) + self.signal_extension(mode)
        } else {
            self.header_time(mode) + self.legacy_body(mode, bytes)
        }
    }

    /// Duration of a frame of 802.11b, g or a without its preamble and header.
    fn legacy_body(&self, mode: Mode, bytes: u32) -> Duration {
        let bits = 8 * u64::from(bytes);
        let micros = match mode.family() {
            Family::Dsss => (bits * 1_000_000).div_ceil(mode.bit_rate().as_bps()),
            // A symbol lasts 4 µs; 16 bits of service and 6 of tail surround the frame.
            _ => 4 * (16 + bits + 6).div_ceil(mode.data_bits_per_symbol()),
        };
        Duration::from_micros(micros) + self.signal_extension(mode)
    }

    /// The preamble of a frame of that mode.
    fn header_time(&self, mode: Mode) -> Duration {
        // Frames in the lowest mode can be understood by stations without short preamble
        // (§16.2.2.3).
        if mode == Mode::DSSS_1 {
            self.legacy_header(mode, Preamble::Long)
        } else {
            self.legacy_header(mode, self.preamble)
        }
    }

    const fn legacy_header(&self, mode: Mode, preamble: Preamble) -> Duration {
        Duration::from_micros(match (mode.family(), preamble) {
            (Family::Dsss, Preamble::Long) => 192,
            (Family::Dsss, Preamble::Short) => 96,
            _ => 20,
        })
    }
}

#[cfg(test)]
mod tests;
