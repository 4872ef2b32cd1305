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
//! 2.4 GHz is without older stations: the slot is short, nothing is sent for 802.11b to hear.

use airtcp_units::{BitRate, Duration};

use super::control::{BasicRates, ControlFrame};
use super::family::Family;
use super::mode::Mode;
use super::ppdu::{self, PacketPadding};
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
    /// There is no short preamble.
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

    /// The mode of ACK, RTS and CTS frames beside data frames in their usual mode.
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

    /// An ACK at the lowest mandatory rate, of which EIFS consists.
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

    /// A data frame of this many bytes, MAC header and FCS included; of 802.11n, ac and ax a PPDU
    /// whose PSDU has this many bytes.
    #[must_use]
    pub fn data_time(&self, bytes: u32) -> Duration {
        self.frame_time(self.data, bytes)
    }

    /// The same in another mode than usual.
    #[must_use]
    pub fn data_time_in(&self, mode: Mode, bytes: u32) -> Duration {
        self.frame_time(mode, bytes)
    }

    /// A frame of the link's own, in a mode of [`Self::answer_mode`].
    #[must_use]
    pub fn control_time(&self, frame: ControlFrame, mode: Mode) -> Duration {
        self.frame_time(mode, frame.bytes())
    }

    /// An ACK frame beside data frames in their usual mode.
    #[must_use]
    pub fn ack_time(&self) -> Duration {
        self.control_time(ControlFrame::Ack, self.control_mode())
    }

    /// An RTS frame, likewise.
    #[must_use]
    pub fn rts_time(&self) -> Duration {
        self.control_time(ControlFrame::Rts, self.control_mode())
    }

    /// A CTS frame, likewise.
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

    /// A frame of 802.11b, g or a without what precedes it.
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
        // Frames in the lowest mode can be understood by who knows no short preamble (§16.2.2.3).
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

    fn vht(index: u8) -> Mode {
        use crate::phy::family::{GuardInterval, Width};
        Mode::new(Family::Vht, index, Width::Mhz20, 1, GuardInterval::Ns800).unwrap()
    }

    /// A block ACK at 24 Mbit/s: 278 bits are 3 symbols of 96, 32 µs; for 256 MPDUs 470 bits, 5
    /// symbols; a request 214 bits, 3 symbols. RTS 182 bits: 2 symbols. At 5 GHz best effort waits
    /// 43 µs; at 2.4 GHz frames have 6 µs more, and SIFS 6 less.
    #[test]
    fn frames_of_the_link_beside_aggregates() {
        let phy = Phy::in_modes(Standard::Ac, vht(7), BasicRates::OFDM).unwrap();
        let answer = phy.answer_mode(vht(7));
        assert_eq!(answer, Mode::OFDM_24);
        let time = |phy: &Phy, frame| micros(phy.control_time(frame, answer));
        assert_eq!(time(&phy, ControlFrame::BlockAck { window: 64 }), 32);
        assert_eq!(time(&phy, ControlFrame::BlockAck { window: 256 }), 40);
        assert_eq!(time(&phy, ControlFrame::BlockAckRequest), 32);
        assert_eq!((micros(phy.rts_time()), micros(phy.cts_time())), (28, 28));
        assert_eq!((micros(phy.aifs(3)), micros(phy.eifs())), (43, 94));
        assert_eq!(
            phy.control_time(ControlFrame::Ack, phy.answer_mode(vht(0))),
            { Duration::from_micros(44) }
        );
        let mode = Mode::new(Family::Ht, 7, vht(7).width(), 1, vht(7).guard_interval()).unwrap();
        let narrow = Phy::in_modes(Standard::N, mode, BasicRates::OFDM)
            .and_then(|phy| phy.in_band(Band::Ghz2_4))
            .unwrap();
        assert_eq!(time(&narrow, ControlFrame::BlockAck { window: 64 }), 38);
        assert_eq!((micros(narrow.aifs(3)), micros(narrow.difs())), (37, 28));
        // 1542 bytes: 12358 bits in 48 symbols of 260.
        assert_eq!(micros(narrow.data_time(1542)), 36 + 48 * 4 + 6);
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
        assert_eq!(
            refused(Standard::N, Preamble::Long, 6_000, 6_000),
            "6 Mbit/s is no rate of 802.11n; it has modes, by MCS, channel width, streams and \
             guard interval"
        );
        let ac = Phy::in_modes(Standard::Ac, vht(7), BasicRates::OFDM).unwrap();
        assert_eq!(
            ac.in_band(Band::Ghz2_4).unwrap_err().to_string(),
            "802.11ac is not used at 2.4 GHz"
        );
        assert_eq!(
            Phy::in_modes(Standard::N, vht(7), BasicRates::OFDM)
                .unwrap_err()
                .to_string(),
            "MCS 7, 1 stream, 20 MHz, 800 ns is no mode of 802.11n"
        );
        let fast = BasicRates::of(&[Mode::OFDM_24]);
        assert_eq!(
            Phy::in_modes(Standard::Ac, vht(0), fast)
                .unwrap_err()
                .to_string(),
            "control frames at 24 Mbit/s are faster than data frames at 6 Mbit/s; choose a basic \
             rate of at most that"
        );
    }
}
