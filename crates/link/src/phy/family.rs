//! The parts of a mode: PHY family, channel width, guard interval.

/// A family of modes: the PHYs of IEEE 802.11.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// Direct sequence spread spectrum and complementary code keying: IEEE 802.11-2020 §15 and §16.
    Dsss,
    /// Orthogonal frequency division multiplexing: IEEE 802.11-2020 §17 (5 GHz) and §18 (2.4 GHz).
    Ofdm,
    /// High throughput, 802.11n: §19. Frames have the mixed format, which older stations can
    /// detect.
    Ht,
    /// Very high throughput, 802.11ac: §21.
    Vht,
    /// High efficiency, 802.11ax: §27, for a single user.
    He,
}

impl std::fmt::Display for Family {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Dsss => "802.11b",
            Self::Ofdm => "802.11a/g",
            Self::Ht => "802.11n",
            Self::Vht => "802.11ac",
            Self::He => "802.11ax",
        })
    }
}

/// Width of a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Width {
    /// 20 MHz, which all families have.
    #[default]
    Mhz20,
    /// 40 MHz, from 802.11n on.
    Mhz40,
    /// 80 MHz, from 802.11ac on.
    Mhz80,
    /// 160 MHz, from 802.11ac on.
    Mhz160,
}

impl Width {
    /// All of them, in order.
    pub const ALL: [Self; 4] = [Self::Mhz20, Self::Mhz40, Self::Mhz80, Self::Mhz160];

    /// In MHz.
    #[must_use]
    pub const fn mhz(self) -> u32 {
        match self {
            Self::Mhz20 => 20,
            Self::Mhz40 => 40,
            Self::Mhz80 => 80,
            Self::Mhz160 => 160,
        }
    }
}

/// Guard interval between OFDM symbols.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GuardInterval {
    /// 400 ns, the short one of HT and VHT.
    Ns400,
    /// 800 ns: the long one of HT and VHT, the shortest of HE.
    #[default]
    Ns800,
    /// 1600 ns, of HE.
    Ns1600,
    /// 3200 ns, of HE.
    Ns3200,
}

impl GuardInterval {
    /// All of them, in order.
    pub const ALL: [Self; 4] = [Self::Ns400, Self::Ns800, Self::Ns1600, Self::Ns3200];

    /// In nanoseconds.
    #[must_use]
    pub const fn nanos(self) -> u64 {
        match self {
            Self::Ns400 => 400,
            Self::Ns800 => 800,
            Self::Ns1600 => 1600,
            Self::Ns3200 => 3200,
        }
    }
}
