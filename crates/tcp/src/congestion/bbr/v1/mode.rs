//! The modes of version 1, each with the state that has a meaning in it (`bbr_mode`).

use airtcp_units::Instant;

use crate::congestion::bbr::minimum_rtt::RttProbe;

/// 2/ln 2, the least gain that doubles the rate each round trip, as the kernel's fraction with
/// denominator 256.
pub(super) const HIGH_GAIN: f64 = 739.0 / 256.0;
/// Drains in one round trip the queue that start-up has built.
const DRAIN_GAIN: f64 = 88.0 / 256.0;
/// Gain of the window, in bandwidth-delay products.
const CWND_GAIN: f64 = 2.0;
/// One round trip each: more, to probe; less, to drain the resulting queue; then the estimate
/// itself.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];

#[derive(Clone, Debug)]
pub(super) enum Mode {
    Startup,
    Drain,
    ProbeBandwidth(Cycle),
    ProbeRtt(RttProbe),
}

impl Mode {
    /// Gain of the pace, outside a policer.
    pub fn pacing_gain(&self) -> f64 {
        match self {
            Self::Startup => HIGH_GAIN,
            Self::Drain => DRAIN_GAIN,
            Self::ProbeBandwidth(cycle) => CYCLE[cycle.phase],
            Self::ProbeRtt(_) => 1.0,
        }
    }

    /// Gain of the window, in bandwidth-delay products.
    pub const fn cwnd_gain(&self) -> f64 {
        match self {
            Self::Startup | Self::Drain => HIGH_GAIN,
            Self::ProbeBandwidth(_) => CWND_GAIN,
            Self::ProbeRtt(_) => 1.0,
        }
    }

    pub const fn is_startup(&self) -> bool {
        matches!(self, Self::Startup)
    }

    pub const fn is_cycling(&self) -> bool {
        matches!(self, Self::ProbeBandwidth(_))
    }

    pub const fn is_probing_rtt(&self) -> bool {
        matches!(self, Self::ProbeRtt(_))
    }

    /// Whether the cycle is at its first phase, in which more is sent than is delivered.
    pub const fn is_probing_upwards(&self) -> bool {
        matches!(self, Self::ProbeBandwidth(Cycle { phase: 0, .. }))
    }
}

/// The cycle of gains.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cycle {
    pub phase: usize,
    pub began: Instant,
}

impl Cycle {
    /// Flows should start anywhere in the cycle except where it drains; here the time decides,
    /// which no two flows share to the nanosecond (`bbr_reset_probe_bw_mode`).
    pub fn at(now: Instant) -> Self {
        let draw = usize::try_from(now.as_nanos() / 1000 % 7).unwrap_or(0);
        // Seven phases: all but the draining one.
        let phase = if draw == 0 { 0 } else { draw + 1 };
        Self { phase, began: now }
    }

    /// The next phase, from now on.
    pub const fn next(self, now: Instant) -> Self {
        Self {
            phase: (self.phase + 1) % CYCLE.len(),
            began: now,
        }
    }
}
