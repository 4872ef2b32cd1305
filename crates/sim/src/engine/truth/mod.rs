//! Spurious timeouts and causes of losses, from the simulator's knowledge of every packet's fate.
//!
//! A timeout is spurious if it would not have occurred had the sender waited longer (RFC 3522, RFC
//! 5682): a copy of the segment sent before it arrives, or had arrived, and so does an
//! acknowledgment of it that the receiver sends before any packet sent after the timeout reaches
//! it. If only the copy arrives, the acknowledgments were lost, and no timer is long enough.
//!
//! ```text
//! sender    copy ─╲            timeout ── retransmission ─╲          ACK ≥ mark: they were lost
//!                  ╲          ╱ ACK < mark: spurious        ╲       ╱
//! receiver          arrives ─╱ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ mark ─╱
//! ```
//!
//! Losses are kept until acknowledged, so that at a timeout the number of earlier copies that can
//! still arrive is known; these are tracked.

use airtcp_packet::SequenceNumber;
use airtcp_tcp::loss_differentiation::Cause;
use airtcp_units::Instant;

/// A loss list longer than this is pruned of acknowledged entries.
const PRUNE_AT: usize = 16;

/// An expiry of the retransmission timer.
#[derive(Clone, Copy, Debug)]
pub struct Expiry {
    /// Time of the expiry.
    pub at: Instant,
    /// First byte of its segment.
    pub sequence: SequenceNumber,
    /// Number of transmissions of the segment before the expiry.
    pub transmissions: u32,
    /// Transmissions with a smaller index were sent before the timer expired.
    pub before: u64,
    /// Whether the receiver holds the segment.
    pub received: bool,
    /// Whether it is the oldest unacknowledged one: without SACK no other is acknowledged before
    /// those in front of it, and its arrival decides.
    pub is_oldest: bool,
}

/// The state of a receiver when a data packet reaches it.
#[derive(Clone, Copy, Debug)]
pub struct Receiving {
    /// Index of the next packet that it sends.
    pub next: u64,
    /// Whether an acknowledgment waits for its timer.
    pub is_pending: bool,
}

/// A timeout with earlier copies, or their acknowledgments, still in flight.
#[derive(Clone, Copy, Debug)]
struct Undecided {
    expiry: Expiry,
    /// Copies that may still arrive.
    copies: u32,
    /// Acknowledgments with a smaller index left before the receiver got data sent after the
    /// timeout.
    mark: u64,
}

impl Undecided {
    /// Whether a packet is one of its copies sent before the timeout.
    fn is_copy(&self, sequence: SequenceNumber, index: u64) -> bool {
        self.expiry.sequence == sequence && index < self.expiry.before
    }
}

