//! Calls a control that is not compiled in, in Linux's order (`tcp_ack`, `tcp_enter_recovery`,
//! `tcp_enter_loss`, `tcp_cong_control`).

use airtcp_units::{Duration, Instant};

use super::{Before, Sender};
use crate::congestion::{External, segments};
use crate::external::{AckSample, Call, DeliverySample, News, Socket, State, WindowEvent};
use crate::observer::Observer;
use crate::recovery::Phase;

/// `CA_ACK_SLOWPATH`: Linux sets it for all but in-order acknowledgments without options.
const SLOW_PATH: u32 = 1;
/// `CA_ACK_ECE`.
const ECHO: u32 = 4;

impl Sender {
    /// The control, if it is not compiled in.
    #[must_use]
    pub fn external(&self) -> Option<&External> {
        self.congestion.external()
    }

    /// Shows the control the sender's state at `now`, as before each of Linux's calls.
    #[inline]
    pub(super) fn show_external(&mut self, now: Instant) {
        if self.congestion.external().is_some() {
            self.show_socket(now, false);
        }
    }

    /// The same when the retransmission timer has expired: everything outstanding is lost (Linux,
    /// `tcp_timeout_mark_lost`, before `tcp_enter_loss` asks for the threshold).
    #[inline]
    pub(super) fn show_external_at_timeout(&mut self, now: Instant) {
        if self.congestion.external().is_some() {
            self.show_socket(now, true);
        }
    }

    #[cold]
    fn show_socket(&mut self, now: Instant, given_up: bool) {
        let mut socket = self.socket(now);
        if given_up {
            let lost = socket.outstanding.saturating_sub(socket.sacked);
            socket.lost_in_all += lost.saturating_sub(socket.lost);
            socket.lost = lost;
            socket.resent = 0;
            socket.is_expired = true;
        }
        self.congestion.show_external(socket);
    }

    fn socket(&self, now: Instant) -> Socket {
        let mss = self.congestion.mss();
        let in_segments = |bytes: u64| segments(bytes.saturating_add(mss - 1), mss);
        let estimator = self.timeout.estimator();
        let rate = self.extras.rate();
        let srtt = estimator.srtt();
        let (pace, _) = self.congestion.rate(
            // Linux, `tcp_init_congestion_control`: a millisecond where nothing is known.
            srtt.unwrap_or(Duration::from_millis(1)),
            self.board.outstanding(),
        );
        let (most_outstanding, is_cwnd_limited) = self.growth.last_round();
        Socket {
            now,
            pacing_rate: pace.as_bps() / 8,
            mss: u32::try_from(mss).unwrap_or(u32::MAX),
            una: self.space.una(),
            nxt: self.space.nxt(),
            written: self.space.written(),
            recovery_point: self.repair.recovery_point(),
            outstanding: in_segments(self.board.outstanding()),
            sacked: in_segments(self.board.sacked() + self.detection.arrived()),
            lost: in_segments(self.board.lost()),
            resent: in_segments(self.board.resent()),
            most_outstanding: in_segments(most_outstanding),
            is_cwnd_limited,
            lost_in_all: in_segments(self.detection.lost_in_all()),
            delivered: rate.map_or(0, |rate| in_segments(rate.delivered())),
            segments_sent: self.counters.segments_sent,
            segments_resent: self.counters.segments_retransmitted.into(),
            bytes_resent: self.counters.bytes_retransmitted,
            srtt: srtt.unwrap_or(Duration::ZERO),
            rttvar: estimator.rttvar().unwrap_or(Duration::ZERO),
            min_rtt: estimator.minimum().unwrap_or(Duration::ZERO),
            rto: self.timeout.rto(),
            expiries: self.timeout.back_off(),
            app_limited: rate.map_or(0, |rate| in_segments(rate.limited_until())),
            delivered_at: rate.map_or(now, |rate| rate.delivered_at()),
            first_sent_at: rate.map_or(now, |rate| rate.first_sent_at()),
            next_departure: self.extras.pacing().map_or(now, |p| p.next_departure(now)),
            last_sent_at: self.growth.last_sent_at().unwrap_or(now),
            reordering: self.detection.reordering(),
            reorderings_seen: self.detection.reorderings_seen(),
            duplicates_reported: u32::try_from(u64::from(self.counters.duplicates_reported))
                .unwrap_or(u32::MAX),
            peer_window: self.space.right_edge().saturating_sub(self.space.una()),
            uses_marks: self.extras.marks().is_some(),
            ..Socket::default()
        }
    }

