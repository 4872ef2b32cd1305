//! Limits on the transmissions of a frame.

use std::num::NonZeroU32;

/// Maximum number of transmissions of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryLimit {
    /// Until it is acknowledged.
    Unlimited,
    /// Maximum number of attempts, the first included: the standard's `dot11ShortRetryLimit` (IEEE
    /// 802.11-2016 §10.3.4.4).
    Attempts(NonZeroU32),
}

impl RetryLimit {
    /// Whether a frame that was sent `attempts` times may not be retransmitted.
    #[inline]
    #[must_use]
    pub const fn is_reached(self, attempts: u32) -> bool {
        match self {
            Self::Unlimited => false,
            Self::Attempts(limit) => attempts >= limit.get(),
        }
    }
}
