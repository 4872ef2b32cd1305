//! Halves of the round trip from data and acknowledgments only.
//!
//! *Wireless half*: from the passage of a segment to that of the acknowledgment that ends where the
//! segment ends. It is measured with every acknowledgment. Retransmitted segments, and segments
//! after them, measure nothing (Karn's rule).
//!
//! *Wired half*: from the passage of a segment that the wired host answers to that of the answer.
//! In the middle of a transfer it is unknown which acknowledgment released a segment, since others
//! were in transit. Two answers are certain:
//!
//! - data or a SYN from the mobile, and the first acknowledgment that covers it. The wired host may
//!   wait before it answers, so this is the half or more: the smallest recent one is taken;
//! - the first acknowledgment for a flight that began in silence, and the next new segment: the
//!   sender had sent all that it was allowed to. An application that writes piece by piece looks
//!   the same, so this is used only without the first: the handshake was not observed.
//!
//! ```text
//!        silence  ddd ........ A ............... d
//!                   |<-- gap ->|<- wired half ->|     the gap longer than any within the flight
//! ```
//!
//! This is less than the methods cited by Mahmoodi et al. (Veal, Li & Lowenthal 2005; Jaiswal
//! 2005), which find the half in the middle of a transfer too. A wired path that becomes longer
//! during one is not noticed; delay added by the radio always is.

use std::collections::VecDeque;

use airtcp_packet::{Segment, SequenceNumber};
use airtcp_units::{Duration, Instant};

use crate::agent::windowed_minimum::WindowedMinimum;

/// Maximum number of segments that wait for their acknowledgment; beyond it, new ones are not
/// recorded.
const MAX_WAITING: usize = 128;

/// A wired half older than two of these is forgotten: routes change.
const WINDOW: Duration = Duration::from_secs(120);

#[derive(Clone, Copy, Debug)]
struct Record {
    end: SequenceNumber,
    passed: Instant,
    /// It, or one before it, was retransmitted.
    doubtful: bool,
}

/// Segments that followed a silence, until the first is acknowledged.
#[derive(Clone, Copy, Debug)]
struct Flight {
    newest: Instant,
    longest_gap: Duration,
}

/// Data that the mobile has sent and the wired host is to acknowledge.
#[derive(Clone, Copy, Debug)]
struct Question {
    end: SequenceNumber,
    passed: Instant,
    doubtful: bool,
}

/// State of one connection.
#[derive(Clone, Debug)]
pub(super) struct SelfClock {
    records: VecDeque<Record>,
    question: Option<Question>,
    flight: Option<Flight>,
    /// Passage of the acknowledgment that clocks out the sender's next segment.
    release: Option<Instant>,
    /// From answers.
    answered: WindowedMinimum<Duration>,
    /// From flights.
    released: WindowedMinimum<Duration>,
}

impl SelfClock {
    pub(super) const fn new() -> Self {
        Self {
            records: VecDeque::new(),
            question: None,
            flight: None,
            release: None,
            answered: WindowedMinimum::new(),
            released: WindowedMinimum::new(),
        }
    }

    /// The wired half, once known.
    pub(super) fn wired(&self) -> Option<Duration> {
        self.answered.get().or(self.released.get())
    }

    /// New data for the mobile, ending at `end`, passes; `silent` if all before is acknowledged. A
    /// wired half above `most` is waiting time, not propagation.
    pub(super) fn on_new_data(
        &mut self,
        now: Instant,
        end: SequenceNumber,
        silent: bool,
        most: Duration,
    ) {
        if let Some(released) = self.release.take() {
            self.flight = None;
            if now - released <= most {
                self.released.insert(now, WINDOW, now - released);
            }
        } else if silent {
            self.flight = Some(Flight {
                newest: now,
                longest_gap: Duration::ZERO,
            });
        } else if let Some(flight) = &mut self.flight {
            flight.longest_gap = flight.longest_gap.max(now - flight.newest);
            flight.newest = now;
        }
        if self.records.len() < MAX_WAITING {
            self.records.push_back(Record {
                end,
                passed: now,
                doubtful: false,
            });
        }
    }

    /// The sender retransmits the data from `sequence` on.
    pub(super) fn on_repetition(&mut self, sequence: SequenceNumber) {
        self.flight = None;
        self.release = None;
        for record in &mut self.records {
            record.doubtful |= record.end.after(sequence);
        }
    }

    /// The mobile acknowledges more than before, up to `acknowledgment`. Returns the wireless half
    /// if known.
    pub(super) fn on_acknowledgment(
        &mut self,
        now: Instant,
        acknowledgment: SequenceNumber,
    ) -> Option<Duration> {
        if let Some(flight) = self.flight.take()
            && now - flight.newest > flight.longest_gap
        {
            self.release = Some(now);
        }
        let mut sample = None;
        let mut doubtful = false;
        while let Some(record) = self.records.front().copied() {
            if record.end.after(acknowledgment) {
                break;
            }
            self.records.pop_front();
            doubtful |= record.doubtful;
            sample = (record.end == acknowledgment).then(|| now - record.passed);
        }
        sample.filter(|_| !doubtful)
    }

    /// The mobile sends a segment that is to be acknowledged.
    pub(super) fn on_question(&mut self, now: Instant, segment: &Segment) {
        let end = segment.sequence + segment.sequence_length();
        match &mut self.question {
            None => {
                self.question = Some(Question {
                    end,
                    passed: now,
                    doubtful: false,
                });
            }
            // Karn's rule.
            Some(question) => question.doubtful |= segment.sequence.before(question.end),
        }
    }

    /// The wired host acknowledges up to `acknowledgment`.
    pub(super) fn on_answer(
        &mut self,
        now: Instant,
        acknowledgment: SequenceNumber,
        most: Duration,
    ) {
        let Some(question) = self.question else {
            return;
        };
        if acknowledgment.before(question.end) {
            return;
        }
        self.question = None;
        let half = now - question.passed;
        if !question.doubtful && half <= most {
            self.answered.insert(now, WINDOW, half);
        }
    }
}
