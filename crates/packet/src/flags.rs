//! The control bits of a TCP header.

use alloc::borrow::ToOwned;
use alloc::vec::Vec;
use core::fmt;
use core::ops::{BitOr, BitOrAssign};

/// A set of TCP control bits, at their places on the wire (RFC 9293 §3.1).
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Flags(u16);

/// Place of the ACE field's lowest bit, ECE.
const ACE_SHIFT: u32 = 6;

impl Flags {
    /// No more data from the sender.
    pub const FIN: Self = Self(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Self = Self(0x02);
    /// Reset the connection.
    pub const RST: Self = Self(0x04);
    /// Push: hand the data to the application at once.
    pub const PSH: Self = Self(0x08);
    /// The acknowledgment field is significant.
    pub const ACK: Self = Self(0x10);
    /// The urgent pointer is significant.
    pub const URG: Self = Self(0x20);
    /// ECN echo (RFC 3168 §6.1).
    pub const ECE: Self = Self(0x40);
    /// Congestion window reduced (RFC 3168 §6.1).
    pub const CWR: Self = Self(0x80);
    /// Accurate ECN, the lowest bit of a header's byte 12 (RFC 9768 §3.1.1).
    pub const AE: Self = Self(0x100);

    /// The flags of a header's byte 13.
    #[inline]
    #[must_use]
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits as u16)
    }

    /// The flags as a header's byte 13.
    #[inline]
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0 as u8
    }

    /// The three ECN flags that encode the three lowest bits of `count` (RFC 9768 §3.2.2): AE the
    /// highest, ECE the lowest.
    #[inline]
    #[must_use]
    pub const fn from_ace(count: u8) -> Self {
        Self(((count & 7) as u16) << ACE_SHIFT)
    }

    /// The number that the three ECN flags encode: the ACE field (RFC 9768 §3.2.2).
    #[inline]
    #[must_use]
    pub const fn ace(self) -> u8 {
        (self.0 >> ACE_SHIFT) as u8 & 7
    }

    /// Whether every flag of `other` is set.
    #[inline]
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether no flag is set.
    #[inline]
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl BitOr for Flags {
    type Output = Self;

    #[inline]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Flags {
    #[inline]
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

/// Names in the order of the bits, lowest first.
const NAMES: [&str; 9] = ["FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR", "AE"];

impl fmt::Debug for Flags {
    /// The names of the flags that are set, joined by `|`; `-` for an empty set.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let set: Vec<&str> = (0..)
            .zip(NAMES)
            .filter(|(bit, _)| self.0 >> bit & 1 == 1)
            .map(|(_, n)| n)
            .collect();
        f.pad(&if set.is_empty() {
            "-".to_owned()
        } else {
            set.join("|")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The header diagram of RFC 9293 §3.1: CWR ECE URG ACK PSH RST SYN FIN, CWR the highest bit.
    #[test]
    fn each_flag_has_its_place() {
        let from_the_left = [
            (Flags::CWR, "CWR"),
            (Flags::ECE, "ECE"),
            (Flags::URG, "URG"),
            (Flags::ACK, "ACK"),
            (Flags::PSH, "PSH"),
            (Flags::RST, "RST"),
            (Flags::SYN, "SYN"),
            (Flags::FIN, "FIN"),
        ];
        for (place, (flag, name)) in from_the_left.into_iter().enumerate() {
            assert_eq!(flag.bits(), 0b1000_0000 >> place, "{name}");
            assert_eq!(Flags::from_bits(0b1000_0000 >> place), flag);
            assert_eq!(format!("{flag:?}"), name);
        }
    }

    /// RFC 9768 figure 3: AE at bit 7 of the header's bytes 12 and 13, then CWR and ECE, which is
    /// the field's lowest bit.
    #[test]
    fn three_flags_make_a_number() {
        let named = [
            (0, Flags::default()),
            (1, Flags::ECE),
            (2, Flags::CWR),
            (3, Flags::CWR | Flags::ECE),
            (4, Flags::AE),
            (5, Flags::AE | Flags::ECE),
            (6, Flags::AE | Flags::CWR),
            (7, Flags::AE | Flags::CWR | Flags::ECE),
        ];
        for (count, flags) in named {
            assert_eq!(Flags::from_ace(count), flags);
            assert_eq!(Flags::from_ace(count + 8), flags, "the rest does not fit");
            assert_eq!((flags | Flags::ACK | Flags::SYN).ace(), count);
        }
        assert_eq!(
            (Flags::AE | Flags::FIN).bits(),
            0x01,
            "AE is not in byte 13"
        );
    }

    #[test]
    fn sets_of_flags() {
        let mut flags = Flags::SYN | Flags::ACK;
        assert_eq!(flags, Flags::from_bits(0x12));
        assert!(flags.contains(Flags::SYN) && flags.contains(Flags::SYN | Flags::ACK));
        assert!(!flags.contains(Flags::FIN) && !flags.contains(Flags::FIN | Flags::ACK));
        assert!(flags.contains(Flags::default()) && !flags.is_empty());
        assert!(Flags::default().is_empty());
        flags |= Flags::SYN | Flags::FIN;
        assert_eq!(format!("{flags:?}"), "FIN|SYN|ACK");
        assert_eq!(Flags::SYN | Flags::SYN, Flags::SYN);
        assert_eq!(format!("{:?}", Flags::default()), "-");
    }
}
