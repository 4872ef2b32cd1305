//! Trains: segments that one event lets leave together. Linux hands each to segmentation offload in
//! one piece, and has its last segment pushed so that the receiver does not wait for more of it
//! (`tcp_write_xmit`, `tcp_tso_autosize` and `__tcp_transmit_skb`). One that would be short may
//! wait for the next acknowledgment.

use airtcp_units::{Duration, Instant};

use super::Sender;
use super::pacing::burst_segments;
use crate::config::ShortTrains;

/// Only a sender that has sent data this recently waits for more, and only for an acknowledgment
/// that is due this soon (Linux, `tcp_tso_should_defer`).
const SOON: Duration = Duration::from_millis(1);
/// A train of this part of the window waits for nothing (Linux, `tcp_tso_win_divisor`).
const LARGE_PART: u64 = 3;

/// The train that is leaving.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Trains {
    /// Whether it is of two or more.
    several: bool,
    /// Segments of it that have not left: offload takes 64 KiB at most.
    left: u8,
    /// Segments for which there is room, and which wait for the next acknowledgment.
    held_back: u8,
}

impl Trains {
    /// Ends the train: another event decides about further segments.
    #[inline]
    pub const fn end(&mut self) {
        self.left = 0;
    }

    /// Whether the next segment begins a train.
    #[inline]
    pub const fn begins(self) -> bool {
        self.left == 0
    }

    /// Begins a train of `length` segments.
    pub fn begin(&mut self, length: u64) {
        self.held_back = 0;
        self.left = at_most_u8(length).max(1);
        self.several = self.left > 1;
    }

    /// Records that a segment leaves. Returns whether it is the last of several.
    #[inline]
    pub const fn on_sent(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left == 0 && self.several
    }
}

fn at_most_u8(segments: u64) -> u8 {
    u8::try_from(segments).unwrap_or(u8::MAX)
}

impl Sender {
    /// Bytes that the windows allow but that wait for the next acknowledgment: a controller that
    /// keeps its window near the data in flight must count them as in flight.
    pub(super) fn held_back(&self) -> u64 {
        u64::from(self.trains.held_back) * self.congestion.mss()
    }

    /// Whether new data waits for the next acknowledgment though `in_flight` bytes leave room in
    /// the `window`: it would be a short train, the sender has just sent something, and more room
    /// is soon to come.
    #[inline]
    pub(super) fn is_train_held_back(&mut self, now: Instant, in_flight: u64, window: u64) -> bool {
        self.choices.short_trains == ShortTrains::Deferred
            && self.trains.begins()
            && self.repair.is_open()
            && self.holds_back_train(now, in_flight, window)
    }

    // The cheapest checks come first. Two details of Linux are left out: it queues an application's
    // writes in pieces of up to 64 KiB, and the last segment of a piece never waits; and its trains
    // are longer where the least round trip is below 3 ms.
    fn holds_back_train(&mut self, now: Instant, in_flight: u64, window: u64) -> bool {
        if !self.has_sent_since(now, SOON) {
            return false;
        }
        let Some(front) = self.board.front() else {
            return false;
        };
        let srtt = self.timeout.estimator().srtt().unwrap_or(Duration::ZERO);
        let soon = SOON.min(Duration::from_nanos(srtt.as_nanos() / 2));
        if front.sent_at + srtt > now + soon {
            return false;
        }
        let mss = self.congestion.mss();
        let unsent = self.space.written().saturating_sub(self.space.nxt());
        if unsent <= mss {
            return false;
        }
        let own_room = window.saturating_sub(in_flight) / mss * mss;
        let peer_room = self.space.right_edge().saturating_sub(self.space.nxt());
        let room = own_room.min(peer_room);
        // The last of the stream waits for nothing if there is room for it.
        if room < mss || self.space.is_closed() && room > unsent {
            return false;
        }
        let peer_window = self.space.right_edge() - self.space.una();
        let large = self.congestion.cwnd().min(peer_window) / LARGE_PART;
        let (rate, least) = self.congestion.rate(srtt, self.board.outstanding());
        let longest = burst_segments(rate, least, mss) * mss;
        if room >= large || room >= longest {
            return false;
        }
        self.trains.held_back = at_most_u8(room / mss);
        if own_room < peer_room && own_room <= unsent {
            self.note_usage(now, true);
        }
        true
    }

    /// Whether data was sent within `span`, or is paced to leave then. (In Linux acknowledgments
    /// count, too: `tcp_wstamp_ns`.)
    fn has_sent_since(&self, now: Instant, span: Duration) -> bool {
        let next = self.extras.pacing().map(|pacing| pacing.next());
        let last = self.growth.last_sent_at().max(next);
        last.is_some_and(|last| now - last <= span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A train of three and one of one; one of two that another event ends after the first.
    #[test]
    fn the_last_of_several_is_pushed() {
        let mut trains = Trains::default();
        let mut leave = |length, ends| {
            if trains.begins() {
                trains.begin(length);
            }
            let pushed = trains.on_sent();
            if ends {
                trains.end();
            }
            pushed
        };
        let pushed = [3, 9, 9, 1].map(|length| leave(length, false));
        assert_eq!(pushed, [false, false, true, false]);
        assert!(!leave(2, true));
        assert_eq!([2, 9].map(|length| leave(length, false)), [false, true]);
    }
}
