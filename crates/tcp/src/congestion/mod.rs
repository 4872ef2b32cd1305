//! Congestion control: the size of the congestion window.
//!
//! A controller is composed of a [slow start](slow_start) and a window rule, one file each.
//! [`loss_differentiation`](crate::loss_differentiation) tells radio losses from congestion, and
//! [`recovery`](crate::recovery) decides how to send during a repair. BBR does all of this itself.
//! All windows are integers, in bytes.

mod ack;
mod bbr;
mod c2tcp;
mod control;
mod cubic;
mod illinois;
mod jersey;
mod ledbat;
mod prague;
mod reno;
mod rule;
mod slow_start;
mod vegas;
mod veno;
mod westwood;
mod windows;

use airtcp_units::{BitRate, Duration, Instant};

use crate::cause::Cause;
use crate::config::{Config, Reduction, ReductionBase, WindowGrowth};
pub use ack::{Ack, Repairing};
use control::Control;
use reno::Reno;
use rule::{Rule, Start};
use slow_start::{RoundTrip, SlowStart};
use windows::Windows;

/// The windows before a reduction, so that it can be undone. A rule's knowledge of the network is
/// not included: estimates remain valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Saved {
    /// The congestion window, in bytes.
    pub cwnd: u64,
    /// The slow-start threshold, in bytes.
    pub ssthresh: u64,
    /// The larger of the outstanding data and the slow-start threshold itself, in bytes (RFC 4015
    /// §3, `pipe_prev`).
    pub pipe: u64,
}

/// The congestion window and the slow-start threshold, and the rules that move them.
#[derive(Clone, Debug)]
pub struct Congestion {
    windows: Windows,
    initial: u64,
    growth: WindowGrowth,
    /// In segments.
    slow_start_limit: u32,
    slow_start_limit_after_timeout: u32,
    base: ReductionBase,
    /// Share of the window that remains after a radio loss.
    radio_keeps_percent: u8,
    /// Whether recovery moves the window to the threshold step by step.
    gradual: bool,
    paced: bool,
    slow_start: SlowStart,
    control: Control,
}

impl Congestion {
    /// Creates the controller of a new connection whose segments carry `mss` bytes.
    #[must_use]
    pub fn new(config: &Config, mss: u64) -> Self {
        let max = config
            .max_window
            .map_or(u64::MAX, |segments| u64::from(segments.max(1)) * mss);
        let initial = (u64::from(config.initial_window.max(1)) * mss).min(max);
        let windows = Windows {
            mss,
            cwnd: initial,
            ssthresh: config.initial_ssthresh.unwrap_or(u64::MAX),
            max,
        };
        Self {
            windows,
            initial,
            growth: config.window_growth,
            slow_start_limit: config.slow_start_limit,
            slow_start_limit_after_timeout: config.slow_start_limit_after_timeout,
            base: config.reduction_base,
            radio_keeps_percent: config.radio_keeps_percent.min(100),
            gradual: config.reduction != Reduction::AtOnce,
            paced: config.pacing,
            slow_start: SlowStart::new(config.slow_start),
            control: Control::start(config, &windows),
        }
    }

    /// Sets the payload of a segment to `mss` bytes; the windows keep their size in bytes (RFC 4821
    /// §5.2: the same data in flight, in other segments).
    pub fn set_mss(&mut self, mss: u64) {
        let before = self.windows.mss;
        let scaled = |bytes: u64| match bytes {
            u64::MAX => u64::MAX,
            bytes => (bytes / before).saturating_mul(mss),
        };
        self.initial = scaled(self.initial);
        self.windows.max = scaled(self.windows.max);
        self.windows.mss = mss;
        self.windows.cwnd = self.windows.cwnd.min(self.windows.max).max(mss);
    }

    /// Continues with the windows of another controller. A model has no threshold: where its window
    /// stands, slow start is over.
    pub fn take_windows(&mut self, other: &Self) {
        self.windows = other.windows;
        if other.is_model_based() {
            self.windows.ssthresh = self.windows.ssthresh.min(self.windows.cwnd);
        }
    }

    /// Payload of a full segment, in bytes.
    #[inline]
    #[must_use]
    pub const fn mss(&self) -> u64 {
        self.windows.mss
    }

