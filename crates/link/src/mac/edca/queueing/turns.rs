//! The choice of the next aggregate's destination, and the charge for each exchange.

use airtcp_units::{BitRate, Duration, Instant};

use super::{Above, Backlog};
use crate::queue::EcnField;

impl<P: Copy + EcnField> Backlog<P> {
    /// The destination of the next aggregate; `retry` returns the position of a destination's first
    /// retransmission.
    pub(in crate::mac::edca) fn choose(
        &mut self,
        now: Instant,
        retry: impl Fn(usize) -> Option<u64>,
    ) -> Option<usize> {
        if let Above::Airtime { next, .. } = &self.above {
            if next.is_empty() {
                self.refill(now);
            }
            return self.send_next();
        }
        if let Above::RoundRobin { turns, .. } = &mut self.above {
            // Retransmissions are due when it is the destination's turn.
            for to in 0..self.ready.len() {
                if retry(to).is_some() {
                    turns.activate(to);
                }
            }
            return turns.next();
        }
        let first = |to: usize| {
            let ready = self.ready[to].front().map(|ready| ready.order);
            retry(to).into_iter().chain(ready).min()
        };
        (0..self.ready.len())
            .filter_map(|to| Some((first(to)?, to)))
            .min()
            .map(|(_, to)| to)
    }

    /// By airtime: the next aggregate goes on the air.
    fn send_next(&mut self) -> Option<usize> {
        let Above::Airtime {
            scheduler,
            next,
            is_sending,
            ..
        } = &mut self.above
        else {
            return None;
        };
        let to = next.pop_front();
        *is_sending = to.is_some();
        if let Some(to) = to {
            scheduler.clear_retries(to);
        }
        to
    }

    /// A chosen destination's first packet does not fit into the rest of a TXOP.
    pub(in crate::mac::edca) fn put_back(&mut self, to: usize) {
        match &mut self.above {
            Above::Nothing | Above::Qdisc { .. } => {}
            Above::RoundRobin { turns, .. } => turns.put_back(to),
            Above::Airtime {
                next, is_sending, ..
            } => {
                next.push_front(to);
                *is_sending = false;
            }
        }
    }

    /// A chosen destination's aggregate was built; `is_empty`: its packets were dropped, or its
    /// limit holds them back.
    pub(in crate::mac::edca) fn on_aggregate(&mut self, to: usize, is_empty: bool) {
        let has_ready = !self.ready[to].is_empty();
        if let Above::Airtime {
            queues,
            scheduler,
            next,
            is_sending,
        } = &mut self.above
        {
            *is_sending = !is_empty;
            if !has_ready && queues[to].packets() == 0 {
                scheduler.deactivate(to);
                next.retain(|&other| other != to);
            }
        }
    }

    /// An exchange with a destination has ended. Arguments: whether a part of it is to be
    /// retransmitted; the airtime of its packets that is pending no longer; the duration of the
    /// exchange.
    pub(in crate::mac::edca) fn complete(
        &mut self,
        now: Instant,
        to: usize,
        has_retries: bool,
        (done, took): (Duration, Duration),
    ) {
        match &mut self.above {
            Above::Nothing => return,
            Above::Qdisc { .. } => {}
            Above::RoundRobin { queues, turns } => {
                if queues[to].packets() > 0 || !self.ready[to].is_empty() {
                    turns.activate(to);
                }
            }
            Above::Airtime {
                queues,
                scheduler,
                is_sending,
                ..
            } => {
                *is_sending = false;
                scheduler.end(to, done);
                scheduler.charge(to, took);
                if has_retries {
                    scheduler.activate_for_retries(to);
                } else if queues[to].packets() > 0 || !self.ready[to].is_empty() {
                    scheduler.activate(to);
                }
            }
        }
        self.refill(now);
    }

    /// A destination was served at this rate: it is the basis of later airtime estimates, as
    /// mac80211 uses the last rate.
    #[inline]
    pub(in crate::mac::edca) fn set_rate(&mut self, to: usize, rate: BitRate) {
        self.rates[to] = rate;
    }

    /// A destination has itself transmitted for `took`.
    pub(in crate::mac::edca) fn charge_received(&mut self, from: usize, took: Duration) {
        if let Above::Airtime { scheduler, .. } = &mut self.above {
            scheduler.charge_received(from, took);
        }
    }
}