    /// Segments were delivered; losses have not been looked for yet (Linux,
    /// `tcp_clean_rtx_queue`).
    pub(super) fn on_external_delivery(&mut self, now: Instant, before: &Before) {
        let mss = self.congestion.mss();
        let count = |bytes: u64| segments(bytes + mss - 1, mss);
        let Some(delivery) = self.board.delivery() else {
            return;
        };
        let (bytes, tag) = (delivery.bytes, delivery.tag);
        let rtt = delivery.told_sent_at().map(|sent_at| now - sent_at);
        let minimum = self.timeout.estimator().minimum().unwrap_or(Duration::ZERO);
        let (mut rate, mut since) = (None, 0);
        if let Some(estimate) = self.extras.rate_mut() {
            rate = estimate.on_delivered(now, bytes, tag, minimum);
            since = tag.map_or(0, |(tag, _)| estimate.delivered() - tag.delivered);
        }
        let acked = self.space.una() - before.una;
        let sacked = count(self.board.sacked());
        let shown = self
            .external()
            .map_or(0, |external| external.socket().sacked);
        let news = News {
            acknowledges: acked > 0,
            sacks: self.choices.sack && (bytes > acked || sacked > shown),
            echoes_mark: self.is_mark_echoed(),
        };
        let sample = AckSample {
            acked: count(acked),
            rtt,
            in_flight: segments(since, mss),
        };
        let delivered = DeliverySample {
            rate: rate.map(|rate| (count(rate.delivered), rate.interval)),
            prior: tag.map_or((Instant::ZERO, 0), |(tag, _)| {
                (tag.delivered_at, count(tag.delivered))
            }),
            rtt,
            losses: 0,
            acked: count(bytes),
            news,
            marked: (0, 0),
            prior_in_flight: count(before.in_flight),
            is_app_limited: tag.is_some_and(|(tag, _)| tag.application_limited),
        };
        let marked = self.newly_marked(bytes);
        let total = self.extras.rate().map_or(0, |rate| count(rate.delivered()));
        if let Some(external) = self.congestion.external_mut() {
            external.on_delivery(delivered, marked, total);
        }
        self.show_external(now);
        let echo = if news.echoes_mark { ECHO } else { 0 };
        self.congestion
            .call_external(Call::AckEvent(SLOW_PATH | echo));
        self.congestion.call_external(Call::Acked(&sample));
    }

    /// Ends an acknowledgment: a model sets the window in every state (Linux, `tcp_cong_control`).
    pub(super) fn on_external_control(&mut self, now: Instant, before: &Before) {
        if self.congestion.is_external_model() {
            self.show_external(now);
            let mss = self.congestion.mss();
            let lost = self.detection.lost_in_all() - before.lost_in_all;
            self.congestion
                .control_external(segments(lost + mss - 1, mss));
        }
        self.follow_external_state();
    }

    /// Notifies the control outside repairs and reductions: segments are SACKed, or not.
    fn follow_external_state(&mut self) {
        let state = match self.repair.phase() {
            Phase::Open if self.is_reduced_for_mark() => return,
            Phase::Open if self.board.sacked() > 0 => State::Disorder,
            Phase::Open => State::Open,
            _ => return,
        };
        self.congestion.set_external_state(state);
    }

    /// Notifies the control that a repair or a reduction has begun.
    #[inline]
    pub(super) fn enter_external_state(&mut self, state: State) {
        if self.congestion.external().is_some() {
            self.congestion.set_external_state(state);
        }
    }

    /// Notifies the control that a repair or a reduction is over; `complete`: the window has
    /// reached the value set for it.
    pub(super) fn on_reduction_over(&mut self, now: Instant, complete: bool) {
        if self.congestion.external().is_some() {
            self.on_external_reduction_over(now, complete);
        } else if complete {
            self.congestion.on_reduction_over();
        }
    }

    /// The same for an external control: the state is Open again.
    fn on_external_reduction_over(&mut self, now: Instant, complete: bool) {
        self.show_external(now);
        if complete && !self.congestion.is_external_model() {
            self.congestion
                .call_external(Call::Event(WindowEvent::ReductionComplete));
        }
        self.follow_external_state();
    }

    /// Notifies the control of the end of the connection.
    pub(crate) fn release_external(&mut self) {
        self.congestion.release_external();
    }

    /// Notifies the control of a transmission while nothing is in flight; `expired`: after a pause
    /// for which the window restarts.
    pub(super) fn on_external_start(&mut self, now: Instant, expired: bool) {
        self.show_external(now);
        if expired && !self.congestion.is_external_model() {
            self.congestion
                .call_external(Call::Event(WindowEvent::Restart));
        }
        self.congestion
            .call_external(Call::Event(WindowEvent::TransmissionStart));
    }

    /// Seeds the control's random numbers before its first loss: an endpoint has no random source.
    #[inline]
    pub(super) fn seed_external(&mut self, observer: &impl Observer) {
        if let Some(external) = self.congestion.external_mut()
            && !external.is_seeded()
        {
            external.seed(observer.draw(1).unwrap_or(0));
        }
    }
}