    /// The congestion window in bytes, at least one segment.
    #[inline]
    #[must_use]
    pub const fn cwnd(&self) -> u64 {
        self.windows.cwnd
    }

    /// The slow-start threshold in bytes; `u64::MAX` before the first loss.
    #[inline]
    #[must_use]
    pub const fn ssthresh(&self) -> u64 {
        self.windows.ssthresh
    }

    /// Whether the window is below the slow-start threshold (RFC 5681 §3.1).
    #[inline]
    #[must_use]
    pub const fn in_slow_start(&self) -> bool {
        self.windows.in_slow_start()
    }

    /// Whether the rule needs to see every acknowledgment.
    #[inline]
    #[must_use]
    pub const fn observes(&self) -> bool {
        !matches!(
            (&self.control, &self.slow_start),
            (Control::Reno(_), SlowStart::Standard)
        )
    }

    /// Whether the rule itself moves the window at every acknowledgment, also in recovery, and
    /// needs the delivery rate.
    #[inline]
    #[must_use]
    pub fn is_model_based(&self) -> bool {
        self.control.model().is_some()
    }

    /// Whether the window is kept almost empty, to measure the round trip.
    #[must_use]
    pub fn is_probing_rtt(&self) -> bool {
        self.control
            .model()
            .is_some_and(|model| model.is_probing_rtt)
    }

    /// Lets the rule know that the peer counts congestion marks (RFC 9768). Returns whether it
    /// reacts to each of them itself: then no mark is answered as a loss is.
    pub fn heed_each_mark(&mut self) -> bool {
        self.control.heed_each_mark()
    }

    /// Number of times that the rule itself has reduced the window for marks.
    #[must_use]
    pub fn reductions_for_marks(&self) -> u64 {
        self.control.reductions_for_marks()
    }

    /// Takes an acknowledgment that delivered something. Needed only if the controller
    /// [observes](Self::observes).
    pub fn observe(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt
            && self.in_slow_start()
            && !self.is_model_based()
            && ack.repairing == Repairing::Nothing
        {
            let seen = RoundTrip {
                now: ack.now,
                rtt,
                una: ack.una,
                nxt: ack.nxt,
                cwnd_segments: self.windows.cwnd / self.windows.mss,
                paced: self.paced,
            };
            if self.slow_start.on_round_trip(&seen) {
                self.windows.ssthresh = self.windows.cwnd;
            }
        }
        self.control.observe(ack, &mut self.windows);
    }

    /// Takes an acknowledgment of `acked` new bytes that arrived while the window was the limit.
    /// `after_timeout`: the data may have left before a timeout, so that a tighter limit applies in
    /// slow start (RFC 3465 §2.3).
    #[inline]
    pub fn on_acknowledged(&mut self, acked: u64, after_timeout: bool) {
        // A model has moved the window already, in slow start too (Linux, `tcp_cong_control`).
        if self.is_model_based() {
            return;
        }
        let mut credit = match self.growth {
            WindowGrowth::Bytes => acked,
            WindowGrowth::Acknowledgments => self.windows.mss,
        };
        if self.in_slow_start() {
            let limit = if after_timeout {
                self.slow_start_limit_after_timeout
                    .min(self.slow_start_limit)
            } else {
                self.slow_start_limit
            };
            let divisor = self.slow_start.divisor();
            if divisor > 1 {
                credit /= divisor;
            }
            let room = self.windows.ssthresh - self.windows.cwnd;
            let limit = u64::from(limit) * self.windows.mss;
            let used = slow_start::increase(credit, limit, room);
            self.windows.cwnd += used;
            // RFC 3465 §2.3 caps the growth by one acknowledgment; when slow start has just ended,
            // only the remainder counts towards congestion avoidance.
            credit = if self.in_slow_start() {
                0
            } else {
                credit.min(limit) - used
            };
        }
        if credit > 0 {
            self.windows.cwnd += match (self.growth, &mut self.control) {
                (WindowGrowth::Acknowledgments, Control::Reno(_)) => {
                    Reno::by_acknowledgment(self.windows.cwnd, self.windows.mss)
                }
                (_, Control::Reno(reno)) => reno.grow(credit, &self.windows),
                (_, control) => control.grow(credit, &self.windows),
            };
        }
        self.windows.cwnd = self.windows.cwnd.min(self.windows.max);
    }

