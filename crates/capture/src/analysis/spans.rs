//! Spans of time that decide what held a transfer back, whatever its sender's state was.

use airtcp_units::Instant;

use super::limit::{Limit, Shares};

/// Spans of time, walked in order: stops, waits for the timer, short segments held back, recoveries
/// and gaps of the capture.
pub(super) struct Spans<'a> {
    lists: [&'a [(Instant, Instant)]; 5],
    at: [usize; 5],
}

impl<'a> Spans<'a> {
    pub fn new(lists: [&'a [(Instant, Instant)]; 5]) -> Self {
        Self { lists, at: [0; 5] }
    }

    /// The span of list `which` that `now` is in, or the next one.
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

    /// Gives the time from `now` to `then` to what held the transfer back in it: `limit`, by
    /// whether losses are repaired, where no span decides. `is_under_way`: data is.
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
