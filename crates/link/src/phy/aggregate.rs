//! Lengths of aggregates: A-MPDU (several MPDUs in a PPDU) and A-MSDU (several packets in an MPDU).
//!
//! ```text
//!   A-MPDU   ┤delimiter│  MPDU   │pad├┤delimiter│  MPDU   │pad├┤delimiter│ MPDU │
//!              4 bytes            0-3                                      the last is not padded
//!   MPDU     ┤QoS header│     LLC + packet, or A-MSDU      │FCS│
//!             26 bytes                                      4
//!   A-MSDU   ┤header│LLC + packet│pad├┤header│LLC + packet│
//!              14                 0-3
//! ```

use airtcp_units::Duration;

use super::family::Family;
use super::mode::Mode;
use super::ppdu::PacketPadding;

/// Bytes of a delimiter in front of each MPDU of an A-MPDU (IEEE 802.11-2020 §9.7.1).
pub const DELIMITER_BYTES: u32 = 4;
/// Bytes of the header in front of each packet of an A-MSDU (§9.3.2.2.2).
pub const MSDU_HEADER_BYTES: u32 = 14;
/// Maximum bytes of an A-MSDU of 802.11n in an A-MPDU, limited by MPDUs of at most 4095 bytes.
pub const HT_AMSDU_IN_AMPDU: u32 = 3839;
/// Bytes of the MAC header with QoS control, and of the FCS (§9.2.3).
pub const QOS_MAC_BYTES: u32 = 26 + 4;

/// Rounds up to the four-byte padding of subframes.
const fn padded(bytes: u32) -> u32 {
    bytes.next_multiple_of(4)
}

impl Family {
    /// Maximum bytes of an A-MPDU: HT's exponent 3 (IEEE 802.11-2020 §9.4.2.55.3), VHT's 7
    /// (§9.4.2.157.2); HE's 2^23 - 1 (802.11ax-2021 §9.4.2.248.2) is more than a PSDU can have
    /// (`aPSDUMaxLength`, table 27-54). 0 if there is no A-MPDU.
    #[must_use]
    pub const fn max_ampdu_bytes(self) -> u32 {
        match self {
            Self::Dsss | Self::Ofdm => 0,
            Self::Ht => 65_535,
            Self::Vht => 1_048_575,
            Self::He => 6_500_631,
        }
    }

    /// Maximum bytes of an MPDU in an A-MPDU: HT's delimiter has 12 bits for its length (IEEE
    /// 802.11-2020 §9.7.1 and table 9-34); VHT and HE may have up to this.
    #[must_use]
    pub const fn max_mpdu_bytes(self) -> u32 {
        match self {
            Self::Dsss | Self::Ofdm => 2_346,
            Self::Ht => 4_095,
            Self::Vht | Self::He => 11_454,
        }
    }
}

/// An A-MPDU under construction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ampdu {
    limit: u32,
    spacing: u32,
    /// Start of its last subframe.
    last: u32,
    bytes: u32,
    mpdus: u32,
}

impl Ampdu {
    /// An empty A-MPDU of at most `limit` bytes, in which an MPDU starts at least `spacing` bytes
    /// after the previous one: the receiver's minimum MPDU start spacing at the mode's rate
    /// ([`Mode::bytes_in`]), filled with empty delimiters. 0 for a receiver without the
    /// requirement.
    #[must_use]
    pub const fn new(limit: u32, spacing: u32) -> Self {
        Self {
            limit,
            spacing: padded(spacing),
            last: 0,
            bytes: 0,
            mpdus: 0,
        }
    }

    /// Adds an MPDU of this many bytes, header and FCS included. `false` when it has no room; the
    /// first one always has.
    #[inline]
    pub fn add(&mut self, mpdu: u32) -> bool {
        if self.mpdus > 0 && !self.has_room(mpdu) {
            return false;
        }
        let (start, end) = self.next(mpdu);
        self.last = start;
        self.bytes = end;
        self.mpdus += 1;
        true
    }

    /// Whether an MPDU of this many bytes is within the limit, the first one too.
    #[inline]
    #[must_use]
    pub fn has_room(&self, mpdu: u32) -> bool {
        self.next(mpdu).1 <= self.limit
    }

    /// Start and end of the next MPDU's subframe.
    #[inline]
    fn next(&self, mpdu: u32) -> (u32, u32) {
        let start = match self.mpdus {
            0 => 0,
            _ => padded(self.bytes).max(self.last.saturating_add(self.spacing)),
        };
        let end = start.saturating_add(DELIMITER_BYTES).saturating_add(mpdu);
        (start, end)
    }

    /// Size of the PSDU, in bytes.
    #[inline]
    #[must_use]
    pub const fn bytes(&self) -> u32 {
        self.bytes
    }

    /// Number of MPDUs.
    #[inline]
    #[must_use]
    pub const fn mpdus(&self) -> u32 {
        self.mpdus
    }
}

/// Bytes of an A-MSDU's body after adding a packet of `packet` bytes, LLC included, to `body`.
#[inline]
#[must_use]
pub const fn amsdu_with(body: u32, packet: u32) -> u32 {
    padded(body) + MSDU_HEADER_BYTES + packet
}

