//! Periods with a known limit of a transfer, regardless of its sender's state.

use airtcp_units::Instant;

use super::limit::{Limit, Shares};

/// Periods, walked in order: stops, waits for the timer, short segments held back, recoveries and
/// gaps of the capture.
pub(super) struct Spans<'a> {
    lists: [&'a [(Instant, Instant)]; 5],
    at: [usize; 5],
}

impl<'a> Spans<'a> {
    pub fn new(lists: [&'a [(Instant, Instant)]; 5]) -> Self {
        Self { lists, at: [0; 5] }
    }

    /// The period of list `which` that contains `now`, or the next one.
    fn current(&mut self, which: usize, now: Instant) -> Option<(Instant, Instant)> {
        let list = self.lists[which];
        while let Some(span) = list.get(self.at[which]) {
            if span.1 > now {
                return Some(*span);
            }
            self.at[which] += 1;
        }
        None
    }

    pub fn is_recovering(&mut self, now: Instant) -> bool {
        self.current(3, now).is_some_and(|span| span.0 <= now)
    }

    /// Attributes the time from `now` to `then` to its limits: `limit`, by whether losses are being
    /// repaired, outside all periods. `is_under_way`: whether data is in flight.
    pub fn spread(
        &mut self,
        mut now: Instant,
        then: Instant,
        shares: &mut Shares,
        is_under_way: bool,
        limit: impl Fn(bool) -> Limit,
    ) {
        while now < then {
            let mut until = then;
            let mut inside = [false; 5];
            for (which, is_inside) in inside.iter_mut().enumerate() {
                if let Some((from, to)) = self.current(which, now) {
                    *is_inside = from <= now;
                    until = until.min(if *is_inside { to } else { from });
                }
            }
            let [is_held, is_waiting, is_short, is_recovering, is_gap] = inside;
            let length = until - now;
            let limit = if is_held {
                Limit::Held
            } else if is_waiting {
                Limit::Timeout
            } else if is_short {
                Limit::SmallWrites
            } else {
                limit(is_recovering)
            };
            if is_gap {
                shares.left_out += length;
            } else {
                shares.add(limit, length, is_under_way);
            }
            now = until;
        }
    }
}
