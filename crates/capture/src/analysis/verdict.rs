//! Verdicts on retransmissions, once all answers are known.

use airtcp_units::Duration;

use super::findings::{Ack, Repeat, Sent};
use super::label::{Cause, Evidence, Need, Trigger};
use super::order::Later;
use super::vantage::Place;

/// Maximum time to an answer, relative to the shortest round trip, that shows it to be another
/// transmission's.
const TOO_SOON_PERCENT: u64 = 60;
/// Minimum time of a repair, as a share of a round trip, if packets are reordered without
/// timestamps.
const REPAIR_PERCENT: u64 = 50;
/// Maximum ratio of the waits for a second and a first retransmission, in percent, for the first to
/// be a probe: a second timeout comes after twice the first RTO (RFC 6298 §5.5), after a probe it
/// comes after one RTO.
const PROBE_RATIO_PERCENT: u64 = 160;

/// Verdict on a repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub trigger: Trigger,
    pub need: Need,
    pub evidence: Evidence,
    /// Lateness of the original, if needless.
    pub late_by: Option<Duration>,
    /// Whether it is a packet that was overtaken, not retransmitted.
    pub is_overtaken: bool,
    /// Whether it fills a hole from upstream of the capture.
    pub is_upstream: bool,
    /// Why it was retransmitted needlessly, if not because others overtook the original.
    pub in_order: Option<Cause>,
}

/// Facts about the flow that verdicts need.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlowFacts {
    pub place: Place,
    /// The shortest round trip of the path in use; zero if not measured.
    pub base: Duration,
    /// The round trip towards the sender; zero if not known.
    pub back: Duration,
    /// Whether probes were seen that cannot be mistaken.
    pub has_probes: bool,
    /// Both ends agreed on SACK.
    pub has_sack: bool,
    /// The longest payload of a packet, in bytes.
    pub mss: u64,
}

/// Judges each repeat, and marks the transmissions that were lost. Processed in reverse: a later
/// outcome can explain earlier ones. `bases` are the shortest round trips at each repeat.
pub(super) fn judge(
    repeats: &[Repeat],
    sent: &mut [Sent],
    acks: &[Ack],
    facts: FlowFacts,
    bases: &[Duration],
) -> Vec<Verdict> {
    let mut verdicts: Vec<Verdict> = Vec::with_capacity(repeats.len());
    let mut needs: Vec<Need> = Vec::with_capacity(repeats.len());
    for (number, repeat) in repeats.iter().enumerate().rev() {
        let base = bases.get(number).copied().unwrap_or(facts.base);
        let facts = FlowFacts { base, ..facts };
        let trigger = trigger(repeats, sent, number, facts.has_probes);
        let later = Later {
            sent,
            repeats,
            acks,
            needs: &needs,
            mss: facts.mss,
        };
        let verdict = if repeat.fills {
            filling(repeat, trigger, facts, &later)
        } else {
            repeating(repeat, trigger, facts, &later)
        };
        verdicts.push(verdict);
        needs.push(verdict.need);
        let previous = sent[repeat.sent.get()].previous;
        let is_repair =
            verdict.need == Need::Needed && !repeat.fills && verdict.evidence != Evidence::Refused;
        if is_repair && let Some(lost) = previous {
            sent[lost.get()].is_lost = true;
        }
    }
    verdicts.reverse();
    keep_reordering(&mut verdicts);
    verdicts
}

/// On a path that reorders, the ACK of a late original may be lost as well: the few that are
/// missing there give no other cause.
fn keep_reordering(verdicts: &mut [Verdict]) {
    let fast = || {
        let both = |one: &&Verdict| one.trigger == Trigger::Fast && one.need == Need::Needless;
        verdicts.iter().filter(both)
    };
    let is_unreported = |one: &Verdict| one.in_order.is_some_and(|cause| cause != Cause::NotShown);
    let unreported = fast().filter(|one| is_unreported(one)).count();
    let overtaken = fast().filter(|one| one.in_order.is_none()).count();
    if unreported < overtaken {
        for verdict in verdicts.iter_mut().filter(|one| is_unreported(one)) {
            verdict.in_order = None;
        }
    }
}

/// Its trigger; for a single segment, timeout or probe is decided by the wait for the next.
fn trigger(repeats: &[Repeat], sent: &[Sent], number: usize, has_probes: bool) -> Trigger {
    let repeat = &repeats[number];
    if let Some(trigger) = repeat.trigger {
        return trigger;
    }
    let this = &sent[repeat.sent.get()];
    let next = repeats.get(number + 1).filter(|next| {
        let next = &sent[next.sent.get()];
        next.start == this.start && next.previous == Some(repeat.sent)
    });
    let is_probe = match next {
        Some(next) => {
            let wait = sent[next.sent.get()].time - this.time;
            wait * 100 < repeat.since_silence * PROBE_RATIO_PERCENT
        }
        None => has_probes,
    };
    if is_probe {
        Trigger::TailProbe
    } else {
        Trigger::Timeout
    }
}

/// Judges a data packet that had passed here before.
fn repeating(repeat: &Repeat, trigger: Trigger, facts: FlowFacts, later: &Later<'_>) -> Verdict {
    let this = &later.sent[repeat.sent.get()];
    let previous = this.previous_in(later.sent);
    let is_held = repeat.was_acknowledged || repeat.was_sacked;
    let (need, evidence) = if facts.place == Place::Receiver {
        if !is_held && previous.is_some_and(|previous| previous.is_refused) {
            (Need::Needed, Evidence::Refused)
        } else {
            (Need::Needless, Evidence::Received)
        }
    } else if is_held {
        (Need::Needless, Evidence::Acknowledged)
    } else if repeat.is_duplicate {
        (Need::Needless, Evidence::Dsack)
    } else {
        answered(repeat, this, facts, later)
    };
    let late_by = match (need, repeat.answer) {
        (Need::Needless, Some(answer)) => Some(answer.time - this.time),
        _ => None,
    };
    Verdict {
        trigger,
        need,
        evidence,
        late_by,
        is_overtaken: false,
        is_upstream: false,
        in_order: (need == Need::Needless && trigger == Trigger::Fast)
            .then(|| in_order(repeat, this, facts, later))
            .flatten(),
    }
}

