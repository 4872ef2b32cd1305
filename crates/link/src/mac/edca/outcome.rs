//! Consequences of an exchange: each MPDU's fate, backoffs, and when contention resumes.

use std::ops::Range;

use airtcp_units::{Duration, Instant};

use super::agreement::{Mpdu, Received};
use super::arrivals::Arrivals;
use super::contender::{Request, Sent};
use super::exchange::Exchange;
use super::queueing::place_of;
use super::{Edca, Sender};
use crate::frame::{ACCESS_POINT, ChannelObserver};
use crate::mac::contention::Contends;
use crate::mac::exchange::{Attempt, Quiet};
use crate::mac::way::Way;
use crate::phy::Mode;
use crate::queue::EcnField;
use crate::rate_control::Report;

impl<P: Copy + EcnField> Edca<P> {
    /// Handles the known outcome of a PPDU.
    pub(super) fn end_exchange(&mut self, exchange: Exchange, observer: &mut impl ChannelObserver) {
        let Exchange { ends, result, .. } = exchange;
        if result == Attempt::Collision {
            return self.end_collision(exchange);
        }
        let Some(&Sender { contender, .. }) = self.senders.first() else {
            return;
        };
        let (own, others) = self.pauses.behind(ends, result);
        let is_answered = matches!(result, Attempt::Answered(_));
        self.answering = self.answering(ends, contender, result);
        let took = others.idle_from.min(own.idle_from) - exchange.started;
        if exchange.is_request {
            self.end_request(ends, contender, result, took);
        } else {
            if is_answered || matches!(result, Attempt::AnswerDamaged(_)) {
                let all = 0..self.contenders[contender as usize].burst.len();
                self.receive(ends, contender, all);
            }
            self.conclude(ends, contender, result, took);
        }
        let sender = &mut self.contenders[contender as usize];
        if is_answered {
            sender.narrow();
        } else {
            sender.widen(self.config.retry_limit(sender.station));
        }
        let goes_on = is_answered
            && sender.access.txop_limit > Duration::ZERO
            && sender.has_work()
            && own.idle_from + self.pauses.sifs < sender.txop_ends
            && self.send(contender, own.idle_from + self.pauses.sifs, false, observer);
        if goes_on {
            return;
        }
        self.senders[0].quiet = own;
        self.back_off(contender, own.idle_from);
        self.resume(others);
    }

    /// The station that answers an exchange, and the start of its answer, if the exchange was a
    /// single frame.
    fn answering(&self, ends: Instant, index: u32, result: Attempt) -> Option<(u32, Instant)> {
        let own = &self.contenders[index as usize];
        let is_answered = matches!(result, Attempt::Answered(_) | Attempt::AnswerDamaged(_));
        let is_single = own.burst.len() == 1;
        (is_answered && is_single).then(|| (own.station_at(own.to), ends + self.pauses.sifs))
    }

    fn end_collision(&mut self, exchange: Exchange) {
        for place in 0..self.senders.len() {
            if !self.senders[place].has_given_up {
                self.give_up(place, &exchange);
            }
        }
        let ends = exchange.ends;
        self.resume(if self.config.collisions_are_energy {
            Quiet::from(ends)
        } else {
            self.pauses.not_understood(ends)
        });
    }

    /// A sender's frame has collided: it is not answered.
    fn give_up(&mut self, place: usize, exchange: &Exchange) {
        let Exchange { started, ends, .. } = *exchange;
        let sender = &mut self.senders[place];
        let (contender, took) = (sender.contender, sender.ends - started);
        let quiet = self.pauses.behind_collision(sender.ends, ends);
        sender.quiet = quiet;
        if self.contenders[contender as usize].request.is_some() {
            self.end_request(ends, contender, Attempt::Collision, took);
        } else {
            self.conclude(ends, contender, Attempt::Collision, took);
        }
        let own = &mut self.contenders[contender as usize];
        own.widen(self.config.retry_limit(own.station));
        self.back_off(contender, quiet.idle_from);
    }

