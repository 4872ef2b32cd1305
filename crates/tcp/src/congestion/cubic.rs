//! CUBIC (RFC 9438): the window is a cubic function of the time since the last loss, flat around
//! the window at that loss, and never below Reno's.

use airtcp_units::{Duration, Instant};

use super::Ack;
use super::rule::{Rule, Start};
use super::windows::Windows;
use crate::config::Config;

/// RFC 9438 §5: C in segments a second cubed.
const C: f64 = 0.4;
/// RFC 9438 §4.6: share of the window that remains after a loss.
const BETA: f64 = 0.7;
/// RFC 9438 §4.3: additive increase with which Reno has the same mean window at this beta.
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);
/// Segments acknowledged per segment of growth: at least two, so that the window grows by at most
/// half per round trip (RFC 9438 §4.2, target within 1.5 cwnd).
const FASTEST: f64 = 2.0;
/// At most 20 before the first loss has set a mark (Linux, `bictcp_update`).
const WITHOUT_MARK: f64 = 20.0;
/// Windows acknowledged per segment of growth on the plateau.
const STANDSTILL: f64 = 100.0;
/// Interval after which the curve is re-evaluated, unless the window has changed (Linux: 1/32 s).
const RECOMPUTED_EVERY: Duration = Duration::from_micros(31_250);

/// The curve, in segments and seconds.
#[derive(Clone, Debug, Default)]
pub struct Cubic {
    /// Window at the last loss, less the share given up by fast convergence.
    mark: f64,
    /// Window at the last loss, or where the epoch began.
    origin: f64,
    /// Time from the epoch's start to the origin.
    k: f64,
    epoch: Option<Instant>,
    /// Reno's window in this epoch.
    reno: f64,
    /// Segments acknowledged but not yet counted in Reno's window.
    acked: f64,
    /// Segments acknowledged towards the next segment of growth, and how many that takes.
    counted: f64,
    per_segment: f64,
    /// Time of that computation, and its window.
    computed: Option<(Instant, f64)>,
    now: Instant,
    minimum_rtt: Duration,
}

impl Cubic {
    /// The window at `since` seconds into the epoch (RFC 9438 §4.2, eq. 1), the distance from the
    /// origin in whole segments as in Linux.
    fn curve(&self, since: f64) -> f64 {
        let from_origin = since - self.k;
        self.origin + libm::trunc(C * from_origin * from_origin * from_origin)
    }

    /// Number of segments that must be acknowledged for the window to grow by one.
    fn acked_per_segment(&mut self, cwnd: f64) -> f64 {
        let since = self.epoch.map_or(Duration::ZERO, |epoch| self.now - epoch);
        // RFC 9438 §4.2: where the curve will be a round trip from now.
        let target = self.curve((since + self.minimum_rtt).as_secs_f64());
        let mut needed = if target > cwnd {
            libm::floor(cwnd / (target - cwnd))
        } else {
            STANDSTILL * cwnd
        };
        if self.mark == 0.0 {
            needed = needed.min(WITHOUT_MARK);
        }
        // RFC 9438 §4.3: no slower than Reno, which grows by whole segments.
        let per_segment = libm::floor(cwnd / ALPHA);
        while self.acked > per_segment {
            self.acked -= per_segment;
            self.reno += 1.0;
        }
        if self.reno > cwnd {
            needed = needed.min(libm::floor(cwnd / (self.reno - cwnd)));
        }
        needed.max(FASTEST)
    }

    fn begin_epoch(&mut self, cwnd: f64) {
        self.epoch = Some(self.now);
        self.acked = 0.0;
        self.counted = 0.0;
        self.computed = None;
        self.reno = cwnd;
        if self.mark <= cwnd {
            self.k = 0.0;
            self.origin = cwnd;
        } else {
            // RFC 9438 §4.2, eq. 2.
            self.k = libm::cbrt((self.mark - cwnd) / C);
            self.origin = self.mark;
        }
    }
}

impl Start for Cubic {
    fn start(_config: &Config, _windows: &Windows) -> Self {
        Self::default()
    }
}

