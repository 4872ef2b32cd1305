//! The delivery-rate estimator's note on a segment (draft-cheng-iccrg-delivery-rate-estimation-02).

use airtcp_units::Instant;

/// State noted with a segment when it is sent (§3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SendTag {
    /// Bytes delivered by then.
    pub delivered: u64,
    /// Time of the last of these deliveries.
    pub delivered_at: Instant,
    /// Departure of the first segment of the flight that the sample spans.
    pub first_sent_at: Instant,
    /// Bytes presumed lost by then.
    pub lost: u64,
    /// Bytes in flight, this segment included.
    pub in_flight: u64,
    /// Whether the application had too little to send.
    pub application_limited: bool,
}