    /// Before a packet arrives: a sender with nothing else to send has given up on the answer to
    /// its collided frame if that is overdue, though a longer frame is still on the air. If it then
    /// has nothing to send and a back-off without slots, that is over, and the packet finds a busy
    /// medium and a counter at 0 (IEEE 802.11-2020 §10.23.2.2).
    #[inline]
    pub(super) fn give_up_early(&mut self, now: Instant, index: u32) {
        let own = &self.contenders[index as usize];
        if let Some(exchange) = self.exchange
            && exchange.result == Attempt::Collision
            && own.retries == 0
            && own.backlog.is_empty()
        {
            self.give_up_overdue(now, index, &exchange);
        }
    }

    fn give_up_overdue(&mut self, now: Instant, index: u32, exchange: &Exchange) {
        let own = |sender: &Sender| sender.contender == index && !sender.has_given_up;
        let Some(place) = self.senders.iter().position(own) else {
            return;
        };
        if self.pauses.gives_up(self.senders[place].ends) < now {
            self.senders[place].has_given_up = true;
            self.give_up(place, exchange);
            self.contention.end_at_zero(&mut self.contenders, index);
        }
    }

    /// The MPDUs received before the PPDU on the air ends.
    pub(super) fn arrivals(&mut self, index: u32, mode: Mode, ends: Instant) -> Option<Arrivals> {
        let burst = self.contenders[index as usize].burst.iter();
        if self.airtime.mode() != mode {
            self.airtime = self.config.phy.airtime(mode);
        }
        let time = |bytes| self.airtime.time(bytes);
        Arrivals::new(ends, burst.map(|sent| sent.mpdu.bytes), time)
    }

    /// The receiver has another MPDU of the PPDU on the air.
    pub(super) fn receive_next(&mut self) {
        let Some(Sender { contender, .. }) = self.senders.first().copied() else {
            return;
        };
        let Some(arrivals) = self.arriving.take() else {
            return;
        };
        let (at, place) = arrivals.next();
        self.receive(at, contender, place..place + 1);
        let own = &self.contenders[contender as usize];
        let bytes = |place: usize| own.burst[place].mpdu.bytes;
        self.arriving = arrivals.rest(bytes, |bytes| self.airtime.time(bytes));
    }

    /// The receiver has the undamaged MPDUs of these. A packet is delivered once, in order.
    fn receive(&mut self, now: Instant, index: u32, mpdus: Range<usize>) {
        let own = &mut self.contenders[index as usize];
        let (from, to) = (own.station, own.station_at(own.to));
        let agreement = &mut own.agreements[own.to];
        for Sent { mpdu, is_damaged } in &mut own.burst[mpdus] {
            if *is_damaged || std::mem::replace(&mut mpdu.arrived, true) {
                continue;
            }
            let attempts = mpdu.failures + 1;
            if agreement.passes(mpdu.number) {
                self.outcomes.delivered(mpdu.packet, (from, to), attempts);
                for packet in &mpdu.rest {
                    self.outcomes.delivered(*packet, (from, to), attempts);
                }
                continue;
            }
            let packet = mpdu.packet;
            let received = Received {
                packet,
                rest: mpdu.rest.clone(),
                attempts,
                since: now,
            };
            if !agreement.receive(mpdu.number, received) {
                for packet in mpdu.packets() {
                    self.outcomes.discarded(packet, (from, to), attempts, false);
                }
            }
        }
        let place = own.to;
        self.hand_on(now, index, place);
    }

    /// Reports the packets that a receiver delivers, and updates the timer of held ones.
    pub(super) fn hand_on(&mut self, now: Instant, index: u32, place: usize) {
        let own = &mut self.contenders[index as usize];
        let (from, to) = (own.station, own.station_at(place));
        let agreement = &mut own.agreements[place];
        let timeout = self.config.block_ack.reorder_timeout;
        // A packet held back for an older number until now may itself have waited for too long.
        agreement.time_out(now, timeout);
        while let Some(received) = agreement.hand_on() {
            for packet in std::iter::once(received.packet).chain(received.rest) {
                self.outcomes
                    .delivered(packet, (from, to), received.attempts);
            }
        }
        let holds = agreement.gives_up(timeout).is_some();
        let known = self.holding.iter().position(|&at| at == (index, place));
        match (holds, known) {
            (true, None) => self.holding.push((index, place)),
            (false, Some(known)) => {
                self.holding.swap_remove(known);
            }
            _ => {}
        }
        self.reorder_wakeup = Instant::FAR_FUTURE;
        for &(index, place) in &self.holding {
            let agreement = &self.contenders[index as usize].agreements[place];
            if let Some(at) = agreement.gives_up(timeout) {
                self.reorder_wakeup = self.reorder_wakeup.min(at);
            }
        }
    }