    /// Responds to a loss found by duplicate acknowledgments or SACK while `flight_size` bytes were
    /// outstanding: reduces the threshold, and the window with it unless recovery moves it there
    /// step by step (RFC 5681 §3.2, eq. 4). `cause`: the loss's cause, if classified. Returns the
    /// threshold of congestion, whatever the cause.
    pub fn on_loss(&mut self, flight_size: u64, cause: Option<Cause>) -> u64 {
        let base = self.reduction_base(flight_size);
        let threshold = self.control.threshold(base, &self.windows);
        self.windows.ssthresh = match cause {
            Some(Cause::Radio) => {
                let keeps = u64::from(self.radio_keeps_percent);
                let segments = base / self.windows.mss * keeps / 100;
                threshold.max(segments * self.windows.mss)
            }
            _ => threshold,
        };
        if !self.gradual {
            self.settle();
        }
        threshold
    }

    /// Lowers the threshold during a repair: its losses are taken for congestion after all.
    pub fn lower_threshold(&mut self, bytes: u64) {
        if bytes < self.windows.ssthresh {
            self.windows.ssthresh = bytes;
            if !self.gradual {
                self.settle();
            }
        }
    }

    /// Sets the window to the value that the last loss demands; a model does not take a loss for a
    /// limit.
    pub fn settle(&mut self) {
        if !self.is_model_based() {
            self.windows.cwnd = self.windows.ssthresh.min(self.windows.max);
        }
    }

    /// Responds to the retransmission timer's expiry: the window becomes one segment. `reduces`:
    /// this is the first expiry for this data; at later ones the threshold stays (RFC 5681 §3.1).
    pub fn on_timeout(&mut self, flight_size: u64, reduces: bool) {
        if reduces {
            let base = self.reduction_base(flight_size);
            self.windows.ssthresh = self.control.threshold(base, &self.windows);
        }
        self.control.on_timeout();
        self.slow_start.on_timeout();
        if !self.is_model_based() {
            self.windows.cwnd = self.windows.mss;
        }
    }

    const fn reduction_base(&self, flight_size: u64) -> u64 {
        match self.base {
            ReductionBase::FlightSize => flight_size,
            ReductionBase::Window => self.windows.cwnd,
        }
    }

    /// Sets the window to one segment, for a slow start after a loss (Tahoe).
    pub const fn restart(&mut self) {
        self.windows.cwnd = self.windows.mss;
    }

    /// Prepares for sending at `now` after nothing was in flight for `idle`. `expired`: how many
    /// timeouts that is; if the window is to restart, it is halved that often (RFC 7661 §4.4.2;
    /// Linux, `tcp_cwnd_restart`), but not below the initial window. A model starts again only if
    /// the application had nothing to send, `limited`: a pace of less than a segment a round trip
    /// leaves nothing in flight, too (draft-ietf-ccwg-bbr §5.4.1; Linux, `bbr_cwnd_event`).
    pub fn on_idle_over(&mut self, now: Instant, idle: Duration, expired: u32, limited: bool) {
        if limited || !self.is_model_based() {
            self.control.on_idle_over(now, idle);
        }
        if expired == 0 || self.is_model_based() {
            return;
        }
        let floor = self.initial.min(self.windows.cwnd);
        self.windows.ssthresh = self.current_threshold();
        self.windows.cwnd = (self.windows.cwnd >> expired.min(63)).max(floor);
    }

    /// The threshold that preserves an unused window: three quarters of it (RFC 7661 §4.4; Linux,
    /// `tcp_current_ssthresh`).
    fn current_threshold(&self) -> u64 {
        let mss = self.windows.mss;
        let segments = self.windows.cwnd / mss;
        self.windows
            .ssthresh
            .max(((segments >> 1) + (segments >> 2)) * mss)
    }

    /// The application used only `used` bytes of the window for a whole timeout: the window moves
    /// halfway towards that (RFC 2861 §3; Linux, `tcp_cwnd_application_limited`).
    pub fn on_application_limited(&mut self, used: u64) {
        let used = used.max(self.initial.min(self.windows.cwnd));
        if used < self.windows.cwnd && !self.is_model_based() {
            self.windows.ssthresh = self.current_threshold();
            self.windows.cwnd =
                u64::midpoint(self.windows.cwnd, used) / self.windows.mss * self.windows.mss;
        }
    }

