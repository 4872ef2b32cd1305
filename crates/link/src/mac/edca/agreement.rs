//! A block ACK agreement: the MPDUs from one station to another in one access category (IEEE
//! 802.11-2020 §10.25).
//!
//! ```text
//!   sender     window of numbers, from the oldest missing one on; failed MPDUs first, in order
//!   receiver   delivers packets in the order of their numbers; holds packets after a missing one
//! ```

use std::collections::VecDeque;
use std::num::NonZeroU32;

use airtcp_units::{Duration, Instant};

use super::peer::FrameLimits;
use crate::frame::PacketClass;
use crate::mac::resequencer::{Handover, Resequencer};
use crate::mac::send_window::{SendWindow, Window};

/// A frame of an aggregate, with one packet or with several (A-MSDU).
#[derive(Clone, Debug)]
pub(super) struct Mpdu<P> {
    /// Its number in the agreement.
    pub number: u64,
    /// Its position among all packets of the station's queue.
    pub order: u64,
    /// Its bytes, header and FCS included.
    pub bytes: u32,
    /// Its first packet, with the flow and content of all.
    pub packet: P,
    pub flow: u32,
    pub class: PacketClass,
    /// Failed attempts.
    pub failures: u32,
    /// Whether it has arrived: if it is retransmitted, only an acknowledgment was lost.
    pub arrived: bool,
    /// The other packets of an A-MSDU.
    pub rest: Vec<P>,
    /// Estimated airtime of its packets, while they count as pending.
    pub airtime: Duration,
}

impl<P: Copy> Mpdu<P> {
    /// Its packets, in order.
    #[inline]
    pub(super) fn packets(&self) -> impl Iterator<Item = P> + use<'_, P> {
        (0..self.count()).map(|place| match place.checked_sub(1) {
            None => self.packet,
            Some(place) => self.rest[place],
        })
    }

    /// Number of its packets.
    #[inline]
    pub(super) fn count(&self) -> usize {
        1 + self.rest.len()
    }
}

/// The packets of an MPDU, held or delivered by the receiver.
#[derive(Clone, Debug)]
pub(super) struct Received<P> {
    pub packet: P,
    /// The other packets of an A-MSDU.
    pub rest: Vec<P>,
    pub attempts: u32,
    pub since: Instant,
}

/// An agreement, both ends.
#[derive(Clone, Debug)]
pub(super) struct Agreement<P> {
    window: SendWindow,
    /// Limits of its frames.
    pub limits: FrameLimits,
    /// MPDUs to be retransmitted, oldest number first.
    retries: VecDeque<Mpdu<P>>,
    /// The first MPDU of the last PPDU, and the number of consecutive PPDUs with it that had no
    /// answer.
    unanswered: (u64, u32),
    receiver: Resequencer<Received<P>>,
}

impl<P: Copy> Agreement<P> {
    pub(super) fn new(limits: FrameLimits) -> Self {
        let limit = NonZeroU32::new(u32::from(limits.window)).unwrap_or(NonZeroU32::MIN);
        Self {
            window: SendWindow::new(Window::Numbers(limit)),
            limits,
            retries: VecDeque::new(),
            unanswered: (0, 0),
            receiver: Resequencer::new(Handover::InOrder),
        }
    }