    /// The sender learns, or does not, which MPDUs have arrived.
    fn conclude(&mut self, now: Instant, index: u32, result: Attempt, took: Duration) {
        let is_answered = matches!(result, Attempt::Answered(_));
        let own = &mut self.contenders[index as usize];
        let place = own.to;
        let mut burst = std::mem::take(&mut own.burst);
        let sent_in = own.sent_in.take();
        if let Some(first) = burst.first() {
            own.agreements[place].on_answer(first.mpdu.number, is_answered);
        }
        // A sender cannot distinguish a damaged block ACK from a collision: it has received no
        // answer.
        if !is_answered
            && self.config.block_ack.requests
            && burst.len() > 1
            && let Some(mode) = sent_in
        {
            own.request = Some(Request {
                to: place,
                mode,
                mpdus: burst.drain(..).map(|sent| sent.mpdu).collect(),
                failures: 0,
            });
        } else if let Some(mode) = sent_in {
            let acknowledged = burst.iter().filter(|sent| is_answered && !sent.is_damaged);
            let report = Report {
                mode,
                sent: burst.len() as u32,
                acknowledged: acknowledged.count() as u32,
            };
            self.report(now, index, place, &report);
        }
        let mut done = Duration::ZERO;
        if is_answered && burst.iter().all(|sent| !sent.is_damaged) {
            // Nearly always: nothing is moved.
            done += self.acknowledge(index, place, burst.iter().map(|sent| &sent.mpdu));
            burst.clear();
        }
        for Sent { mpdu, is_damaged } in burst.drain(..) {
            if is_answered && !is_damaged {
                done += self.acknowledge(index, place, std::iter::once(&mpdu));
            } else {
                done += self.fail(index, place, mpdu);
            }
        }
        // Reuse its allocation.
        self.contenders[index as usize].burst = burst;
        self.complete(now, index, place, done, took);
    }

    /// A block ACK request was answered, or not. After too many requests all of its MPDUs count as
    /// failed.
    fn end_request(&mut self, now: Instant, index: u32, result: Attempt, took: Duration) {
        let own = &mut self.contenders[index as usize];
        let Some(mut request) = own.request.take() else {
            return;
        };
        let place = request.to;
        let (from, to) = (own.station, own.station_at(place));
        if matches!(result, Attempt::Answered(_) | Attempt::AnswerDamaged(_)) {
            own.agreements[place].on_request();
            self.hand_on(now, index, place);
        }
        let is_answered = matches!(result, Attempt::Answered(_));
        request.failures += 1;
        let is_over = is_answered
            || self
                .config
                .mpdu_limit(from, to)
                .is_reached(request.failures);
        let mut done = Duration::ZERO;
        if is_over {
            let mpdus = request.mpdus.iter();
            let report = Report {
                mode: request.mode,
                sent: request.mpdus.len() as u32,
                acknowledged: mpdus.filter(|mpdu| is_answered && mpdu.arrived).count() as u32,
            };
            if report.sent > 0 {
                self.report(now, index, place, &report);
            }
            for mpdu in request.mpdus {
                if is_answered && mpdu.arrived {
                    done += self.acknowledge(index, place, std::iter::once(&mpdu));
                } else {
                    done += self.fail(index, place, mpdu);
                }
            }
        } else {
            self.contenders[index as usize].request = Some(request);
        }
        self.complete(now, index, place, done, took);
    }

