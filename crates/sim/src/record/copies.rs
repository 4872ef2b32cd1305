//! Which of several packets with the same data an acknowledgment is for: QUIC acknowledges packets,
//! TCP data.
//!
//! The repair, as a rule. An acknowledgment that echoes an older timestamp than the repair's was
//! caused by a packet before it (Eifel detection, RFC 3522 §3), and a report of a duplicate shows
//! that another arrived as well (RFC 2883).

use std::collections::VecDeque;
use std::ops::Range;

use airtcp_packet::SequenceNumber;

/// Number of remembered packets with data that arrived by another: reports of duplicates come soon.
const MAX_SUPERSEDED: usize = 1024;

/// A packet that was sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outstanding {
    pub number: u64,
    /// Its sequence space, expanded to 64 bits.
    pub start: u64,
    pub end: u64,
    /// Its timestamp, if it has one.
    pub stamp: Option<SequenceNumber>,
    /// Whether its data was retransmitted since, so that the sender presumed it lost.
    pub is_lost: bool,
}

impl Outstanding {
    const fn shares(&self, other: &Range<u64>) -> bool {
        self.start < other.end && other.start < self.end
    }

    fn left_after(&self, echo: SequenceNumber) -> bool {
        self.stamp.is_some_and(|stamp| echo.before(stamp))
    }
}

/// The packets covered by an acknowledgment.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Arrived {
    /// Numbers of the packets that it acknowledges, in order.
    pub acknowledged: Vec<u64>,
    /// Packets that it shows to be lost, but were not presumed lost.
    pub missed: Vec<u64>,
}

/// The packets that were sent and not acknowledged.
#[derive(Debug, Default)]
pub(super) struct Copies {
    outstanding: VecDeque<Outstanding>,
    /// Packets with data that arrived by another.
    superseded: VecDeque<Outstanding>,
}

impl Copies {
    /// Takes a packet that leaves.
    pub fn on_sent(&mut self, packet: Outstanding) {
        self.outstanding.push_back(packet);
    }

    /// Presumes the packets lost that hold data of `range`, which is retransmitted; returns their
    /// numbers.
    pub fn presume_lost(&mut self, range: Range<u64>) -> Vec<u64> {
        let of_range = |one: &&mut Outstanding| !one.is_lost && one.shares(&range);
        let lost = self.outstanding.iter_mut().filter(of_range);
        lost.map(|one| {
            one.is_lost = true;
            one.number
        })
        .collect()
    }

    /// Takes an acknowledgment of everything below `cumulative` and of `blocks`, which echoes a
    /// timestamp.
    pub fn on_acknowledgment(
        &mut self,
        cumulative: u64,
        blocks: &[Range<u64>],
        echo: Option<SequenceNumber>,
    ) -> Arrived {
        let mut arrived = Arrived::default();
        if let Some(duplicate) = duplicate(cumulative, blocks)
            && let Some(index) = self.superseded.iter().position(|one| one.shares(duplicate))
            && let Some(one) = self.superseded.remove(index)
        {
            arrived.acknowledged.push(one.number);
        }
        let mut covered = Vec::new();
        self.outstanding.retain(|one| {
            let within = |block: &Range<u64>| block.start <= one.start && one.end <= block.end;
            let is_covered = one.end <= cumulative || blocks.iter().any(within);
            if is_covered {
                covered.push(*one);
            }
            !is_covered
        });
        for (index, one) in covered.iter().enumerate() {
            let range = one.start..one.end;
            let later = covered[index + 1..].iter().any(|other| {
                // A block's echo is that of data below it, and proves nothing.
                let is_too_late =
                    one.end <= cumulative && echo.is_some_and(|echo| other.left_after(echo));
                other.shares(&range) && !is_too_late
            });
            let is_too_late = one.end <= cumulative
                && echo.is_some_and(|echo| one.left_after(echo))
                && covered[..index].iter().any(|other| other.shares(&range));
            if !later && !is_too_late {
                arrived.acknowledged.push(one.number);
                continue;
            }
            if later && !one.is_lost {
                arrived.missed.push(one.number);
            }
            self.superseded.push_back(*one);
            if self.superseded.len() > MAX_SUPERSEDED {
                self.superseded.pop_front();
            }
        }
        arrived.acknowledged.sort_unstable();
        arrived
    }
}

