//! Timer expiry.

use airtcp_units::Instant;

use super::Sender;
use super::repair::Entry;
use super::timers::{Slot, Timer};
use crate::config::{ReductionBase, Retransmission, TimerScope};
use crate::external::State;
use crate::loss_detection::SentSegment;
use crate::observer::{Event, Observer};
use crate::recovery::Phase;

impl Sender {
    /// Handles the timers that have expired by `now`. Returns whether a zero-window probe should be
    /// sent.
    pub fn on_wakeup(&mut self, now: Instant, observer: &mut impl Observer) -> bool {
        let mut probes = false;
        self.trains.end();
        for slot in Slot::ALL {
            let Some(timer) = self.timers.take_expired(slot, now) else {
                continue;
            };
            match timer {
                // Segments held back by pacing are polled.
                Timer::Pace => {}
                Timer::ReorderingWindow => self.on_reordering_timer(now, observer),
                Timer::TailProbe if self.tail_waits_in_driver(now) => {}
                Timer::TailProbe => self.on_tail_probe_timer(now, observer),
                Timer::Retransmission | Timer::Reneging if self.is_shut() => self.persist(now),
                Timer::Retransmission
                    if self.probes_at_timeout() && self.on_probe_timeout(now, observer) => {}
                Timer::Retransmission | Timer::Reneging => self.on_timeout(now, observer),
                Timer::SmallSegment => self.small_segments.release_once(),
                Timer::WindowProbe => {
                    self.on_probe_timer(now, observer);
                    probes = true;
                }
            }
        }
        probes
    }

    /// Handles the end of a reordering window (RFC 8985 §6.3).
    fn on_reordering_timer(&mut self, now: Instant, observer: &mut impl Observer) {
        let before = self.before();
        let detected = self.detect_by_time(now, true);
        let enters = detected.lost > 0 && self.is_another_event(detected.latest);
        if enters {
            self.enter_recovery(now, observer);
            // As if a segment had been delivered; in a recovery already begun the timer delivers
            // nothing (Linux, `tcp_rack_reo_timeout`).
            self.set_recovery_window(&before, self.congestion.mss());
        }
        // Segments that may still be late have the timeout: the window ended for the latest of
        // them, or at the timeout.
        if !enters && self.probes_at_timeout() {
            self.run_retransmission_timer(now);
        } else if !enters {
            self.resume_retransmission_timer(now);
        }
    }

    /// The segment with a timer expired by `now`, and its index.
    fn expired_segment(&self, now: Instant) -> Option<(usize, SentSegment)> {
        let index = match self.choices.scope {
            TimerScope::Connection => 0,
            TimerScope::Segment => {
                let (index, deadline) = self.board.earliest_deadline()?;
                if deadline > now {
                    return None;
                }
                index
            }
        };
        Some((index, self.board.get(index)?))
    }

    fn on_timeout(&mut self, now: Instant, observer: &mut impl Observer) {
        let Some((index, segment)) = self.expired_segment(now) else {
            // Acknowledged since, or retransmitted.
            self.rearm_segment_timers(now);
            return;
        };
        if self.extras.departures().is_some() && self.waits_in_driver(now, index) {
            return;
        }
        let rto = match self.choices.scope {
            TimerScope::Connection => self.timeout.rto(),
            TimerScope::Segment => self.timeout.backed_off(u32::from(segment.expiries)),
        };
        observer.event(
            now,
            Event::Timeout {
                offset: segment.start,
                transmissions: segment.transmissions.into(),
                rto,
            },
        );
        self.counters.timeouts.add();
        let expiries = self.board.on_expiry(index);
        let first = expiries == 0;
        self.on_path_silent(expiries);
        if self.repair.is_open() {
            let reported = self.board.sacked();
            self.detection
                .on_silent_loss(reported, self.congestion.mss());
        }
        // One reduction per round trip, if it is computed from the window.
        let is_reduced = self.is_reduced_already();
        self.on_window_reduced();
        let reduces = first && !is_reduced;
        if reduces {
            self.keep_windows();
        }
        self.seed_external(observer);
        self.show_external_at_timeout(now);
        let flight_size = self.flight_size_at_timeout();
        self.congestion.on_timeout(flight_size, reduces);
        // RFC 5682 §3.1 step 1: not if a loss was being repaired, which makes another likely; §3.2:
        // but the test repeats if the same segment expires.
        let tests_new_data =
            self.choices.spurious_detection.frto && (self.repair.is_open() || !first);
        let entry = Entry::Timeout {
            now,
            first: segment.start,
            tests_new_data,
        };
        self.repair.begin(entry, self.space.nxt());
        self.tail_probe.call_off();
        self.detection.forget_duplicates();
        self.detection.forget_arrivals();
        self.round_trips.forget();
        match self.choices.retransmission {
            // With probes only a receiver that has dropped SACKed data leads here.
            Retransmission::GoBackN | Retransmission::Probe => {
                self.give_up_outstanding(now, segment.start);
            }
            Retransmission::SelectiveRepeat => self.board.mark_lost(index),
        }
        self.enter_external_state(State::Loss);
        self.put_front_first();
        match self.choices.scope {
            TimerScope::Connection => {
                self.timeout.on_expiry();
                self.run_retransmission_timer(now);
            }
            // Retransmitting it restarts its timer; the others keep running.
            TimerScope::Segment => self.rearm_segment_timers(now),
        }
    }

    /// Puts a lost front before the expired segment: only its retransmission moves the cumulative
    /// acknowledgment, and while it waits for room its timer does not run. Later segments that
    /// expire and are sent in turn could otherwise keep it out for ever.
    fn put_front_first(&mut self) {
        if let Some(front) = self.board.front()
            && front.is_lost()
            && !front.is_resent()
        {
            let start = front.start;
            self.repair.set_first(start);
        }
    }

    /// Presumes everything outstanding lost; if by time, except segments sent within the last round
    /// trip. Data that stays in flight stays in the window.
    fn give_up_outstanding(&mut self, now: Instant, start: u64) {
        let longest = self.timeout.longest_round_trip();
        let newly = self.detection.give_up(now, &mut self.board, start, longest);
        if let Some(rate) = self.extras.rate_mut() {
            rate.on_lost(newly);
        }
        self.congestion
            .set_after_timeout(self.in_flight() + self.congestion.mss());
    }

    /// Whether the window was already reduced for this loss, or for a congestion mark of this round
    /// trip, before the timer expired: if a reduction is computed from the window, which is smaller
    /// by then, a second one would count the loss twice (Linux, `tcp_enter_loss`).
    fn is_reduced_already(&self) -> bool {
        self.choices.reduction_base == ReductionBase::Window
            && (self.repair.is_fast() || self.is_reduced_for_mark())
    }

    /// The FlightSize a timeout halves (RFC 5681 §3.1, eq. 4): the bytes in the network, not all
    /// that are unacknowledged. Bytes marked lost by an earlier go-back-N have left it, and so has
    /// a segment for each duplicate acknowledgment that inflated the window: counting those would
    /// let a timeout in a long recovery raise ssthresh.
    fn flight_size_at_timeout(&self) -> u64 {
        let outstanding = self.board.outstanding();
        match (self.repair.phase(), self.choices.retransmission) {
            (Phase::Timeout { .. }, Retransmission::GoBackN) => self.in_flight(),
            (Phase::FastRecovery(recovery), _) => {
                self.in_flight().saturating_sub(recovery.inflation)
            }
            _ => outstanding - self.repair.limited(outstanding),
        }
    }
}
