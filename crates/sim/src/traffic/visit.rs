//! A connection with an opener that sends requests, step by step, and closes after the last answer.

use std::collections::VecDeque;

use airtcp_scenario::Visit;
use airtcp_units::{Duration, Instant};

use super::{Action, End, Transfers};

#[derive(Clone, Debug)]
pub(super) struct Session {
    visit: Visit,
    start: Instant,
    has_begun: bool,
    opened: Option<Instant>,
    /// Arrival time of each answer so far.
    answered: Vec<Instant>,
    /// Bytes of the present request that the other end has received.
    asked: u64,
    /// Bytes of the present answer that have arrived.
    arrived: u64,
}

impl Session {
    pub(super) const fn new(visit: Visit, start: Instant) -> Self {
        Self {
            visit,
            start,
            has_begun: false,
            opened: None,
            answered: Vec::new(),
            asked: 0,
            arrived: 0,
        }
    }

    pub(super) const fn next_wakeup(&self) -> Instant {
        if self.has_begun {
            Instant::FAR_FUTURE
        } else {
            self.start
        }
    }

    pub(super) fn on_start(&mut self, actions: &mut VecDeque<Action>) {
        self.has_begun = true;
        self.ask(actions);
    }

    /// Records that the handshake is complete at the end that opened the connection.
    pub(super) fn on_opened(&mut self, now: Instant) {
        self.opened.get_or_insert(now);
    }

    fn ask(&mut self, actions: &mut VecDeque<Action>) {
        match self.visit.steps.get(self.answered.len()) {
            Some(step) => actions.push_back(Action::Write {
                end: End::Source,
                bytes: step.request.max(1),
            }),
            None => actions.push_back(Action::Close),
        }
    }

    /// Records that the other end has received this many bytes of requests.
    pub(super) fn on_request(&mut self, bytes: u64, actions: &mut VecDeque<Action>) {
        let Some(step) = self.visit.steps.get(self.answered.len()) else {
            return;
        };
        let (before, request) = (self.asked, step.request.max(1));
        self.asked += bytes;
        if before < request && self.asked >= request {
            actions.push_back(Action::Write {
                end: End::Sink,
                bytes: step.answer.max(1),
            });
        }
    }

    /// Records that the opener has received this many bytes of answers.
    pub(super) fn on_answer(
        &mut self,
        now: Instant,
        bytes: u64,
        actions: &mut VecDeque<Action>,
        transfers: &mut Transfers,
    ) {
        let Some(step) = self.visit.steps.get(self.answered.len()) else {
            return;
        };
        self.arrived += bytes;
        if self.arrived < step.answer.max(1) {
            return;
        }
        self.answered.push(now);
        (self.asked, self.arrived) = (0, 0);
        if self.answered.len() == self.visit.steps.len() {
            transfers.complete(self.start, now);
        }
        self.ask(actions);
    }

    pub(super) fn times(&self) -> VisitTimes {
        let mut last = self.opened;
        let steps = (0..self.visit.steps.len()).map(|step| {
            let from = last?;
            last = self.answered.get(step).copied();
            last.map(|to| to - from)
        });
        VisitTimes {
            start: self.start,
            handshake: self.opened.map(|opened| opened - self.start),
            steps: steps.collect(),
        }
    }
}

/// Durations of the parts of a visit; `None` for unfinished parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VisitTimes {
    /// Its start.
    pub start: Instant,
    /// From its first segment until its opener had the answer.
    pub handshake: Option<Duration>,
    /// Each step, from the end of the one before.
    pub steps: Vec<Option<Duration>>,
}
