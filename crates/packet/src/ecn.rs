//! The ECN field of an IP header (RFC 3168 §5).

/// A code point of the ECN field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ecn {
    /// The endpoints are not ECN-capable: 00.
    #[default]
    NotCapable,
    /// ECN-capable, ECT(1): 01.
    Capable1,
    /// ECN-capable, ECT(0): 10. Senders' choice (RFC 3168 §6.1).
    Capable0,
    /// Congestion was experienced: 11.
    CongestionExperienced,
}

impl Ecn {
    /// The field as the two lowest bits of the traffic class; higher bits are ignored.
    #[inline]
    #[must_use]
    pub const fn from_bits(bits: u8) -> Self {
        match bits & 3 {
            0 => Self::NotCapable,
            1 => Self::Capable1,
            2 => Self::Capable0,
            _ => Self::CongestionExperienced,
        }
    }

    /// The two bits of the field.
    #[inline]
    #[must_use]
    pub const fn bits(self) -> u8 {
        match self {
            Self::NotCapable => 0,
            Self::Capable1 => 1,
            Self::Capable0 => 2,
            Self::CongestionExperienced => 3,
        }
    }

    /// Whether a router may mark the packet in place of dropping it.
    #[inline]
    #[must_use]
    pub const fn is_capable(self) -> bool {
        !matches!(self, Self::NotCapable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 3168 §5, figure 1.
    #[test]
    fn code_points_have_their_bits() {
        let figure = [
            (0b00, Ecn::NotCapable),
            (0b01, Ecn::Capable1),
            (0b10, Ecn::Capable0),
            (0b11, Ecn::CongestionExperienced),
        ];
        for (bits, ecn) in figure {
            assert_eq!((Ecn::from_bits(bits), ecn.bits()), (ecn, bits));
            assert_eq!(Ecn::from_bits(bits | 0xb8), ecn, "the DSCP does not matter");
            assert_eq!(ecn.is_capable(), bits != 0);
        }
    }
}
