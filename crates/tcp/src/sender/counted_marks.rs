//! Congestion marks that the peer counts (RFC 9768): three bits of its count come with each
//! acknowledgment, and this end follows the rest.

use super::{Before, Sender};

/// Initial count of marked packets, at both ends: not zero, which a broken path may turn any value
/// into (§3.2.1).
pub const FIRST_COUNT: u8 = 5;
/// The values of the ACE field.
const CYCLE: u64 = 8;
/// An acknowledgment of this many segments on average, in fractions as below, is no sign that
/// others were lost: something on the path thins them out (Linux, `ACK_COMP_THRESH`).
const THINNED: u32 = 4 << FRACTION_BITS;
/// Fraction of the average, and its weight (Linux, `PKTS_ACKED_PREC` and `PKTS_ACKED_WEIGHT`).
const FRACTION_BITS: u32 = 6;
const WEIGHT_BITS: u32 = 6;

/// The sender's knowledge of the peer's count.
#[derive(Clone, Copy, Debug)]
pub(super) struct CountedMarks {
    /// The count (s.cep); only its lowest three bits matter.
    counted: u8,
    /// Segments that an acknowledgment covers on average, with a fraction; zero before the first.
    covered: u32,
    /// Whether the congestion control reacts to each mark itself.
    pub heeds_each: bool,
    /// Bytes reported as marked by the acknowledgment being processed.
    newly_marked: u64,
}

impl CountedMarks {
    /// Follows a count that begins at `counted`.
    pub const fn new(counted: u8, heeds_each: bool) -> Self {
        Self {
            counted,
            covered: 0,
            heeds_each,
            newly_marked: 0,
        }
    }

    /// Returns the number of new marks by an acknowledgment of `segments` segments, at least one,
    /// which carries `ace`.
    /// If enough segments are covered for the field to have wrapped once more, the maximum possible
    /// number of marks is counted (RFC 9768 §A.2.1), unless acknowledgments usually cover as many.
    fn count(&mut self, ace: u8, segments: u64) -> u64 {
        let least = u64::from(ace.wrapping_sub(self.counted)) % CYCLE;
        self.average(segments);
        let marks = if segments < CYCLE || self.covered > THINNED {
            least
        } else {
            segments - (segments - least) % CYCLE
        };
        self.counted = self.counted.wrapping_add((marks % CYCLE) as u8);
        marks
    }

    /// Bytes reported as marked by the acknowledgment being processed.
    pub const fn newly_marked(&self) -> u64 {
        self.newly_marked
    }

    fn average(&mut self, segments: u64) {
        let segments = u32::try_from(segments).unwrap_or(u32::MAX).min(0xffff) << FRACTION_BITS;
        let weighted = |covered: u32| {
            let sum =
                (u64::from(covered) << WEIGHT_BITS) - u64::from(covered) + u64::from(segments);
            u32::try_from(sum >> WEIGHT_BITS).unwrap_or(u32::MAX)
        };
        self.covered = match self.covered {
            0 => segments,
            covered => weighted(covered),
        };
    }
}

impl Sender {
    /// Takes the field `ace` of the acknowledgment being processed, which advances by `acked`
    /// bytes. Returns whether a mark is to be answered by a reduction of the window as for a loss.
    ///
    /// An acknowledgment of nothing new may be an old one. Its marks are reported by the next one
    /// too, as the count goes on (§A.1 would distinguish the two by timestamps).
    pub(super) fn take_count(&mut self, before: &Before, acked: u64, ace: u8) -> bool {
        let mss = self.congestion.mss();
        let delivered = if acked > 0 || self.board.delivery().is_some() {
            self.delivered(before, acked)
        } else {
            0
        };
        let Some(counted) = self.counted_mut() else {
            return false;
        };
        counted.newly_marked = 0;
        if delivered == 0 {
            return false;
        }
        let marks = counted.count(ace, delivered.div_ceil(mss));
        counted.newly_marked = marks.saturating_mul(mss).min(delivered);
        marks > 0 && !counted.heeds_each
    }

    /// Whether the congestion control reacts to each mark, so that data may be sent as ECT(1) (RFC
    /// 9331 §4.1 and §4.3).
    #[must_use]
    pub fn heeds_each_mark(&self) -> bool {
        self.extras
            .marks()
            .and_then(|marks| marks.counted())
            .is_some_and(|counted| counted.heeds_each)
    }

    /// Notifies a new congestion control that marks are counted, if they are.
    pub(super) fn heed_each_mark(&mut self) {
        if self.counted_mut().is_none() {
            return;
        }
        let heeds_each = self.congestion.heed_each_mark();
        if let Some(counted) = self.counted_mut() {
            counted.heeds_each = heeds_each;
        }
    }

    fn counted_mut(&mut self) -> Option<&mut CountedMarks> {
        self.extras.marks_mut()?.counted_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(counted: u8) -> CountedMarks {
        CountedMarks::new(counted, false)
    }

    /// RFC 9768 §A.2.1: d.cep = (ACE + 8 − s.cep mod 8) mod 8, on both sides of the wrap.
    #[test]
    fn the_least_difference_counts() {
        let mut marks = from(5);
        assert_eq!(
            [5, 6, 0, 7, 7].map(|ace| marks.count(ace, 2)),
            [0, 1, 2, 7, 0]
        );
        assert_eq!(marks.counted, 15);
        let mut marks = from(255);
        assert_eq!([0, 1].map(|ace| marks.count(ace, 1)), [1, 1], "0xff is 7");
    }

    /// §A.2.1: of nine segments and two marks at least, 9 − (9 − 2) mod 8 = 2 are marked; of ten
    /// and two, all ten may be.
    #[test]
    fn a_whole_cycle_may_have_been_missed() {
        assert_eq!(from(0).with_average(2).count(2, 9), 2);
        assert_eq!(from(0).with_average(2).count(2, 10), 10);
        assert_eq!(from(0).with_average(2).count(2, 7), 2);
        assert_eq!(from(0).with_average(2).count(0, 8), 8);
        // The count itself agrees with the field in each case.
        let mut marks = from(3).with_average(2);
        marks.count(1, 20);
        assert_eq!(marks.counted % 8, 1);
    }

    /// §A.2.1 and Linux, `__tcp_accecn_process`: not where acknowledgments are thinned out.
    #[test]
    fn thinned_acknowledgments_are_not_lost_ones() {
        assert_eq!(from(0).with_average(16).count(2, 18), 2);
        let mut marks = from(0);
        assert_eq!(marks.count(2, 18), 2, "the first is all that is known");
    }

    /// More marks than segments are believed (§3.2.2.5.2): some were control packets.
    #[test]
    fn the_field_is_believed() {
        assert_eq!(from(5).count(0, 1), 3);
    }

    impl CountedMarks {
        fn with_average(mut self, segments: u64) -> Self {
            self.average(segments);
            self
        }
    }
}
