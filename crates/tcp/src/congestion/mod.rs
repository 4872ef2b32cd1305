//! Congestion control: the size of the congestion window.
//!
//! A control is [window-based](window_based), composed of a [slow start](slow_start) and a
//! [rule](rule), or a [model](model) of the path. With the former,
//! [`loss_differentiation`](crate::loss_differentiation) separates radio losses from congestion,
//! and [`recovery`](crate::recovery) decides how to send during a repair. All windows are integers,
//! in bytes.

mod abc;
mod ack;
mod bbr;
mod c2tcp;
mod cdg;
mod control;
mod copa;
mod cubic;
mod dctcp;
mod external;
mod htcp;
mod hybla;
mod illinois;
mod jersey;
mod ledbat;
mod model;
mod pcc;
mod prague;
mod reno;
mod rule;
mod slow_start;
mod sprout;
mod vegas;
mod veno;
mod verus;
mod westwood;
mod window_based;
mod windowed_max;
mod windows;
mod yeah;

use alloc::boxed::Box;

use airtcp_packet::Forecast;
use airtcp_units::{BitRate, Duration, Instant};

use crate::cause::Cause;
use crate::config::Config;
pub use ack::{Ack, Repairing};
use control::{AnyModel, Chosen};
pub use external::External;
pub(crate) use external::segments;
use model::Model;
use rule::{Rule, Start};
use window_based::WindowBased;
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

/// The control of a connection.
#[derive(Clone, Debug)]
enum Control {
    WindowBased(WindowBased),
    Model(AnyModel),
    /// One that is not compiled in.
    External(Box<External>),
}

impl Start for Control {
    fn start(config: &Config, windows: &Windows) -> Self {
        match Chosen::start(config, windows) {
            Chosen::Rule(rule) => Self::WindowBased(WindowBased::new(config, rule)),
            Chosen::Model(model) => Self::Model(model),
            Chosen::External(external) => Self::External(external),
        }
    }
}

/// The acknowledgments that a control needs to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observed {
    /// No acknowledgments.
    Nothing,
    /// Acknowledgments that deliver data.
    Deliveries,
    /// All, with the delivery rate.
    Rates,
}

/// The congestion window and the slow-start threshold, and the control that moves them.
#[derive(Clone, Debug)]
pub struct Congestion {
    windows: Windows,
    initial: u64,
    control: Control,
}

impl Congestion {
    /// Creates the controller of a new connection with segments of `mss` bytes.
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

    /// Continues with the windows of another controller. A model has no threshold: slow start ends
    /// at its window.
    pub fn take_windows(&mut self, other: &Self) {
        self.windows = other.windows;
        if let Control::Model(_) = other.control {
            self.windows.ssthresh = self.windows.ssthresh.min(self.windows.cwnd);
        }
    }