/// Numbers of losses that a sender classified, in all and correctly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdicts {
    /// Loss events with the first segment lost by the radio.
    pub of_radio: u64,
    /// Loss events of the radio classified as such.
    pub of_radio_right: u64,
    /// Loss events with the first segment dropped by a full queue.
    pub of_congestion: u64,
    /// Loss events of congestion classified as such.
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
    /// Only for flows with classified losses, so that very many others fit in memory.
    judged: Option<Box<ClassifiedLosses>>,
    lost: Vec<SequenceNumber>,
    /// Boxed likewise: few timeouts are in doubt.
    #[expect(clippy::box_collection, reason = "a pointer while it is empty")]
    undecided: Option<Box<Vec<Undecided>>>,
    spurious: u32,
    unacknowledged: u32,
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
        self.spurious as u64
    }

    /// Timeouts of segments that had arrived, with all acknowledgments lost.
    pub const fn unacknowledged(&self) -> u64 {
        self.unacknowledged as u64
    }

    /// Whether no timeout still waits for a copy or an acknowledgment to arrive.
    #[inline]
    pub const fn is_settled(&self) -> bool {
        self.undecided.is_none()
    }

    /// Numbers of losses that the sender classified, in all and correctly.
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

    /// The cause of the loss of the packet at `sequence`, if kept. The first of several copies
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

    /// Records a timeout. Returns whether it is known to be spurious.
    pub fn on_timeout(&mut self, expiry: Expiry) -> bool {
        if expiry.received && !expiry.is_oldest {
            self.spurious += 1;
            return true;
        }
        let lost = self.lost.iter().filter(|&&lost| lost == expiry.sequence);
        let lost = u32::try_from(lost.count()).unwrap_or(u32::MAX);
        let copies = expiry.transmissions.saturating_sub(lost);
        if copies > 0 || expiry.received {
            self.undecided.get_or_insert_default().push(Undecided {
                expiry,
                copies,
                mark: u64::MAX,
            });
        }
        false
    }

    /// Records that the data packet at `sequence`, transmission `index`, was lost. `una` is the
    /// first unacknowledged sequence number.
    pub fn on_loss(&mut self, sequence: SequenceNumber, index: u64, una: SequenceNumber) {
        if self.lost.len() == self.lost.capacity() {
            self.make_room(una);
        }
        self.lost.push(sequence);
        self.decide(|timeout| {
            if timeout.is_copy(sequence, index) {
                timeout.copies = timeout.copies.saturating_sub(1);
            }
            timeout.copies == 0 && !timeout.expiry.received
        });
    }

    /// Forgets the losses of acknowledged packets. If they are less than a quarter, the capacity
    /// grows by a quarter, by four at least, so that very many flows fit in memory. An empty list
    /// is left to `Vec`, which makes room for four.
    #[cold]
    fn make_room(&mut self, una: SequenceNumber) {
        let before = self.lost.len();
        self.lost.retain(|lost| !lost.before(una));
        if self.lost.len() > before - before / 4 {
            let more = (before / 4).next_multiple_of(4).max(4);
            self.lost.reserve_exact(more);
        }
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

    /// Records that the data packet at `sequence`, transmission `index`, reaches the receiver in
    /// this state. `settled` is called with each timeout that is therefore spurious.
    pub fn on_arrival(
        &mut self,
        sequence: SequenceNumber,
        index: u64,
        receiver: Receiving,
        mut settled: impl FnMut(&Expiry),
    ) {
        let mut spurious = 0;
        self.decide(|timeout| {
            let is_marked = timeout.mark < u64::MAX;
            let mut is_spurious = false;
            if timeout.is_copy(sequence, index) {
                // A copy that the retransmission has overtaken arrives late, and so would its
                // answer.
                is_spurious = !timeout.expiry.is_oldest || is_marked && !timeout.expiry.received;
                timeout.expiry.received = true;
            } else if index >= timeout.expiry.before && !is_marked {
                timeout.mark = receiver.next;
                is_spurious = timeout.expiry.received && receiver.is_pending;
            }
            if is_spurious {
                spurious += 1;
                settled(&timeout.expiry);
            }
            is_spurious
        });
        self.spurious += spurious;
    }

    /// Records that the receiver's packet `index`, which acknowledges the bytes before
    /// `acknowledged`, reaches the sender. `settled` is called with each timeout that is therefore
    /// spurious.
    pub fn on_acknowledgment(
        &mut self,
        acknowledged: SequenceNumber,
        index: u64,
        mut settled: impl FnMut(&Expiry),
    ) {
        let (mut spurious, mut unacknowledged) = (0, 0);
        self.decide(|timeout| {
            let expiry = &timeout.expiry;
            let is_answer = expiry.received && expiry.sequence.before(acknowledged);
            if is_answer && index < timeout.mark {
                spurious += 1;
                settled(expiry);
            } else if is_answer {
                unacknowledged += 1;
            }
            is_answer
        });
        self.spurious += spurious;
        self.unacknowledged += unacknowledged;
    }
}

#[cfg(test)]
mod tests;
