//! Spurious timeouts and causes of losses, from the simulator's knowledge of every packet's fate.
//!
//! A timeout is spurious if a copy of the segment sent before it arrives, or had arrived. Losses
//! are kept until acknowledged, so that at a timeout the number of earlier copies that can still
//! arrive is known; those are watched for.

use airtcp_packet::SequenceNumber;
use airtcp_tcp::loss_differentiation::Cause;
use airtcp_units::Instant;

/// A loss list longer than this is pruned of acknowledged entries.
const PRUNE_AT: usize = 16;

/// A timeout whose earlier copies are still in flight.
#[derive(Clone, Copy, Debug)]
struct Undecided {
    sequence: SequenceNumber,
    /// Transmissions with a smaller index were sent before the timer expired.
    before: u64,
    copies: u32,
    expired_at: Instant,
}

/// How often a sender classified a loss, and how often correctly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdicts {
    /// Loss events whose first segment was lost by the radio.
    pub of_radio: u64,
    /// Of these, those classified so.
    pub of_radio_right: u64,
    /// Loss events whose first segment found a queue full.
    pub of_congestion: u64,
    /// Of these, those classified so.
    pub of_congestion_right: u64,
    /// Events in which nothing was lost.
    pub of_nothing: u64,
    /// Events of any cause, by the number of segments found lost at once: 1, 2, 3, more.
    pub by_segments: [u64; 4],
    /// Events that came with a round trip below the mean.
    pub below_mean: u64,
    /// Events attributed to the radio, correctly or not.
    pub judged_radio: u64,
}

/// A sender's classification of a loss event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judgment {
    /// The stream offset of the first segment lost.
    pub offset: u64,
    /// The cause to which it attributed the loss.
    pub cause: Cause,
    /// Segments found lost at once.
    pub lost_segments: u32,
    /// Whether the last round trip was below the mean.
    pub below_mean: bool,
}

/// Losses by cause, and their classifications.
#[derive(Clone, Debug, Default)]
struct ClassifiedLosses {
    causes: Vec<(SequenceNumber, Cause)>,
    verdicts: Verdicts,
}

/// The fates of a flow's data packets, as needed for timeouts and classified losses.
#[derive(Clone, Debug, Default)]
pub struct Truth {
    /// Only for flows whose losses are classified, so that very many others fit in memory.
    judged: Option<Box<ClassifiedLosses>>,
    lost: Vec<SequenceNumber>,
    /// Boxed likewise: few timeouts are in doubt.
    #[expect(clippy::box_collection, reason = "a pointer where there are none")]
    undecided: Option<Box<Vec<Undecided>>>,
    spurious: u64,
}

/// The verdicts of a flow without a classifier.
const NO_VERDICTS: &Verdicts = &Verdicts {
    of_radio: 0,
    of_radio_right: 0,
    of_congestion: 0,
    of_congestion_right: 0,
    of_nothing: 0,
    by_segments: [0; 4],
    below_mean: 0,
    judged_radio: 0,
};

impl Truth {
    /// Timeouts known to have been spurious.
    pub const fn spurious(&self) -> u64 {
        self.spurious
    }

    /// Whether no timeout still waits for a copy to arrive.
    #[inline]
    pub const fn is_settled(&self) -> bool {
        self.undecided.is_none()
    }

    /// How often the sender classified losses, and how often correctly.
    pub fn verdicts(&self) -> &Verdicts {
        match &self.judged {
            Some(judged) => &judged.verdicts,
            None => NO_VERDICTS,
        }
    }

    /// Records the cause of a data packet's loss; kept until it is acknowledged.
    pub fn on_cause(&mut self, sequence: SequenceNumber, cause: Cause, una: SequenceNumber) {
        let causes = &mut self.judged.get_or_insert_default().causes;
        if causes.len() >= PRUNE_AT {
            causes.retain(|(lost, _)| !lost.before(una));
        }
        causes.push((sequence, cause));
    }

    /// The cause of the loss of the packet at `sequence`, if kept. Of several copies the first
    /// counts: the event is about its loss.
    pub fn cause(&self, sequence: SequenceNumber) -> Option<Cause> {
        let mut causes = self.judged.as_ref()?.causes.iter();
        causes.find_map(|&(lost, cause)| (lost == sequence).then_some(cause))
    }

    /// Records the sender's classification of the loss of the segment at `sequence`.
    pub fn on_judged(&mut self, sequence: SequenceNumber, judgment: &Judgment) {
        let judged = judgment.cause;
        let truth = self.cause(sequence);
        let verdicts = &mut self.judged.get_or_insert_default().verdicts;
        verdicts.by_segments[(judgment.lost_segments.clamp(1, 4) - 1) as usize] += 1;
        verdicts.below_mean += u64::from(judgment.below_mean);
        verdicts.judged_radio += u64::from(judged == Cause::Radio);
        match truth {
            Some(Cause::Radio) => {
                verdicts.of_radio += 1;
                verdicts.of_radio_right += u64::from(judged == Cause::Radio);
            }
            Some(Cause::Congestion) => {
                verdicts.of_congestion += 1;
                verdicts.of_congestion_right += u64::from(judged == Cause::Congestion);
            }
            None => verdicts.of_nothing += 1,
        }
    }

    /// Records a timeout of the segment at `sequence`, sent `transmissions` times before.
    /// `received`: the receiver holds it. `index` is that of the next transmission. Returns whether
    /// the timeout is known to be spurious.
    pub fn on_timeout(
        &mut self,
        now: Instant,
        sequence: SequenceNumber,
        transmissions: u32,
        index: u64,
        received: bool,
    ) -> bool {
        if received {
            self.spurious += 1;
            return true;
        }
        let lost = self.lost.iter().filter(|&&lost| lost == sequence).count();
        let copies = transmissions.saturating_sub(u32::try_from(lost).unwrap_or(u32::MAX));
        if copies > 0 {
            self.undecided.get_or_insert_default().push(Undecided {
                sequence,
                before: index,
                copies,
                expired_at: now,
            });
        }
        false
    }

