//! Segments that arrive once both sides know each other (RFC 9293 §3.10.7.4).

use core::array;
use core::ops::Range;

use airtcp_packet::{Flags, Segment, SequenceNumber};
use airtcp_units::Instant;

use super::{Connection, State};
use crate::observer::Observer;
use crate::receiver::MAX_REPORTED;
use crate::rtt::Echo;
use crate::sender::Acknowledgment;

impl Connection {
    #[inline]
    pub(super) fn on_segment_in_synchronized(
        &mut self,
        now: Instant,
        segment: &Segment,
        observer: &mut impl Observer,
    ) {
        let start = self.received_offset(segment.sequence);
        if segment.flags.contains(Flags::SYN) && !segment.flags.contains(Flags::RST) {
            self.on_syn_in_synchronized(now, segment, observer);
            return;
        }
        // The order is Linux's (`tcp_validate_incoming`, `tcp_ack`): no state changes before the
        // whole segment has been found acceptable.
        if !self.check_timestamps(now, segment, start) {
            return;
        }
        if segment.flags.contains(Flags::RST) {
            if self.is_exact(start) {
                self.on_reset(now, observer);
            } else if self.is_acceptable(segment, start) {
                // RFC 5961 §3.2.
                self.challenge(now);
            }
            return;
        }
        if !self.is_acceptable(segment, start) {
            self.on_unacceptable(now, segment, start);
            return;
        }
        if !segment.flags.contains(Flags::ACK) {
            return;
        }
        let offset = self.sent_offset(segment.acknowledgment);
        if !self.is_acknowledgment_acceptable(now, segment, offset) {
            return;
        }
        self.count_mark(segment);
        let echo = self.take_timestamps(now, segment, start, offset);
        self.take_acknowledgment(now, segment, [start, offset], echo, observer);
        if let Some(echo) = echo
            && u64::from(segment.payload_bytes) >= self.sender.mss()
        {
            self.receiver.on_echo(echo.sent_at, echo.rtt);
        }
        self.take_data(now, segment, start, observer);
    }

    /// Whether the segment passes the timestamp checks: one without the option, or with an old
    /// timestamp, does not (RFC 7323 §3.2, unless it need not have one, and §5.3, R1).
    #[inline]
    fn check_timestamps(&mut self, now: Instant, segment: &Segment, start: u64) -> bool {
        if !self.timestamps.enabled || segment.flags.contains(Flags::RST) {
            return true;
        }
        let Some(timestamps) = segment.timestamps else {
            return !self.sender.config().quirks.timestamps_required;
        };
        if self.timestamps.is_old(now, timestamps) {
            // A segment that is merely late is answered like any duplicate, but not an
            // acknowledgment that data has overtaken (Linux, `tcp_disordered_ack_check`).
            if segment.sequence_length() > 0 || start >= self.receiver.next_expected() {
                self.on_unacceptable(now, segment, start);
            }
            return false;
        }
        true
    }

    /// Stores the timestamp to echo, and returns the echoed one. Only for a segment inside the
    /// window (RFC 7323 §5.3, R2 before R3) with an acknowledgment, of everything below `offset`,
    /// that is not an old one (Linux, `tcp_ack`): a forged clock must not replace the peer's.
    #[inline]
    fn take_timestamps(
        &mut self,
        now: Instant,
        segment: &Segment,
        start: u64,
        offset: u64,
    ) -> Option<Echo> {
        let timestamps = segment.timestamps.filter(|_| self.timestamps.enabled)?;
        if offset >= self.sender.una() {
            self.timestamps.on_segment(now, timestamps, start);
        }
        self.clock().echo(now, timestamps)
    }

    /// Whether a reset from `start` is the peer's: it comes from the next byte (RFC 5961 §3.2). A
    /// peer that has sent more than has arrived resets from the end of its data: its highest SACKed
    /// end is equally hard to guess. A peer that does not count its FIN resets from the FIN's
    /// sequence number (Linux, `tcp_validate_incoming` and `tcp_reset_check`).
    fn is_exact(&self, start: u64) -> bool {
        let next = self.receiver.next_expected();
        start == next
            || self.receiver.highest_reported() == Some(start)
            || self.receiver.is_finished() && start + 1 == next
    }

