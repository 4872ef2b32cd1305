//! The short way of an ordinary segment: established, in order, nothing reported, no option that
//! changes. Header prediction (Jacobson, "4BSD TCP header prediction", 1990; Linux,
//! `tcp_rcv_established`).
//!
//! Nothing is decided here that [`arrival`](super::arrival) would not decide: only what is known
//! not to apply is left out. A test plays the same traffic to two endpoints, one of them without
//! this way, and compares all they know after every segment.

use airtcp_packet::{Flags, Segment};
use airtcp_units::Instant;

use super::{Connection, State, at};
use crate::observer::Observer;

/// For the test that both ways are the same.
#[cfg(test)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ways {
    /// No segment takes the short one.
    pub general_only: bool,
    /// How many took it.
    pub short: u64,
}

impl Connection {
    /// Takes `segment` at `now` if it is ordinary; if it is not, nothing has changed.
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

    /// Whether an established endpoint has nothing to say at `now` but that something has arrived,
    /// as seen without looking closely. It is asked before and after every segment that it sends.
    #[inline]
    pub(super) fn has_no_more_than_an_acknowledgment(&self, now: Instant) -> bool {
        self.state == State::Established
            && (self.sender.is_silent() || self.sender.is_waiting_for_pace(now))
            && !self.has_reset()
            && !self.probe_due
            && self.reconnection_acks == 0
    }

    /// Whether the segment is the next one of an established connection, with no flag but ACK and
    /// perhaps PSH, with timestamps where there should be some and those not old.
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
            && segment.sack.is_empty()
            && stamped
    }

    /// Data behind what has arrived, for an endpoint that has nothing under way itself.
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
        self.patience.on_acknowledgment(false, opens);
        if let Some(timestamps) = segment.timestamps
            && self.timestamps.enabled
            && self.receiver.times_round_trips()
            && u64::from(segment.payload_bytes) >= self.sender.mss()
            && let Some(echo) = self.timestamps.echo(now, timestamps)
        {
            self.receiver.on_echo(echo.sent_at, echo.rtt);
        }
        self.tell_accepted(start..end, observer);
        self.receiver.on_data(now, start..end, false);
        true
    }

    /// An acknowledgment of data under way, none of which is known to be lost or was reported.
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
        if acked == 0 || offset > self.sender.nxt() || !self.sender.is_ordinary() {
            return false;
        }
        let start = self.receiver.next_expected();
        let mut stamped = None;
        if self.timestamps.enabled
            && let Some(timestamps) = segment.timestamps
        {
            self.timestamps.on_segment(now, timestamps, start);
            stamped = Some(timestamps);
        }
        let right_edge = self.take_window(segment, start, offset);
        let clock = &self.timestamps;
        let echo = || stamped.and_then(|timestamps| clock.echo(now, timestamps));
        self.sender
            .on_ordinary_acknowledgment(now, offset, right_edge, echo, observer);
        // What advances says all there is to say.
        self.patience.on_acknowledgment(true, false);
        true
    }
}