/// The cause of a needless retransmission if its original was not overtaken, as far as shown.
///
/// Without later data that was reported, nothing can have overtaken it: after one needless
/// retransmission, RACK takes its early answer for a short round trip (RFC 8985 §6.2), and all
/// that was sent before for lost. Or no ACK had reported the original: those that did were lost, as
/// their missing numbers show, or one that the receiver had held back had no room. The first ACK to
/// report the data was then prompted by other data, as that of a late original is not.
fn in_order(repeat: &Repeat, this: &Sent, facts: FlowFacts, later: &Later<'_>) -> Option<Cause> {
    if facts.has_sack && repeat.bytes_above <= this.end - this.start {
        return Some(Cause::NotShown);
    }
    let original = this.previous_in(later.sent)?;
    let answer = repeat.answer.filter(|answer| !answer.is_prompted)?;
    let due = original.time + facts.base;
    let up_to_answer = later
        .acks
        .get(..=answer.number as usize)
        .unwrap_or(later.acks);
    let since_due = || {
        let acks = up_to_answer.iter().rev();
        acks.take_while(|ack| ack.time >= due)
    };
    if since_due().any(|ack| ack.missing_before > 0) {
        return Some(Cause::LostAcks);
    }
    since_due()
        .any(|ack| ack.is_crowded)
        .then_some(Cause::CrowdedAcks)
}

/// Judges a retransmission by its answer.
fn answered(repeat: &Repeat, this: &Sent, facts: FlowFacts, later: &Later<'_>) -> (Need, Evidence) {
    let Some(answer) = repeat.answer else {
        return (Need::Unknown, Evidence::NoAnswer);
    };
    if let (Some(echo), Some(own)) = (answer.echo, this.timestamp) {
        if is_before(echo, own) {
            return (Need::Needless, Evidence::EarlierEcho);
        }
        // The value is this one's or a later one's, not an earlier transmission's.
        let previous = this.previous_in(later.sent);
        let is_later = previous
            .and_then(|previous| previous.timestamp)
            .is_some_and(|value| is_before(value, own));
        if is_later && answer.is_from_here && !repeat.originals_acknowledged {
            return (Need::Needed, Evidence::OwnEcho);
        }
    }
    let took = answer.time - this.time;
    if took * 100 < facts.base * TOO_SOON_PERCENT {
        (Need::Needless, Evidence::TooSoon)
    } else if repeat.originals_acknowledged {
        (Need::Needless, Evidence::OriginalsAcknowledged)
    } else if !facts.has_sack
        && let Some(evidence) = later.needless(this, repeat.sent, &answer)
    {
        (Need::Needless, evidence)
    } else {
        (Need::Needed, Evidence::Answered)
    }
}

/// Judges a packet that fills a hole: repaired upstream of the capture, or overtaken there.
fn filling(repeat: &Repeat, trigger: Trigger, facts: FlowFacts, later: &Later<'_>) -> Verdict {
    let this = &later.sent[repeat.sent.get()];
    let revealed = repeat.revealed_by.map(|at| &later.sent[at.get()]);
    let delay = revealed.map(|other| this.time - other.time);
    let order = revealed.and_then(|other| sent_later(this, other));
    let (is_repair, evidence) = match order {
        Some(is_later) => (is_later, Evidence::SentLater),
        None => {
            let is_late = delay.is_some_and(|delay| delay * 100 >= facts.back * REPAIR_PERCENT);
            (is_late, Evidence::HoleFilled)
        }
    };
    // At the sender itself the hole is one of the capture: the first transmission was not captured.
    let (need, evidence) = match (is_repair, facts.place) {
        (true, Place::Sender) => answered(repeat, this, facts, later),
        (true, _) => (Need::Needed, evidence),
        (false, _) => (Need::Needless, evidence),
    };
    Verdict {
        trigger,
        need,
        evidence,
        late_by: if is_repair { None } else { delay },
        is_overtaken: !is_repair,
        is_upstream: facts.place != Place::Sender,
        in_order: None,
    }
}

/// Whether `this` left its sender after `other`, by their timestamps or, if these are equal, by the
/// IPv4 identification, which Linux increments per connection.
fn sent_later(this: &Sent, other: &Sent) -> Option<bool> {
    if let (Some(own), Some(value)) = (this.timestamp, other.timestamp)
        && own != value
    {
        return Some(is_before(value, own));
    }
    match (this.identification, other.identification) {
        (Some(own), Some(value)) if own != value => {
            let distance = own.wrapping_sub(value).cast_signed();
            // A sender with random numbers jumps.
            (distance.unsigned_abs() < 4096).then_some(distance > 0)
        }
        _ => None,
    }
}

/// Whether timestamp `one` is before `other` (RFC 7323 §5.4).
fn is_before(one: u32, other: u32) -> bool {
    one.wrapping_sub(other).cast_signed() < 0
}

/// Whether an unambiguous probe was seen: one of several segments in flight.
pub(super) fn shows_probes(repeats: &[Repeat]) -> bool {
    repeats
        .iter()
        .any(|repeat| repeat.trigger == Some(Trigger::TailProbe))
}
