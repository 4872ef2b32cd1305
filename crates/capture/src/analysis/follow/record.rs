//! Records the findings of the pass, and searches them.

use airtcp_packet::Segment;
use airtcp_units::{Duration, Instant};

use super::super::findings::{Ack, Findings, Repeat, Sent, Silence};
use super::super::label::Trigger;
use super::numbering::{Numbering, Place};
use super::stream::ORIGIN;
use crate::index::Index;
use crate::packet::Packet;

/// Number of recent transmissions or retransmissions that a search covers.
const REACH: usize = 4096;

/// The findings of a pass in progress.
#[derive(Debug, Default)]
pub struct Record {
    findings: Findings,
    /// Number of packets in the data direction.
    packets: u32,
    numbering: Numbering,
}

impl Record {
    /// Records any packet.
    pub fn packet(&mut self, packet: &Packet) {
        self.findings.end = packet.time;
        self.findings.retried_frames += u64::from(packet.radio.is_retry);
    }

    /// Counts a packet in the data direction and returns its index.
    pub fn count(&mut self) -> u32 {
        let place = self.packets;
        self.packets += 1;
        place
    }

    /// Records an announcement of a smaller window (CWR).
    pub fn reduction(&mut self, now: Instant) {
        self.findings.reductions.push(now);
    }

    /// Counts a packet that came after its acknowledgment: its bytes were seen after all.
    pub fn behind_ack(&mut self, bytes: u64) {
        self.findings.behind_ack += 1;
        self.findings.unseen_bytes = self.findings.unseen_bytes.saturating_sub(bytes);
    }

    /// Counts acknowledged bytes that never passed.
    pub fn unseen(&mut self, bytes: u64) {
        self.findings.unseen_bytes += bytes;
    }

    /// Records a period in which the capture dropped packets.
    pub fn gap(&mut self, from: Instant, to: Instant) {
        self.findings.gaps.push((from, to));
    }

    /// Records a period with missing data.
    pub fn hole(&mut self, from: Instant, to: Instant) {
        self.findings.holes.push((from, to));
    }

    /// Records a finished recovery.
    pub fn recovery(&mut self, from: Instant, to: Instant) {
        self.findings.recoveries.push((from, to));
    }

    /// Records a silence of the ACKs.
    pub fn silence(&mut self, silence: Silence) {
        self.findings.silences.push(silence);
    }

    /// The index of the next transmission.
    pub fn next_sent(&self) -> Index {
        Index::new(self.findings.sent.len())
    }

    /// Records a transmission.
    pub fn transmission(&mut self, sent: Sent) {
        self.findings.sent.push(sent);
    }

    /// A transmission.
    pub fn sent(&self, at: Index) -> &Sent {
        &self.findings.sent[at.get()]
    }

    /// Number of repeats, which is the index of the next one.
    pub fn repeats(&self) -> usize {
        self.findings.repeats.len()
    }

    /// Records a repeat.
    pub fn repeat(&mut self, repeat: Repeat) {
        self.findings.sent[repeat.sent.get()].repeat = Some(Index::new(self.repeats()));
        self.findings.repeats.push(repeat);
    }

    /// Sets the transmission `at` that revealed the hole filled by a repeat.
    pub fn reveal(&mut self, number: usize, at: Index) {
        self.findings.repeats[number].revealed_by = self.revealing(at);
    }

    /// The transmission of a repeat.
    pub fn repair(&self, number: usize) -> Option<Index> {
        self.findings.repeats.get(number).map(|repeat| repeat.sent)
    }

    /// Records an ACK; fills in its `missing_before` from the packet's IPv4 identification. A late
    /// one is no longer among the missing.
    pub fn ack(&mut self, packet: &Packet, ack: Ack) {
        let missing_before = match self.numbering.place(packet, self.acks()) {
            Place::Newest(missing) => missing,
            Place::Overtaken(index) => {
                self.findings.acks[index].missing_before -= 1;
                0
            }
            Place::Again => 0,
        };
        self.findings.acks.push(Ack {
            missing_before,
            ..ack
        });
    }

