//! Round-trip samples.

use alloc::boxed::Box;

use airtcp_units::{Duration, Instant};

use crate::config::RttSampling;
use crate::loss_detection::Advanced;
use crate::rtt::Echo;

/// The segment being timed; boxed, as few senders time one segment per window.
#[derive(Clone, Debug, Default)]
pub(super) struct RoundTrips(Option<Box<Timed>>);

#[derive(Clone, Debug, Default)]
struct Timed {
    /// End of the segment being timed; zero if there is no such segment.
    end: u64,
    /// Time of its transmission.
    at: Instant,
}

impl RoundTrips {
    /// Records that a segment that ends at `end` leaves for the first time.
    #[inline]
    pub fn on_sent(&mut self, sampling: RttSampling, now: Instant, end: u64) {
        if sampling == RttSampling::PerWindow {
            let timed = self.0.get_or_insert_default();
            if timed.end == 0 {
                **timed = Timed { end, at: now };
            }
        }
    }

    /// Stops timing: a segment is retransmitted or given up (Karn's rule, RFC 6298 §3).
    #[inline]
    pub const fn forget(&mut self) {
        if let Some(timed) = &mut self.0 {
            timed.end = 0;
        }
    }

    /// Records that the segment polled at `polled_at` left only at `now`.
    pub fn restamp(&mut self, polled_at: Instant, now: Instant) {
        if let Some(timed) = &mut self.0
            && timed.end > 0
            && timed.at == polled_at
        {
            timed.at = now;
        }
    }

    /// Whether [`sample`](Self::sample) uses the echo.
    #[inline]
    pub const fn wants_echo(sampling: RttSampling, advanced: Advanced) -> bool {
        match sampling {
            RttSampling::PerAcknowledgment | RttSampling::ByTimestamps => advanced.resent,
            RttSampling::EchoedTimestamp => true,
            RttSampling::PerWindow => false,
        }
    }

    /// Returns the sample taken from an acknowledgment of everything below `una`.
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
            // The sender's record is exact; for a segment sent more than once only the echo
            // identifies the transmission that was answered (RFC 7323 §4.1).
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
