//! Deliveries, for senders that watch them: boxed, since the others do without.

use alloc::collections::VecDeque;

use crate::loss_detection::delivery::Delivery;
use crate::loss_detection::segment::SentSegment;
use crate::loss_detection::send_tag::SendTag;

/// The current delivery, and the tags that it hands on.
#[derive(Clone, Debug, Default)]
pub(super) struct Watched {
    /// The data that the current acknowledgment delivers.
    pub delivery: Delivery,
    /// The delivery-rate estimator's tag of each segment; empty without one.
    pub tags: Option<VecDeque<SendTag>>,
}

impl Watched {
    /// Takes `bytes` of the segment at `index`, newly acknowledged or `sacked`.
    #[inline]
    pub fn deliver(&mut self, segment: &SentSegment, index: usize, bytes: u64, sacked: bool) {
        let tag = self.tags.as_ref().and_then(|tags| tags.get(index));
        self.delivery.add(segment, bytes, tag, sacked);
    }
}
