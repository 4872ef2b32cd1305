//! When bandwidth is probed, and how fast the probe goes up (draft §5.3.3).

use airtcp_units::{Duration, Instant};

use crate::congestion::windows::Windows;

/// Draft §5.3.3.8: maximum number of round trips between probes, as with Reno.
const MAX_ROUNDS_BETWEEN_PROBES: u64 = 63;
const PROBE_WAIT: Duration = Duration::from_secs(2);

/// The cycle of probing.
#[derive(Clone, Debug)]
pub(super) struct Cycle {
    /// Cycles so far.
    pub count: u64,
    /// Start of this one, or of its probe upwards.
    pub began: Instant,
    pub rounds_since_probe: u64,
    /// Time until the next probe.
    pub wait: Duration,
    /// Round trips of the probe upwards.
    pub up_rounds: u32,
    /// Bytes to be acknowledged until the bound rises by a segment.
    pub up_per_segment: u64,
    /// Bytes of them acknowledged.
    pub up_acked: u64,
    /// Whether the samples now arriving reflect the probe.
    pub samples_of_probe: bool,
}

impl Cycle {
    /// Before the first probe.
    pub const START: Self = Self {
        count: 0,
        began: Instant::ZERO,
        rounds_since_probe: 0,
        wait: PROBE_WAIT,
        up_rounds: 0,
        up_per_segment: u64::MAX,
        up_acked: 0,
        samples_of_probe: false,
    };

    /// Begins the next one after a probe.
    pub fn restart(&mut self, now: Instant) {
        self.up_per_segment = u64::MAX;
        self.rounds_since_probe = 0;
        // Draft §5.3.3.8 waits two to three seconds; flows must not choose the same instant in
        // between.
        let spread = now.as_nanos() / 1000 % 1_000_000;
        self.wait = PROBE_WAIT + Duration::from_micros(spread);
        self.began = now;
        self.samples_of_probe = false;
        // Two cycles are remembered (draft §5.5.5, MaxBwFilterLen).
        self.count += 1;
    }

    /// Whether a probe is due: after the wait, or as many round trips as Reno takes for a window of
    /// `segments`.
    pub fn is_due(&self, now: Instant, segments: u64) -> bool {
        now - self.began > self.wait
            || self.rounds_since_probe >= segments.min(MAX_ROUNDS_BETWEEN_PROBES)
    }

    /// Begins a probe, which fills the pipe first.
    pub const fn refill(&mut self) {
        self.up_rounds = 0;
        self.up_acked = 0;
    }

    /// Goes up.
    pub fn go_up(&mut self, now: Instant, windows: &Windows) {
        self.samples_of_probe = true;
        self.began = now;
        self.raise_slope(windows);
    }

    /// Doubles the slope, from a segment a window (draft §5.3.3.6).
    pub fn raise_slope(&mut self, windows: &Windows) {
        let growth = windows.mss << self.up_rounds.min(30);
        self.up_rounds = (self.up_rounds + 1).min(30);
        self.up_per_segment = (windows.cwnd / growth).max(1) * windows.mss;
    }

    /// Segments by which the bound rises for `delivered` bytes.
    pub const fn climb(&mut self, delivered: u64) -> u64 {
        self.up_acked += delivered;
        if self.up_acked < self.up_per_segment {
            return 0;
        }
        let segments = self.up_acked / self.up_per_segment;
        self.up_acked -= segments * self.up_per_segment;
        segments
    }
}
