//! Feedback of a link to a host: not part of TCP, but of remedies that use link feedback.

use airtcp_units::Duration;

use crate::SequenceNumber;

/// A message from the link to a host, about one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkFeedback {
    /// Explicit bad-state notification: an attempt on the wireless link failed, and there will be
    /// another; the sender is to restart its retransmission timer (Bakshi, Krishna, Vaidya &
    /// Pradhan, Improving performance of TCP over wireless networks, ICDCS 1997, §5).
    BadState,
    /// The link's retransmission timeout, `LL_RTO`: once, at the start of a connection (WSC-TCP,
    /// §3.1, step 1).
    RetryTimeout(Duration),
    /// The link has delivered a segment (WSC-TCP, §3).
    Delivered {
        /// First sequence number of the segment.
        sequence: SequenceNumber,
        /// Number of retransmissions on the link.
        retransmissions: u32,
    },
}
