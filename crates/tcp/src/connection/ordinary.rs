//! The fast path for an ordinary segment: established, in order, no SACK, no option that changes.
//! Header prediction (Jacobson, "4BSD TCP header prediction", 1990; Linux, `tcp_rcv_established`).
//!
//! It decides nothing differently from [`arrival`](super::arrival): it only leaves out checks known
//! not to apply. A test plays the same traffic to two endpoints, one of them without the fast path,
//! and compares their complete state after every segment.

use airtcp_packet::{Flags, Segment};
use airtcp_units::Instant;

use super::{Connection, State, at};
use crate::observer::Observer;

/// Instruments the test that both paths are equivalent.
#[cfg(test)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ways {
    /// Disables the fast path.
    pub general_only: bool,
    /// Number of segments that took it.
    pub short: u64,
}

impl Connection {
    /// Processes `segment` at `now` if it is ordinary; otherwise changes nothing.
    #[inline]
    pub(super) fn take_ordinary(
        &mut self,
        now: Instant,
        segment: &Segment,
        observer: &mut impl Observer,
    ) -> bool {
        #[cfg(test)]
        if self.ways.general_only {
            return false;
        }
        let taken = self.is_expected(now, segment)
            && if segment.payload_bytes > 0 {
                self.take_ordinary_data(now, segment, observer)
            } else {
                self.take_ordinary_acknowledgment(now, segment, observer)
            };
        #[cfg(test)]
        {
            self.ways.short += u64::from(taken);
        }
        taken
    }

    /// Whether an established endpoint has nothing to send at `now` except an acknowledgment, by a
    /// cheap check made before and after every segment that it sends.
    #[inline]
    pub(super) fn has_no_more_than_an_acknowledgment(&self, now: Instant) -> bool {
        self.state == State::Established
            && (self.is_full(now)
                || self.sender.is_silent()
                || self.sender.is_waiting_for_pace(now))
            && !self.has_rare_segment()
            && !self.probe_due
            && self.acks_out_of_turn == 0
    }

    /// Whether the segment just polled at `now` filled the congestion window.
    #[inline]
    fn is_full(&self, now: Instant) -> bool {
        #[cfg(test)]
        if self.ways.general_only {
            return false;
        }
        self.sender.is_full(now)
    }

    /// Whether the segment is the next one of an established connection, with no flags except ACK
    /// and perhaps PSH, and with current timestamps if they are in use.
    #[inline]
    fn is_expected(&self, now: Instant, segment: &Segment) -> bool {
        let flags = segment.flags | Flags::PSH;
        let stamped = match segment.timestamps {
            _ if !self.timestamps.enabled => true,
            Some(timestamps) => !self.timestamps.is_old(now, timestamps),
            None => false,
        };
        self.state == State::Established
            && flags == Flags::ACK | Flags::PSH
            && segment.sequence == at(self.irs, self.receiver.next_expected())
            && segment.tail.is_none()
            && stamped
    }

    /// Processes in-order data for an endpoint that has nothing in flight itself.
    #[inline]
    fn take_ordinary_data(
        &mut self,
        now: Instant,
        segment: &Segment,
        observer: &mut impl Observer,
    ) -> bool {
        let una = self.sender.una();
        let start = self.receiver.next_expected();
        let end = start + u64::from(segment.payload_bytes);
        if segment.acknowledgment != self.sequence(una)
            || self.ecn.is_changed_by(segment)
            || !self.sender.is_at_rest()
            || !self.receiver.has_room_in_order(end)
        {
            return false;
        }
        if self.timestamps.enabled
            && let Some(timestamps) = segment.timestamps
        {
            self.timestamps.on_segment(now, timestamps, start);
        }
        let right_edge = self.take_window(segment, start, una);
        self.sender.on_window(now, right_edge);
        let opens = right_edge > self.sender.nxt();
        self.renew_patience(false, opens);
        if let Some(timestamps) = segment.timestamps
            && self.timestamps.enabled
            && self.receiver.times_round_trips()
            && u64::from(segment.payload_bytes) >= self.sender.mss()
            && let Some(echo) = self.clock().echo(now, timestamps)
        {
            self.receiver.on_echo(echo.sent_at, echo.rtt);
        }
        self.tell_accepted(start..end, observer);
        if segment.flags.contains(Flags::PSH) {
            self.receiver.on_pushed();
        }
        self.receiver.on_data(now, start..end, false);
        true
    }

    /// Processes an acknowledgment of data in flight, without any known loss or SACKed segment.
    #[inline]
    fn take_ordinary_acknowledgment(
        &mut self,
        now: Instant,
        segment: &Segment,
        observer: &mut impl Observer,
    ) -> bool {
        let una = self.sender.una();
        let acked = segment.acknowledgment.distance(self.sequence(una));
        let Ok(acked) = u64::try_from(acked) else {
            return false;
        };
        let offset = una + acked;
        // A count of marks of zero looks like no flags at all.
        let is_count = self.ecn.is_accurate();
        if acked == 0 || offset > self.sender.nxt() || is_count || !self.sender.is_ordinary() {
            return false;
        }
        let start = self.receiver.next_expected();
        let mut stamped = None;
        if self.timestamps.enabled
            && let Some(timestamps) = segment.timestamps
        {
            self.timestamps.on_segment(now, timestamps, start);
            stamped = Some((timestamps, self.clock()));
        }
        let right_edge = self.take_window(segment, start, offset);
        let echo = || stamped.and_then(|(timestamps, clock)| clock.echo(now, timestamps));
        self.sender
            .on_ordinary_acknowledgment(now, offset, right_edge, echo, observer);
        // The cumulative acknowledgment is all the segment carries.
        self.renew_patience(true, false);
        true
    }
}
