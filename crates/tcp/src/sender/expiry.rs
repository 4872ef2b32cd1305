//! What happens when a timer runs out.

use airtcp_units::Instant;

use super::Sender;
use super::timers::Pending;
use crate::config::{ReductionBase, Retransmission, TimerScope};
use crate::observer::{Event, Observer};
use crate::recovery::Phase;

impl Sender {
    /// Acts on the timers that have expired by `now`. Returns whether a zero-window probe is to be
    /// sent.
    pub fn on_wakeup(&mut self, now: Instant, observer: &mut impl Observer) -> bool {
        if self.pacing_deadline <= now {
            self.pacing_deadline = Instant::FAR_FUTURE;
        }
        if self.deadline <= now {
            match self.pending {
                Pending::Reordering => self.on_reordering_timer(now, observer),
                Pending::TailProbe => self.on_tail_probe_timer(now, observer),
                Pending::Retransmission if self.is_shut() => self.persist(now),
                Pending::Retransmission => self.on_timeout(now, observer),
            }
        }
        self.on_probe(now, observer)
    }

    fn on_timeout(&mut self, now: Instant, observer: &mut impl Observer) {
        let expired = match self.choices.scope {
            TimerScope::Connection => self.board.front().map(|_| 0),
            TimerScope::Segment => self
                .board
                .earliest_deadline()
                .and_then(|(index, deadline)| (deadline <= now).then_some(index)),
        };
        let Some((index, segment)) =
            expired.and_then(|index| Some((index, *self.board.get(index)?)))
        else {
            // Acknowledged since, or sent again.
            self.rearm_segment_timers();
            return;
        };
        let rto = match self.choices.scope {
            TimerScope::Connection => self.timeout.rto(),
            TimerScope::Segment => self.timeout.backed_off(u32::from(segment.expiries)),
        };
        observer.event(
            now,
            Event::Timeout {
                offset: segment.start,
                transmissions: segment.transmissions,
                rto,
            },
        );
        self.counters.timeouts += 1;
        let first = self.board.on_expiry(index) == 0;
        let reduces = first && !self.is_reduced_already();
        if reduces {
            self.keep_windows();
        }
        let flight_size = self.flight_size_at_timeout();
        self.congestion.on_timeout(flight_size, reduces);
        // RFC 5682 §3.1 step 1: not where a loss was being repaired, which makes this one likely;
        // §3.2: but again where the same segment expires.
        let tests_new_data =
            self.choices.spurious_detection.frto && (matches!(self.phase, Phase::Open) || !first);
        self.phase = Phase::Timeout {
            recover: self.nxt,
            tests_new_data,
        };
        self.recover = Some(self.nxt);
        self.tail_probe = None;
        self.tail_probe_due = false;
        self.new_data_first = false;
        self.timeout_judged = false;
        self.duplicates.reset();
        self.limited = 0;
        self.timed = None;
        self.resent_after_timeout = Some(now);
        match self.choices.retransmission {
            Retransmission::GoBackN => self.give_up_outstanding(now, segment.start),
            Retransmission::SelectiveRepeat => self.board.mark_lost(index),
        }
        self.repair_now = Some(segment.start);
        match self.choices.scope {
            TimerScope::Connection => {
                self.timeout.on_expiry();
                self.deadline = now + self.timeout.rto();
            }
            // Sending it again sets its timer anew; the others' run on.
            TimerScope::Segment => self.rearm_segment_timers(),
        }
    }

    /// Takes everything outstanding for lost; with RACK, not what was sent a round trip ago or less. What
    /// stays in flight stays in the window.
    fn give_up_outstanding(&mut self, now: Instant, start: u64) {
        let lost_before = self.board.lost();
        match &self.rack {
            Some(rack) => {
                let recent = now.as_nanos().saturating_sub(rack.rtt().as_nanos());
                self.board.mark_lost_but_recent(Instant::from_nanos(recent));
            }
            None => self.board.mark_lost_from(start),
        }
        let newly = self.board.lost().saturating_sub(lost_before);
        self.lost_in_all += newly;
        if let Some(rate) = &mut self.rate {
            rate.on_lost(newly);
        }
        self.congestion
            .set_after_timeout(self.board.in_flight() + self.mss);
    }

    /// Whether the window was reduced for this loss before the timer ran out: where a reduction is taken
    /// from the window, which is smaller by then, a second one would count the loss twice (Linux,
    /// `tcp_enter_loss`).
    const fn is_reduced_already(&self) -> bool {
        matches!(self.choices.reduction_base, ReductionBase::Window)
            && matches!(self.phase, Phase::FastRecovery(_))
    }

    /// The FlightSize a timeout halves (RFC 5681 §3.1, eq. 4): what is in the network, and not
    /// merely unacknowledged. Bytes marked lost by an earlier go-back-N have left it, and so has a
    /// segment for each duplicate acknowledgment that inflated the window: counting those would let
    /// a timeout in a long recovery raise ssthresh.
    fn flight_size_at_timeout(&self) -> u64 {
        let outstanding = self.board.outstanding();
        match (&self.phase, self.choices.retransmission) {
            (Phase::Timeout { .. }, Retransmission::GoBackN) => self.board.in_flight(),
            (Phase::FastRecovery(recovery), _) => {
                self.board.in_flight().saturating_sub(recovery.inflation)
            }
            _ => outstanding - self.limited.min(outstanding),
        }
    }

    fn on_probe(&mut self, now: Instant, observer: &mut impl Observer) -> bool {
        if self.probe_deadline > now {
            return false;
        }
        self.probes = self.probes.saturating_add(1);
        self.counters.window_probes += 1;
        self.probe_deadline = now + self.timeout.backed_off(self.probes);
        observer.event(now, Event::WindowProbe);
        true
    }
}