    /// Lets the rule set its first window, once the handshake has measured `rtt`, if it did.
    pub fn on_established(&mut self, rtt: Option<Duration>) {
        if let Control::WindowBased(control) = &mut self.control {
            control.rule.on_established(rtt, &mut self.windows);
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

    /// The acknowledgments to [observe](Self::observe).
    #[inline]
    #[must_use]
    pub const fn observed(&self) -> Observed {
        match &self.control {
            Control::WindowBased(control) if control.observes() => Observed::Deliveries,
            Control::WindowBased(_) => Observed::Nothing,
            Control::Model(_) | Control::External(_) => Observed::Rates,
        }
    }

    /// Whether segments are paced.
    #[must_use]
    pub const fn paces(&self) -> bool {
        match &self.control {
            Control::WindowBased(control) => control.paced,
            Control::Model(_) => true,
            // It may ask for it at any time; until then there is no pace.
            Control::External(_) => true,
        }
    }

    /// Whether the window is kept almost empty, to measure the round trip.
    #[must_use]
    pub fn is_probing_rtt(&self) -> bool {
        match &self.control {
            Control::WindowBased(_) | Control::External(_) => false,
            Control::Model(model) => model.demands().is_probing_rtt,
        }
    }

    /// Notes that the peer counts congestion marks (RFC 9768). Returns whether the control reacts
    /// to each of them itself: then a mark is not answered as a loss is.
    pub fn heed_each_mark(&mut self) -> bool {
        match &mut self.control {
            Control::WindowBased(control) => control.rule.heed_each_mark(),
            Control::Model(_) | Control::External(_) => false,
        }
    }

    /// Number of times that the control itself has reduced the window for marks.
    #[must_use]
    pub fn reductions_for_marks(&self) -> u64 {
        match &self.control {
            Control::WindowBased(control) => control.rule.reductions_for_marks(),
            Control::Model(_) | Control::External(_) => 0,
        }
    }

    /// Takes the forecast of a receiver that makes one (Sprout).
    pub fn on_forecast(&mut self, forecast: Forecast) {
        if let Control::Model(model) = &mut self.control {
            model.on_forecast(forecast);
        }
    }

    /// Takes an acknowledgment of the [observed](Self::observed) kind.
    pub fn observe(&mut self, ack: &Ack) {
        match &mut self.control {
            Control::WindowBased(control) => control.observe(ack, &mut self.windows),
            Control::Model(model) => model.observe(ack, &mut self.windows),
            // It has separate calls.
            Control::External(_) => {}
        }
    }

    /// Takes an acknowledgment of `acked` new bytes that arrived while the window was the limit.
    /// `after_timeout`: the data may have left before a timeout, so that a tighter limit applies in
    /// slow start (RFC 3465 §2.3). A model has moved the window already (Linux,
    /// `tcp_cong_control`).
    #[inline]
    pub fn on_acknowledged(&mut self, acked: u64, after_timeout: bool) {
        match &mut self.control {
            Control::WindowBased(control) => {
                control.on_acknowledged(acked, after_timeout, &mut self.windows);
            }
            Control::Model(_) => {}
            Control::External(external) => external.on_acknowledged(acked, &mut self.windows),
        }
    }

    /// Responds to a loss found by duplicate acknowledgments or SACK while `flight_size` bytes were
    /// outstanding: reduces the threshold, and the window with it unless recovery moves it there
    /// step by step (RFC 5681 §3.2, eq. 4). `cause`: the loss's cause, if classified. Returns the
    /// threshold of congestion, whatever the cause. A model keeps the threshold, which it does not
    /// use.
    pub fn on_loss(&mut self, flight_size: u64, cause: Option<Cause>) -> u64 {
        match &mut self.control {
            Control::WindowBased(control) => control.on_loss(flight_size, cause, &mut self.windows),
            Control::Model(model) => {
                model.on_loss(&self.windows);
                self.windows.ssthresh
            }
            Control::External(external) => {
                external.reduce(&mut self.windows);
                self.windows.ssthresh
            }
        }
    }

    /// Responds to a congestion mark, or to the rule's demand, whatever is in flight. Returns
    /// whether the window is reduced: few models treat a mark as a limit.
    pub fn on_mark(&mut self) -> bool {
        match &mut self.control {
            Control::WindowBased(control) => {
                control.on_mark(&mut self.windows);
                true
            }
            Control::Model(model) => model.on_mark(&mut self.windows),
            Control::External(external) => {
                external.reduce(&mut self.windows);
                true
            }
        }
    }

    /// Whether the rule demands a reduction of the window, as a congestion mark does.
    #[inline]
    #[must_use]
    pub fn demands_reduction(&self) -> bool {
        match &self.control {
            Control::WindowBased(control) => control.rule.demands_reduction(),
            Control::Model(_) | Control::External(_) => false,
        }
    }

    /// Called when the window has reached the value set for a loss, a mark or the rule's demand.
    pub fn on_reduction_over(&mut self) {
        if let Control::WindowBased(control) = &mut self.control {
            control.rule.on_reduction_over(&mut self.windows);
        }
    }

    /// Lowers the threshold during a repair: its losses are attributed to congestion after all.
    pub fn lower_threshold(&mut self, bytes: u64) {
        if let Control::WindowBased(control) = &self.control {
            control.lower_threshold(bytes, &mut self.windows);
        }
    }

    /// Sets the window to the value that the last loss demands; a model does not take a loss for a
    /// limit.
    pub fn settle(&mut self) {
        if self.has_threshold() {
            self.windows.settle();
        }
    }

    /// Responds to the retransmission timer's expiry: the window becomes one segment. `reduces`:
    /// this is the first expiry for this data; at later ones the threshold stays (RFC 5681 §3.1).
    pub fn on_timeout(&mut self, flight_size: u64, reduces: bool) {
        match &mut self.control {
            Control::WindowBased(control) => {
                control.on_timeout(flight_size, reduces, &mut self.windows);
            }
            Control::Model(model) => {
                if reduces {
                    model.on_loss(&self.windows);
                }
                model.on_timeout();
            }
            Control::External(external) if reduces => external.on_timeout(&mut self.windows),
            Control::External(_) => {}
        }
    }

    /// Sets the window to one segment, for a slow start after a loss (Tahoe).
    pub fn restart(&mut self) {
        if let Control::WindowBased(control) = &mut self.control {
            control.rule.on_given_up(&mut self.windows);
        }
        self.windows.cwnd = self.windows.mss;
    }

    /// Prepares for sending at `now` after nothing was in flight for `idle`. `expired`: how many
    /// timeouts that is; if the window is to restart, it is halved that often (RFC 7661 §4.4.2;
    /// Linux, `tcp_cwnd_restart`), but not below the initial window. A model restarts only if the
    /// application had nothing to send, `limited`: a pace of less than a segment a round trip
    /// leaves nothing in flight, too (draft-ietf-ccwg-bbr §5.4.1; Linux, `bbr_cwnd_event`).
    pub fn on_idle_over(&mut self, now: Instant, idle: Duration, expired: u32, limited: bool) {
        match &mut self.control {
            Control::WindowBased(control) => control.rule.on_idle_over(now, idle),
            Control::Model(model) if limited => model.on_idle_over(now),
            Control::Model(_) | Control::External(_) => {}
        }
        if expired > 0 && self.has_threshold() {
            let floor = self.initial.min(self.windows.cwnd);
            self.windows.ssthresh = self.windows.preserving_threshold();
            self.windows.cwnd = (self.windows.cwnd >> expired.min(63)).max(floor);
            if let Control::WindowBased(control) = &mut self.control {
                control.rule.on_restart(&self.windows);
            }
        }
    }

    /// The application used only `used` bytes of the window for a whole timeout: the window moves
    /// halfway towards that (RFC 2861 §3; Linux, `tcp_cwnd_application_limited`).
    pub fn on_application_limited(&mut self, used: u64) {
        let has_threshold = self.has_threshold();
        let windows = &mut self.windows;
        let used = used.max(self.initial.min(windows.cwnd));
        if has_threshold && used < windows.cwnd {
            windows.ssthresh = windows.preserving_threshold();
            windows.cwnd = u64::midpoint(windows.cwnd, used) / windows.mss * windows.mss;
        }
    }

    /// Bounds the window from above, at the end of a recovery (RFC 6582 §3.2 step 3).
    pub fn bound(&mut self, limit: u64) {
        self.windows.cwnd = self.windows.cwnd.min(limit.max(self.windows.mss));
    }

    /// Sets the window, as a gradual recovery does; not that of a model.
    pub fn set_cwnd(&mut self, bytes: u64) {
        if self.has_threshold() {
            self.windows.set(bytes);
        }
    }

    /// Sets the window after a timeout to the data still in flight and one segment, for any
    /// control.
    pub fn set_after_timeout(&mut self, bytes: u64) {
        self.windows.set(bytes);
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
                self.windows.preserving_threshold()
            },
        }
    }

