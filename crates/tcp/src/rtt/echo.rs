//! A round trip that a timestamp shows.

use airtcp_units::{Duration, Instant};

/// An echoed timestamp (RFC 7323 §4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Echo {
    /// The tick at which it was sent.
    pub sent_at: Instant,
    /// Ticks since then, as a duration.
    pub rtt: Duration,
}
