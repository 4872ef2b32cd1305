//! The standards, each a row of one table.

use airtcp_units::BitRate;

use super::mode::{Mode, Modulation};

/// A physical layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standard {
    /// 2.4 GHz, direct sequence (IEEE 802.11-2016 §16).
    #[default]
    B,
    /// 2.4 GHz, OFDM (§18), in a network without older stations.
    G,
    /// 5 GHz, OFDM (§17).
    A,
}

/// A row of the table of standards. Times are in microseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    name: &'static str,
    pub modulation: Modulation,
    pub slot: u64,
    pub sifs: u64,
    /// Preamble and header in front of a frame.
    pub header: u64,
    /// The same in its short form, where there is one.
    pub short_header: Option<u64>,
    /// Silence that belongs to a frame (§18.3.2.4).
    pub signal_extension: u64,
    /// Smallest and largest contention window in slots.
    pub contention_window: (u32, u32),
    /// The lowest of the modes that every station understands.
    pub lowest: Mode,
    /// The fastest mode, and the carrier of a common channel in MHz.
    fastest: Mode,
    carrier_mhz: f64,
}

impl Standard {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::B, Self::G, Self::A];

    pub(super) const fn row(self) -> Row {
        match self {
            Self::B => Row {
                name: "802.11b",
                modulation: Modulation::Dsss,
                slot: 20,
                sifs: 10,
                header: 192,
                short_header: Some(96),
                signal_extension: 0,
                contention_window: (31, 1023),
                lowest: Mode::Dsss1,
                fastest: Mode::Cck11,
                carrier_mhz: 2_437.0,
            },
            Self::G => Row {
                name: "802.11g",
                modulation: Modulation::Ofdm,
                slot: 9,
                sifs: 10,
                header: 20,
                short_header: None,
                signal_extension: 6,
                contention_window: (15, 1023),
                lowest: Mode::Ofdm6,
                fastest: Mode::Ofdm54,
                carrier_mhz: 2_437.0,
            },
            Self::A => Row {
                name: "802.11a",
                modulation: Modulation::Ofdm,
                slot: 9,
                sifs: 16,
                header: 20,
                short_header: None,
                signal_extension: 0,
                contention_window: (15, 1023),
                lowest: Mode::Ofdm6,
                fastest: Mode::Ofdm54,
                carrier_mhz: 5_180.0,
            },
        }
    }

    /// The name as users write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// Its modulation.
    #[must_use]
    pub const fn modulation(self) -> Modulation {
        self.row().modulation
    }

    /// Its modes, slowest first.
    pub fn modes(self) -> impl Iterator<Item = Mode> {
        Mode::of(self.modulation())
    }

    /// Its fastest rate, and the lowest that every station understands.
    #[must_use]
    pub const fn usual_rates(self) -> (BitRate, BitRate) {
        let row = self.row();
        (row.fastest.bit_rate(), row.lowest.bit_rate())
    }

    /// The carrier of a common channel, in MHz: channel 6 at 2.4 GHz, 36 at 5 GHz.
    #[must_use]
    pub const fn carrier_mhz(self) -> f64 {
        self.row().carrier_mhz
    }
}
