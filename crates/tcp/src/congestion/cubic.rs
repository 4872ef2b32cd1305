//! CUBIC (RFC 9438): the window is a cubic function of the time since the last loss, flat around the
//! window of that loss, and never below what Reno would have.

use airtcp_units::{Duration, Instant};

use super::windows::Windows;
use super::{Ack, Rule};

/// RFC 9438 §5: C in segments a second cubed.
const C: f64 = 0.4;
/// RFC 9438 §4.6: what a loss leaves.
const BETA: f64 = 0.7;
/// RFC 9438 §4.3: Reno's growth that has the same mean window at this beta.
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);
/// In a round trip the window grows by half at most (RFC 9438 §4.2, target within 1.5 cwnd).
const MOST_GROWTH: f64 = 0.5;
/// Where no loss has set a mark, by 5 % (Linux, `bictcp_update`).
const GROWTH_WITHOUT_MARK: f64 = 0.05;

/// The curve, in segments and seconds.
#[derive(Clone, Debug, Default)]
pub struct Cubic {
    /// Window at the last loss, less what fast convergence gives away.
    mark: f64,
    /// Window at the last loss, or where the epoch began.
    origin: f64,
    /// From the epoch's start to the origin.
    k: f64,
    epoch: Option<Instant>,
    /// Reno's window in this epoch.
    reno: f64,
    /// Part of a segment by which the window has grown.
    growth: f64,
    now: Instant,
    minimum_rtt: Duration,
}

impl Cubic {
    /// The window at `since` seconds into the epoch (RFC 9438 §4.2, eq. 1).
    fn curve(&self, since: f64) -> f64 {
        let from_origin = since - self.k;
        self.origin + C * from_origin * from_origin * from_origin
    }

    fn begin_epoch(&mut self, cwnd: f64) {
        self.epoch = Some(self.now);
        self.growth = 0.0;
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

impl Rule for Cubic {
    fn observe(&mut self, ack: &Ack, _windows: &mut Windows) {
        self.now = ack.now;
        self.minimum_rtt = ack.minimum_rtt;
    }

    fn grow(&mut self, acked: u64, windows: &Windows) -> u64 {
        let cwnd = windows.segments();
        if self.epoch.is_none() {
            self.begin_epoch(cwnd);
        }
        let since = self.epoch.map_or(Duration::ZERO, |epoch| self.now - epoch);
        #[expect(clippy::cast_precision_loss, reason = "bytes of an acknowledgment")]
        let segments = acked as f64 / windows.mss as f64;
        self.reno += ALPHA * segments / cwnd;
        // RFC 9438 §4.2: where the curve will be a round trip from now.
        let target = self.curve((since + self.minimum_rtt).as_secs_f64());
        let mut rate = ((target - cwnd) / cwnd).clamp(0.01 / cwnd, MOST_GROWTH);
        if self.mark == 0.0 {
            rate = rate.max(GROWTH_WITHOUT_MARK);
        }
        // RFC 9438 §4.3: not slower than Reno.
        if self.reno > cwnd {
            rate = rate.max(((self.reno - cwnd) / cwnd).min(MOST_GROWTH));
        }
        self.growth += rate * segments;
        // Whole segments: a part of one sends nothing.
        let whole = libm::floor(self.growth);
        self.growth -= whole;
        windows.whole(whole, 0)
    }

    fn threshold(&mut self, base: u64, windows: &Windows) -> u64 {
        let base = Windows {
            cwnd: base,
            ..*windows
        };
        let cwnd = base.segments();
        self.epoch = None;
        // RFC 9438 §4.7, fast convergence: a flow that did not get back to its mark makes room.
        self.mark = if cwnd < self.mark {
            cwnd * f64::midpoint(1.0, BETA)
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
        // RFC 9438 §4.2: the time in which nothing was to be sent is no time on the curve.
        if let Some(epoch) = self.epoch {
            self.epoch = Some((epoch + idle).min(now));
        }
    }
}
