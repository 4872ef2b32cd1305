//! What an acknowledgment changes.

use std::ops::Range;

use airtcp_units::{Duration, Instant};

use super::Sender;
use crate::config::{Recovery, RttSampling, TimerScope};
use crate::loss_detection::Advanced;
use crate::observer::{Event, Observer};
use crate::recovery::{FastRecovery, Phase};

/// A timestamp that came back (RFC 7323 §4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Echo {
    /// The tick at which it was sent.
    pub sent_at: Instant,
    /// Ticks since then, as a duration.
    pub rtt: Duration,
}

/// An acceptable acknowledgment, in offsets of the stream being acknowledged.
#[derive(Clone, Copy, Debug)]
pub struct Acknowledgment<'a> {
    /// Everything below it has arrived.
    pub offset: u64,
    /// First byte the peer has no room for.
    pub right_edge: u64,
    /// Whether the segment carried neither data nor SYN nor FIN.
    pub bare: bool,
    /// Ranges received above `offset`, the newest first; the first may report a duplicate.
    pub sack: &'a [Range<u64>],
    /// The echoed timestamp.
    pub echo: Option<Echo>,
}

impl Sender {
    /// Takes an acknowledgment that arrived at `now`. It must not cover what was never sent.
    #[inline]
    pub fn on_acknowledgment(
        &mut self,
        now: Instant,
        acknowledgment: &Acknowledgment<'_>,
        observer: &mut impl Observer,
    ) {
        let offset = acknowledgment.offset;
        debug_assert!(offset <= self.nxt, "acknowledgment of data never sent");
        let in_flight_before = self.board.in_flight();
        let window_moved = acknowledgment.right_edge != self.right_edge;
        self.update_window(now, offset, acknowledgment.right_edge);
        if offset < self.una {
            return;
        }
        let newly_reported = self.take_sack(now, acknowledgment, observer);
        if offset > self.una {
            let acked = offset - self.una;
            self.una = offset;
            let advanced = self.board.advance(offset);
            self.sample_rtt(now, advanced, acknowledgment.echo, observer);
            self.judge_timeout(now, acknowledgment.echo, observer);
            self.on_new_data_acknowledged(now, acked, in_flight_before, observer);
        } else if self.board.is_empty() || self.is_shut() {
            // Nothing is outstanding, or the window is shut: an answer to a probe, or a window
            // update.
        } else if self.choices.sack {
            // RFC 6675 §2: a duplicate is an acknowledgment that reports something new.
            if newly_reported > 0 {
                self.on_duplicate(now, observer);
            }
        } else if acknowledgment.bare && !window_moved {
            // RFC 5681 §2, definition of a duplicate acknowledgment.
            self.on_duplicate(now, observer);
        }
    }

    fn update_window(&mut self, now: Instant, offset: u64, right_edge: u64) {
        if self.right_edge <= self.nxt {
            if right_edge > self.nxt {
                self.probe_deadline = Instant::FAR_FUTURE;
                self.probes = 0;
            }
            if self.is_shut() && right_edge > self.una.max(offset) {
                self.resume(now, offset > self.una);
            }
        }
        self.right_edge = right_edge;
    }

    /// Enters what the receiver reported into the scoreboard. Returns how many bytes were new.
    #[inline]
    fn take_sack(
        &mut self,
        now: Instant,
        acknowledgment: &Acknowledgment<'_>,
        observer: &mut impl Observer,
    ) -> u64 {
        let mut blocks = acknowledgment.sack;
        let Some(first) = blocks.first() else {
            return 0;
        };
        // RFC 2883 §4: a first block below the cumulative acknowledgment, or inside the second
        // block, reports a duplicate.
        let inside_second = blocks
            .get(1)
            .is_some_and(|second| second.start <= first.start && first.end <= second.end);
        if first.start < acknowledgment.offset || inside_second {
            self.counters.duplicates_reported += 1;
            observer.event(
                now,
                Event::DuplicateReported {
                    offset: first.start,
                },
            );
            blocks = &blocks[1..];
        }
        if !self.choices.sack {
            return 0;
        }
        let newly = self.board.sack(blocks);
        if newly > 0 {
            self.board
                .detect_losses(self.duplicates.threshold(), self.mss);
        }
        newly
    }

    #[inline]
    fn on_new_data_acknowledged(
        &mut self,
        now: Instant,
        acked: u64,
        in_flight_before: u64,
        observer: &mut impl Observer,
    ) {
        self.duplicates.reset();
        self.limited = 0;
        let mut restart_timer = true;
        match &mut self.phase {
            Phase::Open => self.grow(acked, in_flight_before, false),
            Phase::Timeout { recover } => {
                let recover = *recover;
                self.grow(acked, in_flight_before, true);
                if self.una >= recover {
                    self.phase = Phase::Open;
                    observer.event(now, Event::RecoveryExit);
                }
            }
            Phase::FastRecovery(recovery) => {
                if self.una >= recovery.recover || self.choices.recovery == Recovery::Reno {
                    self.exit_recovery(now, observer);
                } else if !self.choices.sack {
                    recovery.on_partial(acked, self.mss);
                    // RFC 6582 §3.2 step 3: the first partial acknowledgment restarts the timer,
                    // later ones do not, so that many losses end in a timeout and not in one
                    // round trip each (§4, "impatient").
                    restart_timer = recovery.partial_acknowledgments == 1;
                    self.board.mark_lost(0);
                    self.repair_now = Some(self.una);
                }
            }
        }
        // A loss may show only now: what was reported lies above a front that just moved.
        if self.choices.sack && matches!(self.phase, Phase::Open) && self.front_is_lost() {
            self.enter_recovery(now, observer);
        }
        match self.choices.scope {
            TimerScope::Segment => self.rearm_segment_timers(),
            // RFC 6298 §5.2 and §5.3.
            TimerScope::Connection if self.board.is_empty() => {
                self.deadline = Instant::FAR_FUTURE;
            }
            TimerScope::Connection if restart_timer => self.deadline = now + self.timeout.rto(),
            TimerScope::Connection => {}
        }
    }