/// Bytes of an A-MSDU's body: packets of these many bytes, LLC included, each preceded by a header,
/// all but the last padded. A single packet has neither (IEEE 802.11-2020 §9.3.2.2.1).
#[must_use]
pub fn amsdu_bytes(packets: impl IntoIterator<Item = u32>) -> u32 {
    let mut packets = packets.into_iter();
    let Some(first) = packets.next() else {
        return 0;
    };
    let mut body = MSDU_HEADER_BYTES + first;
    let mut is_alone = true;
    for packet in packets {
        body = amsdu_with(body, packet);
        is_alone = false;
    }
    if is_alone { first } else { body }
}

impl Mode {
    /// Bytes that the mode carries in `time`, rounded up.
    #[must_use]
    pub fn bytes_in(self, time: Duration) -> u32 {
        let bits = u128::from(self.bit_rate().as_bps()) * u128::from(time.as_nanos());
        u32::try_from(bits.div_ceil(8_000_000_000)).unwrap_or(u32::MAX)
    }

    /// Bytes of the longest A-MPDU in a PPDU of at most `time`: the limit of an [`Ampdu`] by a TXOP
    /// or by [`ppdu::MAX_TIME`](super::ppdu::MAX_TIME), and by the family. 0 when not even the
    /// preamble fits.
    #[must_use]
    pub fn max_psdu_bytes(self, time: Duration, padding: PacketPadding) -> u32 {
        let fits = |bytes| self.ppdu_time(bytes, padding) <= time;
        let (mut fitting, mut too_long) = (0, self.family().max_ampdu_bytes() + 1);
        if !fits(fitting) {
            return 0;
        }
        while too_long - fitting > 1 {
            let middle = fitting + (too_long - fitting) / 2;
            if fits(middle) {
                fitting = middle;
            } else {
                too_long = middle;
            }
        }
        fitting
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::family::{GuardInterval, Width};
    use crate::phy::ppdu::MAX_TIME;

    /// MPDUs of 1538 bytes (1500 of IP, 8 of LLC, 30 of MAC): subframes of 1544 bytes but for the
    /// last, 1542.
    #[test]
    fn subframes_are_padded_but_for_the_last() {
        let mut ampdu = Ampdu::new(65_535, 0);
        assert!(ampdu.add(1538));
        assert_eq!((ampdu.mpdus(), ampdu.bytes()), (1, 1542));
        assert!(ampdu.add(1538));
        assert_eq!((ampdu.mpdus(), ampdu.bytes()), (2, 1544 + 1542));
        while ampdu.add(1538) {}
        // 42 of them: 41·1544 + 1542 = 64846, and one more is 66390.
        assert_eq!((ampdu.mpdus(), ampdu.bytes()), (42, 64_846));
    }

    /// At 65 Mbit/s and 20 MHz, 5.484 ms leave 1362 symbols after a preamble of 36 µs, so 260·1362
    /// bits less 22 of service and tail: 44262 bytes, which are 28 MPDUs of 1538 bytes. At 6.5
    /// Mbit/s there are two.
    #[test]
    fn time_limits_slow_modes() {
        let count = |index, expected_bytes: u32| {
            let mode = Mode::new(Family::Ht, index, Width::Mhz20, 1, GuardInterval::Ns800).unwrap();
            let bytes = mode.max_psdu_bytes(MAX_TIME, PacketPadding::None);
            assert_eq!(bytes, expected_bytes);
            let mut ampdu = Ampdu::new(bytes, 0);
            while ampdu.add(1538) {}
            ampdu.mpdus()
        };
        assert_eq!(count(7, (260 * 1362 - 22) / 8), 28);
        assert_eq!(count(0, (26 * 1362 - 22) / 8), 2);
        let none = Mode::new(Family::Ht, 0, Width::Mhz20, 1, GuardInterval::Ns800).unwrap();
        assert_eq!(
            none.max_psdu_bytes(Duration::from_micros(35), PacketPadding::None),
            0
        );
    }

    /// ACKs of 90 bytes at 130 Mbit/s, a start every 8 µs: 130 bytes, so 132 from start to start.
    #[test]
    fn starts_are_spaced() {
        let mode = Mode::new(Family::Ht, 7, Width::Mhz20, 2, GuardInterval::Ns800).unwrap();
        let spacing = mode.bytes_in(Duration::from_micros(8));
        assert_eq!(spacing, 130);
        let mut ampdu = Ampdu::new(65_535, spacing);
        for _ in 0..3 {
            assert!(ampdu.add(90));
        }
        assert_eq!(ampdu.bytes(), 2 * 132 + 94);
    }

    #[test]
    fn a_first_mpdu_is_never_refused() {
        let mut ampdu = Ampdu::new(100, 0);
        assert!(ampdu.add(1538) && !ampdu.add(1));
    }

    /// Packets of 1508 bytes with 14 of header: 1522, padded to 1524 except the last.
    #[test]
    fn packets_share_an_mpdu() {
        assert_eq!(amsdu_bytes([]), 0);
        assert_eq!(amsdu_bytes([1508]), 1508);
        assert_eq!(amsdu_bytes([1508, 1508, 1508]), 1524 + 1524 + 1522);
    }
}