    /// Bounds the window from above, at the end of a recovery (RFC 6582 §3.2 step 3).
    pub fn bound(&mut self, limit: u64) {
        self.windows.cwnd = self.windows.cwnd.min(limit.max(self.windows.mss));
    }

    /// Sets the window, as a gradual recovery does.
    pub fn set_cwnd(&mut self, bytes: u64) {
        if !self.is_model_based() {
            self.windows.cwnd = bytes.max(self.windows.mss).min(self.windows.max);
        }
    }

    /// Sets the window after a timeout to the data still in flight and one segment, for any
    /// controller.
    pub fn set_after_timeout(&mut self, bytes: u64) {
        self.windows.cwnd = bytes.max(self.windows.mss).min(self.windows.max);
    }

    /// Saves the windows while `outstanding` bytes are unacknowledged, with the threshold as if
    /// nothing had been forgotten (Linux, `prior_ssthresh`).
    #[must_use]
    pub fn save(&self, outstanding: u64) -> Saved {
        Saved {
            pipe: self.windows.ssthresh.max(outstanding),
            cwnd: self.windows.cwnd,
            ssthresh: if self.in_slow_start() {
                self.windows.ssthresh
            } else {
                self.current_threshold()
            },
        }
    }

    /// Undoes a needless reduction: the windows are at least their earlier values (Linux,
    /// `tcp_undo_cwnd_reduction`).
    pub fn restore(&mut self, saved: Saved) {
        self.control.on_taken_back();
        if !self.is_model_based() {
            self.windows.cwnd = self.windows.cwnd.max(saved.cwnd).min(self.windows.max);
        }
        self.windows.ssthresh = self.windows.ssthresh.max(saved.ssthresh);
    }

    /// The Eifel response to a needless timeout: the window is the data in flight plus at most an
    /// initial window, and opens by slow start to the data outstanding before the timeout, or to
    /// the threshold of that time if larger (RFC 4015 §3, "reverse the congestion control state":
    /// not to the window, which need not have been used).
    pub fn resume(&mut self, saved: Saved, in_flight: u64, acked: u64) {
        if self.is_model_based() {
            return;
        }
        self.windows.ssthresh = saved.pipe;
        self.windows.cwnd = (in_flight + acked.min(self.initial))
            .max(self.windows.mss)
            .min(self.windows.max);
    }

    /// The pacing rate and the minimum burst in segments (Linux, `sysctl_tcp_min_tso_segs`: 2), if
    /// segments are paced. `srtt`: the smoothed round trip; `outstanding`: bytes not acknowledged.
    #[must_use]
    pub fn pace(&self, srtt: Option<Duration>, outstanding: u64) -> Option<(BitRate, u64)> {
        match self.control.model() {
            Some(model) => Some((model.pacing_rate, model.least_burst)),
            None if self.paced => srtt.map(|srtt| self.rate(srtt, outstanding)),
            None => None,
        }
    }

    /// The same whether or not segments are paced: it sizes trains, too.
    #[must_use]
    pub fn rate(&self, srtt: Duration, outstanding: u64) -> (BitRate, u64) {
        match self.control.model() {
            Some(model) => (model.pacing_rate, model.least_burst),
            None => match self.control.paced_window(&self.windows) {
                Some(window) => (self.window_rate(srtt, window, 100), 1),
                None => {
                    let window = self.windows.cwnd.max(outstanding);
                    (self.window_rate(srtt, window, 120), 2)
                }
            },
        }
    }

    /// `window` bytes per round trip, plus room to grow: twice that in slow start, `percent`
    /// otherwise (Linux, `tcp_update_pacing_rate`).
    fn window_rate(&self, srtt: Duration, window: u64, percent: u128) -> BitRate {
        let percent = if self.windows.cwnd < self.windows.ssthresh / 2 {
            200
        } else {
            percent
        };
        let nanos = srtt.as_nanos().max(1);
        let bits = u128::from(window) * 8 * percent / 100;
        let rate = match u64::try_from(bits * 1_000_000_000) {
            // 128-bit divisions are slow, and few windows need them.
            Ok(product) => product / nanos,
            Err(_) => u64::try_from(bits * 1_000_000_000 / u128::from(nanos)).unwrap_or(u64::MAX),
        };
        BitRate::from_bps(rate)
    }
}

#[cfg(test)]
mod tests;