    /// Undoes a needless reduction: the windows are at least their earlier values (Linux,
    /// `tcp_undo_cwnd_reduction`). A model has kept its window.
    pub fn restore(&mut self, saved: Saved) {
        match &mut self.control {
            Control::WindowBased(control) => {
                control.rule.on_taken_back();
                self.windows.cwnd = self.windows.cwnd.max(saved.cwnd).min(self.windows.max);
            }
            Control::Model(model) => model.on_taken_back(),
            Control::External(external) => external.undo(&mut self.windows),
        }
        self.windows.ssthresh = self.windows.ssthresh.max(saved.ssthresh);
    }

    /// The Eifel response to a needless timeout: the window is the data in flight plus at most an
    /// initial window, and opens by slow start to the data outstanding before the timeout, or to
    /// the threshold of that time if larger (RFC 4015 §3, "reverse the congestion control state":
    /// not to the window, which need not have been used).
    pub fn resume(&mut self, saved: Saved, in_flight: u64, acked: u64) {
        if self.has_threshold() {
            self.windows.ssthresh = saved.pipe;
            self.windows.set(in_flight + acked.min(self.initial));
        }
    }

    /// The pacing rate and the minimum burst in segments, if segments are paced. `srtt`: the
    /// smoothed round trip; `outstanding`: bytes not acknowledged.
    #[must_use]
    pub fn pace(&self, srtt: Option<Duration>, outstanding: u64) -> Option<(BitRate, u64)> {
        match &self.control {
            Control::WindowBased(control) if !control.paced => None,
            Control::WindowBased(control) => {
                srtt.map(|srtt| control.rate(srtt, outstanding, &self.windows))
            }
            Control::Model(model) => Some(pace_of(model)),
            Control::External(external) => external
                .is_paced()
                .then(|| external.pace(srtt, outstanding, &self.windows)),
        }
    }

    /// The same whether or not segments are paced: it sizes trains, too.
    #[must_use]
    pub fn rate(&self, srtt: Duration, outstanding: u64) -> (BitRate, u64) {
        match &self.control {
            Control::WindowBased(control) => control.rate(srtt, outstanding, &self.windows),
            Control::Model(model) => pace_of(model),
            Control::External(external) => external.pace(Some(srtt), outstanding, &self.windows),
        }
    }

    /// Whether a loss sets the window by way of the threshold; a model sets it itself.
    fn has_threshold(&self) -> bool {
        match &self.control {
            Control::WindowBased(_) => true,
            Control::Model(_) => false,
            Control::External(external) => !external.is_model(),
        }
    }
}

fn pace_of(model: &AnyModel) -> (BitRate, u64) {
    let demands = model.demands();
    (demands.pacing_rate, demands.least_burst)
}

#[cfg(test)]
mod tests;
