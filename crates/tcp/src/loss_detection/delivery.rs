//! What one acknowledgment delivered: what recovery, loss detection by time, the detection of
//! needless retransmissions and the delivery-rate estimator all want to know of it.

use airtcp_units::Instant;

use super::SentSegment;
use crate::delivery_rate::SendTag;

/// The segment sent last among those delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatestSent {
    /// When it was last sent.
    pub sent_at: Instant,
    /// End of its range.
    pub end: u64,
}

/// What is newly acknowledged or reported, since the acknowledgment began.
#[derive(Clone, Debug)]
pub struct Delivery {
    answerable: Answerable,
    recover: u64,
    /// Bytes delivered.
    pub bytes: u64,
    /// The one sent last of what may be an answer (RFC 8985 §6.2 step 2).
    pub latest: Option<LatestSent>,
    /// When the last of what may be an answer was sent, in the order of the stream: what RFC 8985
    /// §6.2 step 2 leaves as the round trip.
    pub last_sent_at: Option<Instant>,
    /// When the first of the reported segments was sent that were sent but once.
    pub reported_sent_at: Option<Instant>,
    /// When the last of the segments was sent, in the order of the stream, that were sent but once:
    /// of those acknowledged, and of those reported.
    pub originals_sent_at: [Option<Instant>; 2],
    /// Lowest offset of a segment that was sent but once.
    pub lowest_original: u64,
    /// Whether a segment that was sent but once and ends at or below the recovery point was
    /// delivered (F-RTO, RFC 5682 §3.1 step 3b).
    pub original_below: bool,
    /// Whether a segment that was sent more than once was acknowledged.
    pub resent_acknowledged: bool,
    /// What the delivery-rate estimator noted for the segment sent last.
    pub tag: Option<(SendTag, LatestSent)>,
}

/// When a retransmission must have left for an acknowledgment to be an answer to it; if it left
/// later, its original has arrived (RFC 8985 §6.2 step 2).
#[derive(Clone, Copy, Debug)]
pub struct Answerable {
    /// Where it is reported: a round trip ago.
    pub reported: Instant,
    /// Where it is acknowledged in sequence: nor after the timestamp that comes back. What is out
    /// of sequence is not echoed (RFC 7323 §4.3), so that only here an echo tells them apart
    /// (Linux, `tcp_skb_spurious_retrans`).
    pub acknowledged: Instant,
}

impl Default for Answerable {
    /// At any time.
    fn default() -> Self {
        Self {
            reported: Instant::FAR_FUTURE,
            acknowledged: Instant::FAR_FUTURE,
        }
    }
}

impl Default for Delivery {
    fn default() -> Self {
        Self {
            answerable: Answerable::default(),
            recover: 0,
            bytes: 0,
            latest: None,
            last_sent_at: None,
            reported_sent_at: None,
            originals_sent_at: [None; 2],
            lowest_original: u64::MAX,
            original_below: false,
            resent_acknowledged: false,
            tag: None,
        }
    }
}

impl Delivery {
    /// Forgets the acknowledgment before.
    #[inline]
    pub(super) fn begin(&mut self, answerable: Answerable, recover: u64) {
        *self = Self {
            answerable,
            recover,
            ..Self::default()
        };
    }

    /// `bytes` of `segment` were delivered; `reported` and not yet acknowledged.
    #[inline]
    pub(super) fn add(
        &mut self,
        segment: &SentSegment,
        bytes: u64,
        tag: Option<&SendTag>,
        reported: bool,
    ) {
        self.bytes += bytes;
        let this = LatestSent {
            sent_at: segment.sent_at,
            end: segment.end(),
        };
        let later = |than: &LatestSent| (this.sent_at, this.end) > (than.sent_at, than.end);
        let original = segment.transmissions == 1;
        self.resent_acknowledged |= !original && !reported;
        let sent_by = if reported {
            self.answerable.reported
        } else {
            self.answerable.acknowledged
        };
        if original || segment.sent_at <= sent_by {
            self.last_sent_at = Some(segment.sent_at);
            if self.latest.as_ref().is_none_or(later) {
                self.latest = Some(this);
            }
        }
        if original {
            self.originals_sent_at[usize::from(reported)] = Some(segment.sent_at);
            self.lowest_original = self.lowest_original.min(segment.start);
            self.original_below |= segment.end() <= self.recover;
            if reported && self.reported_sent_at.is_none() {
                self.reported_sent_at = Some(segment.sent_at);
            }
        }
        if let Some(&tag) = tag
            && self.tag.as_ref().is_none_or(|(_, latest)| later(latest))
        {
            self.tag = Some((tag, this));
        }
    }

    /// When the segment was sent whose round trip a congestion control is told: the last one
    /// reported, else the last one acknowledged, if it was sent but once. An acknowledgment of a
    /// retransmission answers nobody knows which transmission (Linux, `tcp_clean_rtx_queue`).
    pub fn told_sent_at(&self) -> Option<Instant> {
        let [acknowledged, reported] = self.originals_sent_at;
        reported.or(acknowledged.filter(|_| !self.resent_acknowledged))
    }
}
