//! Findings of one pass over a flow, before classification.

use airtcp_units::{Duration, Instant};

use super::label::{Cause, Trigger};
use crate::index::Index;

/// A packet with sequence space from the sender of the data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sent {
    /// Time at the capture.
    pub time: Instant,
    /// Packet number in the capture.
    pub number: u64,
    /// Index among all packets of its direction, from 0: pure ACKs and the SYN count.
    pub index: u32,
    /// First byte, relative to the first byte of data; a SYN is at 0 and has no bytes.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
    /// Length of the IP packet in bytes, without IP options.
    pub ip_bytes: u32,
    /// Number of earlier transmissions of these bytes.
    pub attempt: u32,
    /// Bytes in flight just after it: sent, and neither acknowledged nor SACKed.
    pub in_flight: u32,
    /// When the last of its bytes was acknowledged or SACKed; [`Instant::FAR_FUTURE`] if never.
    pub acknowledged: Instant,
    /// Whether its acknowledgment is a valid RTT sample.
    pub is_measured: bool,
    /// Whether it was lost, by the verdicts on the retransmissions.
    pub is_lost: bool,
    /// Cause of its loss: a queue, a policer, the radio, or not shown; `None` if not lost.
    pub lost_to: Option<Cause>,
    /// Whether a monitor saw its retry bit.
    pub radio_retry: bool,
    /// Whether it was CE-marked (RFC 3168) before or at the capture.
    pub is_marked: bool,
    /// Whether it is shorter than a full segment: the application had no more data.
    pub is_short: bool,
    /// Whether its timestamp is older than the receiver's last echo: the receiver drops it as a
    /// segment of an old connection (RFC 7323 §5), though the data is missing. Only visible at the
    /// receiver.
    pub is_refused: bool,
    /// Its queue was long enough for the loss to be classified as a tail drop.
    pub meets_full_queue: bool,
    /// TSval.
    pub timestamp: Option<u32>,
    /// IPv4 identification.
    pub identification: Option<u16>,
    /// The previous transmission of its first byte.
    pub(super) previous: Option<Index>,
    /// Index among the repeats.
    pub(super) repeat: Option<Index>,
}

impl Sent {
    /// Its RTT sample.
    #[must_use]
    pub fn rtt(&self) -> Option<Duration> {
        self.is_measured.then(|| self.acknowledged - self.time)
    }

    /// The previous transmission of its first byte in the flow's `sent`.
    pub(super) fn previous_in<'a>(&self, sent: &'a [Self]) -> Option<&'a Self> {
        sent.get(self.previous?.get())
    }
}

/// A packet of the receiver with an acknowledgment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ack {
    /// Time at the capture.
    pub time: Instant,
    /// Packet number in the capture.
    pub number: u64,
    /// The next byte that the receiver expects.
    pub acknowledged: u64,
    /// Total of bytes acknowledged or SACKed so far.
    pub delivered: u64,
    /// Bytes newly acknowledged or SACKed.
    pub newly: u32,
    /// Bytes in flight after it.
    pub in_flight: u32,
    /// Bytes of payload of the ACK packet.
    pub payload: u32,
    /// The receive window in bytes; `None` if its scale is not known.
    pub window: Option<u64>,
    /// One past the highest byte SACKed.
    pub sacked_high: Option<u64>,
    /// Whether it repeats the last acknowledgment while data is in flight.
    pub is_duplicate: bool,
    /// Whether it carries a D-SACK block.
    pub has_dsack: bool,
    /// Whether it echoes a congestion mark (ECE, RFC 3168 §6.1.3).
    pub has_echo: bool,
    /// Number of the receiver's packets missing before it, by its IPv4 identification.
    pub missing_before: u32,
    /// Whether all its SACK blocks are new, and as many as fit: more may have had no room.
    pub is_crowded: bool,
    /// TSval, by the receiver's clock.
    pub timestamp: Option<u32>,
    /// TSecr.
    pub timestamp_echo: Option<u32>,
}

/// The answer to a retransmission.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    pub time: Instant,
    /// TSecr of a cumulative acknowledgment.
    pub echo: Option<u32>,
    /// Whether the acknowledgment advanced from exactly these bytes: its echo is theirs.
    pub is_from_here: bool,
    /// Whether the arrival of these bytes may have prompted the ACK; otherwise an earlier ACK of
    /// them was lost.
    pub is_prompted: bool,
    /// The last transmission of the lowest newly covered byte, whose arrival it waited for.
    pub hole: Option<Index>,
    /// The last transmission of the next expected byte; `None` if that was not sent.
    pub asks_for: Option<Index>,
    /// Newly covered bytes.
    pub newly: u64,
    /// Index among the ACKs.
    pub number: u32,
}

/// A data packet that was sent before, or that fills a hole, with its circumstances.
#[derive(Clone, Copy, Debug)]
pub(super) struct Repeat {
    pub sent: Index,
    pub trigger: Option<Trigger>,
    pub backoff: u32,
    pub timeout: Duration,
    pub since_silence: Duration,
    /// Whether it fills a hole: an earlier transmission did not pass here.
    pub fills: bool,
    /// Whether its bytes were acknowledged or SACKed already.
    pub was_acknowledged: bool,
    pub was_sacked: bool,
    /// Whether no later segment was reported as received.
    pub is_tail: bool,
    /// Bytes from its first to the highest SACKed.
    pub bytes_above: u64,
    pub answer: Option<Answer>,
    pub is_duplicate: bool,
    /// For a timeout: whether data that was not retransmitted was acknowledged afterwards, without
    /// earlier evidence of its arrival.
    pub originals_acknowledged: bool,
    /// For a packet that fills a hole: the packet that revealed the hole.
    pub revealed_by: Option<Index>,
}

/// A silence of the ACKs while data was in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Silence {
    pub from: Instant,
    pub to: Instant,
    /// The transmission with the acknowledgment that ended it.
    pub ended_by: Index,
    /// The previous RTT, if known.
    pub rtt: Option<Duration>,
}

/// All findings of one pass over a flow.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub sent: Vec<Sent>,
    pub acks: Vec<Ack>,
    pub repeats: Vec<Repeat>,
    pub silences: Vec<Silence>,
    /// Spans of loss recovery, timeouts included.
    pub recoveries: Vec<(Instant, Instant)>,
    /// Periods in which the capture dropped packets: packets acknowledged then were never seen.
    pub gaps: Vec<(Instant, Instant)>,
    /// Periods with missing data, which only at the sender is the capture's fault.
    pub holes: Vec<(Instant, Instant)>,
    /// Acknowledged bytes that never passed here.
    pub unseen_bytes: u64,
    /// Data packets that arrived after their acknowledgment.
    pub behind_ack: u64,
    /// Time of the last packet.
    pub end: Instant,
    pub retried_frames: u64,
    /// Times of segments with CWR after a congestion mark (RFC 3168 §6.1.2).
    pub reductions: Vec<Instant>,
}
