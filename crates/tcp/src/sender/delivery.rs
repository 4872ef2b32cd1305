//! Passes on an acknowledgment's delivery to its users: loss detection, classifiers, model-based
//! controllers, the round-trip estimator.

use airtcp_units::{Duration, Instant};

use super::{Before, Sender};
use crate::config::ReportedRtt;
use crate::congestion::{Ack, Observed, Repairing};
use crate::loss_detection::{Advanced, Answerable};
use crate::observer::{Event, Observer};
use crate::recovery::Phase;
use crate::rtt::Echo;

impl Sender {
    /// Starts the account of this acknowledgment's delivery; `echo` returns the echoed timestamp.
    /// It is not called if nothing was ever retransmitted: there is no ambiguity to resolve.
    #[inline]
    pub(super) fn begin_delivery(&mut self, now: Instant, echo: impl FnOnce() -> Option<Echo>) {
        if self.board.delivery().is_none() {
            return;
        }
        let echo = if !self.counters.segments_retransmitted.is_zero() {
            echo()
        } else {
            None
        };
        let round_trip_ago = now.as_nanos().saturating_sub(self.minimum_rtt().as_nanos());
        let round_trip_ago = Instant::from_nanos(round_trip_ago);
        // A segment that left within the echoed tick may be the one answered.
        let rest_of_tick = self.timeout.config().timestamp_tick - Duration::from_nanos(1);
        let echoed = echo.map_or(Instant::FAR_FUTURE, |echo| echo.sent_at + rest_of_tick);
        let answerable = Answerable {
            reported: round_trip_ago,
            acknowledged: round_trip_ago.min(echoed),
        };
        self.board.begin(answerable, self.repair.recovery_point());
    }

    /// Passes on the delivery.
    #[inline]
    pub(super) fn take_delivery(&mut self, now: Instant, before: &Before, highest_before: u64) {
        if self.board.delivery().is_some() {
            self.hand_out_delivery(now, before, highest_before);
        }
    }

    #[inline(never)]
    fn hand_out_delivery(&mut self, now: Instant, before: &Before, highest_before: u64) {
        if self.probes_at_timeout() && self.board.delivery().is_some_and(|news| news.bytes > 0) {
            self.on_probed_delivery(now);
        }
        let Some(delivery) = self.board.delivery() else {
            return;
        };
        self.detection.on_delivery(
            now,
            self.space.una(),
            delivery,
            highest_before,
            self.congestion.mss(),
        );
        let bytes = delivery.bytes;
        if bytes == 0 {
            return;
        }
        self.causes
            .on_acknowledged(now, bytes, self.congestion.mss());
        if self.congestion.external().is_some() {
            self.on_external_delivery(now, before);
        } else if self.congestion.observed() == Observed::Deliveries {
            let ack = self.ack_for_control(now, before, self.delivered(before, 0));
            self.congestion.observe(&ack);
            if self.congestion.demands_reduction() {
                self.reduce_window(now);
            }
        }
    }

    /// Bytes delivered by this acknowledgment. Without SACK a duplicate counts as one segment, and
    /// its bytes are not counted twice when acknowledged (Linux, `tcp_add_reno_sack` and
    /// `tcp_remove_reno_sacks`).
    #[inline]
    pub(super) fn delivered(&self, before: &Before, acked: u64) -> u64 {
        if self.choices.sack {
            return self
                .board
                .delivery()
                .map_or(acked, |delivery| delivery.bytes);
        }
        if let Some(counted) = self.detection.counted() {
            return counted;
        }
        let acked = self.space.una() - before.una;
        if acked == 0 {
            self.congestion.mss()
        } else {
            acked
                .saturating_sub(before.inflation)
                .max(acked.min(self.congestion.mss()))
        }
    }

    fn minimum_rtt(&self) -> Duration {
        self.timeout.estimator().minimum().unwrap_or(Duration::ZERO)
    }

