//! TCP-Jersey (Xu, Tian & Ansari, "TCP-Jersey for wireless IP communications", JSAC 22(4), 2004):
//! the available bandwidth estimate (ABE) sets the window at a loss. Its second half, a congestion
//! warning marked by routers, needs their support; without it every loss is treated as §III.C
//! treats an unmarked one: the window is set from the estimate rather than halved.

use airtcp_units::{Duration, Instant};

use super::rule::{Rule, Start};
use super::windows::Windows;
use super::{Ack, reno::Reno};
use crate::config::Config;

/// The estimate, in bytes a second.
#[derive(Clone, Debug, Default)]
pub struct Jersey {
    reno: Reno,
    last: Option<Instant>,
    estimate: f64,
    minimum_rtt: Duration,
}

impl Start for Jersey {
    fn start(_config: &Config, _windows: &Windows) -> Self {
        Self::default()
    }
}

impl Rule for Jersey {
    fn observe(&mut self, ack: &Ack, _windows: &mut Windows) {
        self.minimum_rtt = ack.minimum_rtt;
        let last = self.last.replace(ack.now);
        let rtt = ack.srtt.as_secs_f64();
        if rtt <= 0.0 || ack.delivered == 0 {
            return;
        }
        let since = last.map_or(0.0, |last| (ack.now - last).as_secs_f64());
        // §III.B, eq. 1: R_n = (RTT × R_(n−1) + L_n)/((t_n − t_(n−1)) + RTT), a window of one round
        // trip that slides in time.
        #[expect(clippy::cast_precision_loss, reason = "bytes of an acknowledgment")]
        let delivered = ack.delivered as f64;
        self.estimate = (rtt * self.estimate + delivered) / (since + rtt);
    }

    fn grow(&mut self, acked: u64, windows: &Windows) -> u64 {
        self.reno.grow(acked, windows)
    }

    fn threshold(&mut self, _base: u64, windows: &Windows) -> u64 {
        self.reno = Reno::default();
        // §III.B: ownd = RTTmin × R/segment size.
        #[expect(clippy::cast_precision_loss, reason = "a segment's bytes")]
        let mss = windows.mss as f64;
        windows.whole(self.minimum_rtt.as_secs_f64() * self.estimate / mss, 2)
    }
}