    /// RFC 9293 §3.10.7.4, first check, table 6, except at the right edge: a segment that starts
    /// there brings no byte that fits, but its acknowledgment counts even while the window is
    /// closed, a FIN needs no room, and a peer that has filled the window acknowledges from there.
    #[inline]
    fn is_acceptable(&self, segment: &Segment, start: u64) -> bool {
        let window = self.receiver.acceptable();
        let length = u64::from(segment.sequence_length());
        let reaches = if length == 0 {
            start >= window.start
        } else {
            start + length > window.start
        };
        start <= window.end && reaches
    }

    fn on_unacceptable(&mut self, now: Instant, segment: &Segment, start: u64) {
        if self.state == State::TimeWait && segment.flags.contains(Flags::FIN) {
            // The peer's FIN was retransmitted: our last acknowledgment was lost (RFC 9293
            // §3.10.7.4, eighth check).
            self.restart_time_wait(now);
        }
        let end = start.saturating_add(u64::from(segment.payload_bytes));
        if segment.payload_bytes > 0 && end <= self.receiver.next_expected() {
            self.receiver.on_old_duplicate(start..end);
        } else {
            self.answer_unacceptable(now, segment);
        }
    }

    fn on_syn_in_synchronized(
        &mut self,
        now: Instant,
        segment: &Segment,
        observer: &mut impl Observer,
    ) {
        if self.state != State::SynReceived || segment.sequence != self.irs {
            self.take_syn_ack_again(segment);
            // RFC 5961 §4.2: whatever its numbers, answer with a challenge ACK.
            self.challenge(now);
            return;
        }
        if let Some(timestamps) = segment.timestamps {
            self.timestamps.on_segment(now, timestamps, 0);
        }
        if !segment.flags.contains(Flags::ACK) {
            // The peer's SYN was retransmitted: our answer has not arrived (Linux,
            // `tcp_check_req`).
            if !self.take_syn_again(segment) {
                self.answer_stray(segment);
                self.on_reset(now, observer);
                return;
            }
            let answers = self.may_answer(now);
            self.handshake().syn_due |= answers;
        } else if let Some(acknowledged) = self.acknowledged_of_syn(segment) {
            // Both opened at the same time, and this answers our SYN (RFC 9293 §3.5, figure 8).
            if acknowledged > 0 {
                self.take_answer_to_syn_data(now, segment, acknowledged, observer);
            } else {
                self.on_established(now, u64::from(segment.window), segment, observer);
            }
            self.receiver.demand_acknowledgment();
        } else {
            self.answer_stray(segment);
        }
    }

    /// Fifth check: whether the peer can acknowledge everything below `offset`: neither bytes never
    /// sent, nor a number so old that it can only be a guess. A segment that fails brings no data
    /// either (RFC 5961 §5.2: SND.UNA - MAX.SND.WND <= SEG.ACK <= SND.NXT).
    #[inline]
    fn is_acknowledgment_acceptable(
        &mut self,
        now: Instant,
        segment: &Segment,
        offset: u64,
    ) -> bool {
        if offset > self.sender.nxt() {
            // It acknowledges data never sent: answer with a challenge ACK, or reset a half-open
            // connection.
            if self.state == State::SynReceived {
                self.answer_stray(segment);
            } else {
                self.challenge(now);
            }
            return false;
        }
        let is_recent = offset.saturating_add(self.largest_window.into()) >= self.sender.una();
        if !is_recent {
            self.challenge(now);
        }
        is_recent
    }

