//! Delivery rate of the network: one estimate per acknowledgment
//! (draft-cheng-iccrg-delivery-rate-estimation-02, now part of draft-ietf-ccwg-bbr §4.1).
//!
//! A sample spans from the last acknowledgment before the segment in question was sent, until now;
//! it is no faster than the segments were sent.

use airtcp_units::{Duration, Instant};

use crate::loss_detection::{LatestSent, SendTag};

/// The shortest interval, that of Linux's clock: on a path that takes no virtual time, the only
/// estimates would otherwise come from segments that waited for something else, and suggest an
/// almost stalled network.
const GRAIN: Duration = Duration::from_micros(1);

/// One estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateSample {
    /// Bytes delivered in the interval.
    pub delivered: u64,
    /// The interval's length: the longer of sending and acknowledging.
    pub interval: Duration,
    /// Bytes delivered before the interval began.
    pub prior_delivered: u64,
    /// Bytes lost in the interval.
    pub lost: u64,
    /// Bytes in flight when the segment was sent, itself included.
    pub in_flight_at_send: u64,
    /// Whether the application had too little to send.
    pub application_limited: bool,
}

impl RateSample {
    /// The rate in bytes a second.
    #[must_use]
    pub fn bytes_per_second(&self) -> u64 {
        let nanos = self.interval.max(GRAIN).as_nanos();
        if let Some(product) = self.delivered.checked_mul(1_000_000_000) {
            return product / nanos;
        }
        let rate = u128::from(self.delivered) * 1_000_000_000 / u128::from(nanos);
        u64::try_from(rate).unwrap_or(u64::MAX)
    }
}

/// The connection's side of the estimate (§3.1).
#[derive(Clone, Debug, Default)]
pub struct DeliveryRate {
    delivered: u64,
    delivered_at: Instant,
    first_sent_at: Instant,
    lost: u64,
    /// Until this many bytes are delivered, samples are limited by the application rather than the
    /// network.
    limited_until: u64,
}

impl DeliveryRate {
    /// Total bytes delivered.
    #[must_use]
    pub const fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Time of the last delivery.
    #[must_use]
    pub const fn delivered_at(&self) -> Instant {
        self.delivered_at
    }

    /// Start of the current send interval.
    #[must_use]
    pub const fn first_sent_at(&self) -> Instant {
        self.first_sent_at
    }

    /// Until this many bytes are delivered, samples are limited by the application; 0 otherwise.
    #[must_use]
    pub const fn limited_until(&self) -> u64 {
        self.limited_until
    }

    /// Whether less is in flight than the network would take.
    #[must_use]
    pub const fn is_application_limited(&self) -> bool {
        self.limited_until > 0
    }

    /// Records that a segment of `length` bytes leaves at `now`, when `in_flight` bytes were in
    /// flight (§3.2). `idle`: nothing was outstanding. The bytes in flight are a guess once losses
    /// are presumed: after a needless timeout they would shorten the interval, and the estimate
    /// would be too high (Linux, `tcp_rate_skb_sent`).
    pub fn on_sent(&mut self, now: Instant, idle: bool, in_flight: u64, length: u64) -> SendTag {
        if idle {
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        SendTag {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            lost: self.lost,
            in_flight: in_flight + length,
            application_limited: self.is_application_limited(),
        }
    }

    /// Records that no more data is waiting, though the window would allow it (§3.4).
    pub const fn on_application_limited(&mut self, in_flight: u64) {
        let until = self.delivered + in_flight;
        self.limited_until = if until > 0 { until } else { 1 };
    }

    /// Records bytes presumed lost.
    pub const fn on_lost(&mut self, bytes: u64) {
        self.lost += bytes;
    }

    /// Takes `bytes` delivered at `now`; `segment` is the one of them sent last. `minimum`: an
    /// interval shorter than the minimum round trip gives no estimate (§3.3).
    pub fn on_delivered(
        &mut self,
        now: Instant,
        bytes: u64,
        segment: Option<(SendTag, LatestSent)>,
        minimum: Duration,
    ) -> Option<RateSample> {
        if bytes == 0 {
            return None;
        }
        self.delivered += bytes;
        self.delivered_at = now;
        if self.limited_until > 0 && self.delivered > self.limited_until {
            self.limited_until = 0;
        }
        let (tag, latest) = segment?;
        let send = latest.sent_at - tag.first_sent_at;
        let acknowledge = now - tag.delivered_at;
        self.first_sent_at = latest.sent_at;
        let interval = send.max(acknowledge);
        (interval >= minimum).then(|| RateSample {
            delivered: self.delivered - tag.delivered,
            interval: interval.max(GRAIN),
            prior_delivered: tag.delivered,
            lost: self.lost - tag.lost,
            in_flight_at_send: tag.in_flight,
            application_limited: tag.application_limited,
        })
    }
}

#[cfg(test)]
mod tests;
