//! The data delivered by one acknowledgment, as needed by recovery, time-based loss detection, the
//! detection of needless retransmissions, and the delivery-rate estimator.

use airtcp_units::Instant;

use super::SentSegment;
use crate::loss_detection::SendTag;

/// The delivered segment that was sent last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatestSent {
    /// Time of its last transmission.
    pub sent_at: Instant,
    /// End of its range.
    pub end: u64,
}

/// Data newly acknowledged or SACKed by the current acknowledgment.
#[derive(Clone, Debug)]
pub struct Delivery {
    answerable: Answerable,
    recover: u64,
    /// Bytes delivered.
    pub bytes: u64,
    /// The segment sent last, among the segments that the acknowledgment may answer (RFC 8985 §6.2
    /// step 2).
    pub latest: Option<LatestSent>,
    /// Transmission time of the last such segment, in stream order: the basis of the round trip in
    /// RFC 8985 §6.2 step 2.
    pub last_sent_at: Option<Instant>,
    /// Transmission time of the first SACKed segment among those sent only once.
    pub reported_sent_at: Option<Instant>,
    /// Transmission time of the last segment, in stream order, among those sent only once: of those
    /// acknowledged, and of those SACKed.
    pub originals_sent_at: [Option<Instant>; 2],
    /// Lowest offset of a segment sent only once.
    pub lowest_original: u64,
    /// Whether a segment that was sent only once and ends at or below the recovery point was
    /// delivered (F-RTO, RFC 5682 §3.1 step 3b).
    pub original_below: bool,
    /// Whether a segment that was sent more than once was acknowledged.
    pub resent_acknowledged: bool,
    /// The same, or one that had been SACKed before (Linux, `FLAG_RETRANS_DATA_ACKED`).
    pub resent_covered: bool,
    /// The delivery-rate estimator's tag of the segment sent last.
    pub tag: Option<(SendTag, LatestSent)>,
}

/// The latest transmission time that lets an acknowledgment be an answer to a retransmission; if it
/// was sent later, its original has arrived (RFC 8985 §6.2 step 2).
#[derive(Clone, Copy, Debug)]
pub struct Answerable {
    /// For a SACKed segment: one round trip ago.
    pub reported: Instant,
    /// For a segment acknowledged in sequence: additionally the echoed timestamp. Out-of-sequence
    /// segments are not echoed (RFC 7323 §4.3), so only here can an echo distinguish the two
    /// (Linux, `tcp_skb_spurious_retrans`).
    pub acknowledged: Instant,
}

impl Default for Answerable {
    /// No limit.
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
            resent_covered: false,
            tag: None,
        }
    }
}

impl Delivery {
    /// Starts a new acknowledgment.
    #[inline]
    pub(super) fn begin(&mut self, answerable: Answerable, recover: u64) {
        *self = Self {
            answerable,
            recover,
            ..Self::default()
        };
    }

    /// Adds `bytes` of `segment`; `reported` if SACKed and not yet acknowledged.
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

    /// Transmission time of the segment whose round trip is passed to congestion control: the last
    /// one SACKed, else the last one acknowledged, if it was sent only once. After a retransmission
    /// it is unknown which transmission an acknowledgment answers (Linux, `tcp_clean_rtx_queue`).
    pub fn told_sent_at(&self) -> Option<Instant> {
        let [acknowledged, reported] = self.originals_sent_at;
        reported.or(acknowledged.filter(|_| !self.resent_acknowledged))
    }
}
