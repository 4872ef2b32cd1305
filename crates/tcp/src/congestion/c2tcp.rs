//! C2TCP (Abbasloo, Xu & Chao, "Cellular Controlled Delay TCP", IFIP Networking 2018; the authors'
//! patch of Linux 4.13): CUBIC, with CoDel's rule at the sender. While round trips stay above a
//! target for an interval the window is reduced to a segment, at shrinking intervals; while they
//! are below it, each acknowledgment opens it further.

use airtcp_units::{Duration, Instant};

use super::cubic::Cubic;
use super::rule::{Rule, Start};
use super::windows::Windows;
use super::{Ack, Repairing};
use crate::config::Config;

/// CUBIC, and the state of the delay.
#[derive(Clone, Debug)]
pub struct C2Tcp {
    cubic: Cubic,
    target: Duration,
    interval: Duration,
    /// Time of the next reduction; `None` while the round trip is below the target.
    next: Option<Instant>,
    /// Reductions since it was, and one.
    count: u32,
    /// Segments towards the next one that good conditions add (the kernel's `snd_cwnd_cnt`).
    credit: u64,
}

impl Start for C2Tcp {
    fn start(config: &Config, windows: &Windows) -> Self {
        Self {
            cubic: Cubic::start(config, windows),
            target: config.c2tcp_target,
            interval: config.c2tcp_interval,
            next: None,
            count: 1,
            credit: 0,
        }
    }
}

impl C2Tcp {
    /// The round trip is short: a window of acknowledgments adds as many segments as it fits into
    /// the target, one at least.
    fn on_short(&mut self, rtt: Duration, windows: &mut Windows) {
        (self.next, self.count) = (None, 1);
        // In whole milliseconds, as the patch divides.
        let milliseconds = |time: Duration| time.as_nanos() / 1_000_000;
        self.credit += (milliseconds(self.target) / milliseconds(rtt).max(1)).max(1);
        if self.credit >= windows.cwnd / windows.mss {
            self.credit = 0;
            windows.cwnd = (windows.cwnd + windows.mss).min(windows.max);
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "no interval is negative or that long"
    )]
    fn on_long(&mut self, now: Instant, windows: &mut Windows) {
        let Some(next) = self.next else {
            (self.next, self.count) = (Some(now + self.interval), 1);
            return;
        };
        if now <= next {
            return;
        }
        // CoDel's control law, from now on and not from the time that was due.
        let nanos = self.interval.as_nanos() as f64 / libm::sqrt(f64::from(self.count));
        self.next = Some(now + Duration::from_nanos(libm::round(nanos) as u64));
        self.count += 1;
        self.credit = 0;
        windows.ssthresh = self.cubic.threshold(windows.cwnd, windows);
        windows.cwnd = windows.mss;
    }
}

impl Rule for C2Tcp {
    fn observe(&mut self, ack: &Ack, windows: &mut Windows) {
        self.cubic.observe(ack, windows);
        // The repair of a loss has the window already.
        let Some(rtt) = ack.rtt.filter(|_| ack.repairing == Repairing::Nothing) else {
            return;
        };
        if rtt <= self.target {
            self.on_short(rtt, windows);
        } else {
            self.on_long(ack.now, windows);
        }
    }

    fn grow(&mut self, acked: u64, windows: &Windows) -> u64 {
        self.cubic.grow(acked, windows)
    }

    fn threshold(&mut self, base: u64, windows: &Windows) -> u64 {
        self.cubic.threshold(base, windows)
    }

    fn on_timeout(&mut self) {
        self.cubic.on_timeout();
    }

    fn on_taken_back(&mut self) {
        self.cubic.on_taken_back();
    }

    fn on_idle_over(&mut self, now: Instant, idle: Duration) {
        (self.next, self.count) = (None, 1);
        self.cubic.on_idle_over(now, idle);
    }
}
