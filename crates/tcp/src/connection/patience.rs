//! How long a connection sends to a peer that does not answer (RFC 9293 §3.8.3; Linux,
//! `tcp_write_timeout` and `tcp_probe_timer`).
//!
//! What counts is time without progress, as retransmissions that back off from the least RTO would
//! take it, and not their number: whoever measured a long round trip is not patient for longer, and
//! whoever never backs off has not lost patience in a moment. A shut window is something else: a
//! peer that answers probes may keep it shut for as long as it likes (RFC 9293 §3.8.6.1), unless
//! nobody is left on this side to care.

use airtcp_units::{Duration, Instant};

use crate::config::LimitsConfig;

/// The RTO from which patience is reckoned, whatever the connection's own (Linux, `TCP_RTO_MIN`).
const LEAST_RTO: Duration = Duration::from_millis(200);
/// Where its backoff ends (Linux, `TCP_RTO_MAX`).
const LARGEST_RTO: Duration = Duration::from_secs(120);

/// What the sender did when it was woken.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// A retransmission timer expired.
    pub timeout: bool,
    /// A zero-window probe is due.
    pub probe: bool,
}

/// What was tried since the peer last answered, and for how long it may be. As a rule that is
/// nothing, for as long as the limits configured allow: then there is nothing to keep.
#[derive(Clone, Debug)]
pub struct Patience(Option<Box<Tries>>);

#[derive(Clone, Debug)]
struct Tries {
    /// When a segment was first retransmitted on a timeout since something new was acknowledged;
    /// [`Instant::FAR_FUTURE`] if none was.
    since: Instant,
    /// When the shut window was first probed, likewise.
    probing_since: Instant,
    /// When it was first probed since the last acknowledgment, likewise.
    unanswered_since: Instant,
    /// The application's own bound.
    user_timeout: Option<Duration>,
}

impl Default for Tries {
    fn default() -> Self {
        Self {
            since: Instant::FAR_FUTURE,
            probing_since: Instant::FAR_FUTURE,
            unanswered_since: Instant::FAR_FUTURE,
            user_timeout: None,
        }
    }
}

impl Patience {
    /// Nothing was tried.
    pub fn new(user_timeout: Option<Duration>) -> Self {
        let mut patience = Self(None);
        if user_timeout.is_some() {
            patience.set_user_timeout(user_timeout);
        }
        patience
    }

    /// How long what was written may go unacknowledged; `None` for the limits configured.
    pub fn set_user_timeout(&mut self, most: Option<Duration>) {
        self.0.get_or_insert_default().user_timeout = most;
    }

    /// An acceptable acknowledgment arrived; whether it `advances`, and whether it `opens` a
    /// window.
    #[inline]
    pub fn on_acknowledgment(&mut self, advances: bool, opens: bool) {
        if let Some(tries) = &mut self.0 {
            tries.on_acknowledgment(advances, opens);
            if tries.is_nothing() {
                self.0 = None;
            }
        }
    }

    /// The sender tried something at `now`. Returns whether that was once too often.
    #[inline]
    pub fn on_effort(
        &mut self,
        now: Instant,
        effort: Effort,
        limits: &LimitsConfig,
        is_orphan: bool,
    ) -> bool {
        // Most wake-ups are of the pace.
        if !effort.timeout && !effort.probe {
            return self.deadline() <= now;
        }
        let tries = self.0.get_or_insert_default();
        tries.on_effort(now, effort, limits, is_orphan)
    }

    /// When the application's own bound is reached (RFC 9293 §3.8.3; Linux, `TCP_USER_TIMEOUT`);
    /// [`Instant::FAR_FUTURE`] without one, and while nothing is tried.
    #[inline]
    pub fn deadline(&self) -> Instant {
        self.0
            .as_ref()
            .map_or(Instant::FAR_FUTURE, |tries| tries.deadline())
    }
}

impl Tries {
    /// Whether there is nothing to keep.
    fn is_nothing(&self) -> bool {
        let first = self.since.min(self.probing_since);
        self.user_timeout.is_none() && first.min(self.unanswered_since) == Instant::FAR_FUTURE
    }

    fn on_acknowledgment(&mut self, advances: bool, opens: bool) {
        self.unanswered_since = Instant::FAR_FUTURE;
        // While the window was shut nothing was retransmitted: what the peer did not acknowledge
        // until then it may acknowledge now.
        let reopens = opens && self.probing_since < Instant::FAR_FUTURE;
        if advances || reopens {
            self.since = Instant::FAR_FUTURE;
        }
        if advances || opens {
            self.probing_since = Instant::FAR_FUTURE;
        }
    }

    fn on_effort(
        &mut self,
        now: Instant,
        effort: Effort,
        limits: &LimitsConfig,
        is_orphan: bool,
    ) -> bool {
        let mut is_lost = self.deadline() <= now;
        let retries = if is_orphan {
            limits.orphan_retries
        } else {
            limits.data_retries
        };
        let most = time_of(retries);
        // The first timeout, or probe, is never the last.
        let is_too_long = |since: Instant| since < now && now - since >= most;
        if effort.timeout {
            is_lost |= is_too_long(self.since);
            self.since = self.since.min(now);
        }
        if effort.probe {
            is_lost |= is_too_long(self.unanswered_since);
            self.probing_since = self.probing_since.min(now);
            self.unanswered_since = self.unanswered_since.min(now);
        }
        is_lost
    }

    fn deadline(&self) -> Instant {
        let Some(most) = self.user_timeout else {
            return Instant::FAR_FUTURE;
        };
        self.since.min(self.probing_since) + most
    }
}

/// The time in which `retries` retransmissions go unanswered, the wait after the last included,
/// where each doubles the RTO (Linux, `tcp_model_timeout`).
fn time_of(retries: u8) -> Duration {
    let mut rto = LEAST_RTO;
    let mut time = rto;
    for _ in 0..retries {
        // Linux adds whole maxima from the first doubling that would exceed them.
        rto = if rto * 2 > LARGEST_RTO {
            LARGEST_RTO
        } else {
            rto * 2
        };
        time += rto;
    }
    time
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `Documentation/networking/ip-sysctl.rst`, `tcp_retries2`: "the default value of 15 yields a
    /// hypothetical timeout of 924.6 seconds".
    #[test]
    fn fifteen_retries_take_924_seconds() {
        assert_eq!(time_of(15), Duration::from_millis(924_600));
        assert_eq!(time_of(0), LEAST_RTO);
        assert_eq!(time_of(2), Duration::from_millis(1400));
        assert_eq!(time_of(8), Duration::from_millis(102_200));
    }
}
