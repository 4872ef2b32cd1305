//! ABC's signals at the receiver (Goyal et al., "ABC: A Simple Explicit Congestion Controller for
//! Wireless Networks", NSDI 2020): an acknowledgment echoes whether the segment that it
//! reports arrived as an accelerate, ECT(1), or as a brake, ECT(0), in the flag that was the nonce
//! sum. Marks of other routers are echoed as ever (RFC 3168). Delayed acknowledgments are split
//! where the echo changes, as DCTCP's are.

use airtcp_packet::{Ecn, Flags, Segment};

use super::Connection;
use crate::config::CongestionControl;

/// The flag of RFC 3540, which that of accurate ECN has replaced. A brake here, so that a receiver
/// without ABC leaves the sender to CUBIC's window.
pub(super) const NONCE_SUM: Flags = Flags::AE;

/// The signals that acknowledgments carry. An enum, so that the state of ECN stays a byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Signals {
    /// The last segment asked to accelerate.
    #[default]
    Accelerate,
    /// It asked to brake.
    Brake,
    /// The same, and a mark is echoed until the sender has reduced its window.
    AccelerateMarked,
    /// Brake, and a mark.
    BrakeMarked,
}

impl Signals {
    const fn new(brakes: bool, is_marked: bool) -> Self {
        match (brakes, is_marked) {
            (false, false) => Self::Accelerate,
            (true, false) => Self::Brake,
            (false, true) => Self::AccelerateMarked,
            (true, true) => Self::BrakeMarked,
        }
    }

    const fn brakes(self) -> bool {
        matches!(self, Self::Brake | Self::BrakeMarked)
    }

    const fn is_marked(self) -> bool {
        matches!(self, Self::AccelerateMarked | Self::BrakeMarked)
    }

    /// The signals after a data segment with that field and those flags.
    pub(super) const fn after(self, segment: &Segment) -> Self {
        let reduced = segment.flags.contains(Flags::CWR);
        let (mut brakes, mut is_marked) = (self.brakes(), self.is_marked() && !reduced);
        match segment.ecn {
            Ecn::Capable1 => brakes = false,
            Ecn::Capable0 => brakes = true,
            Ecn::CongestionExperienced => is_marked = true,
            Ecn::NotCapable => {}
        }
        Self::new(brakes, is_marked)
    }

    /// Their flags in an acknowledgment.
    pub(super) fn flags(self) -> Flags {
        let mut flags = Flags::default();
        if self.brakes() {
            flags |= NONCE_SUM;
        }
        if self.is_marked() {
            flags |= Flags::ECE;
        }
        flags
    }
}

impl Connection {
    /// Whether this end has ABC as its congestion control, and the peer agreed to ECN.
    #[inline]
    pub(super) fn is_abc(&self) -> bool {
        self.sender.config().congestion == CongestionControl::Abc
            && self.ecn.is_agreed()
            && !self.ecn.is_accurate()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A brake is ECT(0), an accelerate ECT(1); congestion experienced is neither, and is
    /// echoed until the sender says that it has reduced its window.
    #[test]
    fn a_mark_and_a_brake_are_echoed_apart() {
        let arrives = |ecn, flags| Segment {
            ecn,
            flags,
            ..Segment::default()
        };
        let steps = [
            (Ecn::Capable1, Flags::ACK, Flags::default()),
            (Ecn::Capable0, Flags::ACK, NONCE_SUM),
            (Ecn::NotCapable, Flags::ACK, NONCE_SUM),
            (
                Ecn::CongestionExperienced,
                Flags::ACK,
                NONCE_SUM | Flags::ECE,
            ),
            (Ecn::Capable1, Flags::ACK, Flags::ECE),
            (Ecn::Capable0, Flags::ACK, NONCE_SUM | Flags::ECE),
            (Ecn::Capable1, Flags::ACK | Flags::CWR, Flags::default()),
        ];
        let mut signals = Signals::default();
        for (ecn, flags, echoed) in steps {
            signals = signals.after(&arrives(ecn, flags));
            assert_eq!(signals.flags(), echoed, "{ecn:?}");
        }
    }
}