/// The block that reports a duplicate, if the first one does: below the acknowledgment, or within
/// the second (RFC 2883 §4).
fn duplicate(cumulative: u64, blocks: &[Range<u64>]) -> Option<&Range<u64>> {
    let first = blocks.first()?;
    let is_within = |second: &Range<u64>| second.start <= first.start && first.end <= second.end;
    (first.end <= cumulative || blocks.get(1).is_some_and(is_within)).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes of the first packet.
    const FIRST: Range<u64> = 0..1000;

    /// Packet `number` with the bytes of `position`, stamped by its number.
    fn packet(number: u64, position: u64) -> Outstanding {
        Outstanding {
            number,
            start: position * 1000,
            end: (position + 1) * 1000,
            stamp: Some(SequenceNumber(number as u32)),
            is_lost: false,
        }
    }

    /// Three packets, and a retransmission of the first as packet 3.
    fn repaired() -> Copies {
        let mut copies = Copies::default();
        (0..3).for_each(|number| copies.on_sent(packet(number, number)));
        assert_eq!(copies.presume_lost(0..1000), [0]);
        assert_eq!(copies.presume_lost(0..1000), [] as [u64; 0]);
        copies.on_sent(packet(3, 0));
        copies
    }

    fn numbers(arrived: Arrived) -> (Vec<u64>, Vec<u64>) {
        (arrived.acknowledged, arrived.missed)
    }

    #[test]
    fn the_repair_is_acknowledged_and_what_it_repairs_is_not() {
        for echo in [None, Some(SequenceNumber(3))] {
            let arrived = repaired().on_acknowledgment(3000, &[], echo);
            assert_eq!(numbers(arrived), (vec![1, 2, 3], vec![]));
        }
        let arrived = repaired().on_acknowledgment(0, &[0..1000, 2000..3000], None);
        assert_eq!(numbers(arrived), (vec![2, 3], vec![]), "by blocks");
    }

    /// The echo is the first packet's: it was only late. The repair is reported as a duplicate.
    #[test]
    fn an_older_echo_is_the_first_packets() {
        let mut copies = repaired();
        let arrived = copies.on_acknowledgment(3000, &[], Some(SequenceNumber(0)));
        assert_eq!(numbers(arrived), (vec![0, 1, 2], vec![]));
        let arrived = copies.on_acknowledgment(3000, &[FIRST], Some(SequenceNumber(0)));
        assert_eq!(numbers(arrived), (vec![3], vec![]));
        let arrived = copies.on_acknowledgment(3000, &[FIRST], Some(SequenceNumber(0)));
        assert_eq!(numbers(arrived), (vec![], vec![]), "only once");
    }

    /// Both arrived, the repair first to be acknowledged.
    #[test]
    fn a_duplicate_shows_that_the_first_arrived_too() {
        let mut copies = repaired();
        copies.on_acknowledgment(3000, &[], Some(SequenceNumber(3)));
        let arrived = copies.on_acknowledgment(3000, &[FIRST], Some(SequenceNumber(3)));
        assert_eq!(numbers(arrived), (vec![0], vec![]));
    }

    /// A probe repeats data that is not presumed lost: if only it arrives, the first was lost (RFC
    /// 8985 §7.4).
    #[test]
    fn a_probe_that_repairs_shows_a_loss() {
        let mut copies = Copies::default();
        copies.on_sent(packet(0, 0));
        copies.on_sent(packet(1, 0));
        let arrived = copies.on_acknowledgment(1000, &[], Some(SequenceNumber(1)));
        assert_eq!(numbers(arrived), (vec![1], vec![0]));
        let mut copies = Copies::default();
        copies.on_sent(packet(0, 0));
        copies.on_sent(packet(1, 0));
        let arrived = copies.on_acknowledgment(1000, &[], Some(SequenceNumber(0)));
        assert_eq!(numbers(arrived), (vec![0], vec![]));
    }
}