    fn ack_for_control(&self, now: Instant, before: &Before, delivered: u64) -> Ack {
        let estimator = self.timeout.estimator();
        Ack {
            now,
            delivered,
            marked: self.newly_marked(delivered),
            lost: self.detection.lost_in_all() - before.lost_in_all,
            rtt: self.newest_rtt(now),
            minimum_rtt: self.minimum_rtt(),
            srtt: estimator.srtt().unwrap_or(Duration::ZERO),
            una: self.space.una(),
            nxt: self.space.nxt(),
            in_flight_before: before.in_flight,
            held_back: self.held_back(),
            in_flight: self.in_flight(),
            next_departure: self
                .extras
                .pacing()
                .map_or(now, |pacing| pacing.next_departure(now)),
            delivered_in_all: self.extras.rate().map_or(0, |rate| rate.delivered()),
            lost_in_all: self.detection.lost_in_all(),
            rate: None,
            repairing: match self.repair.phase() {
                Phase::Open => Repairing::Nothing,
                Phase::FastRecovery(_) => Repairing::FastRecovery,
                Phase::Timeout { .. } => Repairing::Timeout,
            },
        }
    }

    /// Round trip of the delivered segment that was sent last.
    fn newest_rtt(&self, now: Instant) -> Option<Duration> {
        let latest = self.board.delivery()?.latest?;
        Some(now - latest.sent_at)
    }

    /// Lets a control that follows the delivery rate move the window, whatever is being repaired.
    #[inline]
    pub(super) fn control_window(&mut self, now: Instant, before: &Before, delivered: u64) {
        if self.congestion.observed() != Observed::Rates {
            return;
        }
        if self.congestion.external().is_some() {
            self.on_external_control(now, before);
            return;
        }
        let minimum = self.minimum_rtt();
        let tag = self.board.delivery().and_then(|delivery| delivery.tag);
        let mut sample = None;
        if let Some(rate) = self.extras.rate_mut() {
            sample = rate.on_delivered(now, delivered, tag, minimum);
        }
        let mut ack = self.ack_for_control(now, before, delivered);
        ack.rate = sample;
        self.congestion.observe(&ack);
        let in_flight = self.in_flight();
        if self.congestion.is_probing_rtt()
            && let Some(rate) = self.extras.rate_mut()
        {
            // Data sent with an almost empty window does not measure the bandwidth.
            rate.on_application_limited(in_flight);
        }
    }

    #[inline]
    pub(super) fn sample_rtt(
        &mut self,
        now: Instant,
        advanced: Advanced,
        echo: Option<Echo>,
        observer: &mut impl Observer,
    ) {
        let una = self.space.una();
        let sampling = self.choices.sampling;
        match self.round_trips.sample(sampling, now, una, advanced, echo) {
            Some(rtt) => self.on_rtt_sample(now, rtt, observer),
            None => self.sample_reported_rtt(now, observer),
        }
    }

    /// Takes a round-trip sample from data SACKed for the first time, if configured (Linux,
    /// `tcp_ack_update_rtt`).
    pub(super) fn sample_reported_rtt(&mut self, now: Instant, observer: &mut impl Observer) {
        let reported = self
            .board
            .delivery()
            .and_then(|delivery| delivery.reported_sent_at);
        if self.choices.reported_rtt == ReportedRtt::Sampled
            && let Some(sent_at) = reported
        {
            self.on_rtt_sample(now, now - sent_at, observer);
        }
    }

    #[inline]
    fn on_rtt_sample(&mut self, now: Instant, mut rtt: Duration, observer: &mut impl Observer) {
        if let Some(link) = self.extras.link_mut() {
            let least = self.timeout.estimator().minimum().unwrap_or(rtt);
            link.on_acknowledged(self.space.una(), self.congestion.mss());
            let base = self.detection.base_threshold();
            let threshold = link.threshold(base, self.congestion.cwnd(), self.congestion.mss());
            self.detection.set_threshold(threshold);
            match link.filter(self.space.una(), rtt, least) {
                Some(believed) => rtt = believed,
                None => return,
            }
        }
        self.timeout
            .on_sample(rtt, self.space.una(), self.space.nxt());
        self.causes.on_timed_rtt(now, rtt);
        observer.event(now, Event::RttSample { rtt });
    }
}
