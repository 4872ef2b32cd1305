//! Bookkeeping for a departing segment.

use airtcp_units::Instant;

use super::space::Fresh;
use super::window_usage::SendState;
use super::{Sender, Transmission};
use crate::config::{TimerRestart, TimerScope};
use crate::delivery_rate::DeliveryRate;
use crate::loss_detection::SentSegment;
use crate::recovery::Pace;

impl Sender {
    /// Records that `fresh` leaves for the first time.
    #[inline]
    pub(super) fn send_new(&mut self, now: Instant, fresh: &Fresh) {
        let range = fresh.start..fresh.end + u64::from(fresh.fin);
        let length = fresh.end - fresh.start;
        let deadline = self.segment_deadline(now, 0);
        let segment = SentSegment::new(&range, self.stamp(now, range.start));
        if let Some(rate) = self.extras.rate_mut() {
            let in_flight = self.board.in_flight();
            let in_flight = in_flight.saturating_sub(self.detection.arrived());
            let idle = self.board.is_empty();
            let tag = rate.on_sent(now, idle, in_flight, range.end - range.start);
            self.board.tag_last(tag);
        }
        self.detection.on_sent(&segment);
        self.board.push(segment);
        if self.choices.scope == TimerScope::Segment {
            self.board.time_last(deadline);
        }
        self.space.on_sent(range.end);
        self.growth.on_sent(now);
        if self.detection.duplicates() > 0 && self.repair.is_open() {
            self.repair.on_limited_transmit(length);
        }
        self.round_trips
            .on_sent(self.choices.sampling, now, range.end);
        self.stop_waiting_for_window();
        self.counters.segments_sent += 1;
        self.start_timer(now, deadline);
        self.on_tail_moved(now);
        self.count_in_recovery(length);
    }

    /// The timestamp of a transmission. With a driver that reports departures they need not be
    /// distinct.
    #[inline]
    fn stamp(&mut self, now: Instant, start: u64) -> Instant {
        if self.extras.departures().is_some() {
            return now;
        }
        self.detection.stamp(now, start)
    }

    /// Records that the segment at `index` is retransmitted.
    pub(super) fn resend(&mut self, index: usize, now: Instant) -> Transmission {
        self.round_trips.forget();
        self.cut(index);
        let expiries = self.board.get(index).map_or(0, |segment| segment.expiries);
        let deadline = self.segment_deadline(now, expiries);
        let in_flight = self.in_flight();
        if let Some(rate) = self.extras.rate_mut() {
            let length = self
                .board
                .get(index)
                .map_or(0, |segment| u64::from(segment.length));
            let tag = rate.on_sent(now, false, in_flight, length);
            self.board.tag_again(index, tag);
        }
        let start = self.board.get(index).map_or(0, |segment| segment.start);
        let sent_at = self.stamp(now, start);
        let segment = self.board.resend(index, sent_at, deadline);
        self.detection.on_sent(&segment);
        if self.choices.timer_restart == TimerRestart::Front && index == 0 {
            self.on_front_resent(now);
        }
        self.growth.on_sent(now);
        self.repair.on_resent(now);
        self.count_in_recovery(u64::from(segment.length));
        self.counters.segments_sent += 1;
        self.counters.segments_retransmitted.add();
        self.start_timer(now, deadline);
        let end = segment.end().min(self.space.written());
        self.counters.bytes_retransmitted += end - segment.start;
        Transmission {
            range: segment.start..end,
            fin: segment.end() > self.space.written(),
            retransmission: true,
            pushed: false,
        }
    }

    /// Counts bytes sent in a recovery that moves the window step by step.
    #[inline]
    fn count_in_recovery(&mut self, bytes: u64) {
        if let Some(recovery) = self.repair.fast_mut()
            && let Pace::Proportional(rate) = &mut recovery.pace
        {
            rate.on_sent(bytes);
        }
        self.count_for_marks(bytes);
    }

    /// Records the use of the window, if that decides whether it may grow. `limited`: the
    /// congestion window allows no further segment.
    #[inline]
    pub(super) fn note_usage(&mut self, now: Instant, limited: bool) {
        if !self.growth.watches_use() {
            return;
        }
        let standing = SendState {
            now,
            una: self.space.una(),
            nxt: self.space.nxt(),
            outstanding: self.board.outstanding(),
            limited,
        };
        let rto = self.timeout.rto();
        let unused = self.growth.note(&standing, &self.congestion, rto);
        if let Some(most) = unused
            && self.repair.is_open()
        {
            self.congestion.on_application_limited(most);
        }
    }

    /// Records that it was polled and has nothing to send.
    pub(crate) fn on_nothing_to_send(&mut self) {
        self.note_too_little_to_send(self.space.nxt());
    }

    /// Records that the window would allow more than the application has written up to `end`.
    pub(super) fn note_too_little_to_send(&mut self, end: u64) {
        let in_flight = self.in_flight();
        if let Some(rate) = self.extras.rate_mut()
            && end == self.space.written()
            && in_flight < self.congestion.cwnd()
            && self.board.lost() <= self.board.resent()
        {
            rate.on_application_limited(in_flight);
        }
    }

    /// Handles the end of an idle period: data is sent while nothing is outstanding.
    pub(super) fn on_idle_over(&mut self, now: Instant) {
        if self.congestion.external().is_some() {
            let pause = self.growth.pause(now, self.timeout.rto());
            self.on_external_start(now, pause.is_some_and(|(_, expired)| expired > 0));
        }
        if let Some((idle, expired)) = self.growth.pause(now, self.timeout.rto()) {
            let rate = self.extras.rate();
            let limited = rate.is_some_and(DeliveryRate::is_application_limited);
            self.congestion.on_idle_over(now, idle, expired, limited);
        }
    }
}
