//! Keep-alive: probes whether the peer of an idle connection still exists (RFC 9293 §3.8.4).

use airtcp_units::{Duration, Instant};

/// The schedule of probes to an idle peer, and the limit before its connection is abandoned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepAlive {
    /// Silence before the first probe (RFC 9293 §3.8.4: two hours at least by default; Linux,
    /// `tcp_keepalive_time`).
    pub idle: Duration,
    /// Time between probes (Linux, `tcp_keepalive_intvl`: 75 s).
    pub interval: Duration,
    /// Probes that may go unanswered (Linux, `tcp_keepalive_probes`: 9).
    pub probes: u32,
}

impl Default for KeepAlive {
    fn default() -> Self {
        Self {
            idle: Duration::from_secs(7200),
            interval: Duration::from_secs(75),
            probes: 9,
        }
    }
}

/// The action due after a silence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Silence {
    /// Nothing yet.
    Wait,
    /// Send a probe to the peer.
    Probe,
    /// Give the peer up.
    GiveUp,
}

/// The silence of one peer.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    settings: KeepAlive,
    unanswered: u32,
    next: Instant,
}

impl Watch {
    /// Creates the watch; the last packet of the peer arrived at `now`.
    pub fn new(settings: KeepAlive, now: Instant) -> Self {
        Self {
            settings,
            unanswered: 0,
            next: now + settings.idle,
        }
    }

    /// Records that a packet of the peer has arrived.
    pub fn on_heard(&mut self, now: Instant) {
        self.unanswered = 0;
        self.next = now + self.settings.idle;
    }

    pub const fn deadline(&self) -> Instant {
        self.next
    }

    /// Returns the action due after silence until `now`. `waits`: data is unacknowledged, so that
    /// the retransmission timer watches the peer.
    pub fn on_wakeup(&mut self, now: Instant, waits: bool) -> Silence {
        if now < self.next {
            return Silence::Wait;
        }
        if waits {
            self.on_heard(now);
            return Silence::Wait;
        }
        if self.unanswered >= self.settings.probes {
            return Silence::GiveUp;
        }
        self.unanswered += 1;
        self.next = now + self.settings.interval.max(Duration::from_millis(1));
        Silence::Probe
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux with its defaults: 7200 s, nine probes 75 s apart, and the end 75 s later.
    #[test]
    fn nine_probes_and_then_the_end() {
        let mut watch = Watch::new(KeepAlive::default(), Instant::ZERO);
        let at = |seconds| Instant::ZERO + Duration::from_secs(seconds);
        assert_eq!(watch.on_wakeup(at(7199), false), Silence::Wait);
        for probe in 0..9 {
            assert_eq!(watch.deadline(), at(7200 + 75 * probe));
            assert_eq!(watch.on_wakeup(watch.deadline(), false), Silence::Probe);
        }
        assert_eq!(watch.on_wakeup(at(7200 + 9 * 75), false), Silence::GiveUp);
        watch.on_heard(at(7900));
        assert_eq!(watch.deadline(), at(7900 + 7200));
        assert_eq!(watch.on_wakeup(at(20_000), true), Silence::Wait);
    }
}
