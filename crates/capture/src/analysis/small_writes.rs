//! Short segments held back by their sender until previous data was acknowledged (Nagle's
//! algorithm, RFC 9293 §3.7.4): an application that writes a message in parts waits for the
//! receiver's delayed acknowledgment between them.

use airtcp_units::{Duration, Instant};

use super::findings::{Ack, Sent};

/// Maximum time after an acknowledgment for a segment that was waiting for it.
const PROMPT: Duration = Duration::from_micros(500);
/// Minimum excess of a wait over the shortest round trip that shows a delayed acknowledgment:
/// Linux's shortest is 40 ms (`TCP_DELACK_MIN`).
const DELAYED: Duration = Duration::from_millis(15);

/// The waits of short segments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SmallWrites {
    /// Start and end of each, in order.
    pub waits: Vec<(Instant, Instant)>,
    /// Number of waits in which the receiver delayed its acknowledgment.
    pub delayed: u64,
    /// Their median time beyond the shortest round trip.
    pub delay: Option<Duration>,
}

impl SmallWrites {
    /// The total time of the waits.
    #[must_use]
    pub fn time(&self) -> Duration {
        let nanos = |(from, to): &(Instant, Instant)| (*to - *from).as_nanos();
        Duration::from_nanos(self.waits.iter().map(nanos).sum())
    }

    /// Whether an interval lies within a wait.
    pub(super) fn holds(&self, from: Instant, to: Instant) -> bool {
        let behind = self.waits.partition_point(|(begin, _)| *begin <= from);
        behind
            .checked_sub(1)
            .and_then(|at| self.waits.get(at))
            .is_some_and(|(_, end)| to <= *end)
    }
}

/// The waits of a flow in its sender's view, with shortest round trip `base`.
///
/// A wait ends with an acknowledgment without data, which an answer of the other application would
/// carry, that covers all data sent so far.
pub(super) fn find(sent: &[Sent], acks: &[Ack], base: Duration) -> SmallWrites {
    collect(sent, acks, |before, ack, short| {
        let is_wait = ack.time <= short.time && short.time - ack.time <= PROMPT;
        is_wait.then(|| {
            (
                (before.time, ack.time),
                (ack.time - before.time).max(base) - base,
            )
        })
    })
}

/// The same at the receiver, for acknowledgments that it delayed: the rest of the message comes a
/// round trip `to_sender` after each. Without a delay, an application that sends late looks the
/// same.
pub(super) fn find_at_receiver(sent: &[Sent], acks: &[Ack], to_sender: Duration) -> SmallWrites {
    let slack = (to_sender / 4).max(PROMPT);
    collect(sent, acks, |before, ack, short| {
        let delay = ack.time - before.time;
        let released = ack.time + to_sender;
        let is_wait =
            delay >= DELAYED && short.time + slack >= released && short.time <= released + slack;
        is_wait.then_some(((before.time, short.time), delay))
    })
}

/// The waits of short segments for which `judge` finds one, from the data before, its
/// acknowledgment and the short segment: start and end, and the delay of the acknowledgment.
fn collect(
    sent: &[Sent],
    acks: &[Ack],
    judge: impl Fn(&Sent, &Ack, &Sent) -> Option<((Instant, Instant), Duration)>,
) -> SmallWrites {
    let mut found = SmallWrites::default();
    let mut delays = Vec::new();
    let mut next = 0;
    for pair in sent.windows(2) {
        let [before, short] = pair else { continue };
        // A segment without payload is a FIN.
        let has_data = short.ip_bytes > 0 && short.end > short.start;
        let follows = short.attempt == 0 && short.start == before.end && before.end > before.start;
        if !(short.is_short && has_data && follows) {
            continue;
        }
        while acks
            .get(next)
            .is_some_and(|ack| ack.acknowledged < short.start)
        {
            next += 1;
        }
        let Some(ack) = acks.get(next).filter(|ack| ack.acknowledged == short.start) else {
            continue;
        };
        // Data from the peer in between, such as an answer, may have prompted it.
        let is_last = acks
            .get(next + 1)
            .is_none_or(|after| after.time > short.time);
        if before.time >= ack.time || ack.payload > 0 || !is_last || is_window_bound(acks, next) {
            continue;
        }
        if let Some((wait, delay)) = judge(before, ack, short) {
            found.waits.push(wait);
            if delay >= DELAYED {
                delays.push(delay);
            }
        }
    }
    found.delayed = delays.len() as u64;
    if !delays.is_empty() {
        let middle = delays.len() / 2;
        found.delay = Some(*delays.select_nth_unstable(middle).1);
    }
    found
}

/// Whether the window before acknowledgment `at` left no room for another short segment.
fn is_window_bound(acks: &[Ack], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|at| acks.get(at));
    before.is_some_and(|ack| {
        ack.window
            .is_some_and(|window| window <= u64::from(acks[at].newly))
    })
}
