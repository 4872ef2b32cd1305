//! Which round trips are measured.

use airtcp_units::{Duration, Instant};

use super::Echo;
use crate::config::RttSampling;
use crate::loss_detection::Advanced;

/// What acknowledgments measure.
#[derive(Clone, Debug, Default)]
pub(super) struct RoundTrips {
    /// End of the segment being timed, when one a window is; zero for none.
    timed: u64,
    /// When it was sent.
    timed_at: Instant,
}

impl RoundTrips {
    /// A segment that ends at `end` leaves for the first time.
    #[inline]
    pub fn on_sent(&mut self, sampling: RttSampling, now: Instant, end: u64) {
        if sampling == RttSampling::PerWindow && self.timed == 0 {
            self.timed = end;
            self.timed_at = now;
        }
    }

    /// Something is retransmitted or given up: it is not timed (Karn's rule, RFC 6298 §3).
    #[inline]
    pub const fn forget(&mut self) {
        self.timed = 0;
    }

    /// What was polled at `polled_at` left at `now` only.
    pub fn restamp(&mut self, polled_at: Instant, now: Instant) {
        if self.timed > 0 && self.timed_at == polled_at {
            self.timed_at = now;
        }
    }

    /// Whether [`sample`](Self::sample) looks at the echo.
    #[inline]
    pub const fn wants_echo(sampling: RttSampling, advanced: Advanced) -> bool {
        match sampling {
            RttSampling::PerAcknowledgment | RttSampling::ByTimestamps => advanced.resent,
            RttSampling::EchoedTimestamp => true,
            RttSampling::PerWindow => false,
        }
    }

    /// What an acknowledgment of everything below `una` measures.
    #[inline]
    pub fn sample(
        &mut self,
        sampling: RttSampling,
        now: Instant,
        una: u64,
        advanced: Advanced,
        echo: Option<Echo>,
    ) -> Option<Duration> {
        match sampling {
            // The sender's own record is exact; where a segment was sent more than once only the
            // echo tells which one was answered (RFC 7323 §4.1).
            RttSampling::PerAcknowledgment | RttSampling::ByTimestamps => advanced
                .sent_at
                .map(|sent_at| now - sent_at)
                .or_else(|| echo.filter(|_| advanced.resent).map(|echo| echo.rtt)),
            RttSampling::EchoedTimestamp => echo.map(|echo| echo.rtt),
            RttSampling::PerWindow if self.timed > 0 && una >= self.timed => {
                self.timed = 0;
                Some(now - self.timed_at)
            }
            RttSampling::PerWindow => None,
        }
    }
}
