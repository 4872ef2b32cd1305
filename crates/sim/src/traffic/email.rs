//! E-mail: messages at random times.

use std::collections::VecDeque;

use airtcp_link::Stream;
use airtcp_scenario::Email;
use airtcp_units::{Duration, Instant};

use super::{Action, End, Transfers, exponential};

#[derive(Clone, Debug)]
pub(super) struct Session {
    email: Email,
    stream: Stream,
    sent: u64,
    next: Instant,
    /// Times at which the messages were written that have not arrived whole.
    under_way: VecDeque<Instant>,
    /// Bytes of the first of them that have arrived.
    arrived: u64,
}

impl Session {
    pub(super) fn new(email: Email, start: Instant, stream: Stream) -> Self {
        Self {
            next: start + exponential(email.interval, stream, 0),
            email,
            stream,
            sent: 0,
            under_way: VecDeque::new(),
            arrived: 0,
        }
    }

    pub(super) const fn next_message(&self) -> Instant {
        self.next
    }

    pub(super) fn on_message_due(&mut self, now: Instant, actions: &mut VecDeque<Action>) {
        self.sent += 1;
        self.under_way.push_back(now);
        actions.push_back(Action::Write {
            end: End::Source,
            bytes: self.email.size.max(1),
        });
        let interval = exponential(self.email.interval, self.stream, self.sent);
        self.next = now + interval.max(Duration::from_nanos(1));
    }

    pub(super) fn on_data(&mut self, now: Instant, bytes: u64, transfers: &mut Transfers) {
        self.arrived += bytes;
        while self.arrived >= self.email.size.max(1)
            && let Some(began) = self.under_way.pop_front()
        {
            self.arrived -= self.email.size.max(1);
            transfers.complete(began, now);
        }
    }
}
