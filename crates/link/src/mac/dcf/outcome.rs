//! Consequences of an exchange: outcomes, backoffs, and when contention resumes.

use airtcp_units::Instant;

use super::exchange::{Attempt, Exchange};
use super::{Bss, Sender};
use crate::frame::PendingPacket;
use crate::frame::{ChannelObserver, Outcome, RetryLimit};
use crate::scheduler::RetransmissionOrder;

impl<P: Copy> Bss<P> {
    /// Handles the known outcome of a frame.
    pub(super) fn end_exchange(&mut self, exchange: Exchange, observer: &mut impl ChannelObserver) {
        let ends = exchange.ends;
        let (difs, eifs) = (self.pauses.difs, self.pauses.eifs);
        let Some(&Sender { station, .. }) = self.senders.first() else {
            return;
        };
        // A station whose answer does not come contends again DIFS later (IEEE 802.11-2016
        // §10.3.2.9). One that has heard an undecodable frame leaves time for an answer: EIFS
        // (§10.3.2.3.7).
        let in_vain = ends + self.pauses.answer_timeout + difs;
        let free_from = match exchange.result {
            Attempt::Acknowledged(ack_ends) => {
                self.on_received(station);
                if self.goes_on_with_burst(station) {
                    let next = ack_ends + self.pauses.sifs;
                    return self.send(station, next, false, observer);
                }
                self.succeed(ends, station, ack_ends + difs);
                ack_ends + difs
            }
            Attempt::AckDamaged(ack_ends) => {
                self.on_received(station);
                self.fail(ends, station, ack_ends + eifs, false);
                ack_ends + difs
            }
            Attempt::DataDamaged => {
                self.stations[station as usize].counters.damaged += 1;
                self.fail(ends, station, in_vain, false);
                ends + eifs
            }
            Attempt::RtsDamaged => {
                self.stations[station as usize].counters.damaged += 1;
                self.fail(ends, station, in_vain, true);
                ends + eifs
            }
            // The wait for an answer ends with the answer, which is not understood.
            Attempt::CtsDamaged => {
                self.fail(ends, station, ends + eifs, true);
                ends + eifs
            }
            Attempt::Collision => {
                for place in 0..self.senders.len() {
                    let Sender { station, ends: own } = self.senders[place];
                    // The channel must be idle too: a longer frame may still be on it.
                    let free = (own + self.pauses.answer_timeout).max(ends) + difs;
                    let next = self.next_frame(station);
                    let at_rts = next.is_some_and(|frame| frame.is_to_be_cleared);
                    self.fail(ends, station, free, at_rts);
                }
                ends + eifs
            }
        };
        self.resume(free_from);
    }

    /// Resumes contention for the listeners and determines the start of the next frame.
    fn resume(&mut self, free_from: Instant) {
        self.free_from = free_from;
        let slot = self.pauses.slot;
        let (stations, senders) = (&mut self.stations, &self.senders);
        let mut next = Instant::FAR_FUTURE;
        for &index in &self.counting {
            let station = &mut stations[index as usize];
            if senders.iter().all(|sender| sender.station != index) {
                station.contention.counts_from = free_from;
            }
            if !station.queue.is_empty() {
                next = next.min(station.contention.countdown_ends(slot));
            }
        }
        self.wakeup = next;
    }

    /// The receiver has a fragment. A packet is delivered once, when it has all of them; if it
    /// comes again it is a duplicate (IEEE 802.11-2016 §10.3.2.11).
    #[inline]
    fn on_received(&mut self, sender: u32) {
        let Some(waiting) = self.stations[sender as usize].queue.current() else {
            return;
        };
        if waiting.arrived || !self.config.is_last_fragment(waiting) {
            return;
        }
        waiting.arrived = true;
        self.outcomes.push_back(Outcome::Delivered {
            packet: waiting.packet,
            from: sender,
            to: waiting.to,
            attempts: waiting.failures + 1,
        });
    }

    /// The fragment is acknowledged; whether another follows.
    #[inline]
    fn goes_on_with_burst(&mut self, sender: u32) -> bool {
        let station = &mut self.stations[sender as usize];
        station.contention.reset_window(self.windows.0);
        let Some(waiting) = station.queue.current() else {
            return false;
        };
        let last = self.config.is_last_fragment(waiting);
        waiting.fragments_done += 1;
        waiting.fragment_failures = 0;
        !last
    }

    /// The packet is acknowledged. The station backs off all the same, that others may have the
    /// channel (§10.3.4.3).
    fn succeed(&mut self, now: Instant, sender: u32, counts_from: Instant) {
        let station = &mut self.stations[sender as usize];
        station.counters.acknowledged += 1;
        station.queue.finish();
        station.forget_rts();
        self.next_packet(now, sender, counts_from);
    }

    /// Handles a failed attempt; `at_rts` says whether it ended with an RTS.
    fn fail(&mut self, now: Instant, sender: u32, counts_from: Instant, at_rts: bool) {
        let station = &mut self.stations[sender as usize];
        // An order by deadline counts attempts, whichever of their frames failed.
        let by_deadline = matches!(station.config.order, RetransmissionOrder::Deadline(_));
        let Some(waiting) = station.queue.current() else {
            return;
        };
        if !at_rts || by_deadline {
            waiting.failures += 1;
            waiting.fragment_failures += 1;
        }
        let failures = if at_rts {
            station.rts_failures += 1;
            station.all_rts_failures += 1;
            station.rts_failures
        } else {
            waiting.fragment_failures
        };
        let limit = if by_deadline {
            RetryLimit::Unlimited
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
            station.contention.reset_window(self.windows.0);
            self.discard(sender, &packet);
        }
        self.next_packet(now, sender, counts_from);
    }

    /// The chosen packet will be retransmitted, unless its order gives it up: then it is returned.
    fn put_back(&mut self, sender: u32) -> Option<PendingPacket<P>> {
        let station = &mut self.stations[sender as usize];
        let told = station
            .queue
            .current()
            .filter(|_| self.config.report_retries)
            .map(|waiting| Outcome::Retried {
                packet: waiting.packet,
                from: sender,
                to: waiting.to,
                attempts: waiting.failures,
            });
        if station.config.order != RetransmissionOrder::HeadOfLine {
            station.queue.put_back();
            station.forget_rts();
            let given_up = station.queue.take_expired();
            if given_up.is_some() {
                return given_up;
            }
        }
        station.contention.double_window(self.windows.1);
        self.outcomes.extend(told);
        None
    }

    /// Reports a discarded packet, just sent or waiting.
    fn discard(&mut self, sender: u32, waiting: &PendingPacket<P>) {
        self.stations[sender as usize].counters.discarded += 1;
        self.outcomes.push_back(Outcome::Discarded {
            packet: waiting.packet,
            from: sender,
            to: waiting.to,
            attempts: waiting.failures,
            arrived: waiting.arrived,
        });
    }

    /// Chooses what a station sends next, and draws its back-off, needed or not.
    fn next_packet(&mut self, now: Instant, sender: u32, counts_from: Instant) {
        let station = &mut self.stations[sender as usize];
        station.queue.select(now);
        station.contention.draw();
        station.contention.counts_from = counts_from;
        self.counting.push(sender);
        while let Some(expired) = self.stations[sender as usize].queue.take_expired() {
            self.discard(sender, &expired);
        }
    }
}
