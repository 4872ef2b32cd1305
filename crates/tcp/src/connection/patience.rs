//! How long a connection keeps sending to a peer that does not answer (RFC 9293 §3.8.3; Linux,
//! `tcp_write_timeout` and `tcp_probe_timer`).
//!
//! The criterion is time without progress, measured as retransmissions that back off from the least
//! RTO would take it, rather than their number: a long measured round trip does not extend the
//! limit, and a connection that never backs off does not reach it in a moment. A closed window is
//! different: a peer that answers probes may keep it closed indefinitely (RFC 9293 §3.8.6.1),
//! unless no application is left on this side.

use alloc::boxed::Box;

use airtcp_units::{Duration, Instant};

use crate::config::LimitsConfig;

/// The RTO from which limits are computed, whatever the connection's RTO (Linux, `TCP_RTO_MIN`).
const MIN_RTO: Duration = Duration::from_millis(200);
/// Upper bound of its backoff (Linux, `TCP_RTO_MAX`).
const LARGEST_RTO: Duration = Duration::from_secs(120);

/// The sender's actions when it was woken.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// A retransmission timer expired.
    pub timeout: bool,
    /// A zero-window probe is due.
    pub probe: bool,
}

/// Unanswered attempts since the peer's last answer, and the limit on them. Usually there are no
/// attempts and the configured limits apply: then nothing is stored.
#[derive(Clone, Debug, Default)]
pub struct Patience(Option<Box<Tries>>);

#[derive(Clone, Debug)]
struct Tries {
    /// Time of the first retransmission on a timeout since new data was acknowledged;
    /// [`Instant::FAR_FUTURE`] without one.
    since: Instant,
    /// Time of the closed window's first probe, or [`Instant::FAR_FUTURE`].
    probing_since: Instant,
    /// Time of its first probe since the last acknowledgment, or [`Instant::FAR_FUTURE`].
    unanswered_since: Instant,
    /// The limit set by the application.
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
    /// Sets how long written data may go unacknowledged; `None` for the configured limits.
    pub fn set_user_timeout(&mut self, most: Option<Duration>) {
        self.0.get_or_insert_default().user_timeout = most;
    }

    /// Records an acceptable acknowledgment; whether it `advances`, and whether it `opens` a
    /// window. Returns whether that ends all attempts.
    #[inline]
    pub fn on_acknowledgment(&mut self, advances: bool, opens: bool) -> bool {
        let Some(tries) = &mut self.0 else {
            return false;
        };
        tries.on_acknowledgment(advances, opens);
        let ends = tries.is_nothing();
        if ends {
            self.0 = None;
        }
        ends
    }

    /// Records the sender's effort at `now`. Returns whether it exceeded the limit.
    pub fn on_effort(
        &mut self,
        now: Instant,
        effort: Effort,
        limits: &LimitsConfig,
        is_orphan: bool,
    ) -> bool {
        let tries = self.0.get_or_insert_default();
        tries.on_effort(now, effort, limits, is_orphan)
    }

    /// Time at which the application's limit is reached (RFC 9293 §3.8.3; Linux,
    /// `TCP_USER_TIMEOUT`); [`Instant::FAR_FUTURE`] without one, and while nothing is being
    /// retried.
    #[inline]
    pub fn deadline(&self) -> Instant {
        self.0
            .as_ref()
            .map_or(Instant::FAR_FUTURE, |tries| tries.deadline())
    }
}

impl Tries {
    /// Whether there is nothing to store.
    fn is_nothing(&self) -> bool {
        let first = self.since.min(self.probing_since);
        self.user_timeout.is_none() && first.min(self.unanswered_since) == Instant::FAR_FUTURE
    }

    fn on_acknowledgment(&mut self, advances: bool, opens: bool) {
        self.unanswered_since = Instant::FAR_FUTURE;
        // While the window was closed nothing was retransmitted: data unacknowledged until then may
        // be acknowledged now.
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
        let most = time_of(retries, MIN_RTO, LARGEST_RTO);
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

/// Time until `retries` unanswered retransmissions have passed, the wait after the last included,
/// where each doubles the RTO from `least` to `largest` (Linux, `tcp_model_timeout`).
pub fn time_of(retries: u8, least: Duration, largest: Duration) -> Duration {
    let mut rto = least;
    let mut time = rto;
    for _ in 0..retries {
        // Linux adds whole maxima from the first doubling that would exceed them.
        rto = if rto * 2 > largest { largest } else { rto * 2 };
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
        assert_eq!(
            time_of(15, MIN_RTO, LARGEST_RTO),
            Duration::from_millis(924_600)
        );
        assert_eq!(time_of(0, MIN_RTO, LARGEST_RTO), MIN_RTO);
        assert_eq!(
            time_of(2, MIN_RTO, LARGEST_RTO),
            Duration::from_millis(1400)
        );
        assert_eq!(
            time_of(8, MIN_RTO, LARGEST_RTO),
            Duration::from_millis(102_200)
        );
    }
}
