//! A frame exchange: from the start of a frame until its fate is known.

use airtcp_units::Instant;

use super::framing::NextFrame;
use super::{Bss, Sender};
use crate::frame::{ChannelObserver, Fate, FrameKind, Occupancy};
use crate::mac::contention::SlotCount;
use crate::phy::ControlFrame;

/// Size of ACK and CTS frames, and of RTS frames, in bytes.
const ANSWER_BYTES: u32 = ControlFrame::Ack.bytes();
const RTS_BYTES: u32 = ControlFrame::Rts.bytes();

/// Decisions taken when a frame started.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchange {
    /// Last bit of what decides it: of the data frame; of the RTS or CTS that was damaged; of the
    /// longest frame when several collided.
    pub(super) ends: Instant,
    pub(super) result: Attempt,
}

/// Outcome of an attempt.
#[derive(Clone, Copy, Debug)]
pub(super) enum Attempt {
    /// Data and ACK are received; the ACK's last bit leaves at that time.
    Acknowledged(Instant),
    /// Data is received, its ACK, which ends at that time, is not.
    AckDamaged(Instant),
    /// Data is damaged.
    DataDamaged,
    /// The RTS is damaged, and there will be no CTS.
    RtsDamaged,
    /// The CTS is damaged.
    CtsDamaged,
    /// Several stations sent at the same time.
    Collision,
}

/// Tells an observer of the frames of one attempt.
struct FrameReporter<'a, O> {
    observer: &'a mut O,
    flow: u32,
    attempt: u32,
}

impl<O: ChannelObserver> FrameReporter<'_, O> {
    fn frame(&mut self, station: u32, frame: FrameKind, start: Instant, end: Instant, fate: Fate) {
        self.observer.occupied(&Occupancy {
            station,
            start,
            end,
            frame,
            flow: self.flow,
            attempt: self.attempt,
            fate,
            mpdus: 1,
            damaged: u32::from(fate != Fate::Received),
        });
    }
}

const fn fate(damaged: bool) -> Fate {
    if damaged {
        Fate::Damaged
    } else {
        Fate::Received
    }
}

impl<P: Copy> Bss<P> {
    /// The countdown of one or more stations has ended: their frames start.
    pub(super) fn begin_exchange(&mut self, now: Instant, observer: &mut impl ChannelObserver) {
        self.freeze_others(now);
        match *self.senders.as_slice() {
            [] => self.wakeup = self.next_start(),
            [Sender { station, .. }] => {
                self.stations[station as usize].counters.attempts += 1;
                self.send(station, now, true, observer);
            }
            _ => self.collide(now, observer),
        }
    }

    /// Splits those that count down into those that send now and those that wait.
    fn freeze_others(&mut self, now: Instant) {
        let slot = self.pauses.slot;
        let Self {
            stations,
            counting,
            senders,
            ..
        } = self;
        senders.clear();
        let mut waiting = 0;
        for place in 0..counting.len() {
            let index = counting[place];
            let station = &mut stations[index as usize];
            if station.contention.countdown_ends(slot) > now {
                station.contention.freeze(now, slot, SlotCount::AtEnd);
                counting[waiting] = index;
                waiting += 1;
                continue;
            }
            station.contention.slots = None;
            if !station.queue.is_empty() {
                senders.push(Sender {
                    station: index,
                    ends: now,
                });
            }
        }
        counting.truncate(waiting);
    }

    /// One station sends: it has won the contention, or continues a burst of fragments, for
    /// which it need not be cleared again (IEEE 802.11-2016 §10.3.2.10).
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
        let NextFrame {
            to: receiver,
            bytes,
            ..
        } = frame;
        let mut told = FrameReporter {
            observer,
            flow: frame.flow,
            attempt: frame.attempt,
        };
        let mut now = start;
        if contended && frame.is_to_be_cleared {
            match self.clear(sender, receiver, now, &mut told) {
                Ok(cts_ends) => {
                    self.stations[sender as usize].rts_failures = 0;
                    now = cts_ends + self.pauses.sifs;
                }
                Err((ends, result)) => return self.decide(ends, result),
            }
        }
        let ends = now + self.data_time(sender, receiver, bytes);
        let class = Some(frame.class);
        let damaged = self.damages(sender, receiver, class, bytes, (now, ends));
        told.frame(sender, FrameKind::Data, now, ends, fate(damaged));
        if damaged {
            return self.decide(ends, Attempt::DataDamaged);
        }
        let ack = ends + self.pauses.sifs;
        let ack_ends = ack + self.pauses.ack;
        let damaged = self.damages(receiver, sender, None, ANSWER_BYTES, (ack, ack_ends));
        told.frame(receiver, FrameKind::Ack, ack, ack_ends, fate(damaged));
        self.decide(
            ends,
            if damaged {
                Attempt::AckDamaged(ack_ends)
            } else {
                Attempt::Acknowledged(ack_ends)
            },
        );
    }

    /// RTS and CTS: the end of the CTS; or which of them was damaged, and its end.
    fn clear<O: ChannelObserver>(
        &mut self,
        sender: u32,
        receiver: u32,
        start: Instant,
        told: &mut FrameReporter<'_, O>,
    ) -> Result<Instant, (Instant, Attempt)> {
        let rts_ends = start + self.pauses.rts;
        let damaged = self.damages(sender, receiver, None, RTS_BYTES, (start, rts_ends));
        told.frame(sender, FrameKind::Rts, start, rts_ends, fate(damaged));
        if damaged {
            return Err((rts_ends, Attempt::RtsDamaged));
        }
        let cts = rts_ends + self.pauses.sifs;
        let cts_ends = cts + self.pauses.cts;
        let damaged = self.damages(receiver, sender, None, ANSWER_BYTES, (cts, cts_ends));
        told.frame(receiver, FrameKind::Cts, cts, cts_ends, fate(damaged));
        if damaged {
            return Err((cts_ends, Attempt::CtsDamaged));
        }
        Ok(cts_ends)
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
                (FrameKind::Rts, now + self.pauses.rts)
            } else {
                let ends = now + self.data_time(sender, next.to, next.bytes);
                // It counts as a transmission even where the radio would have damaged it.
                self.damages(sender, next.to, Some(next.class), next.bytes, (now, ends));
                (FrameKind::Data, ends)
            };
            let mut told = FrameReporter {
                observer: &mut *observer,
                flow: next.flow,
                attempt: next.attempt,
            };
            told.frame(sender, frame, now, ends, Fate::Collided);
            self.senders[place].ends = ends;
            busy_until = busy_until.max(ends);
        }
        self.decide(busy_until, Attempt::Collision);
    }

    fn decide(&mut self, ends: Instant, result: Attempt) {
        self.wakeup = ends;
        self.exchange = Some(Exchange { ends, result });
    }
}