    /// Number of ACKs, which is the index of the next one.
    pub fn acks(&self) -> usize {
        self.findings.acks.len()
    }

    /// All transmissions and repeats, to record their answers.
    pub fn unanswered(&mut self) -> (&mut [Sent], &mut [Repeat]) {
        (&mut self.findings.sent, &mut self.findings.repeats)
    }

    /// Whether a segment's timestamp is older than the receiver's last echo by more than the tick
    /// that Linux tolerates (`TCP_PAWS_WINDOW`).
    pub fn is_outdated(&self, segment: &Segment) -> bool {
        let last = self.findings.acks.last();
        let echo = last.and_then(|ack| ack.timestamp_echo);
        match (echo, segment.timestamps) {
            (Some(echo), Some(both)) => echo.wrapping_sub(both.value).cast_signed() > 1,
            _ => false,
        }
    }

    /// Time of the first transmission of the bytes of `at`.
    pub fn first_sent(&self, at: Option<Index>) -> Option<Instant> {
        let mut sent = self.sent(at?);
        while let Some(previous) = sent.previous_in(&self.findings.sent) {
            sent = previous;
        }
        Some(sent.time)
    }

    /// The packet that revealed the hole filled by transmission `at`: the first that passed above
    /// it.
    fn revealing(&self, at: Index) -> Option<Index> {
        let end = self.sent(at).end;
        (0..at.get())
            .rev()
            .take(REACH)
            .map(|other| (other, &self.findings.sent[other]))
            // Skips simultaneous other repairs.
            .take_while(|(_, sent)| sent.start >= end || sent.repeat.is_some())
            .filter(|(_, sent)| sent.start >= end)
            .last()
            .map(|(other, _)| Index::new(other))
    }

    /// Assigns a D-SACK at `now` to the latest retransmission of these bytes that is at least
    /// `soonest` old (RFC 2883 §4).
    pub fn duplicate(&mut self, start: u64, end: u64, now: Instant, soonest: Duration) {
        for repeat in self.findings.repeats.iter_mut().rev().take(REACH) {
            let sent = &self.findings.sent[repeat.sent.get()];
            if sent.start < end
                && start < sent.end
                && !repeat.is_duplicate
                && !repeat.fills
                && now - sent.time >= soonest
            {
                repeat.is_duplicate = true;
                break;
            }
        }
    }

    /// Marks timeout `number`, and earlier ones of the same bytes, as answered by original data.
    pub fn originals_answered(&mut self, number: usize) {
        let mut next = self.findings.repeats.get_mut(number);
        while let Some(repeat) = next
            && repeat.trigger == Some(Trigger::Timeout)
        {
            repeat.originals_acknowledged = true;
            let sent = &self.findings.sent[repeat.sent.get()];
            let before = sent.previous_in(&self.findings.sent);
            let number = before.and_then(|sent| sent.repeat);
            next = number.and_then(|number| self.findings.repeats.get_mut(number.get()));
        }
    }

    /// Takes the acknowledgment of a transmission as an RTT sample, unless it was sent more than
    /// once (RFC 6298 §3).
    pub fn measure(&mut self, at: Index) -> Option<Duration> {
        let sent = &mut self.findings.sent[at.get()];
        if sent.attempt > 0 || sent.acknowledged == Instant::FAR_FUTURE {
            return None;
        }
        sent.is_measured = true;
        Some(sent.acknowledged - sent.time)
    }

    /// The findings, with positions relative to the first byte of data. `unfinished`: the start of
    /// an ongoing recovery.
    pub fn finish(mut self, unfinished: Option<Instant>) -> Findings {
        if let Some(since) = unfinished {
            self.recovery(since, self.findings.end);
        }
        for sent in &mut self.findings.sent {
            sent.start = sent.start.saturating_sub(ORIGIN);
            sent.end = sent.end.saturating_sub(ORIGIN);
        }
        for ack in &mut self.findings.acks {
            ack.acknowledged = ack.acknowledged.saturating_sub(ORIGIN);
            ack.sacked_high = ack.sacked_high.map(|high| high.saturating_sub(ORIGIN));
        }
        self.findings
    }
}
