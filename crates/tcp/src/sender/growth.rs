//! Decides whether an acknowledgment may let the window grow, and the effect of a pause on it.

use alloc::boxed::Box;

use airtcp_units::{Compact, Duration, Instant};

use super::window_usage::{SendState, WindowUsage};
use crate::config::{Config, GrowthCredit, WindowValidation};
use crate::congestion::Congestion;

/// Validates the window by its use (RFC 7661).
#[derive(Clone, Debug)]
pub(super) struct Growth {
    validation: WindowValidation,
    credit: GrowthCredit,
    restart_after_idle: bool,
    usage: Option<Box<WindowUsage>>,
    /// Time of the last transmission, if any.
    last_sent_at: Compact<Instant>,
}

impl Growth {
    pub fn new(config: &Config) -> Self {
        Self {
            validation: config.window_validation,
            credit: config.quirks.growth_credit,
            restart_after_idle: config.restart_after_idle,
            usage: (config.window_validation == WindowValidation::LastRound).then(Box::default),
            last_sent_at: Compact::NONE,
        }
    }

    /// The unit in which an acknowledgment counts towards growth.
    #[inline]
    pub const fn credit(&self) -> GrowthCredit {
        self.credit
    }

    /// Time of the last transmission, if any.
    #[inline]
    pub fn last_sent_at(&self) -> Option<Instant> {
        self.last_sent_at.get()
    }

    /// Records a transmission.
    #[inline]
    pub const fn on_sent(&mut self, now: Instant) {
        self.last_sent_at = Compact::some(now);
    }

    /// Whether [`note`](Self::note) needs to know how much of the window is used.
    #[inline]
    pub const fn watches_use(&self) -> bool {
        self.usage.is_some()
    }

    /// Whether the window was used, and so may grow, when an acknowledgment finds `in_flight` bytes
    /// in flight: an unused window has not been tested (RFC 7661 §4.1).
    #[inline]
    pub fn is_used(&self, congestion: &Congestion, in_flight: u64, mss: u64) -> bool {
        match self.validation {
            WindowValidation::InFlight => in_flight + mss > congestion.cwnd(),
            WindowValidation::LastRound => self
                .usage
                .as_ref()
                .is_some_and(|usage| usage.is_used(congestion.cwnd(), congestion.in_slow_start())),
            WindowValidation::Always => true,
        }
    }

    /// Most bytes outstanding in the last round trip, and whether the window limited it, where that
    /// is followed.
    pub fn last_round(&self) -> (u64, bool) {
        self.usage
            .as_ref()
            .map_or((0, true), |usage| usage.last_round())
    }

    /// Records how much of the window is used. Returns the bytes used if they were too few for a
    /// whole `rto`, so that the window decays (RFC 2861 §3).
    #[inline]
    pub fn note(
        &mut self,
        standing: &SendState,
        congestion: &Congestion,
        rto: Duration,
    ) -> Option<u64> {
        let usage = self.usage.as_mut()?;
        usage.note(standing);
        if !self.restart_after_idle {
            return None;
        }
        let used = usage.is_used(congestion.cwnd(), congestion.in_slow_start());
        usage.unused_for(standing, used, rto)
    }

    /// The pause that ends now, and how many times `rto` fits into it, if the window is to restart
    /// after one. `None` before the first transmission.
    pub fn pause(&self, now: Instant, rto: Duration) -> Option<(Duration, u32)> {
        let idle = now - self.last_sent_at.get()?;
        let rto = rto.as_nanos().max(1);
        let expired = if self.restart_after_idle {
            u32::try_from(idle.as_nanos().saturating_sub(1) / rto).unwrap_or(u32::MAX)
        } else {
            0
        };
        Some((idle, expired))
    }
}