    /// Reports the fate of a PPDU to its rate control.
    fn report(&mut self, now: Instant, index: u32, place: usize, report: &Report) {
        let own = &mut self.contenders[index as usize];
        let way = Way::between(own.station, own.station_at(place));
        own.backlog.set_rate(place, report.mode.bit_rate());
        self.rates.report(now, way, report);
    }

    /// MPDUs are acknowledged; returns the airtime that is pending no longer.
    fn acknowledge<'a>(
        &mut self,
        index: u32,
        place: usize,
        mpdus: impl Iterator<Item = &'a Mpdu<P>>,
    ) -> Duration
    where
        P: 'a,
    {
        let own = &mut self.contenders[index as usize];
        let ends = (own.station, own.station_at(place));
        let (counters, agreement) = (&mut own.counters[place], &mut own.agreements[place]);
        let mut done = Duration::ZERO;
        for mpdu in mpdus {
            counters.acknowledged += mpdu.count() as u64;
            agreement.settle(mpdu.number);
            done += mpdu.airtime;
            if self.outcomes.with_acknowledgments() {
                for packet in mpdu.packets() {
                    self.outcomes.acknowledged(packet, ends, mpdu.failures + 1);
                }
            }
        }
        done
    }

    /// An MPDU is not acknowledged: it is retransmitted or discarded; returns the airtime that is
    /// pending no longer.
    fn fail(&mut self, index: u32, place: usize, mut mpdu: Mpdu<P>) -> Duration {
        let own = &mut self.contenders[index as usize];
        let (from, to) = (own.station, own.station_at(place));
        mpdu.failures += 1;
        if self.config.mpdu_limit(from, to).is_reached(mpdu.failures) {
            own.counters[place].discarded += mpdu.count() as u64;
            own.agreements[place].settle(mpdu.number);
            for packet in mpdu.packets() {
                self.outcomes
                    .discarded(packet, (from, to), mpdu.failures, mpdu.arrived);
            }
            // The receiver is informed that it need not wait (§10.25.6.3). With a window of one it
            // never waits.
            if own.request.is_none() && own.agreements[place].limits.window > 1 {
                own.request = Some(Request {
                    to: place,
                    mode: self.rates.best(Way::between(from, to)),
                    mpdus: Vec::new(),
                    failures: 0,
                });
            }
            return mpdu.airtime;
        }
        own.retries += mpdu.count();
        for packet in mpdu.packets() {
            self.outcomes.retried(packet, (from, to), mpdu.failures);
        }
        own.agreements[place].retry(mpdu);
        Duration::ZERO
    }

    /// An exchange is over: its airtime is charged, and the queues move up.
    fn complete(&mut self, now: Instant, index: u32, place: usize, done: Duration, took: Duration) {
        let own = &mut self.contenders[index as usize];
        own.counters[place].airtime += took;
        let has_retries = own.agreements[place].first_retry().is_some();
        own.backlog.complete(now, place, has_retries, (done, took));
        let from = own.station;
        self.take_dropped(index);
        if from != ACCESS_POINT {
            let at_access_point = &mut self.contenders[index as usize % self.ranks];
            at_access_point
                .backlog
                .charge_received(place_of(from), took);
        }
    }

    /// A contender backs off, so that others may have the channel (§10.23.2.2), whether or not it
    /// is backlogged.
    fn back_off(&mut self, index: u32, idle_from: Instant) {
        let own = &mut self.contenders[index as usize];
        own.back_off.draw();
        own.back_off.count_from(idle_from + own.aifs);
        self.contention.join(index);
    }

    /// Resumes contention: for listeners, and for other categories of a sender's station as that
    /// senses the medium (§10.23.2.4). Determines the start of the next frame.
    pub(super) fn resume(&mut self, quiet: Quiet) {
        self.quiet = quiet;
        let senders = &self.senders;
        self.wakeup = self.contention.resume(&mut self.contenders, |index, own| {
            let heard = match senders.iter().find(|sender| sender.station == own.station) {
                Some(sender) if sender.contender == index => return None,
                Some(sender) => sender.quiet,
                None => quiet,
            };
            Some(heard.idle_from + own.aifs)
        });
    }
}