impl Rule for Cubic {
    fn observe(&mut self, ack: &Ack, _windows: &mut Windows) {
        self.now = ack.now;
        self.minimum_rtt = ack.minimum_rtt;
    }

    fn grow(&mut self, acked: u64, windows: &Windows) -> u64 {
        #[expect(clippy::cast_precision_loss, reason = "bytes of an acknowledgment")]
        let segments = acked as f64 / windows.mss as f64;
        let cwnd = windows.segments();
        if self.epoch.is_none() {
            self.begin_epoch(cwnd);
        }
        self.acked += segments;
        let fresh = self.computed.is_some_and(|(at, of)| {
            self.now - at <= RECOMPUTED_EVERY && (of - cwnd).abs() < f64::EPSILON
        });
        if !fresh {
            self.computed = Some((self.now, cwnd));
            self.per_segment = self.acked_per_segment(cwnd);
        }
        let mut grown = 0.0;
        // Segments counted towards slower growth are not worth several segments now (Linux,
        // `tcp_cong_avoid_ai`).
        if self.counted >= self.per_segment {
            self.counted = 0.0;
            grown = 1.0;
        }
        self.counted += segments;
        if self.counted >= self.per_segment {
            let more = libm::floor(self.counted / self.per_segment);
            self.counted -= more * self.per_segment;
            grown += more;
        }
        windows.whole(grown, 0)
    }

    fn threshold(&mut self, base: u64, windows: &Windows) -> u64 {
        let base = Windows {
            cwnd: base,
            ..*windows
        };
        let cwnd = base.segments();
        self.epoch = None;
        // RFC 9438 §4.7, fast convergence: a flow that did not return to its mark makes room.
        self.mark = if cwnd < self.mark {
            libm::floor(cwnd * f64::midpoint(1.0, BETA))
        } else {
            cwnd
        };
        base.whole(cwnd * BETA, 2)
    }

    fn on_timeout(&mut self) {
        // RFC 9438 §4.8 starts a new epoch; Linux forgets the mark too (`bictcp_state`).
        *self = Self {
            now: self.now,
            minimum_rtt: self.minimum_rtt,
            ..Self::default()
        };
    }

    fn on_idle_over(&mut self, now: Instant, idle: Duration) {
        // RFC 9438 §4.2: time in which there was nothing to send does not advance the curve.
        if let Some(epoch) = self.epoch {
            self.epoch = Some((epoch + idle).min(now));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux, `bictcp_update`: Reno's window of ten segments grows when more than
    /// 10 · 15/8 = 18 of them are acknowledged, and not at the eighteenth.
    #[test]
    fn renos_window_grows_behind_its_share() {
        for (acked, grown, left) in [(18.0, 10.0, 18.0), (19.0, 11.0, 1.0_f64)] {
            let mut cubic = Cubic::default();
            cubic.begin_epoch(10.0);
            cubic.acked = acked;
            cubic.acked_per_segment(10.0);
            let of = [cubic.reno, cubic.acked].map(f64::to_bits);
            assert_eq!(of, [grown, left].map(f64::to_bits), "{acked}");
        }
    }

    /// RFC 9438 §4.2: the target is where the curve will be a round trip from now. Four seconds
    /// from an origin of 100 segments that is 100 + 0.4 · 4³ = 125, so that every fourth
    /// acknowledged segment opens the window by one.
    #[test]
    fn the_target_is_a_round_trip_ahead() {
        let mut cubic = Cubic {
            minimum_rtt: Duration::from_secs(4),
            ..Cubic::default()
        };
        cubic.begin_epoch(100.0);
        assert_eq!(cubic.acked_per_segment(100.0).to_bits(), 4.0_f64.to_bits());
    }

    /// RFC 9438 §4.6: β of the data in flight, if that is the reduction's base, and not of a window
    /// that was not used.
    #[test]
    fn a_loss_leaves_its_share_of_what_was_in_flight() {
        let windows = Windows {
            mss: 1000,
            cwnd: 100_000,
            ssthresh: u64::MAX,
            max: u64::MAX,
        };
        let mut cubic = Cubic::default();
        assert_eq!(cubic.threshold(50_000, &windows), 35_000);
    }
}
