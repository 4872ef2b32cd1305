//! Which round trips are measured.

use airtcp_units::{Duration, Instant};

use super::Echo;
use crate::config::RttSampling;
use crate::loss_detection::Advanced;

/// What acknowledgments measure; boxed, as few senders time a segment a window.
#[derive(Clone, Debug, Default)]
pub(super) struct RoundTrips(Option<Box<Timed>>);

#[derive(Clone, Debug, Default)]
struct Timed {
    /// End of the segment being timed; zero for none.
    end: u64,
    /// When it was sent.
    at: Instant,
}

impl RoundTrips {
    /// A segment that ends at `end` leaves for the first time.
    #[inline]
    pub fn on_sent(&mut self, sampling: RttSampling, now: Instant, end: u64) {
        if sampling == RttSampling::PerWindow {
            let timed = self.0.get_or_insert_default();
            if timed.end == 0 {
                **timed = Timed { end, at: now };
            }
        }
    }

    /// Something is retransmitted or given up: it is not timed (Karn's rule, RFC 6298 §3).
    #[inline]
    pub const fn forget(&mut self) {
        if let Some(timed) = &mut self.0 {
            timed.end = 0;
        }
    }

    /// What was polled at `polled_at` left at `now` only.
    pub fn restamp(&mut self, polled_at: Instant, now: Instant) {
        if let Some(timed) = &mut self.0
            && timed.end > 0
            && timed.at == polled_at
        {
            timed.at = now;
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
            RttSampling::PerWindow => {
                let timed = self.0.as_mut()?;
                let is_over = timed.end > 0 && una >= timed.end;
                is_over.then(|| {
                    timed.end = 0;
                    now - timed.at
                })
            }
        }
    }
}
