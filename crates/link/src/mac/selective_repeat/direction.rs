//! One direction of a link: a sender with its queue, window and timers, and the receiver.
//!
//! Whether a frame is damaged is drawn when it starts, so its consequences are known then: its
//! arrival and its acknowledgment, or its timer. Frames leave one after the other and all of these
//! times lie a constant after their last bit; each list below is in order of time.

use std::collections::VecDeque;

use airtcp_units::Instant;

use super::config::{EndConfig, SelectiveRepeatConfig};
use crate::frame::{ChannelObserver, FrameKind, Offer, PendingPacket};
use crate::mac::damage::{Damage, Frame};
use crate::mac::frame_reporter::FrameReporter;
use crate::mac::outcomes::Outcomes;
use crate::mac::resequencer::Resequencer;
use crate::mac::send_window::SendWindow;
use crate::mac::transmit_queue::TransmitQueue;
use crate::scheduler::RetransmissionOrder;

/// A packet, and the number of its frame once that was transmitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Numbered<P> {
    packet: P,
    number: Option<u64>,
}

/// A frame that was transmitted.
#[derive(Clone, Copy, Debug)]
struct SentFrame<P> {
    number: u64,
    waiting: PendingPacket<Numbered<P>>,
}

/// State shared by both directions.
pub(super) struct Shared<'a, P> {
    pub(super) config: &'a SelectiveRepeatConfig,
    pub(super) damage: &'a mut Damage,
    pub(super) outcomes: &'a mut Outcomes<P>,
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub(super) struct Direction<P> {
    /// The stations at its ends: from, and to.
    ends: (u32, u32),
    end: EndConfig,
    queue: TransmitQueue<Numbered<P>>,
    window: SendWindow,
    receiver: Resequencer<SentFrame<P>>,
    /// Last bit of the frame on the line.
    busy_until: Option<Instant>,
    /// Undamaged frames, by their arrival at the receiver.
    arrivals: VecDeque<(Instant, SentFrame<P>)>,
    /// Discarded numbers, by the time at which the receiver learns of them.
    given_up: VecDeque<(Instant, u64)>,
    /// Undamaged frames, by the time at which the sender receives their acknowledgment.
    answers: VecDeque<(Instant, SentFrame<P>)>,
    /// Damaged frames, by the time at which their timer expires.
    timers: VecDeque<(Instant, SentFrame<P>)>,
}

impl<P: Copy> Direction<P> {
    /// An idle direction from station `from` to station `to`.
    pub(super) fn new(ends: (u32, u32), end: EndConfig, config: &SelectiveRepeatConfig) -> Self {
        // A frame leaves the queue when it is transmitted and returns when its timer expires: there
        // is no head of line to stay at.
        let order = match end.order {
            RetransmissionOrder::HeadOfLine => RetransmissionOrder::FirstDue,
            order => order,
        };
        Self {
            ends,
            end: EndConfig { order, ..end },
            queue: TransmitQueue::new(end.queue, order),
            window: SendWindow::new(config.window),
            receiver: Resequencer::new(config.handover),
            busy_until: None,
            arrivals: VecDeque::new(),
            given_up: VecDeque::new(),
            answers: VecDeque::new(),
            timers: VecDeque::new(),
        }
    }

    pub(super) fn push(
        &mut self,
        now: Instant,
        offer: Offer,
        packet: P,
        shared: &mut Shared<'_, P>,
        observer: &mut impl ChannelObserver,
    ) -> bool {
        let goes_at_once = self.busy_until.is_none() && self.window.is_open();
        if !goes_at_once && !self.queue.has_room(offer.bytes) {
            return false;
        }
        let numbered = Numbered {
            packet,
            number: None,
        };
        let admitted = self.queue.push(self.ends.1, offer, numbered);
        self.transmit_next(now, shared, observer);
        admitted
    }

    pub(super) fn next_wakeup(&self) -> Instant {
        [
            self.arrivals.front().map(|(at, _)| *at),
            self.given_up.front().map(|(at, _)| *at),
            self.answers.front().map(|(at, _)| *at),
            self.timers.front().map(|(at, _)| *at),
            self.busy_until,
        ]
        .into_iter()
        .flatten()
        .min()
        .unwrap_or(Instant::FAR_FUTURE)
    }