    /// Whether the window allows a new packet.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.window.is_open()
    }

    /// Numbers in use: from the oldest that is not settled to the last.
    pub(super) fn span(&self) -> usize {
        self.window.span()
    }

    /// The number of an MPDU that is sent for the first time.
    #[inline]
    pub(super) fn number(&mut self) -> u64 {
        self.window.number()
    }

    /// The first MPDU to be retransmitted.
    #[inline]
    pub(super) fn first_retry(&self) -> Option<&Mpdu<P>> {
        self.retries.front()
    }

    /// Number of consecutive unanswered PPDUs that began with the MPDU now sent first.
    #[inline]
    pub(super) fn failures(&self) -> u32 {
        match (self.unanswered, self.first_retry()) {
            ((first, failures), Some(retry)) if retry.number == first => failures,
            _ => 0,
        }
    }

    /// A PPDU that begins with MPDU `first` was answered, or not.
    #[inline]
    pub(super) fn on_answer(&mut self, first: u64, is_answered: bool) {
        self.unanswered = match self.unanswered {
            _ if is_answered => (first, 0),
            (before, failures) if before == first => (first, failures + 1),
            _ => (first, 1),
        };
    }

    /// Takes it.
    #[inline]
    pub(super) fn take_retry(&mut self) -> Option<Mpdu<P>> {
        self.retries.pop_front()
    }

    /// An MPDU failed and is to be retransmitted.
    pub(super) fn retry(&mut self, mpdu: Mpdu<P>) {
        let behind = self.retries.iter().rev();
        let later = behind
            .take_while(|other| other.number > mpdu.number)
            .count();
        self.retries.insert(self.retries.len() - later, mpdu);
    }

    /// An MPDU is acknowledged or discarded.
    #[inline]
    pub(super) fn settle(&mut self, number: u64) {
        self.window.settle(number);
    }

    /// An MPDU has arrived, for the first time, and can be delivered at once, as nearly all can.
    /// `false` if [`receive`](Self::receive) must decide.
    #[inline]
    pub(super) fn passes(&mut self, number: u64) -> bool {
        self.receiver.passes(number)
    }

    /// An MPDU has arrived, for the first time. A number beyond the receiver's window moves it:
    /// missing MPDUs before it will not arrive (§10.25.6.6). `false` for one that arrives too late:
    /// the receiver has given it up, and drops it.
    #[inline]
    pub(super) fn receive(&mut self, number: u64, received: Received<P>) -> bool {
        if number < self.receiver.expected() {
            return false;
        }
        if let Some(start) = (number + 1).checked_sub(u64::from(self.limits.window)) {
            self.receiver.advance(start);
        }
        self.receiver.on_arrived(number, received);
        true
    }

    /// A block ACK request announces the start of the sender's window to the receiver.
    pub(super) fn on_request(&mut self) {
        self.receiver.advance(self.window.base());
    }

    /// Time at which the receiver gives up MPDUs missing before its first held packet.
    #[inline]
    pub(super) fn gives_up(&self, timeout: Duration) -> Option<Instant> {
        let (_, held) = self.receiver.first_held()?;
        Some(held.since + timeout)
    }

    /// At `now` the receiver gives up MPDUs missing before packets that it has held for `timeout`.
    pub(super) fn time_out(&mut self, now: Instant, timeout: Duration) {
        while let Some((number, held)) = self.receiver.first_held()
            && held.since + timeout <= now
        {
            self.receiver.advance(number);
        }
    }

    /// The next packet that the receiver delivers.
    #[inline]
    pub(super) fn hand_on(&mut self) -> Option<Received<P>> {
        self.receiver.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(packet: u64, at: u64) -> Received<u64> {
        Received {
            packet,
            rest: Vec::new(),
            attempts: 1,
            since: Instant::ZERO + Duration::from_millis(at),
        }
    }

    const fn limits(window: u16) -> FrameLimits {
        FrameLimits {
            mpdus: window,
            window,
            amsdu: 0,
            overhead: 38,
        }
    }

    fn handed_on(agreement: &mut Agreement<u64>) -> Vec<u64> {
        std::iter::from_fn(|| agreement.hand_on())
            .map(|received| received.packet)
            .collect()
    }

    /// With a window of 4, MPDU 0 stays missing: 1 to 3 are held; 4 shows that the sender has given
    /// 0 up, since its window starts at 1 by then.
    #[test]
    fn a_number_beyond_the_window_moves_it() {
        let mut agreement = Agreement::new(limits(4));
        for number in 1..4 {
            assert!(agreement.receive(number, received(number, number)));
            assert!(handed_on(&mut agreement).is_empty());
        }
        let timeout = Duration::from_millis(100);
        let gives_up = agreement.gives_up(timeout);
        assert_eq!(gives_up, Some(Instant::ZERO + Duration::from_millis(101)));
        assert!(agreement.receive(4, received(4, 4)));
        assert_eq!(handed_on(&mut agreement), [1, 2, 3, 4]);
        assert_eq!(agreement.gives_up(timeout), None);
    }

    /// 1 (held since 1 ms), 3 and 4 (since 3 and 4 ms) wait for 0 and 2: at 101 ms 1 is delivered,
    /// at 103 ms 3 and with it 4.
    #[test]
    fn what_is_held_for_too_long_is_handed_on() {
        let mut agreement = Agreement::new(limits(64));
        for number in [1, 3, 4] {
            assert!(agreement.receive(number, received(number, number)));
        }
        let at = |millis| Instant::ZERO + Duration::from_millis(millis);
        let timeout = Duration::from_millis(100);
        agreement.time_out(at(100), timeout);
        assert!(handed_on(&mut agreement).is_empty());
        agreement.time_out(at(101), timeout);
        assert_eq!(handed_on(&mut agreement), [1]);
        agreement.time_out(at(103), timeout);
        assert_eq!(handed_on(&mut agreement), [3, 4]);
        assert!(!agreement.receive(0, received(0, 104)), "too late");
    }
}
