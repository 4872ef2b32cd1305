//! Transmissions of a row that all are lost (RFC 9002 §7.6).

use airtcp_units::{Duration, Instant};

use super::{Rack, Tolerance};
use crate::loss_detection::{LatestSent, Scoreboard};

/// The lost transmissions that only a later delivery shows: in TCP a retransmission takes the place
/// of the earlier transmission on the scoreboard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outage {
    /// Time from the first to the last lost transmission of the longest row without a delivered
    /// one.
    pub lasted: Duration,
    /// Time of the last lost transmission that a retransmission followed.
    pub replaced: Option<Instant>,
}

impl Rack {
    /// Notes the outage since the latest transmission delivered before, if there was one: then a
    /// round trip is known (§7.6.2). To be called before [`on_delivery`](Self::on_delivery), when
    /// everything below `una` has just been acknowledged, and `newest` is the delivered segment
    /// that was sent last.
    pub fn note_outage(
        &mut self,
        now: Instant,
        board: &Scoreboard,
        (una, newest): (u64, LatestSent),
        tolerance: Tolerance,
    ) {
        let mut outage = Outage::default();
        let Some(before) = self.latest else {
            return;
        };
        let reached = self.number_of(newest);
        let mut first = None;
        let begin = self.sent.partition_point(|sent| sent.at <= before.sent_at);
        for (sent, index) in self.sent.range(begin..).zip(begin..) {
            if (sent.at, sent.start) >= (newest.sent_at, newest.end) {
                break;
            }
            let mut later = self.sent.range(index + 1..);
            let replaced = later.any(|other| other.start == sent.start);
            let answered = sent.start < una
                || board
                    .get(board.index_of(sent.start))
                    .is_none_or(|segment| segment.is_sacked());
            if answered && !replaced {
                first = None;
                continue;
            }
            if sent.at + tolerance.time <= now || self.is_overtaken(index, reached, tolerance) {
                outage.lasted = outage.lasted.max(sent.at - *first.get_or_insert(sent.at));
                if replaced {
                    outage.replaced = Some(sent.at);
                }
            }
        }
        self.outage = Some(outage);
    }

    /// Takes the outage noted last.
    #[inline]
    pub const fn take_outage(&mut self) -> Option<Outage> {
        self.outage.take()
    }
}