    /// Handles events due by `now`, the receiver first; then the line, if it is free, takes the
    /// next frame.
    pub(super) fn on_wakeup(
        &mut self,
        now: Instant,
        shared: &mut Shared<'_, P>,
        observer: &mut impl ChannelObserver,
    ) {
        while let Some(sent) = take_due(&mut self.arrivals, now) {
            self.receiver.on_arrived(sent.number, sent);
        }
        while let Some(number) = take_due(&mut self.given_up, now) {
            self.receiver.on_given_up(number);
        }
        while let Some(SentFrame { waiting, .. }) = self.receiver.take() {
            let packet = waiting.packet.packet;
            let attempts = waiting.failures + 1;
            shared.outcomes.delivered(packet, self.ends, attempts);
        }
        while let Some(SentFrame { number, waiting }) = take_due(&mut self.answers, now) {
            self.window.settle(number);
            let packet = waiting.packet.packet;
            let attempts = waiting.failures + 1;
            shared.outcomes.acknowledged(packet, self.ends, attempts);
        }
        while let Some(sent) = take_due(&mut self.timers, now) {
            self.fail(now, sent, shared);
        }
        self.busy_until = self.busy_until.filter(|end| *end > now);
        self.transmit_next(now, shared, observer);
    }

    /// Packets that wait for the line, retransmissions included.
    pub(super) fn queued_packets(&self) -> usize {
        self.queue.len()
    }

    pub(super) fn retries(&self, retransmitted: usize) -> usize {
        self.queue.retries(retransmitted)
    }

    /// A free line takes the next frame: one that is due for retransmission, or a new one if the
    /// window is open.
    fn transmit_next(
        &mut self,
        now: Instant,
        shared: &mut Shared<'_, P>,
        observer: &mut impl ChannelObserver,
    ) {
        if self.busy_until.is_some() {
            return;
        }
        self.queue.select_among(now, self.window.is_open());
        while let Some(expired) = self.queue.take_expired() {
            self.give_up(now, expired, shared);
        }
        let Some(mut waiting) = self.queue.finish() else {
            return;
        };
        let number = *waiting
            .packet
            .number
            .get_or_insert_with(|| self.window.number());
        let bytes = waiting.offer.bytes.saturating_add(shared.config.overhead);
        let end = now + shared.config.rate.transmission_time(u64::from(bytes));
        let class = Some(waiting.offer.class);
        let damaged = shared.damage.damages(&Frame {
            // Each flow has separate draws, independent of other flows' transmissions.
            station: waiting.offer.flow,
            ..Frame::between(self.ends, class, bytes, (now, end))
        });
        let mut told = FrameReporter {
            observer,
            flow: waiting.offer.flow,
            attempt: waiting.failures + 1,
        };
        told.frame(self.ends.0, FrameKind::Data, (now, end), damaged);
        self.busy_until = Some(end);
        let sent = SentFrame { number, waiting };
        if damaged {
            let expires = end + shared.config.retry_timeout;
            self.timers.push_back((expires, sent));
        } else {
            let answered = end + shared.config.answer_time();
            self.arrivals.push_back((end + shared.config.delay, sent));
            self.answers.push_back((answered, sent));
        }
    }

    /// The timer of a frame has expired: it is retransmitted or discarded.
    fn fail(&mut self, now: Instant, sent: SentFrame<P>, shared: &mut Shared<'_, P>) {
        let mut waiting = sent.waiting;
        waiting.fail();
        if !self.end.order.has_own_limit() && self.end.retry_limit.is_reached(waiting.failures) {
            return self.give_up(now, waiting, shared);
        }
        self.queue.retry(waiting);
        if let Some(expired) = self.queue.take_expired() {
            return self.give_up(now, expired, shared);
        }
        shared
            .outcomes
            .retried(waiting.packet.packet, self.ends, waiting.failures);
    }

    /// The receiver is informed, on the channel of acknowledgments, and releases held packets.
    fn give_up(
        &mut self,
        now: Instant,
        waiting: PendingPacket<Numbered<P>>,
        shared: &mut Shared<'_, P>,
    ) {
        if let Some(number) = waiting.packet.number {
            self.window.settle(number);
            let known = now + shared.config.delay;
            self.given_up.push_back((known, number));
        }
        shared
            .outcomes
            .discarded(waiting.packet.packet, self.ends, waiting.failures, false);
    }
}

/// The first of `list` if its time has come.
fn take_due<T>(list: &mut VecDeque<(Instant, T)>, now: Instant) -> Option<T> {
    let is_due = list.front().is_some_and(|(at, _)| *at <= now);
    is_due
        .then(|| list.pop_front())
        .flatten()
        .map(|(_, content)| content)
}
