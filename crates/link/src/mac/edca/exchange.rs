//! An exchange: from the start of a frame until its fate is known.

use airtcp_units::{Duration, Instant};

use super::aggregation::Ppdu;
use super::protection::Protection;
use super::{Edca, Sender};
use crate::frame::{ChannelObserver, Fate, FrameKind};
use crate::mac::damage::Frame;
use crate::mac::exchange::{Attempt, Quiet};
use crate::mac::frame_reporter::FrameReporter;
use crate::mac::way::Way;
use crate::phy::control::ControlFrame;
use crate::phy::{Family, Mode};
use crate::queue::EcnField;

/// Decisions taken when a frame started.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchange {
    pub(super) started: Instant,
    /// Last bit of the deciding frame: of the PPDU; of the damaged RTS or CTS; of the longest frame
    /// when several collided.
    pub(super) ends: Instant,
    pub(super) result: Attempt,
    /// Whether it is about a block ACK request.
    pub(super) is_request: bool,
}

impl<P: Copy + EcnField> Edca<P> {
    /// The countdown of one or more contenders has ended: their frames start.
    pub(super) fn begin_exchange(&mut self, now: Instant, observer: &mut impl ChannelObserver) {
        self.freeze_others(now);
        self.resolve_internal_collisions();
        match *self.senders.as_slice() {
            [] => self.wakeup = self.contention.next_start(&self.contenders),
            [Sender { contender, .. }] => {
                self.send(contender, now, true, observer);
            }
            _ => self.collide(now, observer),
        }
    }

    /// Separates the counting contenders into senders and waiting ones.
    fn freeze_others(&mut self, now: Instant) {
        let senders = &mut self.senders;
        senders.clear();
        self.contention
            .freeze(&mut self.contenders, now, |index, contender| {
                contender.txop_ends = now + contender.access.txop_limit;
                senders.push(Sender {
                    contender: index,
                    station: contender.station,
                    ends: now,
                    quiet: Quiet::from(now),
                    has_given_up: false,
                });
            });
    }

    /// The most urgent of a station's categories that would send at the same time does; the others
    /// back off as after a collision (IEEE 802.11-2020 §10.23.2.4).
    fn resolve_internal_collisions(&mut self) {
        if self.ranks == 1 || self.senders.len() < 2 {
            return;
        }
        let all = std::mem::take(&mut self.senders);
        for &sender in &all {
            let station = sender.station;
            let is_beaten = all
                .iter()
                .any(|other| other.contender > sender.contender && other.station == station);
            if is_beaten {
                let own = &mut self.contenders[sender.contender as usize];
                own.widen(self.config.retry_limit(station));
                own.back_off.draw();
                self.contention.join(sender.contender);
            } else {
                self.senders.push(sender);
            }
        }
    }

    /// One contender sends: it has won the contention, or continues its TXOP, which needs no
    /// further RTS. Returns whether there was anything to send.
    pub(super) fn send(
        &mut self,
        index: u32,
        start: Instant,
        contended: bool,
        observer: &mut impl ChannelObserver,
    ) -> bool {
        if self.contenders[index as usize].request.is_some() {
            return self.send_request(index, start, contended, observer);
        }
        let Some(ppdu) = self.aggregate(index, start, !contended) else {
            if contended {
                self.resume(Quiet::from(start));
            }
            return false;
        };
        let own = &mut self.contenders[index as usize];
        own.own_counters().attempts += u64::from(contended);
        let sender = own.station;
        let mut told = FrameReporter {
            observer,
            flow: ppdu.flow,
            attempt: ppdu.failures + 1,
        };
        let mut now = start;
        match self.announcement(&ppdu) {
            Some((Protection::RtsCts, mode)) if contended => {
                let pauses = self.pauses;
                let send = |ends, frame, start| self.control(ends, mode, frame, start, &mut told);
                match pauses.clear((sender, ppdu.to), now, send) {
                    Ok(cts_ends) => now = cts_ends + pauses.sifs,
                    Err((ends, result)) => {
                        self.decide(start, ends, result, false);
                        return true;
                    }
                }
            }
            Some((Protection::CtsToSelf, mode)) if contended => {
                let ends = now + self.config.phy.control_time(ControlFrame::Cts, mode);
                told.control(sender, ControlFrame::Cts, (now, ends), false);
                now = ends + self.pauses.sifs;
            }
            _ => {}
        }
        let span = (now, now + ppdu.time);
        let damaged = self.damage_mpdus(index, &ppdu, span);
        let own = &mut self.contenders[index as usize];
        own.sent_in = Some(ppdu.mode);
        let counters = own.own_counters();
        counters.ppdus += 1;
        counters.mpdus += u64::from(ppdu.mpdus);
        counters.damaged += u64::from(damaged);
        let is_lost = damaged == ppdu.mpdus;
        let fate = if is_lost {
            Fate::Damaged
        } else {
            Fate::Received
        };
        told.aggregate(sender, FrameKind::Data, span, fate, (ppdu.mpdus, damaged));
        let answer = if ppdu.mpdus == 1 {
            ControlFrame::Ack
        } else {
            self.block_ack(index)
        };
        let result = if is_lost {
            Attempt::Unanswered
        } else {
            self.answer(sender, &ppdu, span.1, answer, &mut told)
        };
        self.decide(start, span.1, result, false);
        if self.config.block_ack.hands_on_each && !is_lost {
            self.arriving = self.arrivals(index, ppdu.mode, span.1);
        }
        true
    }

