//! Choices that several remedies make: two with the same one cannot be combined.

pub(crate) const WINDOW: &str = "how large the congestion window is";
pub(crate) const CAUSE_OF_LOSS: &str = "how a loss is classified";
pub(crate) const REPAIR: &str = "how losses are repaired";
pub(crate) const LOSS_DETECTION: &str = "what makes a segment believed lost";
pub(crate) const RETRANSMISSION: &str = "what is retransmitted after a timeout";
pub(crate) const REDUCTION: &str = "how the window gets to where a loss puts it";
pub(crate) const SLOW_START_END: &str = "how slow start ends";
pub(crate) const INITIAL_WINDOW: &str = "the initial window";
/// The bound on the data in flight.
pub(crate) const LARGEST_WINDOW: &str = "the sender's largest window";
/// The bound on the advertised window.
pub(crate) const LARGEST_OFFER: &str = "the largest window that the receiver offers";
pub(crate) const ACKNOWLEDGMENTS: &str = "when the receiver acknowledges";
pub(crate) const OUTAGES: &str = "what a receiver does about outages";
