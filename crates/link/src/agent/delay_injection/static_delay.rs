//! A constant delay.
//!
//! T. Klein, K. Leung, R. Parkinson, L. Samuel, "Avoiding Spurious TCP Timeouts in Wireless
//! Networks by Delay Injection", GLOBECOM 2004, as Fotiadis & Siris §II describe it: "injecting
//! static or random delay over static or random intervals". The exact algorithm is not known.

use airtcp_units::Duration;

use super::{Distance, MAX_HOLD, UP_TO_MAX_HOLD};
use crate::agent::parameter::{ParameterError, check_duration};

/// The parameters of static delay injection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StaticDelay {
    /// Holding time of an acknowledgment.
    pub delay: Duration,
    /// The choice of acknowledgments to hold.
    pub every: Distance,
}

impl StaticDelay {
    pub(super) fn check(&self) -> Result<(), ParameterError> {
        check_duration(
            "delay",
            self.delay,
            (Duration::ZERO, MAX_HOLD),
            UP_TO_MAX_HOLD,
            "hold no longer than a sender's timer lasts",
        )
    }
}
