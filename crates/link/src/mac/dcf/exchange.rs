//! A frame exchange: from the start of a frame until its fate is known.

use airtcp_units::Instant;

use super::{Bss, Sender};
use crate::frame::{ChannelObserver, Fate, FrameKind};
use crate::mac::damage::Frame;
use crate::mac::exchange::Attempt;
use crate::mac::frame_reporter::FrameReporter;
use crate::phy::ControlFrame;

/// Decisions taken when a frame started.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchange {
    /// Last bit of the deciding frame: of the data frame; of the damaged RTS or CTS; of the longest
    /// frame when several collided.
    pub(super) ends: Instant,
    pub(super) result: Attempt,
    /// Whether it ended before data could be sent.
    pub(super) is_at_rts: bool,
}

impl<P: Copy> Bss<P> {
    /// The countdown of one or more stations has ended: their frames start.
    pub(super) fn begin_exchange(&mut self, now: Instant, observer: &mut impl ChannelObserver) {
        let senders = &mut self.senders;
        senders.clear();
        self.contention
            .freeze(&mut self.stations, now, |station, _| {
                senders.push(Sender { station, ends: now });
            });
        match *self.senders.as_slice() {
            [] => self.wakeup = self.contention.next_start(&self.stations),
            [Sender { station, .. }] => {
                self.stations[station as usize].counters.attempts += 1;
                self.send(station, now, true, observer);
            }
            _ => self.collide(now, observer),
        }
    }

    /// One station sends: it has won the contention, or continues a burst of fragments, which needs
    /// no further RTS (IEEE 802.11-2016 §10.3.2.10).
    pub(super) fn send(
        &mut self,
        sender: u32,
        start: Instant,
        contended: bool,
        observer: &mut impl ChannelObserver,
    ) {
        let Some(frame) = self.next_frame(sender) else {
            return;
        };
        let ends = (sender, frame.to);
        let mut told = FrameReporter {
            observer,
            flow: frame.flow,
            attempt: frame.attempt,
        };
        let mut now = start;
        if contended && frame.is_to_be_cleared {
            let pauses = self.pauses;
            let send = |ends, frame, start| self.send_control(ends, frame, start, &mut told);
            match pauses.clear(ends, now, send) {
                Ok(cts_ends) => {
                    self.stations[sender as usize].rts_failures = 0;
                    now = cts_ends + pauses.sifs;
                }
                Err((ends, result)) => return self.decide(ends, result, true),
            }
        }
        let sent = now + self.data_time(sender, frame.to, frame.bytes);
        let on_air = Frame::between(ends, Some(frame.class), frame.bytes, (now, sent));
        let damaged = self.damage.damages(&on_air);
        told.frame(sender, FrameKind::Data, (now, sent), damaged);
        if damaged {
            return self.decide(sent, Attempt::Unanswered, false);
        }
        let answer = sent + self.pauses.sifs;
        let ends = (frame.to, sender);
        let (answered, damaged) = self.send_control(ends, ControlFrame::Ack, answer, &mut told);
        let result = if damaged {
            Attempt::AnswerDamaged(answered)
        } else {
            Attempt::Answered(answered)
        };
        self.decide(sent, result, false);
    }

    /// Sends a control frame: returns its end, and whether it is damaged.
    #[inline]
    fn send_control<O: ChannelObserver>(
        &mut self,
        ends: (u32, u32),
        frame: ControlFrame,
        start: Instant,
        told: &mut FrameReporter<'_, O>,
    ) -> (Instant, bool) {
        let times = &self.control_times;
        let time = match frame {
            ControlFrame::Rts => times.rts,
            ControlFrame::Cts => times.cts,
            _ => times.ack,
        };
        let span = (start, start + time);
        let on_air = Frame::between(ends, None, frame.bytes(), span);
        let damaged = self.damage.damages(&on_air);
        told.control(ends.0, frame, span, damaged);
        (span.1, damaged)
    }

    /// Several stations send at the same time, and nothing is received.
    fn collide(&mut self, now: Instant, observer: &mut impl ChannelObserver) {
        let mut busy_until = now;
        for place in 0..self.senders.len() {
            let sender = self.senders[place].station;
            let counters = &mut self.stations[sender as usize].counters;
            counters.attempts += 1;
            counters.collisions += 1;
            let Some(next) = self.next_frame(sender) else {
                continue;
            };
            let (frame, ends) = if next.is_to_be_cleared {
                (FrameKind::Rts, now + self.control_times.rts)
            } else {
                let ends = now + self.data_time(sender, next.to, next.bytes);
                // It counts as a transmission even where the radio would have damaged it.
                let (ways, class) = ((sender, next.to), Some(next.class));
                let on_air = Frame::between(ways, class, next.bytes, (now, ends));
                self.damage.damages(&on_air);
                (FrameKind::Data, ends)
            };
            let mut told = FrameReporter {
                observer: &mut *observer,
                flow: next.flow,
                attempt: next.attempt,
            };
            told.aggregate(sender, frame, (now, ends), Fate::Collided, (1, 1));
            self.senders[place].ends = ends;
            busy_until = busy_until.max(ends);
        }
        self.decide(busy_until, Attempt::Collision, false);
    }

    fn decide(&mut self, ends: Instant, result: Attempt, is_at_rts: bool) {
        self.wakeup = ends;
        self.exchange = Some(Exchange {
            ends,
            result,
            is_at_rts,
        });
    }
}