    /// Opens the window, if it was what held the sender back (RFC 7661 §4.1: a window that was not
    /// used has not been tested).
    #[inline]
    fn grow(&mut self, acked: u64, in_flight_before: u64, after_timeout: bool) {
        if in_flight_before + self.mss > self.congestion.cwnd() {
            self.congestion.on_acknowledged(acked, after_timeout);
        }
    }

    fn on_duplicate(&mut self, now: Instant, observer: &mut impl Observer) {
        let reached = self.duplicates.on_duplicate();
        match &mut self.phase {
            Phase::FastRecovery(recovery) => {
                if !self.choices.sack {
                    recovery.on_duplicate(self.mss);
                }
            }
            Phase::Open => {
                let fresh =
                    self.choices.sack || self.recover.is_none_or(|recover| self.una > recover);
                if (reached && fresh) || (self.choices.sack && self.front_is_lost()) {
                    self.enter_recovery(now, observer);
                }
            }
            // RFC 6582 §3.2 step 4, RFC 6675 §5.1: not before the timeout is recovered from.
            Phase::Timeout { .. } => {}
        }
    }

    fn front_is_lost(&self) -> bool {
        self.board
            .front()
            .is_some_and(|front| front.is_lost() && front.transmissions == 1)
    }

    fn enter_recovery(&mut self, now: Instant, observer: &mut impl Observer) {
        let outstanding = self.board.outstanding();
        self.counters.fast_retransmits += 1;
        observer.event(now, Event::FastRetransmit { offset: self.una });
        self.congestion
            .on_loss(outstanding - self.limited.min(outstanding));
        self.recover = Some(self.nxt);
        if self.choices.recovery == Recovery::Tahoe {
            self.congestion.restart();
            self.board.mark_lost_from(self.una);
            self.phase = Phase::Timeout { recover: self.nxt };
        } else {
            self.board.mark_lost(0);
            self.phase = Phase::FastRecovery(FastRecovery::enter(
                self.nxt,
                self.duplicates.count(),
                self.mss,
                self.choices.sack,
            ));
        }
        self.repair_now = Some(self.una);
        // The repair has a whole timeout to be acknowledged: the one that runs was set for data
        // sent a round trip ago (RFC 6675 §6 allows it; Linux and ns-2 do it without SACK too).
        if self.choices.scope == TimerScope::Connection {
            self.deadline = now + self.timeout.rto();
        }
    }

    fn exit_recovery(&mut self, now: Instant, observer: &mut impl Observer) {
        self.phase = Phase::Open;
        // RFC 6582 §3.2 step 3, first case: not more than is in flight and one segment, so that no
        // burst follows a long repair. With SACK the window was ssthresh all along.
        if !self.choices.sack {
            self.congestion
                .bound(self.board.outstanding().max(self.mss) + self.mss);
        }
        observer.event(now, Event::RecoveryExit);
    }

    #[inline]
    fn sample_rtt(
        &mut self,
        now: Instant,
        advanced: Advanced,
        echo: Option<Echo>,
        observer: &mut impl Observer,
    ) {
        let sample = match self.choices.sampling {
            // The sender's own record is exact; where a segment was sent more than once only the
            // echo tells which one was answered (RFC 7323 §4.1).
            RttSampling::PerAcknowledgment => advanced
                .sent_at
                .map(|sent_at| now - sent_at)
                .or_else(|| echo.filter(|_| advanced.resent).map(|echo| echo.rtt)),
            RttSampling::EchoedTimestamp => echo.map(|echo| echo.rtt),
            RttSampling::PerWindow => match self.timed {
                Some((end, sent_at)) if self.una >= end => {
                    self.timed = None;
                    Some(now - sent_at)
                }
                _ => None,
            },
        };
        if let Some(rtt) = sample {
            self.timeout.on_sample(rtt);
            observer.event(now, Event::RttSample { rtt });
        }
    }

    /// RFC 3522 §3: if the first acknowledgment after a timeout echoes a timestamp older than the
    /// retransmission, the original had arrived.
    #[inline]
    fn judge_timeout(&mut self, now: Instant, echo: Option<Echo>, observer: &mut impl Observer) {
        let Some(resent_at) = self.resent_after_timeout.take() else {
            return;
        };
        if echo.is_some_and(|echo| echo.sent_at + self.choices.timestamp_tick <= resent_at) {
            self.counters.timeouts_judged_spurious += 1;
            observer.event(now, Event::TimeoutJudgedSpurious);
        }
    }
}
