//! Findings of one pass over a flow, before they are judged.

use airtcp_units::{Duration, Instant};

use super::label::{Cause, Trigger};
use crate::index::Index;

/// A packet with sequence space that the sender of the data sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sent {
    /// When it passed here.
    pub time: Instant,
    /// Its number in the capture.
    pub number: u64,
    /// Its place among all packets of its direction, from 0: pure ACKs and the SYN count.
    pub index: u32,
    /// Its first byte, counted from the first byte of data; a SYN is at 0 and has no bytes.
    pub start: u64,
    /// The byte after its last.
    pub end: u64,
    /// Length of the IP packet in bytes, without IP options.
    pub ip_bytes: u32,
    /// Which transmission of these bytes it is, from 0.
    pub attempt: u32,
    /// Bytes under way just after it: sent, and neither acknowledged nor SACKed.
    pub in_flight: u32,
    /// When the last of its bytes was acknowledged or SACKed; [`Instant::FAR_FUTURE`] if never.
    pub acknowledged: Instant,
    /// Its acknowledgment is a sound sample of the round-trip time.
    pub is_measured: bool,
    /// It was lost. Set by the verdicts on the retransmissions.
    pub is_lost: bool,
    /// What lost it, where something did: a queue, a policer, the radio, or not told.
    pub lost_to: Option<Cause>,
    /// A radio's monitor saw its retry bit.
    pub radio_retry: bool,
    /// It met congestion before it came here, or was marked (RFC 3168).
    pub is_marked: bool,
    /// It is shorter than a whole segment: the application had no more.
    pub is_short: bool,
    /// Its timestamp is older than what the receiver has echoed: the receiver drops it as if it
    /// were of an old connection (RFC 7323 §5), though it lacked it. Seen at the receiver alone.
    pub is_refused: bool,
    /// Its queue was long enough for the loss to be classified as a tail drop.
    pub meets_full_queue: bool,
    /// TSval.
    pub timestamp: Option<u32>,
    /// IPv4 identification.
    pub identification: Option<u16>,
    /// The transmission before it of its first byte.
    pub(super) previous: Option<Index>,
    /// Its place among the repeats.
    pub(super) repeat: Option<Index>,
}

impl Sent {
    /// The round-trip time that it measured.
    #[must_use]
    pub fn rtt(&self) -> Option<Duration> {
        self.is_measured.then(|| self.acknowledged - self.time)
    }

    /// The transmission before it of its first byte, among those of the flow.
    pub(super) fn previous_in<'a>(&self, sent: &'a [Self]) -> Option<&'a Self> {
        sent.get(self.previous?.get())
    }
}

/// A packet of the receiver that acknowledges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ack {
    /// When it passed here.
    pub time: Instant,
    /// Its number in the capture.
    pub number: u64,
    /// The next byte that the receiver expects.
    pub acknowledged: u64,
    /// Bytes that had been acknowledged or SACKed, all in all.
    pub delivered: u64,
    /// Bytes that it newly acknowledges or SACKs.
    pub newly: u32,
    /// Bytes under way after it.
    pub in_flight: u32,
    /// Bytes of data that it carries itself.
    pub payload: u32,
    /// The receive window in bytes; `None` where its scale is not known.
    pub window: Option<u64>,
    /// The highest byte SACKed, plus one.
    pub sacked_high: Option<u64>,
    /// It repeats the last acknowledgment while data is under way.
    pub is_duplicate: bool,
    /// It carries a D-SACK block.
    pub has_dsack: bool,
    /// It reports a congestion mark (RFC 3168 §6.1.3).
    pub has_echo: bool,
    /// Packets of the receiver that are missing before it, by its IPv4 identification.
    pub missing_before: u32,
    /// TSecr.
    pub timestamp_echo: Option<u32>,
}

/// The answer to a retransmission.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    pub time: Instant,
    /// TSecr, of a cumulative acknowledgment.
    pub echo: Option<u32>,
    /// The acknowledgment advanced from these very bytes: what it echoes is theirs.
    pub is_from_here: bool,
    /// The last transmission of the lowest byte that it covers: what it waited for.
    pub hole: Option<Index>,
    /// The last transmission of the byte that it asks for; none where that was not sent.
    pub asks_for: Option<Index>,
    /// Bytes that it covers newly.
    pub newly: u64,
    /// Its place among the ACKs.
    pub number: u32,
}

/// A packet of the data that was sent before, or that fills a hole, as seen at that moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Repeat {
    pub sent: Index,
    pub trigger: Option<Trigger>,
    pub backoff: u32,
    pub timeout: Duration,
    pub since_silence: Duration,
    /// It fills a hole: an earlier transmission did not pass here.
    pub fills: bool,
    /// Whether its bytes were acknowledged or SACKed already.
    pub was_acknowledged: bool,
    pub was_sacked: bool,
    /// No later segment was reported as received.
    pub is_tail: bool,
    /// Bytes from its first to the highest SACKed.
    pub bytes_above: u64,
    pub answer: Option<Answer>,
    pub is_duplicate: bool,
    /// Of a timeout: data that was not retransmitted was acknowledged afterwards, and nothing had
    /// revealed before that it had arrived.
    pub originals_acknowledged: bool,
    /// For one that fills a hole: what revealed it.
    pub revealed_by: Option<Index>,
}

/// A silence of the ACKs while data was under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Silence {
    pub from: Instant,
    pub to: Instant,
    /// The transmission whose acknowledgment ended it.
    pub ended_by: Index,
    /// The round-trip time before it, if one is known.
    pub rtt: Option<Duration>,
}

/// Findings of one pass over a flow.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub sent: Vec<Sent>,
    pub acks: Vec<Ack>,
    pub repeats: Vec<Repeat>,
    pub silences: Vec<Silence>,
    /// Spans of loss recovery, timeouts included.
    pub recoveries: Vec<(Instant, Instant)>,
    /// Stretches of time in which the capture dropped packets: what was acknowledged then was
    /// never seen.
    pub gaps: Vec<(Instant, Instant)>,
    /// Those in which data was missing, which only at the sender is the capture's fault.
    pub holes: Vec<(Instant, Instant)>,
    /// Bytes acknowledged that never passed here.
    pub unseen_bytes: u64,
    /// Packets of the data that came after their acknowledgment.
    pub behind_ack: u64,
    /// The last time anything passed.
    pub end: Instant,
    pub retried_frames: u64,
    /// When segments announced a smaller window after a congestion mark (RFC 3168 §6.1.2).
    pub reductions: Vec<Instant>,
}