    /// A contender requests a block ACK that it has not received. `false` if a continued TXOP has
    /// no room for it.
    fn send_request(
        &mut self,
        index: u32,
        start: Instant,
        contended: bool,
        observer: &mut impl ChannelObserver,
    ) -> bool {
        let own = &self.contenders[index as usize];
        let Some(request) = &own.request else {
            return false;
        };
        let sender = own.station;
        let to = own.station_at(request.to);
        let mode = self.rates.best(Way::between(sender, to));
        let ppdu = Ppdu {
            to,
            mode,
            bytes: 0,
            mpdus: 0,
            time: Duration::ZERO,
            flow: request.mpdus.first().map_or(0, |mpdu| mpdu.flow),
            failures: request.failures,
            needs_rts: false,
        };
        let time = |frame| {
            let mode = self.config.phy.answer_mode(mode);
            self.config.phy.control_time(frame, mode)
        };
        let frame = ControlFrame::BlockAckRequest;
        let answered = start + time(frame) + self.pauses.sifs + time(self.block_ack(index));
        if !contended && answered > own.txop_ends {
            return false;
        }
        let mut told = FrameReporter {
            observer,
            flow: ppdu.flow,
            attempt: ppdu.failures + 1,
        };
        let (ends, damaged) = self.control((sender, to), mode, frame, start, &mut told);
        let result = if damaged {
            Attempt::Unanswered
        } else {
            let answer = self.block_ack(index);
            self.answer(sender, &ppdu, ends, answer, &mut told)
        };
        self.decide(start, ends, result, true);
        true
    }

    /// The block ACK for a contender's PPDU.
    fn block_ack(&self, index: u32) -> ControlFrame {
        let own = &self.contenders[index as usize];
        let to = own.request.as_ref().map_or(own.to, |request| request.to);
        ControlFrame::BlockAck {
            window: own.agreements[to].limits.window,
        }
    }

    /// The announcement of a PPDU that opens a TXOP, and its mode.
    fn announcement(&self, ppdu: &Ppdu) -> Option<(Protection, Mode)> {
        let config = &self.config;
        let is_large = config.rts_threshold.is_some_and(|most| ppdu.bytes > most);
        let is_cleared = is_large || ppdu.needs_rts;
        let protection = config
            .protection
            .filter(|_| ppdu.mode.family() > self.oldest);
        let mode = match (protection, self.oldest) {
            (None, _) => config.phy.answer_mode(ppdu.mode),
            (Some(_), Family::Dsss) => config.phy.answer_mode(Mode::CCK_11),
            (Some(_), _) => config.phy.answer_mode(Mode::OFDM_24),
        };
        match protection {
            _ if is_cleared => Some((Protection::RtsCts, mode)),
            protection => protection.map(|protection| (protection, mode)),
        }
    }

    /// The receiver answers the frame that ended at `ends`.
    fn answer<O: ChannelObserver>(
        &mut self,
        sender: u32,
        ppdu: &Ppdu,
        ends: Instant,
        frame: ControlFrame,
        told: &mut FrameReporter<'_, O>,
    ) -> Attempt {
        let start = ends + self.pauses.sifs;
        let (ends, damaged) = self.control((ppdu.to, sender), ppdu.mode, frame, start, told);
        if damaged {
            Attempt::AnswerDamaged(ends)
        } else {
            Attempt::Answered(ends)
        }
    }

    /// Sends a control frame for data in `mode`: returns its end, and whether it is damaged.
    fn control<O: ChannelObserver>(
        &mut self,
        ends: (u32, u32),
        mode: Mode,
        frame: ControlFrame,
        start: Instant,
        told: &mut FrameReporter<'_, O>,
    ) -> (Instant, bool) {
        let mode = self.answer_mode(mode);
        let span = (start, start + self.config.phy.control_time(frame, mode));
        let on_air = Frame::between(ends, None, frame.bytes(), span);
        let damaged = self.damage.damages_in(&on_air, mode, 0);
        told.control(ends.0, frame, span, damaged);
        (span.1, damaged)
    }

    /// The mode of an answer to a frame in `mode`; the last one is kept, as it seldom changes.
    #[inline]
    fn answer_mode(&mut self, mode: Mode) -> Mode {
        if self.answer_mode.0 != mode {
            self.answer_mode = (mode, self.config.phy.answer_mode(mode));
        }
        self.answer_mode.1
    }