    /// Records that the data packet at `sequence`, transmission `index`, was lost. `una` is the
    /// first unacknowledged sequence number.
    pub fn on_loss(&mut self, sequence: SequenceNumber, index: u64, una: SequenceNumber) {
        // Before it grows.
        if self.lost.len() == self.lost.capacity() {
            self.lost.retain(|lost| !lost.before(una));
        }
        self.lost.push(sequence);
        self.decide(|timeout| {
            if timeout.sequence == sequence && index < timeout.before {
                timeout.copies -= 1;
            }
            timeout.copies == 0
        });
    }

    /// Removes the timeouts for which `is_decided` returns true.
    fn decide(&mut self, mut is_decided: impl FnMut(&mut Undecided) -> bool) {
        if let Some(undecided) = &mut self.undecided {
            undecided.retain_mut(|timeout| !is_decided(timeout));
            if undecided.is_empty() {
                self.undecided = None;
            }
        }
    }

    /// Records that an agent on the path has sent another copy of the packet at `sequence`: if a
    /// copy was lost, this one takes its place.
    pub fn on_repeat(&mut self, sequence: SequenceNumber) {
        if let Some(place) = self.lost.iter().position(|&lost| lost == sequence) {
            self.lost.swap_remove(place);
        }
    }

    /// Records that the data packet at `sequence`, transmission `index`, arrived. `settled` is
    /// called with each timeout that was therefore spurious, by the time of its expiry.
    pub fn on_arrival(
        &mut self,
        sequence: SequenceNumber,
        index: u64,
        mut settled: impl FnMut(Instant),
    ) {
        let mut spurious = 0;
        self.decide(|timeout| {
            let is_its_copy = timeout.sequence == sequence && index < timeout.before;
            if is_its_copy {
                spurious += 1;
                settled(timeout.expired_at);
            }
            is_its_copy
        });
        self.spurious += spurious;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNA: SequenceNumber = SequenceNumber(1000);
    const NOW: Instant = Instant::ZERO;

    fn arrival(truth: &mut Truth, sequence: SequenceNumber, index: u64) -> Vec<Instant> {
        let mut settled = Vec::new();
        truth.on_arrival(sequence, index, |expired_at| settled.push(expired_at));
        settled
    }

    #[test]
    fn a_copy_that_was_lost_makes_a_timeout_genuine() {
        let mut truth = Truth::default();
        truth.on_loss(UNA, 0, UNA);
        assert!(!truth.on_timeout(NOW, UNA, 1, 5, false));
        // The retransmission arrives: not a copy from before the timeout.
        assert_eq!(arrival(&mut truth, UNA, 5), []);
        assert_eq!(truth.spurious(), 0);
    }

    #[test]
    fn a_copy_held_by_the_receiver_makes_it_spurious() {
        let mut truth = Truth::default();
        assert!(truth.on_timeout(NOW, UNA, 1, 5, true));
        assert_eq!(truth.spurious(), 1);
    }

    #[test]
    fn a_copy_that_arrives_later_makes_it_spurious_once() {
        let mut truth = Truth::default();
        let expired_at = Instant::from_nanos(7);
        assert!(!truth.on_timeout(expired_at, UNA, 2, 5, false));
        assert_eq!(arrival(&mut truth, SequenceNumber(2000), 3), []);
        assert_eq!(arrival(&mut truth, UNA, 3), [expired_at]);
        assert_eq!(arrival(&mut truth, UNA, 4), []);
        assert_eq!(truth.spurious(), 1);
    }

    #[test]
    fn one_arrival_settles_every_timeout_that_waited_for_it() {
        let mut truth = Truth::default();
        let expiries = [Instant::from_nanos(7), Instant::from_nanos(9)];
        assert!(!truth.on_timeout(expiries[0], UNA, 1, 5, false));
        assert!(!truth.on_timeout(expiries[1], UNA, 2, 6, false));
        assert_eq!(arrival(&mut truth, UNA, 0), expiries);
        assert_eq!(truth.spurious(), 2);
    }

    #[test]
    fn all_copies_lost_later_make_it_genuine() {
        let mut truth = Truth::default();
        assert!(!truth.on_timeout(NOW, UNA, 2, 5, false));
        truth.on_loss(UNA, 3, UNA);
        truth.on_loss(UNA, 6, UNA);
        truth.on_loss(UNA, 4, UNA);
        assert_eq!(arrival(&mut truth, UNA, 4), []);
        assert!(truth.is_settled());
    }

    #[test]
    fn a_copy_made_on_the_way_replaces_a_lost_one() {
        let mut truth = Truth::default();
        truth.on_loss(UNA, 0, UNA);
        truth.on_repeat(UNA);
        // The copy is still in flight when the timer expires, and arrives under the same index.
        assert!(!truth.on_timeout(NOW, UNA, 1, 5, false));
        assert_eq!(arrival(&mut truth, UNA, 0), [NOW]);
        assert_eq!(truth.spurious(), 1);
    }

    #[test]
    fn acknowledged_losses_are_forgotten() {
        let mut truth = Truth::default();
        for sequence in 0..1000 {
            truth.on_loss(
                SequenceNumber(sequence),
                u64::from(sequence),
                SequenceNumber(sequence),
            );
        }
        assert!(truth.lost.len() <= PRUNE_AT);
    }
}
