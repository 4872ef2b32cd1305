//! Consequences of an exchange: outcomes, backoffs, and when contention resumes.

use airtcp_units::Instant;

use super::exchange::Exchange;
use super::{Bss, Sender};
use crate::frame::{ChannelObserver, PendingPacket, RetryLimit};
use crate::mac::exchange::Attempt;
use crate::scheduler::RetransmissionOrder;

impl<P: Copy> Bss<P> {
    /// Handles the known outcome of a frame.
    pub(super) fn end_exchange(&mut self, exchange: Exchange, observer: &mut impl ChannelObserver) {
        let Exchange {
            ends,
            result,
            is_at_rts,
        } = exchange;
        let Some(&Sender { station, .. }) = self.senders.first() else {
            return;
        };
        let (own, others) = self.pauses.behind(ends, result);
        let counts_from = own.idle_from + self.difs;
        match result {
            Attempt::Answered(answered) => {
                self.on_received(station);
                if self.goes_on_with_burst(station) {
                    let next = answered + self.pauses.sifs;
                    return self.send(station, next, false, observer);
                }
                self.succeed(ends, station, counts_from);
            }
            Attempt::AnswerDamaged(_) => {
                self.on_received(station);
                self.fail(ends, station, counts_from, false);
            }
            Attempt::Unanswered => {
                self.stations[station as usize].counters.damaged += 1;
                self.fail(ends, station, counts_from, is_at_rts);
            }
            Attempt::CtsDamaged => self.fail(ends, station, counts_from, true),
            Attempt::Collision => {
                for place in 0..self.senders.len() {
                    let Sender { station, ends: own } = self.senders[place];
                    let own = self.pauses.behind_collision(own, ends);
                    let next = self.next_frame(station);
                    let at_rts = next.is_some_and(|frame| frame.is_to_be_cleared);
                    self.fail(ends, station, own.idle_from + self.difs, at_rts);
                }
            }
        }
        self.free_from = others.idle_from + self.difs;
        let (senders, free_from) = (&self.senders, self.free_from);
        // The stations in the exchange know already from when to count.
        self.wakeup = self.contention.resume(&mut self.stations, |index, _| {
            let listens = senders.iter().all(|sender| sender.station != index);
            listens.then_some(free_from)
        });
    }

    /// The receiver has a fragment. A packet is delivered once, when it has all fragments; a
    /// retransmission of it is a duplicate (IEEE 802.11-2016 §10.3.2.11).
    #[inline]
    fn on_received(&mut self, sender: u32) {
        let Some(waiting) = self.stations[sender as usize].queue.current() else {
            return;
        };
        if waiting.arrived || !self.config.is_last_fragment(waiting) {
            return;
        }
        waiting.arrived = true;
        let ends = (sender, waiting.to);
        self.outcomes
            .delivered(waiting.packet, ends, waiting.failures + 1);
    }

    /// The fragment is acknowledged; returns whether another follows.
    #[inline]
    fn goes_on_with_burst(&mut self, sender: u32) -> bool {
        let station = &mut self.stations[sender as usize];
        station.back_off.reset_window();
        let Some(waiting) = station.queue.current() else {
            return false;
        };
        let last = self.config.is_last_fragment(waiting);
        waiting.finish_fragment();
        !last
    }

    /// The packet is acknowledged. The station backs off all the same, so that others may have the
    /// channel (§10.3.4.3).
    fn succeed(&mut self, now: Instant, sender: u32, counts_from: Instant) {
        let station = &mut self.stations[sender as usize];
        station.counters.acknowledged += 1;
        station.queue.finish();
        station.forget_rts();
        self.next_packet(now, sender, counts_from);
    }

    /// Handles a failed attempt; `at_rts`: it ended with an RTS.
    fn fail(&mut self, now: Instant, sender: u32, counts_from: Instant, at_rts: bool) {
        let station = &mut self.stations[sender as usize];
        // An order by deadline counts attempts, regardless of which of their frames failed.
        let by_deadline = station.config.order.has_own_limit();
        let Some(waiting) = station.queue.current() else {
            return;
        };
        if !at_rts || by_deadline {
            waiting.fail();
        }
        let failures = if at_rts {
            station.rts_failures += 1;
            station.all_rts_failures += 1;
            station.rts_failures
        } else {
            waiting.fragment_failures
        };
        let own = self.config.station_retry_limits.of(sender, waiting.to);
        let limit = if by_deadline {
            RetryLimit::Unlimited
        } else if let Some(own) = own {
            own
        } else if at_rts
            || !self
                .config
                .is_above_rts_threshold(self.config.frame_bytes(waiting))
        {
            station.config.short_retry_limit
        } else {
            station.config.long_retry_limit
        };
        let given_up = if limit.is_reached(failures) {
            station.queue.finish()
        } else {
            self.put_back(sender)
        };
        if let Some(packet) = given_up {
            let station = &mut self.stations[sender as usize];
            station.forget_rts();
            station.back_off.reset_window();
            self.discard(sender, &packet);
        }
        self.next_packet(now, sender, counts_from);
    }

    /// The chosen packet will be retransmitted, unless its order gives it up: then it is returned.
    fn put_back(&mut self, sender: u32) -> Option<PendingPacket<P>> {
        let station = &mut self.stations[sender as usize];
        let failed = *station.queue.current()?;
        if station.config.order != RetransmissionOrder::HeadOfLine {
            station.queue.put_back();
            station.forget_rts();
            let given_up = station.queue.take_expired();
            if given_up.is_some() {
                return given_up;
            }
        }
        station.back_off.double_window();
        let ends = (sender, failed.to);
        self.outcomes.retried(failed.packet, ends, failed.failures);
        None
    }

    /// Reports a discarded packet, just sent or waiting.
    fn discard(&mut self, sender: u32, waiting: &PendingPacket<P>) {
        self.stations[sender as usize].counters.discarded += 1;
        self.outcomes.given_up(sender, waiting);
    }

    /// Chooses a station's next packet, and draws its back-off, needed or not.
    fn next_packet(&mut self, now: Instant, sender: u32, counts_from: Instant) {
        let station = &mut self.stations[sender as usize];
        station.queue.select(now);
        station.back_off.draw();
        station.back_off.count_from(counts_from);
        self.contention.join(sender);
        while let Some(expired) = self.stations[sender as usize].queue.take_expired() {
            self.discard(sender, &expired);
        }
    }
}