    /// Draws the damage of a PPDU's MPDUs by the radio; returns the number damaged.
    fn damage_mpdus(&mut self, index: u32, ppdu: &Ppdu, span: (Instant, Instant)) -> u32 {
        let own = &mut self.contenders[index as usize];
        let mut damaged = 0;
        for (place, sent) in (0..).zip(&mut own.burst) {
            let (bytes, class) = (sent.mpdu.bytes, sent.mpdu.class);
            let frame = Frame::between((own.station, ppdu.to), Some(class), bytes, span);
            sent.is_damaged = self.damage.damages_in(&frame, ppdu.mode, place);
            damaged += u32::from(sent.is_damaged);
        }
        damaged
    }

    /// Several stations send at the same time, and nothing is received.
    fn collide(&mut self, now: Instant, observer: &mut impl ChannelObserver) {
        let mut busy_until = now;
        for place in 0..self.senders.len() {
            let index = self.senders[place].contender;
            let station = self.contenders[index as usize].station;
            let (ends, kind, told) = if let Some(request) = &self.contenders[index as usize].request
            {
                let own = &self.contenders[index as usize];
                let way = Way::between(station, own.station_at(request.to));
                let mode = self.config.phy.answer_mode(self.rates.best(way));
                let time = self
                    .config
                    .phy
                    .control_time(ControlFrame::BlockAckRequest, mode);
                let flow = request.mpdus.first().map_or(0, |mpdu| mpdu.flow);
                let told = (flow, request.failures, 1);
                (now + time, FrameKind::BlockAckRequest, told)
            } else {
                let Some(ppdu) = self.aggregate(index, now, false) else {
                    continue;
                };
                let told = (ppdu.flow, ppdu.failures, ppdu.mpdus);
                let counters = self.contenders[index as usize].own_counters();
                counters.attempts += 1;
                counters.collisions += 1;
                let announcement = self.announcement(&ppdu);
                if let Some((Protection::RtsCts, mode)) = announcement {
                    let time = self.config.phy.control_time(ControlFrame::Rts, mode);
                    (now + time, FrameKind::Rts, (told.0, told.1, 1))
                } else {
                    // The sender of a CTS-to-self does not notice its failure.
                    let cts = announcement.map_or(Duration::ZERO, |(_, mode)| {
                        let time = self.config.phy.control_time(ControlFrame::Cts, mode);
                        time + self.pauses.sifs
                    });
                    let ends = now + cts + ppdu.time;
                    // Its MPDUs count as transmissions, whatever the radio would have done to them.
                    self.damage_mpdus(index, &ppdu, (now, ends));
                    let own = &mut self.contenders[index as usize];
                    own.sent_in = Some(ppdu.mode);
                    let counters = own.own_counters();
                    counters.ppdus += 1;
                    counters.mpdus += u64::from(ppdu.mpdus);
                    (ends, FrameKind::Data, told)
                }
            };
            let (flow, failures, mpdus) = told;
            let mut told = FrameReporter {
                observer: &mut *observer,
                flow,
                attempt: failures + 1,
            };
            told.aggregate(station, kind, (now, ends), Fate::Collided, (mpdus, mpdus));
            self.senders[place].ends = ends;
            busy_until = busy_until.max(ends);
        }
        self.decide(now, busy_until, Attempt::Collision, false);
    }

    /// Takes the packets of a contender's next PPDU. In a continued TXOP it must end, with
    /// its answer, before that does.
    fn aggregate(&mut self, index: u32, now: Instant, goes_on: bool) -> Option<Ppdu> {
        let Self {
            config,
            contenders,
            limits,
            rates,
            damage,
            pauses,
            longest,
            ..
        } = self;
        let own = &mut contenders[index as usize];
        let mut most = config.ampdu.time;
        if own.access.txop_limit > Duration::ZERO {
            let left = own.txop_ends - now;
            let mut answer = pauses.sifs + longest.answer;
            if !goes_on && (config.rts_threshold.is_some() || rates.clear()) {
                answer += longest.clearance;
            }
            // Rounded down, so that few different times come up.
            let left = Duration::from_micros((left - answer).as_nanos() / 32_000 * 32);
            most = most.min(left);
        }
        if goes_on && most == Duration::ZERO {
            return None;
        }
        let station = own.station;
        let choose_mode =
            |to, failures| rates.choose(now, Way::between(station, to), failures, damage);
        let mut ppdu = own.aggregate(now, config, limits, choose_mode, (most, goes_on))?;
        ppdu.time = config.phy.data_time_in(ppdu.mode, ppdu.bytes);
        Some(ppdu)
    }

    fn decide(&mut self, started: Instant, ends: Instant, result: Attempt, is_request: bool) {
        self.wakeup = ends;
        self.exchange = Some(Exchange {
            started,
            ends,
            result,
            is_request,
        });
    }
}
