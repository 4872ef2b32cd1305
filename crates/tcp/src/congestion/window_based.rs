//! A window-based control: [slow start](super::slow_start) up to a threshold, a [rule](super::rule)
//! above it, and a threshold that losses lower.

use airtcp_units::{BitRate, Duration};

use super::control::AnyRule;
use super::reno::Reno;
use super::rule::Rule;
use super::slow_start::{self, RoundTrip, SlowStart};
use super::windows::Windows;
use super::{Ack, Repairing};
use crate::cause::Cause;
use crate::config::{Config, Reduction, ReductionBase, WindowGrowth};

/// Slow start, the rule, and the choices that hold for every rule.
#[derive(Clone, Debug)]
pub(super) struct WindowBased {
    growth: WindowGrowth,
    /// In segments.
    slow_start_limit: u32,
    slow_start_limit_after_timeout: u32,
    base: ReductionBase,
    /// Share of the window that remains after a radio loss.
    radio_keeps_percent: u8,
    /// Whether recovery moves the window to the threshold step by step.
    gradual: bool,
    pub paced: bool,
    slow_start: SlowStart,
    pub rule: AnyRule,
}

impl WindowBased {
    pub fn new(config: &Config, rule: AnyRule) -> Self {
        Self {
            growth: config.window_growth,
            slow_start_limit: config.slow_start_limit,
            slow_start_limit_after_timeout: config.quirks.slow_start_limit_after_timeout,
            base: config.reduction_base,
            radio_keeps_percent: config.radio_keeps_percent.min(100),
            gradual: config.reduction != Reduction::AtOnce,
            paced: config.pacing,
            slow_start: SlowStart::new(config.slow_start),
            rule,
        }
    }

    /// Whether it needs to see every acknowledgment.
    #[inline]
    pub const fn observes(&self) -> bool {
        !(matches!(self.rule, AnyRule::Reno(_)) && self.slow_start.is_standard())
    }

    /// Takes an acknowledgment that delivered data.
    pub fn observe(&mut self, ack: &Ack, windows: &mut Windows) {
        if let Some(rtt) = ack.rtt
            && windows.in_slow_start()
            && ack.repairing == Repairing::Nothing
        {
            let seen = RoundTrip {
                now: ack.now,
                rtt,
                una: ack.una,
                nxt: ack.nxt,
                cwnd_segments: windows.cwnd / windows.mss,
                paced: self.paced,
            };
            if self.slow_start.on_round_trip(&seen) {
                windows.ssthresh = windows.cwnd;
            }
        }
        self.rule.observe(ack, windows);
    }

    /// Takes an acknowledgment of `acked` new bytes that arrived while the window was the limit.
    #[inline]
    pub fn on_acknowledged(&mut self, acked: u64, after_timeout: bool, windows: &mut Windows) {
        let replaced = if windows.in_slow_start() {
            self.rule.slow_start(windows)
        } else {
            None
        };
        match replaced {
            Some(grown) => windows.cwnd += grown,
            None => self.grow(acked, after_timeout, windows),
        }
        windows.cwnd = windows.cwnd.min(windows.max);
        self.rule.after_growth(windows);
    }

    #[inline]
    fn grow(&mut self, acked: u64, after_timeout: bool, windows: &mut Windows) {
        let mut credit = match self.growth {
            WindowGrowth::Bytes => acked,
            WindowGrowth::Acknowledgments => windows.mss,
        };
        if windows.in_slow_start() {
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
            let room = windows.ssthresh - windows.cwnd;
            let limit = u64::from(limit) * windows.mss;
            let used = slow_start::increase(credit, limit, room);
            windows.cwnd += used;
            // RFC 3465 §2.3 caps the growth by one acknowledgment; when slow start has just ended,
            // only the remainder counts towards congestion avoidance.
            credit = if windows.in_slow_start() {
                0
            } else {
                credit.min(limit) - used
            };
        }
        if credit > 0 {
            windows.cwnd += match (self.growth, &mut self.rule) {
                (WindowGrowth::Acknowledgments, AnyRule::Reno(_)) => {
                    Reno::by_acknowledgment(windows.cwnd, windows.mss)
                }
                (_, AnyRule::Reno(reno)) => reno.grow(credit, windows),
                (_, rule) => rule.grow(credit, windows),
            };
        }
    }

    /// Reduces the threshold for a loss, and the window with it unless recovery moves it there.
    /// Returns the threshold of congestion, whatever the cause.
    pub fn on_loss(
        &mut self,
        flight_size: u64,
        cause: Option<Cause>,
        windows: &mut Windows,
    ) -> u64 {
        let base = self.reduction_base(flight_size, windows);
        let threshold = self.rule.threshold(base, windows);
        windows.ssthresh = match cause {
            Some(Cause::Radio) => {
                let keeps = u64::from(self.radio_keeps_percent);
                let segments = base / windows.mss * keeps / 100;
                threshold.max(segments * windows.mss)
            }
            _ => threshold,
        };
        self.settle_unless_gradual(windows);
        threshold
    }

    /// Reduces the threshold for a congestion mark, or on the rule's demand, and the window with it
    /// unless it moves there step by step.
    pub fn on_mark(&mut self, windows: &mut Windows) {
        windows.ssthresh = self.rule.threshold_for_mark(windows.cwnd, windows);
        self.settle_unless_gradual(windows);
    }

    /// Lowers the threshold to `bytes` during a repair.
    pub fn lower_threshold(&self, bytes: u64, windows: &mut Windows) {
        if bytes < windows.ssthresh {
            windows.ssthresh = bytes;
            self.settle_unless_gradual(windows);
        }
    }

    const fn settle_unless_gradual(&self, windows: &mut Windows) {
        if !self.gradual {
            windows.settle();
        }
    }

    /// The window becomes one segment; the threshold is reduced with the first expiry.
    pub fn on_timeout(&mut self, flight_size: u64, reduces: bool, windows: &mut Windows) {
        if reduces {
            let base = self.reduction_base(flight_size, windows);
            windows.ssthresh = self.rule.threshold(base, windows);
            self.rule.on_given_up(windows);
        }
        self.rule.on_timeout();
        self.slow_start.on_timeout();
        windows.cwnd = windows.mss;
    }

    const fn reduction_base(&self, flight_size: u64, windows: &Windows) -> u64 {
        match self.base {
            ReductionBase::FlightSize => flight_size,
            ReductionBase::Window => windows.cwnd,
        }
    }

    /// The pacing rate, and the minimum burst in segments (Linux, `sysctl_tcp_min_tso_segs`: 2).
    pub fn rate(&self, srtt: Duration, outstanding: u64, windows: &Windows) -> (BitRate, u64) {
        match self.rule.paced_window(windows) {
            Some(window) => (windows.rate(window, srtt, 100), 1),
            None => {
                let window = windows.cwnd.max(outstanding);
                (windows.rate(window, srtt, 120), 2)
            }
        }
    }
}
