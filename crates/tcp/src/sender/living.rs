//! Changes to a live connection at its user's request, and a driver's reports on segments passed to
//! it.

use alloc::collections::VecDeque;

use airtcp_units::{Duration, Instant};

use super::pacing::Pacing;
use super::timers::{Slot, Timer};
use super::transmission::Polling;
use super::{Sender, watches_deliveries};
use crate::config::{Config, TimerScope};
use crate::congestion::{Congestion, Observed};
use crate::delivery_rate::DeliveryRate;

/// Segments passed to a driver that reports departures, and not yet departed.
#[derive(Clone, Debug, Default)]
pub(super) struct Departures {
    /// Transmissions in the order in which they were polled: time, and first byte.
    waiting: VecDeque<(Instant, u64)>,
}

impl Departures {
    /// Records that a segment at `offset` is passed to the driver.
    pub fn on_polled(&mut self, now: Instant, offset: u64, una: u64) {
        while self.waiting.front().is_some_and(|&(_, first)| first < una) {
            self.waiting.pop_front();
        }
        self.waiting.push_back((now, offset));
    }

    /// Records that it has left, along with everything passed on before: a driver that never
    /// reports a segment has lost it.
    fn on_left(&mut self, polled_at: Instant, offset: u64) {
        let place = |&(at, first): &(Instant, u64)| at == polled_at && first == offset;
        if let Some(index) = self.waiting.iter().position(place) {
            self.waiting.drain(..=index);
        }
    }

    fn holds(&self, polled_at: Instant, offset: u64) -> bool {
        self.waiting.contains(&(polled_at, offset))
    }
}

impl Sender {
    /// Switches to `config`'s congestion control. The window stays as it is; the model of the
    /// network is reset.
    pub(crate) fn set_congestion(&mut self, config: &Config) {
        let fresh = Congestion::new(config, self.congestion.mss());
        let before = core::mem::replace(&mut self.congestion, fresh);
        self.congestion.take_windows(&before);
        self.heed_each_mark();
        if watches_deliveries(config, &self.congestion) {
            self.board.watch_deliveries();
        }
        if self.congestion.observed() != Observed::Rates {
            self.extras.set_rate(None);
            self.board.forget_tags();
        } else if self.extras.rate().is_none() {
            self.extras.set_rate(Some(DeliveryRate::default()));
            self.board.tag_all();
        }
        if self.congestion.paces() {
            if self.extras.pacing().is_none() {
                let pacing = Pacing::new(config.pacing_shift);
                self.extras.set_pacing(Some(pacing));
            }
        } else {
            self.extras.set_pacing(None);
            self.timers.cancel(Slot::Pace);
        }
        let has_rare_part = self.extras.pacing().is_some()
            || self.extras.path().is_some()
            || self.extras.buffer().is_some()
            || self.extras.departures().is_some();
        self.polling = Polling::special(has_rare_part);
    }

    /// Declares that the driver reports every segment's departure. Until it does, the segment does
    /// not time out, except after the longest timeout.
    pub(crate) fn await_departures(&mut self) {
        if self.extras.departures().is_none() {
            self.extras.set_departures(Some(Departures::default()));
        }
        self.polling = Polling::Special;
    }

    /// Records that the segment at `offset`, polled at `polled_at`, left at `now`: its timer and
    /// its round trip start then, unless it was acknowledged or retransmitted since.
    pub(crate) fn on_departure(&mut self, now: Instant, offset: u64, polled_at: Instant) {
        if let Some(departures) = self.extras.departures_mut() {
            departures.on_left(polled_at, offset);
        }
        let Some(index) = self.board.index_at(offset) else {
            return;
        };
        if !self.board.restamp(index, polled_at, now) {
            return;
        }
        self.round_trips.restamp(polled_at, now);
        if self.choices.scope == TimerScope::Segment {
            self.rearm_segment_timers(now);
            return;
        }
        if index == 0 && self.timers.is_armed(Timer::Retransmission) {
            self.run_retransmission_timer(now);
        }
        if index + 1 == self.board.len() {
            self.on_tail_moved(now);
        }
    }

    /// Whether the last segment is known to wait in the driver: there is no tail to probe yet.
    #[cold]
    pub(super) fn tail_waits_in_driver(&mut self, now: Instant) -> bool {
        let last = self.board.len().saturating_sub(1);
        self.extras.departures().is_some() && self.waits_in_driver(now, last)
    }

    /// Whether the expired segment is known to wait in the driver: its timer then runs for another
    /// RTO.
    #[cold]
    pub(super) fn waits_in_driver(&mut self, now: Instant, index: usize) -> bool {
        let (Some(departures), Some(segment)) = (self.extras.departures(), self.board.get(index))
        else {
            return false;
        };
        let waits = departures.holds(segment.sent_at, segment.start)
            && now - segment.sent_at < self.timeout.longest();
        if waits {
            let rto: Duration = self.timeout.rto();
            self.board.put_off(index, now + rto);
            match self.choices.scope {
                TimerScope::Connection => self.run_retransmission_timer(now),
                TimerScope::Segment => self.rearm_segment_timers(now),
            }
        }
        waits
    }
}