    /// Processes an acceptable segment's window, acknowledgment and SACK blocks; `at` is its
    /// position in both streams, the peer's first.
    #[inline]
    pub(super) fn take_acknowledgment(
        &mut self,
        now: Instant,
        segment: &Segment,
        at: [u64; 2],
        echo: Option<Echo>,
        observer: &mut impl Observer,
    ) {
        let [start, offset] = at;
        let window = u64::from(segment.window) << self.peer_scale;
        if self.state == State::SynReceived {
            self.take_syn_feedback(segment);
            self.on_established(now, window, segment, observer);
        }
        let right_edge = self.take_window(segment, start, offset);
        if let Some(forecast) = segment.tail.forecast() {
            self.sender.get_mut().on_forecast(forecast);
        }
        let mut sack: [Range<u64>; MAX_REPORTED] = array::from_fn(|_| 0..0);
        let mut count = 0;
        for block in segment.tail.blocks() {
            let range = self.sent_offset(block.start)..self.sent_offset(block.end);
            // A block above the data sent is invalid.
            if range.start < range.end && range.end <= self.sender.nxt() {
                sack[count] = range;
                count += 1;
            }
        }
        let acknowledgment = Acknowledgment {
            offset,
            right_edge,
            bare: segment.sequence_length() == 0,
            sack: &sack[..count],
            echo,
            marked: self.echoes_mark(segment),
            brakes: self.echoes_brake(segment),
            counted: self.counted_marks(segment),
        };
        let una = self.sender.una();
        self.sender
            .on_acknowledgment(now, &acknowledgment, observer);
        let advances = self.sender.una() > una;
        self.renew_patience(advances, right_edge > self.sender.una());
        if self.sender.is_closed() && self.sender.is_finished() {
            self.on_fin_acknowledged(now, observer);
        }
    }

    /// Returns the first byte beyond the window that the segment offers, or beyond the known window
    /// if the segment is older than the last one to update it: it must not set the window back
    /// (SND.WL1 and SND.WL2).
    #[inline]
    pub(super) fn take_window(&mut self, segment: &Segment, start: u64, offset: u64) -> u64 {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the low halves, as in sequence numbers"
        )]
        let from = [SequenceNumber(start as u32), SequenceNumber(offset as u32)];
        let [first, acknowledged] = self.window_from;
        let is_older = from[0].before(first) || from[0] == first && from[1].before(acknowledged);
        if offset >= self.sender.una() && !is_older {
            let window = u64::from(segment.window) << self.peer_scale;
            self.window_from = from;
            self.note_largest_window(window);
            offset + window
        } else {
            self.sender.right_edge()
        }
    }

    /// Records a window that the peer has announced, which no field and shift make larger than
    /// 2^30 bytes.
    #[inline]
    pub(super) fn note_largest_window(&mut self, window: u64) {
        let window = u32::try_from(window).unwrap_or(u32::MAX);
        self.largest_window = self.largest_window.max(window);
    }

    /// Seventh and eighth check.
    #[inline]
    pub(super) fn take_data(
        &mut self,
        now: Instant,
        segment: &Segment,
        start: u64,
        observer: &mut impl Observer,
    ) {
        let fin = segment.flags.contains(Flags::FIN);
        // Nothing follows the peer's FIN.
        if (segment.payload_bytes == 0 && !fin) || self.receiver.is_finished() {
            return;
        }
        let limit = self.receiver.acceptable().end;
        let end = start + u64::from(segment.payload_bytes);
        if self.refuses_data(now, segment, end, observer) {
            return;
        }
        // A FIN after bytes that do not fit does not count (RFC 9293 §3.10.7.4).
        let fits = end <= limit;
        if !fits {
            self.receiver.demand_acknowledgment();
        }
        self.take_marks(now, segment);
        self.tell_accepted(start..end.min(limit), observer);
        if segment.flags.contains(Flags::PSH) {
            self.receiver.on_pushed();
        }
        self.receiver
            .on_data(now, start..end.min(limit), fin && fits);
        if self.receiver.is_finished() {
            self.on_fin_received(now, observer);
        }
    }
}
