//! Segments that arrive once both sides know each other (RFC 9293 §3.10.7.4).

use std::array;
use std::ops::Range;

use airtcp_packet::{Flags, Segment};
use airtcp_units::Instant;

use super::{Connection, State, TIME_WAIT};
use crate::observer::{Event, Observer};
use crate::receiver::MAX_REPORTED;
use crate::sender::{Acknowledgment, Echo};

impl Connection {
    #[inline]
    pub(super) fn on_segment_in_synchronized(
        &mut self,
        now: Instant,
        segment: &Segment,
        observer: &mut impl Observer,
    ) {
        let start = self.received_offset(segment.sequence);
        let Some(echo) = self.check_timestamps(now, segment, start) else {
            return;
        };
        if segment.flags.contains(Flags::SYN) {
            self.on_syn_in_synchronized(segment);
            return;
        }
        if !self.is_acceptable(segment, start) {
            if !segment.flags.contains(Flags::RST) {
                self.on_unacceptable(segment, start);
            }
            return;
        }
        if segment.flags.contains(Flags::RST) {
            // RFC 5961 §3.2: only the exact next byte resets, anything else in the window is
            // challenged.
            if start == self.receiver.next_expected() {
                self.on_reset(now, observer);
            } else {
                self.receiver.on_unacceptable();
            }
            return;
        }
        if !segment.flags.contains(Flags::ACK) {
            return;
        }
        if !self.take_acknowledgment(now, segment, start, echo, observer) {
            return;
        }
        self.take_data(now, segment, start, observer);
    }

    /// RFC 7323 §3.2 and §5.3: a segment without the option, or with an old one, is not taken.
    /// Returns the echo otherwise.
    #[inline]
    fn check_timestamps(
        &mut self,
        now: Instant,
        segment: &Segment,
        start: u64,
    ) -> Option<Option<Echo>> {
        if !self.timestamps.enabled || segment.flags.contains(Flags::RST) {
            return Some(None);
        }
        let timestamps = segment.timestamps?;
        if self.timestamps.is_old(timestamps) {
            // A segment that is merely late is told so like any duplicate (RFC 7323 §5.3, R1).
            self.on_unacceptable(segment, start);
            return None;
        }
        self.timestamps.on_segment(timestamps, start);
        Some(self.timestamps.echo(now, timestamps))
    }

    /// RFC 9293 §3.10.7.4, first check, table 6.
    #[inline]
    fn is_acceptable(&self, segment: &Segment, start: u64) -> bool {
        let window = self.receiver.acceptable();
        let length = u64::from(segment.sequence_length());
        if length == 0 {
            return start == window.start || window.contains(&start);
        }
        start < window.end && start + length > window.start
    }

    fn on_unacceptable(&mut self, segment: &Segment, start: u64) {
        let end = start.saturating_add(u64::from(segment.payload_bytes));
        if segment.payload_bytes > 0 && end <= self.receiver.next_expected() {
            self.receiver.on_old_duplicate(start..end);
        } else {
            self.receiver.on_unacceptable();
        }
    }

    fn on_syn_in_synchronized(&mut self, segment: &Segment) {
        if self.state == State::SynReceived && segment.sequence == self.irs {
            // The peer's SYN again: it has not seen our answer.
            self.handshake.syn_due = true;
        } else {
            // RFC 5961 §4.2: whatever it is, say where we stand.
            self.receiver.on_unacceptable();
        }
    }

    /// Fifth check. Returns whether the segment may be taken further.
    #[inline]
    fn take_acknowledgment(
        &mut self,
        now: Instant,
        segment: &Segment,
        start: u64,
        echo: Option<Echo>,
        observer: &mut impl Observer,
    ) -> bool {
        let offset = self.sent_offset(segment.acknowledgment);
        if offset > self.sender.nxt() {
            // Of what was never sent: say where we stand, or reset a half-open connection.
            if self.state == State::SynReceived {
                self.answer_stray(segment);
            } else {
                self.receiver.on_unacceptable();
            }
            return false;
        }
        let window = u64::from(segment.window) << self.peer_scale;
        if self.state == State::SynReceived {
            self.on_established(now, window, observer);
        }
        // SND.WL1 and SND.WL2: an older segment must not set the window back.
        let right_edge = if self.window_from <= (start, offset) {
            self.window_from = (start, offset);
            offset + window
        } else {
            self.sender.right_edge()
        };
        let mut sack: [Range<u64>; MAX_REPORTED] = array::from_fn(|_| 0..0);
        let mut count = 0;
        for block in segment.sack.as_slice() {
            let range = self.sent_offset(block.start)..self.sent_offset(block.end);
            // A report of what was never sent is no report.
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
        };
        self.sender
            .on_acknowledgment(now, &acknowledgment, observer);
        if self.sender.is_closed() && self.sender.is_finished() {
            self.on_fin_acknowledged(now, observer);
        }
        true
    }

    fn on_fin_acknowledged(&mut self, now: Instant, observer: &mut impl Observer) {
        match self.state {
            State::FinWait1 => self.state = State::FinWait2,
            State::Closing => self.enter_time_wait(now, observer),
            State::LastAck => {
                self.state = State::Closed;
                observer.event(now, Event::Closed);
            }
            _ => {}
        }
    }

    /// Seventh and eighth check.
    #[inline]
    fn take_data(
        &mut self,
        now: Instant,
        segment: &Segment,
        start: u64,
        observer: &mut impl Observer,
    ) {
        let fin = segment.flags.contains(Flags::FIN);
        if segment.payload_bytes == 0 && !fin {
            return;
        }
        let limit = self.receiver.acceptable().end;
        let end = start + u64::from(segment.payload_bytes);
        // A FIN behind bytes that do not fit does not count (RFC 9293 §3.10.7.4).
        let fits = end <= limit;
        self.receiver
            .on_data(now, start..end.min(limit), fin && fits);
        if self.receiver.is_finished() {
            self.on_fin_received(now, observer);
        }
    }

    fn on_fin_received(&mut self, now: Instant, observer: &mut impl Observer) {
        match self.state {
            State::Established => self.state = State::CloseWait,
            State::FinWait1 => self.state = State::Closing,
            State::FinWait2 => self.enter_time_wait(now, observer),
            // A FIN again: the acknowledgment was lost (RFC 9293 §3.10.7.4, eighth check).
            State::TimeWait => self.time_wait_ends = now + TIME_WAIT,
            _ => {}
        }
    }

    fn enter_time_wait(&mut self, now: Instant, observer: &mut impl Observer) {
        self.state = State::TimeWait;
        self.time_wait_ends = now + TIME_WAIT;
        observer.event(now, Event::Closed);
    }

    pub(super) fn on_reset(&mut self, now: Instant, observer: &mut impl Observer) {
        self.state = State::Closed;
        observer.event(now, Event::Reset);
    }
}
